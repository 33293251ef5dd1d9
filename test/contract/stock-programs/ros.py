"""A ROS program at a rosbridge behind the door. `ros.py HOST PORT`, with the token in TOKEN."""

import os
import socket
import sys
import threading

# As browsers and curl do: every name under localhost is this computer.
lookup = socket.getaddrinfo
socket.getaddrinfo = lambda host, *rest, **more: lookup(
    "127.0.0.1" if str(host).endswith(".localhost") else host, *rest, **more
)

import roslibpy

host, port = sys.argv[1:]
ros = roslibpy.Ros(host, int(port), headers={"Authorization": f"Bearer {os.environ['TOKEN']}"})
ros.run(timeout=60)
got = threading.Event()
seen = []


def hear(message):
    seen.append(message["data"])
    if len(seen) == 100:
        got.set()


topic = roslibpy.Topic(ros, "/chatter", "std_msgs/String")
topic.subscribe(hear)
for i in range(100):
    topic.publish(roslibpy.Message({"data": f"{i} " + "x" * 10_000}))
assert got.wait(60), len(seen)
assert [text.split()[0] for text in seen] == [str(i) for i in range(100)]
service = roslibpy.Service(ros, "/add", "example/Add")
assert service.call(roslibpy.ServiceRequest({"a": 20, "b": 22}))["sum"] == 42
ros.terminate()
print("done")
