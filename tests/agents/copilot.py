"""Copilot CLI: a hook that ends badly is a refusal, but one that does not end is passed over."""
import unittest

from agent import Agent
from cases import Cases


class Copilot(Agent):
    name = "copilot"
    package = "@github/copilot"
    version = "1.0.102"
    program = "copilot"

    def shell(self, command):
        return ("bash", {"command": command, "description": "a test"})

    def file(self, path, content):
        return ("create", {"path": str(path), "file_text": content})

    def register(self, place, command, seconds):
        program, *arguments = command.split(" ")
        hook = {"type": "command", "exec": program, "args": arguments, "timeoutSec": seconds}
        hooks = {"preToolUse": [hook], "postToolUse": [hook]}
        place.write(".copilot/hooks/holdpoint.json", {"version": 1, "hooks": hooks})

    # Its check of paths would have to be asked about the command's own arguments.
    unbounded = ("--allow-all-paths",)

    def forbid(self, place, command):
        return ["--deny-tool", "shell(%s)" % command]

    def launch(self, place, address, prompt):
        environment = {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_MODEL": "gpt-5",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_BASE_URL": address + "/v1",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_PROVIDER_WIRE_API": "completions",
        }
        return ["-p", prompt, "--allow-all-tools"], environment


class CopilotTest(Cases, unittest.TestCase):
    agent = Copilot

    def test_a_hook_that_is_killed_lets_nothing_run(self):
        self.is_closed("killed")

    def test_a_hook_that_hangs_lets_the_call_run_and_holdpoint_cannot_change_it(self):
        self.is_open("hanging")

    def test_a_hook_that_is_missing_lets_nothing_run(self):
        self.is_closed("missing")
