#!/usr/bin/env python3
"""Spark SQL with Hive support on a remote metastore: databases, partitioned tables, views, statistics, Iceberg."""
import atexit, logging, os, re, shutil, socket, sys, tempfile
from urllib.parse import urlparse

from steps import Run


def more(p):
    p.add_argument("--iceberg-jar", help="iceberg-spark-runtime jar: also run the Iceberg steps")
    p.add_argument("--hive-version", help="spark.sql.hive.metastore.version, with --hive-jars")
    p.add_argument("--hive-jars", help="class path for it (a folder's /* or a list)")
    p.add_argument("--conf", action="append", default=[], help="more Spark settings, k=v")
    p.add_argument("--sql", action="append", default=[], help="run only these statements (with {db} and {db2}) and print their rows")


r = Run(__doc__, more)
a = r.a
u = urlparse(a.uri)
try:
    socket.create_connection((u.hostname, u.port), 5).close()
except OSError as e:
    print("no metastore at %s: %s" % (a.uri, e), file=sys.stderr)
    sys.exit(2)

sys.stdout = os.fdopen(os.dup(1), "w", buffering=1)  # what the JVM prints goes to standard error
os.dup2(2, 1)

from pyspark.sql import SparkSession  # noqa: E402

tmp = tempfile.mkdtemp(prefix="hmsgate-spark-")
atexit.register(shutil.rmtree, tmp, ignore_errors=True)
os.chdir(tmp)
b = (SparkSession.builder.master("local[2]").appName("rig").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
     .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
     .config("spark.driver.memory", os.environ.get("SPARK_MEMORY", "1g")).config("spark.sql.shuffle.partitions", "2")
     .config("spark.hadoop.hive.metastore.uris", a.uri).config("spark.sql.warehouse.dir", "file:" + tmp + "/wh")
     .config("spark.hadoop.hive.metastore.client.connect.retry.delay", "1s").config("spark.hadoop.hive.metastore.failure.retries", "1")
     .config("spark.sql.session.timeZone", "UTC")
     .config("spark.hadoop.hive.exec.dynamic.partition.mode", "nonstrict"))
if a.iceberg_jar:
    b = (b.config("spark.jars", a.iceberg_jar).config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
         .config("spark.sql.catalog.ice", "org.apache.iceberg.spark.SparkCatalog").config("spark.sql.catalog.ice.type", "hive")
         .config("spark.sql.catalog.ice.uri", a.uri))
if a.hive_version:
    b = b.config("spark.sql.hive.metastore.version", a.hive_version).config("spark.sql.hive.metastore.jars", "path").config("spark.sql.hive.metastore.jars.path", a.hive_jars)
for kv in a.conf:
    b = b.config(*kv.split("=", 1))
try:
    s = b.enableHiveSupport().getOrCreate()
except Exception as e:  # noqa: BLE001
    print("Spark does not start: %s" % e, file=sys.stderr)
    sys.exit(2)
s.sparkContext.setLogLevel(os.environ.get("SPARK_LOG", "OFF"))
logging.disable(logging.CRITICAL)
DB, DB2 = a.db, a.db2


def q(sql):
    rows = s.sql(sql.format(db=DB, db2=DB2)).collect()
    return [tuple(str(v) for v in x) for x in rows]


def few(sql, keep):
    return [x[:2] for x in q(sql) if re.match(keep, x[0])]


if a.sql:
    for t in a.sql:
        r.step(t, lambda: q(t))
    s.stop()
    sys.exit(0)

ns = lambda sql: sorted(x for x in q(sql) if x[0].lower() in (DB.lower(), DB2.lower()))  # noqa: E731
step = r.step
step("clean", lambda: (q("DROP DATABASE IF EXISTS {db} CASCADE"), q("DROP DATABASE IF EXISTS {db2} CASCADE")))
step("create_database", lambda: q("CREATE DATABASE {db} COMMENT 'rig' WITH DBPROPERTIES (team='x')"))
step("create_database_2", lambda: q("CREATE DATABASE {db2}"))
step("create_database_again", lambda: q("CREATE DATABASE {db}"), True)
step("show_databases", lambda: ns("SHOW DATABASES"))
step("show_databases_like", lambda: q("SHOW DATABASES LIKE '{db}'"))
step("show_databases_star", lambda: ns("SHOW DATABASES LIKE '" + DB[:-1] + "*'"))
step("describe_database", lambda: q("DESCRIBE DATABASE EXTENDED {db}"))
step("alter_database", lambda: q("ALTER DATABASE {db} SET DBPROPERTIES (k='v')"))
step("use", lambda: (q("USE {db}"), q("SELECT current_database()"))[1])
step("create_table", lambda: q("CREATE TABLE {db}.t (id INT, name STRING COMMENT 'c') USING parquet TBLPROPERTIES (p='1')"))
step("create_table_again", lambda: q("CREATE TABLE {db}.t (id INT) USING parquet"), True)
step("create_partitioned", lambda: q("CREATE TABLE {db}.p (id INT, name STRING) PARTITIONED BY (ds STRING, n INT) STORED AS PARQUET"))
step("create_in_db2", lambda: q("CREATE TABLE {db2}.d (id INT, label STRING) STORED AS PARQUET"))
step("create_text", lambda: q("CREATE TABLE {db}.x (id INT) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE"))
step("insert", lambda: q("INSERT INTO {db}.t VALUES (1,'a'),(2,'b')"))
step("insert_db2", lambda: q("INSERT INTO {db2}.d VALUES (1,'one'),(2,'two')"))
step("insert_static_partition", lambda: q("INSERT INTO {db}.p PARTITION (ds='2024-01-01', n=1) VALUES (1,'a')"))
step("insert_dynamic_partition", lambda: q("INSERT INTO {db}.p PARTITION (ds, n) VALUES (2,'b','2024-01-02',2),(3,'c','a/b=c%d',3)"))
step("insert_overwrite_partition", lambda: q("INSERT OVERWRITE TABLE {db}.p PARTITION (ds='2024-01-01', n=1) VALUES (9,'z')"))
step("insert_text", lambda: q("INSERT INTO {db}.x VALUES (1),(2)"))
step("create_text_partitioned", lambda: q("CREATE TABLE {db}.y (id INT) PARTITIONED BY (ds STRING) STORED AS TEXTFILE"))
step("insert_text_static", lambda: q("INSERT INTO {db}.y PARTITION (ds='2024-01-01') VALUES (1)"))
step("insert_text_dynamic", lambda: q("INSERT INTO {db}.y PARTITION (ds) VALUES (2,'2024-01-02'),(3,'2024-01-03')"))
step("insert_text_overwrite", lambda: q("INSERT OVERWRITE TABLE {db}.y PARTITION (ds='2024-01-01') VALUES (9)"))
step("select_text", lambda: sorted(q("SELECT id FROM {db}.y WHERE ds > '2024-01-01'")))
step("alter_partition_location", lambda: q("ALTER TABLE {db}.y PARTITION (ds='2024-01-01') SET SERDEPROPERTIES ('field.delim'='|')"))
step("ctas", lambda: q("CREATE TABLE {db}.c STORED AS PARQUET AS SELECT * FROM {db}.t"))
step("select", lambda: sorted(q("SELECT * FROM {db}.t")))
step("select_partition_filter", lambda: q("SELECT id FROM {db}.p WHERE ds >= '2024-01-02' AND ds < '2025' AND n = 2"))
step("select_partition_in", lambda: sorted(q("SELECT id FROM {db}.p WHERE ds IN ('2024-01-01','2024-01-02')")))
step("select_partition_cast", lambda: sorted(q("SELECT id FROM {db}.p WHERE substr(ds,1,4) = '2024'")))
step("join_two_databases", lambda: sorted(q("SELECT t.id, t.name, d.label FROM {db}.t t JOIN {db2}.d d ON t.id = d.id")))
step("show_partitions", lambda: q("SHOW PARTITIONS {db}.p"))
step("show_partitions_spec", lambda: q("SHOW PARTITIONS {db}.p PARTITION (n=2)"))
step("add_partition", lambda: q("ALTER TABLE {db}.p ADD PARTITION (ds='2024-02-01', n=5) PARTITION (ds='2024-02-02', n=6)"))
step("add_partition_if_not_exists", lambda: q("ALTER TABLE {db}.p ADD IF NOT EXISTS PARTITION (ds='2024-02-01', n=5)"))
step("add_partition_again", lambda: q("ALTER TABLE {db}.p ADD PARTITION (ds='2024-02-01', n=5)"), True)
step("rename_partition", lambda: q("ALTER TABLE {db}.p PARTITION (ds='2024-02-01', n=5) RENAME TO PARTITION (ds='2024-02-03', n=5)"))
step("drop_partition", lambda: q("ALTER TABLE {db}.p DROP PARTITION (ds='2024-02-02', n=6)"))
step("describe_partition", lambda: few("DESCRIBE FORMATTED {db}.p PARTITION (ds='2024-01-01', n=1)", "Database|Table|Partition Values|Location"))


def msck():
    loc = [x for x in q("DESCRIBE FORMATTED {db}.p") if x[0] == "Location"][0][1].replace("file:", "")
    os.makedirs(loc + "/ds=2024-03-01/n=7", exist_ok=True)
    return q("MSCK REPAIR TABLE {db}.p"), q("SHOW PARTITIONS {db}.p")


step("msck_repair", msck)
step("describe_formatted", lambda: few("DESCRIBE FORMATTED {db}.t", "Catalog|Database|Table|Owner$|Type|Provider|Location|Serde|id|name"))
step("show_create_table", lambda: q("SHOW CREATE TABLE {db}.p"))
step("show_tables", lambda: sorted(q("SHOW TABLES IN {db}")))
step("show_tables_like", lambda: sorted(q("SHOW TABLES IN {db} LIKE 't*'")))
step("show_table_extended", lambda: [x[:2] for x in q("SHOW TABLE EXTENDED IN {db} LIKE 't'")])
step("show_columns", lambda: q("SHOW COLUMNS IN {db}.p"))
step("show_tblproperties", lambda: few("SHOW TBLPROPERTIES {db}.t", "p$"))
step("show_functions", lambda: q("SHOW USER FUNCTIONS IN {db}"))
step("table_exists_api", lambda: (s.catalog.tableExists(DB + ".t"), s.catalog.tableExists(DB + ".zz"), s.catalog.databaseExists(DB), s.catalog.databaseExists(DB + "_missing")))
step("create_view", lambda: q("CREATE VIEW {db}.v AS SELECT t.id, d.label FROM {db}.t t JOIN {db2}.d d ON t.id = d.id"))
step("select_view", lambda: sorted(q("SELECT * FROM {db}.v")))
step("show_views", lambda: q("SHOW VIEWS IN {db}"))
step("describe_view", lambda: few("DESCRIBE FORMATTED {db}.v", "Type|View Text|View Original|View Catalog"))
step("alter_view", lambda: q("ALTER VIEW {db}.v AS SELECT id FROM {db}.t"))
step("drop_view", lambda: q("DROP VIEW {db}.v"))
step("add_columns", lambda: q("ALTER TABLE {db}.t ADD COLUMNS (extra STRING)"))
step("set_tblproperties", lambda: q("ALTER TABLE {db}.t SET TBLPROPERTIES (k='v')"))
step("unset_tblproperties", lambda: q("ALTER TABLE {db}.t UNSET TBLPROPERTIES (k)"))
step("change_column_comment", lambda: q("ALTER TABLE {db}.t CHANGE COLUMN name name STRING COMMENT 'new'"))
step("set_serde", lambda: q("ALTER TABLE {db}.x SET SERDEPROPERTIES ('field.delim'='|')"))
step("rename_table", lambda: q("ALTER TABLE {db}.t RENAME TO {db}.t2"))
step("rename_to_other_db", lambda: q("ALTER TABLE {db}.x RENAME TO {db2}.x"), True)
step("analyze", lambda: q("ANALYZE TABLE {db}.t2 COMPUTE STATISTICS"))
step("analyze_columns", lambda: q("ANALYZE TABLE {db}.t2 COMPUTE STATISTICS FOR COLUMNS id, name"))
step("analyze_partition", lambda: q("ANALYZE TABLE {db}.p PARTITION (ds='2024-01-01') COMPUTE STATISTICS"))
step("truncate", lambda: q("TRUNCATE TABLE {db}.t2"))
step("truncate_partition", lambda: q("TRUNCATE TABLE {db}.p PARTITION (ds='2024-01-01', n=1)"))
step("refresh", lambda: q("REFRESH TABLE {db}.t2"))
step("create_function", lambda: q("CREATE FUNCTION {db}.f AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFAbs'"))
step("describe_function", lambda: q("DESCRIBE FUNCTION {db}.f")[:2])
step("show_user_functions", lambda: q("SHOW USER FUNCTIONS IN {db}"))
step("drop_function", lambda: q("DROP FUNCTION {db}.f"))
step("select_missing", lambda: q("SELECT * FROM {db}.zz"), True)
step("describe_missing_db", lambda: q("DESCRIBE DATABASE " + DB + "_missing"), True)

if a.iceberg_jar:
    step("ice_show_namespaces", lambda: ns("SHOW NAMESPACES IN ice"))
    step("ice_create", lambda: q("CREATE TABLE ice.{db}.i (id BIGINT, ds STRING) USING iceberg PARTITIONED BY (ds)"))
    step("ice_insert", lambda: q("INSERT INTO ice.{db}.i VALUES (1,'a'),(2,'b')"))
    step("ice_select", lambda: sorted(q("SELECT * FROM ice.{db}.i")))
    step("ice_update", lambda: (q("UPDATE ice.{db}.i SET id = 7 WHERE ds = 'a'"), sorted(q("SELECT * FROM ice.{db}.i")))[1])
    step("ice_alter_add_column", lambda: q("ALTER TABLE ice.{db}.i ADD COLUMN extra STRING"))
    step("ice_set_property", lambda: q("ALTER TABLE ice.{db}.i SET TBLPROPERTIES ('k'='v')"))
    step("ice_snapshots", lambda: q("SELECT operation FROM ice.{db}.i.snapshots"))
    step("ice_no_lock", lambda: (q("ALTER TABLE ice.{db}.i SET TBLPROPERTIES ('engine.hive.lock-enabled'='false')"), q("INSERT INTO ice.{db}.i VALUES (3,'c',null)"))[1])
    step("ice_create_view", lambda: q("CREATE VIEW ice.{db}.iv AS SELECT id FROM ice.{db}.i"))
    step("ice_select_view", lambda: sorted(q("SELECT * FROM ice.{db}.iv")))
    step("ice_show_views", lambda: q("SHOW VIEWS IN ice.{db}"))
    step("ice_drop_view", lambda: q("DROP VIEW ice.{db}.iv"))
    step("ice_rename", lambda: q("ALTER TABLE ice.{db}.i RENAME TO ice.{db}.i2"))
    step("ice_show_tables", lambda: sorted(q("SHOW TABLES IN ice.{db}")))
    step("ice_expire", lambda: [len(q("CALL ice.system.expire_snapshots(table => '{db}.i2', retain_last => 1)"))])
    step("ice_drop", lambda: q("DROP TABLE ice.{db}.i2 PURGE"))
    step("ice_create_namespace_again", lambda: q("CREATE NAMESPACE ice.{db}"), True)

step("drop_table", lambda: [q("DROP TABLE {db}." + t) for t in ("t2", "c")])
step("drop_table_purge", lambda: q("DROP TABLE {db}.p PURGE"))
step("drop_missing_table", lambda: q("DROP TABLE {db}.zz"), True)
step("drop_database_not_empty", lambda: q("DROP DATABASE {db2}"), True)
step("drop_database_cascade", lambda: q("DROP DATABASE {db2} CASCADE"))
step("drop_database", lambda: q("DROP DATABASE {db} CASCADE"))
r.end()
s.stop()
