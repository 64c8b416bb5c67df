"""Qwen Code: its hooks can refuse and ask, but not rewrite; a hook that fails is passed over."""
import unittest

from agent import Agent
from cases import PassedOver, asked_instead


class Qwen(Agent):
    name = "qwen"
    package = "@qwen-code/qwen-code"
    version = "0.24.4"
    program = "qwen"

    def shell(self, command):
        arguments = {"command": command, "description": "a test", "is_background": False}
        return ("run_shell_command", arguments)

    def file(self, path, content):
        return ("write_file", {"file_path": str(path), "content": content})

    def register(self, place, command, seconds):
        hook = {"type": "command", "command": command, "timeout": seconds}
        hooks = [{"matcher": "*", "hooks": [hook]}]
        place.write(".qwen/settings.json", {"hooks": {"PreToolUse": hooks, "PostToolUse": hooks}})

    def launch(self, place, address, prompt):
        environment = {
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": address + "/v1",
            "OPENAI_MODEL": "scripted",
            "QWEN_TELEMETRY_ENABLED": "false",
        }
        return ["-p", prompt, "--approval-mode", "yolo"], environment


class QwenTest(PassedOver, unittest.TestCase):
    agent = Qwen
    takes_edits = False
    contains = False
    scenarios = {**PassedOver.scenarios, "contained": asked_instead}

    def test_a_hook_that_is_missing_lets_the_call_run_unless_its_line_refuses(self):
        self.is_open("missing")
