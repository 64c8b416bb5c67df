//! What a command changes on the disk that a later command of the same text might run.
//!
//! Promises that for the programs known here every file they replace, edit or bring along is
//! told, with its content where that is foreseen. Programs that run code by their nature (builds,
//! package managers, interpreters) are left out: what they make is theirs.

use super::environment::{Origin, joined};
use super::files::{Content, Disturbance};
use super::foreseen::content;
use super::input::Input;
use super::texts::Argument;

/// Something a command changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// This file.
    File { path: String, content: Content },
    /// Whatever is below this directory; none for anywhere.
    Below {
        directory: Option<String>,
        how: Disturbance,
    },
}

impl Change {
    fn file(path: impl Into<String>, content: Content) -> Self {
        Change::File {
            path: path.into(),
            content,
        }
    }

    fn unpacks(directory: Option<String>) -> Self {
        Change::Below {
            directory: Some(directory.unwrap_or_default()),
            how: Disturbance::Unpacked,
        }
    }
}

/// What a command changes, if it prints this.
pub(super) fn changes(arguments: &[Argument], printed: &Input) -> Vec<Change> {
    let mut arguments = arguments;
    let (name, rest) = loop {
        let Some((program, rest)) = arguments.split_first() else {
            return Vec::new();
        };
        let name = program.text.program().unwrap_or_default();
        let wraps = matches!(name, "sudo" | "doas" | "env" | "nice" | "nohup" | "command")
            && rest
                .first()
                .is_some_and(|word| !word.unquoted().starts_with('-'));
        if !wraps {
            break (name, rest);
        }
        arguments = rest;
    };
    if !CHANGING.contains(&name) {
        return Vec::new();
    }
    let words: Vec<&str> = rest.iter().map(Argument::unquoted).collect();
    let words = Words(&words);
    match name {
        "curl" => words.curl(),
        "wget" | "aria2c" => words.wget(),
        "cp" | "mv" | "ln" | "install" | "gcp" | "gmv" => words.copied(name),
        "rsync" | "scp" | "sftp" => words.transferred(),
        "tee" => {
            let files = words.operands();
            let written = |path: &str| Change::file(path, content(printed));
            files.map(written).collect()
        }
        "dd" => {
            let outputs = words.0.iter().filter_map(|word| word.strip_prefix("of="));
            outputs
                .map(|path| Change::file(path, Content::From(Origin::Elsewhere)))
                .collect()
        }
        "sed" | "gsed" | "perl" | "ruby" if words.edits_in_place() => words.edited(),
        "awk" | "gawk" if words.0.contains(&"inplace") => words.edited(),
        "ed" | "ex" | "truncate" => words.edited(),
        "tar" | "bsdtar" | "gtar" if words.tar_extracts() => {
            vec![Change::unpacks(words.value(&["-C", "--directory", "--cd"]))]
        }
        "unzip" if !words.any(&["-l", "-t", "-p", "-v", "-Z"]) => {
            vec![Change::unpacks(words.value(&["-d"]))]
        }
        "7z" | "7za" | "7zz" | "7zr" if words.any(&["x", "e"]) => {
            vec![Change::unpacks(words.value(&["-o"]))]
        }
        "unrar" if words.any(&["x", "e"]) => vec![Change::unpacks(None)],
        "cpio" | "pax" | "ar" => vec![Change::unpacks(None)],
        "gunzip" | "unxz" | "bunzip2" | "unzstd" | "gzip" | "xz" | "bzip2" | "zstd" => {
            words.decompressed()
        }
        "patch" => vec![Change::Below {
            directory: None,
            how: Disturbance::CheckedOut,
        }],
        "git" if words.git_changes_files() => vec![Change::Below {
            directory: None,
            how: Disturbance::CheckedOut,
        }],
        _ => Vec::new(),
    }
}

/// The programs known here; most commands are none of them.
const CHANGING: &[&str] = &[
    "7z", "7za", "7zr", "7zz", "ar", "aria2c", "awk", "bsdtar", "bunzip2", "bzip2", "cp", "cpio",
    "curl", "dd", "ed", "ex", "gawk", "gcp", "git", "gmv", "gsed", "gtar", "gunzip", "gzip",
    "install", "ln", "mv", "patch", "pax", "perl", "rsync", "ruby", "scp", "sed", "sftp", "tar",
    "tee", "truncate", "unrar", "unxz", "unzip", "unzstd", "wget", "xz", "zstd",
];

/// The words of a command behind its program.
struct Words<'w>(&'w [&'w str]);

impl<'w> Words<'w> {
    fn operands(&self) -> impl Iterator<Item = &'w str> {
        self.0.iter().copied().filter(|word| !word.starts_with('-'))
    }

    fn any(&self, words: &[&str]) -> bool {
        self.0.iter().any(|word| words.contains(word))
    }

    /// The value of an option, glued or in the next word.
    fn value(&self, flags: &[&str]) -> Option<String> {
        self.0.iter().enumerate().find_map(|(at, word)| {
            flags.iter().find_map(|flag| {
                let after = word.strip_prefix(flag)?;
                if after.is_empty() {
                    return self.0.get(at + 1).map(|next| (*next).to_owned());
                }
                let long = flag.starts_with("--");
                let glued = after.strip_prefix('=').or((!long).then_some(after))?;
                Some(glued.to_owned())
            })
        })
    }

    /// The names that addresses end in.
    fn last_names(&self) -> impl Iterator<Item = String> {
        let addresses = self.0.iter().filter(|word| word.contains("://"));
        addresses.filter_map(|address| {
            let path = address.split(['?', '#']).next().unwrap_or_default();
            let name = path.rsplit('/').next().filter(|name| !name.is_empty());
            name.map(str::to_owned)
        })
    }

    fn curl(&self) -> Vec<Change> {
        let fetched = |path: String| Change::file(path, Content::From(Origin::Network));
        if let Some(path) = self.value(&["-o", "--output"]) {
            return vec![fetched(path)];
        }
        let named = |word: &&str| is_cluster_with(word, 'O') || *word == "--remote-name";
        if self.0.iter().any(named) {
            return self.last_names().map(fetched).collect();
        }
        // `-fsSLo file`: the last letter of a cluster takes the next word.
        let at = self
            .0
            .iter()
            .position(|word| is_cluster_with(word, 'o') && word.ends_with('o'));
        let next = at.and_then(|at| self.0.get(at + 1));
        next.map(|path| fetched((*path).to_owned()))
            .into_iter()
            .collect()
    }

    fn wget(&self) -> Vec<Change> {
        let fetched = |path: String| Change::file(path, Content::From(Origin::Network));
        if let Some(path) = self.value(&["-O", "--output-document", "-o", "--out"]) {
            return vec![fetched(path)];
        }
        let bundled = self
            .0
            .iter()
            .position(|word| is_cluster_with(word, 'P') && word.ends_with('P') && word.len() > 2);
        let directory = self
            .value(&["-P", "--directory-prefix", "-d", "--dir"])
            .or_else(|| Some((*self.0.get(bundled? + 1)?).to_owned()));
        let names = self.last_names().map(|name| match &directory {
            Some(directory) => joined(directory, &name),
            None => name,
        });
        names.map(fetched).collect()
    }

    /// `cp`, `mv`, `ln` and `install`: what each source becomes.
    fn copied(&self, program: &str) -> Vec<Change> {
        let directory = self.value(&["-t", "--target-directory"]);
        let mut operands: Vec<&str> = Vec::new();
        let mut skip = false;
        for word in self.0 {
            let valued = matches!(*word, "-t" | "-S" | "--target-directory" | "--suffix")
                || (program == "install" && matches!(*word, "-m" | "-o" | "-g"));
            if !skip && !word.starts_with('-') {
                operands.push(word);
            }
            skip = valued;
        }
        let same = |from: &str, to: String| Change::file(to, Content::Same(from.to_owned()));
        let named = |directory: &str, from: &str| {
            let name = from.trim_end_matches('/').rsplit('/').next();
            joined(directory, name.unwrap_or(from))
        };
        let (sources, target) = match (&directory, operands.as_slice()) {
            (Some(directory), sources) => (sources, directory.as_str()),
            (None, [sources @ .., target]) if !sources.is_empty() => (sources, *target),
            (None, _) => return Vec::new(),
        };
        let mut changes = Vec::new();
        for source in sources {
            // What a pattern stands for, or all of a directory, comes to lie below the target.
            if source.contains(['*', '?', '['])
                || matches!(*source, "." | "..")
                || source.ends_with("/.")
            {
                changes.push(Change::unpacks(Some(target.to_owned())));
                continue;
            }
            if directory.is_none() && sources.len() == 1 && !target.ends_with('/') {
                changes.push(same(source, target.to_owned()));
            }
            changes.push(same(source, named(target, source)));
        }
        changes
    }

    /// `rsync` and `scp`: what comes to lie at the last operand, unless that is elsewhere.
    fn transferred(&self) -> Vec<Change> {
        let operands: Vec<&str> = self.operands().collect();
        match operands.as_slice() {
            [_, .., target] if !target.contains(':') => vec![
                Change::unpacks(Some((*target).to_owned())),
                Change::file(*target, Content::From(Origin::Elsewhere)),
            ],
            _ => Vec::new(),
        }
    }

    fn edits_in_place(&self) -> bool {
        self.0.iter().any(|word| {
            word.starts_with("--in-place")
                || (word.starts_with('-')
                    && !word.starts_with("--")
                    && word.contains('i')
                    && !word.contains('='))
        })
    }

    /// Every word that may name a file.
    fn edited(&self) -> Vec<Change> {
        let files = self.operands();
        files
            .map(|path| Change::file(path, Content::Edited))
            .collect()
    }

    fn tar_extracts(&self) -> bool {
        let first = self.0.first().copied().unwrap_or_default();
        let bundled = !first.starts_with('-') && first.contains('x');
        bundled
            || self.any(&["--extract", "--get"])
            || self.0.iter().any(|word| is_cluster_with(word, 'x'))
    }

    /// `gunzip x.sh.gz` makes `x.sh`.
    fn decompressed(&self) -> Vec<Change> {
        let files = self.operands().filter_map(|word| {
            let (stem, suffix) = word.rsplit_once('.')?;
            matches!(suffix, "gz" | "xz" | "bz2" | "zst" | "Z" | "lzma").then_some(stem)
        });
        files
            .map(|path| Change::file(path, Content::From(Origin::Decoder)))
            .collect()
    }

    /// Whether a command of git brings other files into the working tree.
    fn git_changes_files(&self) -> bool {
        let mut words = self.0.iter().copied();
        let mut command = "";
        while let Some(word) = words.next() {
            if matches!(word, "-C" | "-c" | "--git-dir" | "--work-tree") {
                words.next();
            } else if !word.starts_with('-') {
                command = word;
                break;
            }
        }
        let rest: Vec<&str> = words.collect();
        let operands = rest.iter().filter(|word| !word.starts_with('-')).count();
        let creates = rest
            .iter()
            .any(|word| matches!(*word, "-b" | "-B" | "-c" | "-C" | "--create" | "--orphan"));
        match command {
            // A new branch from here is what is here.
            "checkout" | "switch" => !(creates && operands <= 1),
            "restore" => !rest.contains(&"--staged") || rest.contains(&"--worktree"),
            "reset" => rest
                .iter()
                .any(|word| matches!(*word, "--hard" | "--merge" | "--keep")),
            "stash" => !rest
                .iter()
                .any(|word| matches!(*word, "list" | "show" | "drop" | "clear")),
            "submodule" => rest.contains(&"update"),
            "pull" | "merge" | "rebase" | "apply" | "am" | "cherry-pick" | "revert"
            | "read-tree" | "checkout-index" | "sparse-checkout" | "bisect" => true,
            _ => false,
        }
    }
}

fn is_cluster_with(word: &str, letter: char) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(line: &str) -> Vec<String> {
        let words: Vec<Argument> = line
            .split_whitespace()
            .map(|word| Argument::literal(word, 0..0))
            .collect();
        let told = |change: &Change| match change {
            Change::File { path, content } => match content {
                Content::Known(text) => format!("{path}={text}"),
                Content::From(origin) => format!("{path}<{origin:?}"),
                Content::Same(from) => format!("{path}<-{from}"),
                Content::Edited => format!("{path}~"),
            },
            Change::Below { directory, .. } => {
                format!("{}/**", directory.as_deref().unwrap_or("anywhere"))
            }
        };
        changes(&words, &Input::text("t"))
            .iter()
            .map(told)
            .collect()
    }

    #[test]
    fn copies_are_what_they_are_copies_of() {
        assert_eq!(changed("cp a b"), ["b<-a", "b/a<-a"]);
        assert_eq!(changed("mv a x/b dir/"), ["dir/a<-a", "dir/b<-x/b"]);
        assert_eq!(changed("cp -t dir a"), ["dir/a<-a"]);
        assert_eq!(
            changed("install -m 755 a bin/b"),
            ["bin/b<-a", "bin/b/a<-a"]
        );
        assert_eq!(changed("cp -r src/. dir"), ["dir/**"]);
    }

    #[test]
    fn what_nobody_foresees_is_said() {
        assert_eq!(changed("sed -i s/a/b/ x.sh"), ["s/a/b/~", "x.sh~"]);
        assert_eq!(changed("sed s/a/b/ x.sh"), [""; 0]);
        assert_eq!(changed("tar xzf a.tgz -C dir"), ["dir/**"]);
        assert_eq!(changed("tar czf a.tgz dir"), [""; 0]);
        assert_eq!(changed("git checkout main"), ["anywhere/**"]);
        assert_eq!(changed("git checkout -b new"), [""; 0]);
        assert_eq!(changed("git status"), [""; 0]);
        assert_eq!(changed("dd if=a of=b"), ["b<Elsewhere"]);
        assert_eq!(changed("curl -fsSLo x https://e"), ["x<Network"]);
        assert_eq!(changed("sudo tee a b"), ["a=t", "b=t"]);
        assert_eq!(changed("gunzip x.sh.gz"), ["x.sh<Decoder"]);
    }
}
