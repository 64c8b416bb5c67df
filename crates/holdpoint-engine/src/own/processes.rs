//! Processes of Linux, as `/proc` tells of them: which a call has left running, and what uses a port.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Started;

/// The most processes, and files they have open, that are looked at: a hook has to answer.
const MAX_PROCESSES: usize = 20_000;
const MAX_OPEN_FILES: usize = 100_000;

/// The most ancestors of a process: deeper than anything people run.
const MAX_ANCESTORS: usize = 64;

/// How long tmux may take to say who is in a terminal, and how much it says: it answers in a few milliseconds, and one that
/// does not is not asked again.
const TMUX_TIME: Duration = Duration::from_millis(500);
const MAX_TOLD: u64 = 4 << 10;

/// Shells between an agent and its hook.
const SHELLS: &[&str] = &["bash", "dash", "sh", "zsh"];

/// What is known of a process.
#[derive(Clone, Debug)]
struct Process {
    name: String,
    parent: u32,
    /// The process that leads its session.
    leader: u32,
    /// Zero without a terminal.
    terminal: i64,
    start: u64,
}

/// Reads `/proc/ID/stat`. The name stands in parentheses and may hold any.
fn process(id: u32) -> Option<Process> {
    let text = fs::read(format!("/proc/{id}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (head, rest) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some(Process {
        name: name.to_owned(),
        parent: fields.get(1)?.parse().ok()?,
        leader: fields.get(3)?.parse().ok()?,
        terminal: fields.get(4)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

/// When this process was started: whatever a call starts that it lets run comes later. The clock is coarse, and what may have
/// been started in the same moment by somebody else does not count.
pub(super) fn own_start() -> Option<u64> {
    process(std::process::id()).map(|own| own.start)
}

/// The processes of this account.
fn all() -> BTreeMap<u32, Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return BTreeMap::new();
    };
    let account = holdpoint_sandbox::user::id();
    let numbered = entries.flatten().filter_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let same = entry.metadata().is_ok_and(|found| found.uid() == account);
        same.then_some(id)
    });
    numbered
        .take(MAX_PROCESSES)
        .filter_map(|id| Some((id, process(id)?)))
        .collect()
}

/// A process and those it comes from, the nearest first.
fn line_of(id: u32) -> Vec<(u32, Process)> {
    let mut line = Vec::new();
    let mut next = id;
    while next > 1 && line.len() < MAX_ANCESTORS {
        let Some(found) = process(next) else {
            break;
        };
        let parent = found.parent;
        line.push((next, found));
        next = parent;
    }
    line
}

/// What was started since then by the agent this process is a hook of, and runs still: what comes from the agent, and
/// what its shell has left behind: that is of the agent's own session of the system, or of one whose leader has ended. Those of
/// another terminal or of a service have a leader that lives.
///
/// `terminals` says that the call opens terminals of tmux, whose shells come from its server.
pub(super) fn started_since(since: u64, terminals: bool) -> Vec<Started> {
    let line = line_of(std::process::id());
    let above: BTreeSet<u32> = line.iter().map(|(id, _)| *id).collect();
    let agent = line
        .iter()
        .skip(1)
        .find(|(_, one)| !SHELLS.contains(&one.name.as_str()))
        .map(|(id, one)| (*id, one.terminal, one.leader));
    let Some((agent, terminal, session)) = agent else {
        return Vec::new();
    };
    let everything = all();
    let comes_from_agent = |id: u32| {
        let mut next = id;
        for _ in 0..MAX_ANCESTORS {
            match everything.get(&next) {
                Some(found) if found.parent == agent => return true,
                Some(found) => next = found.parent,
                None => return false,
            }
        }
        false
    };
    let is_left = |one: &Process| {
        let orphan = one.parent == 1 || above.contains(&one.parent);
        let leader = everything.get(&one.leader);
        let leads = leader.is_some_and(|leader| leader.start <= one.start);
        let of_agent = one.leader == session || !leads;
        orphan && of_agent && (one.terminal == 0 || one.terminal == terminal)
    };
    let is_in_terminal = |one: &Process| {
        let parent = everything.get(&one.parent);
        terminals && parent.is_some_and(|parent| parent.name.starts_with("tmux"))
    };
    let own = (everything.iter())
        .filter(|(id, one)| one.start > since && !above.contains(id))
        .filter(|(id, one)| comes_from_agent(**id) || is_left(one) || is_in_terminal(one));
    own.map(|(id, one)| Started {
        process: *id,
        start: one.start,
    })
    .collect()
}

/// Whether a process, or one it comes from, is among these, and is that very one.
pub(super) fn is_started(own: &[Started], id: u32) -> bool {
    !own.is_empty()
        && line_of(id).into_iter().any(|(id, found)| {
            own.contains(&Started {
                process: id,
                start: found.start,
            })
        })
}

/// Whether tmux has a terminal of this name whose first process is one of these, and in it a shell that waits.
pub(super) fn is_own_terminal(own: &[Started], terminal: &str) -> bool {
    let runs = runs_in_own_terminal(own, terminal);
    runs.is_some_and(|command| SHELLS.contains(&command.as_str()) || command == "fish")
}

/// What runs in a terminal of tmux whose first process is one of these. tmux is told a plain name and asked for two values,
/// by which it runs nothing.
pub(super) fn runs_in_own_terminal(own: &[Started], terminal: &str) -> Option<String> {
    let of_name = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
    if terminal.is_empty() || terminal.starts_with('-') || !terminal.chars().all(of_name) {
        return None;
    }
    let mut tmux = Command::new("tmux");
    tmux.args([
        "display-message",
        "-p",
        "-t",
        terminal,
        "#{pane_pid} #{pane_current_command}",
    ])
    .stdin(Stdio::null())
    .stderr(Stdio::null())
    .stdout(Stdio::piped());
    let told = output_within(tmux, TMUX_TIME)?;
    let (id, command) = told.trim().split_once(' ')?;
    let id = id.parse().ok()?;
    let start = process(id)?.start;
    own.contains(&Started { process: id, start })
        .then(|| command.to_owned())
}

/// What a program prints, if it ends in time.
fn output_within(mut command: Command, time: Duration) -> Option<String> {
    let mut child = command.spawn().ok()?;
    let until = Instant::now() + time;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
            Ok(_) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    let mut text = String::new();
    let printed = child
        .stdout
        .take()?
        .take(MAX_TOLD)
        .read_to_string(&mut text);
    printed.is_ok().then_some(text)
}

/// Whether all that is at either end of a connection on a port, or listens on it, was started by the session.
pub(super) fn is_own_port(own: &[Started], port: u16) -> bool {
    let sockets = sockets_on(port);
    if sockets.is_empty() {
        return false;
    }
    let mut found: BTreeSet<u64> = BTreeSet::new();
    let mut left = MAX_OPEN_FILES;
    for id in all().into_keys() {
        let Ok(files) = fs::read_dir(format!("/proc/{id}/fd")) else {
            continue;
        };
        for file in files.flatten() {
            if left == 0 {
                return false;
            }
            left -= 1;
            let Ok(target) = fs::read_link(file.path()) else {
                continue;
            };
            let socket = target.to_str().and_then(socket_of);
            if let Some(socket) = socket.filter(|one| sockets.contains(one)) {
                if !is_started(own, id) {
                    return false;
                }
                found.insert(socket);
            }
        }
    }
    found == sockets
}

/// `socket:[4242]`
fn socket_of(target: &str) -> Option<u64> {
    let number = target.strip_prefix("socket:[")?.strip_suffix(']')?;
    number.parse().ok()
}

/// The sockets that listen on a port or are connected to or from it.
fn sockets_on(port: u16) -> BTreeSet<u64> {
    let mut sockets = BTreeSet::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let of = |at: usize| {
                let (_, number) = fields.get(at)?.rsplit_once(':')?;
                u16::from_str_radix(number, 16).ok()
            };
            let socket = fields.get(9).and_then(|one| one.parse().ok());
            // What is about to be forgotten belongs to nobody any more.
            if let Some(socket) = socket.filter(|one| *one != 0)
                && (of(1) == Some(port) || of(2) == Some(port))
            {
                sockets.insert(socket);
            }
        }
    }
    sockets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_start_and_so_are_those_it_starts() {
        let mut child = std::process::Command::new("sleep")
            .arg("30")
            .spawn()
            .unwrap();
        let start = process(child.id()).unwrap().start;
        let own = |process, start| Started { process, start };
        assert!(is_started(&[own(child.id(), start)], child.id()));
        assert!(!is_started(&[own(child.id(), start + 1)], child.id()));
        let this = own(std::process::id(), own_start().unwrap());
        assert!(is_started(&[this], child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_port_is_own_if_all_that_uses_it_is() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let this = Started {
            process: std::process::id(),
            start: own_start().unwrap(),
        };
        assert!(is_own_port(&[this], port));
        assert!(!is_own_port(&[Started { start: 1, ..this }], port));
        drop(listener);
        assert!(!is_own_port(&[this], port), "nothing uses it");
    }
}
