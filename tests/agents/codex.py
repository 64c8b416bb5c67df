"""Codex: its hooks can refuse and rewrite, but not ask; a hook that fails is passed over."""
import unittest

from agent import Agent
from cases import PassedOver


class Codex(Agent):
    name = "codex"
    package = "@openai/codex"
    version = "0.166.0"
    program = "codex"

    def shell(self, command):
        return ("exec_command", {"cmd": command})

    def file(self, path, content):
        lines = ["*** Begin Patch", "*** Add File: %s" % path, "+" + content, "*** End Patch", ""]
        return ("apply_patch", "\n".join(lines))

    def register(self, place, command, seconds):
        hook = {"type": "command", "command": command, "timeout": seconds}
        hooks = [{"matcher": "*", "hooks": [hook]}]
        place.write(".codex/hooks.json", {"hooks": {"PreToolUse": hooks, "PostToolUse": hooks}})

    def forbid(self, place, command):
        rules = place.home / ".codex/rules/default.rules"
        rules.parent.mkdir(parents=True, exist_ok=True)
        rules.write_text('prefix_rule(pattern=["%s"], decision="forbidden")\n' % command)
        return []

    def launch(self, place, address, prompt):
        provider = {
            "name": "scripted",
            "base_url": address + "/v1",
            "wire_api": "responses",
            "env_key": "SCRIPTED_KEY",
            "request_max_retries": 0,
            "stream_max_retries": 0,
        }
        settings = {
            "model": "gpt-5.5",
            "model_provider": "scripted",
            "model_providers.scripted": provider,
            "sandbox_mode": "danger-full-access",
        }
        arguments = ["exec", "--skip-git-repo-check"]
        if place.by_hand:
            # `holdpoint init` has its hooks trusted; who writes them by hand does not.
            arguments.append("--dangerously-bypass-hook-trust")
        for key, value in settings.items():
            arguments += ["-c", "%s=%s" % (key, toml(value))]
        return [*arguments, prompt], {"SCRIPTED_KEY": "none"}


def toml(value):
    """A value on one line. Texts and numbers of ours are spelt as in Python's own notation."""
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s = %s" % (key, toml(one)) for key, one in value.items())
    return '"%s"' % value if isinstance(value, str) else str(value)


class CodexTest(PassedOver, unittest.TestCase):
    agent = Codex

    def test_a_hook_that_is_missing_lets_the_call_run_unless_its_line_refuses(self):
        self.is_open("missing")
