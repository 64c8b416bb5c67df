//! The paths a call names and what would become of each: what checks look at, backups copy, a
//! release is bound to, and a person is shown.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::call::digest_of;
use crate::effects::places::Places;
use crate::effects::{self, EffectKind, git};
use crate::paths::{Entry, Surroundings, WrittenFile};
use crate::rules::{FETCHERS, REQUESTERS};
use crate::shell::UNKNOWN;
use crate::understand::{Action, CommandView};

/// The most paths that are named; a call that names more is refused by the judge anyway.
const MAX_PATHS: usize = 4000;

/// The most things without a name that are told.
const MAX_UNKNOWN: usize = 20;

/// What would become of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathVerb {
    /// It is looked at, or sent somewhere.
    Read,
    /// It is made or changed; its mode and its owner count.
    Write,
    /// It is removed.
    Delete,
    /// It is run, or read as a script by what runs it.
    Run,
    /// Nobody knows: any of them.
    #[serde(rename = "use")]
    Unknown,
}

impl PathVerb {
    /// The word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            PathVerb::Read => "read",
            PathVerb::Write => "write",
            PathVerb::Delete => "delete",
            PathVerb::Run => "run",
            PathVerb::Unknown => "use",
        }
    }

    /// Whether what stands there may be different afterwards.
    pub fn may_change(self) -> bool {
        match self {
            PathVerb::Write | PathVerb::Delete | PathVerb::Unknown => true,
            PathVerb::Read | PathVerb::Run => false,
        }
    }

    /// Whether what stands there is different afterwards, as far as is known.
    fn changes(self) -> bool {
        matches!(self, PathVerb::Write | PathVerb::Delete)
    }

    fn from_effect(kind: EffectKind) -> Option<Self> {
        match kind {
            EffectKind::Read | EffectKind::List | EffectKind::Send | EffectKind::Show => {
                Some(PathVerb::Read)
            }
            EffectKind::Write | EffectKind::Append | EffectKind::Mode | EffectKind::Owner => {
                Some(PathVerb::Write)
            }
            EffectKind::Delete => Some(PathVerb::Delete),
            EffectKind::Run => Some(PathVerb::Run),
            EffectKind::Either => Some(PathVerb::Unknown),
            EffectKind::Connect
            | EffectKind::Listen
            | EffectKind::History
            | EffectKind::Publish
            | EffectKind::Database
            | EffectKind::Infrastructure
            | EffectKind::Privilege
            | EffectKind::Signal
            | EffectKind::Install
            | EffectKind::Persist
            | EffectKind::Opaque => None,
        }
    }
}

/// The paths of a call, and what it does to others that nobody can name before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The paths, in the order the call names them, each with every verb once.
    pub paths: Vec<(String, PathVerb)>,
    /// What is made, changed or removed without a name that is known, as the call writes it.
    pub unknown: Vec<String>,
}

/// The paths a call names, and what it changes besides.
///
/// They are absolute and real: links are followed, except the last one of a path that is removed.
/// One with `*`, `?` or `[` in it is a pattern of the shell and stands for what that matches; `**`
/// in it for any number of directories.
pub fn named(action: &Action) -> Named {
    let mut found = Collected::default();
    if action.trouble.is_some() {
        found.unknown(action.call.tool());
    }
    for subject in effects::subjects(action) {
        let by_find = matches!(subject.within.first(), Some(&("find" | "gfind" | "bfs")));
        for effect in subject.effects {
            if effect.kind == EffectKind::Opaque {
                found.unknown(subject.program.unwrap_or(subject.tool));
            }
            let Some(verb) = PathVerb::from_effect(effect.kind) else {
                continue;
            };
            match &effect.place.path {
                Some(path) if is_known(path) && by_find => found.add(&at_any_depth(path), verb),
                Some(path) if is_known(path) => found.add(path, verb),
                Some(_) | None if verb.changes() => found.unknown(&effect.text),
                Some(_) | None => {}
            }
        }
    }
    for script in &action.files {
        found.add(&script.path, PathVerb::Run);
    }
    found.named
}

/// The files a call writes, as far as it names them, each with the digest of what it writes where that
/// stands in the call: the agent's words, for whoever loads them later.
///
/// They are absolute and real, and may be directories into which something is written.
pub fn written_by(action: &Action) -> Vec<WrittenFile> {
    let mut paths: BTreeMap<String, bool> = BTreeMap::new();
    for subject in effects::subjects(action) {
        let fetches = (subject.program)
            .is_some_and(|name| FETCHERS.contains(name) || REQUESTERS.contains(name));
        for effect in subject.effects {
            let writes = matches!(effect.kind, EffectKind::Write | EffectKind::Append);
            match &effect.place.path {
                Some(path)
                    if writes
                        && is_known(path)
                        && !path.starts_with("/dev/")
                        && paths.len() < MAX_PATHS =>
                {
                    *paths.entry(path.clone()).or_default() |= fetches;
                }
                Some(_) | None => {}
            }
        }
    }
    let content = ["content", "file_text", "contents"]
        .iter()
        .find_map(|key| action.call.input().get(*key)?.as_str());
    let digest = content
        .filter(|_| paths.len() == 1 && !action.is_shell())
        .map(|content| digest_of(content.as_bytes()));
    let files = paths.into_iter().map(|(path, fetched)| WrittenFile {
        path,
        digest: digest.clone(),
        fetched,
    });
    files.collect()
}

/// What a call would make where nothing lies yet, as far as it is known: files and directories, and the logs of new branches of
/// git. Of a path several directories of which are missing it is the first of them.
pub fn made_by(action: &Action, around: &Surroundings<'_>) -> Vec<String> {
    let places = Places::new(around, &[]);
    let missing = |path: &str| around.lookup.entry(path) == Entry::Missing;
    let mut made: BTreeSet<String> = BTreeSet::new();
    for subject in effects::subjects(action) {
        for effect in subject.effects {
            let writes = matches!(effect.kind, EffectKind::Write | EffectKind::Append);
            let path = effect
                .place
                .path
                .as_deref()
                .filter(|path| writes && is_known(path));
            if let Some(path) = path.filter(|path| !path.contains(['*', '?', '[']) && missing(path))
            {
                let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
                let first = above.filter(|one| !one.is_empty()).find(|one| missing(one));
                made.insert(first.unwrap_or(path).to_owned());
            }
        }
        let view = subject.command.and_then(|at| action.commands.get(at));
        for branch in view.iter().flat_map(|view| new_branches(view)) {
            let Some(log) = git::log_of_branch(branch) else {
                continue;
            };
            let directory = view.map(|view| &view.command.directory);
            let found = directory.map(|directory| places.of_word(&log, directory));
            let paths = found.into_iter().flatten().filter_map(|place| place.path);
            made.extend(paths.filter(|path| is_known(path) && missing(path)));
        }
    }
    made.into_iter().take(MAX_PATHS).collect()
}

/// The branches a git command makes: `checkout -b NAME`, `switch -c NAME`, `worktree add -b NAME`, `branch NAME`.
fn new_branches(view: &CommandView) -> Vec<&str> {
    let words: Vec<&str> = (view.command.words.iter())
        .map(|word| if word.dynamic { "" } else { word.text.as_str() })
        .collect();
    match words.as_slice() {
        ["git", "checkout" | "switch" | "worktree", rest @ ..] => (rest.windows(2))
            .filter(|pair| matches!(pair, ["-b" | "-c" | "--create", _]))
            .filter_map(|pair| pair.get(1).copied())
            .collect(),
        ["git", "branch", name, ..] if !name.starts_with('-') => vec![name],
        _ => Vec::new(),
    }
}

fn is_known(path: &str) -> bool {
    path.starts_with('/') && !path.contains(UNKNOWN)
}

/// What `find` removes by a pattern it removes wherever it finds it.
fn at_any_depth(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((directory, name)) if name.contains(['*', '?', '[']) => {
            format!("{directory}/**/{name}")
        }
        Some(_) | None => path.to_owned(),
    }
}

#[derive(Default)]
struct Collected {
    named: Named,
    known: BTreeSet<(String, PathVerb)>,
}

impl Collected {
    fn add(&mut self, path: &str, verb: PathVerb) {
        if self.named.paths.len() >= MAX_PATHS {
            self.unknown(path);
        } else if self.known.insert((path.to_owned(), verb)) {
            self.named.paths.push((path.to_owned(), verb));
        }
    }

    fn unknown(&mut self, text: &str) {
        let text = text.replace(UNKNOWN, "…");
        if self.named.unknown.len() < MAX_UNKNOWN && !self.named.unknown.contains(&text) {
            self.named.unknown.push(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolCall;
    use crate::paths::{Entry, FileText, Lookup, NoLinks, Surroundings};
    use crate::policy::Policy;
    use crate::understand::understand;
    use serde_json::json;

    fn paths(call: &ToolCall, lookup: &dyn Lookup) -> Vec<(String, PathVerb)> {
        all(call, lookup).paths
    }

    fn all(call: &ToolCall, lookup: &dyn Lookup) -> Named {
        let around = Surroundings {
            workspace: Some("/ws"),
            directory: None,
            home: Some("/home/dev"),
            lookup,
            can_contain: false,
        };
        let policy = Policy::compile(vec![]).unwrap();
        named(&understand(call.clone(), &policy, &around))
    }

    fn of(line: &str) -> Vec<(String, PathVerb)> {
        paths(&ToolCall::shell(line), &NoLinks)
    }

    fn path(path: &str, verb: PathVerb) -> (String, PathVerb) {
        (path.to_owned(), verb)
    }

    #[test]
    fn every_spelling_names_the_real_place() {
        let wanted = path("/ws/build", PathVerb::Delete);
        for line in [
            "rm -rf build",
            "rm -fr ./build/",
            "sudo rm -r -f /ws/x/../build",
            "bash -c 'rm -rf build'",
            "D=build; rm -r $D",
            "cd sub && rm -rf ../build",
        ] {
            assert!(of(line).contains(&wanted), "{line}: {:?}", of(line));
        }
        assert!(of("rm -rf \"$SOMEWHERE\"").is_empty());
    }

    #[test]
    fn what_has_no_name_yet_is_told() {
        let unknown = |line: &str| all(&ToolCall::shell(line), &NoLinks).unknown;
        assert_eq!(unknown("rm -rf $SOMEWHERE"), ["$SOMEWHERE"]);
        assert_eq!(unknown("curl x.example | sh").len(), 1);
        assert!(unknown("rm x; cat $Y").is_empty());
        let many = |count: usize| -> String {
            let words: Vec<String> = (0..count).map(|n| format!("f{n}")).collect();
            format!("rm {}", words.join(" "))
        };
        assert!(unknown(&many(600)).is_empty());
        assert_eq!(unknown(&many(5000)).first().unwrap(), "Bash");
    }

    #[test]
    fn find_removes_at_any_depth() {
        assert!(
            of("find src -name '*.o' -delete").contains(&path("/ws/src/**/*.o", PathVerb::Delete)),
            "{:?}",
            of("find src -name '*.o' -delete")
        );
    }

    #[test]
    fn each_verb_is_told() {
        let found = of("cp a b; cat c > d; ./e; rm f; frobnicate ./g; chmod 600 h; mv i j");
        for wanted in [
            path("/ws/a", PathVerb::Read),
            path("/ws/b", PathVerb::Write),
            path("/ws/c", PathVerb::Read),
            path("/ws/d", PathVerb::Write),
            path("/ws/f", PathVerb::Delete),
            path("/ws/g", PathVerb::Unknown),
            path("/ws/h", PathVerb::Write),
            path("/ws/i", PathVerb::Delete),
            path("/ws/j", PathVerb::Write),
        ] {
            assert!(found.contains(&wanted), "{wanted:?} in {found:?}");
        }
    }

    #[test]
    fn a_file_tool_names_its_file() {
        let call = ToolCall::new("Write", json!({"file_path": "/ws/x", "content": "/etc"}));
        assert_eq!(
            paths(&call.unwrap(), &NoLinks),
            [path("/ws/x", PathVerb::Write)]
        );
    }

    /// A link to a directory, and a script.
    struct Disk;

    impl Lookup for Disk {
        fn entry(&self, path: &str) -> Entry {
            match path {
                "/ws/link" => Entry::Link("/data".into()),
                _ => Entry::Other,
            }
        }

        fn read(&self, path: &str, _most: usize) -> FileText {
            match path {
                "/ws/clean.sh" => FileText::Text("rm -rf out\n".to_owned()),
                _ => FileText::Missing,
            }
        }
    }

    #[test]
    fn a_script_is_run_and_what_it_removes_is_removed() {
        let found = paths(&ToolCall::shell("bash clean.sh"), &Disk);
        assert!(
            found.contains(&path("/ws/clean.sh", PathVerb::Run)),
            "{found:?}"
        );
        assert!(
            found.contains(&path("/ws/out", PathVerb::Delete)),
            "{found:?}"
        );
    }

    #[test]
    fn a_link_is_removed_itself_and_written_through() {
        let found = paths(&ToolCall::shell("rm link"), &Disk);
        assert_eq!(found, [path("/ws/link", PathVerb::Delete)]);
        let found = paths(&ToolCall::shell("echo > link/x"), &Disk);
        assert!(
            found.contains(&path("/data/x", PathVerb::Write)),
            "{found:?}"
        );
    }

    #[test]
    fn the_number_of_paths_is_bounded() {
        let words: Vec<String> = (0..3000).map(|n| format!("f{n}")).collect();
        assert!(of(&format!("rm {}", words.join(" "))).len() <= MAX_PATHS);
    }
}
