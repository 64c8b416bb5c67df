//! Ways out of the sandbox, tried: every case of `escapes/*.toml` is run in each tier, and what it did is looked at
//! from outside.
//!
//! A case prepares a place outside (`before`), runs something inside (`inside`, by `sh` or `python3`), and a look from
//! outside (`escaped`) succeeds only if it got out. `open` lists the tiers in which it does: they are the published
//! list of what a tier leaves open, so a case that is shut there fails too. A case with `works` is something honest
//! that must succeed inside (and `escaped` then too), in the tiers it lists. `hosts` are the hosts it may reach, on a
//! network with nothing on it but this machine; what the proxy tells of it is in `$PLACE/said`, what it dialled in
//! `$PLACE/dialled`. `links` says that a protected path is a link, which bubblewrap cannot protect: then nothing may run
//! through it.
//!
//! Without a harness: a sandbox is made by a process with one thread.
//!
//!   cargo test -p holdpoint-sandbox --test escapes [-- NAME [TIER]]

#![cfg_attr(
    not(target_os = "linux"),
    allow(unused, reason = "there is a sandbox on Linux only")
)]
#![expect(
    clippy::print_stdout,
    reason = "it is the report of a test without a harness"
)]
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

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
        filter => all(
            filter.filter(|filter| !filter.starts_with("--")),
            arguments.get(2).map(String::as_str),
        ),
    }
}

/// One case, as its file has it.
#[derive(Default)]
struct Case {
    name: String,
    before: String,
    inside: String,
    program: String,
    escaped: String,
    open: Vec<String>,
    works: Vec<String>,
    hosts: Vec<String>,
    links: bool,
}

fn cases() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/escapes");
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let document: toml::Table = text.parse().expect("a case file is TOML");
        for (name, case) in document {
            let case = case.as_table().expect("a case is a table").clone();
            let text = |key: &str| {
                case.get(key)
                    .and_then(|value| value.as_str())
                    .unwrap_or_default()
                    .to_owned()
            };
            let list = |key: &str| {
                let list = case.get(key).and_then(|value| value.as_array());
                let words = list.into_iter().flatten().filter_map(|word| word.as_str());
                words.map(str::to_owned).collect()
            };
            let known = [
                "before", "inside", "python", "escaped", "open", "works", "hosts", "links",
            ];
            for key in case.keys() {
                assert!(known.contains(&key.as_str()), "{name}: what is `{key}`?");
            }
            let python = text("python");
            let (program, inside) = match python.as_str() {
                "" => ("sh", text("inside")),
                code => ("python3", code.to_owned()),
            };
            cases.push(Case {
                name,
                before: text("before"),
                inside,
                program: program.to_owned(),
                escaped: text("escaped"),
                open: list("open"),
                works: list("works"),
                hosts: list("hosts"),
                links: case.get("links").and_then(toml::Value::as_bool) == Some(true),
            });
        }
    }
    cases
}

/// Every case in every tier, as this user and, for root, as an ordinary one too.
fn all(filter: Option<&str>, only: Option<&str>) -> ExitCode {
    #[cfg(not(target_os = "linux"))]
    return ExitCode::SUCCESS;
    let (reached, below) = contain::reachable(false);
    println!("sandbox here: {reached} {}", below.unwrap_or_default());
    if reached != Tier::Full && !may_be_left_out() {
        println!("not every tier can be tried here; HOLDPOINT_SKIP_SANDBOX=1 tries the others");
        return ExitCode::FAILURE;
    }
    let long = std::env::var_os("HOLDPOINT_LOAD").is_some_and(|load| load == "full");
    let walls: &[&str] = match reached {
        Tier::Full => &["landlock", "full"],
        Tier::Landlock => &["landlock"],
        Tier::None => &[],
    };
    // Without walls it is seen which cases get out at all; that costs a third of the time.
    let bare: &[&str] = if long { &["none"] } else { &[] };
    // The same cases behind the walls people usually build by hand: shown, not judged.
    let has_peer = Command::new("bwrap").arg("--version").output().is_ok();
    let peer: &[&str] = if has_peer { &["bwrap"] } else { &[] };
    if !has_peer {
        println!("bwrap is not here: nothing is compared with it");
    }
    // What only bubblewrap can make must hold as much as what this program makes itself.
    let may_restrict = reached == Tier::Full && restricted::is_possible();
    let through: &[&str] = if may_restrict { &[BUBBLEWRAPPED] } else { &[] };
    if !may_restrict {
        println!("without root and bwrap nothing is tried through it");
        if holdpoint_sandbox::user::id() == 0 && !may_be_left_out() {
            println!("bwrap is missing; HOLDPOINT_SKIP_SANDBOX=1 leaves it out");
            return ExitCode::FAILURE;
        }
    }
    let all = bare.iter().chain(peer).chain(walls).chain(through);
    let wanted = |tier: &&str| only.is_none_or(|only| only == *tier);
    let tiers: Vec<&str> = all.copied().filter(wanted).collect();
    let users: &[&str] = if holdpoint_sandbox::user::id() == 0 {
        &["root", "nobody"]
    } else {
        &["self"]
    };
    // Where another user can run it.
    let program = std::env::temp_dir().join(format!("holdpoint-escapes-{}", std::process::id()));
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let setuid = program.with_extension("bwrap");
    if may_restrict {
        restricted::copy_of_bubblewrap(&setuid);
    }
    let (mut passed, mut failed) = (0, 0);
    let mut open: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let all_cases = cases();
    for case in &all_cases {
        if filter.is_some_and(|filter| !case.name.contains(filter)) {
            continue;
        }
        for tier in &tiers {
            for user in users {
                // Listed hosts are not to be had that way, and root needs nobody to make namespaces.
                if *tier == BUBBLEWRAPPED && (*user == "root" || !case.hosts.is_empty()) {
                    continue;
                }
                let tried = try_case(case, tier, user, &program);
                // Without walls a case shows that it would get out at all; what only one user can is no fault.
                let fine = match (*tier, case.works.is_empty()) {
                    ("none" | "bwrap", _) => true,
                    (BUBBLEWRAPPED, _) if case.links => !tried.made && !tried.holds,
                    // A sandbox that was not made has shut nothing.
                    _ if !tried.made => false,
                    (_, true) => {
                        let is_listed = |word: &str| case.open.iter().any(|open| open == word);
                        let wanted =
                            is_listed(as_listed(tier)) || is_listed(&format!("{tier}/{user}"));
                        tried.holds == wanted
                    }
                    (_, false) => {
                        let wanted = case.works.iter().any(|works| works == as_listed(tier));
                        tried.holds == wanted
                    }
                };
                if tried.holds && case.works.is_empty() {
                    *open.entry((tier, user)).or_default() += 1;
                }
                if fine {
                    passed += 1;
                } else {
                    failed += 1;
                    let word = match (tried.holds, case.works.is_empty()) {
                        (true, true) => "got out",
                        (false, true) => "is shut, and listed as open",
                        (true, false) => "works, and is not listed",
                        (false, false) => "does not work",
                    };
                    println!(
                        "FAIL {} ({tier}, {user}): {word}\n{}",
                        case.name, tried.said
                    );
                }
            }
        }
    }
    fs::remove_file(&program).unwrap();
    let _ = fs::remove_file(&setuid);
    let ways = all_cases
        .iter()
        .filter(|case| case.works.is_empty())
        .count();
    for ((tier, user), count) in open {
        println!("open: {count} of {ways} in {tier} as {user}");
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The tier by which the cases are to be judged.
fn as_listed(tier: &str) -> &str {
    match tier {
        BUBBLEWRAPPED => "full",
        tier => tier,
    }
}

/// Bubblewrap with the flags that guides give for agents: everything read-only, the workspace writable, what git runs
/// bound on itself, namespaces and no capabilities.
fn bubblewrap(user: &str, place: &Path) -> Command {
    let mut command = as_user(user, "bwrap");
    command.args([
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
    ]);
    for path in ["work", "home/cache"] {
        command
            .arg("--bind")
            .arg(place.join(path))
            .arg(place.join(path));
    }
    for path in [
        "work/.git/hooks",
        "work/.git/config",
        "work/.claude",
        "work/.env",
    ] {
        command
            .arg("--ro-bind-try")
            .arg(place.join(path))
            .arg(place.join(path));
    }
    command.arg("--chdir").arg(place.join("work")).arg("--");
    command
}

struct Tried {
    /// It escaped, or for honest work, it worked.
    holds: bool,
    /// The sandbox was made.
    made: bool,
    said: String,
}

fn try_case(case: &Case, tier: &str, user: &str, program: &Path) -> Tried {
    let place = place_for(user, &format!("escape-{tier}"));
    let _ = Command::new("rm").arg("-rf").arg(&place).status();
    for directory in [
        "work/.git/hooks",
        "work/src",
        "home/cache",
        "home/tools",
        "home/.ssh",
        "state",
        "outside",
    ] {
        fs::create_dir_all(place.join(directory)).unwrap();
    }
    for (file, text) in [
        ("work/.git/config", "[core]\n"),
        ("work/.git/HEAD", "ref: refs/heads/main\n"),
        ("work/src/main.c", "int main(){return 0;}\n"),
        ("work/hidden.txt", "hidden\n"),
        ("home/.ssh/id_rsa", "very-secret\n"),
        ("home/tools/tool", "#!/bin/sh\necho tool\n"),
        ("state/ledger", "record\n"),
        ("outside/file", "untouched\n"),
    ] {
        fs::write(place.join(file), text).unwrap();
    }
    std::os::unix::fs::symlink("../outside/file", place.join("work/linked")).unwrap();
    if user == "nobody" {
        let done = Command::new("chown")
            .args(["-R", "nobody"])
            .arg(&place)
            .status();
        assert!(done.unwrap().success());
    }
    let shell = |text: &str, said: &str| -> bool {
        let mut command = as_user(user, "sh");
        // A case without walls may have carried the workspace away.
        command
            .arg("-c")
            .arg(format!("cd \"$WORK\" 2>/dev/null; {text}"))
            .current_dir(&place);
        command.env("PLACE", &place).env("WORK", place.join("work"));
        command.env("HOME", place.join("home")).env("SAID", said);
        // What it leaves running must not hold a pipe that somebody reads to its end.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().unwrap().success()
    };
    shell(&case.before, "");
    let inside = if matches!(tier, "none" | "bwrap") {
        let mut command = match tier {
            "bwrap" => bubblewrap(user, &place),
            _ => as_user(user, &case.program),
        };
        if tier == "bwrap" {
            command.arg(&case.program);
        }
        command
            .arg("-c")
            .arg(&case.inside)
            .current_dir(place.join("work"));
        command
            .env("PLACE", &place)
            .env("WORK", place.join("work"))
            .env("HOME", place.join("home"));
        command.stdin(Stdio::null()).output().unwrap()
    } else {
        let mut command = match tier {
            BUBBLEWRAPPED => {
                let mut command = Command::new(program);
                command
                    .arg("--restricted")
                    .arg(program.with_extension("bwrap"));
                command
            }
            _ => as_user(user, &program.display().to_string()),
        };
        command
            .args(["--contain", tier])
            .arg(&place)
            .arg(&case.program)
            .arg(&case.inside)
            .env("ESCAPES_LINKS", if case.links { "1" } else { "0" })
            .env("ESCAPES_HOSTS", case.hosts.join(" "))
            // What is noticed must open nothing.
            .env("ESCAPES_NOTICE", "1");
        command
            .current_dir(place.join("work"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    // A case may have read what is nobody else's to see.
    let some =
        |bytes: &[u8]| -> String { String::from_utf8_lossy(bytes).chars().take(400).collect() };
    let said = format!(
        "  {} {}{}",
        inside.status,
        some(&inside.stdout),
        some(&inside.stderr)
    );
    let holds = if case.works.is_empty() {
        // A variable holds no zero byte, and no more than an argument does.
        let out: Vec<u8> = inside
            .stdout
            .iter()
            .copied()
            .filter(|byte| *byte != 0)
            .take(64 << 10)
            .collect();
        let out = String::from_utf8_lossy(&out).into_owned();
        shell(&case.escaped, &out)
    } else {
        inside.status.success() && (case.escaped.is_empty() || shell(&case.escaped, ""))
    };
    let made = inside.status.code() != Some(NOT_MADE);
    let left = place.join("work/.claude").exists() && !case.before.contains(".claude");
    let _ = Command::new("rm").arg("-rf").arg(&place).status();
    Tried {
        made,
        holds: holds || (left && case.works.is_empty() && as_listed(tier) == "full"),
        said: if left {
            format!("{said}\n  a placeholder was left")
        } else {
            said
        },
    }
}
