//! The least a supervisor is: runs `/bin/true` in a sandbox of the tier it is told, or without one. What `bench sandbox` times.
//!
//! Usage: `contained wrapper|landlock|full|hold|joined WORKSPACE`, where `hold` keeps the network that `joined` joins until its
//! input ends, and `filter` writes the filter of system calls as bubblewrap takes it.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use holdpoint_sandbox::contain::{self, Limits, NetworkLayer, Notice, Plan, Tier};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mode, place) = (
        arguments.next().unwrap_or_default(),
        arguments.next().unwrap_or_default(),
    );
    let done = match mode.as_str() {
        "wrapper" => Command::new("/bin/true")
            .status()
            .is_ok_and(|status| status.success()),
        "filter" => std::io::stdout()
            .write_all(&contain::filter_bytes())
            .is_ok(),
        "landlock" => contained(&mode, &place, Tier::Landlock),
        _ => contained(&mode, &place, Tier::Full),
    };
    if done {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// What an ordinary project is given.
fn contained(mode: &str, place: &str, tier: Tier) -> bool {
    let place = PathBuf::from(place);
    let (workspace, home) = (place.join("work"), place.join("home"));
    let protected = [
        ".git/hooks",
        ".git/config",
        ".git/info",
        ".git/modules",
        ".claude",
        ".env",
        ".mcp.json",
    ];
    let command: &[&str] = match mode {
        "hold" => &["/bin/cat"],
        _ => &["/bin/true"],
    };
    let plan = Plan {
        command: command.iter().map(Into::into).collect(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: workspace.clone(),
        writable: vec![workspace.clone(), home.join("cache")],
        readable: vec![home.join("tools")],
        home: Some(home),
        hidden: vec![place.join("state")],
        protected: protected.map(|path| workspace.join(path)).into(),
        pinned: vec![workspace.join(".git/commondir")],
        journals: place.join("state/sandbox"),
        limits: Limits::default(),
        floor: tier,
        hosts: Vec::new(),
        tracing: false,
        session: matches!(mode, "hold" | "joined").then(|| place.join("state/sandbox/bench")),
        stops: Vec::new(),
        notice: if mode == "noticed" {
            Notice::Refusals
        } else {
            Notice::Nothing
        },
    };
    contain::run_in(&plan, tier).is_ok_and(|ran| {
        let joined = ran.layers.network == NetworkLayer::Joined;
        ran.ended.code() == 0 && (mode != "joined" || joined)
    })
}
