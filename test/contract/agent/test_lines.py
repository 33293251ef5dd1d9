"""What a program prints, as the lines that people read."""

import io
import unittest

from program import agent


def lines_of(*parts):
    stream = agent.Lines()
    return [agent.shown(line) for part in parts for line in stream.feed(part, 0)]


class Cutting(unittest.TestCase):
    def test_cuts_wherever_the_parts_end(self):
        self.assertEqual(lines_of(b"one\ntw", b"o\n\nthr", b"ee\n"), ["one", "two", "", "three"])

    def test_waits_for_an_end_for_two_seconds(self):
        stream = agent.Lines()
        self.assertEqual(stream.feed(b"Loading", 10), [])
        self.assertEqual(stream.flush(11.9), [])
        self.assertEqual(stream.flush(12), [b"Loading"])
        self.assertEqual(stream.flush(99), [])
        # Its end is no line of its own, and neither is what never began.
        self.assertEqual(stream.feed(b"\n\n", 13), [b""])
        self.assertEqual(stream.feed(b" done\n", 14), [b" done"])

    def test_counts_the_two_seconds_from_the_first_byte(self):
        stream = agent.Lines()
        stream.feed(b"one\n10%", 10)
        stream.feed(b"\r20%", 11.5)
        self.assertEqual(stream.flush(12), [b"20%"])
        self.assertEqual(stream.feed(b"\r30%", 12.5), [])
        self.assertEqual(stream.flush(14.4), [])

    def test_keeps_what_follows_the_last_carriage_return(self):
        self.assertEqual(lines_of(b"10%\r20%\r30%\n"), ["30%"])
        self.assertEqual(lines_of(b"10%\r", b"20%", b"\r3", b"0%\n"), ["30%"])
        self.assertEqual(lines_of(b"one\r\ntwo\r", b"\nthree\r\r\n"), ["one", "two", "three"])
        self.assertEqual(lines_of(b"\r", b"one\n"), ["one"])

    def test_shows_bytes_that_are_no_utf_8(self):
        self.assertEqual(lines_of(b"a\xffb\xc3\n", b"\xed\xa0\x80\n"), ["a\ufffdb\ufffd", "\ufffd" * 3])
        self.assertEqual(lines_of("caf\u00e9".encode()[:4], "caf\u00e9".encode()[4:] + b"\n"), ["caf\u00e9"])


class LongLines(unittest.TestCase):
    def test_has_8192_bytes_and_says_how_many_more_there_were(self):
        self.assertEqual(lines_of(b"x" * 8192 + b"\n"), ["x" * 8192])
        self.assertEqual(lines_of(b"x" * 8193 + b"\n"), ["x" * 8192 + "… (1 bytes more)"])
        self.assertEqual(lines_of(b"x" * 8000, b"y" * 8000 + b"\n"), ["x" * 8000 + "y" * 192 + "… (7808 bytes more)"])

    def test_never_cuts_a_character(self):
        for character in ("€", "\U0001f681"):
            size = len(character.encode())
            data = ("x" + character * 4000).encode()
            kept = "x" + character * (8191 // size)
            expected = [f"{kept}… ({len(data) - len(kept.encode())} bytes more)"]
            parts = [data[i : i + 1000] for i in range(0, len(data), 1000)]
            self.assertEqual(lines_of(data + b"\n"), expected)
            self.assertEqual(lines_of(*parts, b"\n"), expected)

    def test_holds_a_line_of_any_length_in_little_memory(self):
        stream = agent.Lines()
        for _ in range(1000):
            stream.feed(b"x" * 65_536, 0)
        self.assertLess(len(stream.rest), 10_000)
        self.assertEqual(stream.feed(b"\n", 0), ["x" * 8192 + f"… ({65_536_000 - 8192} bytes more)"])
        # What a carriage return wrote over doesn't count.
        stream.feed(b"x" * 65_536 + b"\r", 0)
        self.assertEqual(stream.feed(b"short\n", 0), [b"short"])


class Frames(unittest.TestCase):
    def test_reads_which_stream_printed_what(self):
        def frame(stream, data):
            return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data

        big = b"x" * 100_000
        answer = io.BytesIO(frame(1, b"out\n") + frame(2, b"err\n") + frame(1, b"") + frame(1, big) + b"\x01\x00")
        parts = list(agent.frames(answer))
        self.assertEqual(parts[:2], [("stdout", b"out\n"), ("stderr", b"err\n")])
        self.assertEqual(b"".join(data for _, data in parts[2:]), big)
        self.assertTrue(all(len(data) <= 65_536 for _, data in parts))

    def test_ends_within_a_frame_whose_rest_never_comes(self):
        self.assertEqual(list(agent.frames(io.BytesIO(b"\x01\x00\x00\x00\x00\x00\x00\x09half"))), [("stdout", b"half")])


if __name__ == "__main__":
    unittest.main()
