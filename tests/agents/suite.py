"""Installs the agents and runs their tests.

    suite.py HOLDPOINT PLAYWRIGHT CHROMIUM --cache DIRECTORY [--only NAME]… [--without NAME]…

An agent that cannot be installed fails the suite; only `--without` leaves one out.
"""
import argparse
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from claude_code import ClaudeCodeTest
from codex import CodexTest
from copilot import CopilotTest
from everyday import EverydayTest
from gemini import GeminiTest
from place import Programs
from plugins import ExtensionTest, PluginTest
from qwen import QwenTest

TESTS = (
    ClaudeCodeTest,
    EverydayTest,
    CodexTest,
    GeminiTest,
    CopilotTest,
    QwenTest,
    PluginTest,
    ExtensionTest,
)


def arguments(names):
    parser = argparse.ArgumentParser()
    for name in ("holdpoint", "playwright", "chromium"):
        parser.add_argument(name, type=lambda path: Path(path).resolve())
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--only", action="append", choices=names)
    parser.add_argument("--without", action="append", choices=names, default=[])
    return parser.parse_args()


def main():
    kinds = {case.agent.name: case.agent for case in TESTS}
    given = arguments(list(kinds))
    for name in given.without:
        print("agents: without %s, as told" % name)
    programs = Programs(given.holdpoint, given.playwright, given.chromium)
    agents = {
        name: kind(programs, given.cache)
        for name, kind in kinds.items()
        if name in (given.only or kinds) and name not in given.without
    }
    problems = list(filter(None, (agent.install() for agent in agents.values())))
    if problems:
        sys.exit("agents: %s; `--without NAME` leaves an agent out" % "; ".join(problems))

    with tempfile.TemporaryDirectory(prefix="holdpoint-agents-", ignore_cleanup_errors=True) as places:
        tempfile.tempdir = places
        passed = run(agents)
    sys.exit(not passed)


def run(agents):
    suite = unittest.TestSuite()
    # Agents mostly wait, so a few run at a time.
    with ThreadPoolExecutor(max_workers=3) as pool:
        for case in TESTS:
            agent = agents.get(case.agent.name)
            if agent is None:
                continue
            case.runs = {
                name: pool.submit(scenario, agent) for name, scenario in case.scenarios.items()
            }
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
        return unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful()


if __name__ == "__main__":
    main()
