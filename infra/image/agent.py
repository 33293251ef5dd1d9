"""Tells the site what happens inside a run. It needs only Python 3.9, listens nowhere, and writes no file."""

import base64
import collections
import http.client
import itertools
import json
import random
import sys
import threading
import time
from urllib.parse import urlsplit

# A line's, in UTF-8.
LINE_BYTES = 8_192
UNFINISHED_SECONDS = 2
# Of what the site doesn't have yet, and of what is sent in the last seconds.
MOST_BUFFERED = 4_000_000
MOST_AT_END = 1_000_000
# Of a line's JSON without its text.
AROUND_BYTES = 60
# A batch may have 256 KiB, with its samples.
MOST_BATCH = 240_000
LEAST_BATCH = 16_000
MOST_SAMPLES = 60
MOST_PHASES = 20
QUIET_SECONDS = 30
# After its start, people wait for each line.
FRESH_SECONDS = 120
MOST_BACK_OFF = 60
LAST_SECONDS = 5


def text_of(raw, more=0):
    """A line as people read it. `more` bytes of it weren't kept."""
    # What a carriage return wrote over is gone; one at the end belongs to the line's end.
    raw = raw.rstrip(b"\r").rpartition(b"\r")[2]
    text = raw.decode("utf-8", "replace")
    data = text.encode()
    if len(data) <= LINE_BYTES and not more:
        return text
    kept = data[:LINE_BYTES].decode("utf-8", "ignore")
    whole = len(raw) + more if more else len(data)
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
        # An end that comes after its line was sent unfinished is no empty line.
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
            # A few more than a line's, so that a character is whole where it is cut.
            room = LINE_BYTES + 8 - len(self.rest)
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
Batch = collections.namedtuple("Batch", "body first end phase sampled_at complete")


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
        self._lines = collections.deque()
        self._samples = collections.deque(maxlen=MOST_SAMPLES)
        self._progress = None
        self._progress_sent = None
        self._phases = 0
        # The number of the first line here, and the first number that the site doesn't have.
        self._first = 1
        self._wanted = 1

    def feed(self, source, data):
        with self._lock:
            self._add(source, self._streams[source].feed(data, self._clock()))

    def flush(self, everything=False):
        with self._lock:
            for source, stream in self._streams.items():
                self._add(source, stream.flush(None if everything else self._clock()))

    def say(self, text, phase=None):
        """A line of the machine's own. A phase is sent at once. The journal has it as well."""
        print(text, flush=True)
        with self._lock:
            self._add("machine", [text], phase)
            if phase:
                self._progress = None
        if phase:
            self.hurry.set()

    def progress(self, phase):
        self._progress = phase

    def sample(self, sample):
        with self._lock:
            self._samples.append({"at": int(self._clock() * 1000), **sample})

    def last_lines(self, count):
        with self._lock:
            return [shown(line.text) for line in itertools.islice(reversed(self._lines), count)][::-1]

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
                # It stands in place of the last of them.
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
        return Batch(body, first, first + len(texts), phase, samples[-1]["at"] if samples else 0, complete)

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

    def _add(self, source, lines, phase=None):
        if self.is_over or not lines:
            return
        at = int(self._clock() * 1000)
        self._lines.extend([Line(at, source, line, phase) for line in lines])
        self.size += sum(map(len, lines)) + AROUND_BYTES * len(lines)
        self._phases += phase is not None
        self._drop(MOST_BUFFERED)

    def _drop(self, most):
        phases = []
        while self.size > most and self._lines:
            line = self._forget()
            if line.phase and len(phases) < MOST_PHASES:
                phases.append(line)
            else:
                self._first += 1
        # The site needs each of them, even without the lines around it.
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
        self._every = 1
        self._fresh_until = 0
        self._posted_at = 0
        self._not_before = 0
        self._failures = 0
        self._most = MOST_BATCH

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
        return 0

    def _due_at(self, now):
        if not self._is_numbered or self._log.is_urgent() or self._log.size >= self._most:
            return now
        pace = 1 if now < self._fresh_until else self._every
        return self._posted_at + (pace if self._log.has_news() else QUIET_SECONDS)

    def _send(self, now):
        if self._key is None:
            status, answer = self._site.ask_key()
            # A site that knows no machine's words, or a run that has ended. At first, it may not know yet what it launched.
            self.is_over = status == 404 or (status == 403 and self._log.is_ending)
            if status != 200:
                return self._retry_later(now, f"the site gave no key: {status}")
            self._key = answer["key"]
        batch = self._log.batch(self._most, self._boot) if self._is_numbered else self._greeting()
        status, answer = self._site.post_log(self._key, batch.body)
        if status == 401:
            self._key = None
        elif status == 413:
            self._most = max(LEAST_BATCH, self._most // 2)
        self.is_over = status in (403, 404)
        if status != 200:
            return self._retry_later(now, f"the site answered {status}")
        if not self._is_numbered:
            self._log.number_from(int(answer["next"]))
            self._is_numbered = True
        elif not self._log.acknowledge(batch, int(answer["next"])):
            return self._retry_later(now, "the site took nothing")
        self._every = max(1, min(QUIET_SECONDS, int(answer["every_seconds"])))
        self._failures = 0
        self._posted_at = now
        self.is_over = batch.complete
        if batch.phase and batch.phase["name"] == "started" and batch.phase["tries"] == 1:
            self._fresh_until = now + FRESH_SECONDS
        # At most 256 KB a second.
        if len(batch.body) > self._most / 2:
            self._not_before = now + 1

    def _greeting(self):
        body = {"boot": self._boot, "first": 1, "lines": [], "dropped": 0, "samples": [], "complete": False}
        return Batch(json.dumps(body).encode(), 1, 1, None, 0, False)

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
        return answer.status, json.loads(text) if answer.status == 200 else {}


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
