"""What waits for the site: its numbers, its limits, and what goes."""

import json
import unittest

from program import Clock, Quiet, agent

ALL = 10_000_000


def new_log():
    return agent.Log(Clock())


def read(batch):
    said = json.loads(batch.body)
    return said, [(said["first"] + i, line["source"], line["text"]) for i, line in enumerate(said["lines"])]


class Batches(Quiet):
    def test_numbers_the_lines_of_both_streams_and_the_machine_in_order(self):
        log = new_log()
        log.say("Pulling")
        log.feed("stdout", b"one\ntwo\n")
        log.feed("stderr", b"three\n")
        said, lines = read(log.batch(ALL, "boot"))
        self.assertEqual(
            lines,
            [(1, "machine", "Pulling"), (2, "stdout", "one"), (3, "stdout", "two"), (4, "stderr", "three")],
        )
        self.assertEqual(said["lines"][0]["at"], 1_800_000_000_000)
        self.assertEqual(
            {**said, "lines": []},
            {"boot": "boot", "first": 1, "lines": [], "dropped": 0, "samples": [], "complete": False},
        )

    def test_goes_on_from_the_number_that_the_site_wants(self):
        log = new_log()
        log.feed("stdout", b"one\ntwo\nthree\n")
        log.number_from(8)
        self.assertEqual([n for n, _, _ in read(log.batch(ALL, ""))[1]], [8, 9, 10])

    def test_sends_again_what_the_site_does_not_have(self):
        log = new_log()
        log.feed("stdout", b"one\ntwo\nthree\n")
        batch = log.batch(ALL, "")
        # Its answer was lost.
        self.assertEqual(log.batch(ALL, "").body, batch.body)
        self.assertTrue(log.acknowledge(batch, 3))
        self.assertEqual(read(log.batch(ALL, ""))[1], [(3, "stdout", "three")])
        self.assertFalse(log.acknowledge(log.batch(ALL, ""), 3))
        self.assertTrue(log.acknowledge(log.batch(ALL, ""), 4))
        self.assertEqual(read(log.batch(ALL, ""))[1], [])
        self.assertEqual(log.size, 0)

    def test_stays_under_256_kib_whatever_is_printed(self):
        for text in (b"\n", b"x" * 60 + b"\n", b"\x1b" * 9000 + b"\n", b"\xff" * 9000 + b"\n", b'"\\' * 4000 + b"\n"):
            log = new_log()
            for _ in range(60):
                log.sample({"cpu_percent": 100, "memory_bytes": 2**40, "disk_bytes": 2**40, "sent_bytes": 2**50})
            log.feed("stdout", text * (300_000 // len(text)))
            batch = log.batch(agent.MOST_BATCH, "boot")
            self.assertLessEqual(len(batch.body), 256 * 1024)
            self.assertGreater(batch.end, batch.first)
        self.assertEqual(log.batch(1, "").end, 2)

    def test_cuts_what_the_machine_repeats_of_a_registry_like_any_line(self):
        log = new_log()
        log.say("denied: " + "é" * 500_000)
        [[_, _, text]] = read(log.batch(ALL, ""))[1]
        self.assertEqual(text, "denied: " + "é" * 4_092 + "… (991816 bytes more)")

    def test_ends_a_batch_with_each_phase(self):
        log = new_log()
        log.say("Pulled", {"name": "pulled"})
        log.feed("stdout", b"one\n")
        log.say("Exited", {"name": "exited"})
        said, lines = read(batch := log.batch(ALL, ""))
        self.assertEqual((said["phase"], len(lines), log.is_urgent()), ({"name": "pulled"}, 1, True))
        log.acknowledge(batch, batch.end)
        said, lines = read(batch := log.batch(ALL, ""))
        self.assertEqual((said["phase"], len(lines)), ({"name": "exited"}, 2))
        log.acknowledge(batch, batch.end)
        self.assertFalse(log.is_urgent())

    def test_sends_the_progress_of_a_pull_without_a_line_and_once(self):
        log = new_log()
        log.progress({"name": "pulling", "percent": 42})
        self.assertTrue(log.has_news())
        batch = log.batch(ALL, "")
        self.assertEqual((batch.phase, batch.end - batch.first), ({"name": "pulling", "percent": 42}, 0))
        log.acknowledge(batch, 1)
        self.assertFalse(log.has_news())
        self.assertIsNone(log.batch(ALL, "").phase)

    def test_is_complete_once_it_ends_and_nothing_is_left(self):
        log = new_log()
        log.feed("stdout", b"one\ntwo\nthree")
        log.flush(everything=True)
        self.assertFalse(log.batch(ALL, "").complete)
        log.end()
        self.assertFalse(log.batch(1, "").complete)
        self.assertTrue(log.batch(ALL, "").complete)

    def test_sends_each_sample_until_the_site_has_it(self):
        log = new_log()
        log.sample({"cpu_percent": 1})
        batch = log.batch(ALL, "")
        log._clock.now += 10
        log.sample({"cpu_percent": 2})
        log.acknowledge(batch, 1)
        self.assertEqual(read(log.batch(ALL, ""))[0]["samples"], [{"at": 1_800_000_010_000, "cpu_percent": 2}])
        for _ in range(1000):
            log.sample({})
        self.assertEqual(len(read(log.batch(ALL, ""))[0]["samples"]), agent.MOST_SAMPLES)


class Drops(Quiet):
    def flood(self, log, first, last):
        for n in range(first, last + 1):
            log.feed("stdout", b"line %06d " % n + b"x" * 88 + b"\n")

    def test_keeps_the_newest_4_mb_and_counts_the_rest_in_one_line(self):
        log = new_log()
        self.flood(log, 1, 40_000)
        self.assertLessEqual(log.size, agent.MOST_BUFFERED)
        said, lines = read(log.batch(ALL, ""))
        kept = len(lines) - 1
        missing = 40_000 - kept
        # The line that counts them has the number of the last of them.
        self.assertEqual(lines[0], (missing, "machine", f"{missing:,} lines are missing here: the machine couldn't send them."))
        self.assertEqual((lines[1][0], lines[1][2][:11]), (missing + 1, f"line {missing + 1:06d}"))
        self.assertEqual((lines[-1][0], said["dropped"]), (40_000, missing))
        self.assertGreater(kept, 20_000)

    def test_counts_again_only_what_goes_after_that(self):
        log = new_log()
        self.flood(log, 1, 40_000)
        batch = log.batch(ALL, "")
        # While it's on its way, its lines go here as well. The site has them, so they aren't missing.
        self.flood(log, 40_001, 80_000)
        log.acknowledge(batch, batch.end)
        _, lines = read(log.batch(ALL, ""))
        missing = int(lines[0][2].split()[0].replace(",", ""))
        self.assertEqual(lines[1][2][:11], f"line {40_001 + missing:06d}")
        self.assertEqual(lines[1][0], 40_001 + missing)

    def test_never_drops_what_the_machine_says_of_the_program(self):
        log = new_log()
        log.say("Exited", {"name": "exited"})
        self.flood(log, 1, 40_000)
        self.flood(log, 40_001, 80_000)
        said, lines = read(log.batch(ALL, ""))
        self.assertEqual((said["phase"], lines[-1][2]), ({"name": "exited"}, "Exited"))
        for n in range(1000):
            log.say(f"Exit {n}", {"name": "exited", "tries": n})
        self.flood(log, 1, 40_000)
        self.assertEqual(log._phases, sum(line.phase is not None for line in log._lines))
        self.assertLessEqual(log._phases, agent.MOST_PHASES)

    def test_keeps_what_the_last_seconds_can_send(self):
        log = new_log()
        self.flood(log, 1, 20_000)
        log.end()
        self.assertLessEqual(log.size, agent.MOST_AT_END)
        self.assertIn("line 020000", read(log.batch(ALL, ""))[1][-1][2])

    def test_keeps_nothing_for_a_site_that_wants_nothing(self):
        log = new_log()
        log.is_over = True
        log.feed("stdout", b"one\n")
        self.assertEqual(log.size, 0)


if __name__ == "__main__":
    unittest.main()
