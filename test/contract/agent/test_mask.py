"""What nobody may read in a log: secrets, however a program prints them."""

import random
import unittest

from program import Clock, Quiet, agent


def masked(secrets, *pieces):
    mask = agent.Mask(agent.parts_of(secrets))
    return b"".join([*(mask.feed(piece) for piece in pieces), mask.feed(b"", is_last=True)]).decode()


class Masks(unittest.TestCase):
    def test_hides_each_value_wherever_the_pieces_end(self):
        text = b"a hunter2hunter2 b"
        for at in range(len(text)):
            self.assertEqual(masked(["hunter2hunter2"], text[:at], text[at:]), "a *** b")
        self.assertEqual(masked(["hunter2hunter2"], *[bytes([byte]) for byte in text]), "a *** b")

    def test_hides_from_eight_characters_on(self):
        self.assertEqual(masked(["1234567", "12345678"], b"1234567 12345678 123456789"), "1234567 *** ***9")
        # Characters, not bytes.
        self.assertEqual(masked(["\u00fc" * 7], "\u00fc".encode() * 7), "\u00fc" * 7)
        self.assertEqual(masked(["\u00fc" * 8], "\u00fc".encode() * 8), "***")

    def test_hides_each_line_of_a_value(self):
        key = "-----BEGIN-----\r\nline of key\rshort\n\n-----END-----\n"
        self.assertEqual(masked([key], b"line of key\n-----END----- short\n"), "***\n*** short\n")

    def test_hides_a_value_without_the_spaces_at_its_ends(self):
        self.assertEqual(masked([" my secret "], b"[my secret] [ my secret ]"), "[***] [ *** ]")
        self.assertEqual(masked(["  short  "], b"[  short  ] short"), "[***] short")
        self.assertEqual(masked(["\tfirst line \nand last"], b"first line, and last"), "***, ***")

    def test_hides_a_value_of_short_lines_however_they_are_ended(self):
        pin = "12\n3456\n789\n"
        for text in (b"12\n3456\n789\n", b"12\r\n3456\r\n789\n"):
            for at in range(len(text)):
                self.assertEqual(masked([pin], b"pin: " + text[:at], text[at:] + b"ok"), "pin: ***\nok", (text, at))
        # One of them alone hides nothing.
        self.assertEqual(masked([pin], b"12\n3456 789\n"), "12\n3456 789\n")

    def test_hides_a_value_as_json_writes_it(self):
        for secret, shown in (
            ('pa"ss\\word-12', rb'{"a": "pa\"ss\\word-12"}'),
            ("p\u00e4ssw\u00f6rter", rb'{"a": "p\u00e4ssw\u00f6rter"}'),
            ("p\u00e4ssw\u00f6rter", '{"a": "p\u00e4ssw\u00f6rter"}'.encode()),
            ("12\n3456\n789", rb'{"a": "12\n3456\n789"}'),
        ):
            self.assertEqual(masked([secret], shown), '{"a": "***"}')

    def test_looks_at_few_of_the_places_where_a_secret_repeats_itself(self):
        for part in (b"a" * 8, b"a" * 4000, b"ab" * 20):
            text = (part[:2] * 40_000)[: 20 * len(part)]
            self.assertEqual(list(agent.Mask._spans(text, part)), [(0, len(text))])

    def test_hides_those_that_overlap_as_one_and_those_that_touch_as_two(self):
        self.assertEqual(masked(["abcdefgh", "efghijkl", "abcdefghijklmn"], b"abcdefghijkl."), "***.")
        self.assertEqual(masked(["abcdefgh", "abcdefghijklmn"], b"abcdefghijklmn abcdefghi."), "*** ***i.")
        self.assertEqual(masked(["abcdefghijklmn", "efghijkl"], b"abcdefghijklmn."), "***.")
        self.assertEqual(masked(["aaaaaaaa"], b"a" * 100), "***")
        self.assertEqual(masked(["aaaaaaaa"], *[b"a"] * 100), "***")
        self.assertEqual(masked(["abcdefgh"], b"abcdefgh" * 2), "******")
        for at in range(12):
            self.assertEqual(masked(["abcdefgh", "efghijkl"], b"abcdefghijkl."[:at], b"abcdefghijkl."[at:]), "***.")

    def test_shows_at_the_end_what_did_not_become_one_unless_it_is_most_of_one(self):
        self.assertEqual(masked(["abcdefghijkl"], b"x abcdefg"), "x abcdefg")
        self.assertEqual(masked(["abcdefghijkl"], b"x abcdefgh"), "x ***")
        self.assertEqual(masked(["abcdefgh", "abcdefghijkl"], b"x abcdefgh"), "x ***")

    def test_waits_for_no_more_than_the_beginning_of_one(self):
        mask = agent.Mask(agent.parts_of(["secretsecret"]))
        self.assertEqual(mask.feed(b"ready. sec"), b"ready. ")
        self.assertEqual(mask.feed(b"ond\n"), b"second\n")
        self.assertEqual(mask.feed(b"sec\n"), b"sec\n")
        self.assertEqual(mask.feed(b"sec\rsecretsecre"), b"sec\r")
        self.assertEqual(mask.feed(b"t"), b"***")

    def test_no_piece_of_any_text_holds_a_secret(self):
        for seed in range(3_000):
            dice = random.Random(seed)
            # Few letters, so that secrets repeat, overlap, and begin with each other.
            some = lambda most: "".join(dice.choice("ab\u00fc" if dice.random() < 0.97 else "\n\r") for _ in range(most))
            secrets = [some(dice.randint(1, 40)) for _ in range(dice.randint(1, 4))]
            text = "".join(dice.choice([*secrets, some(5), "\n"]) for _ in range(dice.randint(1, 12)))
            data, pieces = text.encode(), []
            while data:
                size = dice.randint(1, 30)
                pieces.append(data[:size])
                data = data[size:]
            shown = masked(secrets, *pieces)
            parts = [part.decode() for part in agent.parts_of(secrets)]
            for part in parts:
                self.assertNotIn(part, shown, seed)
            # Pieces make no difference, and nothing else is lost.
            self.assertEqual(shown, masked(secrets, text.encode()), seed)
            if not any(part in text for part in parts) and "***" not in shown:
                self.assertEqual(shown, text, seed)


class Logs(Quiet):
    def lines(self, log):
        return [agent.shown(line.text) for line in log._lines]

    def test_hides_before_it_cuts(self):
        log = agent.Log(Clock())
        log.hide(["hunter2hunter2"])
        # A line's 8,192 bytes end inside of it, a carriage return comes before it, and it is alone.
        log.feed("stdout", b"x" * 8_185 + b"hunter2hun")
        log.feed("stdout", b"ter2 and more\n50%\rhunter2hunter2\n")
        log.feed("stderr", b"hunter2")
        log.feed("stdout", b"hunter2\n")
        log.flush(everything=True)
        first, *others = self.lines(log)
        self.assertEqual(first, "x" * 8_185 + "*** and\u2026 (5 bytes more)")
        self.assertEqual(others, ["***", "hunter2", "hunter2"])

    def test_an_unfinished_line_comes_after_two_seconds_without_the_beginning_of_a_secret(self):
        log = agent.Log(clock := Clock())
        log.hide(["hunter2hunter2"])
        log.feed("stdout", b"password: hunter2hun")
        clock.now += 3
        log.flush()
        self.assertEqual(self.lines(log), ["password: "])
        log.feed("stdout", b"ter2\n")
        self.assertEqual(self.lines(log), ["password: ", "***"])

    def test_hides_in_the_words_of_the_machine(self):
        log = agent.Log(Clock())
        log.hide(["hunter2hunter2"])
        log.say("no hunter2hunter2", {"name": "failed", "code": "x", "exit_code": None, "why": "hunter2hunter2"})
        [line] = log._lines
        self.assertEqual((line.text, line.phase["why"]), ("no ***", "***"))
        self.assertEqual((self.journal.getvalue(), log.last_lines()), ("no ***\n", ["no ***"]))


if __name__ == "__main__":
    unittest.main()
