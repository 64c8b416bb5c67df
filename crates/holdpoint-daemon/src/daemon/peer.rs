//! Whether a process belongs to an agent's call. A person's answer never comes from there.
//!
//! Agents mark the environment of what they run. A process can drop such a mark, but not from the
//! shell that started it: every process above it is looked at, too.

use std::fmt;
use std::fs;

/// Variables agents set for the commands they run.
const MARKS: &[&str] = &[
    "AMP_THREAD_ID",
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLINE_ACTIVE",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "GOOSE_TERMINAL",
    "HOLDPOINT_CALL",
    "KIRO_AGENT",
    "OPENCODE",
    "QWEN_CODE",
];

/// The most processes above that are looked at: far more than people nest their shells. Of a longer chain nobody
/// can say that no agent is above it.
const MAX_ABOVE: usize = 1024;

/// Why a process is taken for an agent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// An agent's mark is on it, or on one above it.
    Mark(&'static str),
    /// There are too many above it to look at all of them.
    TooDeep,
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sign::Mark(mark) => write!(f, "{mark} is set above it"),
            Sign::TooDeep => write!(f, "more than {MAX_ABOVE} processes are above it"),
        }
    }
}

/// Whether a process can be looked at. One that has gone, or is somebody else's, cannot.
#[cfg(target_os = "linux")]
pub fn can_be_seen(process: u32) -> bool {
    fs::read(format!("/proc/{process}/environ")).is_ok()
}

/// Where there is no way to look, nothing is seen that speaks against a process.
#[cfg(not(target_os = "linux"))]
pub fn can_be_seen(_process: u32) -> bool {
    true
}

/// The sign of an agent on a process or on one above it.
pub fn agent_above(process: u32) -> Option<Sign> {
    let mut process = process;
    for _ in 0..MAX_ABOVE {
        if process <= 1 {
            return None;
        }
        if let Some(mark) = marked(process) {
            return Some(Sign::Mark(mark));
        }
        process = parent_of(process)?;
    }
    Some(Sign::TooDeep)
}

/// The same for this process.
pub fn agent_above_us() -> Option<Sign> {
    let own = MARKS
        .iter()
        .find(|mark| std::env::var_os(mark).is_some_and(|value| !value.is_empty()));
    let own = own.copied().map(Sign::Mark);
    own.or_else(|| agent_above(std::process::id()))
}

/// What is said to whoever should sit at a terminal and does not.
pub const NO_TERMINAL: &str = "nobody sits at a terminal here, so nobody is signed in and nothing is let run: do it in a terminal of \
    yours. A script that should answer is a person of its own, with a token (`holdpoint people add NAME`); where nobody needs to sit at \
    one, the policy says so (`\"approval\": {\"presence\": \"none\"}`)";

/// The terminal a process is started from, if a login leads to it.
///
/// It stops slips, and programs that were started without a terminal: one that makes a terminal of its own on a machine that
/// keeps no list of logins, too. It does not stop one that makes a terminal of its own inside the login session of its owner.
#[cfg(target_os = "linux")]
pub fn terminal_of(process: u32) -> Option<String> {
    let terminal = terminal_number(process)?;
    leads_to_login(process).then(|| terminal_name(terminal))
}

/// Where there is no way to look, a terminal is taken for there.
#[cfg(not(target_os = "linux"))]
pub fn terminal_of(_process: u32) -> Option<String> {
    Some("terminal".into())
}

/// The same for this process.
#[cfg(target_os = "linux")]
pub fn terminal_of_ours() -> Option<String> {
    terminal_of(std::process::id())
}

/// Of this process it is known whether it has a terminal: that can be opened.
#[cfg(not(target_os = "linux"))]
pub fn terminal_of_ours() -> Option<String> {
    fs::File::open("/dev/tty").ok().map(|_| "terminal".into())
}

/// The number of the controlling terminal, as the system counts devices.
#[cfg(target_os = "linux")]
fn terminal_number(process: u32) -> Option<u32> {
    numbered(&stat_field(process, 4)?)
}

/// The number as the system writes it: signed, of 32 bits, 0 where there is no terminal.
#[cfg(target_os = "linux")]
fn numbered(text: &str) -> Option<u32> {
    let number: i64 = text.parse().ok()?;
    u32::try_from(number & 0xffff_ffff)
        .ok()
        .filter(|number| *number != 0)
}

/// `pts/3`, `tty1`; by its numbers if it is of another kind.
#[cfg(target_os = "linux")]
fn terminal_name(number: u32) -> String {
    let major = (number >> 8) & 0xfff;
    let minor = (number & 0xff) | ((number >> 12) & 0xf_ff00);
    match major {
        136..=143 => format!("pts/{}", (major - 136) * 256 + minor),
        4 => format!("tty{minor}"),
        _ => format!("terminal {major}:{minor}"),
    }
}

/// Whether a login leads to a process: the kernel has counted one for it, the system's manager keeps it in the session of one, or
/// it was brought in from outside (a container's terminal), where nothing of that is kept.
#[cfg(target_os = "linux")]
fn leads_to_login(process: u32) -> bool {
    let groups = fs::read_to_string(format!("/proc/{process}/cgroup"));
    match groups.map_or(Origin::Unknown, |groups| origin(&groups)) {
        Origin::Login => return true,
        // A login has been counted for the manager that started it, too, and nobody has to be signed in for that.
        Origin::Service => return false,
        Origin::Unknown => {}
    }
    let counted = fs::read_to_string(format!("/proc/{process}/sessionid"))
        .is_ok_and(|text| is_counted(&text));
    if counted {
        return true;
    }
    let mut top = process;
    for _ in 0..MAX_ABOVE {
        match parent_of(top) {
            // Its parent is outside of what can be seen from here. The first process of all has none, either: that it has a
            // terminal says that somebody started the container at one.
            Some(0) => return top != 1 || terminal_number(1).is_some(),
            Some(parent) => top = parent,
            None => return false,
        }
    }
    false
}

/// Where the system's manager keeps a process.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// In the session of a login, or in an application somebody started from their desktop.
    Login,
    /// In a service of an account, which runs whether anybody is signed in or not.
    Service,
    /// Where nothing is said of logins.
    Unknown,
}

/// Where a process is kept, by its groups (`/proc/PID/cgroup`): `session-3.scope` is a login; of what the manager of an account
/// keeps (`user@1000.service`) scopes are made for what somebody starts, a terminal's shells among them, and services are started
/// by it, but for those desktops make of applications (`app-…`).
#[cfg(target_os = "linux")]
fn origin(groups: &str) -> Origin {
    let mut paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let Some(path) = paths.find(|path| path.contains("/user.slice/")) else {
        return Origin::Unknown;
    };
    let units: Vec<&str> = path.split('/').collect();
    let is_session = |unit: &&str| unit.starts_with("session-") && unit.ends_with(".scope");
    if units.iter().any(is_session) {
        return Origin::Login;
    }
    let Some(manager) = units
        .iter()
        .position(|unit| unit.starts_with("user@") && unit.ends_with(".service"))
    else {
        return Origin::Unknown;
    };
    // What a unit makes below itself has any name: the first unit counts that is no slice.
    let below = units.iter().skip(manager + 1);
    match below.copied().find(|unit| !unit.ends_with(".slice")) {
        Some("init.scope") | None => Origin::Service,
        Some(unit) if unit.ends_with(".scope") || unit.starts_with("app-") => Origin::Login,
        Some(_) => Origin::Service,
    }
}

/// Whether the kernel has counted a login, by what it says of a process (`/proc/PID/sessionid`).
#[cfg(target_os = "linux")]
fn is_counted(text: &str) -> bool {
    text.trim()
        .parse::<u32>()
        .is_ok_and(|number| number != u32::MAX)
}

/// The mark in the environment a process was started with.
fn marked(process: u32) -> Option<&'static str> {
    let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
    let mut names = environment
        .split(|byte| *byte == 0)
        .filter_map(|entry| {
            let mut sides = entry.splitn(2, |byte| *byte == b'=');
            Some((sides.next()?, sides.next()?))
        })
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, _)| name);
    names.find_map(|name| MARKS.iter().find(|mark| mark.as_bytes() == name).copied())
}

fn parent_of(process: u32) -> Option<u32> {
    stat_field(process, 1)?.parse().ok()
}

/// A field of what the system says of a process, counted from behind its name.
fn stat_field(process: u32, number: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    field_of(&stat, number).map(str::to_owned)
}

/// The same of a text as the system writes it.
fn field_of(stat: &str, number: usize) -> Option<&str> {
    // The name in parentheses may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(number)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_terminal_is_known_by_its_number() {
        let stat = "4711 (a) 1 (b) c) S 4700 4711 4711 34819 4712 4194304 0";
        assert_eq!(field_of(stat, 1), Some("4700"));
        assert_eq!(field_of(stat, 4), Some("34819"));
        assert_eq!(field_of("4711 sh S 1", 1), None);
        let name = |text: &str| numbered(text).map(terminal_name);
        assert_eq!(name("34819").as_deref(), Some("pts/3"));
        assert_eq!(name("35072").as_deref(), Some("pts/256"));
        assert_eq!(name("1025").as_deref(), Some("tty1"));
        assert_eq!(name("1280").as_deref(), Some("terminal 5:0"));
        assert_eq!(name("0"), None);
        assert_eq!(name("x"), None);
        assert_eq!(numbered("-1"), Some(u32::MAX));
    }

    #[test]
    fn a_login_is_told_from_a_service_of_the_account() {
        let below = |path: &str| origin(&format!("0::/user.slice/user-1000.slice/{path}\n"));
        for path in [
            "session-3.scope",
            "user@1000.service/app.slice/app-org.gnome.Terminal.slice/vte-spawn-5c.scope",
            "user@1000.service/app.slice/app-org.kde.konsole@9f.service",
            "user@1000.service/tmux-spawn-17.scope",
        ] {
            assert_eq!(below(path), Origin::Login, "{path}");
        }
        for path in [
            "user@1000.service/app.slice/holdpoint.service",
            "user@1000.service/background.slice/agent.service",
            "user@1000.service/session.slice/dbus.service",
            "user@1000.service/app.slice/agent.service/own.scope",
            "user@1000.service/init.scope",
            "user@1000.service",
        ] {
            assert_eq!(below(path), Origin::Service, "{path}");
        }
        for groups in [
            "",
            "0::/\n",
            "0::/system.slice/ssh.service\n",
            "0::/user.slice\n",
            "12:pids:/docker/abc\n0::/docker/abc\n",
        ] {
            assert_eq!(origin(groups), Origin::Unknown, "{groups:?}");
        }
        // The older form has a line for each kind of group.
        let old = "4:memory:/user.slice\n1:name=systemd:/user.slice/user-0.slice/session-c1.scope\n0::/\n";
        assert_eq!(origin(old), Origin::Login);
    }

    #[test]
    fn a_login_that_was_counted_has_a_number() {
        for (text, counted) in [
            ("3", true),
            ("0\n", true),
            ("4294967295", false),
            ("", false),
            ("-1", false),
        ] {
            assert_eq!(is_counted(text), counted, "{text:?}");
        }
    }

    #[test]
    fn a_mark_cannot_be_dropped_from_the_shell_above() {
        let mut child = Command::new("sh")
            .args(["-c", "env -u CLAUDECODE sleep 5; true"])
            .env("CLAUDECODE", "1")
            .spawn()
            .unwrap();
        let shell = child.id();
        let children = format!("/proc/{shell}/task/{shell}/children");
        let sleeper = (0..200).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            let text = fs::read_to_string(&children).ok()?;
            let found: u32 = text.split_whitespace().next()?.parse().ok()?;
            let name = fs::read_to_string(format!("/proc/{found}/comm")).ok()?;
            (name.trim() == "sleep").then_some(found)
        });
        let sleeper = sleeper.unwrap();
        assert_eq!(marked(sleeper), None);
        assert_eq!(agent_above(sleeper), Some(Sign::Mark("CLAUDECODE")));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
