"""The plugin for Claude Code and the extension for Gemini CLI, as the agents themselves see them.

Nothing is registered in anybody's settings here: what stands before the tools is what the plugin
brings, and the program is found on the path.
"""
import unittest
from pathlib import Path

from cases import DESTROY, Outcomes
from claude_code import ClaudeCode
from gemini import Gemini
from place import Place

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "plugins/claude-code"
EXTENSION = ROOT / "plugins/gemini"


def with_program(agent):
    place = Place(agent.programs)
    place.put_on_path()
    return place


def from_directory(claude):
    place = with_program(claude)
    return place, claude.run(place, [claude.shell(DESTROY)], "--plugin-dir", str(PLUGIN))


def from_marketplace(claude):
    place = with_program(claude)
    claude.manage(place, "plugin", "validate", "--strict", ROOT)
    claude.manage(place, "plugin", "validate", "--strict", PLUGIN)
    claude.manage(place, "plugin", "marketplace", "add", ROOT)
    claude.manage(place, "plugin", "install", "holdpoint@holdpoint")
    model = claude.run(place, [claude.shell(DESTROY)])
    model.status = claude.run(place, [], prompt="/holdpoint:status").heard
    model.why = claude.run(place, [], prompt="/holdpoint:why").heard
    return place, model


def from_extension(gemini):
    place = with_program(gemini)
    gemini.manage(place, "extensions", "validate", EXTENSION)
    gemini.manage(place, "extensions", "install", "--consent", EXTENSION)
    model = gemini.run(place, [gemini.shell(DESTROY)])
    model.status = gemini.run(place, [], prompt="/holdpoint:status").heard
    model.why = gemini.run(place, [], prompt="/holdpoint:why").heard
    return place, model


def plugin_alone(claude):
    place = Place(claude.programs)
    return place, claude.run(place, [claude.shell(DESTROY)], "--plugin-dir", str(PLUGIN))


def extension_alone(gemini):
    place = Place(gemini.programs)
    gemini.manage(place, "extensions", "install", "--consent", EXTENSION)
    return place, gemini.run(place, [gemini.shell(DESTROY)])


class Plugged(Outcomes):
    """What is asked of each of them."""

    def refuses(self, name):
        self.is_closed(name)
        _, model = self.outcome(name)
        self.assertIn("Holdpoint denied this", model.told_about(0))

    def test_installed_it_refuses_and_its_commands_say_why(self):
        self.refuses("installed")
        _, model = self.outcome("installed")
        for heard in (model.status, model.why):
            self.assertIn(DESTROY, heard)
            self.assertIn("rm -r kept*", heard)

    def test_without_the_program_nothing_runs(self):
        self.is_closed("alone")


class PluginTest(Plugged, unittest.TestCase):
    agent = ClaudeCode
    scenarios = {
        "directory": from_directory,
        "installed": from_marketplace,
        "alone": plugin_alone,
    }

    def test_from_its_directory_it_refuses(self):
        self.refuses("directory")


class ExtensionTest(Plugged, unittest.TestCase):
    agent = Gemini
    scenarios = {"installed": from_extension, "alone": extension_alone}
