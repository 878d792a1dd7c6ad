"""iceberg_writers.py GATEWAY APACHE: two PyIceberg writers of one table, one through the gateway, one at the metastore."""
import getpass
import logging
import socket
import sys
import threading

import pyarrow as pa
from hive_metastore.ttypes import LockComponent, LockLevel, LockRequest, LockState, LockType, UnlockRequest
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

logging.disable(logging.CRITICAL)
GATEWAY, APACHE = (int(p) for p in sys.argv[1:3])
DB = "writers"
STEPS = {"ok": 0, "bad": 0}


class Writer:
    """One way to the table: a port and the name that its database has there."""

    def __init__(self, name, port, db):
        self.name, self.uri, self.db, self.ident = name, "thrift://127.0.0.1:%d" % port, db, (db, "t")

    def catalog(self, retries=3):
        waits = {"lock-check-min-wait-time": "0.1", "lock-check-max-wait-time": "0.3", "lock-check-retries": str(retries)}
        return load_catalog(self.name, type="hive", uri=self.uri, **waits)

    def table(self, retries=3):
        return self.catalog(retries).load_table(self.ident)

    def append(self, n, retries=3):
        """commit one row: whether it went in"""
        return committed(lambda: self.table(retries).append(row(n)))

    def lock(self, raw):
        part = LockComponent(type=LockType.EXCLUSIVE, level=LockLevel.TABLE, dbname=self.db, tablename="t", isTransactional=True)
        return raw.lock(LockRequest(component=[part], user=getpass.getuser(), hostname=socket.gethostname()))


def row(n):
    return pa.table({"id": pa.array([n], pa.int64())})


def committed(f):
    try:
        f()
        return "committed"
    except CommitFailedException:
        return "CommitFailedException"


def check(name, got, want):
    STEPS["ok" if got == want else "bad"] += 1
    print("%s\t%s\t%s" % ("ok" if got == want else "BAD", name, got if got == want else "%s, want %s" % (got, want)))


def conflict(first, second):
    """both begin at the same snapshot, and a commit is not tried again (commit.retry.num-retries below)"""
    a, b = first.table().transaction(), second.table().transaction()
    a.append(row(1))
    b.append(row(2))
    got = committed(a.commit_transaction), committed(b.commit_transaction)
    check("conflict, %s first" % first.name, got, ("committed", "CommitFailedException"))


def locked(holder, other):
    """the table is locked by one: the other's commit fails, and passes once the lock is gone"""
    with holder.catalog()._client as raw:
        held = holder.lock(raw)
        check("lock, " + holder.name, LockState._VALUES_TO_NAMES[held.state], "ACQUIRED")
        check("commit against it, " + other.name, other.append(3), "CommitFailedException")
        raw.unlock(UnlockRequest(lockid=held.lockid))
    check("commit after unlock, " + other.name, other.append(4), "committed")


def race(writers):
    """four threads, half of them each way, three appends each: every success is in the table"""
    count = writers[0].table().scan().count
    before, good = count(), []

    def work(w, i):
        for j in range(3):
            if any(w.append(100 + 10 * i + j, 20) == "committed" for _ in range(20)):
                good.append(1)

    threads = [threading.Thread(target=work, args=(writers[i % 2], i)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check("race", (len(good), writers[1].table().scan().count() - before), (12, 12))


def main():
    through, direct = Writer("gateway", GATEWAY, "apache__" + DB), Writer("metastore", APACHE, DB)
    c = direct.catalog()
    for ns in [n for n in c.list_namespaces() if n == (DB,)]:
        for t in c.list_tables(ns):
            c.drop_table(t)
        c.drop_namespace(ns)
    c.create_namespace(DB)
    schema = Schema(NestedField(1, "id", LongType(), required=False))
    c.create_table(direct.ident, schema, properties={"commit.retry.num-retries": "0"})
    for a, b in ((through, direct), (direct, through)):
        conflict(a, b)
        locked(a, b)
    race((through, direct))
    c.drop_table(direct.ident)
    c.drop_namespace(DB)
    print("writers: steps %d right %d wrong %d" % (sum(STEPS.values()), STEPS["ok"], STEPS["bad"]))
    return 1 if STEPS["bad"] else 0


sys.exit(main())
