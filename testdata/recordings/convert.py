#!/usr/bin/env python3
"""convert.py SOURCE_DIR [OUT_DIR]: pack wire recordings into OUT_DIR/NAME.rec.gz.

SOURCE_DIR holds one folder a recording, in one of two forms:
  bytes.tar.xz       N.c2s, N.s2c (a connection's two streams) and N.idx, one
                     line a read: milliseconds, 'c' or 's', number of bytes
  messages.jsonl.xz  one message a line: c connection, d '>' or '<', b base64
Folders in neither form, and those named rest-* and sasl-*, are left out. The
format written is described in README.md beside this file. The output depends
on the input only: no times, no host, no user of this run.
"""
import base64
import gzip
import io
import json
import lzma
import os
import struct
import sys
import tarfile

MAGIC = b"hmsgate recording 1\n"


def from_tar(path):
    """Yield (connection, direction, bytes) connection by connection, reads in the order they came."""
    with tarfile.open(path, "r:xz") as t:
        files = {os.path.basename(m.name): t.extractfile(m).read() for m in t.getmembers() if m.isfile()}
    for name in sorted(n for n in files if n.endswith(".idx")):
        stem = name[:-4]
        stream = {"c": files[stem + ".c2s"], "s": files[stem + ".s2c"]}
        at = {"c": 0, "s": 0}
        for line in files[name].decode("ascii").splitlines():
            _, who, n = line.split()
            yield int(stem), "><"[who == "s"], stream[who][at[who]:at[who] + int(n)]
            at[who] += int(n)
        for who in "cs":
            if at[who] != len(stream[who]):
                sys.exit(f"{path}: {name} tells of {at[who]} bytes, the stream has {len(stream[who])}")


def from_messages(path):
    """Yield (connection, direction, bytes) in the order of the recording."""
    with lzma.open(path, "rt", encoding="utf-8") as f:
        for line in f:
            m = json.loads(line)
            b = base64.b64decode(m["b"])
            # a lone byte is the recorder's own knock on the port, not a client
            if len(b) > 1:
                yield m["c"], m["d"], b


def write(dest, records):
    out = io.BytesIO()
    out.write(MAGIC)
    # a connection's records stay together: it changes nothing that a reader can tell and packs better
    by = {}
    for conn, way, data in records:
        parts = by.setdefault(conn, [])
        if parts and parts[-1][0] == way:
            parts[-1][1].extend(data)
        else:
            parts.append((way, bytearray(data)))
    for conn in sorted(by):
        for way, data in by[conn]:
            out.write(struct.pack(">IcI", conn, way.encode(), len(data)))
            out.write(data)
    with open(dest, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        z.write(out.getvalue())
    return len(by), len(out.getvalue())


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    src = sys.argv[1]
    dest = sys.argv[2] if len(sys.argv) == 3 else os.path.dirname(os.path.abspath(__file__))
    for name in sorted(os.listdir(src)):
        if name.startswith(("rest-", "sasl-")):
            continue
        for file, read in (("bytes.tar.xz", from_tar), ("messages.jsonl.xz", from_messages)):
            path = os.path.join(src, name, file)
            if os.path.exists(path):
                out = os.path.join(dest, name + ".rec.gz")
                conns, size = write(out, read(path))
                print(f"{name}: {conns} connections, {size} bytes, packed {os.path.getsize(out)}")


main()
