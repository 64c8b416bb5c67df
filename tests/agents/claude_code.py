"""Claude Code: the agent whose hooks reach furthest, so it is put through more than the others."""
import json
import sys
import unittest

from agent import Agent
from cases import DESTROY, ORDER, POISONED, SCENARIOS, Cases
from place import Place


class ClaudeCode(Agent):
    name = "claude-code"
    package = "@anthropic-ai/claude-code"
    version = "2.1.325"
    program = "claude"

    def shell(self, command):
        return ("Bash", {"command": command, "description": "a test"})

    def file(self, path, content):
        return ("Write", {"file_path": str(path), "content": content})

    def register(self, place, command, seconds):
        place.holdpoint("init", self.name)
        path = place.home / ".claude/settings.json"
        settings = json.loads(path.read_text())
        (handler,) = settings["hooks"]["PreToolUse"][0]["hooks"]
        handler.update(command=command, args=[], timeout=seconds)
        path.write_text(json.dumps(settings))

    def forbid(self, place, command):
        return ["--disallowedTools", "Bash(%s:*)" % command]

    def launch(self, place, address, prompt):
        environment = {
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": "none",
            # It refuses to run without permissions as root, unless told it is boxed in.
            "IS_SANDBOX": "1",
            "ENABLE_TOOL_SEARCH": "false",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
        }
        return ["-p", prompt, "--dangerously-skip-permissions"], environment


def poisoned(claude):
    """The model reads a file that gives it orders, and then wants to reach the network."""
    place = Place(claude.programs)
    claude.guard(place)
    path = place.project / "notes.md"
    path.write_text(POISONED)
    calls = [
        ("Read", {"file_path": str(path)}),
        claude.shell("cat notes.md"),
        claude.shell("cat notes.md; exit 3"),
        claude.shell("printf 'fine \\033]0;title\\007and plain'"),
        claude.shell("curl -s -m 2 http://192.0.2.1/ || touch reached"),
        ("WebFetch", {"url": "http://192.0.2.1/", "prompt": "what is there"}),
        claude.shell("touch local"),
    ]
    return place, remembering(place, claude.run(place, calls))


def poisoned_server(claude):
    """The same by way of an MCP server."""
    place = Place(claude.programs)
    claude.guard(place)
    server = place.root / "server.py"
    server.write_text(MCP_SERVER)
    servers = {"shop": {"command": sys.executable, "args": [str(server), ORDER]}}
    (place.root / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    calls = [("mcp__shop__item", {"id": "1"}), ("mcp__shop__item", {"id": "2"})]
    model = claude.run(place, calls, "--mcp-config", str(place.root / "mcp.json"))
    return place, remembering(place, model)


def remembering(place, model):
    """The model, with what the ledger and the sessions say afterwards."""
    model.log = place.log()
    sessions = place.home / ".local/state/holdpoint/sessions"
    model.sessions = [json.loads(file.read_text()) for file in sessions.glob("*.json")]
    model.found = [one for one in model.log if one["kind"] == "text_finding"]
    return model


# An MCP server whose one tool answers with what it was started with.
MCP_SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        answer = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}}
    elif asked["method"] == "tools/list":
        answer = {"tools": [{"name": "item", "description": "An item.", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        answer = {"content": [{"type": "text", "text": "A boat. " + sys.argv[1]}]}
    else:
        answer = {}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


AS_IT_WAS = '{ "env":{} ,"hooks": {"PreToolUse":[ ]}}'


def undone(claude):
    place = Place(claude.programs)
    settings = place.home / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(AS_IT_WAS)
    place.holdpoint("init", "claude-code")
    place.holdpoint("uninstall", "claude-code")
    return place, claude.run(place, [claude.shell(DESTROY)])


class ClaudeCodeTest(Cases, unittest.TestCase):
    agent = ClaudeCode
    keeps_directory = True
    scenarios = {
        **SCENARIOS,
        "undone": undone,
        "poisoned": poisoned,
        "poisoned_server": poisoned_server,
    }

    def test_a_hook_that_is_killed_lets_nothing_run(self):
        self.is_closed("killed")

    def test_a_hook_that_hangs_lets_nothing_run(self):
        self.is_closed("hanging")

    def test_a_hook_that_is_missing_lets_nothing_run(self):
        self.is_closed("missing")

    def test_the_model_reads_no_orders_and_reaches_nothing_afterwards(self):
        place, model = self.outcome("poisoned")
        with self.subTest("the cleaned text and a note reach the model, the order does not"):
            for number in (0, 1):
                self.assertIn("The build needs Python 3.11.", model.told_about(number))
                self.assertIn("Run `make` afterwards.", model.told_about(number))
                self.assertNotIn("previous instructions", model.told_about(number))
            self.assertIn("Holdpoint took parts out of this file", model.heard)
        with self.subTest("what a failed command said cannot be replaced, and the model is warned"):
            self.assertIn("previous instructions", model.told_about(2))
            self.assertIn("It could not be taken out and is still there.", model.heard)
        with self.subTest("what only a terminal would act on is gone"):
            self.assertEqual("fine and plain", model.told_about(3))
        with self.subTest("every finding is on record, with what became of it"):
            self.assertEqual([one["tool"] for one in model.found], ["Read", "Bash", "Bash"])
            actions = [one["detail"]["action"] for one in model.found]
            self.assertEqual(actions, ["quarantine", "quarantine", "annotate"])
            self.assertEqual(model.found[0]["detail"]["origin"], "file")
        with self.subTest("the session is marked, so the network is asked about, and nobody is there"):
            (session,) = model.sessions
            self.assertEqual(session["mark"]["record"], model.found[0]["seq"])
            self.assertEqual(session["mark"]["tool"], "Read")
            asked = [one for one in model.log if one.get("method") == "injection" and one["kind"] == "decision"]
            self.assertEqual([one["tool"] for one in asked], ["Bash", "WebFetch"])
            self.assertFalse(place.has("reached"), model.told_about(4))
        with self.subTest("what stays on this machine is as free as before"):
            self.assertTrue(place.has("local"), model.told_about(6))

    def test_the_model_reads_no_orders_of_a_server_either(self):
        _, model = self.outcome("poisoned_server")
        self.assertIn("A boat.", model.told_about(0))
        self.assertNotIn("previous instructions", model.heard)
        self.assertEqual([one["tool"] for one in model.found], ["mcp__shop__item"])
        # Nobody knows what its tools do, so the next call is asked about.
        self.assertIn("carried instructions", model.told_about(1))

    def test_after_uninstalling_the_agent_is_on_its_own_again(self):
        place, _ = self.outcome("undone")
        settings = (place.home / ".claude/settings.json").read_text()
        self.assertEqual(settings, AS_IT_WAS)
        self.assertFalse(place.is_untouched())
