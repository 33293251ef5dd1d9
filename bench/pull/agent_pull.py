"""Pulls an image as a machine of ours does, with the agent's own code. Usage: agent_pull.py SOCKET IMAGE"""

import importlib.util
import sys
from pathlib import Path

found = importlib.util.spec_from_file_location("agent", Path(__file__).parents[2] / "infra" / "image" / "agent.py")
agent = importlib.util.module_from_spec(found)
found.loader.exec_module(agent)

socket, image = sys.argv[1:]
agent.Program(agent.Engine(socket), agent.Log(), {"Image": image, "Env": []}, dict)._get_image()
