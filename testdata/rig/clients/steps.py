"""Canonical output for the client scripts: one line per step, `step<TAB>ok|error<TAB>detail`.

Two runs of a script (direct, through a gateway) can be compared with diff. What changes from run to run is replaced:
  --db NAME   -> <DB>    --db2 NAME  -> <DB2>   paths -> <PATH>   UUIDs -> <UUID>   long numbers -> <N>   dates -> <TIME>
With a gateway name such as apache__sales the backend's own name (sales) becomes <DB-INNER>; in error prose it is folded to
<DB>, because a gateway does not rewrite prose. In "ok" details it stays, so a name that leaked shows up in the diff.
"""
import argparse, os, re, sys, time


class Run:
    def __init__(self, description, more=None):
        p = argparse.ArgumentParser(description=description)
        p.add_argument("--uri", default="thrift://127.0.0.1:9083")
        p.add_argument("--db", default="rig_a", help="database to create, use and drop")
        p.add_argument("--db2", default="rig_b", help="a second one (another catalog, if you like)")
        p.add_argument("--sep", default="__", help="the gateway's separator between catalog and database")
        p.add_argument("--only", help="regular expression: run only these steps")
        p.add_argument("--marks", default=os.environ.get("HMSGATE_MARKS"), help="file for step times, for tap.py")
        p.add_argument("--timing", action="store_true", help="seconds of each step, on standard error")
        if more:
            more(p)
        self.a = p.parse_args()
        self.failed = 0
        self.names = []
        for n, t in ((self.a.db, "<DB>"), (self.a.db2, "<DB2>")):
            inner = n.split(self.a.sep, 1)[1] if self.a.sep in n else None
            for end in ("", "_missing"):
                self.names.append((n + end, t + end))
                if inner:
                    self.names.append((inner + end, t[:-1] + "-INNER>" + end))
        self.names.sort(key=lambda x: -len(x[0]))

    def norm(self, s, error=False):
        s = str(s)
        s = re.sub(r"(file|hdfs|s3a?):/*[^\s,'\"\])}]*", "<PATH>", s)
        for n, t in self.names:
            s = re.sub(r"(?i)(?<![A-Za-z0-9_])" + re.escape(n) + r"(?![A-Za-z0-9_])", t, s)
        if error:
            s = s.replace("-INNER>", ">")
        s = re.sub(r"(?<![\w/])/(?:[\w.+-]+/)+[\w.+-]+", "<PATH>", s)
        s = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<UUID>", s)
        s = re.sub(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d+ [\d:]{8} \w+ \d{4}", "<TIME>", s)
        s = re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?", "<TIME>", s)
        s = re.sub(r"\b\d{9,}\b", "<N>", s)
        s = re.sub(r"127\.0\.0\.1:\d+|localhost:\d+", "<ADDR>", s)
        s = re.sub(r"#\d+L?\b", "#<N>", s)
        return " ".join(s.replace("\t", " ").split())

    def step(self, name, fn, expect_error=False, cut=2000):
        if self.a.only and not re.search(self.a.only, name):
            return None
        if self.a.marks:
            with open(self.a.marks, "a") as f:
                f.write("%d\t%s\n" % (time.time_ns(), name))
        t = time.time()
        r = None
        try:
            r = fn()
            print("%s\tok\t%s" % (name, self.norm("" if r is None else r)[:cut]), flush=True)
        except Exception as e:  # noqa: BLE001 - every failure is an answer here
            if not expect_error:
                self.failed += 1
            print("%s\terror\t%s" % (name, self.norm("%s: %s" % (type(e).__name__, error_text(e)), True)[:400]), flush=True)
        if self.a.timing:
            print("%s\t%.2f s" % (name, time.time() - t), file=sys.stderr, flush=True)
        return r

    def end(self):
        if self.a.marks:
            with open(self.a.marks, "a") as f:
                f.write("%d\t%s\n" % (time.time_ns(), "(end)"))
        print("unexpected errors: %d" % self.failed, file=sys.stderr)


def error_text(e):
    m = getattr(e, "message", None)
    if isinstance(m, bytes):
        m = m.decode("utf-8", "replace")
    return m if isinstance(m, str) and m else str(e)
