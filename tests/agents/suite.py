"""Installs the agents and runs their tests.

    suite.py HOLDPOINT PLAYWRIGHT CHROMIUM --cache DIRECTORY [--only NAME]… [--without NAME]…

An agent that cannot be installed fails the suite; only `--without` leaves one out.
"""
import argparse
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cases import SCENARIOS
from claude_code import ClaudeCodeTest
from place import Programs

TESTS = {case.agent.name: case for case in (ClaudeCodeTest,)}


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("holdpoint", "playwright", "chromium"):
        parser.add_argument(name, type=lambda path: Path(path).resolve())
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--only", action="append", choices=TESTS)
    parser.add_argument("--without", action="append", choices=TESTS, default=[])
    return parser.parse_args()


def main():
    given = arguments()
    programs = Programs(given.holdpoint, given.playwright, given.chromium)
    chosen = [name for name in given.only or TESTS if name not in given.without]
    for name in given.without:
        print("agents: without %s, as told" % name)
    agents = [TESTS[name].agent(programs, given.cache) for name in chosen]
    problems = list(filter(None, (agent.install() for agent in agents)))
    if problems:
        sys.exit("agents: %s; `--without NAME` leaves an agent out" % "; ".join(problems))

    suite = unittest.TestSuite()
    # Agents mostly wait, so a few run at a time.
    with ThreadPoolExecutor(max_workers=3) as pool:
        for agent in agents:
            case = TESTS[agent.name]
            for name, scenario in {**SCENARIOS, **case.more}.items():
                case.runs[agent.name, name] = pool.submit(scenario, agent)
            suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
        outcome = unittest.TextTestRunner(verbosity=2).run(suite)
    sys.exit(not outcome.wasSuccessful())


if __name__ == "__main__":
    main()
