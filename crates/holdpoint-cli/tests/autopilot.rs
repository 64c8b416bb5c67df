//! Nothing that `autopilot` allows does more than its clauses say: generated lines are judged by the program, those it
//! allows are really run in a place made for it, and what changed on the disk is compared with what may change. What is deleted
//! must still be somewhere: in git, or under another name.
//!
//! They run in a sandbox that is given that place and nothing else, so that a line that is allowed by mistake harms nobody who
//! tests; what the sandbox refuses is a mistake, too. Without a harness: a sandbox is made by a process with one thread.

#![cfg_attr(
    not(target_os = "linux"),
    allow(unused, reason = "there is a sandbox on Linux only")
)]
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use holdpoint_sandbox::contain::{self, Limits, Notice, Plan, Refusal, Tier};
use serde_json::{Value, json};

/// How many lines are generated; `HOLDPOINT_LOAD=full` takes twenty times as many.
const LINES: usize = 600;

/// What a line may do to places: `A` and `B` are filled in.
const TEMPLATES: &[&str] = &[
    "cp A B",
    "cp -r A B",
    "cp -l A B && echo x >> B",
    "mv A B",
    "mv A B && rm -rf B",
    "rm -f A",
    "rm -rf A B",
    "rmdir A",
    "touch A",
    "mkdir -p A/new",
    "sed -i s/a/b/ A",
    "sed -n 'w A' B",
    "tee A < B",
    "cat A > B",
    "cat A >> B",
    "echo x > A; cat B",
    "ln -s A B && echo x > B",
    "ln -sf A made && touch made/x && echo y > made",
    "ln A B && truncate -s 0 B",
    "sort -o A B",
    "find A -name '*.txt' -delete",
    "find A -type f -exec rm {} +",
    "find A -name '*.txt' | xargs rm -f",
    "for f in A B; do echo x > \"$f\"; done",
    "cd A && touch x && rm -f a.txt",
    "cd A; echo x > B",
    "(cd A && rm -rf B); rm -f B",
    "d=A; rm -rf \"$d\"",
    "d=A && echo x > $d/x",
    "git add -A && git commit -qm x",
    "git add A && git commit -qm x",
    "git mv A B",
    "git rm -q A",
    "git stash",
    "truncate -s 0 A",
    "chmod +x A",
    "chmod -R 777 A",
    "xargs touch <<< A",
    "xargs -I{} cp {} B <<< A",
    "awk '{ print > \"A\" }' B",
    "awk '{ system(\"rm -rf A\") }' B",
    "split -l 1 A B",
    "zip -q A B",
    "gzip -f A",
    "timeout 5 rm -rf A",
    "env rm -rf A",
    "bash -c 'rm -rf A'",
    "eval 'echo x > A'",
    "x() { rm -rf A; }; x",
    "while read -r l; do echo \"$l\" > B; done < A",
    "if [ -e A ]; then rm -f A; fi",
    "cat <<< x > A",
    "printf x | tee -a A > B",
    "exec 3> A; echo x >&3",
    "> A",
    "mkdir A/m && mv A/m B",
    "cp A . && rm -f a.txt",
    "dirname A | xargs ls; basename A > B",
    "make A",
    "make -C A",
    "make -C A build && rm -rf B",
    "cd A && make test",
    "make test > B",
    "npm test",
    "npm run build --prefix A",
    "cd A && npm run build; cat B",
    "python3 -m unittest discover -s A",
    "python3 -m pytest A -q 2>&1 | tee B",
    "python3 -m py_compile A",
    "git merge topic && rm -f A",
    "git rebase topic; rm -rf A",
    "git reset -q HEAD~1; git add A",
    "git commit -q --amend -m y && rm -f A",
    "git rm -q A && git commit -qm x && git reset -q --soft HEAD~1",
    "./run.py A B",
    "cp run.py B && ./B A",
    "ls A/* | head -3 | xargs -n1 rm -f",
    "python3 -c \"open('A', 'w').write('x')\"",
    "python3 -c \"import os; os.remove('A')\"",
    "python3 -c \"import os; os.replace('A', 'B')\"",
    "python3 -c \"import json; json.dump([1], open('A', 'a'))\"",
    "python3 -c \"import os.path as p; open(p.join('A', 'x'), 'w').close()\"",
    "python3 - <<'E'\nimport os\nfor n in os.listdir('A'):\n    os.remove(os.path.join('A', n))\nE",
    "python3 -c \"p = 'A'; q = p + '/x'; open(q, 'w')\"",
    "sleep 5 & kill $!",
    "git checkout -- A",
    "git stash && git stash drop",
    "echo 'open(\"A\", \"w\")' > json.py; python3 -c 'import json'",
];

/// Places in the workspace, beside it, above it, and such as lead out.
const PLACES: &[&str] = &[
    "a.txt",
    "src/a.txt",
    "src",
    ".",
    "new.txt",
    "new/dir",
    "*.txt",
    "src/*",
    "untracked.txt",
    "target/out.txt",
    "target",
    ".git/config",
    ".git/hooks/pre-commit",
    ".git",
    ".env",
    ".claude/settings.json",
    ".claude",
    "out",
    "out/keep.txt",
    "src/../../other/keep.txt",
    "..",
    "../other",
    "../other/keep.txt",
    "~/other/keep.txt",
    "~/.bashrc",
    "~",
    "$HOME/.ssh/id",
    "ROOT/outside/keep.txt",
    "ROOT/outside",
    "ROOT/home/app/src/a.txt",
];

/// What of the workspace no line that is allowed may change: git and agents obey it, it is secret, or nobody has
/// another copy. A commit changes the rest of `.git`.
const KEPT: &[&str] = &[
    ".git/config",
    ".git/hooks",
    ".claude",
    ".env",
    "permissions.json",
];

/// What builds and tests: they write below `target`, as the project says.
const MAKEFILE: &str =
    "all build:\n\tmkdir -p target && echo built > target/made.txt\ntest:\n\techo tested\n";
const PACKAGE: &str = r#"{"name":"app","scripts":{"build":"mkdir -p target && echo x > target/made.js","test":"echo tested"}}"#;
const TESTS: &str = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test(self):\n        self.assertTrue(True)\n";

/// A script of the project that reads what it is told and writes one file by its name.
const SCRIPT: &str = "#!/usr/bin/env python3\nimport sys\nwith open('target/said.txt', 'w') as f:\n    f.write(str(len(sys.argv)))\n";

struct Stage {
    root: PathBuf,
}

impl Stage {
    fn new() -> Self {
        // Not below a temporary directory: files there are anybody's.
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("autopilot");
        fs::create_dir_all(&root).unwrap();
        Self {
            root: root.canonicalize().unwrap(),
        }
    }

    fn workspace(&self) -> PathBuf {
        self.root.join("home/app")
    }

    /// Makes everything as it is before each line.
    fn set(&self) {
        for name in ["home", "outside"] {
            let _ = fs::remove_dir_all(self.root.join(name));
        }
        let write = |name: &str, text: &str| {
            let path = self.root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("outside/keep.txt", "a\n");
        write("home/other/keep.txt", "a\n");
        write("home/.bashrc", "a\n");
        write("home/.ssh/id", "a\n");
        write("home/app/a.txt", "a\n");
        write("home/app/src/a.txt", "a\nb\n");
        write("home/app/.gitignore", "target\n.env\n");
        write("home/app/Makefile", MAKEFILE);
        write("home/app/src/Makefile", MAKEFILE);
        write("home/app/package.json", PACKAGE);
        write("home/app/tests/test_a.py", TESTS);
        write("home/app/run.py", SCRIPT);
        let script = self.workspace().join("run.py");
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        self.prepare("git init -q . && git config user.email a@b.c && git config user.name a && git add -A && git commit -qm a");
        self.prepare("git checkout -q -b topic && echo c > c.txt && git add c.txt && git commit -qm c && git checkout -q - && git commit -q --allow-empty -m b");
        write("home/app/untracked.txt", "only here\n");
        write("home/app/target/out.txt", "built\n");
        write("home/app/.env", "KEY=1\n");
        write("home/app/.claude/settings.json", "{}\n");
        symlink(self.root.join("outside"), self.workspace().join("out")).unwrap();
    }

    /// Runs a line of this test's own.
    fn prepare(&self, line: &str) {
        let mut child = Command::new("bash");
        child.args(["-c", line]).current_dir(self.workspace());
        child.env_clear().env("PATH", env::var_os("PATH").unwrap());
        child.env("HOME", self.root.join("home"));
        child
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        child.status().unwrap();
    }

    /// Runs a line in a sandbox that is given this place; what was refused to it. None if no sandbox can be made here.
    fn run(&self, line: &str) -> Option<String> {
        let said = self.said();
        let _ = fs::remove_file(&said);
        let mut child = Command::new(env::current_exe().unwrap());
        child.arg(BOUNDED).arg(&self.root).arg(&said).arg(line);
        child
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        child.status().unwrap();
        fs::read_to_string(&said).ok()
    }

    /// Where a supervisor says what it refused, beside the place.
    fn said(&self) -> PathBuf {
        self.root.with_extension("said")
    }

    /// Everything that is to be as it was: outside the workspace all of it.
    fn kept(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        for name in ["outside", "home/other", "home/.bashrc", "home/.ssh"] {
            gather(&self.root.join(name), &mut found);
        }
        for entry in fs::read_dir(self.root.join("home")).unwrap() {
            let path = entry.unwrap().path();
            // What npm notes of its own runs.
            if !path.ends_with(".npm") {
                found.insert(path, "there".to_owned());
            }
        }
        for name in KEPT {
            gather(&self.workspace().join(name), &mut found);
        }
        found
    }

    /// The files of the workspace, without what is built again, and what git keeps of them.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        gather_files(&self.workspace(), &mut found);
        found
    }

    /// Which of the files that were there are gone, with nothing anywhere that holds what they held.
    fn lost(&self, before: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
        let now = self.files();
        let gone = before.iter().filter(|(path, bytes)| {
            path.symlink_metadata().is_err()
                && !now.values().any(|other| other == *bytes)
                && !self.has_blob(bytes)
                // Packed, it has another name and other bytes.
                && !now.contains_key(&PathBuf::from(format!("{}.gz", path.display())))
        });
        gone.map(|(path, _)| path.clone()).collect()
    }

    /// Whether the repository has these bytes.
    fn has_blob(&self, bytes: &[u8]) -> bool {
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            git.args(words).current_dir(self.workspace()).env_clear();
            git.env("PATH", env::var_os("PATH").unwrap());
            git.stdin(Stdio::piped()).stdout(Stdio::piped());
            git.stderr(Stdio::null());
            git
        };
        let mut child = git(&["hash-object", "--stdin"]).spawn().unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        let name = child.wait_with_output().unwrap().stdout;
        let name = String::from_utf8(name).unwrap();
        let found = git(&["cat-file", "-e", name.trim()]).status();
        found.unwrap().success()
    }

    /// Which of the lines the program allows, as they are, by effect.
    fn allowed<'l>(&self, lines: &'l [String]) -> Vec<&'l str> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_holdpoint"));
        child.args(["check", "--batch", "--dry-run", "--profile", "autopilot"]);
        child.current_dir(self.workspace()).env_clear();
        child.env("HOME", self.root.join("home"));
        child.env("XDG_STATE_HOME", self.root.join("state"));
        child.env("HOLDPOINT_SANDBOX", "none");
        child.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let cwd = self.workspace();
        let calls: String = lines
            .iter()
            .map(|line| {
                let call = json!({"tool": "Bash", "input": {"command": line}, "cwd": cwd});
                format!("{call}\n")
            })
            .collect();
        let writer = std::thread::spawn(move || input.write_all(calls.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let answers: Vec<Value> = String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(answers.len(), lines.len());
        let by_effect =
            |answer: &Value| answer["verdict"] == "allow" && answer["method"] == "whitelist";
        let pairs = lines.iter().zip(&answers);
        let allowed = pairs.filter(|(_, answer)| by_effect(answer));
        allowed.map(|(line, _)| line.as_str()).collect()
    }
}

/// What stands at a path and below it: texts, modes and where links lead.
fn gather(path: &Path, found: &mut BTreeMap<PathBuf, String>) {
    let Ok(meta) = path.symlink_metadata() else {
        return;
    };
    let mode = meta.permissions().mode();
    let text = match () {
        () if meta.is_symlink() => format!("{:?}", fs::read_link(path).unwrap()),
        () if meta.is_file() => String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned(),
        () => String::new(),
    };
    found.insert(path.to_owned(), format!("{mode:o} {text}"));
    if meta.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            gather(&entry.unwrap().path(), found);
        }
    }
}

/// The files below a directory, but for git's own and what is built.
fn gather_files(directory: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().and_then(|name| name.to_str());
        let built = matches!(
            name,
            Some(".git" | "target" | "__pycache__" | ".pytest_cache")
        );
        let meta = path.symlink_metadata().unwrap();
        if meta.is_dir() && !built {
            gather_files(&path, found);
        } else if meta.is_file() {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

/// Lines of every template with every pair of places, in an order that mixes them.
fn lines(root: &Path, count: usize) -> Vec<String> {
    let root = root.to_str().unwrap();
    let all = TEMPLATES.len() * PLACES.len() * PLACES.len();
    // A step that shares no factor with the count reaches every combination once.
    let step = (all / 3..all).find(|step| common(*step, all) == 1).unwrap();
    let filled = (0..count.min(all)).map(|at| {
        let at = (at * step) % all;
        let template = TEMPLATES.get(at % TEMPLATES.len()).unwrap();
        let at = at / TEMPLATES.len();
        let a = PLACES.get(at % PLACES.len()).unwrap();
        let b = PLACES.get(at / PLACES.len()).unwrap();
        let marked = template.replace('A', "\u{1}").replace('B', "\u{2}");
        let line = marked.replace('\u{1}', a).replace('\u{2}', b);
        line.replace("ROOT", root)
    });
    filled.collect()
}

fn common(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common(b, a % b) }
}

/// The first argument of this program as the supervisor of one line.
const BOUNDED: &str = "--bounded";

/// The longest a line may run: it moves a few small files, or waits for five seconds.
const MAX_TIME: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    contain::has_inside();
    if let Some(code) = contain::inside(env::args_os()) {
        return ExitCode::from(code);
    }
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    if let [first, root, said, line] = arguments.as_slice()
        && first == BOUNDED
    {
        bounded(Path::new(root), Path::new(said), line);
        return ExitCode::SUCCESS;
    }
    let name = "what_is_allowed_changes_nothing_outside_its_clauses";
    let mut words = arguments.iter().filter_map(|word| word.to_str());
    // A filter stands in front; what stands behind a flag may be its value.
    let filter = words.clone().next().filter(|word| !word.starts_with('-'));
    if words.any(|word| word == "--list") {
        say(&format!("{name}: test"));
    } else if filter.is_none_or(|wanted| name.contains(wanted)) {
        what_is_allowed_changes_nothing_outside_its_clauses();
        say(&format!("test {name} ... ok"));
    }
    ExitCode::SUCCESS
}

#[expect(
    clippy::print_stdout,
    reason = "it is the report of a test without a harness"
)]
fn say(text: &str) {
    println!("{text}");
}

/// Runs a line with the whole place writable: nothing in it is protected, so that a change that must not be is seen.
fn bounded(root: &Path, said: &Path, line: &OsString) {
    let environment = [
        ("PATH", env::var_os("PATH").unwrap()),
        ("HOME", root.join("home").into()),
        // npm looks for a newer one of itself, whatever it is told to run.
        ("npm_config_update_notifier", "false".into()),
    ];
    let plan = Plan {
        command: vec!["bash".into(), "-c".into(), line.clone()],
        environment: environment.map(|(name, value)| (name.into(), value)).into(),
        directory: root.join("home/app"),
        writable: vec![root.to_owned()],
        readable: Vec::new(),
        home: None,
        hidden: Vec::new(),
        protected: Vec::new(),
        pinned: Vec::new(),
        journals: root.with_extension("journals"),
        limits: Limits {
            time: Some(MAX_TIME),
            ..Limits::default()
        },
        floor: Tier::Full,
        hosts: Vec::new(),
        tracing: false,
        session: None,
        notice: Notice::Refusals,
        stops: Vec::new(),
    };
    if let Ok(ran) = contain::run(&plan) {
        let refused = ran.refusals.iter().map(|refusal| match refusal {
            Refusal::Write(path) | Refusal::Protected(path) => {
                format!("refused to write {}\n", path.display())
            }
            Refusal::Host { name, port, .. } => format!("refused to reach {name}:{port}\n"),
            Refusal::Call(name) => format!("refused to call {name}\n"),
        });
        fs::write(said, refused.collect::<String>()).unwrap();
    }
}

fn what_is_allowed_changes_nothing_outside_its_clauses() {
    let stage = Stage::new();
    stage.set();
    if stage.run("true").is_none() {
        // Never without one: what is tried here are lines that may be allowed by mistake.
        say(
            "not run: no sandbox of the tier `full` can be made here; HOLDPOINT_SKIP_SANDBOX=1 leaves this out",
        );
        let left_out = env::var_os("HOLDPOINT_SKIP_SANDBOX").is_some_and(|word| word == "1");
        assert!(left_out, "nothing was tried");
        return;
    }
    let full = env::var_os("HOLDPOINT_LOAD").is_some_and(|load| load == "full");
    let count = if full { 20 * LINES } else { LINES };
    let lines = lines(&stage.root, count);
    stage.set();
    let allowed = stage.allowed(&lines);
    let part = lines.len() / 20;
    assert!(
        allowed.len() > part,
        "only {} of {} are allowed",
        allowed.len(),
        lines.len()
    );
    let mut wrong = Vec::new();
    for line in &allowed {
        stage.set();
        let before = stage.kept();
        let files = stage.files();
        let refused = stage.run(line).unwrap_or_else(|| "no sandbox".to_owned());
        let after = stage.kept();
        if !refused.is_empty() {
            wrong.push(format!("{line}\n    {refused}"));
        }
        let lost = stage.lost(&files);
        if !lost.is_empty() {
            wrong.push(format!("{line}\n    lost for good: {lost:?}"));
        }
        if before != after {
            let differing = before
                .iter()
                .filter(|(path, text)| after.get(*path) != Some(text));
            let new = after.keys().filter(|path| !before.contains_key(*path));
            let paths: Vec<&PathBuf> = differing.map(|(path, _)| path).chain(new).collect();
            wrong.push(format!("{line}\n    {paths:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        allowed.len(),
        wrong.join("\n")
    );
    let _ = fs::remove_dir_all(&stage.root);
    let _ = fs::remove_dir_all(stage.root.with_extension("journals"));
    let _ = fs::remove_file(stage.said());
}
