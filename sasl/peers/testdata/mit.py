# MIT's GSSAPI library (python3-gssapi) as a Thrift SASL peer.
#   mit.py client PORT SERVICE@HOST LAYER [deleg]    LAYER: 1 auth, 2 auth-int, 4 auth-conf
#   mit.py server LAYERS                             prints "PORT n", serves one connection
import socket, struct, sys
import gssapi

F = gssapi.RequirementFlag


def exactly(s, n):
    b = b''
    while len(b) < n:
        x = s.recv(n - len(b))
        if not x:
            raise EOFError
        b += x
    return b


def read(s):
    h = exactly(s, 5)
    return h[0], exactly(s, struct.unpack('>I', h[1:])[0])


def write(s, status, b):
    s.sendall(bytes([status]) + struct.pack('>I', len(b)) + b)


def frame(s):
    return exactly(s, struct.unpack('>I', exactly(s, 4))[0])


def message(kind, field, text):
    return (b'\x80\x01\x00' + bytes([kind]) + b'\x00\x00\x00\x04echo\x00\x00\x00\x07\x0b\x00' + bytes([field])
            + struct.pack('>I', len(text)) + text + b'\x00')


def client(port, name, layer, deleg):
    s = socket.create_connection(('127.0.0.1', port))
    flags = [F.mutual_authentication, F.integrity, F.confidentiality, F.replay_detection, F.out_of_sequence_detection]
    if deleg:
        flags.append(F.delegate_to_peer)
    c = gssapi.SecurityContext(name=gssapi.Name(name, gssapi.NameType.hostbased_service), flags=flags, usage='initiate')
    t = c.step()
    write(s, 1, b'GSSAPI')
    write(s, 2, t)
    while True:
        status, b = read(s)
        if status != 2:
            print('REFUSED', status, b.decode())
            return
        if c.complete:
            break
        write(s, 2, c.step(b) or b'')
    offer = c.unwrap(b).message
    write(s, 5, c.wrap(bytes([layer]) + (b'\xff\xff\xff' if layer != 1 else b'\0\0\0'), False).message)
    status, b = read(s)
    if status != 5:
        print('REFUSED', status, b.decode())
        return
    for n in (3, 100000, 7):
        m = message(1, 1, b'z' * n)
        if layer != 1:
            m = c.wrap(m, layer == 4).message
        s.sendall(struct.pack('>I', len(m)) + m)
        got = b''
        while not got.endswith(b'|' + b'z' * n + b'\0'):
            f = frame(s)
            got += c.unwrap(f).message if layer != 1 else f
        print('REPLY', got[23:got.index(b'|')].decode().lstrip('\0'), n)
    print('OFFER', offer[0])


def server(layers):
    l = socket.socket()
    l.bind(('127.0.0.1', 0))
    l.listen(1)
    print('PORT', l.getsockname()[1], flush=True)
    s, _ = l.accept()
    c = gssapi.SecurityContext(creds=gssapi.Credentials(usage='accept'), usage='accept')
    assert read(s) == (1, b'GSSAPI')
    status, b = read(s)
    write(s, 2, c.step(b))
    status, b = read(s)
    assert b == b''
    write(s, 2, c.wrap(bytes([layers, 0xff, 0xff, 0xff]), False).message)
    status, b = read(s)
    layer = c.unwrap(b).message[0]
    write(s, 5, b'')
    who = 'GSSAPI %s %s|' % (c.initiator_name, {1: 'auth', 2: 'auth-int', 4: 'auth-conf'}[layer])
    pending = b''
    try:
        while True:
            f = frame(s)
            pending += c.unwrap(f).message if layer != 1 else f
            if len(pending) < 23 or len(pending) < 24 + struct.unpack('>I', pending[19:23])[0]:
                continue
            m = message(2, 0, who.encode() + pending[23:-1])
            pending = b''
            if layer != 1:
                m = c.wrap(m, layer == 4).message
            s.sendall(struct.pack('>I', len(m)) + m)
    except EOFError:
        pass


if sys.argv[1] == 'client':
    client(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), 'deleg' in sys.argv)
else:
    server(int(sys.argv[2]))
