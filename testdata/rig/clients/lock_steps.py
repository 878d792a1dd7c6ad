"""lock_steps.py GATEWAY HDP APACHE: locks at three ports of loopback, the last two being the metastores themselves."""
import sys

from hive_metastore import ThriftHiveMetastore
from hive_metastore import ttypes as t
from thrift.Thrift import TApplicationException
from thrift.protocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

GATEWAY, HDP, APACHE = (int(p) for p in sys.argv[1:4])
READ, EXCLUSIVE = t.LockType.SHARED_READ, t.LockType.EXCLUSIVE
ACQUIRED, WAITING = t.LockState.ACQUIRED, t.LockState.WAITING
STEPS = {"ok": 0, "bad": 0}


def client(port):
    trans = TTransport.TBufferedTransport(TSocket.TSocket("127.0.0.1", port))
    trans.open()
    return ThriftHiveMetastore.Client(TBinaryProtocol.TBinaryProtocol(trans))


def part(kind, db, table=None, op=t.DataOperationType.NO_TXN):
    level = t.LockLevel.TABLE if table else t.LockLevel.DB
    return t.LockComponent(type=kind, level=level, dbname=db, tablename=table, operationType=op)


def lock(c, *parts, txn=None, agent="steps"):
    return c.lock(t.LockRequest(component=list(parts), txnid=txn, user="u", hostname="h", agentInfo=agent))


def state(c, lockid):
    try:
        return c.check_lock(t.CheckLockRequest(lockid=lockid)).state
    except t.NoSuchLockException:
        return "none"


def unlock(c, lockid):
    c.unlock(t.UnlockRequest(lockid=lockid))


def held(c, db=None):
    """Locks as db.table, without those a metastore of Hive 4 holds for itself."""
    got = c.show_locks(t.ShowLocksRequest(dbname=db)).locks or []
    return sorted("%s.%s" % (e.dbname, e.tablename or "") for e in got if not e.dbname.startswith("__"))


def step(what, got, want):
    good = got == want
    STEPS["ok" if good else "bad"] += 1
    print("%s\t%s%s" % ("ok" if good else "BAD", what, "" if good else ": got %r, want %r" % (got, want)))


def measured():
    """Two catalogs' locks of the same number: the sequence in which other proxies release somebody else's."""
    a, b, c = client(GATEWAY), client(GATEWAY), client(GATEWAY)
    one = lock(a, part(EXCLUSIVE, "lk", "orders"))
    two = lock(b, part(EXCLUSIVE, "apache__lk", "orders"))
    three = lock(c, part(EXCLUSIVE, "apache__lk", "orders"))
    step("A, B acquired, C waits", (one.state, two.state, three.state), (ACQUIRED, ACQUIRED, WAITING))
    step("A's id is the metastore's own", one.lockid < 1 << 48, True)
    step("B's id carries its catalog", two.lockid >= 1 << 48, True)
    step("B's check", state(b, two.lockid), ACQUIRED)
    unlock(b, two.lockid)
    step("A's lock is still there", held(client(HDP)), ["lk.orders"])
    step("C's check", state(c, three.lockid), ACQUIRED)
    unlock(c, three.lockid)
    unlock(a, one.lockid)
    clean("measured")


def writers():
    """Two Iceberg writers on the other catalog, one of them around the gateway."""
    a, b = client(GATEWAY), client(APACHE)
    unset = t.DataOperationType.UNSET
    one = lock(a, part(EXCLUSIVE, "apache__lk", "t", unset), agent="Iceberg-1")
    two = lock(b, part(EXCLUSIVE, "lk", "t", unset), agent="Iceberg-2")
    step("through, then direct", (one.state, two.state), (ACQUIRED, WAITING))
    shown = a.show_locks(t.ShowLocksRequest(dbname="apache__lk", tablename="t")).locks
    step("found by agentInfo", sorted((e.agentInfo, e.dbname, e.lockid == one.lockid) for e in shown),
         [("Iceberg-1", "apache__lk", True), ("Iceberg-2", "apache__lk", False)])
    unlock(a, one.lockid)
    step("direct goes on", state(b, two.lockid), ACQUIRED)
    three = lock(a, part(EXCLUSIVE, "apache__lk", "t", unset), agent="Iceberg-3")
    step("direct, then through", three.state, WAITING)
    unlock(b, two.lockid)
    step("through goes on", state(a, three.lockid), ACQUIRED)
    unlock(a, three.lockid)
    clean("writers")


def transaction():
    """HiveServer2: open_txns, one request over both catalogs, the commit on another connection."""
    a, b = client(GATEWAY), client(APACHE)
    txn = a.open_txns(t.OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids[0]
    mine = lock(a, part(READ, "apache__lk", "t", t.DataOperationType.SELECT), part(READ, "lk"),
                part(READ, "_dummy_database", "_dummy_table", t.DataOperationType.SELECT), txn=txn)
    step("one lock", (mine.state, mine.lockid < 1 << 48), (ACQUIRED, True))
    step("the primary", held(client(HDP)), ["_dummy_database._dummy_table", "apache__lk.t", "lk."])
    step("the mirror", held(b), ["lk.t"])
    step("the mirror is hidden", held(a, "apache__lk"), ["apache__lk.t"])
    other = lock(b, part(EXCLUSIVE, "lk", "t"))
    step("a direct writer waits", other.state, WAITING)
    step("check_lock", state(a, mine.lockid), ACQUIRED)
    try:
        unlock(a, mine.lockid)
        step("unlock inside a transaction", "done", "refused")
    except t.TxnOpenException:
        step("unlock inside a transaction", "refused", "refused")
    client(GATEWAY).commit_txn(t.CommitTxnRequest(txnid=txn))
    step("the direct writer goes on", state(b, other.lockid), ACQUIRED)
    txn = a.open_txns(t.OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids[0]
    mine = lock(a, part(READ, "apache__lk", "t", t.DataOperationType.SELECT), txn=txn)
    step("the transaction waits for it", (mine.state, state(a, mine.lockid)), (WAITING, WAITING))
    unlock(b, other.lockid)
    step("and goes on", state(a, mine.lockid), ACQUIRED)
    a.abort_txn(t.AbortTxnRequest(txnid=txn))
    clean("transaction")


def orders():
    """Two requests that name both catalogs in opposite orders."""
    a, b = client(GATEWAY), client(GATEWAY)
    one = lock(a, part(EXCLUSIVE, "lk", "x"), part(EXCLUSIVE, "apache__lk", "x"))
    two = lock(b, part(EXCLUSIVE, "apache__lk", "x"), part(EXCLUSIVE, "lk", "x"))
    step("one acquired, one waits", (one.state, two.state), (ACQUIRED, WAITING))
    step("the waiting one holds nothing there", held(client(APACHE)), ["lk.x"])
    unlock(a, one.lockid)
    step("then it is acquired", state(b, two.lockid), ACQUIRED)
    unlock(b, two.lockid)
    clean("orders")


def refused():
    """What only the default catalog's transactions can do."""
    a = client(GATEWAY)
    txn = a.open_txns(t.OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids[0]
    try:
        a.allocate_table_write_ids(t.AllocateTableWriteIdsRequest(dbName="apache__lk", tableName="t", txnIds=[txn]))
        step("write ids elsewhere", "done", "refused")
    except t.MetaException as e:
        step("write ids elsewhere", "only available in the default catalog 'hdp'" in e.message, True)
    ask = t.GetValidWriteIdsRequest(fullTableNames=["apache__lk.T", "lk.t"], validTxnList="%d:%d::" % (txn, txn))
    try:
        got = [e.fullTableName for e in a.get_valid_write_ids(ask).tblValidWriteIds]
    except TApplicationException as e:  # 2.3 has no write ids
        got = ask.fullTableNames if e.type == TApplicationException.UNKNOWN_METHOD else e
    step("valid write ids of both", got, ask.fullTableNames)
    a.abort_txn(t.AbortTxnRequest(txnid=txn))
    step("check_lock of an unknown id", state(a, 1 << 40), "none")


def clean(group):
    step(group + ": nothing is left", (held(client(HDP)), held(client(APACHE))), ([], []))


for group in (measured, writers, transaction, orders, refused):
    group()
print("steps %d right %d wrong %d" % (sum(STEPS.values()), STEPS["ok"], STEPS["bad"]))
sys.exit(1 if STEPS["bad"] else 0)
