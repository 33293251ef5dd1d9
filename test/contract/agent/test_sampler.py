"""How busy the machine is."""

import os
import tempfile
import unittest
from pathlib import Path

from fake_engine import FakeEngine
from program import agent


def stats(used, passed, **memory_stats):
    return {
        "cpu_stats": {"cpu_usage": {"total_usage": used}, "system_cpu_usage": passed},
        "memory_stats": {"usage": 9_000, "stats": memory_stats},
        "networks": {"eth0": {"tx_bytes": 1, "rx_bytes": 2}, "eth1": {"tx_bytes": 10, "rx_bytes": 20}},
    }


class Samples(unittest.TestCase):
    def setUp(self):
        self.root = folder = tempfile.mkdtemp()
        self.gpu = Path(f"{folder}/nvidia-smi")
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{folder}:{path}"
        self.addCleanup(os.environ.__setitem__, "PATH", path)

    def samples(self, engine, count=1):
        sampler = agent.Sampler(agent.Engine(engine.path), self.root)
        return [sampler.sample() for _ in range(count)]

    def say_gpu(self, text):
        self.gpu.write_text(f"#!/bin/sh\nprintf '{text}'\n")
        self.gpu.chmod(0o755)

    def test_reads_the_container_of_the_whole_machine(self):
        engine = FakeEngine(stats=[stats(100, 1_000, inactive_file=4_000), stats(350, 2_000, total_inactive_file=5_000)])
        first, second = self.samples(engine, 2)
        # How busy it was between two samples.
        self.assertEqual((first["cpu_percent"], second["cpu_percent"]), (None, 25))
        self.assertEqual((first["memory_bytes"], second["memory_bytes"]), (5_000, 4_000))
        self.assertEqual((second["sent_bytes"], second["received_bytes"]), (11, 22))

    def test_begins_again_with_a_new_container(self):
        engine = FakeEngine(stats=[stats(500, 1_000), stats(10, 2_000), stats(510, 3_000)])
        self.assertEqual([sample["cpu_percent"] for sample in self.samples(engine, 3)], [None, None, 50])

    def test_reads_the_disk_and_all_gpus(self):
        self.say_gpu("40, 1000\\n61, 2000\\n")
        [sample] = self.samples(FakeEngine())
        self.assertEqual((sample["gpu_percent"], sample["gpu_memory_bytes"]), (50, 3_000 * 2**20))
        self.assertGreater(sample["disk_total_bytes"], sample["disk_bytes"])
        self.assertGreater(sample["disk_bytes"], 0)

    def test_counts_what_leaves_the_machine_by_its_default_route(self):
        routes = ("docker0 000011AC 00000000 0001 0 0 0 0000FFFF", "ens5 00000000 0101A8C0 0003 0 0 512 00000000")
        files = {"proc/net/route": "\n".join(["Iface Destination Gateway Flags RefCnt Use Metric Mask", *routes])}
        for name, sent in (("docker0", 7), ("ens5", 300_000_000_000)):
            files[f"sys/class/net/{name}/statistics/tx_bytes"] = f"{sent}\n"
        for name, text in files.items():
            file = Path(self.root, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        [sample] = self.samples(FakeEngine())
        self.assertEqual(sample["host_sent_bytes"], 300_000_000_000)

    def test_says_none_where_nothing_is_known(self):
        for text in (None, "[N/A], 10\\n", "No devices were found\\n", ""):
            if text is not None:
                self.say_gpu(text)
            [sample] = self.samples(FakeEngine())
            known = {name for name, value in sample.items() if value is not None}
            self.assertEqual(known, {"disk_bytes", "disk_total_bytes"})
            self.assertEqual(len(sample), 9)


if __name__ == "__main__":
    unittest.main()
