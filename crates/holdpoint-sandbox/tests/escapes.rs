//! Ways out of the sandbox, tried: every case of `escapes/*.toml` is run in each tier, and what it did is looked at
//! from outside.
//!
//! A case prepares a place outside (`before`), runs something inside (`inside`, by `sh` or `python3`), and a look from
//! outside (`escaped`) succeeds only if it got out. `open` lists the tiers in which it does: they are the published
//! list of what a tier leaves open, so a case that is shut there fails too. A case with `works` is something honest
//! that must succeed inside, in the tiers it lists.
//!
//! Without a harness: a sandbox is made by a process with one thread.
//!
//!   cargo test -p holdpoint-sandbox --test escapes [-- NAME]

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

use holdpoint_sandbox::contain::{self, Limits, Plan, Tier};

/// The exit code of a supervisor that could not make its sandbox.
const NOT_MADE: i32 = 125;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("--contain") => contained(arguments.get(2..).unwrap_or_default()),
        Some("--list") => ExitCode::SUCCESS,
        filter => all(filter.filter(|filter| !filter.starts_with("--"))),
    }
}

/// `--contain TIER PLACE PROGRAM TEXT`: this program as the supervisor of one case.
fn contained(arguments: &[String]) -> ExitCode {
    let [tier, place, program, text] = arguments else {
        return ExitCode::from(NOT_MADE as u8);
    };
    let place = Path::new(place);
    let (workspace, home) = (place.join("work"), place.join("home"));
    let protected = [
        ".git/hooks",
        ".git/config",
        ".git/config.worktree",
        ".git/info",
        ".git/modules",
        ".claude",
        ".env",
        ".mcp.json",
        "deep/er/settings.json",
        "linked",
    ];
    let environment = [
        (
            "PATH",
            "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".to_owned(),
        ),
        ("HOME", home.display().to_string()),
        ("PLACE", place.display().to_string()),
        ("WORK", workspace.display().to_string()),
        ("LANG", "C".to_owned()),
    ];
    let plan = Plan {
        command: vec![program.into(), "-c".into(), text.into()],
        environment: environment
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        directory: workspace.clone(),
        writable: vec![workspace.clone(), home.join("cache")],
        readable: vec![home.join("tools")],
        home: Some(home),
        hidden: vec![place.join("state"), place.join("work/hidden.txt")],
        protected: protected.map(|path| workspace.join(path)).into(),
        journals: place.join("state/sandbox"),
        limits: Limits {
            time: Some(std::time::Duration::from_secs(60)),
            processes: 4096,
            file_size: 1 << 20,
            temporary: 8 << 20,
        },
        floor: if tier == "full" {
            Tier::Full
        } else {
            Tier::Landlock
        },
    };
    let ran = if tier == "landlock" {
        contain::run_in(&plan, Tier::Landlock)
    } else {
        contain::run(&plan)
    };
    match ran {
        Ok(ran) => ExitCode::from(ran.ended.code()),
        Err(error) => {
            println!("{error}");
            ExitCode::from(NOT_MADE as u8)
        }
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
            let known = ["before", "inside", "python", "escaped", "open", "works"];
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
            });
        }
    }
    cases
}

/// Every case in every tier, as this user and, for root, as an ordinary one too.
fn all(filter: Option<&str>) -> ExitCode {
    #[cfg(not(target_os = "linux"))]
    return ExitCode::SUCCESS;
    let (reached, below) = contain::reachable();
    println!("sandbox here: {reached} {}", below.unwrap_or_default());
    let long = std::env::var_os("HOLDPOINT_LOAD").is_some_and(|load| load == "full");
    let walls: &[&str] = match reached {
        Tier::Full => &["landlock", "full"],
        Tier::Landlock => &["landlock"],
        Tier::None => &[],
    };
    // Without walls it is seen which cases get out at all; that costs a third of the time.
    let bare: &[&str] = if long { &["none"] } else { &[] };
    let tiers: Vec<&str> = bare.iter().chain(walls).copied().collect();
    let users: &[&str] = if holdpoint_sandbox::user::id() == 0 {
        &["root", "nobody"]
    } else {
        &["self"]
    };
    // Where another user can run it.
    let program = std::env::temp_dir().join(format!("holdpoint-escapes-{}", std::process::id()));
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let (mut passed, mut failed) = (0, 0);
    let mut open: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for case in cases() {
        if filter.is_some_and(|filter| !case.name.contains(filter)) {
            continue;
        }
        for tier in &tiers {
            for user in users {
                let tried = try_case(&case, tier, user, &program);
                // Without walls a case shows that it would get out at all; what only one user can is no fault.
                let fine = match (*tier, case.works.is_empty()) {
                    ("none", _) => true,
                    // A sandbox that was not made has shut nothing.
                    _ if !tried.made => false,
                    (_, true) => {
                        let both = format!("{tier}/{user}");
                        let wanted = case.open.iter().any(|open| open == tier || *open == both);
                        tried.holds == wanted
                    }
                    (_, false) => {
                        let wanted = case.works.iter().any(|works| works == tier);
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
    if reached == Tier::Full && filter.is_none_or(|filter| "killed".contains(filter)) {
        match killed(&program, if long { 500 } else { 30 }) {
            Ok(()) => passed += 1,
            Err(left) => {
                failed += 1;
                println!("FAIL killed at any moment: {left}");
            }
        }
    }
    fs::remove_file(&program).unwrap();
    for ((tier, user), count) in open {
        println!("open: {count} in {tier} as {user}");
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Kills the supervisor at some moment of many runs: nothing it started may stay, and the next run takes away what it
/// could not.
fn killed(program: &Path, runs: u64) -> Result<(), String> {
    let place = std::env::temp_dir().join(format!("holdpoint-killed-{}", std::process::id()));
    for directory in ["work/.git/hooks", "home", "state"] {
        fs::create_dir_all(place.join(directory)).unwrap();
    }
    // A number nobody else sleeps for.
    let marker = format!("sleep 9{}", std::process::id());
    let start = |text: &str| {
        Command::new(program)
            .args(["--contain", "full"])
            .arg(&place)
            .args(["sh", text])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    for run in 0..runs {
        let mut child = start(&format!("{marker} & {marker}"));
        // From before the fork to well after the command has started.
        std::thread::sleep(std::time::Duration::from_micros(run * 7919 % 25_000));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let mut left = Vec::new();
    for _ in 0..50 {
        left = processes(&marker);
        if left.is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // What a dying init still holds is swept when it is dead.
    let honest = start("exit 0").wait().unwrap();
    let placeholder = place.join("work/.claude").exists();
    let journals = fs::read_dir(place.join("state/sandbox")).map_or(0, Iterator::count);
    let _ = fs::remove_dir_all(&place);
    if !left.is_empty() || placeholder || journals != 0 || !honest.success() {
        return Err(format!(
            "{runs} runs left processes {left:?}, placeholders: {placeholder}, {journals} journals; then {honest}"
        ));
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

struct Tried {
    /// It escaped, or for honest work, it worked.
    holds: bool,
    /// The sandbox was made.
    made: bool,
    said: String,
}

fn try_case(case: &Case, tier: &str, user: &str, program: &Path) -> Tried {
    let place = std::env::temp_dir().join(format!(
        "holdpoint-escape-{}-{tier}-{user}",
        std::process::id()
    ));
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
    let inside = if tier == "none" {
        let mut command = as_user(user, &case.program);
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
        let mut command = as_user(user, &program.display().to_string());
        command
            .args(["--contain", tier])
            .arg(&place)
            .arg(&case.program)
            .arg(&case.inside);
        command
            .current_dir(place.join("work"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    let said = format!(
        "  {} {}{}",
        inside.status,
        String::from_utf8_lossy(&inside.stdout),
        String::from_utf8_lossy(&inside.stderr)
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
        inside.status.success()
    };
    let made = inside.status.code() != Some(NOT_MADE);
    let left = place.join("work/.claude").exists() && !case.before.contains(".claude");
    let _ = Command::new("rm").arg("-rf").arg(&place).status();
    Tried {
        made,
        holds: holds || (left && case.works.is_empty() && tier == "full"),
        said: if left {
            format!("{said}\n  a placeholder was left")
        } else {
            said
        },
    }
}

fn as_user(user: &str, program: &str) -> Command {
    if user == "nobody" {
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid",
            "nobody",
            "--regid",
            "nogroup",
            "--clear-groups",
            "--",
            program,
        ]);
        command
    } else {
        Command::new(program)
    }
}
