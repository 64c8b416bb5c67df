use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

const ALL: Wanted = Wanted {
    ignored: false,
    hidden: true,
};

fn below(directory: &Path, wanted: Wanted) -> Vec<String> {
    Walk::new(directory, wanted)
        .map(|found| found.unwrap())
        .map(|path| {
            let path = path.strip_prefix(directory).unwrap();
            path.to_str().unwrap().to_owned()
        })
        .collect()
}

fn written(directory: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn links_and_version_control_are_passed_over() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    written(
        root,
        &[
            ("b/c", ""),
            ("a", ""),
            (".rules", ""),
            (".git/config", ""),
            ("b/.git/config", ""),
        ],
    );
    symlink("..", root.join("b/up")).unwrap();
    symlink("nowhere", root.join("broken")).unwrap();
    assert_eq!(below(root, ALL), [".rules", "a", "b/c"]);
    let shown = Wanted {
        hidden: false,
        ..ALL
    };
    assert_eq!(below(root, shown), ["a", "b/c"]);
}

#[test]
fn ignore_files_hold_below_where_they_stand() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    written(
        root,
        &[
            (".gitignore", "*.log\nout/\n"),
            ("a.log", ""),
            ("a/b.log", ""),
            ("a/.gitignore", "!b.log\n"),
            ("a/.ignore", "c\n"),
            ("a/c", ""),
            ("c", ""),
            ("out/x", ""),
        ],
    );
    let found = [".gitignore", "a/.gitignore", "a/.ignore", "a/b.log", "c"];
    assert_eq!(below(root, ALL), found);
    let everything = Wanted {
        ignored: true,
        hidden: true,
    };
    assert_eq!(below(root, everything).len(), 8);
    // Without a repository nothing above the start counts; with one, everything up to its root.
    assert_eq!(below(&root.join("out"), ALL), ["x"]);
    fs::create_dir(root.join(".git")).unwrap();
    written(root, &[("a/deep/d.log", ""), ("a/deep/e", "")]);
    written(root, &[(".git/info/exclude", "e\n")]);
    assert_eq!(below(&root.join("a/deep"), ALL), [] as [&str; 0]);
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// git itself says which files it leaves out.
#[test]
fn any_ignore_files_leave_out_what_git_leaves_out() {
    let git = |directory: &Path, arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "core.excludesFile=/dev/null"])
            .args(arguments)
            .current_dir(directory)
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    git(root, &["init", "-q"]);
    let names = ["a", "b", "ab", "a.o", "b.c", "#x", "!y", "x y", "[z]"];
    for first in ["a", "b", "src", "a.o"] {
        for second in ["a", "lib", "b"] {
            for name in names {
                written(root, &[(&format!("{first}/{second}/dir/{name}"), "")]);
                written(root, &[(&format!("{first}/{second}/f{name}"), "")]);
            }
        }
    }
    let pieces = [
        "a",
        "b",
        "*",
        "?",
        "**",
        "/",
        "/",
        "src",
        "lib",
        "dir",
        ".o",
        "[ab]",
        "[!a]",
        "[z]",
        "\\#x",
        "\\!y",
        "f",
        "x y",
        "\\[z\\]",
        "[[:alpha:]]",
        "fa",
    ];
    let mut dice = Dice(7);
    for round in 0..150 {
        for file in [".gitignore", "src/.gitignore", "a/lib/.gitignore"] {
            let mut text = String::new();
            for _ in 0..=dice.below(4) {
                text.push_str(dice.one_of(&["", "", "", "!", "/", "**/"]));
                for _ in 0..=dice.below(4) {
                    text.push_str(dice.one_of(&pieces));
                }
                text.push_str(dice.one_of(&["", "", "/", "/**", " ", "\r"]));
                text.push('\n');
            }
            fs::write(root.join(file), &text).unwrap();
        }
        let wanted: BTreeSet<String> =
            git(root, &["ls-files", "--others", "--exclude-standard", "-z"])
                .split_terminator('\0')
                .map(str::to_owned)
                .collect();
        let found: BTreeSet<String> = below(root, ALL).into_iter().collect();
        let rules: Vec<String> = [".gitignore", "src/.gitignore", "a/lib/.gitignore"]
            .iter()
            .map(|file| fs::read_to_string(root.join(file)).unwrap())
            .collect();
        let apart: Vec<&String> = wanted.symmetric_difference(&found).collect();
        assert!(apart.is_empty(), "{round}: {rules:?}: {apart:?}");
    }
}
