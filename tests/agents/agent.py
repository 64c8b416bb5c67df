"""What the tests need to know of an agent, and how one is installed and run."""
import os
import signal
import subprocess
from pathlib import Path

from model import Model
from place import PATIENCE

# Whatever an agent wants from the network besides its model, it finds nobody.
NOBODY = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}


class Agent:
    """One agent, at the release whose behaviour Holdpoint's adapter was written against."""

    # Its name for `holdpoint hook`, its npm package, the release, and the program in the package.
    name = package = version = program = None

    def __init__(self, programs, cache):
        self.programs = programs
        self.directory = Path(cache) / ("%s-%s" % (self.name, self.version))
        self.path = self.directory / "node_modules/.bin" / self.program

    def install(self):
        """Fetches it once; the reason if that cannot be done."""
        if self.path.exists():
            return None
        self.directory.mkdir(parents=True, exist_ok=True)
        wanted = "%s@%s" % (self.package, self.version)
        flags = ["--loglevel=error", "--no-audit", "--no-fund", "--prefix", self.directory]
        run = subprocess.run(["npm", "install", *flags, wanted], capture_output=True, text=True)
        if run.returncode == 0 and self.path.exists():
            return None
        return "%s cannot be installed with npm: %s" % (wanted, run.stderr.strip()[-500:])

    def shell(self, command):
        """The call by which its model runs a shell command."""
        raise NotImplementedError

    def file(self, path, content):
        """The call by which its model writes a file."""
        raise NotImplementedError

    def register(self, place, command, seconds):
        """Writes a hook before and after every tool into its settings; the agent waits for it this long."""
        raise NotImplementedError

    def prepare(self, place):
        """Writes whatever settings it does not start without."""

    def launch(self, place, address, prompt):
        """The arguments and the environment with which it gives a prompt to the model at an address
        and does what that says, with its own permissions switched off."""
        raise NotImplementedError

    # Flags without which it asks about every command that is not its own.
    unbounded = ()

    def forbid(self, place, command):
        """Gives it a rule of its own against a command; the flags that make it one."""
        return []

    def hook(self):
        """The line by which it asks Holdpoint."""
        return "%s hook %s" % (self.programs.holdpoint, self.name)

    def guard(self, place, command=None, seconds=600):
        """Puts Holdpoint before its tools as a user does, or something in Holdpoint's place."""
        place.by_hand = command is not None
        if place.by_hand:
            self.register(place, str(command), seconds)
        else:
            place.holdpoint("init", self.name, "--yes")

    def run(self, place, calls, *flags, prompt="go"):
        """Lets it make the calls; the model, which knows what it was told."""
        self.prepare(place)
        with Model(calls) as model:
            arguments, environment = self.launch(place, model.address, prompt)
            process = subprocess.Popen(
                [self.path, *arguments, *flags],
                env=place.environment(**NOBODY, **environment),
                cwd=place.project,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            try:
                model.output, _ = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                raise AssertionError("%s did not end" % self.name) from None
            finally:
                end(process)
        return model

    def manage(self, place, *arguments):
        """Has it do something that needs no model; what it says."""
        self.prepare(place)
        run = subprocess.run(
            [self.path, *arguments],
            env=place.environment(**NOBODY),
            cwd=place.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
        )
        if run.returncode != 0:
            raise AssertionError("%s: %s" % (" ".join(map(str, arguments)), run.stdout))
        return run.stdout


def end(process):
    """Ends it and whatever it left behind in its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
