//! Links a line makes before it uses them: `ln -s .claude z; echo > z/settings.json`.
//!
//! The disk does not know them yet, so a look-up that does is put in front of it. A hard link, a copy
//! by links and a directory mounted elsewhere are as good as symbolic ones: what is written there is
//! written to the same file. In which order the commands stand is not looked at: a link that is made
//! later was, in the next call, made before.

use std::collections::BTreeMap;

use crate::paths::{Entry, FileText, Lookup, Surroundings, base_name};
use crate::shell::joined;
use crate::understand::{Action, CommandView};

/// The disk with the links a line makes.
pub(super) struct WithLinks<'a> {
    inner: &'a dyn Lookup,
    /// By name; where a name is given twice, the first counts.
    made: BTreeMap<String, String>,
}

impl<'a> WithLinks<'a> {
    /// The links a call makes; none if it makes none.
    pub(super) fn of(action: &Action, around: &Surroundings<'a>) -> Option<Self> {
        let mut made = BTreeMap::new();
        for view in action.commands.iter().filter(|view| may_link(view)) {
            for (target, name) in links(view) {
                for (name, target) in placed(&target, &name, view, around) {
                    // A link to itself leads nowhere, and one that is there already is known.
                    if name != target {
                        made.entry(name).or_insert(target);
                    }
                }
            }
        }
        (!made.is_empty()).then_some(Self {
            inner: around.lookup,
            made,
        })
    }
}

impl Lookup for WithLinks<'_> {
    fn entry(&self, path: &str) -> Entry {
        match self.made.get(path) {
            Some(target) => Entry::Link(target.clone()),
            None => self.inner.entry(path),
        }
    }

    fn twin(&self, path: &str) -> Option<(u64, u64)> {
        self.inner.twin(path)
    }

    fn read(&self, path: &str, most: usize) -> FileText {
        self.inner.read(path, most)
    }

    fn skim(&self, path: &str, most: usize) -> Option<String> {
        self.inner.skim(path, most)
    }
}

/// Whether a command may make links.
pub(super) fn may_link(view: &CommandView) -> bool {
    matches!(
        view.program(),
        Some("ln" | "gln" | "link" | "cp" | "gcp" | "mount" | "bindfs")
    )
}

/// Whether a command makes links, as it is told to.
pub(super) fn makes_links(view: &CommandView) -> bool {
    may_link(view) && !links(view).is_empty()
}

/// What is linked and by which name, as the command says.
fn links(view: &CommandView) -> Vec<(String, String)> {
    let has = |flag: &str| view.flags.iter().any(|one| one == flag);
    let linking = match view.program() {
        Some("ln" | "gln" | "link" | "bindfs") => true,
        Some("cp" | "gcp") => has("-l") || has("--link") || has("-s") || has("--symbolic-link"),
        Some("mount") => has("--bind") || has("--rbind") || has("-B") || has("-R"),
        Some(_) | None => false,
    };
    if !linking {
        return Vec::new();
    }
    let mut operands: Vec<&str> = Vec::new();
    let mut into = None;
    let mut words = view.command.words.iter().skip(1);
    let mut only_operands = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        match text {
            "--" if !only_operands => only_operands = true,
            "-t" | "--target-directory" => into = words.next().map(|word| word.text.as_str()),
            _ if !only_operands && text.len() > 1 && text.starts_with('-') => {
                into = text.strip_prefix("--target-directory=").or(into);
            }
            _ if word.dynamic => {}
            _ => operands.push(text),
        }
    }
    let in_directory = |target: &str, directory: &str| {
        let name = base_name(target.trim_end_matches('/'));
        (target.to_owned(), joined(directory, name))
    };
    match (into, operands.as_slice()) {
        (Some(directory), targets) => targets
            .iter()
            .map(|target| in_directory(target, directory))
            .collect(),
        (None, [target]) => vec![in_directory(target, ".")],
        (None, [target, name]) => vec![
            ((*target).to_owned(), (*name).to_owned()),
            in_directory(target, name),
        ],
        (None, [targets @ .., directory]) => targets
            .iter()
            .map(|target| in_directory(target, directory))
            .collect(),
        (None, []) => Vec::new(),
    }
}

/// The place of a link and where it leads, in every directory the command may run in.
fn placed(
    target: &str,
    name: &str,
    view: &CommandView,
    around: &Surroundings<'_>,
) -> Vec<(String, String)> {
    let symbolic = matches!(view.program(), Some("ln" | "gln"))
        && view
            .flags
            .iter()
            .any(|flag| flag == "-s" || flag == "--symbolic");
    let mut found = Vec::new();
    for from in &view.command.directory.places {
        let name = name.trim_end_matches('/');
        let (parent, last) = name.rsplit_once('/').unwrap_or((".", name));
        let parent = if parent.is_empty() { "/" } else { parent };
        let Ok(parent) = around.resolve(&joined(from, parent)) else {
            continue;
        };
        if last.is_empty() || matches!(last, "." | "..") {
            continue;
        }
        let at = format!("{}/{last}", parent.trim_end_matches('/'));
        // A symbolic link leads from where it stands, the others from where they were made.
        let target = match symbolic && !target.starts_with('~') {
            true => Some(target.to_owned()),
            false => around.resolve(&joined(from, target)).ok(),
        };
        // What already stands there is not replaced by a guess.
        let free = matches!(around.lookup.entry(&at), Entry::Missing | Entry::Other);
        found.extend(target.filter(|_| free).map(|target| (at, target)));
    }
    found
}
