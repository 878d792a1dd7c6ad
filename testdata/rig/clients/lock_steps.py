"""lock_steps.py GATEWAY[,GATEWAY] HDP APACHE [PID TIMEOUT]: locks at ports of loopback.

HDP and APACHE are the metastores themselves. Of two instances of the gateway
each connection goes to the next one; PID is the process of the first, which is
killed at the end, TIMEOUT after how many seconds they take a client for dead.
"""
import itertools
import os
import signal
import sys
import time

from hive_metastore import ThriftHiveMetastore
from hive_metastore import ttypes as t
from thrift.Thrift import TApplicationException
from thrift.protocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

GATEWAYS = [int(p) for p in sys.argv[1].split(",")]
GATEWAY, NEXT = "the next instance", itertools.cycle(GATEWAYS)
HDP, APACHE = (int(p) for p in sys.argv[2:4])
READ, EXCLUSIVE = t.LockType.SHARED_READ, t.LockType.EXCLUSIVE
ACQUIRED, WAITING = t.LockState.ACQUIRED, t.LockState.WAITING
STEPS = {"ok": 0, "bad": 0}


def client(port):
    if port == GATEWAY:
        port = next(NEXT)
    sock = TSocket.TSocket("127.0.0.1", port)
    sock.setTimeout(120_000)  # a server that hangs is an error that names the step
    trans = TTransport.TBufferedTransport(sock)
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


def kinds():
    """Write locks of transactions: their mirrors are in no transaction, at an owner of 4.x too."""
    a, b = client(GATEWAY), client(APACHE)
    wanted = [("SHARED_WRITE", t.LockType.SHARED_WRITE, t.DataOperationType.INSERT),
              ("EXCLUSIVE", EXCLUSIVE, t.DataOperationType.UPDATE)]
    if client(HDP).getVersion().startswith("4."):
        wanted.append(("EXCL_WRITE", 4, t.DataOperationType.DELETE))  # 3.1.3 has no such kind
    for name, kind, op in wanted:
        txn = a.open_txns(t.OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids[0]
        mine = lock(a, part(kind, "apache__lk", "t", op), part(READ, "apache__lk"), txn=txn)
        step(name + ": acquired, mirrored", (mine.state, held(b)), (ACQUIRED, ["lk.", "lk.t"]))
        other = lock(b, part(EXCLUSIVE, "lk", "t"))
        step(name + ": a direct writer waits", (other.state, state(b, other.lockid)), (WAITING, WAITING))
        step(name + ": check_lock", state(client(GATEWAY), mine.lockid), ACQUIRED)
        client(GATEWAY).commit_txn(t.CommitTxnRequest(txnid=txn))
        step(name + ": the direct writer goes on", state(b, other.lockid), ACQUIRED)
        unlock(b, other.lockid)
    clean("kinds")


def instances():
    """Every step of a lock at another instance than the one before."""
    a, b, direct = client(GATEWAYS[0]), client(GATEWAYS[1]), client(APACHE)
    txn = a.open_txns(t.OpenTxnRequest(num_txns=1, user="u", hostname="h")).txn_ids[0]
    first = lock(direct, part(EXCLUSIVE, "lk", "t"))
    mine = lock(a, part(READ, "apache__lk", "t", t.DataOperationType.SELECT), part(READ, "lk"), txn=txn)
    step("waits at the owner", (mine.state, state(b, mine.lockid)), (WAITING, WAITING))
    unlock(direct, first.lockid)
    step("acquired at the second", state(b, mine.lockid), ACQUIRED)
    step("and at the first", state(a, mine.lockid), ACQUIRED)
    step("one mirror", held(direct), ["lk.t"])
    b.commit_txn(t.CommitTxnRequest(txnid=txn))
    step("the second has released it", held(direct), [])
    one = lock(a, part(EXCLUSIVE, "lk", "x"), part(EXCLUSIVE, "apache__lk", "x"))
    two = lock(b, part(EXCLUSIVE, "apache__lk", "x"), part(EXCLUSIVE, "lk", "x"))
    step("opposite orders: one acquired, one waits", (one.state, two.state), (ACQUIRED, WAITING))
    step("the waiting one holds nothing there", held(direct), ["lk.x"])
    unlock(b, one.lockid)
    step("released at the second, acquired at the first", state(a, two.lockid), ACQUIRED)
    unlock(b, two.lockid)
    clean("instances")


def killed(pid, timeout):
    """The creating instance is killed, and with it its client, at metastores that never expire a lock."""
    a, b, direct = client(GATEWAYS[0]), client(GATEWAYS[1]), client(APACHE)
    dead, alive = a.open_txns(t.OpenTxnRequest(num_txns=2, user="u", hostname="h")).txn_ids
    one = lock(a, part(EXCLUSIVE, "apache__lk", "dead"), txn=dead)
    two = lock(a, part(EXCLUSIVE, "apache__lk", "alive"), txn=alive)
    step("both acquired", (one.state, two.state), (ACQUIRED, ACQUIRED))
    next_dead, next_alive = lock(direct, part(EXCLUSIVE, "lk", "dead")), lock(direct, part(EXCLUSIVE, "lk", "alive"))
    step("the next writers wait", (next_dead.state, next_alive.state), (WAITING, WAITING))
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 6 * timeout
    while state(direct, next_dead.lockid) != ACQUIRED and time.monotonic() < end:
        b.heartbeat(t.HeartbeatRequest(txnid=alive))  # this client has gone to the other instance
        time.sleep(1)
    step("the next writer proceeds", state(direct, next_dead.lockid), ACQUIRED)
    step("not past a client that lives", (state(direct, next_alive.lockid), state(b, two.lockid)), (WAITING, ACQUIRED))
    b.commit_txn(t.CommitTxnRequest(txnid=alive))
    step("until that has committed", state(direct, next_alive.lockid), ACQUIRED)
    b.abort_txn(t.AbortTxnRequest(txnid=dead))
    unlock(direct, next_dead.lockid)
    unlock(direct, next_alive.lockid)
    clean("killed")


def clean(group):
    step(group + ": nothing is left", (held(client(HDP)), held(client(APACHE))), ([], []))


for group in (measured, writers, transaction, kinds, orders, refused):
    group()
if len(GATEWAYS) > 1:
    instances()
    killed(int(sys.argv[4]), int(sys.argv[5]))
print("steps %d right %d wrong %d" % (sum(STEPS.values()), STEPS["ok"], STEPS["bad"]))
sys.exit(1 if STEPS["bad"] else 0)
