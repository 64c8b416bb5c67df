//! Which calls the sandbox answers for, and for whom.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use holdpoint_core::paths::{Entry, FileText, Lookup};
use holdpoint_core::policy::{Authority, Source, Trust};
use holdpoint_core::{
    Method, Policy, Profile, Session, SessionState, Surroundings, Suspensions, ToolCall, Verdict,
    judge_call,
};

const CONTAINS: &str = r#"{"defaultPolicy":"defer","opaque":"contain"}"#;

fn judged(can_contain: bool, text: &str, state: SessionState, line: &str) -> Verdict {
    let source = Source {
        name: "p".into(),
        authority: Authority::User,
        trust: Trust::Trusted,
        bytes: text.as_bytes().to_vec(),
    };
    let policy = Policy::compile(vec![source]).unwrap();
    let around = Surroundings {
        workspace: Some("/work/app"),
        directory: Some("/work/app"),
        home: Some("/home/dev"),
        can_contain,
        ..Surroundings::nowhere()
    };
    let call = ToolCall::shell(line);
    judge_call(&call, &policy, &Session::new(state), &around).verdict
}

fn contained(line: &str) -> Verdict {
    judged(true, CONTAINS, SessionState::default(), line)
}

#[test]
fn code_nobody_can_read_is_contained() {
    for line in [
        r#"bash -c "$CODE""#,
        r#"eval "$(./configure --print)""#,
        "$TOOL --check",
        r#"cd src && python -c "$CODE" > out.txt"#,
        r#"ls && bash -c "$CODE" 2>/dev/null"#,
    ] {
        assert_eq!(contained(line), Verdict::Contain, "{line}");
        let asked = judged(false, CONTAINS, SessionState::default(), line);
        assert_eq!(asked, Verdict::Ask, "{line}, where nothing contains it");
        let plain = r#"{"defaultPolicy":"defer"}"#;
        let asked = judged(true, plain, SessionState::default(), line);
        assert_eq!(asked, Verdict::Ask, "{line}, where no policy says so");
    }
}

#[test]
fn what_needs_the_outside_is_asked_about() {
    for line in [
        r#"bash -c "$CODE" && git push origin topic"#,
        r#"bash -c "$CODE"; npm publish"#,
        r#"bash -c "$CODE"; curl https://example.com/x -o x"#,
        r#"bash -c "$CODE" > /home/dev/notes.txt"#,
        r#"bash -c "$CODE" > /tmp/out.txt"#,
        r#"bash -c "$CODE" && psql -c 'select 1'"#,
        r#"curl "$URL" | sh"#,
        r#"bash -c "$CODE"; terraform apply"#,
        // Somebody else's file, or one that the call leaves for others.
        r#"cat /tmp/out.txt; bash -c "$CODE" > /tmp/out.txt"#,
        r#"bash -c "$CODE" > /tmp/out.txt; cat /tmp/other.txt"#,
        r#"bash -c "$CODE" > /tmp/out.txt; cat /tmp/*.txt"#,
        r#"bash -c "$CODE" >> /tmp/out.txt; cat /tmp/out.txt"#,
    ] {
        let verdict = contained(line);
        assert!(verdict >= Verdict::Ask, "{line}: {}", verdict.as_str());
    }
}

#[test]
fn a_temporary_file_that_only_passes_is_there_inside_as_well() {
    for line in [
        "cat > /tmp/fix.sh << 'E'\neval \"$CODE\"\nE\nbash /tmp/fix.sh",
        r#"bash -c "$CODE" > /tmp/out.txt; tail -5 /tmp/out.txt"#,
        r#"echo x > /tmp/in.txt && bash -c "$CODE" < /tmp/in.txt && rm /tmp/in.txt"#,
    ] {
        assert_eq!(contained(line), Verdict::Contain, "{line}");
    }
}

#[test]
fn a_refusal_and_another_question_stand() {
    assert_eq!(contained(r#"bash -c "$CODE"; rm -rf ~"#), Verdict::Deny);
    let asks = r#"{"defaultPolicy":"defer","opaque":"contain","ask":{"patterns":["make *"]}}"#;
    let line = r#"bash -c "$CODE"; make all"#;
    assert_eq!(
        judged(true, asks, SessionState::default(), line),
        Verdict::Ask
    );
    // What could be a refused command in hiding is a person's to answer.
    let denies = r#"{"defaultPolicy":"defer","opaque":"contain","deny":{"patterns":["make *"]}}"#;
    let line = r#"bash -c "$CODE""#;
    assert_eq!(
        judged(true, denies, SessionState::default(), line),
        Verdict::Ask
    );
    // So is what certain people must say yes to.
    let people = r#"{"defaultPolicy":"defer","opaque":"contain",
        "approval":{"rules":{"shell.dynamic-code":{"approvers":["ann"]}}}}"#;
    assert_eq!(
        judged(true, people, SessionState::default(), line),
        Verdict::Ask
    );
}

#[test]
fn a_person_lifts_it_and_a_suspension_does_not() {
    let line = r#"bash -c "$CODE""#;
    let allow = SessionState {
        allow: vec!["Bash".into()],
        ..SessionState::default()
    };
    assert_eq!(judged(true, CONTAINS, allow, line), Verdict::Allow);
    let suspended = || SessionState {
        suspended: Suspensions {
            turn: false,
            idle: false,
            all: true,
        },
        ..SessionState::default()
    };
    assert_eq!(judged(true, CONTAINS, suspended(), line), Verdict::Contain);
    assert_eq!(judged(false, CONTAINS, suspended(), line), Verdict::Allow);
    let asks = r#"{"defaultPolicy":"defer","opaque":"contain","ask":{"patterns":["make *"]}}"#;
    let both = r#"bash -c "$CODE"; make all"#;
    assert_eq!(judged(true, asks, suspended(), both), Verdict::Contain);
}

/// A project with these files, and nothing else on the disk.
struct Files(&'static [(&'static str, &'static str)]);

impl Lookup for Files {
    fn entry(&self, path: &str) -> Entry {
        let mut names = self.0.iter().map(|(name, _)| format!("/work/app/{name}"));
        match path {
            "/work" | "/work/app" => Entry::Directory,
            _ if names.any(|name| name == path) => Entry::Other,
            _ => Entry::Missing,
        }
    }

    fn read(&self, path: &str, _: usize) -> FileText {
        let name = path.strip_prefix("/work/app/").unwrap_or_default();
        let found = self.0.iter().find(|(one, _)| *one == name);
        found.map_or(FileText::Missing, |(_, text)| {
            FileText::Text((*text).to_owned())
        })
    }
}

#[test]
fn a_script_that_was_read_is_allowed_for_what_it_does_and_nothing_else() {
    const PROJECT: Files = Files(&[
        ("ok.sh", "#!/bin/bash\necho hi\nls src > list.txt\n"),
        ("read.sh", "#!/bin/bash\nread x\necho \"$x\"\n"),
        ("home.sh", "#!/bin/bash\necho x > /home/dev/notes.txt\n"),
        ("path.sh", "#!/bin/bash\nPATH=./bin:$PATH\nls\n"),
        ("loop.sh", "#!/bin/bash\nfor PATH in ./bin; do ls; done\n"),
        ("run.sh", "#!/bin/bash\n\"$1\"\n"),
        ("net.sh", "#!/bin/bash\ncurl -s https://example.com/x\n"),
        ("all.sh", "#!/bin/bash\npython3 home.py\n"),
        (
            "ok.py",
            "import subprocess\nsubprocess.run(['ls', 'src'])\n",
        ),
        (
            "call.py",
            "import subprocess\nsubprocess.run(['./ok.sh', '1'])\n",
        ),
        ("write.py", "open('out.txt', 'w').write('x')\n"),
        (
            "tool.py",
            "#!/usr/bin/env python3\ntry:\n    open('out.txt', 'w').write('x')\nexcept:\n    print('no')\n",
        ),
        ("own.py", "#!/work/app/python3\nprint(1)\n"),
        ("near.py", "#!./python3\nprint(1)\n"),
        ("told.py", "#!/usr/bin/python3 -i\nprint(1)\n"),
        (
            "split.py",
            "#!/usr/bin/env -S PYTHONPATH=. python3\nprint(1)\n",
        ),
        (
            "away.py",
            "#!/usr/bin/env python3\nopen('/home/dev/notes.txt', 'w').write('x')\n",
        ),
        (
            "said.py",
            "#!/usr/bin/env python3\nimport sys\nopen(sys.argv[1], 'w').write('x')\n",
        ),
        ("home.py", "open('/home/dev/notes.txt', 'w').write('x')\n"),
        (
            "touch.py",
            "import subprocess\nsubprocess.run(['touch', '/home/dev/x'])\n",
        ),
        (
            "any.py",
            "import subprocess, sys\nsubprocess.run(sys.argv[1:])\n",
        ),
        (
            "shell.py",
            "import subprocess\nsubprocess.run(['bash'], input='ls', text=True)\n",
        ),
        (
            "env.py",
            "import subprocess\nsubprocess.run(['ls'], env={'PATH': './bin'})\n",
        ),
        (
            "other.py",
            "import subprocess\nsubprocess.run(['ls'], executable='./evil')\n",
        ),
        (
            "fresh.py",
            "import subprocess\nwith open('ok.sh', 'w') as f:\n    f.write('x')\nsubprocess.run(['./ok.sh'])\n",
        ),
        (
            "place.py",
            "import tempfile\ntempfile.NamedTemporaryFile(dir='/home/dev', delete=False)\n",
        ),
    ]);
    let allowed = |line: &str| {
        let policy = Policy::profile(Profile::Autopilot).unwrap();
        let around = Surroundings {
            workspace: Some("/work/app"),
            directory: Some("/work/app"),
            home: Some("/home/dev"),
            lookup: &PROJECT,
            can_contain: false,
        };
        let decision = judge_call(
            &ToolCall::shell(line),
            &policy,
            &Session::default(),
            &around,
        );
        decision.verdict == Verdict::Allow && decision.method == Method::Whitelist
    };
    for line in [
        "python3 write.py",
        "python3 ./write.py",
        "./tool.py",
        "./tool.py a.txt --all",
        "./tool.py \"$N\" | tail -3",
    ] {
        assert!(allowed(line), "{line} is not allowed");
    }
    for line in [
        // What a script is while it runs may be another than was read, and lists of Python change unseen.
        "./own.py",
        "./near.py",
        "./told.py",
        "./split.py",
        "./away.py",
        "./said.py out.txt",
        "PATH=. ./tool.py",
        "./ok.sh",
        "bash ok.sh",
        "bash -e ok.sh a b",
        "./read.sh",
        "python3 ok.py",
        "python3 ok.py 1",
        "python3 call.py",
        "./home.sh",
        "bash home.sh",
        "./path.sh",
        "./loop.sh",
        "./run.sh \"$X\"",
        "./net.sh",
        "./all.sh",
        "./missing.sh",
        "python3 home.py",
        "python3 touch.py",
        "python3 any.py ls",
        "python3 shell.py",
        "python3 env.py",
        "python3 other.py",
        "python3 fresh.py",
        "python3 place.py",
        "python3 \"$X\" ok.py",
        "bash \"$X\" ok.sh",
        "bash --rcfile x ok.sh",
        "PATH=. ./ok.sh",
    ] {
        assert!(!allowed(line), "{line} is allowed");
    }
}
