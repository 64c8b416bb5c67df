"""Where one run of an agent takes place: a home, a project and a policy in a temporary directory."""
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Seconds after which something is taken to hang.
PATIENCE = 120

POLICY = {
    "defaultPolicy": "defer",
    "deny": {"patterns": ["rm -r kept*"]},
    "ask": {"patterns": ["touch asked*"]},
    "allow": {"patterns": ["touch allowed*"]},
    "files": {"write": {"deny": ["sealed"]}},
    # Nobody sits at a terminal here.
    "approval": {"presence": "none"},
}


@dataclass(frozen=True)
class Programs:
    """What the tests are run with."""

    holdpoint: Path
    playwright: Path
    chromium: Path


class Place:
    def __init__(self, programs, **policy):
        self.programs = programs
        # Whether hooks were written here by something else than `holdpoint init`.
        self.by_hand = False
        self.root = Path(tempfile.mkdtemp(prefix="place-"))
        self.home = self.root / "home"
        self.project = self.root / "project"
        # First on the path of whatever runs here.
        self.programs_here = self.root / "bin"
        for directory in (self.home / ".config/holdpoint", self.project / "kept", self.programs_here):
            directory.mkdir(parents=True)
        (self.project / "kept/file").write_text("precious")
        self.set_policy(json.dumps({**POLICY, **policy}))

    def set_policy(self, text):
        (self.home / ".config/holdpoint/permissions.json").write_text(text)

    def environment(self, **more):
        node = Path(shutil.which("node")).parent
        return {
            "HOME": str(self.home),
            "PATH": "%s:%s:/usr/local/bin:/usr/bin:/bin" % (self.programs_here, node),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **more,
        }

    def put_on_path(self):
        """Holdpoint as one who installed it has it."""
        (self.programs_here / "holdpoint").symlink_to(self.programs.holdpoint)

    def holdpoint(self, *arguments):
        run = subprocess.run(
            [self.programs.holdpoint, *arguments],
            env=self.environment(),
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if run.returncode != 0:
            raise AssertionError(run.stderr)
        return run.stdout

    def log(self):
        return [json.loads(line) for line in self.holdpoint("log", "--json").splitlines()]

    def has(self, name):
        return (self.project / name).exists()

    def is_untouched(self):
        return self.has("kept/file")

    def write(self, name, settings):
        """A settings file in the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))

    def program(self, text):
        """A program to be a hook: a shell script."""
        path = self.root / "hook"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def page(self):
        """The address of the daemon's page. It says where that is a moment before it can be asked."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self.holdpoint("open", "--print").strip()
            except AssertionError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    @contextmanager
    def ledger_held(self):
        """Another process has the ledger and does not let go, so that Holdpoint waits for it."""
        self.holdpoint("log", "checkpoint")
        with open(self.home / ".local/state/holdpoint/ledger/lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @contextmanager
    def held_call(self, command):
        """A call that waits for a person all the time; yields the name of the request. `released` says whether
        somebody let it run."""
        daemon = subprocess.Popen(
            [self.programs.holdpoint, "serve", "--listen", "127.0.0.1:0"],
            env=self.environment(),
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        hook = subprocess.Popen(
            [self.programs.holdpoint, "hook", "claude-code"],
            env=self.environment(),
            cwd=self.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            daemon.stdout.readline()
            payload = {
                "session_id": "held",
                "cwd": str(self.project),
                "hook_event_name": "PreToolUse",
                "tool_name": "Bash",
                "tool_input": {"command": command},
            }
            hook.stdin.write(json.dumps(payload))
            hook.stdin.close()
            yield self.request()
            self.released = hook.poll() is not None
        finally:
            for process in (hook, daemon):
                process.kill()
                process.wait(PATIENCE)
                process.stdout.close()

    def request(self):
        """The name of a request that has been opened, as the ledger has it."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            opened = [one for one in self.log() if one["kind"] == "hold_opened"]
            if opened:
                return opened[0]["detail"]["request"]
            time.sleep(0.1)
        raise AssertionError("nothing was held")

    @contextmanager
    def person(self, answers):
        """Somebody on the page of the daemon gives these answers; yields what waits for their end."""
        daemon = subprocess.Popen(
            [self.programs.holdpoint, "serve", "--listen", "127.0.0.1:0"],
            env=self.environment(),
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        person = None
        try:
            daemon.stdout.readline()
            address = self.page()
            browser = [self.programs.playwright, self.programs.chromium]
            person = subprocess.Popen(
                ["node", "page.mjs", *browser, address, json.dumps(answers)],
                cwd=Path(__file__).parent,
                env={**os.environ, "HOME": str(self.root)},
                stdin=subprocess.DEVNULL,
            )
            yield lambda: person.wait(PATIENCE)
        finally:
            for process in filter(None, (person, daemon)):
                process.terminate()
                process.wait(PATIENCE)
            daemon.stdout.close()
