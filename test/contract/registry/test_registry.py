"""The agent pulls private images through a Docker Engine, from Debian's docker-registry on loopback, over TLS."""

import base64
import gzip
import hashlib
import http.client
import http.server
import io
import json
import shutil
import socket
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import unittest
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "agent"))
from program import Quiet, agent

USER, TOKEN = "robot", "canary-of-a-login"
REPOSITORY = "simulator"
folder = Path(tempfile.mkdtemp())
certificate, key = folder / "cert.pem", folder / "key.pem"
ended = []


def run(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, **options).stdout


def start(name, *words):
    """A program of this test's own, which ends with it."""
    with open(folder / f"{name}.log", "wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    ended.append(lambda: (process.terminate(), process.wait()))


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(look):
    for _ in range(600):
        try:
            return look()
        except (OSError, agent.EngineError):
            time.sleep(0.1)
    raise TimeoutError(look)


def start_registry(name, auth):
    """@returns its host. Each has its own way to know a login, and the same images."""
    host = f"127.0.0.1:{free_port()}"
    tls = {"certificate": str(certificate), "key": str(key)}
    config = {
        "version": "0.1",
        "storage": {"filesystem": {"rootdirectory": str(folder / "images")}},
        "http": {"addr": host, "tls": tls},
        "auth": auth,
    }
    # JSON is YAML.
    (folder / f"{name}.yml").write_text(json.dumps(config))
    start(name, "docker-registry", "serve", str(folder / f"{name}.yml"))
    wait_for(lambda: socket.create_connection(host.split(":")).close())
    return host


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class TokenServer(http.server.BaseHTTPRequestHandler):
    """Gives tokens for what somebody may read, as Docker Hub's and GHCR's do."""

    REFUSALS = {
        "ended": (401, "UNAUTHORIZED", "personal access token is expired"),
        "limited": (429, "TOOMANYREQUESTS", "You have reached your pull rate limit."),
        "wrong": (401, "UNAUTHORIZED", "incorrect username or password"),
    }

    def log_message(self, *_):
        pass

    def do_GET(self):
        asked = parse_qs(urlsplit(self.path).query)
        basic = self.headers.get("Authorization", "").removeprefix("Basic ")
        user, _, password = base64.b64decode(basic).decode().partition(":")
        if password in self.REFUSALS:
            status, code, message = self.REFUSALS[password]
            return self.answer(status, {"errors": [{"code": code, "message": message}]})
        scopes = [scope.split(":") for scope in asked.get("scope", []) if user == USER]
        access = [{"type": kind, "name": name, "actions": what.split(",")} for kind, name, what in scopes]
        now = int(time.time())
        chain = [base64.b64encode(ssl.PEM_cert_to_DER_cert(certificate.read_text())).decode()]
        head = {"typ": "JWT", "alg": "RS256", "x5c": chain}
        claims = {"iss": "test", "aud": "test", "sub": user, "nbf": now - 60, "iat": now, "exp": now + 300, "jti": str(now)}
        text = ".".join(encoded(json.dumps(part).encode()) for part in (head, {**claims, "access": access}))
        signature = run("openssl", "dgst", "-sha256", "-sign", str(key), input=text.encode())
        self.answer(200, {"token": f"{text}.{encoded(signature)}"})

    def do_POST(self):
        # Docker then asks with GET.
        self.answer(404, {})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def start_token_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), TokenServer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ended.extend([server.server_close, server.shutdown])
    return server.server_address[1]


class Push:
    """An image with one file, pushed by hand."""

    def __init__(self, host):
        self.host = host
        layer = io.BytesIO()
        with tarfile.open(fileobj=layer, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("simulator"))
        known = {"type": "layers", "diff_ids": [digest_of(layer.getvalue())]}
        config = {"architecture": "amd64", "os": "linux", "config": {"Cmd": ["/simulator"]}, "rootfs": known}
        kind = "application/vnd.docker"
        manifest = {
            "schemaVersion": 2,
            "mediaType": f"{kind}.distribution.manifest.v2+json",
            "config": {"mediaType": f"{kind}.container.image.v1+json", **self.blob(json.dumps(config).encode())},
            "layers": [{"mediaType": f"{kind}.image.rootfs.diff.tar.gzip", **self.blob(gzip.compress(layer.getvalue()))}],
        }
        self.ask("PUT", f"/v2/{REPOSITORY}/manifests/1", json.dumps(manifest), manifest["mediaType"])

    def blob(self, data):
        place = urlsplit(self.ask("POST", f"/v2/{REPOSITORY}/blobs/uploads/").getheader("Location"))
        self.ask("PUT", f"{place.path}?{place.query}&digest={digest_of(data)}", data, "application/octet-stream")
        return {"digest": digest_of(data), "size": len(data)}

    def ask(self, method, path, body=None, kind="text/plain"):
        line = http.client.HTTPSConnection(self.host, context=ssl._create_unverified_context())
        login = base64.b64encode(f"{USER}:{TOKEN}".encode()).decode()
        line.request(method, path, body, {"Authorization": f"Basic {login}", "Content-Type": kind})
        answer = line.getresponse()
        answer.read()
        line.close()
        assert answer.status in (201, 202), (path, answer.status)
        return answer


def digest_of(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def setUpModule():
    global engine, by_password, by_token
    made = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=registry", "-addext", "subjectAltName=IP:127.0.0.1"]
    run("openssl", "req", "-x509", *made, "-keyout", str(key), "-out", str(certificate))
    (folder / "passwords").write_bytes(run("htpasswd", "-Bbn", USER, TOKEN))
    by_password = start_registry("by-password", {"htpasswd": {"realm": "test", "path": str(folder / "passwords")}})
    realm = f"https://127.0.0.1:{start_token_server()}/token"
    known = {"realm": realm, "service": "test", "issuer": "test", "rootcertbundle": str(certificate)}
    by_token = start_registry("by-token", {"token": known})
    Push(by_password)
    docker = folder / "docker"
    docker.mkdir()
    where = {"data-root": "data", "exec-root": "run", "pidfile": "pid"}
    # It reaches registries on loopback over TLS, and asks them for no certificate that others know.
    start(
        "docker/log",
        *["dockerd", "--bridge=none", "--iptables=false", "--ip6tables=false", "--containerd-namespace=registry-test"],
        *[f"--{name}={docker / path}" for name, path in where.items()],
        f"--host=unix://{docker / 'socket'}",
    )
    engine = agent.Engine(str(docker / "socket"))
    wait_for(lambda: engine.call("GET", "/version"))


def tearDownModule():
    for end in reversed(ended):
        end()
    shutil.rmtree(folder, ignore_errors=True)


class Registries(Quiet):
    def setUp(self):
        super().setUp()
        self.leads_inside = agent.Login.leads_inside
        for owner, name, value in (
            (agent, "PULL_PAUSES", (0, 0, None)),
            # As if loopback were the internet.
            (agent.Login, "leads_inside", lambda _: False),
        ):
            self.addCleanup(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, value)

    def pull(self, host, password=None, user=USER, name=f"{REPOSITORY}:1"):
        """@returns the code that the site hears, None for a pull that worked, and what the log says"""
        told = {"registry": {"host": host, "username": user, "token": password}} if password else {}
        log = agent.Log()
        program = agent.Program(engine, log, {"Image": f"{host}/{name}", "Env": []}, lambda: told)
        code = None
        try:
            program._get_image()
            engine.call("DELETE", f"/images/{host}/{name}")
        except agent.GaveUp as error:
            code = error.phase["code"]
            log.say(str(error))
        return code, "\n".join(agent.shown(line.text) for line in log._lines)

    def test_pulls_with_the_login_and_nothing_keeps_it(self):
        for host in (by_password, by_token):
            code, said = self.pull(host, TOKEN)
            self.assertEqual((code, said.splitlines()[-1]), (None, f"Pulled {host}/{REPOSITORY}:1"), said)
            self.assertNotIn(TOKEN, said)
            # What Docker keeps doesn't open the door for the next one.
            self.assertIsNotNone(self.pull(host)[0])
        texts = [base64.b64encode(f"{USER}:{TOKEN}".encode()), TOKEN.encode()]
        files = [path for path in (folder / "docker").rglob("*") if path.is_file()]
        self.assertGreater(len(files), 3)
        for path in files:
            try:
                kept = path.read_bytes()
            except FileNotFoundError:
                # Docker clears its layers away while it runs.
                continue
            for text in texts:
                self.assertNotIn(text, kept, path)

    def test_tells_what_each_has_against_a_login(self):
        for host, user, password, name, expected in (
            (by_password, USER, "wrong", f"{REPOSITORY}:1", "image_login_refused"),
            (by_password, "nobody", TOKEN, f"{REPOSITORY}:1", "image_login_refused"),
            (by_password, USER, TOKEN, "none:1", "image_not_found"),
            (by_token, USER, "wrong", f"{REPOSITORY}:1", "image_login_refused"),
            (by_token, USER, "ended", f"{REPOSITORY}:1", "image_login_expired"),
            (by_token, USER, "limited", f"{REPOSITORY}:1", "image_rate_limited"),
            # The login is right, and may not read this.
            (by_token, "stranger", TOKEN, f"{REPOSITORY}:1", "image_denied"),
            (by_token, USER, TOKEN, "none:1", "image_not_found"),
            (by_token, USER, None, f"{REPOSITORY}:1", "image_denied"),
        ):
            code, said = self.pull(host, password, user, name)
            self.assertEqual(code, expected, said)

    def test_sends_no_login_to_loopback(self):
        agent.Login.leads_inside = self.leads_inside
        for host in (by_password, by_token, "localhost:1"):
            self.assertEqual(self.pull(host, TOKEN)[0], "image_host_private")


if __name__ == "__main__":
    unittest.main()
