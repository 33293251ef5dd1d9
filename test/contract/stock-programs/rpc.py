"""AirSim's protocol, with the library that AirSim's own client uses. `rpc.py server ADDRESS PORT`, `rpc.py client PORT`."""

import hashlib
import sys

import msgpackrpc
from msgpackrpc.transport import tcp


class Simulator:
    def hash(self, data):
        return hashlib.sha256(data).hexdigest()

    def image(self, size):
        return bytes(i % 251 for i in range(1000)) * (size // 1000)


role, *where = sys.argv[1:]
if role == "server":
    # The library ignores the address. A server on every address finds its port taken wherever another machine uses it.
    tcp.MessagePackServer.listen = lambda self, port: tcp.tcpserver.TCPServer.listen(self, port, where[0])
    server = msgpackrpc.Server(Simulator())
    server.listen(msgpackrpc.Address(where[0], int(where[1])))
    print("ready", flush=True)
    server.start()
else:
    client = msgpackrpc.Client(msgpackrpc.Address("127.0.0.1", int(where[0])), timeout=60)
    pattern = bytes(i % 251 for i in range(1000)) * 4000
    assert client.call("hash", pattern).decode() == hashlib.sha256(pattern).hexdigest()
    assert client.call("image", 4_000_000) == pattern
    calls = [client.call_async("hash", bytes([i])) for i in range(200)]
    assert [call.get().decode() for call in calls] == [hashlib.sha256(bytes([i])).hexdigest() for i in range(200)]
    print("done")
