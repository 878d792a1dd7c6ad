#!/usr/bin/env python3
"""HiveServer2 on a remote metastore, driven over JDBC: databases, partitions and predicates on them, views, transactions, what GUI tools ask."""
import json, os, signal, socket, subprocess, sys, tempfile
from urllib.parse import urlparse

from steps import Run

HERE = os.path.dirname(os.path.abspath(__file__))
OPENS = ("lang", "lang.reflect", "lang.invoke", "io", "net", "nio", "util", "util.concurrent", "util.concurrent.atomic", "util.regex", "time", "text")
LOG = """status = error
appenders = e
appender.e.type = Console
appender.e.name = e
appender.e.target = SYSTEM_ERR
appender.e.layout.type = PatternLayout
appender.e.layout.pattern = %%d{HH:mm:ss} %%p %%c{1}: %%m%%n
rootLogger.level = %s
rootLogger.appenderRefs = e
rootLogger.appenderRef.e.ref = e
"""


def more(p):
    p.add_argument("--class-path", required=True, help="of HiveServer2 and its JDBC driver")
    p.add_argument("--txn", action="store_true", help="DbTxnManager: transactions and locks at the metastore for every statement")
    p.add_argument("--around", metavar="URI", help="make and write transactional tables there, under the names without a catalog")
    p.add_argument("--conf", action="append", default=[], help="more settings of HiveServer2, k=v")


def settings(a, uri, tmp, port):
    """No cluster: metadata, fetch tasks, and MapReduce in HiveServer2's own process."""
    at = lambda name: os.path.join(tmp, name)  # noqa: E731
    s = {
        "hive.metastore.uris": uri, "metastore.thrift.uris": uri,
        "hive.metastore.client.connect.retry.delay": "1s", "hive.metastore.failure.retries": "1",
        "hive.server2.thrift.port": port, "hive.server2.thrift.bind.host": "127.0.0.1", "hive.server2.webui.port": 0,
        "hive.server2.enable.doAs": "false", "hive.server2.logging.operation.enabled": "false",
        "hive.server2.materializedviews.registry.impl": "DUMMY", "hive.materializedview.rewriting": "false",
        "hive.server2.tez.initialize.default.sessions": "false", "hive.server2.active.passive.ha.enable": "false",
        "hive.async.log.enabled": "false", "hive.notification.event.poll.interval": "0s", "hive.security.authorization.enabled": "false",
        "hive.execution.engine": "mr", "mapreduce.framework.name": "local", "hive.exec.submitviachild": "false",
        "hive.exec.counters.pull.interval": 20, "hive.auto.convert.join": "false", "hive.fetch.task.conversion": "more", "hive.exec.dynamic.partition.mode": "nonstrict", "hive.stats.autogather": "false",
        "fs.defaultFS": "file:///", "hadoop.tmp.dir": at("hadoop"), "hive.exec.scratchdir": at("scratch"),
        "hive.exec.local.scratchdir": at("local"), "hive.downloaded.resources.dir": at("resources"), "hive.querylog.location": at("log"),
        "hive.support.concurrency": str(a.txn).lower(),
    }
    if a.txn:
        s["hive.txn.manager"] = "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager"
    s.update(kv.split("=", 1) for kv in a.conf)
    return s


class HiveServer2:
    """The process of hs2/Hs2.java: a line in, a line out; it ends with its input."""

    def __init__(self, a, uri, tmp):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        conf = os.path.join(tmp, "conf")
        os.makedirs(conf)
        with open(os.path.join(conf, "hive-site.xml"), "w", encoding="utf-8") as f:
            f.write("<configuration>%s</configuration>" % "".join(
                "<property><name>%s</name><value>%s</value></property>\n" % kv for kv in settings(a, uri, tmp, port).items()))
        log = os.path.join(conf, "hive-log4j2.properties")
        with open(log, "w", encoding="utf-8") as f:
            f.write(LOG % os.environ.get("HS2_LOG", "error"))
        env = dict(os.environ, HIVE_CONF_DIR=conf, HADOOP_CONF_DIR=conf, HADOOP_HOME=tmp, HIVE_SERVER2_THRIFT_BIND_HOST="127.0.0.1")
        cmd = [os.environ.get("JAVA", "java")]
        for o in ["java." + o for o in OPENS] + ["sun.nio.ch"]:
            cmd += ["--add-opens", "java.base/%s=ALL-UNNAMED" % o]
        cmd += ["-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + tmp, "-Dhadoop.bin.path=/bin/true",
                "-Dlog4j.configurationFile=" + log, "-Dlog4j2.configurationFile=" + log,
                os.path.join(HERE, "hs2", "Hs2.java"), conf + "/:" + a.class_path, str(port)]
        self.p = subprocess.Popen(cmd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp, env=env, text=True, encoding="utf-8")

    def read(self):
        line = self.p.stdout.readline()
        if not line:
            print("HiveServer2 ended with %d" % self.p.wait(), file=sys.stderr)
            sys.exit(2)  # no answer to a statement: the lines that are missing must not look like any
        return json.loads(line)

    def ask(self, *what):
        self.p.stdin.write("\t".join("\\N" if x is None else x for x in what) + "\n")
        self.p.stdin.flush()
        got = self.read()
        if isinstance(got, dict):
            kind, text = got["error"]
            raise type(kind, (Exception,), {})(text)
        return ["|".join("" if v is None else v.strip() for v in row) for row in got]

    def end(self):
        self.p.stdin.close()
        try:
            self.p.wait(20)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()


def statements(r, tmp, ask, around):
    db, db2 = r.a.db, r.a.db2
    data = os.path.join(tmp, "data")
    os.makedirs(data)
    for n, rows in (("one", "1\x01one\n2\x01two\n"), ("three", "3\x01three\n")):
        with open(os.path.join(data, n), "w", encoding="ascii") as f:
            f.write(rows)

    def q(text):
        return ask("sql", text.format(db=db, db2=db2, data=data))

    def step(name, fn):
        r.step(name, fn, expect_error=True)  # an error is an answer: most of what is refused here is meant to be

    def sql(name, text, keep=None):
        """All rows, or those with one of these texts."""
        step(name, lambda: [x for x in q(text) if keep is None or any(k in x for k in keep)])

    def same(name, text):
        """Rows of which the order is anybody's."""
        step(name, lambda: sorted(q(text), key=r.norm))

    def meta(name, *what):
        step(name, lambda: sorted(ask("meta", *what), key=r.norm))

    def ours(name, *what):
        """Rows that name one of our databases: there may be others."""
        keep = (db.lower(), db2.lower())
        step(name, lambda: sorted((x for x in ask(*what) if any(f.lower() in keep for f in x.split("|"))), key=r.norm))

    under = db.replace("_", "\\_")
    step("clean", lambda: (q("DROP DATABASE IF EXISTS {db} CASCADE"), q("DROP DATABASE IF EXISTS {db2} CASCADE")))
    sql("create_database", "CREATE DATABASE {db} COMMENT 'rig' WITH DBPROPERTIES ('team'='x')")
    sql("create_database_2", "CREATE DATABASE {db2}")
    sql("create_database_again", "CREATE DATABASE {db}")
    ours("show_databases", "sql", "SHOW DATABASES")
    ours("show_databases_like", "sql", "SHOW DATABASES LIKE '%s'" % db)
    sql("describe_database", "DESCRIBE DATABASE EXTENDED {db}")
    sql("show_create_database", "SHOW CREATE DATABASE {db}")
    sql("alter_database", "ALTER DATABASE {db} SET DBPROPERTIES ('team'='y')")
    sql("use", "USE {db}")
    sql("current_database", "SELECT current_database()")

    # tables and rows
    sql("create_table", "CREATE TABLE {db}.t_one (id INT COMMENT 'key', name STRING) STORED AS TEXTFILE")
    sql("create_table_bare", "CREATE TABLE txone (id INT)")
    sql("create_table_again", "CREATE TABLE {db}.t_one (id INT)")
    sql("create_in_db2", "CREATE EXTERNAL TABLE {db2}.d (id INT, label STRING) TBLPROPERTIES ('external.table.purge'='true')")
    sql("create_like", "CREATE TABLE {db2}.like_t LIKE {db}.t_one")
    sql("load", "LOAD DATA LOCAL INPATH '{data}/one' INTO TABLE {db}.t_one")
    sql("load_db2", "LOAD DATA LOCAL INPATH '{data}/one' OVERWRITE INTO TABLE {db2}.d")
    sql("insert_values", "INSERT INTO {db}.t_one VALUES (4, 'four')")
    sql("create_as_select", "CREATE TABLE {db2}.cas AS SELECT id, name FROM {db}.t_one WHERE id > 1")
    sql("select_all", "SELECT * FROM {db}.t_one")
    sql("select_where", "SELECT name FROM t_one WHERE id = 2")
    sql("select_as_select", "SELECT * FROM {db2}.cas")
    same("join", "SELECT t.id, t.name, d.label FROM {db}.t_one t JOIN {db2}.d d ON t.id = d.id")

    # partitions, and predicates on them; the table's files outlive it, and go with this run's folder
    sql("create_partitioned", "CREATE EXTERNAL TABLE {db}.p (id INT, name STRING) PARTITIONED BY (ds STRING, n INT) LOCATION 'file:{data}/p'")
    sql("add_partitions", "ALTER TABLE {db}.p ADD PARTITION (ds='2024-01-01', n=1) PARTITION (ds='2024-01-02', n=2)")
    sql("add_partition_again", "ALTER TABLE {db}.p ADD PARTITION (ds='2024-01-01', n=1)")
    sql("load_partition", "LOAD DATA LOCAL INPATH '{data}/one' INTO TABLE {db}.p PARTITION (ds='2024-01-01', n=1)")
    sql("load_new_partition", "LOAD DATA LOCAL INPATH '{data}/three' INTO TABLE {db}.p PARTITION (ds='2024-01-03', n=3)")
    sql("insert_static", "INSERT INTO {db}.p PARTITION (ds='2024-01-02', n=2) VALUES (5, 'five')")
    sql("insert_dynamic", "INSERT INTO {db}.p PARTITION (ds, n) SELECT id, name, '2024-01-04', id FROM {db}.t_one")
    same("show_partitions", "SHOW PARTITIONS {db}.p")
    same("show_partitions_spec", "SHOW PARTITIONS {db}.p PARTITION (ds='2024-01-02')")
    same("select_partition_equals", "SELECT * FROM {db}.p WHERE ds = '2024-01-01' AND n = 1")
    same("select_partition_first_key", "SELECT id FROM {db}.p WHERE ds = '2024-01-04'")
    same("select_partition_range", "SELECT id, n FROM {db}.p WHERE ds > '2024-01-01' AND n < 4")
    same("select_partition_in", "SELECT id FROM {db}.p WHERE n IN (1, 3) AND id < 3")
    same("select_partition_like", "SELECT id, ds FROM {db}.p WHERE ds LIKE '%-03'")
    same("select_partition_computed", "SELECT id FROM {db}.p WHERE n + 1 = 3")
    same("select_partition_or", "SELECT id, ds FROM {db}.p WHERE ds = '2024-01-02' OR n = 3")
    same("select_partition_none", "SELECT * FROM {db}.p WHERE ds = '1999-01-01'")
    same("select_partition_all", "SELECT id, ds, n FROM {db}.p")
    same("count_by_partition", "SELECT ds, count(*) FROM {db}.p WHERE n < 3 GROUP BY ds")
    sql("pruned", "EXPLAIN DEPENDENCY SELECT id FROM {db}.p WHERE ds = '2024-01-02' AND n = 2")
    sql("describe_partition", "DESCRIBE FORMATTED {db}.p PARTITION (ds='2024-01-01', n=1)", ("Database:", "Partition Value", "Table:"))
    sql("create_view", "CREATE VIEW {db}.v AS SELECT t.id, d.label FROM {db}.t_one t JOIN {db2}.d d ON t.id = d.id")
    sql("create_partition_view", "CREATE VIEW {db}.pv AS SELECT id, ds FROM {db}.p WHERE n < 3")
    same("select_view", "SELECT * FROM {db}.v")
    same("select_partition_view", "SELECT * FROM {db}.pv WHERE ds = '2024-01-01'")
    sql("explain_view", "EXPLAIN DEPENDENCY SELECT * FROM {db}.v")

    # DatabaseMetaData as GUI clients use it
    meta("meta_getCatalogs", "getCatalogs")
    ours("meta_getSchemas", "meta", "getSchemas")
    ours("meta_getSchemas_percent", "meta", "getSchemas", None, "%")
    meta("meta_getSchemas_exact", "getSchemas", None, db)
    meta("meta_getSchemas_escaped", "getSchemas", None, under)
    ours("meta_getSchemas_prefix", "meta", "getSchemas", None, db[:-1] + "%")
    meta("meta_getSchemas_upper", "getSchemas", None, db.upper())
    meta("meta_getSchemas_catalog", "getSchemas", "hive", db)
    ours("meta_getTables_all", "meta", "getTables", None, "%", "%", None)
    ours("meta_getTables_null", "meta", "getTables", None, None, "%", "TABLE,VIEW")
    meta("meta_getTables_empty", "getTables", "", "", "%", None)
    meta("meta_getTables_exact", "getTables", None, db, "%", None)
    meta("meta_getTables_escaped", "getTables", None, under, "t\\_one", None)
    meta("meta_getTables_underscore", "getTables", None, db, "t_one", None)
    meta("meta_getTables_views", "getTables", None, db, "%", "VIEW")
    meta("meta_getTables_missing", "getTables", None, db + "_missing", "%", None)
    meta("meta_getTableTypes", "getTableTypes")
    meta("meta_getColumns_exact", "getColumns", None, db, "t_one", "%")
    meta("meta_getColumns_escaped", "getColumns", None, under, "t\\_one", "%")
    ours("meta_getColumns_all", "meta", "getColumns", None, "%", "%", "id")
    ours("meta_getColumns_null", "meta", "getColumns", None, None, "txone", None)
    meta("meta_getPrimaryKeys", "getPrimaryKeys", None, db, "t_one")
    meta("meta_getImportedKeys", "getImportedKeys", None, db, "t_one")
    meta("meta_getCrossReference", "getCrossReference", None, db, "t_one", None, db2, "d")
    meta("meta_getFunctions", "getFunctions", None, None, "abs")
    meta("meta_getProcedures", "getProcedures", None, "%", "%")

    # what there is to show
    same("show_tables", "SHOW TABLES IN {db}")
    same("show_tables_like", "SHOW TABLES IN {db} LIKE 't*'")
    same("show_views", "SHOW VIEWS IN {db}")
    sql("describe_formatted", "DESCRIBE FORMATTED {db}.t_one", ("Database:", "Table Type:", "id|int", "name|string"))
    sql("describe", "DESCRIBE {db}.v")
    sql("describe_column", "DESCRIBE FORMATTED {db}.t_one id")
    sql("show_create_view", "SHOW CREATE TABLE {db}.v")
    same("show_create_table", "SHOW CREATE TABLE {db}.p")
    sql("show_columns", "SHOW COLUMNS IN {db}.t_one")
    sql("show_tblproperties", "SHOW TBLPROPERTIES {db2}.d('EXTERNAL')")
    sql("show_table_extended", "SHOW TABLE EXTENDED IN {db} LIKE 't_one'", ("tableName", "partitioned"))
    same("show_roles", "SHOW CURRENT ROLES")

    # statistics
    sql("analyze", "ANALYZE TABLE {db}.t_one COMPUTE STATISTICS FOR COLUMNS")
    sql("analyze_partition", "ANALYZE TABLE {db}.p PARTITION (ds='2024-01-01', n=1) COMPUTE STATISTICS")
    sql("analyze_partition_columns", "ANALYZE TABLE {db}.p PARTITION (ds='2024-01-01', n=1) COMPUTE STATISTICS FOR COLUMNS id")
    sql("column_statistics", "DESCRIBE FORMATTED {db}.t_one id", ("col_name", "min", "max", "distinct_count", "num_nulls"))
    sql("partition_statistics", "DESCRIBE FORMATTED {db}.p PARTITION (ds='2024-01-01', n=1) id")
    sql("count_by_statistics", "SELECT count(*) FROM {db}.t_one")

    # changes
    sql("add_columns", "ALTER TABLE {db}.t_one ADD COLUMNS (extra STRING)")
    sql("add_columns_cascade", "ALTER TABLE {db}.p ADD COLUMNS (extra STRING) CASCADE")
    sql("change_column", "ALTER TABLE {db}.t_one CHANGE COLUMN extra late STRING COMMENT 'late'")
    sql("set_tblproperties", "ALTER TABLE {db}.t_one SET TBLPROPERTIES ('k'='v')")
    sql("set_location_partition", "ALTER TABLE {db}.p PARTITION (ds='2024-01-03', n=3) SET LOCATION 'file:{data}/p/elsewhere'")
    sql("rename_partition", "ALTER TABLE {db}.p PARTITION (ds='2024-01-02', n=2) RENAME TO PARTITION (ds='2024-01-05', n=5)")
    sql("create_exchange", "CREATE EXTERNAL TABLE {db2}.px (id INT, name STRING, extra STRING) PARTITIONED BY (ds STRING, n INT) LOCATION 'file:{data}/px'")
    sql("exchange_partition", "ALTER TABLE {db2}.px EXCHANGE PARTITION (ds='2024-01-04', n=4) WITH TABLE {db}.p")
    same("exchanged", "SELECT id, ds, n FROM {db2}.px WHERE n = 4")
    sql("drop_partition", "ALTER TABLE {db}.p DROP PARTITION (ds='2024-01-03')")
    sql("drop_partition_range", "ALTER TABLE {db}.p DROP PARTITION (ds<'2024-01-02')")
    sql("drop_partition_none", "ALTER TABLE {db}.p DROP IF EXISTS PARTITION (ds='1999-01-01')")
    sql("drop_partition_missing", "ALTER TABLE {db}.p DROP PARTITION (ds='1999-01-01', n=7)")
    same("after_drop_partition", "SHOW PARTITIONS {db}.p")
    sql("msck", "MSCK REPAIR TABLE {db}.p")
    same("after_msck", "SHOW PARTITIONS {db}.p")
    same("select_after_msck", "SELECT id, ds FROM {db}.p WHERE ds < '2024-01-04'")
    sql("rename_table", "ALTER TABLE {db}.txone RENAME TO {db}.tx2")
    sql("rename_to_other_database", "ALTER TABLE {db}.tx2 RENAME TO {db2}.tx2")
    sql("create_function", "CREATE FUNCTION {db}.f AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFAbs'")
    sql("use_function", "SELECT {db}.f(-1)")
    same("show_functions", "SHOW FUNCTIONS LIKE '{db}.f'")
    sql("describe_function", "DESCRIBE FUNCTION {db}.f")
    sql("drop_function", "DROP FUNCTION {db}.f")
    sql("create_primary_key", "CREATE EXTERNAL TABLE {db}.pk (id INT, PRIMARY KEY (id) DISABLE NOVALIDATE)")
    step("meta_getPrimaryKeys_set", lambda: [x.split("|")[:5] for x in ask("meta", "getPrimaryKeys", None, db, "pk")])  # the key's name is random
    sql("create_foreign_key", "CREATE EXTERNAL TABLE {db2}.fk (id INT, CONSTRAINT c1 FOREIGN KEY (id) REFERENCES {db}.pk (id) DISABLE NOVALIDATE)")
    sql("describe_foreign_key", "DESCRIBE FORMATTED {db2}.fk", ("Parent Column", "Table:", "Database:", "Constraint Name"))

    if r.a.txn:
        own = {k: n.rpartition(r.a.sep)[2] for k, n in (("db", db), ("db2", db2))}
        transactional(r, step, q, lambda text: around("sql", text.format(**own)) if around else q(text))

    # what is not there, and the end
    sql("select_missing_table", "SELECT * FROM {db}.zz")
    sql("use_missing", "USE {db}_missing")
    sql("drop_missing_table", "DROP TABLE {db}.zz")
    sql("drop_view", "DROP VIEW {db}.v")
    sql("drop_table", "DROP TABLE {db}.t_one")
    sql("drop_database_not_empty", "DROP DATABASE {db2}")
    sql("drop_database_cascade", "DROP DATABASE {db2} CASCADE")
    sql("use_default", "USE default")
    sql("drop_database", "DROP DATABASE {db} CASCADE")
    ours("show_databases_gone", "sql", "SHOW DATABASES")


def transactional(r, step, q, write):
    """What HiveServer2 refuses without DbTxnManager. Transactional tables are made and written by `write`, read by `q`."""
    for name, text in (
            ("create_acid", "CREATE TABLE {db}.acid (id INT, name STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true')"),
            ("insert_acid", "INSERT INTO {db}.acid VALUES (1, 'a'), (2, 'b')"),
            ("update_acid", "UPDATE {db}.acid SET name = 'c' WHERE id = 2"),
            ("delete_acid", "DELETE FROM {db}.acid WHERE id = 1"),
            ("create_acid_partitioned", "CREATE TABLE {db}.acidp (id INT) PARTITIONED BY (ds STRING) STORED AS ORC TBLPROPERTIES ('transactional'='true')"),
            ("insert_acid_dynamic", "INSERT INTO {db}.acidp PARTITION (ds) SELECT id, name FROM {db}.t_one"),
            ("create_insert_only", "CREATE TABLE {db2}.mm (id INT) TBLPROPERTIES ('transactional'='true', 'transactional_properties'='insert_only')"),
            ("insert_insert_only", "INSERT INTO {db2}.mm SELECT id FROM {db}.t_one"),
            ("compact", "ALTER TABLE {db}.acid COMPACT 'major'")):
        step(name, lambda: write(text))
    for name, text in (
            ("show_locks", "SHOW LOCKS {db}.acid"),
            ("select_acid", "SELECT * FROM {db}.acid"),
            ("select_acid_partition", "SELECT id FROM {db}.acidp WHERE ds = 'two'"),
            ("select_insert_only", "SELECT * FROM {db2}.mm"),
            ("join_acid", "SELECT a.name, d.label FROM {db}.acid a JOIN {db2}.d d ON a.id = d.id"),
            ("join_transactional", "SELECT a.name, m.id FROM {db}.acid a JOIN {db2}.mm m ON a.id = m.id")):
        step(name, lambda: sorted(q(text), key=r.norm))
    step("show_compactions", lambda: [x.split("|")[1:6] for x in q("SHOW COMPACTIONS") if x.split("|")[1].lower() == r.a.db.lower()])
    step("show_transactions", lambda: q("SHOW TRANSACTIONS")[0])  # the others are anybody's
    step("create_acid_too", lambda: q("CREATE TABLE {db}.too (id INT) STORED AS ORC TBLPROPERTIES ('transactional'='true')"))
    step("insert_acid_again", lambda: q("INSERT INTO {db}.acid VALUES (3, 'd')"))
    step("alter_acid", lambda: q("ALTER TABLE {db}.acid SET TBLPROPERTIES ('k'='v')"))
    step("truncate_acid", lambda: write("TRUNCATE TABLE {db}.acid"))
    step("select_acid_truncated", lambda: q("SELECT * FROM {db}.acid"))


def main():
    r = Run(__doc__, more)
    signal.signal(signal.SIGTERM, lambda n, _: sys.exit(128 + n))
    u = urlparse(r.a.uri)
    try:
        socket.create_connection((u.hostname, u.port), 5).close()
    except OSError as e:
        print("no metastore at %s: %s" % (r.a.uri, e), file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory(prefix="hmsgate-hs2-", ignore_cleanup_errors=True) as tmp:
        servers = []
        try:
            for n, uri in enumerate([r.a.uri] + ([r.a.around] if r.a.around else [])):
                servers.append(HiveServer2(r.a, uri, os.path.join(tmp, str(n))))
            for s in servers:
                s.read()
            statements(r, tmp, servers[0].ask, servers[1].ask if r.a.around else None)
        finally:
            for s in servers:
                s.end()


main()
