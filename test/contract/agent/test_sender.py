"""When the agent tells the site, and what it does about each answer."""

import json
import unittest

from program import Clock, Quiet, agent


class Edge(int):
    """A status that something between the machine and the site answers. The site's own comes with a code."""


def refused(status):
    return int(status), {} if isinstance(status, Edge) else {"code": "forbidden" if status == 403 else "other"}


class Site:
    """Keeps each line once, as the real one."""

    def __init__(self, next_number=1):
        self.next = next_number
        self.every = 30
        self.batches = []
        self.keys = 0
        self.key_statuses = []
        self.log_statuses = []
        # What a firewall in front of it lets nobody say.
        self.barred = b"nothing"

    def ask_key(self):
        status = self.key_statuses.pop(0) if self.key_statuses else 200
        if status != 200:
            return refused(status)
        self.keys += 1
        return 200, {"key": f"key-{self.keys}"}

    def post_log(self, key, body):
        status = self.log_statuses.pop(0) if self.log_statuses else 200
        if isinstance(status, Exception):
            raise status
        if self.barred in body:
            status = Edge(403)
        if status != 200:
            return refused(status)
        batch = json.loads(body)
        self.batches.append((key, batch))
        if batch["lines"]:
            self.next = max(self.next, batch["first"] + len(batch["lines"]))
        return 200, {"next": self.next, "every_seconds": self.every}


class Sending(Quiet):
    def setUp(self):
        super().setUp()
        self.clock = Clock()
        self.site = Site()
        self.log = agent.Log(self.clock)
        self.sender = agent.Sender(self.log, self.site, "boot", jitter=lambda: 0.5)

    def look(self):
        """Looks until there is nothing more to do now."""
        while (wait := self.sender.look(self.clock.now)) == 0 and not self.sender.is_over:
            pass
        return wait

    def pass_seconds(self, seconds):
        for _ in range(seconds):
            self.clock.now += 1
            self.look()

    def sent(self):
        return [line["text"] for _, batch in self.site.batches for line in batch["lines"]]

    def test_first_asks_what_the_site_has(self):
        self.site.next = 5
        self.log.feed("stdout", b"one\n")
        self.look()
        first, *_ = [batch for _, batch in self.site.batches]
        self.assertEqual((first["first"], first["lines"]), (1, []))
        self.pass_seconds(1)
        self.pass_seconds(30)
        self.assertEqual(self.site.batches[1][1]["first"], 5)
        self.assertEqual(self.site.keys, 1)

    def test_sends_every_30_seconds_and_every_second_while_somebody_reads(self):
        self.look()
        for every, expected in ((30, 4), (1, 120)):
            self.site.every = every
            # The first answer that says so.
            self.log.feed("stdout", b"tick\n")
            self.pass_seconds(30)
            before = len(self.site.batches)
            for _ in range(120):
                self.log.feed("stdout", b"tick\n")
                self.pass_seconds(1)
            self.assertEqual(len(self.site.batches) - before, expected)

    def test_asks_every_30_seconds_whether_somebody_reads(self):
        self.site.every = 1
        self.look()
        before = len(self.site.batches)
        self.pass_seconds(120)
        self.assertEqual(len(self.site.batches) - before, 4)

    def test_sends_every_second_for_two_minutes_after_the_first_start(self):
        self.look()
        self.log.say("Started the program", {"name": "started", "tries": 1})
        self.look()
        before = len(self.site.batches)
        for _ in range(240):
            self.log.feed("stdout", b"tick\n")
            self.pass_seconds(1)
        self.assertEqual(len(self.site.batches) - before, 120 + 4 - 1)

    def test_sends_a_phase_at_once(self):
        self.look()
        self.log.feed("stdout", b"one\n")
        self.assertGreater(self.look(), 20)
        self.log.say("The program exited with code 3.", {"name": "exited"})
        self.look()
        self.assertEqual(self.sent(), ["one", "The program exited with code 3."])

    def test_sends_at_most_256_kb_a_second_and_then_everything_without_a_pause(self):
        self.look()
        self.log.feed("stdout", b"".join(b"line %06d\n" % n for n in range(30_000)))
        for second in range(20):
            before = len(self.site.batches)
            self.pass_seconds(1)
            self.assertLessEqual(len(self.site.batches) - before, 1)
            if not self.log.size:
                break
        self.pass_seconds(30)
        self.assertEqual(len(self.sent()), 30_000)
        self.assertLess(second, 20)

    def test_gets_a_new_key_for_one_that_ended(self):
        self.look()
        self.log.feed("stdout", b"one\n")
        self.site.log_statuses = [401]
        self.pass_seconds(32)
        self.assertEqual((self.sent(), self.site.keys), (["one"], 2))
        self.assertEqual(self.site.batches[-1][0], "key-2")

    def test_halves_a_batch_that_is_too_large(self):
        self.look()
        self.log.feed("stdout", b"x" * 100 + b"\n" + b"\n".join([b"y" * 100] * 3000) + b"\n")
        self.site.log_statuses = [413, 413]
        self.pass_seconds(60)
        largest = max(len(json.dumps(batch)) for _, batch in self.site.batches)
        self.assertLess(largest, agent.MOST_BATCH / 4 + 1000)
        self.assertEqual(len(self.sent()), 3001)
        # However often it says so, a batch holds more than a line.
        self.site.log_statuses = [413] * 20
        self.log.feed("stdout", b"one\n" * 100)
        self.pass_seconds(3600)
        self.assertEqual([len(batch["lines"]) for _, batch in self.site.batches if batch["lines"]][-1], 100)

    def test_backs_off_from_1_to_20_seconds_while_the_site_is_in_trouble(self):
        self.look()
        self.log.say("Exited", {"name": "exited"})
        self.site.log_statuses = [503, OSError("unreachable"), 500, ValueError("no JSON"), 429, 504, 502, 502]
        waits = [self.look()]
        while self.site.log_statuses:
            self.clock.now += waits[-1]
            waits.append(self.look())
        self.assertEqual([round(wait) for wait in waits], [1, 2, 4, 8, 16, 20, 20, 20])
        self.clock.now += 60
        self.look()
        self.assertEqual(self.sent(), ["Exited"])
        # Each trouble is said once.
        self.assertEqual(self.journal.getvalue().count("Cannot tell the site"), 1)

    def test_goes_on_after_a_batch_that_the_site_never_takes(self):
        self.look()
        self.log.say("Exited", {"name": "exited", "exit_code": "unheard of"})
        self.log.feed("stdout", b"one\n")
        self.site.log_statuses = [400]
        self.pass_seconds(40)
        self.assertEqual(self.sent(), ["one"])

    def test_no_two_machines_come_back_at_once(self):
        self.site.log_statuses = [503]
        self.sender._jitter = lambda: 0
        early = self.look()
        self.sender._jitter = lambda: 1
        self.site.log_statuses = [503]
        self.clock.now += 1
        late = self.look()
        self.assertEqual((round(early, 2), round(late, 2)), (0.75, 2.5))

    def test_waits_until_the_site_knows_what_it_launched(self):
        self.site.key_statuses = [403, 403]
        self.look()
        self.assertFalse(self.sender.is_over)
        self.pass_seconds(5)
        self.assertEqual(len(self.site.batches), 1)

    def test_stays_silent_where_nobody_listens(self):
        self.site.log_statuses = [403]
        self.look()
        self.log.feed("stdout", b"one\n")
        self.assertEqual((self.sender.is_over, self.log.size), (True, 0))

    def test_only_the_site_says_that_a_run_is_over(self):
        self.site.key_statuses = [Edge(403), Edge(404), 404]
        self.site.log_statuses = [Edge(404), 404, Edge(403), Edge(400)]
        self.log.feed("stdout", b"one\n")
        self.pass_seconds(120)
        self.assertEqual(self.sent(), ["one"])

    def test_leaves_out_the_lines_that_a_firewall_refuses_and_says_the_others(self):
        self.look()
        self.site.barred = b"${jndi:"
        lines = [b"line %03d" % n for n in range(500)]
        for n in (7, 8, 400):
            lines[n] = b"GET /${jndi:ldap://x/y}"
        self.log.feed("stdout", b"\n".join(lines) + b"\n")
        why = "no ${jndi:x}"
        self.log.say(f"Failed: {why}", {"name": "failed", "code": "bad_image", "exit_code": None, "why": why})
        self.pass_seconds(150)
        expected = [agent.REFUSED if self.site.barred in line else line.decode() for line in lines]
        self.assertEqual(self.sent(), [*expected, agent.REFUSED])
        phases = [batch["phase"] for _, batch in self.site.batches if "phase" in batch]
        self.assertEqual(phases, [{"name": "failed", "code": "bad_image", "exit_code": None}])

    def test_says_its_end_within_a_minute_whatever_lines_a_firewall_refuses(self):
        self.look()
        self.site.barred = b"../../etc/passwd"
        for n in range(2_000):
            self.log.feed("stdout", b"open ../../etc/passwd %d\n" % n if n % 2 else b"line %d\n" % n)
        self.log.say("The program exited with code 3.", {"name": "exited", "exit_code": 3})
        self.log.end()
        self.pass_seconds(60)
        [end] = [batch for _, batch in self.site.batches if "phase" in batch]
        self.assertEqual((end["phase"]["exit_code"], end["complete"]), (3, True))
        self.assertIn("line 0", self.sent())

    def test_loses_one_line_at_most_to_what_refuses_everything(self, is_ending=False):
        self.look()
        self.log.feed("stdout", b"".join(b"line %03d\n" % n for n in range(100)))
        if is_ending:
            self.log.end()
        self.site.barred = b"boot"
        self.pass_seconds(600)
        self.site.barred = b"nothing"
        self.pass_seconds(120)
        self.assertEqual(self.sent(), [agent.REFUSED, *[f"line {n:03}" for n in range(1, 100)]])

    def test_loses_one_line_at_most_at_its_end(self):
        self.test_loses_one_line_at_most_to_what_refuses_everything(is_ending=True)

    def test_tries_three_times_before_it_leaves_out_a_line_of_another_time(self):
        self.look()
        self.site.barred = b"${jndi:"
        self.log.feed("stdout", b"GET /${jndi:x}\n")
        self.pass_seconds(60)
        for _ in range(20):
            self.log.feed("stdout", b"fine\n")
            self.pass_seconds(30)
        self.log.feed("stdout", b"a line\n")
        self.site.log_statuses = [Edge(403)] * 3
        self.pass_seconds(60)
        self.assertEqual(self.sent(), [agent.REFUSED, *["fine"] * 20, "a line"])

    def test_sends_what_is_left_when_it_ends(self):
        self.look()
        self.log.feed("stdout", b"".join(b"line %06d %s\n" % (n, b"x" * 80) for n in range(20_000)))
        self.log.end()
        self.site.log_statuses = [503, 503]
        started = self.clock.now
        while not self.sender.is_over:
            self.clock.now += max(self.look(), 0.01)
        # A second for each failure, and one for each batch.
        self.assertLess(self.clock.now - started, 2 + agent.LAST_SECONDS)
        self.assertTrue(self.site.batches[-1][1]["complete"])
        self.assertIn("line 019999", self.sent()[-1])

    def test_does_not_hurry_when_the_site_takes_nothing(self):
        self.look()
        self.log.say("Exited", {"name": "exited"})
        self.site.post_log = lambda key, body: (200, {"next": 1, "every_seconds": 1})
        self.assertEqual([round(self.look()), self.log.size > 0], [1, True])


if __name__ == "__main__":
    unittest.main()
