"""The container, from its image to its last exit, through Docker's API."""

import base64
import gc
import http.server
import json
import os
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from fake_engine import FakeEngine, Run
from program import Quiet, agent

IMAGE = "ghcr.io/example/simulator:1.2"
TOKEN = "canary-of-a-login"
AGENT = Path(__file__).parents[3] / "infra" / "image" / "agent.py"
OPTIONS = [
    *["--gpus", "all", "--publish", "5173:5173", "--publish", "9090:9091", "--cap-drop", "ALL"],
    *["--security-opt", "no-new-privileges", "--dns", "1.1.1.1", "--dns", "8.8.8.8", "--volume", "/data:/data"],
    *["--env", "ENVIRONMENT=Blocks", "--env", "VEHICLE=uav", IMAGE],
]


def layer(name, status, current=None, total=None, units=None):
    detail = {"current": current, "total": total, **({"units": units} if units else {})} if current else {}
    return {"id": name, "status": status, "progressDetail": detail}


class Containers(unittest.TestCase):
    def test_is_what_docker_run_would_make_of_the_same_words(self):
        made = agent.container_of(OPTIONS)
        host = made.pop("HostConfig")
        ports = {"5173/tcp": {}, "9091/tcp": {}}
        self.assertEqual(made, {"Image": IMAGE, "Env": ["ENVIRONMENT=Blocks", "VEHICLE=uav"], "ExposedPorts": ports})
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self.assertEqual(
            host,
            {
                "PortBindings": {"5173/tcp": [{"HostPort": "5173"}], "9091/tcp": [{"HostPort": "9090"}]},
                "Binds": ["/data:/data"],
                "CapDrop": ["ALL"],
                "SecurityOpt": ["no-new-privileges"],
                "Dns": ["1.1.1.1", "8.8.8.8"],
                "DeviceRequests": [{"Count": -1, "Capabilities": [["gpu"]]}],
                "ShmSize": max(2**30, memory // 4),
                "LogConfig": {"Type": "none"},
            },
        )

    def test_refuses_an_option_that_it_does_not_know(self):
        with self.assertRaises(SystemExit), Quieter():
            agent.container_of(["--privileged", IMAGE])


class Quieter:
    def __enter__(self):
        self.case = Quiet()
        self.case.setUp()

    def __exit__(self, *_):
        self.case.doCleanups()


class Pulls(unittest.TestCase):
    def test_knows_how_far_it_is_and_never_goes_back(self):
        progress = agent.Progress()
        seen = []
        for event in (
            {"status": "Pulling from example/simulator", "id": "1.2"},
            layer("a", "Pulling fs layer"),
            layer("b", "Pulling fs layer"),
            layer("c", "Already exists"),
            layer("a", "Downloading", 50, 100),
            layer("b", "Downloading", 100, 300),
            layer("a", "Download complete"),
            layer("b", "Download complete"),
            layer("a", "Extracting", 100, 100),
            layer("a", "Pull complete"),
            layer("b", "Extracting", 150, 300),
            # Without a total, as Docker's newer image store says it.
            layer("b", "Extracting", 3),
            layer("b", "Pull complete"),
        ):
            progress.see(event)
            seen.append((progress.percent, progress.bytes))
        self.assertEqual([percent for percent, _ in seen], [0, 0, 0, 0, 12, 18, 25, 50, 62, 62, 81, 81, 99])
        # Each byte is downloaded and unpacked.
        self.assertEqual([moved for _, moved in seen], [0, 0, 0, 0, 50, 150, 200, 400, 500, 500, 650, 650, 800])

    def test_nothing_moves_while_docker_waits_or_tries_again(self):
        progress = agent.Progress()
        for event, moves in (
            (layer("a", "Pulling fs layer"), False),
            (layer("a", "Downloading", 1, 9), True),
            (layer("a", "Downloading", 1, 9), False),
            (layer("a", "Waiting"), False),
            (layer("a", "Retrying in 5 seconds"), False),
            (layer("a", "Downloading", 2, 9), True),
            (layer("a", "Download complete"), True),
            (layer("a", "Extracting", 1), True),
            (layer("a", "Extracting", 1), False),
            (layer("a", "Extracting", 2), True),
            (layer("a", "Pull complete"), True),
        ):
            progress.moved_at = 0
            progress.see(event)
            self.assertEqual(progress.moved_at > 0, moves, event)

    def test_seconds_that_pass_while_docker_unpacks_move_nothing(self):
        progress = agent.Progress()
        for event, moves in (
            (layer("a", "Download complete"), True),
            (layer("a", "Extracting", 1, units="s"), True),
            (layer("a", "Extracting", 2, units="s"), False),
            (layer("a", "Pull complete"), True),
        ):
            progress.moved_at = 0
            progress.see(event)
            self.assertEqual(progress.moved_at > 0, moves, event)

    def test_waits_longer_for_an_unpacking_of_which_docker_counts_no_bytes(self):
        for events, seconds in (
            ([], 120),
            ([layer("a", "Pulling fs layer"), layer("b", "Downloading", 1, 9)], 120),
            ([layer("a", "Download complete"), layer("b", "Downloading", 8, 9)], 120),
            ([layer("a", "Download complete"), layer("b", "Download complete")], 600),
            ([layer("a", "Download complete"), layer("a", "Extracting", 1, units="s")], 600),
            ([layer("a", "Download complete"), layer("a", "Extracting", 1, 9)], 120),
        ):
            progress = agent.Progress()
            for event in events:
                progress.see(event)
            self.assertEqual(progress.patience(), seconds, events)


class Runs(Quiet):
    def setUp(self):
        super().setUp()
        for name, value in {"PAUSES": (0, 0), "PULL_PAUSES": (0, 0, None), "LATER_PAUSE": 0}.items():
            self.addCleanup(setattr, agent, name, getattr(agent, name))
            setattr(agent, name, value)

    def play(self, engine, options=(IMAGE,), answered_at=None, told=dict):
        """@returns what the log says, its phases, and why it gave up"""
        log = agent.Log()
        program = agent.Program(agent.Engine(engine.path), log, agent.container_of(list(options)), told)
        run_once = program._run_once

        def run(tries):
            program.has_answered |= tries == answered_at
            try:
                return run_once(tries)
            finally:
                if not engine.runs:
                    program.is_stopping.set()

        program._run_once = run if answered_at else run_once
        gave_up = None
        try:
            program.run()
        except agent.GaveUp as error:
            gave_up = error.phase
        program.has_answered = True
        lines = [(line.source, agent.shown(line.text)) for line in log._lines]
        return lines, [line.phase for line in log._lines if line.phase], gave_up

    def test_starts_a_program_three_times_that_never_answers(self):
        engine = FakeEngine([Run([(1, b"hello\n"), (2, b"no end")], code=3) for _ in range(3)])
        lines, phases, gave_up = self.play(engine)
        self.assertEqual(
            lines[:5],
            [
                ("machine", f"The machine has {IMAGE}"),
                ("machine", "Started the program"),
                ("stdout", "hello"),
                ("stderr", "no end"),
                ("machine", "The program exited with code 3."),
            ],
        )
        self.assertEqual(lines[5], ("machine", "Started the program again (2 of 3)"))
        self.assertEqual([phase["name"] for phase in phases], ["pulled", *["started", "exited"] * 3])
        self.assertEqual(
            phases[2], {"name": "exited", "exit_code": 3, "oom": False, "tries": 1, "answered": False}
        )
        why = "The program exited 3 times before it answered on port 5173."
        self.assertEqual(gave_up, {"name": "failed", "code": "exited", "exit_code": 3, "why": why})
        # Each try begins with a fresh container, and without what the image's volumes held: it would fill the disk.
        removed = "DELETE /containers/simulator?force=1&v=1"
        self.assertEqual((len(engine.created), engine.calls.count(removed)), (3, 3))

    def test_says_what_a_program_died_of(self):
        for code, oom, words, failure in (
            (137, True, "The program exited with code 137: out of memory.", "out_of_memory"),
            (139, False, "The program exited with code 139: segmentation fault.", "exited"),
            (255, False, "The program exited with code 255.", "exited"),
        ):
            lines, phases, gave_up = self.play(FakeEngine([Run(code=code, oom=oom) for _ in range(3)]))
            self.assertIn(("machine", words), lines)
            self.assertEqual((phases[2]["oom"], gave_up["code"], gave_up["exit_code"]), (oom, failure, code))

    def test_starts_one_again_and_again_once_it_has_answered(self):
        lines, phases, gave_up = self.play(FakeEngine([Run(code=1) for _ in range(6)]), answered_at=2)
        self.assertIsNone(gave_up)
        self.assertEqual([phase["answered"] for phase in phases if phase["name"] == "exited"], [False, *[True] * 4])
        self.assertEqual([phase["tries"] for phase in phases if phase["name"] == "started"], [1, 2, 3, 4, 5, 6])
        self.assertEqual(lines[-2:], [("machine", "Started the program again"), ("machine", "The program exited with code 1.")])

    def test_sets_pythonunbuffered_unless_the_image_does(self):
        # Docker 29 leaves out what older ones say is null.
        for config, expected in (
            ({}, ["A=1", "PYTHONUNBUFFERED=1"]),
            ({"Env": None}, ["A=1", "PYTHONUNBUFFERED=1"]),
            ({"Env": ["PYTHONUNBUFFERED="]}, ["A=1"]),
        ):
            engine = FakeEngine([Run(code=0) for _ in range(3)], image_config=config)
            self.play(engine, ["--env", "A=1", IMAGE])
            self.assertEqual(engine.created[0]["Env"], expected)

    def test_tells_the_container_its_parameters(self):
        told = {"SCENARIO": "harbor fog", "TEXT": "a=b"}
        engine = FakeEngine([Run(code=0) for _ in range(3)])
        self.play(engine, ["--env", "A=1", IMAGE], told=lambda: {"parameters": told})
        self.assertEqual(engine.created[0]["Env"], ["A=1", "SCENARIO=harbor fog", "TEXT=a=b", "PYTHONUNBUFFERED=1"])
        engine = FakeEngine([Run(code=0) for _ in range(3)])
        self.play(engine, [IMAGE], told=lambda: {"parameters": {"PYTHONUNBUFFERED": ""}})
        self.assertEqual(engine.created[0]["Env"], ["PYTHONUNBUFFERED="])

    def test_runs_a_program_once_to_its_end(self):
        told = {"until": "exit", "command": ["python", "-m", "tests"], "publish": False, "parameters": {}}
        engine = FakeEngine([Run([(1, b"hello\n")], code=3)])
        lines, phases, gave_up = self.play(engine, OPTIONS, told=lambda: told)
        self.assertIsNone(gave_up)
        said = [text for _, text in lines[1:]]
        self.assertEqual(said, ["Started the program", "hello", "The program exited with code 3."])
        exited = {"name": "exited", "exit_code": 3, "oom": False, "tries": 1, "answered": False}
        self.assertEqual(phases[1:], [{"name": "started", "tries": 1}, exited])
        made = engine.created[0]
        self.assertEqual((made["Cmd"], made["ExposedPorts"], made["HostConfig"]["PortBindings"]), (told["command"], {}, {}))
        # The agent or the machine began anew: the same program, and not again.
        lines, phases, _ = self.play(engine, OPTIONS, told=lambda: told)
        self.assertEqual((len(engine.created), phases[-1]), (1, exited))

    def test_says_when_docker_began_and_ended_it_however_late_it_noticed(self):
        times = {"StartedAt": "2026-11-27T17:00:00.5Z", "FinishedAt": "2026-11-27T17:00:20.123456789Z"}
        engine = FakeEngine([Run(code=0, times=times)])
        # The second agent begins after that, and knows it from Docker alone.
        for _ in range(2):
            log = agent.Log()
            agent.Program(agent.Engine(engine.path), log, agent.container_of([IMAGE]), lambda: {"until": "exit"}).run()
            said = {line.phase["name"]: line.at for line in log._lines if line.phase}
            self.assertEqual((said["started"], said["exited"]), (1795798800500, 1795798820123))

    def test_takes_its_own_time_where_docker_has_none(self):
        self.assertEqual([agent.moment(text) for text in (None, "", "0001-01-01T00:00:00Z")], [None] * 3)
        self.assertEqual(agent.moment("2026-11-27T17:00:00Z"), 1795798800000)

    def test_a_program_that_began_before_this_agent_keeps_its_secrets(self):
        secrets = {"TOKEN": "canary-of-a-token"}
        engine = FakeEngine([Run([(1, b"canary-of-a-token\n")], code=0)])
        for now in (secrets, {"TOKEN": None}, {"TOKEN": "another-by-now"}):
            lines, _, gave_up = self.play(engine, told=lambda: {"until": "exit", "secrets": now})
            self.assertEqual((gave_up, [text for source, text in lines if source == "stdout"]), (None, ["***"]))
        self.assertEqual(len(engine.created), 1)

    def test_publishes_ports_where_there_is_a_door(self):
        engine = FakeEngine([Run(code=0)])
        self.play(engine, OPTIONS, told=lambda: {"until": "exit", "command": None, "publish": True})
        self.assertNotIn("Cmd", engine.created[0])
        self.assertEqual(len(engine.created[0]["HostConfig"]["PortBindings"]), 2)

    def test_a_program_that_is_to_end_and_cannot_start_has_cost_nothing(self):
        for refused, code in (("could not select device driver", "bad_image"), ("no space left on device", "no_space")):
            engine = FakeEngine([Run(refused=refused)])
            _, phases, gave_up = self.play(engine, told=lambda: {"until": "exit"})
            self.assertEqual((gave_up["code"], [phase["name"] for phase in phases]), (code, ["pulled"]))

    def test_pulls_an_image_that_is_missing(self):
        engine = FakeEngine([Run(code=0)] * 3, pulls=[[layer("a", "Downloading", 1, 2), layer("a", "Pull complete")]])
        lines, phases, _ = self.play(engine, ["localhost:5000/simulator"])
        self.assertEqual(engine.pulled, ["localhost:5000/simulator:latest"])
        self.assertEqual(phases[:2], [{"name": "pulling", "percent": 0, "bytes": 0}, {"name": "pulled"}])
        self.assertEqual(lines[1], ("machine", "Pulled localhost:5000/simulator"))

    def test_pulls_again_when_a_registry_fails_for_a_moment(self):
        pulls = [(500, "dial tcp: i/o timeout"), [{"error": "toomanyrequests: slow down"}], []]
        engine = FakeEngine([Run(code=0)] * 3, pulls=pulls)
        lines, _, gave_up = self.play(engine)
        self.assertEqual((engine.pulled, gave_up["code"]), ([IMAGE] * 3, "exited"))
        self.assertEqual(lines[1][1], f"Cannot pull {IMAGE}: dial tcp: i/o timeout. Trying again in 0 s.")

    def test_gives_up_where_trying_again_cannot_help(self):
        for pulls, code, tried in (
            ([(404, "manifest for x not found: manifest unknown")], "image_not_found", 1),
            ([(404, "pull access denied for x, repository does not exist")], "image_denied", 1),
            ([[{"error": "write /var/lib: no space left on device"}]], "no_space", 1),
            ([[{"error": "no matching manifest for linux/amd64"}]], "bad_image", 1),
            ([[{"error": 'image operating system "windows" cannot be used on this platform'}]], "bad_image", 1),
            ([[{"error": "unsupported media type application/vnd.cncf.helm.config.v1+json"}]], "bad_image", 1),
            ([[{"error": "toomanyrequests: slow down"}]] * 3, "image_rate_limited", 3),
            ([(500, 'error parsing HTTP 429 response body: "Retry later"')] * 3, "image_rate_limited", 3),
            ([(500, "dial tcp: lookup registry.invalid: no such host")] * 3, "image_not_found", 3),
        ):
            engine = FakeEngine(pulls=pulls)
            _, _, gave_up = self.play(engine)
            self.assertEqual((gave_up["code"], len(engine.pulled)), (code, tried))
            self.assertIn("Cannot pull", gave_up["why"])

    def lead_to(self, *addresses):
        """Any name stands for these from now on."""
        asked, real = [], agent.socket.getaddrinfo

        def getaddrinfo(host, *rest, **more):
            # The thread that waits for the program's answer asks for this whenever its second is over.
            if host == "127.0.0.1":
                return real(host, *rest, **more)
            asked.append(host)
            return [(None, None, None, "", (address, 0)) for address in addresses]

        self.addCleanup(setattr, agent.socket, "getaddrinfo", real)
        agent.socket.getaddrinfo = getaddrinfo
        return asked

    def test_pulls_a_private_image_with_the_login_and_forgets_it_before_the_program_starts(self):
        for host, server, image in (
            ("ghcr.io", "ghcr.io", IMAGE),
            ("registry.example.com:5000", "registry.example.com:5000", "registry.example.com:5000/sim:1"),
            ("docker.io", "index.docker.io", "example/sim:1"),
        ):
            asked = self.lead_to("140.82.121.34", "2606:50c0:8000::154")
            told = {"registry": {"host": host, "username": "robot", "token": TOKEN}}
            engine = FakeEngine([Run([(1, f"{TOKEN}\n".encode())], code=0)] * 3, pulls=[(500, "EOF"), []])
            lines, _, _ = self.play(engine, [image], told=lambda: told)
            self.assertEqual(asked, [host.partition(":")[0]] * 2)
            given = {"username": "robot", "password": TOKEN, "serveraddress": server}
            logins = [json.loads(base64.urlsafe_b64decode(login)) for login in engine.logins]
            self.assertEqual((logins, told), ([given] * 2, {}))
            self.assertEqual(lines[0], ("machine", f"Pulling {image} with your login for {host}"))
            # Nothing holds it by now, not even what hides it, and no container has it.
            self.assertIn(("stdout", TOKEN), lines)
            self.assertNotIn(TOKEN, json.dumps(engine.created))
            self.assertEqual([one for one in gc.get_objects() if isinstance(one, agent.Login)], [])

    def test_forgets_a_login_that_nothing_had_to_be_pulled_with(self):
        told = {"registry": {"host": "ghcr.io", "username": "robot", "token": TOKEN}}
        engine = FakeEngine([Run(code=0)] * 3)
        lines, _, _ = self.play(engine, told=lambda: told)
        self.assertEqual((told, engine.pulled, lines[0][1]), ({}, [], f"The machine has {IMAGE}"))

    def test_says_what_a_registry_has_against_a_login_and_never_the_login(self):
        self.lead_to("140.82.121.34")
        basic = base64.b64encode(f"robot:{TOKEN}".encode()).decode()
        gitlab = "denied: HTTP Basic: Access denied. The token was either incorrect, expired, or improperly scoped."
        rate = "toomanyrequests: You have reached your pull rate limit."
        certificate = "tls: failed to verify certificate: x509: certificate has expired or is not yet valid"
        for said, code, tried in (
            # As Docker's older image store says it.
            ("unauthorized: authentication required", "image_login_refused", 1),
            ('Head "https://ghcr.io/v2/x": unauthorized: incorrect username or password', "image_login_refused", 1),
            (gitlab, "image_login_refused", 1),
            ("unauthorized: personal access token is expired", "image_login_expired", 1),
            ("denied: Your authorization token has expired. Reauthenticate and try again.", "image_login_expired", 1),
            ("pull access denied for x, repository does not exist or may require 'docker login'", "image_denied", 1),
            ("manifest for x not found: manifest unknown", "image_not_found", 1),
            (rate, "image_rate_limited", 3),
            ("unexpected status code 429 Too Many Requests", "image_rate_limited", 3),
            (certificate, "image_not_found", 3),
            # As Docker's newer image store says it: without the registry's code.
            ("error from registry: authentication required", "image_login_refused", 1),
            ("unexpected status from HEAD request to https://ghcr.io/v2/x: 401 Unauthorized", "image_login_refused", 1),
            ("error from registry: personal access token is expired", "image_login_expired", 1),
            ("error from registry: requested access to the resource is denied", "image_denied", 1),
            ("error from registry: You have reached your pull rate limit.", "image_rate_limited", 3),
            (f"unauthorized: {TOKEN} and {basic}", "image_login_refused", 1),
        ):
            told = {"registry": {"host": "ghcr.io", "username": "robot", "token": TOKEN}}
            engine = FakeEngine(pulls=[(500, said)] * tried)
            lines, _, gave_up = self.play(engine, told=lambda told=told: told)
            self.assertEqual((gave_up["code"], len(engine.pulled)), (code, tried), said)
            for hidden in (TOKEN, basic):
                self.assertNotIn(hidden, json.dumps([lines, gave_up["code"]]))
            # Without a login, no registry can have anything against it.
            _, _, gave_up = self.play(FakeEngine(pulls=[(500, said)] * 3))
            self.assertFalse(gave_up["code"].startswith("image_login"), said)

    def test_sends_no_login_to_a_private_address(self):
        v4 = ["10.0.0.1", "127.0.0.1", "169.254.169.254", "100.64.0.1", "192.168.1.1", "224.0.0.1", "0.0.0.0"]
        for address in [*v4, "::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1"]:
            # One that leads inside is enough: Docker may choose it.
            self.lead_to("140.82.121.34", address)
            engine = FakeEngine(pulls=[[]])
            told = {"registry": {"host": "ghcr.io", "username": "robot", "token": TOKEN}}
            _, _, gave_up = self.play(engine, told=lambda told=told: told)
            why = f"Cannot pull {IMAGE}: ghcr.io leads to a private address."
            self.assertEqual((gave_up["code"], gave_up["why"], engine.pulled), ("image_host_private", why, []), address)

    def test_gives_up_on_a_pull_that_does_not_move_for_two_minutes(self):
        at = iter(range(0, 1_000, 50))
        clock = agent.time.monotonic
        self.addCleanup(setattr, agent.time, "monotonic", clock)
        agent.time.monotonic = lambda: next(at, 1_000)
        waits = [layer("a", "Downloading", 1, 9), *[layer("a", f"Retrying in {n} seconds") for n in range(8, 0, -1)]]
        engine = FakeEngine(pulls=[waits])
        _, _, gave_up = self.play(engine)
        self.assertEqual((gave_up["code"], len(engine.pulled)), ("image_stuck", 1))
        self.assertIn("nothing moved for 120 s", gave_up["why"])

    def test_gives_up_on_a_docker_that_says_nothing_more(self):
        for name, seconds in {"SILENT_SECONDS": 0.2, "UNPACKING_SECONDS": 1}.items():
            self.addCleanup(setattr, agent, name, getattr(agent, name))
            setattr(agent, name, seconds)
        for events, pauses, gives_up in (
            ([layer("a", "Downloading", 1, 9), layer("a", "Downloading", 2, 9)], 0.5, "nothing moved for 0.2 s"),
            # Docker 27 with its containerd image store unpacks in silence.
            ([layer("a", "Download complete"), layer("a", "Pull complete")], 0.5, None),
            ([layer("a", "Download complete"), layer("a", "Pull complete")], 2, "nothing moved for 1 s"),
        ):
            engine = FakeEngine([Run(code=0)] * 3, pulls=[events], between=pauses)
            _, _, gave_up = self.play(engine)
            if gives_up:
                self.assertEqual(gave_up["code"], "image_stuck")
                self.assertIn(gives_up, gave_up["why"])
            else:
                self.assertEqual(gave_up["code"], "exited")

    def test_gives_up_on_an_image_that_cannot_start(self):
        for refused in (
            'exec: "/simulator": stat /simulator: no such file or directory: unknown',
            "unable to find user pilot: no matching entries in passwd file",
            "unable to find group pilots: no matching entries in group file",
        ):
            _, _, gave_up = self.play(FakeEngine([Run(refused=refused)]))
            self.assertEqual((gave_up["code"], gave_up["why"]), ("bad_image", f"Cannot start the program: {refused}"))
        # The machine's fault, and maybe a passing one.
        lines, _, gave_up = self.play(FakeEngine([Run(refused="could not select device driver")] * 3))
        self.assertEqual((gave_up["code"], gave_up["exit_code"]), ("exited", 125))
        self.assertIn(("machine", "Cannot start the program: could not select device driver"), lines)

    def test_loads_the_files_again_before_each_further_start(self):
        folder = tempfile.mkdtemp()
        os.environ["FILES"] = f"{folder}/files"
        self.addCleanup(os.environ.pop, "FILES")
        Path(f"{folder}/files").write_text(f'#!/bin/sh\necho "$1" >>{folder}/calls\n[ ! -e {folder}/broken ] || {{ echo no; exit 1; }}\n')
        os.chmod(f"{folder}/files", 0o755)
        self.play(FakeEngine([Run(code=1) for _ in range(3)]), ["--volume", "/data:/data", IMAGE])
        self.assertEqual(Path(f"{folder}/calls").read_text(), "load\nload\n")
        Path(f"{folder}/broken").touch()
        _, _, gave_up = self.play(FakeEngine([Run(code=1)]), ["--volume", "/data:/data", IMAGE])
        # files.sh tells the site itself.
        self.assertIsNone(gave_up)
        self.assertEqual(Path(f"{folder}/calls").read_text(), "load\n" * 3)


class SiteHandler(http.server.BaseHTTPRequestHandler):
    """The site and the metadata service."""

    log, proofs = [], []
    key_status = 200
    told = {}

    def log_message(self, *_):
        pass

    def reply(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        text = {"token": "token", "document": '{"instanceId":"i-0"}', "signature": "c2ln\nbmVk"}.get(self.path.rpartition("/")[2])
        if self.path == "/machines/key":
            self.proofs.append(json.loads(body))
            text = json.dumps({"key": "key", "run": "run", "parameters": {"SCENARIO": "fog"}, **self.told})
        if self.path == "/machines/log":
            assert self.headers["Authorization"] == "Bearer key"
            batch = json.loads(body)
            self.log.append(batch)
            text = json.dumps({"next": batch["first"] + len(batch["lines"]), "every_seconds": 1})
        self.send_response(self.key_status if self.path == "/machines/key" else 200)
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_PUT = do_POST = reply


class Processes(unittest.TestCase):
    """The whole program, as simulator.sh starts it."""

    def setUp(self):
        SiteHandler.log.clear()
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), SiteHandler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        self.folder = tempfile.mkdtemp()
        Path(f"{self.folder}/systemctl").write_text(f'#!/bin/sh\necho "$@" >>{self.folder}/calls\n')
        os.chmod(f"{self.folder}/systemctl", 0o755)

    def start(self, engine, **variables):
        where = {**variables, "SITE": self.url, "METADATA_URL": self.url, "ANSWER_URL": "http://127.0.0.1:1"}
        paths = {"ENGINE": engine.path, "CONSOLE": f"{self.folder}/console", "PATH": f"{self.folder}:{os.environ['PATH']}"}
        words = [sys.executable, "-B", str(AGENT), IMAGE]
        process = subprocess.Popen(words, env={**where, **paths}, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def sent(self):
        return [line["text"] for batch in SiteHandler.log for line in batch["lines"]]

    def test_waits_for_what_the_site_says_only_if_the_run_has_parameters(self):
        for variables, told in (({"NEEDS_AGENT": "required"}, ["SCENARIO=fog"]), ({}, [])):
            engine = FakeEngine([Run()])
            process = self.start(engine, **variables)
            while process.stdout.readline() != "Started the program\n":
                pass
            process.kill()
            self.assertEqual(engine.created[0]["Env"], [*told, "PYTHONUNBUFFERED=1"])

    def test_starts_nothing_where_the_site_does_not_say_what_to_tell_it(self):
        SiteHandler.key_status = 404
        self.addCleanup(setattr, SiteHandler, "key_status", 200)
        engine = FakeEngine([Run(code=0)])
        SiteHandler.proofs.clear()
        process = self.start(engine, NEEDS_AGENT="required")
        # It tries again: nothing says that this 404 is the site's last word.
        while len(SiteHandler.proofs) < 2:
            time.sleep(0.05)
        process.terminate()
        self.assertEqual((process.wait(), engine.created), (0, []))

    def give(self, **secrets):
        SiteHandler.told = {"secrets": secrets}
        self.addCleanup(setattr, SiteHandler, "told", {})

    def test_tells_the_container_its_secrets_and_nobody_else(self):
        key = "-----BEGIN KEY-----\ncanary/of/a/key\r\nshort\n-----END KEY-----\n"
        self.give(TOKEN="canary-of-a-token", KEY=key)
        printed = b"TOKEN=canary-of-a-token canary-of\n" + key.encode() + b"still canary-of-a"
        engine = FakeEngine([Run([(1, printed[:20]), (1, printed[20:]), (2, printed)], code=1) for _ in range(3)])
        process = self.start(engine, NEEDS_AGENT="required")
        # systemd's journal.
        journal = process.stdout.read()
        self.assertEqual(process.wait(), 1)
        told = ["SCENARIO=fog", "TOKEN=canary-of-a-token", f"KEY={key}", "PYTHONUNBUFFERED=1"]
        self.assertEqual(engine.created[0]["Env"], told)
        console = Path(f"{self.folder}/console").read_text()
        for text in (json.dumps(SiteHandler.log), journal, console):
            self.assertNotIn("canary/of", text)
            self.assertNotIn("canary-of-a", text)
        first = self.sent()
        program = first[first.index("Started the program") + 1 :][:2]
        # The key is one secret, short lines included.
        self.assertEqual(program, ["TOKEN=*** canary-of", "***"])
        self.assertNotIn("short", self.sent())
        self.assertEqual(self.sent().count("still ***"), 6)

    def test_says_a_login_to_docker_and_nobody_else(self):
        # An address of its own, so that this test asks no name server.
        SiteHandler.told = {"registry": {"host": "140.82.121.34:5000", "username": "robot", "token": TOKEN}}
        self.addCleanup(setattr, SiteHandler, "told", {})
        engine = FakeEngine([Run([(1, b"ready\n")])], pulls=[(500, f"EOF after {TOKEN}"), []])
        process = self.start(engine, NEEDS_AGENT="required")
        journal = []
        while not journal or journal[-1] != "Started the program\n":
            journal.append(process.stdout.readline())
        self.assertEqual([TOKEN in str(base64.urlsafe_b64decode(login)) for login in engine.logins], [True, True])
        ours = [Path(f"/proc/{process.pid}/{name}").read_text() for name in ("cmdline", "environ")]
        process.send_signal(signal.SIGTERM)
        engine.stopped.set()
        self.assertEqual(process.wait(), 0)
        files = [path.read_text() for path in Path(self.folder).iterdir()]
        seen = json.dumps([SiteHandler.log, journal, ours, files, engine.created])
        self.assertIn("EOF after ***", seen)
        for hidden in (TOKEN, engine.logins[0], base64.b64encode(f"robot:{TOKEN}".encode()).decode()):
            self.assertNotIn(hidden, seen)

    def test_starts_nothing_without_a_secret_that_is_gone(self):
        self.give(TOKEN="canary-of-a-token", KEY=None)
        engine = FakeEngine([Run(code=0) for _ in range(3)])
        self.assertEqual(self.start(engine, NEEDS_AGENT="required").wait(), 1)
        self.assertEqual((engine.created, Path(f"{self.folder}/calls").read_text()), ([], "poweroff\n"))
        why = "The secret KEY is gone, so the program didn't start."
        self.assertEqual(self.sent()[-1], why)
        failed = {"name": "failed", "code": "secret_missing", "exit_code": None, "why": why}
        self.assertEqual(SiteHandler.log[-1]["phase"], failed)

    def test_sends_what_is_left_when_it_is_stopped(self):
        engine = FakeEngine([Run([(1, b"ready\n")])])
        process = self.start(engine)
        while process.stdout.readline() != "Started the program\n":
            pass
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.readline(), "Stopping\n")
        engine.stopped.set()
        self.assertEqual(process.wait(), 0)
        self.assertEqual(sorted(self.sent()[-3:]), ["Stopping", "The program exited with code 0.", "ready"])
        self.assertTrue(SiteHandler.log[-1]["complete"])
        # A program that somebody stopped didn't exit.
        self.assertEqual([batch["phase"]["name"] for batch in SiteHandler.log if "phase" in batch], ["pulled", "started"])
        self.assertEqual(SiteHandler.proofs[-1], {"document": "eyJpbnN0YW5jZUlkIjoiaS0wIn0=", "signature": "c2lnbmVk"})
        self.assertEqual(os.listdir(self.folder), ["systemctl"])

    def test_ends_the_machine_with_a_program_that_is_to_end(self):
        SiteHandler.told = {"until": "exit"}
        self.addCleanup(setattr, SiteHandler, "told", {})
        process = self.start(FakeEngine([Run([(1, b"done\n")], code=4)]), NEEDS_AGENT="required")
        self.assertEqual(process.wait(), 0)
        # The exit is sent at once, so its batch may be the last or the one before.
        exited = [batch["phase"] for batch in SiteHandler.log if "phase" in batch][-1]
        self.assertEqual((exited["name"], exited["exit_code"], SiteHandler.log[-1]["complete"]), ("exited", 4, True))
        self.assertEqual(self.sent()[-2:], ["done", "The program exited with code 4."])
        self.assertEqual(Path(f"{self.folder}/calls").read_text(), "poweroff\n")

    def test_says_why_it_gives_up_before_it_ends_the_machine(self):
        process = self.start(FakeEngine(pulls=[(404, "manifest unknown")]))
        self.assertEqual(process.wait(), 1)
        last = SiteHandler.log[-1]
        self.assertEqual((last["phase"]["code"], last["complete"]), ("image_not_found", True))
        why = f"Cannot pull {IMAGE}: manifest unknown"
        self.assertEqual(self.sent(), [f"Pulling {IMAGE}", why])
        self.assertEqual(Path(f"{self.folder}/console").read_text(), f"simulator: {why}\n")
        self.assertEqual(Path(f"{self.folder}/calls").read_text(), "poweroff\n")

    def test_leaves_the_machine_alone_when_docker_is_gone(self):
        engine = FakeEngine()
        engine.path += ".none"
        process = self.start(engine)
        self.assertEqual(process.wait(), 1)
        self.assertEqual(os.listdir(self.folder), ["systemctl"])
        self.assertFalse(any(batch["complete"] for batch in SiteHandler.log))


if __name__ == "__main__":
    unittest.main()
