#!/usr/bin/env python3
"""Turns interface descriptions in neutral JSON into inventory text.

Usage: convert.py OUTDIR FILE.json ...

Each file becomes OUTDIR/<label>.txt in the notation of ../doc.go, with the
methods in the order of the file and structs and enums by name. The JSON has
"label", "service", "methods", "structs" and "enums"; a method has "name",
"oneway", "returns", "args", "throws" and "service"; a field has "id", "name",
"type", "req" and perhaps "default".
"""
import json
import os
import sys

MARK = {"default": ":", "required": "!", "optional": "?"}


def text(value):
    """A default value as inventory text: one word, no quotes."""
    out = json.dumps(value) if not isinstance(value, str) else value
    if not out or any(c in out for c in " ;()=\n"):
        raise SystemExit("default value %r does not fit the notation" % out)
    return out


def field(f):
    out = "%d%s%s %s" % (f["id"], MARK[f.get("req", "default")], f["name"], f["type"].replace(" ", ""))
    if "default" in f:
        out += "=" + text(f["default"])
    return out


def fields(fs):
    return "; ".join(field(f) for f in fs)


def thrown(f):
    """An exception: its name is left out where it is the usual o<id>."""
    if f["name"] == "o%d" % f["id"]:
        return "%d %s" % (f["id"], f["type"])
    return field(f)


def method(m, own):
    words = ["method" if m["service"] == own else "base"]
    if m["oneway"]:
        words.append("oneway")
    out = "%s %s(%s) %s" % (" ".join(words), m["name"], fields(m["args"]), m["returns"].replace(" ", ""))
    if m["throws"]:
        out += " throws " + "; ".join(thrown(f) for f in m["throws"])
    return out


def convert(doc):
    for m in doc["methods"]:
        yield method(m, doc["service"])
    for s in sorted(doc["structs"], key=lambda s: s["name"]):
        yield ("%s %s %s" % (s["kind"], s["name"], fields(s["fields"]))).rstrip()
    for name, values in sorted(doc["enums"].items()):
        pairs = sorted(values.items(), key=lambda p: (p[1], p[0]))
        yield "enum %s %s" % (name, " ".join("%s=%d" % p for p in pairs))


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            doc = json.load(f)
        with open(os.path.join(sys.argv[1], doc["label"] + ".txt"), "w", encoding="ascii") as out:
            for line in convert(doc):
                out.write(line + "\n")


if __name__ == "__main__":
    main()
