"""The agent as a module, for its tests."""

import contextlib
import importlib.util
import io
import unittest
from pathlib import Path

_path = Path(__file__).parents[3] / "infra" / "image" / "agent.py"
_spec = importlib.util.spec_from_file_location("agent", _path)
agent = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(agent)


class Clock:
    """Stands still until somebody moves it."""

    def __init__(self):
        self.now = 1_800_000_000.0

    def __call__(self):
        return self.now


class Quiet(unittest.TestCase):
    """Keeps what the agent writes into the journal."""

    def setUp(self):
        self.journal = io.StringIO()
        for stream in (contextlib.redirect_stdout(self.journal), contextlib.redirect_stderr(self.journal)):
            stream.__enter__()
            self.addCleanup(stream.__exit__, None, None, None)
