"""Gemini CLI: its hooks can refuse, rewrite and ask; a hook that fails is passed over."""
import json
import unittest

from agent import Agent
from cases import PassedOver


class Gemini(Agent):
    name = "gemini"
    package = "@google/gemini-cli"
    version = "0.61.0"
    program = "gemini"

    def shell(self, command):
        return ("run_shell_command", {"command": command, "description": "a test"})

    def file(self, path, content):
        return ("write_file", {"file_path": str(path), "content": content})

    def register(self, place, command, seconds):
        hook = {"type": "command", "name": "holdpoint", "command": command, "timeout": seconds * 1000}
        hooks = [{"matcher": "*", "hooks": [hook]}]
        place.write(SETTINGS, {"hooks": {"BeforeTool": hooks, "AfterTool": hooks}})

    def prepare(self, place):
        path = place.home / SETTINGS
        settings = json.loads(path.read_text()) if path.exists() else {}
        place.write(SETTINGS, {**settings, **UNATTENDED})

    def forbid(self, place, command):
        policy = place.home / ".gemini/policies/own.toml"
        policy.parent.mkdir(parents=True, exist_ok=True)
        rule = 'toolName = "run_shell_command"\ncommandPrefix = "%s"\ndecision = "deny"\npriority = 900\n'
        policy.write_text("[[rule]]\n" + rule % command)
        return []

    def launch(self, place, address, prompt):
        environment = {
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": address,
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }
        return ["-m", "gemini-2.5-pro", "-p", prompt, "--approval-mode", "yolo"], environment


SETTINGS = ".gemini/settings.json"

# It starts without a dialog and calls nobody.
UNATTENDED = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False},
}


class GeminiTest(PassedOver, unittest.TestCase):
    agent = Gemini

    def test_a_hook_that_is_missing_lets_nothing_run(self):
        # The shell says so, and ends with a code that this agent takes for a refusal.
        self.is_closed("missing")

    def test_what_is_to_be_asked_about_does_not_run_without_anybody_to_ask(self):
        place, model = self.outcome("asked", must_tell=False)
        self.assertFalse(place.has("asked"), model.told_about(0))
        # It ends the whole run, and its model hears nothing any more.
        self.assertFalse(model.told)
