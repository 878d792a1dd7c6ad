#!/usr/bin/env python3
"""ping.py PORT TIMEOUT: wait until a Thrift server on loopback answers a call.

Sends one argument-less call (PING_CALL, default getName) in strict binary,
in a frame if PING_FRAMED is 1, and waits for any reply of that name. PING_PID, if set, is a process
whose end ends the wait.
"""
import os
import socket
import struct
import sys
import time


def once(port, call):
    name = call.encode()
    with socket.create_connection(("127.0.0.1", port), 2) as s:
        s.settimeout(30)
        m = struct.pack(">Ii", 0x80010001, len(name)) + name + struct.pack(">ib", 1, 0)
        skip = 4 if os.environ.get("PING_FRAMED") == "1" else 0
        s.sendall(struct.pack(">i", len(m)) + m if skip else m)
        b = b""
        while len(b) < skip + 8 + len(name):
            c = s.recv(4096)
            if not c:
                return False
            b += c
        return b[skip + 8:skip + 8 + len(name)] == name


def main():
    port, limit = int(sys.argv[1]), float(sys.argv[2])
    call, pid = os.environ.get("PING_CALL", "getName"), os.environ.get("PING_PID")
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            if once(port, call):
                return 0
        except OSError:
            pass
        if pid:
            try:
                os.kill(int(pid), 0)
            except OSError:
                print("the server ended", file=sys.stderr)
                return 2
        time.sleep(0.05)
    print("no answer in time", file=sys.stderr)
    return 1


sys.exit(main())
