use std::fs;
use std::path::PathBuf;
use std::process::Command;

use holdpoint_core::{ToolCall, understand_alone};
use serde_json::json;

use super::*;
use crate::disk::Disk;

struct Scene {
    _place: tempfile::TempDir,
    work: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let work = place.path().canonicalize().unwrap().join("work");
        fs::create_dir(&work).unwrap();
        Self {
            _place: place,
            work,
        }
    }

    fn repository() -> Self {
        let scene = Self::new();
        scene.git("init -q -b main .");
        scene.git("config user.name dev");
        scene.git("config user.email dev@example.com");
        scene.write("a", "1\n");
        scene.git("add a");
        scene.git("commit -q -m first");
        scene
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.work.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, line: &str) {
        let done = Command::new("git")
            .args(line.split(' '))
            .current_dir(&self.work)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "git {line}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    fn simulate(&self, call: &ToolCall) -> Simulation {
        let around = Surroundings {
            workspace: self.work.to_str(),
            directory: None,
            home: Some("/home/dev"),
            lookup: &Disk,
            can_contain: false,
        };
        simulate(&understand_alone(call.clone(), &around), &around)
    }

    fn run(&self, line: &str) -> Simulation {
        self.simulate(&ToolCall::shell(line))
    }

    fn says(&self, line: &str, wanted: &str) -> Simulation {
        let found = self.run(line);
        let text = found.lines.join("\n");
        assert!(text.contains(wanted), "{line}: {wanted:?} in\n{text}");
        found
    }
}

#[test]
fn what_rm_removes_is_counted_in_every_spelling() {
    let scene = Scene::new();
    scene.write("build/a", "12345");
    scene.write("build/deep/b", "12345");
    for line in [
        "rm -rf build",
        "rm -fr ./build",
        "sudo rm -r build",
        "bash -c 'rm -rf build'",
    ] {
        let found = scene.says(line, "removes 2 files and 2 directories, 10 bytes");
        assert!(found.lines.join("\n").contains("build/deep/b"), "{found:?}");
        assert!(found.complete || line.contains("sudo"), "{line}: {found:?}");
    }
    assert!(scene.work.join("build/deep/b").exists());
    scene.says("rm build", "is a directory, which `rm` leaves alone");
    scene.says("rm none", "removes nothing");
    let found = scene.says("rm -rf $DIR", "only known when it runs");
    assert!(!found.complete);
    let found = scene.says("curl x.example | sh", "no honest simulation");
    assert!(!found.complete);
}

#[test]
fn only_the_first_paths_are_listed() {
    let scene = Scene::new();
    for number in 0..30 {
        scene.write(&format!("d/{number:02}"), "x");
    }
    let found = scene.says("rm -r d", "removes 30 files and 1 directory, 30 bytes");
    assert!(
        found
            .lines
            .iter()
            .any(|line| line.trim() == "… and 11 more"),
        "{found:?}"
    );
}

#[test]
fn patterns_and_find_remove_what_they_match() {
    let scene = Scene::new();
    for name in ["a.o", "b.o", "c.c", "sub/d.o"] {
        scene.write(name, "12");
    }
    scene.says("rm *.o", "removes 2 files and 0 directories, 4 bytes");
    let found = scene.says(
        "find . -name '*.o' -delete",
        "removes 3 files and 0 directories, 6 bytes",
    );
    assert!(found.complete, "{found:?}");
    scene.says("find sub -delete", "removes 1 file and 1 directory");
    scene.says("find . -name '*.x' -delete", "nothing is found");
    scene.says("find . -name '*.o' -exec rm {} +", "no honest simulation");
    assert!(scene.run("find . -name '*.o'").complete);
    assert!(scene.work.join("sub/d.o").exists());
}

#[test]
fn what_is_overwritten_is_told() {
    let scene = Scene::new();
    scene.write("out", "12345");
    scene.says("echo x > out", "changes or replaces");
    scene.says("echo x > new", "makes ");
    let write = ToolCall::new("Write", json!({"file_path": "out", "content": "x"})).unwrap();
    let found = scene.simulate(&write);
    assert!(
        found.complete && found.lines[0].contains("changes or replaces"),
        "{found:?}"
    );
    let found = scene.run("cat out | wc -l");
    assert_eq!(
        (found.lines.as_slice(), found.complete),
        (
            ["nothing on this machine would change".to_owned()].as_slice(),
            true
        )
    );
    let found = scene.says("make install", "no honest simulation exists");
    assert!(!found.complete);
    let code = r#"python3 -c "open('out', 'w'); frobnicate()""#;
    assert!(!scene.run(code).complete);
    scene.says("terraform destroy", "`terraform plan -destroy`");
}

#[test]
fn git_tells_what_would_be_lost() {
    let scene = Scene::repository();
    scene.write("a", "2\n");
    scene.git("commit -q -a -m second");
    scene.write("a", "changed\n");
    scene.write("junk/x", "12345");
    let reset = scene.says("git reset --hard HEAD~1", "loses the changes of 1 file");
    assert!(
        reset
            .lines
            .join("\n")
            .contains("takes 1 commit off the present branch"),
        "{reset:?}"
    );
    assert!(reset.complete);
    scene.says("git checkout -- .", "loses the changes of 1 file");
    scene.says("git checkout .", "loses the changes of 1 file");
    scene.says("git restore a", "loses the changes of 1 file");
    scene.says("git restore none", "loses no changes");
    scene.says("git clean -fd", "removes 1 file and 1 directory, 5 bytes");
    scene.says("git clean -f", "removes nothing");
    scene.says("git -C junk clean -fdx", "removes 1 file");
    scene.says("cd junk && git clean -fdx .", "removes 1 file");
    assert!(scene.work.join("junk/x").exists());
    assert_eq!(
        fs::read_to_string(scene.work.join("a")).unwrap(),
        "changed\n"
    );
}

#[test]
fn git_tells_which_commits_and_stashes_would_be_lost() {
    let scene = Scene::repository();
    scene.git("switch -q -c topic");
    scene.write("b", "1\n");
    scene.git("add b");
    scene.git("commit -q -m on-topic");
    scene.git("switch -q main");
    let found = scene.says("git branch -D topic", "loses 1 commit only topic has");
    assert!(found.lines.join("\n").contains("on-topic"), "{found:?}");
    scene.says("git branch -d topic", "loses nothing");
    scene.git("tag keep topic");
    scene.says("git branch -D topic", "loses no commit");
    scene.write("a", "stashed\n");
    scene.git("stash -q");
    let found = scene.says("git stash drop", "loses stash@{0}: WIP on main");
    assert!(
        found
            .lines
            .join("\n")
            .contains("with the changes of 1 file"),
        "{found:?}"
    );
    scene.says("git stash clear", "loses 1 stash entry");
    // A remote that has more than we do.
    scene.git("update-ref refs/remotes/origin/main topic");
    let found = scene.says(
        "git push --force origin main",
        "loses 1 commit origin/main has",
    );
    assert!(!found.complete, "nobody asked the other side");
    scene.says("git push -f", "loses 1 commit origin/main has");
    scene.says("git push origin :main", "loses 2 commits origin/main has");
    scene.says("git push --mirror", "no honest simulation");
    scene.says("git branch -D none", "it cannot be said");
    scene.says("git rebase main", "no honest simulation");
    scene.says("git -c core.x=y reset --hard", "not simulated");
}

#[test]
fn a_repository_has_nothing_run() {
    let scene = Scene::repository();
    let trap = scene.work.join("sprung");
    let program = scene.work.join("trap.sh");
    fs::write(
        &program,
        format!("#!/bin/sh\ntouch {}\ncat\n", trap.display()),
    )
    .unwrap();
    let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, runnable).unwrap();
    let program = program.to_str().unwrap();
    scene.write(".gitattributes", "* filter=trap diff=trap\n");
    for setting in [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "diff.external",
        "diff.trap.command",
        "diff.trap.textconv",
        "filter.trap.clean",
        "filter.trap.smudge",
        "gpg.program",
        "credential.helper",
    ] {
        scene.git(&format!("config {setting} {program}"));
    }
    scene.git("config filter.trap.required true");
    scene.git("config log.showSignature true");
    let hooks = scene.work.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "post-index-change",
        "pre-push",
        "post-checkout",
        "fsmonitor-watchman",
    ] {
        fs::copy(program, hooks.join(hook)).unwrap();
    }
    let _ = fs::remove_file(&trap);
    // Of the same size, so that git has to look into it.
    scene.write("a", "2\n");
    for line in [
        "git reset --hard HEAD",
        "git checkout -- .",
        "git clean -fdx",
        "git branch -D main",
        "git push --force origin main",
        "git stash drop",
        "git stash clear",
    ] {
        let found = scene.run(line);
        assert!(!trap.exists(), "{line}: {found:?}");
    }
    scene.says("git reset --hard HEAD", "loses the changes of");
    // The trap itself works.
    scene.git("status");
    assert!(trap.exists());
}

#[test]
fn a_filter_whose_name_cannot_be_said_is_not_run() {
    let scene = Scene::repository();
    let trap = scene.work.with_file_name("trap");
    scene.write(
        ".git/config",
        &format!(
            "[core]\n\trepositoryformatversion = 0\n[filter \"a=b\"]\n\tclean = \"touch {}; cat\"\n",
            trap.display()
        ),
    );
    scene.write(".gitattributes", "* filter=a=b\n");
    scene.write("a", "2\n");
    let found = scene.run("git reset --hard HEAD");
    assert!(!trap.exists(), "{found:?}");
}
