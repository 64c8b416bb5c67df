//! Whole runs, looked at from outside: what those of a session share, limits, what is told afterwards, and what is left
//! of one that is killed.
//!
//! Without a harness: a sandbox is made by a process with one thread.
//!
//!   cargo test -p holdpoint-sandbox --test runs [-- NAME]

#![cfg_attr(
    not(target_os = "linux"),
    allow(unused, reason = "there is a sandbox on Linux only")
)]
#![expect(
    clippy::print_stdout,
    reason = "it is the report of a test without a harness"
)]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use holdpoint_sandbox::contain::{self, Tier};
use support::restricted;
use support::{BUBBLEWRAPPED, NOT_MADE, as_user, contained, may_be_left_out, place_for};

mod support;

fn main() -> ExitCode {
    contain::has_inside();
    if let Some(code) = contain::inside(std::env::args_os()) {
        return ExitCode::from(code);
    }
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("--contain") => contained(arguments.get(2..).unwrap_or_default()),
        Some("--restricted") => {
            restricted::become_restricted(arguments.get(2..).unwrap_or_default())
        }
        Some("--list") => ExitCode::SUCCESS,
        filter => all(filter.filter(|filter| !filter.starts_with("--"))),
    }
}

/// What can be found wrong with a run.
type Outcome = Result<(), String>;

/// A test: its name, and what is tried in a place as a user.
type Test = (&'static str, fn(&Place) -> Outcome);

const TESTS: &[Test] = &[
    ("session_shares_a_network", session_shares_a_network),
    ("other_hosts_share_no_network", other_hosts_share_no_network),
    ("killed_at_any_moment", killed_at_any_moment),
    ("two_runs_at_once", two_runs_at_once),
    ("terminal_and_interrupt", terminal_and_interrupt),
    ("time_is_bounded", time_is_bounded),
    ("output_is_bounded", output_is_bounded),
    ("no_stream_is_a_directory", no_stream_is_a_directory),
    ("no_input_is_protected", no_input_is_protected),
    (
        "memory_is_bounded_or_it_is_said",
        memory_is_bounded_or_it_is_said,
    ),
    ("processes_are_bounded", processes_are_bounded),
    (
        "limits_without_a_group_are_told",
        limits_without_a_group_are_told,
    ),
    ("debuggers_work_where_allowed", debuggers_work_where_allowed),
    ("what_is_hidden_is_told", what_is_hidden_is_told),
    ("what_is_hidden_stays_hidden", what_is_hidden_stays_hidden),
    ("no_link_gives_another_tree", no_link_gives_another_tree),
    (
        "what_is_replaced_outside_is_told",
        what_is_replaced_outside_is_told,
    ),
    (
        "what_is_removed_outside_is_told",
        what_is_removed_outside_is_told,
    ),
    ("refusals_are_told", refusals_are_told),
    ("everything_is_told", everything_is_told),
    ("the_stated_level_is_true", the_stated_level_is_true),
    ("bubblewrap_makes_it", bubblewrap_makes_it),
    (
        "bubblewrap_that_makes_less_is_not_believed",
        bubblewrap_that_makes_less_is_not_believed,
    ),
    (
        "packages_come_from_a_listed_host",
        packages_come_from_a_listed_host,
    ),
    (
        "listed_hosts_are_reached_by_tls",
        listed_hosts_are_reached_by_tls,
    ),
];

fn all(filter: Option<&str>) -> ExitCode {
    #[cfg(not(target_os = "linux"))]
    return ExitCode::SUCCESS;
    let (reached, below) = contain::reachable(false);
    println!("sandbox here: {reached} {}", below.unwrap_or_default());
    if reached != Tier::Full {
        println!("nothing of it can be tried here; HOLDPOINT_SKIP_SANDBOX=1 leaves it out");
        return match may_be_left_out() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        };
    }
    let users: &[&'static str] = if holdpoint_sandbox::user::id() == 0 {
        &["root", "nobody"]
    } else {
        &["self"]
    };
    let mut failed = 0;
    for (name, test) in TESTS {
        if filter.is_some_and(|filter| !name.contains(filter)) {
            continue;
        }
        for user in users {
            let place = Place::new(user);
            match test(&place) {
                Ok(()) => println!("ok   {name} ({user})"),
                Err(reason) => {
                    failed += 1;
                    println!("FAIL {name} ({user}): {reason}");
                }
            }
        }
    }
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// A workspace, a home and a state directory of one user's.
struct Place {
    path: PathBuf,
    program: PathBuf,
    user: &'static str,
}

impl Place {
    fn new(user: &'static str) -> Self {
        let path = place_for(user, "runs");
        for directory in ["work/.git/hooks", "home/cache", "state", "outside"] {
            fs::create_dir_all(path.join(directory)).unwrap();
        }
        // Where another user can run it.
        let program = path.join("program");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        if user == "nobody" {
            let done = Command::new("chown")
                .args(["-R", "nobody"])
                .arg(&path)
                .status();
            assert!(done.unwrap().success());
        }
        Self {
            path,
            program,
            user,
        }
    }

    /// A contained command.
    fn command(&self, tier: &str, text: &str) -> Command {
        let mut command = match tier {
            BUBBLEWRAPPED => {
                let mut command = Command::new(&self.program);
                command.arg("--restricted").arg(self.bubblewrap());
                command
            }
            _ => as_user(self.user, &self.program.display().to_string()),
        };
        command
            .args(["--contain", tier])
            .arg(&self.path)
            .args(["sh", text])
            .current_dir(self.path.join("work"))
            .stdin(Stdio::null());
        command
    }

    /// The bubblewrap that there is where it alone can make a sandbox: beside the place, which is another user's.
    fn bubblewrap(&self) -> PathBuf {
        self.path.with_extension("bwrap")
    }

    fn in_session(&self, session: &str, hosts: &str, text: &str) -> Command {
        let mut command = self.command("full", text);
        command
            .env(
                "ESCAPES_SESSION",
                self.path.join("state/sandbox").join(session),
            )
            .env("ESCAPES_HOSTS", hosts);
        command
    }

    /// No run is alive: what those that were killed left, the next run takes away, as soon as the last of their
    /// processes is dead.
    fn expect_nothing_left(&self) -> Outcome {
        let mut found = String::new();
        for _ in 0..50 {
            self.command("full", "exit 0").status().unwrap();
            let entries = fs::read_dir(self.path.join("state/sandbox"))
                .unwrap()
                .flatten();
            let entries: Vec<_> = entries
                .map(|entry| entry.file_name())
                // What is kept for later runs is empty.
                .filter(|name| name != "sessions.lock" && name != "spare")
                .collect();
            let spare = fs::read_dir(self.path.join("state/sandbox/spare")).unwrap();
            for kept in spare.flatten().map(|entry| entry.path()) {
                let full = fs::read_dir(&kept).is_ok_and(|mut inside| inside.next().is_some());
                if full {
                    return Err(format!("{} is not empty", kept.display()));
                }
            }
            let placeholder = self.path.join("work/.claude").exists();
            if entries.is_empty() && !placeholder {
                return Ok(());
            }
            found = format!("left: placeholders {placeholder}, {entries:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(found)
    }

    /// Waits for a file of the workspace.
    fn wait_for(&self, file: &str) -> Outcome {
        let until = Instant::now() + Duration::from_secs(20);
        while !self.path.join("work").join(file).exists() {
            if Instant::now() > until {
                return Err(format!("no `{file}`"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = Command::new("rm").arg("-rf").arg(&self.path).status();
        let _ = fs::remove_file(self.bubblewrap());
    }
}

/// A process that is ended with its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn expect(what: &str, holds: bool) -> Outcome {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

const SERVER: &str = r#"exec python3 -c '
import socket, time
while True:
    # The server of a run that was killed dies after its supervisor.
    try: s = socket.create_server(("127.0.0.1", 8123)); break
    except OSError: time.sleep(0.05)
open("listening", "w")
while True:
    c, _ = s.accept(); c.sendall(b"hello"); c.close()
'"#;

const CLIENT: &str = r#"python3 -c '
import socket
assert socket.create_connection(("127.0.0.1", 8123), 2).recv(9) == b"hello"
' 2>/dev/null"#;

fn session_shares_a_network(place: &Place) -> Outcome {
    for hosts in ["", "good.example"] {
        let _ = fs::remove_file(place.path.join("work/listening"));
        let mut server = Ended(place.in_session("one", hosts, SERVER).spawn().unwrap());
        place.wait_for("listening")?;
        let reached = |session: &str, text: &str| {
            place
                .in_session(session, hosts, text)
                .status()
                .unwrap()
                .success()
        };
        expect(
            "the same session does not reach the server",
            reached("one", CLIENT),
        )?;
        expect("a second run does not either", reached("one", CLIENT))?;
        expect(
            "another session reaches the server",
            !reached("two", CLIENT),
        )?;
        if !hosts.is_empty() {
            // Each run has a gateway of its own.
            let text = r#"python3 -c 'import socket; socket.getaddrinfo("good.example", 443)' && test "$HTTPS_PROXY" = http://127.77.1.1:3128"#;
            expect("a joined run has no gateway", reached("one", text))?;
        }
        // The network lasts as long as a run in it does, not as long as the one that made it.
        let held = format!("touch joined; while test -e joined; do sleep 0.05; done; {CLIENT}");
        let mut second = Ended(place.in_session("one", hosts, &held).spawn().unwrap());
        place.wait_for("joined")?;
        server.0.kill().unwrap();
        server.0.wait().unwrap();
        let _ = fs::remove_file(place.path.join("work/listening"));
        let third = Ended(place.in_session("one", hosts, SERVER).spawn().unwrap());
        place.wait_for("listening")?;
        fs::remove_file(place.path.join("work/joined")).unwrap();
        let found = second.0.wait().unwrap().success();
        expect("a third run is not in the network of the second", found)?;
        drop(third);
    }
    place.expect_nothing_left()
}

fn other_hosts_share_no_network(place: &Place) -> Outcome {
    let server = Ended(
        place
            .in_session("one", "good.example", SERVER)
            .spawn()
            .unwrap(),
    );
    place.wait_for("listening")?;
    for hosts in [
        "",
        "bad.example",
        "good.example bad.example",
        "good.example:80",
    ] {
        let reached = place
            .in_session("one", hosts, CLIENT)
            .status()
            .unwrap()
            .success();
        expect(&format!("hosts `{hosts}` share it"), !reached)?;
    }
    drop(server);
    Ok(())
}

fn killed_at_any_moment(place: &Place) -> Outcome {
    let long = std::env::var_os("HOLDPOINT_LOAD").is_some_and(|load| load == "full");
    let runs = if long { 500 } else { 30 };
    // A number nobody else sleeps for.
    let marker = format!("sleep 9{}", std::process::id());
    let start = |run: u64, text: &str| {
        let hosts = if run.is_multiple_of(2) {
            ""
        } else {
            "good.example"
        };
        place
            .in_session("killed", hosts, text)
            .env("ESCAPES_MEMORY", (1_u64 << 30).to_string())
            .env("ESCAPES_OUTPUT", "100000")
            .env("ESCAPES_NOTICE", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    for run in 0..runs {
        let mut child = start(run, &format!("{marker} & {marker}"));
        // From before the fork to well after the command has started.
        std::thread::sleep(Duration::from_micros(run * 7919 % 25_000));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // They end when the system comes to it, which takes long where many others want it.
    let until = Instant::now() + Duration::from_secs(30);
    let mut left = processes(&marker);
    while !left.is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
        left = processes(&marker);
    }
    // What a dying init still holds is swept when it is dead.
    let honest = start(0, "exit 0").wait().unwrap();
    expect(
        &format!("{runs} runs left processes {left:?}; then {honest}"),
        left.is_empty() && honest.success(),
    )?;
    place.expect_nothing_left()?;
    // A process that is ending is in its control group when its command line is gone already. Runs with a group of their own
    // take those of others away.
    while !groups().is_empty() && Instant::now() < until {
        start(0, "exit 0").wait().unwrap();
    }
    expect(&format!("left: {:?}", groups()), groups().is_empty())
}

/// What is said of a run.
fn said(place: &Place, command: &mut Command) -> (std::process::Output, String) {
    let _ = fs::remove_file(place.path.join("said"));
    let output = command.output().unwrap();
    let said = fs::read_to_string(place.path.join("said")).unwrap_or_default();
    (output, said)
}

/// Runs that come and go must not open a protected path for one that stays: they share placeholders.
fn two_runs_at_once(place: &Place) -> Outcome {
    let attack = "touch begun; while ! test -e stop; do \
        (mkdir -p .claude; echo x > .claude/settings.json; echo x > .env; rmdir .env; rmdir .claude; \
        echo x > .git/commondir; rm -f .git/commondir) 2>/dev/null; done";
    let attacker = Ended(place.command("full", attack).spawn().unwrap());
    place.wait_for("begun")?;
    for round in 0..10 {
        let mut others: Vec<Child> = (0..3)
            .map(|_| place.command("full", "exit 0").spawn().unwrap())
            .collect();
        // One of them is killed: what it held must not be taken from the others.
        if let Some(killed) = others.first_mut() {
            std::thread::sleep(Duration::from_millis(round));
            killed.kill().unwrap();
        }
        for (number, mut other) in others.into_iter().enumerate() {
            let ended = other.wait().unwrap();
            expect(
                &format!("round {round}: {ended}"),
                number == 0 || ended.success(),
            )?;
        }
        let settings = place.path.join("work/.claude/settings.json").exists();
        let environment = place.path.join("work/.env").is_file();
        let elsewhere = fs::read(place.path.join("work/.git/commondir")).unwrap_or_default();
        expect(
            &format!("round {round}: {settings} {environment} {elsewhere:?}"),
            !settings && !environment && (elsewhere.is_empty() || elsewhere == b".\n"),
        )?;
    }
    fs::write(place.path.join("work/stop"), "").unwrap();
    drop(attacker);
    place.expect_nothing_left()
}

/// On a terminal a program finds it, and Ctrl-C ends everything inside.
fn terminal_and_interrupt(place: &Place) -> Outcome {
    interrupted_on_terminal(place, "full")?;
    if may_restrict(place, "terminal_and_interrupt through bubblewrap")? {
        restricted::copy_of_bubblewrap(&place.bubblewrap());
        interrupted_on_terminal(place, BUBBLEWRAPPED)?;
    }
    place.expect_nothing_left()
}

fn interrupted_on_terminal(place: &Place, tier: &str) -> Outcome {
    let marker = format!("sleep 7{}", std::process::id());
    let inside = format!(
        "test -t 0 && test -t 1 && stty size >/dev/null && echo on-a-terminal; {marker} & {marker}"
    );
    let driver = r#"
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
while b"on-a-terminal" not in seen: seen += os.read(fd, 1000)
time.sleep(0.3); os.write(fd, b"\x03")
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(0 if status == 130 else 1)
"#;
    let contained = place.command(tier, &inside);
    let status = Command::new("timeout")
        .args(["30", "python3", "-c", driver])
        .arg(contained.get_program())
        .args(contained.get_args())
        .current_dir(place.path.join("work"))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    expect(&format!("{tier}: {status}"), status.success())?;
    let left = processes(&format!("{marker}\u{20}"));
    expect(&format!("{tier} left: {left:?}"), left.is_empty())
}

fn time_is_bounded(place: &Place) -> Outcome {
    for tier in ["full", "landlock"] {
        let marker = format!("sleep 8{}", std::process::id());
        let mut command = place.command(tier, &format!("{marker} & {marker}"));
        let (output, said) = said(place, command.env("ESCAPES_TIME", "300"));
        let ended = output.status.code() == Some(124) && said.contains("reached time");
        expect(&format!("{tier}: {} {said}", output.status), ended)?;
        expect(
            &format!("{tier}: it still runs"),
            processes(&marker).is_empty(),
        )?;
    }
    Ok(())
}

/// From an open directory a command goes where it likes, past every wall of mounts.
fn no_stream_is_a_directory(place: &Place) -> Outcome {
    let text = "cat /proc/self/fd/0/../outside/secret > got; echo x > /proc/self/fd/0/.git/hooks/x";
    fs::write(place.path.join("outside/secret"), "x").map_err(|error| error.to_string())?;
    for tier in ["full", "landlock"] {
        let directory = fs::File::open(place.path.join("work")).unwrap();
        let ended = place.command(tier, text).stdin(directory).output().unwrap();
        let nothing_ran = !place.path.join("work/got").exists();
        expect(
            &format!("{tier}: {ended:?}"),
            ended.status.code() == Some(NOT_MADE) && nothing_ran,
        )?;
    }
    Ok(())
}

/// A file that is open for reading is opened again for writing by the name of its descriptor.
fn no_input_is_protected(place: &Place) -> Outcome {
    let (config, data) = (".git/config", "data");
    for (name, runs) in [(config, false), (data, true)] {
        let file = place.path.join("work").join(name);
        fs::write(&file, "[core]\n").map_err(|error| error.to_string())?;
        let mut command = place.command("full", "cat; echo evil >> /proc/self/fd/0");
        let ended = command
            .stdin(fs::File::open(&file).unwrap())
            .output()
            .unwrap();
        expect(
            &format!("{name}: {ended:?}"),
            (ended.status.code() != Some(NOT_MADE)) == runs,
        )?;
    }
    let config = fs::read_to_string(place.path.join("work").join(config)).unwrap();
    expect(&config, config == "[core]\n")
}

fn output_is_bounded(place: &Place) -> Outcome {
    for tier in ["full", "landlock"] {
        let mut command = place.command(tier, "yes; echo never > after");
        let (output, said) = said(place, command.env("ESCAPES_OUTPUT", "5000"));
        let ended = output.status.code() == Some(141) && said.contains("reached output");
        let length = output.stdout.len();
        expect(
            &format!("{tier}: {} {length} bytes, {said}", output.status),
            ended && length == 5000,
        )?;
        // What is short enough comes through whole, in both streams, with its exit code.
        let mut command = place.command(tier, "echo out; echo error >&2; exit 7");
        let output = command.env("ESCAPES_OUTPUT", "5000").output().unwrap();
        let same = output.stdout == b"out\n" && output.stderr == b"error\n";
        expect(
            "a short output is not as it was",
            same && output.status.code() == Some(7),
        )?;
    }
    Ok(())
}

/// A program that takes as many MiB as it is told.
fn take(mebibytes: u64) -> String {
    format!("python3 -c 'x = bytearray({mebibytes} << 20); print(len(x))'")
}

fn memory_is_bounded_or_it_is_said(place: &Place) -> Outcome {
    let mut command = place.command("full", &take(300));
    let (output, said) = said(
        place,
        command.env("ESCAPES_MEMORY", (100 << 20).to_string()),
    );
    if said.contains("unenforced memory") {
        // Somebody who may make no control group: then it ran, and that is said.
        let told = output.status.success() && !said.contains("memory limit");
        return expect(&format!("{} {said}", output.status), told);
    }
    let ended = !output.status.success() && said.contains("reached memory");
    expect(
        &format!("{} {said}", output.status),
        ended && said.contains("memory limit"),
    )?;
    let mut command = place.command("full", &take(10));
    let output = command
        .env("ESCAPES_MEMORY", (100 << 20).to_string())
        .output();
    expect("less than that fails", output.unwrap().status.success())?;
    expect(&format!("left: {:?}", groups()), groups().is_empty())
}

fn processes_are_bounded(place: &Place) -> Outcome {
    let text = "i=0; while test $i -lt 200; do sleep 3 & i=$((i+1)); done; echo all";
    let mut command = place.command("full", text);
    let (output, said) = said(
        place,
        command
            .env("ESCAPES_PROCESSES", "50")
            .env("ESCAPES_MEMORY", (1_u64 << 30).to_string()),
    );
    let all = String::from_utf8_lossy(&output.stdout).contains("all");
    expect(
        &format!("200 processes in place of 50: {said}"),
        !all || said.contains("unenforced processes"),
    )?;
    expect(&format!("left: {:?}", groups()), groups().is_empty())
}

/// What nobody counts for the supervisor: the first process inside finds it.
fn limits_without_a_group_are_told(place: &Place) -> Outcome {
    for (tier, text, told) in [
        // By the shell's exit code, and by the command's own end.
        (
            "full",
            "head -c 2M /dev/zero > big",
            Some("reached fileSize"),
        ),
        (
            "landlock",
            "head -c 2M /dev/zero > big",
            Some("reached fileSize"),
        ),
        (
            "full",
            "exec head -c 2M /dev/zero > big",
            Some("reached fileSize"),
        ),
        ("full", "head -c 1M /dev/zero > big", None),
        // In files that are each small enough.
        (
            "full",
            "for i in $(seq 20); do head -c 1M /dev/zero > /tmp/$i; done",
            Some("reached temporary"),
        ),
        ("full", "head -c 1M /dev/zero > /tmp/1", None),
        ("full", "sleep 9 & sleep 9 & exit 3", None),
    ] {
        let (output, said) = said(place, &mut place.command(tier, text));
        let is_told = told.map_or(!said.contains("reached"), |told| said.contains(told));
        expect(&format!("{tier} {text}: {} {said}", output.status), is_told)?;
    }
    // Root is not held to it without a group, which is said.
    let bomb = "i=0; while test $i -lt 200; do sleep 9 & i=$((i+1)); done; exit 3";
    let mut command = place.command("full", bomb);
    let (_, said) = said(place, command.env("ESCAPES_PROCESSES", "50"));
    let is_told = said.contains("reached processes") || said.contains("unenforced processes");
    expect(&format!("processes: {said}"), is_told)
}

/// The control groups of runs, wherever they are.
fn groups() -> Vec<String> {
    let found = Command::new("find")
        .args(["/sys/fs/cgroup", "-maxdepth", "5", "-type", "d", "-name"])
        .arg("holdpoint-*")
        .output()
        .unwrap();
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    // Those of other runs on this machine are not ours to judge: theirs are alive.
    found
        .lines()
        .filter(|path| {
            let number = path.rsplit('-').next().unwrap_or_default();
            !std::path::Path::new("/proc").join(number).exists()
        })
        .map(str::to_owned)
        .collect()
}

/// A child that is attached to, looked into and let go; and processes that are none of its own.
const DEBUGGER: &str = r#"python3 -c '
import ctypes, os, signal, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
ATTACH, DETACH = 16, 17
value = ctypes.create_string_buffer(b"looked into")
child = os.fork()
if child == 0:
    time.sleep(20); os._exit(0)
class Place(ctypes.Structure): _fields_ = [("at", ctypes.c_void_p), ("length", ctypes.c_size_t)]
copy = ctypes.create_string_buffer(len(value))
mine, its = Place(ctypes.addressof(copy), len(copy)), Place(ctypes.addressof(value), len(value))
attached = libc.ptrace(ATTACH, child, None, None) == 0
if attached:
    os.waitpid(child, 0)
    read = libc.process_vm_readv(child, ctypes.byref(mine), 1, ctypes.byref(its), 1, 0)
    attached = read == len(value) and copy.value == b"looked into"
    libc.ptrace(DETACH, child, None, None)
os.kill(child, signal.SIGKILL)
others = [1, OTHER]
got_out = [other for other in others if libc.ptrace(ATTACH, other, None, None) == 0]
print(attached, got_out)
'"#;

fn debuggers_work_where_allowed(place: &Place) -> Outcome {
    let other = Ended(as_user(place.user, "sleep").arg("60").spawn().unwrap());
    let text = DEBUGGER.replace("OTHER", &other.0.id().to_string());
    for tier in ["full", "landlock"] {
        for (allowed, wanted) in [("1", "True []\n"), ("0", "False []\n")] {
            let mut command = place.command(tier, &text);
            command
                .env("ESCAPES_TRACING", allowed)
                .env("ESCAPES_NOTICE", "1");
            let (output, said) = said(place, &mut command);
            let told = format!("{tier}, {allowed}: {output:?} {said}");
            expect(&told, output.stdout == wanted.as_bytes())?;
            let is_told = said.contains("refused call ptrace");
            expect(&told, is_told == (allowed == "0"))?;
        }
    }
    Ok(())
}

/// What a command that fails did not find, though it is there outside.
fn what_is_hidden_is_told(place: &Place) -> Outcome {
    for file in ["home/data", "home/cache/given", "home/program"] {
        fs::write(place.path.join(file), "x").unwrap();
    }
    let line = |name: &str| format!("hidden {}\n", place.path.join(name).display());
    for tier in ["full", "landlock"] {
        for (text, hidden) in [
            (
                "cat ~/data; ~/program; cat ~/cache/given; cat ~/none; exit 3",
                true,
            ),
            ("cat ~/data; ~/program; true", false),
            ("cat ~/cache/given /etc/passwd >/dev/null; exit 3", false),
        ] {
            let mut command = place.command(tier, text);
            command.env("ESCAPES_NOTICE", "1").stderr(Stdio::null());
            let (_, said) = said(place, &mut command);
            let told = said.contains(&line("home/data")) && said.contains(&line("home/program"));
            let count = said.matches("hidden ").count();
            expect(
                &format!("{tier}, {text}: {said}"),
                told == hidden && count == if hidden { 2 } else { 0 },
            )?;
        }
    }
    // What it makes itself is not hidden from it.
    let mut command = place.command("full", "echo y > ~/data; cat ~/data; exit 3");
    let (output, said) = said(place, command.env("ESCAPES_NOTICE", "1"));
    expect(
        &format!("{output:?} {said}"),
        output.stdout == b"y\n" && !said.contains("hidden "),
    )
}

/// Also where it is protected besides, or lies in what could be carried away for the next run.
fn what_is_hidden_stays_hidden(place: &Place) -> Outcome {
    let work = place.path.join("work");
    fs::create_dir_all(work.join("conf/inner")).unwrap();
    fs::create_dir_all(work.join(".claude")).unwrap();
    for file in [".env", "conf/inner/secret", ".claude/settings.json"] {
        fs::write(work.join(file), "secret").unwrap();
    }
    let hidden = [".env", "conf/inner/secret", ".claude"].map(|name| work.join(name));
    let hidden = hidden
        .each_ref()
        .map(|path| path.display().to_string())
        .join(" ");
    let mut tiers = vec!["full"];
    if may_restrict(place, "what_is_hidden_stays_hidden through bubblewrap")? {
        restricted::copy_of_bubblewrap(&place.bubblewrap());
        tiers.push(BUBBLEWRAPPED);
    }
    let attack =
        "mv conf conf2; mv conf/inner conf/other; rm -r conf .claude; mv .env env; echo x > .env";
    let look = "cat .env conf*/*/secret .claude/settings.json; ls -A .claude; true";
    for tier in tiers {
        for text in [attack, look] {
            let mut command = place.command(tier, text);
            let output = command.env("ESCAPES_HIDE", &hidden).output().unwrap();
            let told = format!("{tier}: {output:?}");
            expect(&told, output.status.code() != Some(NOT_MADE))?;
            expect(
                &told,
                !String::from_utf8_lossy(&output.stdout).contains("se"),
            )?;
        }
        let kept = fs::read(work.join("conf/inner/secret")).unwrap_or_default();
        expect(&format!("{tier}: carried away"), kept == b"secret")?;
    }
    Ok(())
}

/// Somebody outside saves a protected file as editors do, by a new one in its place: that takes the wall there away.
fn what_is_replaced_outside_is_told(place: &Place) -> Outcome {
    let config = place.path.join("work/.git/config");
    let line = format!("replaced {}\n", config.display());
    let wait = "touch begun; while ! test -e go; do sleep 0.05; done; echo evil >> .git/config; rm begun go";
    // Two ways: the second may give the new file the number of the old one.
    for (replaces, told) in [("", false), ("renames", true), ("makes anew", true)] {
        fs::write(&config, "[core]\n").unwrap();
        let mut running = Ended(place.command("full", wait).spawn().unwrap());
        place.wait_for("begun")?;
        match replaces {
            "renames" => {
                fs::write(place.path.join("new"), "[user]\n").unwrap();
                fs::rename(place.path.join("new"), &config).unwrap();
            }
            "makes anew" => {
                fs::remove_file(&config).unwrap();
                fs::write(&config, "[user]\n").unwrap();
            }
            // What is changed in its place stays behind the wall.
            _ => fs::write(&config, "[user]\n").unwrap(),
        }
        fs::write(place.path.join("work/go"), "").unwrap();
        running.0.wait().unwrap();
        let said = fs::read_to_string(place.path.join("said")).unwrap();
        let text = fs::read_to_string(&config).unwrap();
        let found = format!("{replaces}: {text} {said}");
        expect(&found, said.contains(&line) == told)?;
        expect(&found, told || text == "[user]\n")?;
    }
    Ok(())
}

/// Somebody outside takes a placeholder away. A command can have something there then, for as long as it likes.
fn what_is_removed_outside_is_told(place: &Place) -> Outcome {
    let removed = place.path.join("work/.claude");
    let line = format!("replaced {}\n", removed.display());
    let wait = "touch begun; while ! test -e go; do sleep 0.05; done; rm begun go; rmdir .claude 2>/dev/null; \
        mkdir .claude && echo evil > .claude/settings.json && touch could; ";
    for (removes, after) in [(false, "true"), (true, "true"), (true, "rm -r .claude")] {
        let text = format!("{wait} {after}");
        let mut running = Ended(place.command("full", &text).spawn().unwrap());
        place.wait_for("begun")?;
        if removes {
            fs::remove_dir(&removed).unwrap();
        }
        fs::write(place.path.join("work/go"), "").unwrap();
        running.0.wait().unwrap();
        let said = fs::read_to_string(place.path.join("said")).unwrap();
        let could = fs::remove_file(place.path.join("work/could")).is_ok();
        let found = format!("{removes}, {after}: {could} {said}");
        expect(&found, could == removes && said.contains(&line) == removes)?;
        // A person's, as far as the next run can tell.
        let stays = removes && after == "true";
        expect(&found, removed.join("settings.json").exists() == stays)?;
        expect(&found, removed.exists() == stays)?;
        let _ = fs::remove_dir_all(&removed);
    }
    Ok(())
}

/// A link in what a command may change leads where it likes: the next one is not given that.
fn no_link_gives_another_tree(place: &Place) -> Outcome {
    for (directory, file) in [("home/private", "key"), ("outside/data", "data")] {
        let directory = place.path.join(directory);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(file), "there").unwrap();
    }
    let link = |target: &str, at: &str| {
        let at = place.path.join(at);
        std::os::unix::fs::symlink(place.path.join(target), &at).unwrap();
        at.display().to_string()
    };
    let within = link("home/private", "work/given");
    let through = format!("{}/data", link("outside", "work/also"));
    // Nobody contained can change this one.
    let outside = link("home/private", "outside/link");
    for tier in ["full", "landlock"] {
        for (given, file, is_read) in [
            (&within, "home/private/key", false),
            (&outside, "home/private/key", true),
            (&through, "outside/data/data", tier == "full"),
        ] {
            let text = format!("cat {}", place.path.join(file).display());
            let mut command = place.command(tier, &text);
            let output = command.env("ESCAPES_READ", given).output().unwrap();
            // What is no secret of the home's can be read in the tier that has a file system of its own.
            expect(
                &format!("{tier}, {given}: {output:?}"),
                (output.stdout == b"there") == is_read,
            )?;
        }
    }
    Ok(())
}

fn refusals_are_told(place: &Place) -> Outcome {
    let text = "echo x > ../outside/new; echo x > .git/hooks/pre-commit; echo x > ok; unshare -U true; \
        python3 -c 'import socket; s = socket.socket(); s.connect((\"192.0.2.1\", 443))'; \
        python3 -c 'import socket; socket.socket(socket.AF_VSOCK)'; mkdir ../outside/d; cat ../outside/none";
    let mut command = place.command("full", text);
    let (_, said) = said(
        place,
        command.env("ESCAPES_NOTICE", "1").stderr(Stdio::null()),
    );
    let path = |name: &str| place.path.join(name).display().to_string();
    for wanted in [
        format!("refused write {}", path("outside/new")),
        format!("refused write {}", path("outside/d")),
        format!("refused protected {}", path("work/.git/hooks/pre-commit")),
        "refused 192.0.2.1 443: it is not listed".into(),
        "refused call unshare".into(),
        "refused call socket of this kind".into(),
    ] {
        expect(
            &format!("`{wanted}` is not told:\n{said}"),
            said.contains(&wanted),
        )?;
    }
    let lines = said
        .lines()
        .filter(|line| line.starts_with("refused"))
        .count();
    expect(&format!("more is told:\n{said}"), lines == 6)?;
    expect(
        "what is told was done",
        !place.path.join("outside/new").exists(),
    )?;
    expect(
        "what is given was not done",
        place.path.join("work/ok").exists(),
    )
}

fn everything_is_told(place: &Place) -> Outcome {
    fs::write(place.path.join("outside/read"), "x").unwrap();
    let text = "cat ../outside/read; echo x > made; echo x > \"$HOME/lost\"; /bin/true";
    let (output, said) = said(
        place,
        place.command("full", text).env("ESCAPES_NOTICE", "2"),
    );
    expect(&format!("{}", output.status), output.status.success())?;
    let path = |name: &str| place.path.join(name).display().to_string();
    for wanted in [
        format!("read {}", path("outside/read")),
        format!("written {}", path("work/made")),
        format!("written {}", path("home/lost")),
        "/true\n".into(),
    ] {
        expect(
            &format!("`{wanted}` is not told:\n{said}"),
            said.contains(&wanted),
        )?;
    }
    Ok(())
}

/// Features of the kernel, masked one by one: what the run then says of itself holds, or it does not run.
fn the_stated_level_is_true(place: &Place) -> Outcome {
    let text =
        "echo x > ../outside/out; echo x > made; cat /proc/self/status | grep -q 'Seccomp:.*2'";
    // Where bubblewrap is, it does without the newer calls for mounts.
    let other = place.user != "root" && std::path::Path::new("/usr/bin/bwrap").exists();
    for (mask, full) in [
        ("", true),
        ("users", place.user == "root"),
        ("landlock", false),
        ("open_tree", other),
        ("mount_setattr", other),
        ("move_mount", other),
        ("mount", false),
        ("seccomp", false),
        ("close_range", false),
        ("sethostname", false),
        ("listener", true),
        ("mounts", false),
        ("processes", false),
        ("network", false),
        ("ipc", false),
        ("host names", false),
        ("groups", false),
        ("capset", false),
    ] {
        for floor in ["full", "any"] {
            let _ = fs::remove_file(place.path.join("work/made"));
            let mut command = place.command(floor, text);
            command.env("ESCAPES_MASK", mask).env("ESCAPES_NOTICE", "1");
            let (output, said) = said(place, command.stderr(Stdio::null()));
            let told = format!("{mask}, floor {floor}: {} {said}", output.status);
            expect(
                &format!("got out: {told}"),
                !place.path.join("outside/out").exists(),
            )?;
            let ran = place.path.join("work/made").exists();
            expect(
                &format!("ran and says nothing: {told}"),
                ran != said.is_empty(),
            )?;
            let at_full = said.contains("tier full\n");
            expect(
                &format!("says full: {told}"),
                at_full == full || floor == "any" && !ran,
            )?;
            expect(
                &format!("does not say it fails: {told}"),
                ran || output.status.code() == Some(125),
            )?;
            let by_other = said.contains("by bubblewrap");
            let masks_mounts = matches!(mask, "open_tree" | "mount_setattr" | "move_mount");
            expect(
                &format!("who made it: {told}"),
                by_other == (at_full && masks_mounts),
            )?;
            // Each layer that is named stands.
            let users = said.contains("layers users");
            expect(&format!("users: {told}"), !(mask == "users" && users))?;
            expect(&format!("landlock: {told}"), !(mask == "landlock" && ran))?;
            expect(&format!("seccomp: {told}"), !(mask == "seccomp" && ran))?;
            expect(&format!("capset: {told}"), !(mask == "capset" && ran))?;
            for layer in ["mounts", "processes", "network"] {
                let mut layers = said.lines().filter(|line| line.starts_with("layers "));
                let stands = layers.any(|line| line.contains(layer));
                expect(&format!("{layer}: {told}"), !(mask == layer && stands))?;
            }
        }
    }
    Ok(())
}

/// Whether a machine is to be had on which only bubblewrap can make a sandbox: for an ordinary user, by root. Root without
/// bubblewrap is an error; whoever is not root cannot make such a machine.
fn may_restrict(place: &Place, name: &str) -> Result<bool, String> {
    if place.user == "root" {
        return Ok(false);
    }
    if place.user == "self" {
        println!("skip {name}: it takes root");
        return Ok(false);
    }
    if !restricted::is_possible() && !may_be_left_out() {
        return Err("bubblewrap is missing; HOLDPOINT_SKIP_SANDBOX=1 leaves it out".into());
    }
    Ok(restricted::is_possible())
}

/// Where only bubblewrap can make a sandbox, all that is true of one holds; what it cannot give is refused.
fn bubblewrap_makes_it(place: &Place) -> Outcome {
    if !may_restrict(place, "bubblewrap_makes_it")? {
        return Ok(());
    }
    restricted::copy_of_bubblewrap(&place.bubblewrap());
    let marker = format!("sleep 6{}", std::process::id());
    let text = "echo out; echo error >&2; echo x > made; echo x > ../outside/out; exit 7";
    let mut command = place.command(BUBBLEWRAPPED, text);
    let (output, told) = said(place, command.env("ESCAPES_NOTICE", "1"));
    let stands = told.contains("tier full\nlayers mounts, processes, network, ")
        && told.contains("by bubblewrap")
        && told.contains("unenforced temporary");
    let outside = place.path.join("outside/out");
    expect(&told, stands && !outside.exists())?;
    expect(
        &told,
        told.contains(&format!("refused write {}", outside.display())),
    )?;
    let streams = output.stdout == b"out\n" && output.stderr.starts_with(b"error\n");
    let passed = streams && output.status.code() == Some(7);
    expect(&format!("{output:?}"), passed)?;
    // Limits, and whatever forks away.
    let text = format!("setsid {marker} & {marker}");
    let mut command = place.command(BUBBLEWRAPPED, &text);
    let (output, told) = said(place, command.env("ESCAPES_TIME", "500"));
    let ended = output.status.code() == Some(124) && told.contains("reached time");
    expect(&format!("{} {told}", output.status), ended)?;
    expect("it still runs", processes(&marker).is_empty())?;
    let mut command = place.command(BUBBLEWRAPPED, "yes");
    let (output, told) = said(place, command.env("ESCAPES_OUTPUT", "5000"));
    let ended = output.status.code() == Some(141) && output.stdout.len() == 5000;
    expect(&format!("{} {told}", output.status), ended)?;
    // A signal to the supervisor is the command's.
    let text = format!("trap 'exit 33' TERM; touch ready; {marker} & wait");
    let mut running = Ended(place.command(BUBBLEWRAPPED, &text).spawn().unwrap());
    place.wait_for("ready")?;
    let number = libc::pid_t::try_from(running.0.id()).unwrap();
    // SAFETY: the child is ours, and nobody has waited for it.
    unsafe { libc::kill(number, libc::SIGTERM) };
    let ended = running.0.wait().unwrap();
    expect(&format!("{ended}"), ended.code() == Some(33))?;
    // Killed from before bubblewrap starts to well after the command has.
    let long = std::env::var_os("HOLDPOINT_LOAD").is_some_and(|load| load == "full");
    for run in 0..if long { 500 } else { 20 } {
        let text = format!("{marker} & {marker}");
        let mut child = place.command(BUBBLEWRAPPED, &text).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(run * 7919 % 60_000));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // Bubblewrap itself is gone, too, and nothing waits for it.
    let running = || [processes(&marker), processes("--inside-bubblewrap")].concat();
    let until = Instant::now() + Duration::from_secs(5);
    while !running().is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let left = running();
    expect(&format!("left: {left:?}"), left.is_empty())?;
    place.expect_nothing_left()?;
    // What it cannot give.
    let mut command = place.command(BUBBLEWRAPPED, "touch with-hosts");
    let (output, _) = said(place, command.env("ESCAPES_HOSTS", "good.example"));
    let made = place.path.join("work/with-hosts").exists();
    expect("it gives hosts", output.status.code() == Some(125) && !made)
}

/// A bubblewrap that does not do what it is told, and one that does nothing at all.
fn bubblewrap_that_makes_less_is_not_believed(place: &Place) -> Outcome {
    if !may_restrict(place, "bubblewrap_that_makes_less_is_not_believed")? {
        return Ok(());
    }
    const MOUNTS: &str = "in bubblewrap, making the rest read-only";
    let real = place.path.with_extension("real");
    restricted::copy_of_bubblewrap(&real);
    let namespaces =
        "--unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup --as-pid-1";
    let mounts = "--ro-bind / / --tmpfs /tmp --tmpfs /var/tmp --tmpfs /run --proc /proc --dev /dev";
    let all = format!("{mounts} {namespaces}");
    let without = |more: &str| {
        let kept = format!("sed -i '{more}' args");
        format!(r#"{kept}; tr '\n' '\0' < args > args0; exec REAL --args 9 9< args0 -- "$@""#)
    };
    let mut outcome = Ok(());
    for (what, last, seen) in [
        ("it does all", without(""), ""),
        ("it makes nothing", r#"exec "$@""#.to_owned(), "bubblewrap"),
        (
            "everything can be written",
            format!(
                r#"exec REAL --bind / / --proc /proc --dev /dev {namespaces} --info-fd $info -- "$@""#
            ),
            MOUNTS,
        ),
        (
            "nothing is protected",
            format!(r#"exec REAL {all} --bind "$WORK" "$WORK" --info-fd $info -- "$@""#),
            MOUNTS,
        ),
        (
            "its network is the machine's",
            without("/^--unshare-net$/d"),
            "in bubblewrap, namespaces",
        ),
        (
            "one path is not protected",
            without("/^--ro-bind$/{N;N;/hooks/d}"),
            MOUNTS,
        ),
        (
            "one path can be read",
            without("/^--perms$/{N;/0000/{N;N;N;N;d}}"),
            MOUNTS,
        ),
    ] {
        // Its own arguments are `--args NUMBER -- PROGRAM …`. Sizes and users are not for one that is setuid.
        let script = format!(
            "#!/bin/bash\nWORK={}\nhere=$PWD; cd \"$WORK/../home\"; tr '\\0' '\\n' <&$2 | \
             sed '/^--size$/,+1d;/^--unshare-user$/d' > args; shift 3\n\
             info=$(grep -A1 info-fd args | tail -n 1)\n{}\n",
            place.path.join("work").display(),
            last.replace("REAL", &real.display().to_string())
        );
        fs::write(place.bubblewrap(), script).unwrap();
        let done = Command::new("chmod")
            .arg("755")
            .arg(place.bubblewrap())
            .status();
        assert!(done.unwrap().success());
        let _ = fs::remove_file(place.path.join("work/made"));
        let mut command = place.command(BUBBLEWRAPPED, "echo x > made");
        let (output, told) = said(place, &mut command);
        let ran = place.path.join("work/made").exists();
        let code = output.status.code();
        // Who was started inside has seen it.
        let reason = String::from_utf8_lossy(&output.stdout);
        let refused = code == Some(125) && reason.contains(seen);
        let fine = match seen {
            "" => ran && code == Some(0),
            _ => !ran && refused,
        };
        outcome = outcome.and(expect(&format!("{what}: {output:?} {told}"), fine));
    }
    fs::remove_file(real).unwrap();
    outcome
}

/// What a host of packages has: a Python one and one for Node.js, made where the command will not find it.
const PACKAGES: &str = r#"
mkdir -p simple/two two/- package && cd "$1"
printf 'def two():\n    return 2\n' > two.py
python3 - <<'P'
import zipfile
with zipfile.ZipFile("simple/two/two-1.0-py3-none-any.whl", "w") as wheel:
    wheel.write("two.py")
    info = "two-1.0.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: two\nVersion: 1.0\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(info + "RECORD", "two.py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n")
P
echo '<a href="two-1.0-py3-none-any.whl">two-1.0-py3-none-any.whl</a>' > simple/two/index.html
echo '{"name":"two","version":"1.0.0","main":"index.js"}' > package/package.json
echo 'module.exports = 2' > package/index.js
tar czf two/-/two-1.0.0.tgz package
"#;

/// The server's part of it: any file below a directory, for who asks, until this process ends.
fn serve(directory: PathBuf) -> u16 {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let Some(first) = lines.next() else { continue };
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let path = first.split(' ').nth(1).unwrap_or_default();
            let path = path.trim_start_matches('/').trim_end_matches('/');
            let file = directory.join(path);
            let file = if file.is_dir() {
                file.join("index.html")
            } else {
                file
            };
            let (status, body) = match fs::read(file) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", Vec::new()),
            };
            let kind = if path.ends_with("two") {
                "text/html"
            } else {
                "application/octet-stream"
            };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            // Who has gone needs no answer.
            let _ = (&stream).write_all(head.as_bytes());
            let _ = (&stream).write_all(&body);
        }
    });
    port
}

/// `pip install`, `npm ci` and what they installed at work, from a host that is listed, and from no other. Nothing of it is
/// outside of this machine.
fn packages_come_from_a_listed_host(place: &Place) -> Outcome {
    let packages = place.path.join("packages");
    fs::create_dir_all(packages.join("x")).unwrap();
    let made = Command::new("sh")
        .args(["-c", PACKAGES, "sh", "."])
        .current_dir(&packages)
        .status()
        .unwrap();
    expect("packages cannot be made", made.success())?;
    fs::write(place.path.join("work/port"), serve(packages).to_string()).unwrap();
    let pip = "python3 -m pip install -q --disable-pip-version-check --no-cache-dir --root-user-action=ignore \
        --target lib --retries 0 --trusted-host HOST --index-url http://HOST:8080/simple two && \
        PYTHONPATH=lib python3 -c 'import two; assert two.two() == 2'";
    let npm = r#"unset HTTPS_PROXY https_proxy; mkdir -p node && cd node
        echo '{"name":"n","version":"1.0.0","dependencies":{"two":"1.0.0"},"scripts":{"test":"node t.js"}}' > package.json
        echo '{"name":"n","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"n","version":"1.0.0","dependencies":{"two":"1.0.0"}},
            "node_modules/two":{"version":"1.0.0","resolved":"http://HOST:8080/two/-/two-1.0.0.tgz"}}}' > package-lock.json
        echo 'process.exit(require("two") === 2 ? 0 : 1)' > t.js
        rm -rf node_modules && npm ci --no-audit --no-fund --fetch-retries=0 --registry http://HOST:8080/ && npm test --silent"#;
    for (needs, text) in [("python3 -m pip --version", pip), ("npm --version", npm)] {
        let there = as_user(place.user, "sh")
            .args(["-c", needs])
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        expect(&format!("`{needs}` is missing"), there.unwrap().success())?;
        for (host, listed) in [("packages.example", true), ("other.example", false)] {
            let mut command = place.command("full", &text.replace("HOST", host));
            command
                .env("ESCAPES_HOSTS", "packages.example:8080")
                .env("ESCAPES_NOTICE", "1");
            let (output, said) = said(place, &mut command);
            let told = format!(
                "{needs} from {host}: {} {said} {}{}",
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            expect(&told, output.status.success() == listed)?;
            let (opened, refused) = (format!("opened {host} 8080"), format!("refused {host}"));
            expect(
                &told,
                said.contains(&opened) == listed && said.contains(&refused) != listed,
            )?;
        }
    }
    Ok(())
}

/// An authority, and certificates of hosts by it, as far as `openssl` makes them.
const CERTIFICATES: &str = r#"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=tests -keyout ca.key -out ca.pem
for name in good.example other.example evil.example rebound.example packages.example; do
    openssl req -newkey rsa:2048 -nodes -subj /CN=$name -keyout $name.key -out $name.request
    echo "subjectAltName=DNS:$name" > extensions
    openssl x509 -req -in $name.request -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out $name.pem
done
"#;

/// A server that has a certificate for whoever is asked for, notes who that was, and serves a directory. `wrong.example` it has
/// none for, and shows that of another.
const TLS_SERVER: &str = r#"
import functools, http.server, os, ssl, sys
contexts = {}
for name in ["good", "other", "evil", "rebound", "packages"]:
    contexts[name + ".example"] = context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{name}.example.pem", f"{name}.example.key")
def choose(socket, name, _):
    open("asked-by-tls", "a").write(f"{name}\n")
    socket.context = contexts.get(name, contexts["good.example"])
first = contexts["good.example"]
first.sni_callback = choose
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="served")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
server.socket = first.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
open("port.new", "w").write(str(server.server_address[1]))
os.rename("port.new", sys.argv[1])
server.serve_forever()
"#;

/// Ways to hosts by TLS, and what came of each.
const TLS_CLIENT: &str = r#"python3 - <<'P' 2>&1
import os, socket, ssl, urllib.request
trusting = ssl.create_default_context(cafile="ca.pem")
blind = ssl.create_default_context(); blind.check_hostname = False; blind.verify_mode = ssl.CERT_NONE
gateway, port = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
def plain(name): return socket.create_connection((name, 443), 5)
def connect(name):
    way = socket.create_connection((gateway, int(port)), 5)
    way.sendall(f"CONNECT {name}:443 HTTP/1.1\r\n\r\n".encode())
    answer = way.recv(1000)
    assert answer.startswith(b"HTTP/1.1 200"), answer
    return way
def socks(name):
    way = socket.create_connection((gateway, int(port)), 5)
    way.sendall(b"\5\1\0"); assert way.recv(2) == b"\5\0"
    way.sendall(b"\5\1\0\3" + bytes([len(name)]) + name.encode() + b"\x01\xbb")
    assert way.recv(10)[1] == 0
    return way
def said(way, name, context=trusting):
    with context.wrap_socket(way, server_hostname=name) as tls:
        tls.sendall(f"GET /hello HTTP/1.0\r\nHost: {name}\r\n\r\n".encode())
        return b"".join(iter(lambda: tls.recv(1000), b"")).split(b"\r\n\r\n")[1].decode().strip()
def slow(way):
    way.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    inner, outer = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting.wrap_bio(inner, outer, server_hostname="good.example")
    try: tls.do_handshake()
    except ssl.SSLWantReadError: pass
    for byte in outer.read(): way.sendall(bytes([byte]))
    return way.recv(5)[:1] == b"\x16"
def hello(name):
    inner, outer = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = blind.wrap_bio(inner, outer, server_hostname=name)
    try: tls.do_handshake()
    except ssl.SSLWantReadError: pass
    return outer.read()
def answered(way, begins):
    way.settimeout(5)
    try:
        way.sendall(begins)
        return "answered" if way.recv(5) else "cut"
    except ConnectionError: return "cut"
def tried(what, way):
    try: print(what, way())
    except Exception as error: print(what, "no")
tried("direct", lambda: said(plain("good.example"), "good.example"))
tried("capitals", lambda: said(plain("GOOD.Example"), "good.example"))
tried("connect", lambda: said(connect("good.example"), "good.example"))
tried("socks", lambda: said(socks("good.example"), "good.example"))
opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trusting))
tried("urllib", lambda: opener.open("https://good.example/hello").read().decode().strip())
tried("slowly", lambda: slow(plain("good.example")))
tried("another listed host", lambda: said(connect("good.example"), "other.example"))
tried("a host that is not listed", lambda: said(plain("evil.example"), "evil.example", blind))
tried("connect to one that is not listed", lambda: said(connect("evil.example"), "evil.example", blind))
for name, way in [("direct", plain), ("connect", connect), ("socks", socks)]:
    tried(f"{name}, for another", lambda: said(way("good.example"), "evil.example", blind))
    tried(f"{name}, for nobody", lambda: said(way("good.example"), None, blind))
    tried(f"{name}, below a name", lambda: said(way("good.example"), "a.good.example", blind))
for_evil = hello("evil.example")
for name, way in [("direct", plain), ("connect", connect)]:
    tried(f"{name}, whole", lambda: answered(way("good.example"), hello("good.example")))
    tried(f"{name}, in an odd version", lambda: answered(way("good.example"), b"\x16\4" + for_evil[2:]))
    tried(f"{name}, after an alert", lambda: answered(way("good.example"), b"\x15\3\1\0\2\1\0" + for_evil))
    tried(f"{name}, in the oldest form", lambda: answered(way("good.example"), b"\x80\x2e\1\3\3\0\x15\0\0\0\x10" + bytes(37)))
tried("a certificate of another's", lambda: said(plain("wrong.example"), "wrong.example"))
tried("no authority", lambda: said(plain("good.example"), "good.example", ssl.create_default_context()))
tried("public at first", lambda: said(plain("rebound.example"), "rebound.example"))
tried("then this machine", lambda: said(plain("rebound.example"), "rebound.example"))
tried("then by connect", lambda: said(connect("rebound.example"), "rebound.example"))
tried("a private one", lambda: said(connect("private.example"), "private.example", blind))
P
"#;

const TLS_WANTED: &str = "\
direct hello
capitals hello
connect hello
socks hello
urllib hello
slowly True
another listed host hello
a host that is not listed no
connect to one that is not listed no
direct, for another no
direct, for nobody no
direct, below a name no
connect, for another no
connect, for nobody no
connect, below a name no
socks, for another no
socks, for nobody no
socks, below a name no
direct, whole answered
direct, in an odd version cut
direct, after an alert cut
direct, in the oldest form cut
connect, whole answered
connect, in an odd version cut
connect, after an alert cut
connect, in the oldest form cut
a certificate of another's no
no authority no
public at first hello
then this machine no
then by connect no
a private one no
";

/// TLS from inside to a listed host and to no other, whatever a client names, and packages by it.
fn listed_hosts_are_reached_by_tls(place: &Place) -> Outcome {
    let outside = place.path.join("tls");
    fs::create_dir_all(outside.join("served/x")).unwrap();
    fs::write(outside.join("served/hello"), "hello\n").unwrap();
    for (text, directory) in [
        (CERTIFICATES, &outside),
        (PACKAGES, &outside.join("served")),
    ] {
        let made = Command::new("sh")
            .args(["-e", "-c", text, "sh", "."])
            .current_dir(directory)
            .stderr(Stdio::null())
            .status();
        expect(
            "certificates or packages cannot be made",
            made.unwrap().success(),
        )?;
    }
    fs::copy(outside.join("ca.pem"), place.path.join("work/ca.pem")).unwrap();
    let server = Command::new("python3")
        .args(["-c", TLS_SERVER])
        .arg(place.path.join("work/port"))
        .current_dir(&outside)
        .stderr(Stdio::null())
        .spawn();
    let _server = Ended(server.unwrap());
    place.wait_for("port")?;
    let hosts = "good.example other.example wrong.example rebound.example private.example";
    let inside = |hosts: &str, text: &str| {
        let mut command = place.command("full", text);
        command
            .env("ESCAPES_HOSTS", hosts)
            .env("ESCAPES_NOTICE", "1");
        said(place, &mut command)
    };
    let (output, told) = inside(hosts, TLS_CLIENT);
    let answers = String::from_utf8_lossy(&output.stdout).into_owned();
    expect(&format!("{answers}{told}"), answers == TLS_WANTED)?;
    for wanted in [
        "refused evil.example 443: TLS was begun for it on a connection to a listed host",
        "refused a.good.example 443: TLS was begun for it",
        "refused good.example 443: TLS was begun without saying for which host",
        "refused rebound.example 443: an address of it is not public",
        "refused private.example 443: an address of it is not public",
    ] {
        expect(&format!("`{wanted}`: {told}"), told.contains(wanted))?;
    }
    let asked = fs::read_to_string(outside.join("asked-by-tls")).unwrap();
    let strangers = asked.lines().filter(|name| {
        !matches!(
            *name,
            "good.example" | "other.example" | "wrong.example" | "rebound.example"
        )
    });
    let strangers: Vec<_> = strangers.collect();
    expect(&format!("got through: {strangers:?}"), strangers.is_empty())?;
    let dialled = fs::read_to_string(place.path.join("dialled")).unwrap();
    let others = dialled
        .lines()
        .any(|address| address != "93.184.216.34:443");
    expect(&dialled, !others)?;
    let pip = "python3 -m pip install -q --disable-pip-version-check --no-cache-dir --root-user-action=ignore \
        --target lib --retries 0 --cert ca.pem --index-url https://HOST/simple two && \
        PYTHONPATH=lib python3 -c 'import two; assert two.two() == 2'";
    let npm = r#"mkdir -p node && cd node
        echo '{"name":"n","version":"1.0.0","dependencies":{"two":"1.0.0"},"scripts":{"test":"node t.js"}}' > package.json
        echo '{"name":"n","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"n","version":"1.0.0","dependencies":{"two":"1.0.0"}},
            "node_modules/two":{"version":"1.0.0","resolved":"https://HOST/two/-/two-1.0.0.tgz"}}}' > package-lock.json
        echo 'process.exit(require("two") === 2 ? 0 : 1)' > t.js
        rm -rf node_modules && npm ci --no-audit --no-fund --fetch-retries=0 --cafile ../ca.pem --registry https://HOST/ && npm test --silent"#;
    for text in [pip, npm] {
        for (host, listed) in [("packages.example", true), ("other.example", false)] {
            let (output, told) = inside("packages.example", &text.replace("HOST", host));
            expect(
                &format!("{text} from {host}: {output:?} {told}"),
                output.status.success() == listed
                    && told.contains(&format!("opened {host} 443")) == listed,
            )?;
        }
    }
    Ok(())
}

/// Processes whose command line has this in it.
fn processes(marker: &str) -> Vec<String> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let words = fs::read(entry.path().join("cmdline")).ok()?;
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            words.contains(marker).then_some(words)
        })
        .collect()
}
