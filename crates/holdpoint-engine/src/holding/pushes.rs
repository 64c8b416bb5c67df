//! What a `git push` would send, and where: read from the repository as it lies there, no git is started for it.
//!
//! What cannot be told this way is said, and the rest is bound all the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use holdpoint_broker::{CallContext, Warned};
use holdpoint_core::{Action, GitPush, git_pushes};
use serde::Serialize;

use crate::escape_for_display;
use crate::excerpt::text_without_secrets;
use crate::facts::git_directory;
use crate::store::read_bounded;

/// The largest settings that are read. People's are some kilobytes.
const MAX_CONFIG: u64 = 256 << 10;

/// The largest file of packed refs: some hundred thousand. A larger one is said not to be readable.
const MAX_PACKED: u64 = 16 << 20;

/// The largest file of one ref.
const MAX_REF: u64 = 4 << 10;

/// The most refs that are looked at where all are pushed.
const MAX_REFS: usize = 4096;

/// The most refs named on a card.
const MAX_SHOWN: usize = 5;

/// How often a ref may lead to another: git's own limit.
const MAX_STEPS: usize = 5;

/// Options of `git push` that have a value of their own.
const WITH_VALUE: [&str; 5] = ["--repo", "-o", "--push-option", "--receive-pack", "--exec"];

/// Options that push more than is named.
const EVERYTHING: [&str; 6] = [
    "--all",
    "--branches",
    "--mirror",
    "--tags",
    "--follow-tags",
    "--prune",
];

/// A push as it would go now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Push {
    /// The remote, as it is named.
    pub(super) remote: String,
    /// Where it leads.
    pub(super) urls: Vec<String>,
    /// What is pushed, each with its commit; none for a name that stands for nothing.
    pub(super) refs: BTreeMap<String, Option<String>>,
    /// What cannot be told, and why.
    pub(super) unclear: BTreeSet<&'static str>,
}

/// What a call would push now; nothing where no repository is.
pub(super) fn pushes(asked: &CallContext, action: &Action, home: Option<&Path>) -> Vec<Push> {
    let pushes = git_pushes(action);
    let pushes = pushes
        .iter()
        .filter_map(|push| push_of(push, Path::new(&asked.directory), home));
    pushes.collect()
}

/// What a person is shown of them.
pub(super) fn shown(pushes: &[Push]) -> Vec<Warned> {
    let lines = pushes.iter().flat_map(|push| {
        let refs = push.refs.iter().take(MAX_SHOWN).map(|(name, commit)| {
            let commit = commit.as_deref().unwrap_or("nothing");
            format!("`{}` ({})", escape_for_display(name, 100), short(commit))
        });
        let refs: Vec<String> = refs.collect();
        let more = push.refs.len().saturating_sub(MAX_SHOWN);
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let urls: Vec<String> = push.urls.iter().map(|url| shown_url(url)).collect();
        let what = match refs.is_empty() {
            true => "pushes".to_owned(),
            false => format!("pushes {}{more}", refs.join(", ")),
        };
        let told = Warned {
            level: "info".into(),
            text: match urls.is_empty() {
                true => format!("{what} to {}", shown_url(&push.remote)),
                false => format!("{what} to {}", urls.join(" and ")),
            },
        };
        let unclear = push.unclear.iter().map(|why| Warned {
            level: "warning".into(),
            text: format!("what it pushes or where to cannot be told for sure: {why}"),
        });
        std::iter::once(told).chain(unclear).collect::<Vec<_>>()
    });
    lines.collect()
}

/// An address without secrets, short enough for a line.
pub(super) fn shown_url(url: &str) -> String {
    escape_for_display(&text_without_secrets(url), 200)
}

/// As many digits of a commit as people compare.
pub(super) fn short(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}

fn push_of(push: &GitPush, base: &Path, home: Option<&Path>) -> Option<Push> {
    let mut found = Push::default();
    let mut directory = match push.directories.as_slice() {
        [one] => below(base, one, home),
        _ => base.to_owned(),
    };
    if !push.known || push.directories.len() > 1 {
        found
            .unclear
            .insert("its words or where it runs are known only when it does");
    }
    let mut words = push.words.iter().map(String::as_str);
    // Options of git itself stand in front.
    loop {
        match words.next()? {
            "push" => break,
            "-C" => directory = below(&directory, words.next()?, home),
            "-c" | "--config-env" | "--git-dir" | "--work-tree" | "--namespace" => {
                words.next()?;
                found
                    .unclear
                    .insert("an option says where git looks, or a setting of its own");
            }
            word if word.starts_with("--git-dir=")
                || word.starts_with("--namespace=")
                || word.starts_with("-c")
                || word.starts_with("--config-env=") =>
            {
                found
                    .unclear
                    .insert("an option says where git looks, or a setting of its own");
            }
            word if word.starts_with('-') => {}
            // Another subcommand that has the word among its own.
            _ => return None,
        }
    }
    let Some(repository) = Repository::at(&directory, home) else {
        // Where it runs for sure no repository is, and git says so.
        return (!found.unclear.is_empty()).then_some(found);
    };
    let mut operands: Vec<&str> = Vec::new();
    let mut everything = false;
    let mut named = None;
    let mut only_operands = false;
    while let Some(word) = words.next() {
        match word {
            "--" if !only_operands => only_operands = true,
            "--repo" => named = words.next(),
            word if only_operands || !word.starts_with('-') => operands.push(word),
            word if WITH_VALUE.contains(&word) => {
                words.next();
            }
            word => {
                named = word.strip_prefix("--repo=").or(named);
                everything |= EVERYTHING.contains(&word);
            }
        }
    }
    let (remote, refspecs) = match operands.split_first() {
        Some((remote, refspecs)) => ((*remote).to_owned(), refspecs),
        None => {
            let usual = || repository.usual_remote();
            (named.map_or_else(usual, str::to_owned), operands.as_slice())
        }
    };
    repository.urls(&remote, &mut found);
    found.remote = remote;
    repository.refs(refspecs, everything, &mut found);
    Some(found)
}

/// A directory as a command names it.
fn below(base: &Path, name: &str, home: Option<&Path>) -> PathBuf {
    match (name.strip_prefix('~'), home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        (_, _) => base.join(name),
    }
}

/// A repository as it lies on the disk.
struct Repository {
    /// What belongs to this worktree.
    own: PathBuf,
    /// What all worktrees share.
    common: PathBuf,
    settings: Settings,
    packed: Option<String>,
}

impl Repository {
    fn at(directory: &Path, home: Option<&Path>) -> Option<Self> {
        let own = git_directory(directory)?;
        let common = match read_text(&own.join("commondir"), MAX_REF) {
            Some(line) => own.join(line.trim()),
            None => own.clone(),
        };
        let mut settings = Settings::default();
        let mut files = vec![PathBuf::from("/etc/gitconfig")];
        if let Some(home) = home {
            files.push(home.join(".config/git/config"));
            files.push(home.join(".gitconfig"));
        }
        files.push(common.join("config"));
        files.push(own.join("config.worktree"));
        for file in files {
            settings.read(&file);
        }
        let packed = read_text(&common.join("packed-refs"), MAX_PACKED);
        Some(Self {
            own,
            common,
            settings,
            packed,
        })
    }

    /// The branch that is checked out.
    fn branch(&self) -> Option<String> {
        let head = read_text(&self.own.join("HEAD"), MAX_REF)?;
        let name = head.strip_prefix("ref:")?.trim();
        name.strip_prefix("refs/heads/").map(str::to_owned)
    }

    /// The remote git pushes to where none is named.
    fn usual_remote(&self) -> String {
        let settings = &self.settings;
        let of_branch = |key: &str| settings.last("branch", self.branch().as_deref()?, key);
        let set = of_branch("pushremote")
            .or_else(|| settings.last("remote", "", "pushdefault"))
            .or_else(|| of_branch("remote"));
        if let Some(set) = set {
            return set.to_owned();
        }
        let remotes: BTreeSet<&str> = settings.below("remote").collect();
        match (remotes.len(), remotes.first()) {
            (1, Some(only)) => (*only).to_owned(),
            _ => "origin".to_owned(),
        }
    }

    fn urls(&self, remote: &str, found: &mut Push) {
        let settings = &self.settings;
        let pushed = settings.all("remote", remote, "pushurl");
        found.urls = match pushed.is_empty() {
            true => settings.all("remote", remote, "url"),
            false => pushed,
        };
        if found.urls.is_empty() {
            // An address, or a directory.
            found.urls.push(remote.to_owned());
        }
        let old = ["remotes", "branches"];
        if old
            .iter()
            .any(|place| self.common.join(place).join(remote).exists())
        {
            found
                .unclear
                .insert("the repository has remotes of an old form");
        }
        if settings.includes {
            found.unclear.insert("git's settings include other files");
        }
        if settings.unreadable {
            found.unclear.insert("git's settings cannot be read");
        }
        let replaced = |url: &String| settings.replaced.iter().any(|start| url.starts_with(start));
        if found.urls.iter().any(replaced) {
            found
                .unclear
                .insert("git's settings put another address in its place (`insteadOf`)");
        }
    }

    fn refs(&self, refspecs: &[&str], everything: bool, found: &mut Push) {
        let settings = &self.settings;
        if settings
            .last("extensions", "", "refstorage")
            .is_some_and(|form| form != "files")
        {
            found
                .unclear
                .insert("the repository keeps its refs in another form");
        }
        let matching = settings.last("push", "", "default") == Some("matching");
        let own_refs = !settings.all("remote", &found.remote, "push").is_empty();
        if everything || (refspecs.is_empty() && (matching || own_refs)) {
            self.all_refs("refs", found);
        }
        if refspecs.is_empty() {
            found.refs.insert("HEAD".into(), self.commit("HEAD"));
        }
        let mut tag = false;
        for spec in refspecs {
            if *spec == "tag" {
                tag = true;
                continue;
            }
            let source = spec.strip_prefix('+').unwrap_or(spec);
            let source = source.split_once(':').map_or(source, |(source, _)| source);
            let source = match std::mem::take(&mut tag) {
                true => format!("refs/tags/{source}"),
                false => source.to_owned(),
            };
            // One without a source removes a branch there; `:` alone pushes all that are there already.
            if source.is_empty() {
                if spec.trim_start_matches('+') == ":" {
                    self.all_refs("refs/heads", found);
                }
                continue;
            }
            if source.contains('*') {
                self.all_refs("refs", found);
                continue;
            }
            if source.contains("@{") {
                found
                    .unclear
                    .insert("it names a commit by the history of a ref");
            }
            // `main~2` is another commit as soon as `main` is.
            let name = source.split(['~', '^']).next().unwrap_or_default();
            let name = name.split("@{").next().unwrap_or_default();
            let name = if name.is_empty() || name == "@" {
                "HEAD"
            } else {
                name
            };
            found.refs.insert(name.to_owned(), self.resolved(name));
        }
    }

    /// The commit a short name stands for, in git's order.
    fn resolved(&self, name: &str) -> Option<String> {
        if is_commit(name) {
            return Some(name.to_owned());
        }
        ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"]
            .iter()
            .find_map(|front| self.commit(&format!("{front}{name}")))
    }

    fn commit(&self, name: &str) -> Option<String> {
        let mut name = name.to_owned();
        for _ in 0..MAX_STEPS {
            if name.split('/').any(|part| part == "..") || name.starts_with('/') {
                return None;
            }
            let own = read_text(&self.own.join(&name), MAX_REF);
            let Some(text) = own.or_else(|| read_text(&self.common.join(&name), MAX_REF)) else {
                return self.packed_commit(&name);
            };
            match text.trim().strip_prefix("ref:") {
                Some(next) => name = next.trim().to_owned(),
                None => return Some(text.trim().to_owned()).filter(|text| is_commit(text)),
            }
        }
        None
    }

    fn packed_commit(&self, wanted: &str) -> Option<String> {
        let lines = self.packed.as_deref()?.lines();
        let mut pairs = lines.filter_map(|line| line.split_once(' '));
        let found = pairs.find(|(commit, name)| is_commit(commit) && *name == wanted);
        found.map(|(commit, _)| commit.to_owned())
    }

    /// Every ref below a place.
    fn all_refs(&self, below: &str, found: &mut Push) {
        let mut names: BTreeSet<String> = BTreeSet::new();
        let packed = self.packed.as_deref().unwrap_or_default().lines();
        let packed = packed.filter_map(|line| Some(line.split_once(' ')?.1));
        let front = format!("{below}/");
        names.extend(
            packed
                .filter(|name| name.starts_with(&front))
                .take(MAX_REFS + 1)
                .map(str::to_owned),
        );
        let mut waiting = vec![below.to_owned()];
        while let Some(place) = waiting.pop() {
            let Ok(entries) = fs::read_dir(self.common.join(&place)) else {
                continue;
            };
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                let name = format!("{place}/{name}");
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                match is_directory && waiting.len() <= MAX_REFS {
                    true => waiting.push(name),
                    false => {
                        names.insert(name);
                    }
                }
                if names.len() > MAX_REFS {
                    waiting.clear();
                    break;
                }
            }
        }
        // What is fetched from elsewhere changes by itself, and only a mirror pushes it.
        let remotes = |name: &String| name.starts_with("refs/remotes/");
        names.retain(|name| !remotes(name));
        if names.len() > MAX_REFS {
            found
                .unclear
                .insert("it pushes more refs than are looked at");
        }
        for name in names.into_iter().take(MAX_REFS) {
            let commit = self.commit(&name);
            found.refs.insert(name, commit);
        }
    }
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read_text(path: &Path, most: u64) -> Option<String> {
    String::from_utf8(read_bounded(path, most).ok()?).ok()
}

/// Git's settings, as far as they say where a push goes.
#[derive(Default)]
struct Settings {
    /// Section and key in small letters, the subsection as it is.
    all: Vec<(String, String, String, String)>,
    /// Starts of addresses others are put in the place of.
    replaced: Vec<String>,
    includes: bool,
    unreadable: bool,
}

impl Settings {
    fn read(&mut self, path: &Path) {
        if !path.exists() {
            return;
        }
        let Some(text) = read_text(path, MAX_CONFIG) else {
            self.unreadable = true;
            return;
        };
        let (mut section, mut sub) = (String::new(), String::new());
        for line in text.replace("\\\n", " ").lines() {
            let mut line = line.trim();
            if let Some(rest) = line.strip_prefix('[') {
                let Some((head, after)) = rest.split_once(']') else {
                    self.unreadable = true;
                    continue;
                };
                match head.split_once('"') {
                    Some((name, quoted)) => {
                        section = name.trim().to_ascii_lowercase();
                        sub = unquoted(quoted.trim_end().trim_end_matches('"'));
                    }
                    // `[remote.origin]`, as it was once written.
                    None => {
                        let (name, below) = head.split_once('.').unwrap_or((head, ""));
                        section = name.trim().to_ascii_lowercase();
                        sub = below.trim().to_owned();
                    }
                }
                self.includes |= matches!(section.as_str(), "include" | "includeif");
                line = after.trim();
            }
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, "true"));
            let key = key.trim().to_ascii_lowercase();
            let value = value_of(value);
            if section == "url" && matches!(key.as_str(), "insteadof" | "pushinsteadof") {
                self.replaced.push(value.clone());
            }
            self.all.push((section.clone(), sub.clone(), key, value));
        }
    }

    fn all(&self, section: &str, sub: &str, key: &str) -> Vec<String> {
        let same = self
            .all
            .iter()
            .filter(|one| one.0 == section && one.1 == sub && one.2 == key);
        same.map(|one| one.3.clone()).collect()
    }

    fn last(&self, section: &str, sub: &str, key: &str) -> Option<&str> {
        let mut all = self.all.iter().rev();
        all.find(|one| one.0 == section && one.1 == sub && one.2 == key)
            .map(|one| one.3.as_str())
    }

    fn below<'s>(&'s self, section: &'s str) -> impl Iterator<Item = &'s str> {
        let all = self
            .all
            .iter()
            .filter(move |one| one.0 == section && !one.1.is_empty());
        all.map(|one| one.1.as_str())
    }
}

/// A value without quotes and what is remarked behind it.
fn value_of(text: &str) -> String {
    let text = text.trim();
    let mut quoted = false;
    let mut before = ' ';
    let end = text.char_indices().find(|(_, c)| {
        let escaped = before == '\\';
        before = *c;
        quoted ^= *c == '"' && !escaped;
        !quoted && matches!(c, '#' | ';')
    });
    let text = end.and_then(|(at, _)| text.get(..at)).unwrap_or(text);
    unquoted(text.trim())
}

fn unquoted(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {}
            '\\' => plain.extend(letters.next()),
            letter => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn repository() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("work/.git/HEAD", "ref: refs/heads/main\n");
        write("work/.git/refs/heads/main", &format!("{ONE}\n"));
        write(
            "work/.git/packed-refs",
            &format!(
                "# pack-refs with: peeled\n{TWO} refs/heads/old\n{TWO} refs/tags/v1\n^{ONE}\n"
            ),
        );
        write(
            "work/.git/config",
            "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/a.git ; mine\n",
        );
        (home, root)
    }

    fn push(root: &Path, words: &[&str]) -> Option<Push> {
        let push = GitPush {
            directories: vec![String::new()],
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            known: true,
        };
        push_of(&push, &root.join("work"), Some(root))
    }

    #[test]
    fn what_is_pushed_and_where_is_read_from_the_repository() {
        let (_home, root) = repository();
        let found = push(&root, &["push"]).unwrap();
        assert_eq!(found.urls, ["https://example.com/a.git"]);
        assert_eq!(
            found.refs,
            BTreeMap::from([("HEAD".into(), Some(ONE.into()))])
        );
        assert!(found.unclear.is_empty(), "{found:?}");
        for (words, name, commit) in [
            (&["push", "origin", "HEAD"][..], "HEAD", Some(ONE)),
            (
                &["push", "-u", "origin", "+main~1:refs/heads/x"],
                "main",
                Some(ONE),
            ),
            (
                &["-C", "../work", "push", "origin", "old:new"],
                "old",
                Some(TWO),
            ),
            (
                &["push", "-o", "ci.skip", "origin", "tag", "v1"],
                "refs/tags/v1",
                Some(TWO),
            ),
            (&["push", "origin", "gone"], "gone", None),
        ] {
            let found = push(&root, words).unwrap();
            assert_eq!(
                found.refs.get(name),
                Some(&commit.map(str::to_owned)),
                "{words:?}: {found:?}"
            );
            assert_eq!(found.remote, "origin");
        }
        let all = push(&root, &["push", "--all"]).unwrap();
        assert_eq!(all.refs.len(), 4, "{all:?}");
        assert!(
            push(&root, &["push", "origin", ":gone"])
                .unwrap()
                .refs
                .is_empty()
        );
        assert_eq!(push(&root, &["commit", "-m", "push"]), None);
    }

    #[test]
    fn another_address_to_push_to_and_a_worktree_are_followed() {
        let (_home, root) = repository();
        let config = root.join("work/.git/config");
        let before = fs::read_to_string(&config).unwrap();
        fs::write(
            &config,
            format!("{before}\tpushurl = \"git@example.org:b.git\"\n"),
        )
        .unwrap();
        assert_eq!(
            push(&root, &["push"]).unwrap().urls,
            ["git@example.org:b.git"]
        );
        fs::create_dir_all(root.join("work/.git/worktrees/wt")).unwrap();
        fs::create_dir_all(root.join("wt")).unwrap();
        fs::write(root.join("wt/.git"), "gitdir: ../work/.git/worktrees/wt\n").unwrap();
        fs::write(root.join("work/.git/worktrees/wt/commondir"), "../..\n").unwrap();
        fs::write(
            root.join("work/.git/worktrees/wt/HEAD"),
            "ref: refs/heads/old\n",
        )
        .unwrap();
        let found = push(&root, &["-C", "../wt", "push"]).unwrap();
        assert_eq!(found.refs["HEAD"].as_deref(), Some(TWO));
        assert_eq!(found.urls, ["git@example.org:b.git"]);
    }

    #[test]
    fn what_cannot_be_told_is_said() {
        let (_home, root) = repository();
        let unclear = |words: &[&str]| !push(&root, words).unwrap().unclear.is_empty();
        assert!(!unclear(&["push"]));
        assert!(unclear(&["-c", "remote.origin.url=x", "push"]));
        assert!(unclear(&["push", "origin", "main@{1}"]));
        fs::write(
            root.join(".gitconfig"),
            "[url \"https://evil.example/\"]\n\tinsteadOf = https://example.com/\n",
        )
        .unwrap();
        assert!(unclear(&["push"]));
        let told = shown(&[push(&root, &["push"]).unwrap()]);
        assert!(
            told.iter().any(|one| one.text.contains("insteadOf")),
            "{told:?}"
        );
        assert!(told[0].text.contains("`HEAD` (111111111111)"), "{told:?}");
        fs::write(root.join(".gitconfig"), "[include]\n\tpath = other\n").unwrap();
        assert!(unclear(&["push"]));
    }
}
