"""Runs the simulator's container through Docker's Engine API, and tells the site what happens inside the run.

simulator.sh starts it with the options and the image that it would give to `docker run`. The site serves its newest one, so it
must take what the simulator.sh of any zone gives it, however old. It needs only Python 3.9, listens
nowhere, and writes no file. It ends with 0 after SIGTERM, once somebody else stopped the container, and with 1 otherwise.
"""

import argparse
import base64
import calendar
import codecs
import collections
import contextlib
import http.client
import ipaddress
import itertools
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from urllib.parse import quote, urlencode, urlsplit

# Shorter ones would hide much that isn't secret.
LEAST_HIDDEN = 8
# Per line, in UTF-8.
LINE_BYTES = 8_192
UNFINISHED_SECONDS = 2
# Bytes that the site doesn't have yet, and bytes to send in the last seconds.
MOST_BUFFERED = 4_000_000
MOST_AT_END = 1_000_000
# A line's JSON without its text.
AROUND_BYTES = 60
# A batch may have 256 KiB, with its samples.
MOST_BATCH = 240_000
LEAST_BATCH = 16_000
MOST_SAMPLES = 60
MOST_PHASES = 20
QUIET_SECONDS = 30
# After its start, people wait for each line.
FRESH_SECONDS = 120
MOST_BACK_OFF = 20
LAST_SECONDS = 5
# For reporting how its program ended, in a run that ends with it: nobody pays for that.
MOST_LAST_SECONDS = 900
# How many seconds to send while we search for the lines that a firewall refuses.
SEARCH_SECONDS = 30
SAMPLE_SECONDS = 10
# A pull in which nothing moves for this long is stuck.
SILENT_SECONDS = 120
# While it unpacks an image, Docker's containerd store says nothing, or only how long that takes.
UNPACKING_SECONDS = 600
PULL_PAUSES = (5, 15, None)
# Pauses before a restart: of a program that has never answered, and of one that has.
PAUSES = (1, 5)
LATER_PAUSE = 2


def parts_of(secrets):
    """What nobody may read: each line of each secret, or all of one with shorter lines; as it is, and as JSON writes it."""
    texts = set()
    for secret in secrets:
        lines = [line for line in re.split(r"[\r\n]+", secret) if line]
        texts.update(lines)
        if len(lines) > 1 and min(map(len, lines)) < LEAST_HIDDEN:
            texts.update((secret, "\n".join(lines), "\r\n".join(lines)))
    # Programs print values without the spaces at their ends.
    shorter = {text.strip() if len(text.strip()) >= LEAST_HIDDEN else text for text in texts}
    hidden = [text for text in shorter if len(text) >= LEAST_HIDDEN]
    in_json = [json.dumps(text, ensure_ascii=is_ascii)[1:-1] for text in hidden for is_ascii in (True, False)]
    return [text.encode() for text in {*hidden, *in_json}]


class Mask:
    """Replaces secrets in what one stream prints, wherever its pieces end, before it is cut into lines."""

    def __init__(self, parts=()):
        self._parts = parts
        # Text that may be the beginning of one, and how much of it is replaced already.
        self._held = b""
        self._covered = 0

    def feed(self, data, is_last=False):
        text = self._held + data
        spans = [span for part in self._parts for span in self._spans(text, part)]
        open_at = len(text) - self._open(text)
        if is_last and len(text) - open_at >= LEAST_HIDDEN:
            spans.append((open_at, len(text)))
        keep = len(text) if is_last else open_at
        shown, at = [], self._covered
        for start, end in sorted(spans):
            if start >= keep:
                break
            # Overlapping ones count as one.
            if start >= at:
                shown += [text[at:start], b"***"]
            at = max(at, end)
        shown.append(text[at:keep])
        self._held, self._covered = text[keep:], max(0, at - keep)
        return b"".join(shown)

    @staticmethod
    def _spans(text, part):
        start = text.find(part)
        while start >= 0:
            last = start
            # The last one that begins within it: of many overlapping ones, this looks at few.
            while (at := text.rfind(part, last + 1, last + 2 * len(part) - 1)) > last:
                last = at
            yield start, last + len(part)
            start = text.find(part, last + len(part))

    def _open(self, text):
        """How many bytes at its end are the beginning of a secret."""
        line = text[max(text.rfind(b"\n"), text.rfind(b"\r")) + 1 :]
        return max((self._begins(text if b"\n" in part or b"\r" in part else line, part) for part in self._parts), default=0)

    @staticmethod
    def _begins(line, part):
        at = line.find(part[:1], max(0, len(line) - len(part) + 1))
        while at >= 0:
            if part.startswith(line[at:]):
                return len(line) - at
            at = line.find(part[:1], at + 1)
        return 0


def text_of(raw, more=0):
    """A line as people read it. `more` bytes of it weren't kept."""
    # What a carriage return overwrote is gone; one at the end belongs to the line break.
    raw = raw.rstrip(b"\r").rpartition(b"\r")[2]
    # A character that was cut off isn't an invalid one.
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(raw, final=not more)
    return cut(text, len(raw) + more if more else len(text.encode()))


def cut(text, whole):
    """At most as much of it as a line may have. `whole`: how many bytes it had."""
    if whole <= LINE_BYTES:
        return text
    kept = text.encode()[:LINE_BYTES].decode("utf-8", "ignore")
    return f"{kept}… ({whole - len(kept.encode())} bytes more)"


class Lines:
    """Cuts what one stream prints into lines, in bounded memory: a line may have 4 GB."""

    def __init__(self):
        self.rest = b""
        self.more = 0
        self.returned = False
        self.since = None
        self.was_sent = False

    def feed(self, data, now):
        """The lines that end here: bytes for text_of, or a text."""
        first, *others = data.split(b"\n")
        self._append(first, now)
        if not others:
            return []
        # A line break that comes after its line was sent unfinished isn't an empty line.
        ended = [] if self.was_sent and self.since is None else [self._take()]
        self.was_sent = False
        self._append(others.pop(), now)
        return ended + others

    def flush(self, now=None):
        """An unfinished line that nobody should wait for any longer. Without `now`, any."""
        if self.since is None or (now is not None and now - self.since < UNFINISHED_SECONDS):
            return []
        self.was_sent = True
        return [self._take()]

    def _append(self, part, now):
        written = part.rstrip(b"\r")
        if written:
            line, overwritten = (written.rpartition(b"\r")[2], self.returned or b"\r" in written)
            if overwritten:
                self.rest, self.more = b"", 0
            room = LINE_BYTES - len(self.rest)
            self.rest += line[:room]
            self.more += max(0, len(line) - room)
            self.since = now if self.since is None else self.since
            self.returned = False
        self.returned = self.returned or len(written) < len(part)

    def _take(self):
        line = text_of(self.rest, self.more) if self.more else self.rest
        self.rest, self.more, self.returned, self.since = b"", 0, False, None
        return line


Line = collections.namedtuple("Line", "at source text phase")
Batch = collections.namedtuple("Batch", "body first end phase sampled_at complete taken")
# Replaces a line that a firewall on the way refuses.
REFUSED = "This line is missing: something between the machine and the site refused it."


class Log:
    """What the site doesn't have yet. Each line has a number; at most 4 MB wait, and the oldest go first."""

    def __init__(self, clock=time.time):
        self.hurry = threading.Event()
        self.is_over = False
        self.is_ending = False
        self.size = 0
        self._clock = clock
        self._lock = threading.Lock()
        self._streams = {"stdout": Lines(), "stderr": Lines()}
        self._parts = []
        self._masks = {source: Mask() for source in self._streams}
        self._lines = collections.deque()
        self._samples = collections.deque(maxlen=MOST_SAMPLES)
        self._last = collections.deque(maxlen=20)
        self._progress = None
        self._progress_sent = None
        self._phases = 0
        # The number of the first line here, and of the first line that the site doesn't have.
        self._first = 1
        self._wanted = 1

    def hide(self, secrets):
        """From now on, nobody reads these, instead of those before."""
        with self._lock:
            self._parts = parts_of(secrets)
            self._masks = {source: Mask(self._parts) for source in self._streams}

    def hidden(self, text):
        return Mask(self._parts).feed(text.encode(), is_last=True).decode()

    def feed(self, source, data):
        with self._lock:
            self._add(source, self._streams[source].feed(self._masks[source].feed(data), self._clock()))

    def flush(self, everything=False):
        with self._lock:
            for source, stream in self._streams.items():
                if everything:
                    self._add(source, stream.feed(self._masks[source].feed(b"", is_last=True), self._clock()))
                self._add(source, stream.flush(None if everything else self._clock()))

    def say(self, text, phase=None, at=None):
        """A line of the machine's own. A phase is sent at once. The journal has it as well. `at` is now, unless it's given."""
        # A registry may refuse an image with a megabyte of words, and the site takes no batch of that size.
        text = self.hidden(text)
        text = cut(text, len(text.encode()))
        if phase and "why" in phase:
            phase = {**phase, "why": self.hidden(phase["why"])}
        print(text, flush=True)
        with self._lock:
            self._add("machine", [text], phase, at)
            if phase:
                self._progress = None
        if phase:
            self.hurry.set()

    def progress(self, phase):
        self._progress = phase

    def sample(self, sample):
        with self._lock:
            self._samples.append({"at": int(self._clock() * 1000), **sample})

    def last_lines(self):
        with self._lock:
            return [shown(line) for line in self._last]

    def end(self):
        """Nothing follows. What can't be sent in the last seconds goes, and the newest stays."""
        with self._lock:
            self.is_ending = True
            self._drop(MOST_AT_END)
        self.hurry.set()

    def is_urgent(self):
        return self.is_ending or self._phases > 0

    def has_news(self):
        return bool(self._lines or self._samples or self._progress != self._progress_sent)

    def number_from(self, next_number):
        """Before the site answers for the first time, nobody knows what it has of this run."""
        with self._lock:
            self._first += next_number - self._wanted
            self._wanted = next_number

    def batch(self, most, boot):
        """The next lines, up to so many bytes, or to the first phase: the site learns of each with its line."""
        with self._lock:
            first, texts, size, phase = self._first, [], 0, None
            missing = self._first - self._wanted
            if missing:
                # It takes the place of the last missing one.
                first -= 1
                at = self._lines[0].at if self._lines else int(self._clock() * 1000)
                what = "1 line is" if missing == 1 else f"{missing:,} lines are"
                texts.append(encoded(Line(at, "machine", f"{what} missing here: the machine couldn't send them.", None)))
            taken = 0
            for line in self._lines:
                text = encoded(line)
                size += len(text) + 1
                if size > most and taken:
                    break
                texts.append(text)
                taken += 1
                phase = line.phase
                if phase:
                    break
            phase = phase or (None if self._progress == self._progress_sent else self._progress)
            samples = list(self._samples)
            complete = self.is_ending and taken == len(self._lines)
        head = {"boot": boot, "first": first, "dropped": missing, "samples": samples, "complete": complete}
        if phase:
            head["phase"] = phase
        body = json.dumps(head).encode()[:-1] + b', "lines": [' + b",".join(texts) + b"]}"
        return Batch(body, first, first + len(texts), phase, samples[-1]["at"] if samples else 0, complete, taken)

    def acknowledge(self, batch, next_number):
        """@returns whether the site took anything of what it was sent"""
        with self._lock:
            if batch.end > batch.first and next_number <= batch.first:
                return False
            self._wanted = max(self._wanted, min(next_number, batch.end))
            while self._lines and self._first < self._wanted:
                self._forget()
                self._first += 1
            while self._samples and self._samples[0]["at"] <= batch.sampled_at:
                self._samples.popleft()
            if batch.phase and batch.phase == self._progress:
                self._progress_sent = batch.phase
            return True

    def cover(self):
        """
        The next line keeps its number and its phase, and says only that its text is missing.
        @returns whether it said more before
        """
        with self._lock:
            line = self._forget()
            phase = line.phase and {name: line.phase[name] for name in line.phase if name != "why"}
            self._lines.appendleft(Line(line.at, "machine", REFUSED, phase))
            self.size += len(REFUSED) + AROUND_BYTES
            self._phases += phase is not None
            return line.text != REFUSED

    def leave_phases(self):
        with self._lock:
            self._drop(0)

    def _add(self, source, lines, phase=None, at=None):
        if self.is_over or not lines:
            return
        at = at or int(self._clock() * 1000)
        self._lines.extend([Line(at, source, line, phase) for line in lines])
        self.size += sum(map(len, lines)) + AROUND_BYTES * len(lines)
        self._phases += phase is not None
        self._last.extend(lines[-20:])
        self._drop(MOST_BUFFERED)

    def _drop(self, most):
        phases = []
        while self.size > most and self._lines:
            line = self._forget()
            if line.phase and len(phases) < MOST_PHASES:
                phases.append(line)
            else:
                self._first += 1
        # The site needs each of these phases, even without the lines around it.
        self._lines.extendleft(reversed(phases))
        self.size += sum(len(line.text) + AROUND_BYTES for line in phases)
        self._phases += len(phases)

    def _forget(self):
        line = self._lines.popleft()
        self.size -= len(line.text) + AROUND_BYTES
        self._phases -= line.phase is not None
        return line


def shown(line):
    return line if isinstance(line, str) else text_of(line)


def encoded(line):
    text = json.dumps(shown(line.text), ensure_ascii=False)
    return f'{{"at": {line.at}, "source": "{line.source}", "text": {text}}}'.encode()


# A firewall or a proxy on the way may also answer with these. The site's own answers carry a code.
EDGE_REFUSALS = (400, 403, 404, 405, 406, 422)


def is_forbidden(status, answer):
    return status == 403 and answer.get("code") == "forbidden"


class Sender:
    """Sends the log, as often as the site wants it. It keeps trying, less and less often."""

    def __init__(self, log, site, boot, jitter=random.random):
        self.is_over = False
        self._log = log
        self._site = site
        self._boot = boot
        self._jitter = jitter
        self._key = None
        self._is_numbered = False
        # What the site first said, besides the key. A deleted secret is None.
        self.told = None
        self.has_told = threading.Event()
        self._every = 1
        self._fresh_until = 0
        self._posted_at = 0
        self._not_before = 0
        self._failures = 0
        self._most = MOST_BATCH
        # In bytes, while something between here and the site refuses the content of a line.
        self._narrow = MOST_BATCH
        self._covers = False
        self._search_until = None

    def run(self):
        while not self.is_over:
            pause = self.look(time.monotonic())
            self._log.hurry.wait(min(pause, 1))
            self._log.hurry.clear()

    def look(self, now):
        """Sends what is due. @returns in how many seconds something may be"""
        self._log.flush()
        wait = max(self._not_before, self._due_at(now)) - now
        if wait > 0:
            return wait
        try:
            self._send(now)
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
            self._retry_later(now, repr(error))
        if self.is_over:
            self._log.is_over = True
            self.has_told.set()
        return 0

    def _due_at(self, now):
        if not self._is_numbered or self._log.is_urgent() or self._log.size >= min(self._most, self._narrow):
            return now
        pace = 1 if now < self._fresh_until else self._every
        return self._posted_at + (pace if self._log.has_news() else QUIET_SECONDS)

    def _send(self, now):
        if self._key is None:
            status, answer = self._site.ask_key()
            # A run that has ended. At first, the site may not yet know what it launched.
            self.is_over = is_forbidden(status, answer) and self._log.is_ending
            if status != 200:
                return self._retry_later(now, f"the site gave no key: {status}")
            self._key = answer["key"]
            # A later key may come with other secrets, and the container keeps those that it got.
            self.told = self.told or answer
            self.has_told.set()
        most = min(self._most, self._narrow)
        batch = self._log.batch(most, self._boot) if self._is_numbered else self._greeting()
        status, answer = self._site.post_log(self._key, batch.body)
        if status in EDGE_REFUSALS and "code" not in answer:
            return self._find_refused(now, batch, status)
        if status == 401:
            self._key = None
        elif status == 413:
            self._most = max(LEAST_BATCH, self._most // 2)
        elif status in (400, 422):
            # Repeating it wouldn't help, and the lines after it must get through.
            self._log.acknowledge(batch, batch.end)
        self.is_over = is_forbidden(status, answer)
        if status != 200:
            return self._retry_later(now, f"the site answered {status}")
        if not self._is_numbered:
            self._log.number_from(int(answer["next"]))
            self._is_numbered = True
        elif not self._log.acknowledge(batch, int(answer["next"])):
            return self._retry_later(now, "the site took nothing")
        self._every = max(1, min(QUIET_SECONDS, int(answer["every_seconds"])))
        self._failures = 0
        self._narrow = min(MOST_BATCH, 2 * self._narrow)
        self._covers = self._covers and self._narrow < MOST_BATCH
        self._posted_at = now
        self.is_over = batch.complete
        if batch.phase and batch.phase["name"] == "started" and batch.phase["tries"] == 1:
            self._fresh_until = now + FRESH_SECONDS
        # At most 256 KB a second.
        if len(batch.body) > self._most / 2:
            self._not_before = now + 1

    def _find_refused(self, now, batch, status):
        """
        The site didn't answer this, so it says nothing about the run: a firewall may object to a line. We halve the
        batch until we find that line. If its substitute is refused as well, everything is, and we can only wait. How
        the program ended can't wait for the search.
        """
        if self._log.is_ending:
            self._search_until = self._search_until or now + SEARCH_SECONDS
        if batch.taken > 1:
            if self._search_until and now >= self._search_until:
                self._log.leave_phases()
            self._narrow = max(1, min(self._narrow, len(batch.body)) // 2)
            self._not_before = now + (0.1 if self._covers else 1)
            return
        if batch.taken and (self._covers or self._failures >= 3):
            self._covers = True
            if self._log.cover():
                self._not_before = now
                return
        self._retry_later(now, f"something on the way answered {status}")

    def _greeting(self):
        body = {"boot": self._boot, "first": 1, "lines": [], "dropped": 0, "samples": [], "complete": False}
        return Batch(json.dumps(body).encode(), 1, 1, None, 0, False, 0)

    def _retry_later(self, now, why):
        if self._failures == 0:
            print(f"Cannot tell the site: {why}. Trying again.", file=sys.stderr, flush=True)
        pause = 1 if self._log.is_ending else min(MOST_BACK_OFF, 2 ** min(self._failures, 10))
        self._not_before = now + pause * (0.75 + self._jitter() / 2)
        self._failures += 1


class Site:
    """The site's two calls for machines. Its IPv4 address is what the site knows of this machine."""

    def __init__(self, origin, metadata):
        self._origin = urlsplit(origin)
        self._metadata = urlsplit(metadata).netloc
        self._line = None

    def ask_key(self):
        document = self._identity("document")
        signature = self._identity("signature").replace(b"\n", b"").decode()
        proof = {"document": base64.b64encode(document).decode(), "signature": signature}
        return self._post("/machines/key", json.dumps(proof).encode(), {})

    def post_log(self, key, body):
        return self._post("/machines/log", body, {"Authorization": f"Bearer {key}"})

    def _identity(self, name):
        ttl = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
        token = self._ask_metadata("PUT", "/latest/api/token", ttl).decode()
        return self._ask_metadata("GET", f"/latest/dynamic/instance-identity/{name}", {"X-aws-ec2-metadata-token": token})

    def _ask_metadata(self, method, path, headers):
        line = http.client.HTTPConnection(self._metadata, timeout=5)
        line.request(method, path, headers=headers)
        answer = line.getresponse()
        if answer.status != 200:
            raise OSError(f"the metadata service answered {answer.status}")
        return answer.read()

    def _post(self, path, body, headers):
        kind = http.client.HTTPConnection if self._origin.scheme == "http" else http.client.HTTPSConnection
        # An IPv6 socket can't have this source, so it connects over IPv4.
        self._line = self._line or kind(self._origin.netloc, timeout=10, source_address=("0.0.0.0", 0))
        try:
            self._line.request("POST", path, body, {"Content-Type": "application/json", **headers})
            answer = self._line.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self._line.close()
            raise
        try:
            said = json.loads(text)
        except ValueError:
            if answer.status == 200:
                raise
            said = {}
        return answer.status, said if isinstance(said, dict) else {}


class EngineError(Exception):
    """Docker's refusal, in its own words."""

    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


class EngineConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("docker", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Engine:
    """Docker's Engine API."""

    def __init__(self, path):
        self._path = path

    def open(self, method, path, body=None, timeout=60, headers=None):
        """@returns the answer, to be read as it comes; `wait` sets how long for what comes next"""
        line = EngineConnection(self._path, timeout)
        data = None if body is None else json.dumps(body).encode()
        line.request(method, path, data, {"Content-Type": "application/json", "Connection": "close", **(headers or {})})
        wait = line.sock.settimeout
        answer = line.getresponse()
        answer.wait = wait
        if answer.status >= 400:
            text = answer.read()
            try:
                why = json.loads(text)["message"]
            except (ValueError, KeyError, TypeError):
                why = text.decode("utf-8", "replace")
            raise EngineError(answer.status, why)
        return answer

    def call(self, method, path, body=None, timeout=60):
        text = self.open(method, path, body, timeout).read()
        return json.loads(text) if text else None


def frames(answer):
    """What a container prints, as Docker sends it: which stream, and the bytes."""
    while True:
        head = answer.read(8)
        if len(head) < 8:
            return
        left = int.from_bytes(head[4:], "big")
        while left:
            data = answer.read(min(left, 65_536))
            if not data:
                return
            left -= len(data)
            yield ("stderr" if head[0] == 2 else "stdout"), data


MOVES = ("Downloading", "Verifying Checksum", "Download complete", "Extracting", "Pull complete", "Already exists")


class Progress:
    """How far a pull is: each layer is downloaded, and then unpacked. It never goes back."""

    def __init__(self):
        self.percent = 0
        self.bytes = 0
        self.moved_at = time.monotonic()
        self._layers = {}
        self._seen = {}
        self._counts_unpacked = False

    def see(self, event):
        name, status, detail = event.get("id"), event.get("status"), event.get("progressDetail") or {}
        total = detail.get("total") or 0
        share = min(1, detail.get("current", 0) / total) / 2 if total > 0 else 0
        size, done = self._layers.get(name, (0, 0))
        if status == "Downloading" and total > 0:
            self._layers[name] = (total, share)
        elif status == "Extracting":
            self._layers[name] = (max(size, total), 0.5 + share)
            self._counts_unpacked |= total > 0
        elif status in ("Verifying Checksum", "Download complete"):
            self._layers[name] = (size, max(done, 0.5))
        elif status == "Pull complete":
            self._layers[name] = (size, 1)
        elif status == "Pulling fs layer":
            self._layers[name] = (0, 0)
        known = [size for size, _ in self._layers.values() if size]
        # Docker only reveals a layer's size once it arrives.
        usual = sum(known) / len(known) if known else 1
        layers = [(size or usual, done) for size, done in self._layers.values()]
        # Downloaded, and unpacked.
        self.bytes = max(self.bytes, int(sum(2 * size * done for size, done in self._layers.values())))
        # Docker also reports waits, retries, and how long something takes: those move nothing.
        now_seen = (status, None if detail.get("units") == "s" else detail.get("current"))
        if status in MOVES and self._seen.get(name) != now_seen:
            self._seen[name], self.moved_at = now_seen, time.monotonic()
        if layers:
            percent = int(100 * sum(size * done for size, done in layers) / sum(size for size, _ in layers))
            self.percent = max(self.percent, min(99, percent))

    def patience(self):
        """@returns for how many seconds nothing may move"""
        is_here = self._layers and all(done >= 0.5 for _, done in self._layers.values())
        return UNPACKING_SECONDS if is_here and not self._counts_unpacked else SILENT_SECONDS


class GaveUp(Exception):
    """Nothing that the machine can do would help. `why` is for people, and the code, if the site knows one, for the site."""

    def __init__(self, code, why, exit_code=None):
        super().__init__(why)
        self.phase = code and {"name": "failed", "code": code, "exit_code": exit_code, "why": why[:250]}


class Login:
    """What a registry wants to see before it gives an image. Docker gets it with its call, and keeps it nowhere."""

    def __init__(self, host, username, token):
        self.host = host
        # Docker's own name for its registry.
        server = "index.docker.io" if host == "docker.io" else host
        given = {"username": username, "password": token, "serveraddress": server}
        self.headers = {"X-Registry-Auth": base64.urlsafe_b64encode(json.dumps(given).encode()).decode()}
        # As it was typed, and as it is sent.
        self.hidden = (token, base64.b64encode(f"{username}:{token}".encode()).decode())

    def leads_inside(self):
        """Whether the name of its registry stands for an address that isn't on the internet."""
        found = socket.getaddrinfo(urlsplit(f"//{self.host}").hostname, None, type=socket.SOCK_STREAM)
        return not all(is_public(ipaddress.ip_address(address[0].partition("%")[0])) for *_, address in found)


def is_public(address):
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_global and not address.is_multicast


# What Docker reports, in this order, and what the site calls it.
REFUSALS = (
    ("no space left", "no_space"),
    ("toomanyrequests", "image_rate_limited"),
    ("too many requests", "image_rate_limited"),
    ("http 429", "image_rate_limited"),
    ("rate limit", "image_rate_limited"),
    ("executable file not found", "bad_image"),
    ("no such file or directory", "bad_image"),
    ("exec format error", "bad_image"),
    ("no command specified", "bad_image"),
    ("no matching manifest", "bad_image"),
    ("cannot be used on this platform", "bad_image"),
    ("unsupported media type", "bad_image"),
    ("no matching entries in", "bad_image"),
    ("permission denied", "bad_image"),
    ("denied", "image_denied"),
    ("unauthorized", "image_denied"),
    ("authentication required", "image_denied"),
    ("no basic auth credentials", "image_denied"),
    ("not found", "image_not_found"),
    ("manifest unknown", "image_not_found"),
)


# What registries say about an expired login. Certificates expire as well.
ENDED = re.compile(r"(?<!certificate )\b(?:is|has|have) expired|\bexpired token|\btoken expired")
# What they say about a wrong login, but not about one that may not read this image.
WRONG = re.compile(
    r"\bunauthorized\b|authentication required|incorrect username or password|cannot be authenticated|http basic: access denied"
)


def code_of(why):
    return next((code for words, code in REFUSALS if words in why.lower()), None)


def pull_code_of(why, login):
    code = code_of(why)
    if not login or code not in (None, "image_denied"):
        return code
    if ENDED.search(why.lower()):
        return "image_login_expired"
    return "image_login_refused" if WRONG.search(why.lower()) else code


def container_of(words):
    """What `docker run` would make of these words, for Docker's API."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("publish", "cap-drop", "security-opt", "dns", "volume", "env"):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--gpus", choices=["all"])
    parser.add_argument("image")
    given = parser.parse_args(words)
    ports = [port.split(":") for port in given.publish]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "Image": given.image,
        "Env": given.env,
        "ExposedPorts": {f"{inside}/tcp": {} for _, inside in ports},
        "HostConfig": {
            "PortBindings": {f"{inside}/tcp": [{"HostPort": outside}] for outside, inside in ports},
            "Binds": given.volume,
            "CapDrop": given.cap_drop,
            "SecurityOpt": given.security_opt,
            "Dns": given.dns,
            "DeviceRequests": [{"Count": -1, "Capabilities": [["gpu"]]}] if given.gpus else [],
            "ShmSize": max(2**30, memory // 4),
            # Nobody reads Docker's copy, and writing it slows down a program that prints a lot.
            "LogConfig": {"Type": "none"},
        },
    }


def exit_sentence(code, is_oom):
    words = "out of memory" if is_oom else signal.strsignal(code - 128).lower() if 128 < code < 160 else ""
    return f"The program exited with code {code}{words and ': ' + words}."


def moment(text):
    """A time of Docker's, in ms; None if it hasn't come."""
    found = re.fullmatch(r"([1-9].{18})\.?(\d*)Z", text or "")
    return found and calendar.timegm(time.strptime(found[1], "%Y-%m-%dT%H:%M:%S")) * 1000 + int(found[2].ljust(3, "0")[:3])


class Program:
    """The container, from its image to its last exit."""

    def __init__(self, engine, log, container, told=dict):
        self.is_stopping = threading.Event()
        self.is_running = False
        self.has_answered = False
        self.has_ended = False
        self._engine = engine
        self._log = log
        self._container = container
        # Waits until the site has told us.
        self._told = told
        self._ends = False

    def run(self):
        """@raises GaveUp"""
        self._get_image()
        if self._ends:
            return self._run_to_its_end()
        in_background(self._watch_for_answer)
        for tries in itertools.count(1):
            self.is_running = True
            code, is_oom = self._run_once(tries)
            self.is_running = False
            if self.is_stopping.is_set():
                return self._log.say(exit_sentence(code, is_oom))
            answered = self.has_answered
            exit_of = {"exit_code": code, "oom": is_oom, "tries": tries, "answered": answered}
            self._log.say(exit_sentence(code, is_oom), {"name": "exited", **exit_of})
            if not answered and tries > len(PAUSES):
                why = f"The program exited {tries} times before it answered on port 5173."
                raise GaveUp("out_of_memory" if is_oom else "exited", why, code)
            if self.is_stopping.wait(LATER_PAUSE if answered else PAUSES[tries - 1]):
                return None
            self._load_files()

    def _run_to_its_end(self):
        """Once: what a program has done can't be done again, not even after this agent or the machine began anew."""
        self.is_running = True
        code, is_oom = self._run_once(1)
        self.is_running = False
        if self.is_stopping.is_set():
            return self._log.say(exit_sentence(code, is_oom))
        self.has_ended = True
        exit_of = {"exit_code": code, "oom": is_oom, "tries": 1, "answered": False}
        # Nobody pays for the time that this agent took to notice.
        return self._log.say(exit_sentence(code, is_oom), {"name": "exited", **exit_of}, self._moment("FinishedAt"))

    def _get_image(self):
        image = self._container["Image"]
        path = f"/images/{quote(image)}/json"
        try:
            found = self._engine.call("GET", path)
            self._log.say(f"The machine has {image}", {"name": "pulled"})
        except EngineError as error:
            if error.status != 404:
                raise
            self._pull_patiently(image, self._login())
            found = self._engine.call("GET", path)
        # The program runs without it, and without its traces here.
        self._told().pop("registry", None)
        # From version 29 on, Docker leaves out empty fields.
        self._tell((found.get("Config") or {}).get("Env") or [])

    def _login(self):
        given = self._told().get("registry")
        if not given:
            return None
        login = Login(**given)
        self._log.hide(login.hidden)
        return login

    def _tell(self, env):
        """Gives the container what the site says. `env` is its image's."""
        told = self._told()
        self._ends = told.get("until") == "exit"
        secrets = self._secrets(told.get("secrets", {}))
        self._log.hide(secrets.values())
        variables = [f"{name}={value}" for name, value in {**told.get("parameters", {}), **secrets}.items()]
        self._container["Env"] = [*self._container["Env"], *variables]
        # Otherwise, Python holds back a program's lines until it has many.
        if not any(one.startswith("PYTHONUNBUFFERED=") for one in [*env, *variables]):
            self._container["Env"].append("PYTHONUNBUFFERED=1")
        if told.get("command"):
            self._container["Cmd"] = told["command"]
        if not told.get("publish", True):
            self._container["ExposedPorts"] = self._container["HostConfig"]["PortBindings"] = {}

    def _secrets(self, secrets):
        """Those that the container gets. One that began before this agent keeps its own."""
        found = self._find() if self._ends else None
        if found:
            env = dict(one.partition("=")[::2] for one in found["Config"]["Env"])
            return {name: env.get(name, "") for name in secrets}
        gone = [name for name, value in secrets.items() if value is None]
        if gone:
            raise GaveUp("secret_missing", f"The secret {gone[0]} is gone, so the program didn't start.")
        return secrets

    def _pull_patiently(self, image, login):
        how = f" with your login for {login.host}" if login else ""
        self._log.say(f"Pulling {image}{how}", {"name": "pulling", "percent": 0, "bytes": 0})
        for pause in PULL_PAUSES:
            try:
                self._pull(image, login)
                return self._log.say(f"Pulled {image}", {"name": "pulled"})
            except (EngineError, OSError) as error:
                why = str(error)
                code = "image_stuck" if isinstance(error, socket.timeout) else pull_code_of(why, login)
                # A registry may fail for a moment.
                if pause is None or code not in (None, "image_rate_limited"):
                    raise GaveUp(code or "image_not_found", f"Cannot pull {image}: {why}") from error
                self._log.say(f"Cannot pull {image}: {why}. Trying again in {pause} s.")
                self.is_stopping.wait(pause)

    def _pull(self, image, login):
        if login and login.leads_inside():
            raise GaveUp("image_host_private", f"Cannot pull {image}: {login.host} leads to a private address.")
        # Without a tag, Docker would pull all of them.
        named = image if "@" in image or ":" in image.rpartition("/")[2] else f"{image}:latest"
        path = f"/images/create?{urlencode({'fromImage': named})}"
        progress = Progress()
        try:
            answer = self._engine.open("POST", path, timeout=SILENT_SECONDS, headers=login and login.headers)
            for line in answer:
                event = json.loads(line)
                if "error" in event:
                    raise EngineError(500, event["error"])
                progress.see(event)
                if time.monotonic() - progress.moved_at > progress.patience():
                    raise socket.timeout
                answer.wait(progress.patience())
                self._log.progress({"name": "pulling", "percent": progress.percent, "bytes": progress.bytes})
        except socket.timeout as error:
            raise socket.timeout(f"nothing moved for {progress.patience()} s") from error

    def _run_once(self, tries):
        """@returns its exit code, and whether it had too little memory"""
        try:
            if self._ends and self._find():
                printed = self._attach()
            else:
                self._remove()
                self._engine.call("POST", "/containers/create?name=simulator", self._container)
                # Docker's own log only gets a line once it ends.
                printed = self._attach()
                self._engine.call("POST", "/containers/simulator/start")
        except EngineError as error:
            if self._ends or code_of(str(error)) in ("bad_image", "no_space"):
                raise GaveUp(code_of(str(error)) or "bad_image", f"Cannot start the program: {error}") from error
            self._log.say(f"Cannot start the program: {error}")
            # Like `docker run`.
            return 125, False
        again = f"Started the program again ({tries} of {len(PAUSES) + 1})"
        text = "Started the program" if tries == 1 else "Started the program again" if self.has_answered else again
        self._log.say(text, {"name": "started", "tries": tries}, self._moment("StartedAt") if self._ends else None)
        reader = in_background(self._read, printed)
        self._engine.call("POST", "/containers/simulator/wait", timeout=None)
        reader.join(LAST_SECONDS)
        self._log.flush(everything=True)
        state = self._find()["State"]
        return state["ExitCode"], state["OOMKilled"]

    def _find(self):
        """@returns what Docker says of a container that has started; None without one"""
        try:
            found = self._engine.call("GET", "/containers/simulator/json")
        except EngineError as error:
            if error.status != 404:
                raise
            return None
        return None if found["State"]["Status"] == "created" else found

    def _moment(self, name):
        found = self._find()
        return moment(found["State"].get(name)) if found else None

    def _attach(self):
        return self._engine.open("POST", "/containers/simulator/attach?stream=1&stdout=1&stderr=1", timeout=None)

    def _remove(self):
        try:
            self._engine.call("DELETE", "/containers/simulator?force=1&v=1")
        except EngineError as error:
            if error.status != 404:
                raise

    def _read(self, printed):
        for source, data in frames(printed):
            self._log.feed(source, data)

    def _watch_for_answer(self):
        port = urlsplit(os.environ.get("ANSWER_URL", "http://127.0.0.1:5173")).netloc
        while not self.has_answered:
            time.sleep(1)
            with contextlib.suppress(OSError, http.client.HTTPException):
                line = http.client.HTTPConnection(port, timeout=2)
                line.request("GET", "/")
                line.getresponse().close()
                self.has_answered = True

    def _load_files(self):
        """A container keeps the mount that it began with, and rclone may have crashed."""
        if not self._container["HostConfig"]["Binds"]:
            return
        files = os.environ.get("FILES", "/usr/local/sbin/files")
        loaded = subprocess.run([files, "load"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if loaded.returncode:
            # files.sh has told the site.
            raise GaveUp(None, f"Cannot load the files: {loaded.stdout[-200:].decode('utf-8', 'replace')}")


class Sampler:
    """How busy the machine is; None where nothing is known."""

    def __init__(self, engine, root=""):
        self._engine = engine
        self._root = root
        self._cpu = (0, 0)

    def sample(self):
        # The disk that a program can fill. It may be the machine's own.
        disk = os.statvfs("/var/lib/docker" if os.path.isdir("/var/lib/docker") else "/")
        return {
            **self._gpu(),
            **self._container(),
            "host_sent_bytes": self._sent(),
            "disk_bytes": (disk.f_blocks - disk.f_bfree) * disk.f_frsize,
            "disk_total_bytes": disk.f_blocks * disk.f_frsize,
        }

    def _gpu(self):
        query = ["nvidia-smi", "--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader,nounits"]
        try:
            text = subprocess.run(query, capture_output=True, timeout=5, check=True).stdout.decode()
            gpus = [[int(value) for value in line.split(",")] for line in text.splitlines()]
            percent, megabytes = (sum(values) for values in zip(*gpus))
        except (OSError, ValueError, subprocess.SubprocessError):
            return {"gpu_percent": None, "gpu_memory_bytes": None}
        return {"gpu_percent": round(percent / len(gpus)), "gpu_memory_bytes": megabytes * 2**20}

    def _sent(self):
        """All that left the machine. What rclone uploads from /data never passes the container's own interface."""
        try:
            with open(f"{self._root}/proc/net/route") as file:
                [name, *_] = [words[0] for words in map(str.split, file) if words[1] == words[7] == "00000000"]
            with open(f"{self._root}/sys/class/net/{name}/statistics/tx_bytes") as file:
                return int(file.read())
        except (OSError, IndexError, ValueError):
            return None

    def _container(self):
        names = ("cpu_percent", "memory_bytes", "sent_bytes", "received_bytes")
        try:
            stats = self._engine.call("GET", "/containers/simulator/stats?stream=0&one-shot=1", timeout=5)
            memory, networks = stats["memory_stats"], (stats.get("networks") or {}).values()
            # Like `docker stats`: without what the kernel would give back.
            cache = memory["stats"].get("inactive_file", memory["stats"].get("total_inactive_file", 0))
            cpu = (stats["cpu_stats"]["cpu_usage"]["total_usage"], stats["cpu_stats"]["system_cpu_usage"])
            used, passed = (now - before for now, before in zip(cpu, self._cpu))
            is_first, self._cpu = self._cpu == (0, 0) or used < 0, cpu
            percent = None if is_first or passed <= 0 else round(100 * used / passed)
            sent, received = (sum(one[name] for one in networks) for name in ("tx_bytes", "rx_bytes"))
            return dict(zip(names, (percent, memory["usage"] - cache, sent, received)))
        except (EngineError, OSError, http.client.HTTPException, KeyError, ValueError):
            return dict.fromkeys(names)


def sample_forever(log, sampler):
    while True:
        time.sleep(SAMPLE_SECONDS)
        log.sample(sampler.sample())


def in_background(work, *given):
    thread = threading.Thread(target=work, args=given, daemon=True)
    thread.start()
    return thread


def console(text):
    """EC2 shows this as the instance's system log."""
    printable = "".join(c if " " <= c <= "~" else " " for c in text)
    with open(os.environ.get("CONSOLE", "/dev/console"), "a") as file:
        file.write(f"simulator: {printable}\n")


def main(words):
    log = Log()
    site = Site(os.environ["SITE"], os.environ.get("METADATA_URL", "http://169.254.169.254"))
    engine = Engine(os.environ.get("ENGINE", "/var/run/docker.sock"))
    with open("/proc/sys/kernel/random/boot_id") as file:
        sender = Sender(log, site, file.read().strip())
    sending = in_background(sender.run)

    def told():
        # A run that needs nothing from the site starts even if the site doesn't answer.
        if not os.environ.get("NEEDS_AGENT"):
            return {}
        sender.has_told.wait()
        if sender.told is None:
            raise GaveUp(None, "The site didn't say what to tell the container.")
        return sender.told

    program = Program(engine, log, container_of(words), told)
    in_background(sample_forever, log, Sampler(engine))
    ended, end = os.pipe()
    # One of Python's own handlers might wait for the end of the read below.
    os.set_blocking(end, False)
    signal.set_wakeup_fd(end)
    signal.signal(signal.SIGTERM, lambda *_: None)
    failures = []

    def live():
        try:
            program.run()
        except Exception as failure:
            failures.append(failure)
        os.write(end, b"e")

    living = in_background(live)
    if os.read(ended, 1) == bytes([signal.SIGTERM]):
        log.say("Stopping")
        program.is_stopping.set()
        # systemd stops the container, and finally kills us.
        living.join(60 if program.is_running else 0)
        failures.clear()
    failure = failures[0] if failures else None
    if failure and not isinstance(failure, GaveUp):
        # The next start runs without us, so the log isn't complete.
        traceback.print_exception(type(failure), failure, failure.__traceback__)
        return 1
    if failure:
        log.say(str(failure), failure.phase)
    log.end()
    # The site ends the machine once it knows.
    sending.join(MOST_LAST_SECONDS if program.has_ended else LAST_SECONDS)
    if program.has_ended:
        subprocess.run(["systemctl", "poweroff"], check=False)
    if not failure:
        return 0
    # systemd shows the journal's last lines as well.
    print(*log.last_lines(), sep="\n", flush=True)
    console(log.hidden(str(failure)))
    subprocess.run(["systemctl", "poweroff"], check=False)
    return 1


if __name__ == "__main__":
    # This last line tells simulator.sh that the download is complete.
    sys.exit(main(sys.argv[1:]))
