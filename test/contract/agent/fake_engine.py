"""As much of Docker's Engine API as the agent uses, on a Unix socket: images come and programs end as a test says."""

import json
import socketserver
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit


class Run:
    """What a program does. Without `code`, it runs until somebody stops it."""

    def __init__(self, prints=(), code=None, oom=False, refused=None, times=()):
        self.prints, self.code, self.oom, self.refused = prints, code, oom, refused
        # What Docker says of when it began and ended.
        self.times = dict(times)


class FakeEngine:
    def __init__(self, runs=(), pulls=(), image_config=None, stats=(), between=0):
        self.runs, self.pulls = list(runs), list(pulls)
        self.image_config = image_config or {}
        self.stats = list(stats)
        # Each try to pull is a list of events, or a refusal: its status and its words.
        self.has_image = not pulls
        # Seconds between two events.
        self.between = between
        self.calls = []
        self.created = []
        self.pulled = []
        # What Docker got for each registry, as it got it.
        self.logins = []
        self.run = None
        self.has_started = False
        self.stopped = threading.Event()
        self.path = f"{tempfile.mkdtemp()}/engine.sock"
        server = socketserver.ThreadingUnixStreamServer(self.path, type("Handler", (Handler,), {"engine": self}))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    engine = None
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=None):
        data = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if data:
            self.wfile.write(data)

    def handle_any(self):
        engine, url = self.engine, urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        engine.calls.append(f"{self.command} {self.path if self.command == 'DELETE' else url.path}")
        verb = url.path.rpartition("/")[2]
        if url.path.startswith("/images/") and verb == "json":
            found = engine.has_image
            return self.answer(200 if found else 404, {"Config": engine.image_config} if found else {"message": "no"})
        if verb == "create" and url.path.startswith("/images/"):
            return self.pull(parse_qs(url.query)["fromImage"][0])
        if self.command == "DELETE":
            return self.answer(404 if engine.run is None else 204)
        if verb == "create":
            engine.created.append(body)
            engine.run, engine.has_started = engine.runs.pop(0), False
            return self.answer(201, {"Id": "0"})
        if verb == "stats":
            return self.answer(200, engine.stats.pop(0)) if engine.stats else self.answer(404, {"message": "no"})
        if verb == "start":
            refused = engine.run.refused
            engine.has_started = not refused
            return self.answer(400, {"message": refused}) if refused else self.answer(204)
        if verb == "attach":
            return self.attach()
        if verb == "wait":
            if engine.run.code is None:
                engine.stopped.wait()
            return self.answer(200, {"StatusCode": 0})
        if engine.run is None:
            return self.answer(404, {"message": "no"})
        state = {"Status": "exited" if engine.has_started else "created"}
        config = {"Env": engine.created[-1]["Env"]} if engine.created else {}
        ended = {"ExitCode": engine.run.code or 0, "OOMKilled": engine.run.oom, **engine.run.times}
        return self.answer(200, {"State": {**state, **ended}, "Config": config})

    do_GET = do_POST = do_DELETE = handle_any

    def pull(self, image):
        self.engine.pulled.append(image)
        self.engine.logins.append(self.headers.get("X-Registry-Auth"))
        events = self.engine.pulls.pop(0)
        if isinstance(events, tuple):
            return self.answer(events[0], {"message": events[1]})
        self.engine.has_image = not any("error" in event for event in events)
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(events):
            time.sleep(self.engine.between if number else 0)
            data = json.dumps(event).encode() + b"\r\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")

    def attach(self):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.docker.raw-stream")
        self.end_headers()
        for stream, data in self.engine.run.prints:
            self.wfile.write(bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data)
        self.wfile.flush()
        if self.engine.run.code is None:
            self.engine.stopped.wait()


if __name__ == "__main__":
    # For a test in another language: a program that prints the argument, and ends after standard input.
    engine = FakeEngine([Run([(1, sys.argv[1].encode())])])
    print(engine.path, flush=True)
    sys.stdin.readline()
    engine.stopped.set()
    sys.stdin.readline()
