"""What the programs here share: servers, a gateway, ports, and the comparison.

Everything that is started is stopped when the program ends: by the exit
handlers on a normal end, an error or a signal, and, should the program be
killed outright, by a watcher beside each server and by the kernel for the rest.
"""
import atexit
import concurrent.futures
import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
HMS = os.path.join(HERE, "hms", "hms")
ZOOKEEPER = os.path.join(HERE, "zookeeper")
CATALOGS = ("hdp", "apache")  # the first is the default catalog


class Failure(Exception):
    """A run that could not be made; its text is for the person at the terminal."""


LIBC = ctypes.CDLL(None)
CHILDREN = []


def die_with_parent():
    """For children: end when this program is killed (prctl is Linux; elsewhere the exit handlers must do)."""
    try:
        LIBC.prctl(1, signal.SIGTERM)
    except AttributeError:
        pass


def child(cmd, **kw):
    """Start a process that ends with this program."""
    p = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent, **kw)
    CHILDREN.append(p)
    return p


def stop_children():
    """Ask all to end first, so that they do it side by side."""
    left = [p for p in CHILDREN if p.poll() is None]
    for p in left:
        p.terminate()
    for p in left:
        try:
            p.wait(15)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()


atexit.register(stop_children)


def on_signals():
    """Turn the signals that end a program into an orderly exit, so that exit handlers run."""
    for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(s, lambda n, _: sys.exit(128 + n))
    if os.environ.get("HMSGATE_WITH_PARENT"):
        threading.Thread(target=watch_parent, args=(os.getppid(),), daemon=True).start()


def watch_parent(parent):
    """End in order when the program that started this one is gone; the test run may be killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def free_ports(n):
    """Ports that nobody listens on, all different."""
    socks = [socket.socket() for _ in range(n)]
    for s in socks:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in socks]
    for s in socks:
        s.close()
    return ports


def in_parallel(jobs):
    """Run functions side by side, return their results in order; the first failure is raised when all have ended."""
    with concurrent.futures.ThreadPoolExecutor(max(1, len(jobs))) as pool:
        futures = [pool.submit(j) for j in jobs]
        try:
            concurrent.futures.wait(futures)
        except BaseException:  # a signal: what the jobs wait for must end, or they never do
            stop_children()
            raise
    return [f.result() for f in futures]


class Work:
    """A temporary folder that goes away at exit unless it is to be kept."""

    def __init__(self, keep):
        self.path = tempfile.mkdtemp(prefix="hmsgate-rig-")
        if keep:
            atexit.register(lambda: print("kept " + self.path, file=sys.stderr))
        else:
            atexit.register(shutil.rmtree, self.path, True)

    def file(self, name):
        return os.path.join(self.path, name)


# ---- servers ---------------------------------------------------------------
def server_name(catalog, version, framed=False):
    return "%s-%s%s" % (catalog, version, "-framed" if framed else "")


def start_server(folder, name, version, framed=False, keeper=None):
    """Start one metastore in folder/name and wait for its first answer; returns its port."""
    port = free_ports(1)[0]
    cmd = [HMS, "start", version, "--port", str(port), "--dir", os.path.join(folder, name), "--wait"]
    env = dict(os.environ)
    if framed:
        cmd += ["--conf", "hive.metastore.thrift.framed.transport.enabled=true"]
        env["PING_FRAMED"] = "1"
    if keeper:
        cmd += ["--while", str(keeper)]
    # into a file, not a pipe: what the server inherits would keep a pipe open
    log = os.path.join(folder, name + ".start")
    with open(log, "wb") as out:
        rc = child(cmd, env=env, stdout=out, stderr=out).wait()
    if rc != 0:
        raise Failure("metastore %s %s does not start:\n%s" % (name, version, tail(log)))
    return port


def stop_servers(folder):
    """Stop every server under folder, side by side. Runs at exit, where no new thread may start."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    stops = [subprocess.Popen([HMS, "stop", "--dir", os.path.join(folder, n), "--clean"])
             for n in names if os.path.exists(os.path.join(folder, n, "pid"))]
    for p in stops:
        p.wait()


def server_port(folder, name):
    """The port of a server that `up` started."""
    try:
        with open(os.path.join(folder, name, "port"), encoding="ascii") as f:
            return int(f.read())
    except OSError:
        raise Failure("no server %s in %s; start it with: up --dir %s VERSION" % (name, folder, folder)) from None


def pair(args, work, versions):
    """The ports of the two metastores, catalog hdp first: those of --servers, or two started for this run."""
    framed = args.backend_transport == "framed"
    names = [server_name(c, v, framed) for c, v in zip(CATALOGS, versions)]
    if args.servers:
        return [server_port(args.servers, n) for n in names]
    atexit.register(stop_servers, work.path)
    for v in sorted(set(versions)):  # filling the cache is no race worth having
        subprocess.run([HMS, "fetch", v], check=True, stdout=subprocess.DEVNULL)
    return in_parallel([lambda n=n, v=v: start_server(work.path, n, v, framed, os.getpid()) for n, v in zip(names, versions)])


# ---- the gateway -------------------------------------------------------------
def gateway_binary():
    named, root = os.environ.get("HMSGATE_BIN"), os.path.normpath(os.path.join(HERE, "..", ".."))
    b = named or os.path.join(root, "bin", "hmsgate")
    if not os.access(b, os.X_OK):
        raise Failure("no gateway at %s: run `make build`, or set HMSGATE_BIN" % b)
    newer = None if named else newer_source(root, os.stat(b).st_mtime)
    if newer:
        raise Failure("%s is older than %s, so a run would show what was: run `make build`, or set HMSGATE_BIN" % (b, newer))
    return os.path.abspath(b)


def newer_source(root, built):
    """Name a file, of those that go into the binary, that was changed after it was built."""
    for top in ("cmd", "frame", "internal", "profiles", "rewrite", "route", "sasl"):
        for folder, folders, files in os.walk(os.path.join(root, top)):
            folders[:] = [f for f in folders if f != "testdata"]
            for name in files:
                path = os.path.join(folder, name)
                if not name.endswith("_test.go") and os.stat(path).st_mtime > built:
                    return os.path.relpath(path, root)
    return None


def write_config(path, listen, admin, ports, more):
    with open(path, "w", encoding="ascii") as f:
        f.write("listen: 127.0.0.1:%d\nadmin: 127.0.0.1:%d\nrouting.default-catalog: hdp\ncatalog:\n" % (listen, admin))
        f.write("  hdp:    {uris: thrift://127.0.0.1:%d}\n  apache: {uris: thrift://127.0.0.1:%d}\n" % tuple(ports))
        for kv in more:
            f.write("%s: %s\n" % tuple(kv.split("=", 1)))


def ready(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as r:
            return r.status == 200
    except (urllib.error.URLError, OSError):
        return False


def start_gateway(work, ports, more):
    """Start `serve` in front of the two metastores and wait until it says it is ready; returns its port and log."""
    listen, log, _ = start_instance(work, "gateway", ports, more)
    return listen, log


def start_instance(work, name, ports, more):
    """One of several: the name is that of its files. Returns port, log and process."""
    listen, admin = free_ports(2)
    config, log = work.file(name + ".yaml"), work.file(name + ".log")
    write_config(config, listen, admin, ports, more)
    with open(log, "wb") as out:
        p = child([gateway_binary(), "serve", "-c", config], stdout=out, stderr=out)
    end = time.monotonic() + 30
    while not ready("http://127.0.0.1:%d/readyz" % admin):
        if p.poll() is not None or time.monotonic() > end:
            raise Failure("the gateway did not get ready (exit code %s):\n%s" % (p.poll(), tail(log)))
        time.sleep(0.05)
    return listen, log, p


def start_zookeeper(work):
    """Start a ZooKeeper of this run's own; returns its port."""
    subprocess.run([ZOOKEEPER, "fetch"], check=True, stdout=subprocess.DEVNULL)
    port, log = free_ports(1)[0], work.file("zookeeper.log")
    with open(log, "wb") as out:
        p = child([ZOOKEEPER, "run", "--dir", work.file("zookeeper"), "--port", str(port)], stdout=out, stderr=out)
    end = time.monotonic() + 60
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), 5) as s:
                s.sendall(b"srvr")
                if b"Mode: standalone" in s.makefile("rb").read():
                    return port
        except OSError:
            pass
        if p.poll() is not None or time.monotonic() > end:
            raise Failure("ZooKeeper did not come up (exit code %s):\n%s" % (p.poll(), tail(log)))
        time.sleep(0.1)


def tail(path, lines=30):
    with open(path, encoding="utf-8", errors="replace") as f:
        return "".join(f.readlines()[-lines:])


def run_client(cmd, out, env=None):
    """Run a client program, its lines into a file; raises when it could not run to its end."""
    err = out + ".err"
    with open(out, "wb") as o, open(err, "wb") as e:
        rc = child(cmd, stdout=o, stderr=e, env=env).wait()
    if rc != 0:
        raise Failure("%s ended with %d:\n%s" % (" ".join(cmd[:3]), rc, tail(err)))


# ---- comparison --------------------------------------------------------------
def load(path):
    """Lines of `name<TAB>ok|error<TAB>detail`, in order; a name that comes again gets a number."""
    out, seen = {}, {}
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            name, _, rest = line.rstrip("\n").partition("\t")
            seen[name] = seen.get(name, 0) + 1
            out[name if seen[name] == 1 else "%s#%d" % (name, seen[name])] = rest
    return out


def cut(a, b, width=200):
    """The neighbourhood of the first difference of two texts."""
    i = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    start = max(0, i - 60)
    return tuple(("..." if start else "") + t[start:start + width] + ("..." if len(t) > start + width else "") for t in (a, b))


def load_design(*wanted):
    """Rows of by-design.tsv whose first column is one of these, for compare."""
    out = []
    with open(os.path.join(HERE, "by-design.tsv"), encoding="ascii") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                where, names, answer, reason = line.rstrip("\n").split("\t")
                if where in wanted:
                    out.append((re.compile(names), re.compile(answer), reason))
    return out


def direct_lines(args, work, name, key, run):
    """The file of a direct run. Servers that are shared keep it: the lines are the same each time."""
    out = work.file(name + ".direct")
    kept = os.path.join(args.servers, re.sub(r"[^\w.+-]", "_", "direct-" + key)[:200]) if args.servers else None
    if kept and os.path.exists(kept):
        shutil.copy(kept, out)
        return out
    run(out)
    if kept:
        shutil.copy(out, "%s.%d" % (kept, os.getpid()))
        os.replace("%s.%d" % (kept, os.getpid()), kept)
    return out


def compare(direct, gateway, design, label, out=sys.stdout):
    """Print what differs; returns (lines, successes, differ, by design).

    design is a list of (regex of names, regex of the answer through the gateway, reason): what it answers otherwise on purpose.
    Only a line that differs is held against it.
    """
    a, b = load(direct), load(gateway)
    differ = by_design = 0
    for name in list(a) + [n for n in b if n not in a]:
        x, y = a.get(name), b.get(name)
        if x == y:
            continue
        if x is not None and y is not None and any(n.fullmatch(name) and t.match(y) for n, t, _ in design):
            by_design += 1
            continue
        differ += 1
        x, y = cut(x or "(no such line)", y or "(no such line)")
        print("%s %s\n  direct:  %s\n  gateway: %s" % (label, name, x, y), file=out)
    ok = sum(1 for n, x in a.items() if x.startswith("ok\t") and b.get(n) == x)
    return len(a), ok, differ, by_design
