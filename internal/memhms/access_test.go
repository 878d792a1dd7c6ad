package memhms

import (
	"testing"

	"hmsgate/internal/hms"
)

func TestConstraints(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.createTable(simple("default", "parent"))
		r.createTable(simple("default", "child"))
		pk := hms.Struct{"table_db": "default", "table_name": "parent", "column_name": "a", "key_seq": 1,
			"pk_name": "pk1"}
		r.ok("add_primary_key", hms.Struct{"req": hms.Struct{"primaryKeyCols": []any{pk}}})
		fk := hms.Struct{"pktable_db": "default", "pktable_name": "parent", "pkcolumn_name": "a",
			"fktable_db": "default", "fktable_name": "child", "fkcolumn_name": "a"}
		r.ok("add_foreign_key", hms.Struct{"req": hms.Struct{"foreignKeyCols": []any{fk}}})
		keys := r.ok("get_primary_keys", hms.Struct{"request": hms.Struct{"db_name": "default",
			"tbl_name": "PARENT"}}).(hms.Struct).Structs("primaryKeys")
		if len(keys) != 1 || keys[0]["pk_name"] != "pk1" {
			t.Fatalf("primary keys: %v", keys)
		}
		for _, c := range []struct {
			ask  hms.Struct
			want int
		}{{hms.Struct{"foreign_db_name": "default", "foreign_tbl_name": "child"},
			1}, {hms.Struct{"parent_db_name": "default", "parent_tbl_name": "parent"}, 1},
			{hms.Struct{"parent_db_name": "default", "parent_tbl_name": "child"}, 0}} {
			l := r.ok("get_foreign_keys", hms.Struct{"request": c.ask}).(hms.Struct).Structs("foreignKeys")
			if len(l) != c.want || len(l) > 0 && l[0].Str("fk_name") == "" {
				t.Errorf("foreign keys of %v: got %v, want %d with names", c.ask, l, c.want)
			}
		}
		drop := func(name string) hms.Struct {
			return hms.Struct{"req": hms.Struct{"dbname": "default", "tablename": "parent", "constraintname": name}}
		}
		r.ok("drop_constraint", drop("PK1"))
		r.fails("application exception 6: Internal error processing drop_constraint", "drop_constraint", drop("pk1"))
		if label == v2 {
			return
		}
		r.ok("create_table_with_constraints", hms.Struct{"tbl": simple("default", "both"),
			"primaryKeys": []any{with(pk, "table_name", "both")},
			"notNullConstraints": []any{hms.Struct{"table_db": "default", "table_name": "both", "column_name": "b",
				"nn_name": "n1"}}})
		nn := r.ok("get_not_null_constraints", hms.Struct{"request": hms.Struct{"catName": "hive", "db_name": "default",
			"tbl_name": "both"}}).(hms.Struct).Structs("notNullConstraints")
		if len(nn) != 1 || nn[0]["nn_name"] != "n1" {
			t.Errorf("not null: %v", nn)
		}
		if r.has("get_all_table_constraints") {
			all := r.ok("get_all_table_constraints", hms.Struct{"request": hms.Struct{"catName": "hive",
				"dbName": "default", "tblName": "both"}}).(hms.Struct).Struct("allTableConstraints")
			if len(all.List("primaryKeys")) != 1 || len(all.List("notNullConstraints")) != 1 ||
				len(all.List("foreignKeys")) != 0 {
				t.Errorf("all: %v", all)
			}
		}
	})
}

func TestRoles(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.is([]string{"admin", "public"}, r.ok("get_role_names", nil))
		role := hms.Struct{"role": hms.Struct{"roleName": "dev", "ownerName": "me"}}
		r.is(true, r.ok("create_role", role))
		again := "MetaException: Got exception: org.apache.hadoop.hive.metastore.api.InvalidObjectException Role dev already exists."
		r.fails(by(label, "application exception 6: Internal error processing create_role", again, again),
			"create_role", role)
		grant := hms.Struct{"request": hms.Struct{"requestType": 1, "roleName": "dev", "principalName": "al",
			"principalType": 1, "grantor": "me", "grantorType": 1}}
		r.is(true, r.ok("grant_revoke_role", grant).(hms.Struct)["success"])
		if _, err := r.c.Call(t.Context(), "grant_revoke_role", grant); err == nil {
			t.Error("granted twice")
		}
		who := hms.Struct{"principal_name": "al", "principal_type": 1}
		l := r.ok("list_roles", who).([]any)
		if len(l) != 2 || l[0].(hms.Struct)["roleName"] != "dev" || l[1].(hms.Struct)["roleName"] != "public" {
			t.Errorf("list_roles: %v", l)
		}
		if g := r.ok("get_principals_in_role",
			hms.Struct{"request": hms.Struct{"roleName": "dev"}}).(hms.Struct).Structs("principalGrants"); len(g) != 1 || g[0]["principalName"] != "al" {
			t.Errorf("principals: %v", g)
		}
		if g := r.ok("get_role_grants_for_principal",
			hms.Struct{"request": who}).(hms.Struct).List("principalGrants"); len(g) != 2 {
			t.Errorf("grants: %v", g)
		}
		r.is(true, r.ok("revoke_role", hms.Struct{"role_name": "dev", "principal_name": "al", "principal_type": 1}))
		r.is(true, r.ok("drop_role", hms.Struct{"role_name": "dev"}))
		r.is([]string{"admin", "public"}, r.ok("get_role_names", nil))
	})
}

func TestPrivileges(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		obj := hms.Struct{"objectType": 3, "dbName": "d", "objectName": "t"}
		bag := hms.Struct{"privileges": []any{hms.Struct{"hiveObject": obj, "principalName": "al", "principalType": 1,
			"grantInfo": hms.Struct{"privilege": "select", "grantor": "me", "grantorType": 1}}}}
		req := func(kind int) hms.Struct {
			return hms.Struct{"request": hms.Struct{"requestType": kind, "privileges": bag}}
		}
		r.is(true, r.ok("grant_revoke_privileges", req(1)).(hms.Struct)["success"])
		again := "MetaException: Got exception: org.apache.hadoop.hive.metastore.api.InvalidObjectException select is already granted on table [d,t] by me"
		r.fails(by(label, "application exception 6: Internal error processing grant_privileges", again, again),
			"grant_privileges", hms.Struct{"privileges": bag})
		set := r.ok("get_privilege_set", hms.Struct{"hiveObject": obj, "user_name": "al",
			"group_names": []string{"g"}}).(hms.Struct)
		if l, _ := set["userPrivileges"].(hms.Map).Get("al").([]any); len(l) != 1 ||
			l[0].(hms.Struct)["privilege"] != "select" {
			t.Errorf("set: %v", set)
		}
		list := hms.Struct{"principal_name": "al", "principal_type": 1, "hiveObject": obj}
		if l := r.ok("list_privileges", list).([]any); len(l) != 1 {
			t.Errorf("list: %v", l)
		}
		r.is(true, r.ok("grant_revoke_privileges", req(2)).(hms.Struct)["success"])
		r.is([]string{}, r.ok("list_privileges", list))
	})
}

func TestTokensAndTypes(t *testing.T) {
	each(t, func(t *testing.T, r *rig, label string) {
		r.is(true, r.ok("add_token", hms.Struct{"token_identifier": "a", "delegation_token": "s"}))
		r.is("s", r.ok("get_token", hms.Struct{"token_identifier": "a"}))
		if label == v2 {
			r.fails("application exception 5: get_token failed: unknown result", "get_token",
				hms.Struct{"token_identifier": "b"})
		} else {
			r.is("", r.ok("get_token", hms.Struct{"token_identifier": "b"}))
		}
		r.is([]string{"a"}, r.ok("get_all_token_identifiers", nil))
		r.is(true, r.ok("remove_token", hms.Struct{"token_identifier": "a"}))
		id := r.ok("add_master_key", hms.Struct{"key": "k"})
		r.is([]string{"k"}, r.ok("get_master_keys", nil))
		r.is(true, r.ok("remove_master_key", hms.Struct{"key_seq": id}))
		r.fails("MetaException: NoSuchObjectException(message:No key found with keyId: 7)", "update_master_key",
			hms.Struct{"seq_number": 7, "key": "x"})
		if _, err := r.c.Call(t.Context(), "get_delegation_token", hms.Struct{"token_owner": "me"}); err == nil {
			t.Error("a delegation token without SASL")
		}
		r.fails(`NoSuchObjectException: Type "int" not found.`, "get_type", hms.Struct{"name": "int"})
		r.is(true, r.ok("create_type", hms.Struct{"type": hms.Struct{"name": "x"}}))
		r.is("x", r.ok("get_type", hms.Struct{"name": "x"}).(hms.Struct)["name"])
		r.is(true, r.ok("drop_type", hms.Struct{"type": "x"}))
	})
}

func TestRebuildLockAndRuntimeStats(t *testing.T) {
	for _, label := range []string{v3, v4} {
		t.Run(label, func(t *testing.T) {
			r := start(t, label)
			a, b := r.txn(), r.txn()
			ask := func(txn int64) hms.Struct {
				return hms.Struct{"dbName": "d", "tableName": "mv", "txnId": txn}
			}
			r.is(int32(acquired), r.ok("get_lock_materialization_rebuild", ask(a)).(hms.Struct)["state"])
			r.is(int32(4), r.ok("get_lock_materialization_rebuild", ask(b)).(hms.Struct)["state"])
			r.is(true, r.ok("heartbeat_lock_materialization_rebuild", ask(a)))
			r.ok("commit_txn", hms.Struct{"rqst": hms.Struct{"txnid": a}})
			r.is(int32(acquired), r.ok("get_lock_materialization_rebuild", ask(b)).(hms.Struct)["state"])
			r.ok("add_runtime_stats", hms.Struct{"stat": hms.Struct{"weight": 1, "payload": []byte("x")}})
			if l := r.ok("get_runtime_stats", hms.Struct{"rqst": hms.Struct{"maxWeight": 10,
				"maxCreateTime": 10}}).([]any); len(l) != 1 {
				t.Errorf("runtime stats: %v", l)
			}
		})
	}
}
