//! Where a path is and what is known of it by name.
//!
//! A path is resolved (directory, home, links, `..`) and classed by where it leads; besides, the
//! patterns of `path-classes.toml` say what files of that name are. A pattern of the shell stands
//! for what it would match; what nobody knows is `unknown`.

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::glob::Glob;
use crate::paths::{Entry, Lookup, MAX_PATH, Surroundings, is_within};
use crate::project_files::pattern::Pattern;
use crate::rules::{
    self, Anchor, PATHS_BY_ENDING, PATHS_BY_NAME, PathRule, gate_reach, matching, target_bit,
};
use crate::shell::{UNKNOWN, Whereabouts, joined};

pub(crate) const ROOT: u64 = target_bit("root");
pub(crate) const HOME: u64 = target_bit("home");
pub(crate) const SYSTEM: u64 = target_bit("system");
pub(crate) const DEVICE: u64 = target_bit("device");
pub(crate) const WORKSPACE_ROOT: u64 = target_bit("workspace-root");
pub(crate) const WORKSPACE: u64 = target_bit("workspace");
pub(crate) const GENERATED: u64 = target_bit("generated");
pub(crate) const TEMPORARY: u64 = target_bit("temporary");
pub(crate) const FRESH: u64 = target_bit("fresh");
pub(crate) const COMMITTED: u64 = target_bit("committed");
pub(crate) const OUTSIDE: u64 = target_bit("outside");
pub(crate) const ALL_FILES: u64 = target_bit("all-files");
pub(crate) const UNKNOWN_PLACE: u64 = target_bit("unknown");
pub(crate) const LOOPBACK: u64 = target_bit("loopback");
pub(crate) const REMOTE_BRANCH: u64 = target_bit("remote-branch");
const GATE_TWIN: u64 = target_bit("gate-twin");
pub(crate) const SECRET: u64 = target_bit("secret");
/// Classes a file is in for nothing but its name.
const BY_NAME: u64 = SECRET
    | target_bit("lock-file")
    | target_bit("ci-config")
    | target_bit("build-config")
    | target_bit("container-config")
    | target_bit("log-file")
    | target_bit("shell-history");
pub(crate) const SECRET_VARIABLE: u64 = target_bit("secret-variable");
pub(crate) const ENVIRONMENT: u64 = target_bit("environment");

/// A place an effect is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The path as the call names it, from where the call starts.
    pub(crate) named: String,
    /// The absolute path, wild where the word is; none if nobody knows.
    pub(crate) path: Option<String>,
    /// The same from home, as `~/…`.
    pub(crate) from_home: Option<String>,
    /// Bits of the classes it is in.
    pub(crate) classes: u64,
}

impl Place {
    /// Whether it has more components than rules about names are compared with.
    pub(crate) fn is_too_deep(&self) -> bool {
        let path = self.path.as_deref().unwrap_or(&self.named);
        // Most paths have fewer letters than would take.
        path.len() > 2 * MAX_COMPONENTS && path.len() <= MAX_PATH && {
            let components = path.split('/').filter(|part| !part.is_empty());
            components.count() > MAX_COMPONENTS
        }
    }
}

/// Places that are no files: what a program prints to or reads from.
pub(crate) fn is_stream(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"
    )
}

/// What makes a path that of a directory users keep builds in, besides the shipped names.
pub(crate) struct Places<'a> {
    around: Surroundings<'a>,
    /// Where the workspace and the home really are, looked up when first asked for.
    workspace: OnceCell<Option<String>>,
    home: OnceCell<Option<String>>,
    generated: &'a [String],
}

/// The most components of a path that is looked at by name: each is compared with every class of
/// files, and some of those again with all that follow. The deepest paths of real trees have some
/// forty. A call with a deeper one is refused, a script with one asked about.
const MAX_COMPONENTS: usize = 128;

/// Names of a directory that a pattern is compared with; of a larger one nobody knows what is meant.
const MAX_NAMES: usize = 1024;

const SYSTEM_DIRECTORIES: &[&str] = &[
    "/applications",
    "/bin",
    "/boot",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/library",
    "/opt",
    "/proc",
    "/run",
    "/sbin",
    "/snap",
    "/srv",
    "/sys",
    "/system",
    "/usr",
    "/var",
];

const TEMPORARY_DIRECTORIES: &[&str] = &[
    "/tmp",
    "/var/tmp",
    "/private/tmp",
    "/private/var/tmp",
    "/var/folders",
    "/private/var/folders",
    "/dev/shm",
];

/// Files that register the gate or are its policy, below the workspace or the home.
const GATE_FILES: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude.json",
    ".mcp.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".qwen/settings.json",
    ".cursor/hooks.json",
    ".copilot/settings.json",
    ".windsurf/hooks.json",
    ".config/opencode/opencode.json",
    ".config/goose/config.yaml",
    ".config/holdpoint/permissions.json",
    ".holdpoint/permissions.json",
    "permissions.json",
    ".permissions.json",
    ".local/bin/holdpoint",
    ".cargo/bin/holdpoint",
];

const HOMES: &[&str] = &["/home", "/users"];

impl<'a> Places<'a> {
    pub(crate) fn new(around: &'a Surroundings<'a>, generated: &'a [String]) -> Self {
        // Where nobody says where a call runs, it runs in its workspace, whatever that is called.
        let around = Surroundings {
            workspace: around.workspace.or(around.directory).or(Some("/workspace")),
            ..*around
        };
        Self {
            around,
            workspace: OnceCell::new(),
            home: OnceCell::new(),
            generated,
        }
    }

    /// The view of the disk that places are found by.
    pub(super) fn lookup(&self) -> &dyn Lookup {
        self.around.lookup
    }

    /// Whether it is known that nothing lies at a place yet.
    pub(super) fn is_free(&self, place: &Place) -> bool {
        let path = place.path.as_deref();
        path.is_some_and(|path| {
            !path.contains(['*', '?', '[', UNKNOWN])
                && self.around.lookup.entry(path) == Entry::Missing
        })
    }

    /// The classes of a pattern by what the files are called that it stands for, where its directory can be
    /// read: `a*` could be a key, and may be none. What decides about the gate or agents stays as it is.
    pub(super) fn classes_of_names(&self, place: &Place) -> Option<u64> {
        if place.classes & BY_NAME == 0 {
            return None;
        }
        let (directory, pattern) = place.path.as_deref()?.rsplit_once('/')?;
        if directory.contains(['*', '?', '[', UNKNOWN]) || pattern.contains(['[', UNKNOWN]) {
            return None;
        }
        let names = self.around.lookup.names(directory, MAX_NAMES)?;
        let here = Whereabouts::default();
        let meant = names
            .iter()
            .filter(|(name, _)| Pattern(pattern).matches(name));
        let found = meant.flat_map(|(name, _)| self.of_word(&format!("{directory}/{name}"), &here));
        let classes = found.fold(0, |all, place| all | place.classes);
        Some(place.classes & !BY_NAME | classes & BY_NAME)
    }

    fn workspace(&self) -> Option<&str> {
        self.root(&self.workspace, self.around.workspace)
    }

    fn home(&self) -> Option<&str> {
        self.root(&self.home, self.around.home)
    }

    fn root<'p>(
        &self,
        known: &'p OnceCell<Option<String>>,
        directory: Option<&str>,
    ) -> Option<&'p str> {
        known
            .get_or_init(|| self.around.resolve_directory(directory?).ok())
            .as_deref()
    }

    /// The places of what is removed: a link itself, not what it leads to.
    pub(crate) fn of_removed(&self, text: &str, directory: &Whereabouts) -> Vec<Place> {
        let name = text.rsplit('/').next().unwrap_or_default();
        let plain = !name.is_empty()
            && name != ".."
            && name != "."
            && !text.contains(['*', '?', '[', UNKNOWN])
            && text.len() < 4096;
        if !plain || directory.unknown {
            return self.of_word(text, directory);
        }
        let parent = text.strip_suffix(name).unwrap_or_default();
        let parent = if parent.is_empty() { "." } else { parent };
        if name.starts_with('~') && parent == "." {
            return self.of_word(text, directory);
        }
        let mut places: Vec<Place> = Vec::new();
        for from in &directory.places {
            let named = joined(from, text);
            let place = match self.around.resolve(&joined(from, parent)) {
                Ok(parent) => self.at(format!("{}/{name}", parent.trim_end_matches('/'))),
                Err(_) => self.of(&named),
            };
            let place = Place { named, ..place };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// The places a word of a command that runs in `directory` may name.
    pub(crate) fn of_word(&self, text: &str, directory: &Whereabouts) -> Vec<Place> {
        let anchored = text.starts_with(['/', '~', UNKNOWN]);
        let mut places: Vec<Place> = Vec::new();
        if text.starts_with(UNKNOWN) {
            return vec![Place {
                named: text.to_owned(),
                ..self.of(text)
            }];
        }
        for from in &directory.places {
            let named = joined(from, text);
            let place = self.of(&named);
            let place = Place { named, ..place };
            if !places.contains(&place) {
                places.push(place);
            }
            if anchored {
                break;
            }
        }
        if directory.unknown && !anchored {
            let classes = self.by_name(text, None) | UNKNOWN_PLACE;
            places.push(Place {
                named: text.to_owned(),
                path: None,
                from_home: None,
                classes,
            });
        }
        places
    }

    /// The bit of a file that is, under another of its names, one that registers the gate.
    pub(crate) fn twin_classes(&self, place: &Place) -> u64 {
        let Some(path) = place.path.as_deref() else {
            return 0;
        };
        let Some(twin) = self.around.lookup.twin(path) else {
            return 0;
        };
        let roots = [self.workspace(), self.home()];
        let guarded = roots.into_iter().flatten().flat_map(|root| {
            let names = GATE_FILES.iter();
            names.map(move |name| format!("{}/{name}", root.trim_end_matches('/')))
        });
        let mut same = guarded.filter(|file| self.around.lookup.twin(file) == Some(twin));
        same.next().map_or(0, |_| GATE_TWIN)
    }

    /// The directories of agents and of the gate that stand in a directory.
    pub(crate) fn guarded_in(&self, directory: &str) -> Vec<&'static str> {
        const NAMES: [&str; 14] = [
            ".claude",
            ".codex",
            ".gemini",
            ".cursor",
            ".copilot",
            ".qwen",
            ".windsurf",
            ".opencode",
            ".cline",
            ".clinerules",
            ".kiro",
            ".holdpoint",
            ".mcp.json",
            "permissions.json",
        ];
        // A look-up that knows of no disk takes everything for a file.
        let there = |name: &str| {
            let place = self.around.resolve(&joined(directory, name));
            place.is_ok_and(|place| self.around.lookup.entry(&place) != Entry::Missing)
        };
        if there("\u{e001}") {
            return Vec::new();
        }
        let inside = ["", "/settings.json", "/hooks.json", "/config.toml"];
        let stands = |name: &&&str| inside.iter().any(|file| there(&format!("{name}{file}")));
        NAMES.iter().filter(stands).copied().collect()
    }

    /// The place of a path; `*`, `?`, `[` and [`UNKNOWN`] in it are wild.
    pub(crate) fn of(&self, text: &str) -> Place {
        if text.len() > MAX_PATH {
            // No system takes a path like that.
            return Place {
                named: String::new(),
                path: None,
                from_home: None,
                classes: UNKNOWN_PLACE,
            };
        }
        let wild_at = text.find(['*', '?', '[', UNKNOWN]);
        let Some(wild_at) = wild_at else {
            return match self.around.resolve(text) {
                Ok(path) => self.at(path),
                Err(_) => self.unresolved(text),
            };
        };
        if text.starts_with(UNKNOWN) {
            let rest = text.trim_start_matches(UNKNOWN);
            return Place {
                named: String::new(),
                path: None,
                from_home: None,
                classes: UNKNOWN_PLACE | self.by_name(rest, None) | gate_reach::of(rest),
            };
        }
        let cut = text.get(..wild_at).and_then(|head| head.rfind('/'));
        let (head, tail) = match cut {
            Some(0) => ("/", text.get(1..).unwrap_or_default()),
            Some(cut) => (
                text.get(..cut).unwrap_or_default(),
                text.get(cut + 1..).unwrap_or_default(),
            ),
            None => (".", text),
        };
        let Ok(base) = self.around.resolve(head) else {
            return self.unresolved(text);
        };
        let own = |place: &str| self.at(place.to_owned());
        let first = tail.split('/').next().unwrap_or_default();
        let rest = tail.get(first.len()..).unwrap_or_default();
        let path = format!("{}/{tail}", base.trim_end_matches('/'));
        let mut place = own(&path);
        let deeper = rest.trim_end_matches('/');
        // `dir/*` is all of `dir`; `*/src` leaves the rest.
        if is_broad(first) && (deeper.is_empty() || is_broad(deeper.trim_start_matches('/'))) {
            place.classes |= own(&base).classes & LOCATIONS;
            place.classes &= !(WORKSPACE & inside(own(&base).classes));
            if place.classes & (GENERATED | TEMPORARY | FRESH) == 0 {
                place.classes |= ALL_FILES;
            }
        }
        if base == "/" {
            // `/h*/…` may be any directory of the system.
            place.classes |= SYSTEM;
            if !deeper.is_empty() {
                place.classes |= HOME;
            } else {
                place.classes |= own("/").classes & (ROOT * u64::from(is_broad(first)));
            }
        } else if HOMES.contains(&base.to_ascii_lowercase().as_str()) && deeper.is_empty() {
            place.classes |= HOME;
        }
        place.classes |= self.reached(tail) | gate_reach::of(&path);
        if tail.contains('/') {
            place.classes |= self.reached_below(&place);
        }
        place
    }

    fn unresolved(&self, text: &str) -> Place {
        let location = if text.starts_with('~') {
            HOME
        } else {
            UNKNOWN_PLACE
        };
        Place {
            named: String::new(),
            path: None,
            from_home: text.starts_with("~/").then(|| text.to_owned()),
            classes: location | self.by_name(text.trim_start_matches('~'), Some(text)),
        }
    }

    fn at(&self, path: String) -> Place {
        let from_home = self.home().and_then(|home| {
            let inside = home != "/" && is_within(&path, home);
            inside.then(|| path.replacen(home, "~", 1))
        });
        let mut classes = self.by_name(&path, from_home.as_deref());
        let location = self.location(&path);
        if classes & GENERATED != 0 && location != WORKSPACE {
            classes &= !GENERATED;
        }
        classes |=
            if location == WORKSPACE && (classes & GENERATED != 0 || self.users_generated(&path)) {
                GENERATED
            } else {
                location
            };
        Place {
            named: String::new(),
            path: Some(path),
            from_home,
            classes,
        }
    }

    fn users_generated(&self, path: &str) -> bool {
        let below = self.workspace().and_then(|root| path.strip_prefix(root));
        below.is_some_and(|below| {
            self.generated.iter().any(|name| {
                let name = name.trim_matches('/');
                below
                    .trim_start_matches('/')
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                    || (!name.contains('/') && below.split('/').any(|part| part == name))
            })
        })
    }

    fn location(&self, path: &str) -> u64 {
        let mut location = 0;
        if path == "/" {
            location |= ROOT;
        }
        if let Some(workspace) = self.workspace() {
            if is_within(workspace, path) {
                location |= WORKSPACE_ROOT;
            } else if is_within(path, workspace) {
                return WORKSPACE;
            }
        }
        let lower = ascii_lowercase(path);
        let home = self.home();
        let depth = lower.matches('/').count();
        if home == Some(path)
            || lower == "/root"
            || HOMES
                .iter()
                .any(|homes| lower == *homes || (is_within(&lower, homes) && depth == 2))
        {
            return location | HOME;
        }
        if home.is_some_and(|home| home != "/" && is_within(path, home)) {
            return if location == 0 { OUTSIDE } else { location };
        }
        for directory in TEMPORARY_DIRECTORIES {
            if is_within(&lower, directory) {
                let fresh = path.split('/').any(|part| part.ends_with("XXXXXX"));
                return location | if fresh { FRESH } else { TEMPORARY };
            }
        }
        if lower == "/dev" || is_within(&lower, "/dev") {
            let harmless = [
                "/dev/null",
                "/dev/zero",
                "/dev/random",
                "/dev/urandom",
                "/dev/full",
            ];
            let stream = harmless.contains(&&*lower)
                || lower.starts_with("/dev/fd")
                || lower.starts_with("/dev/std")
                || lower.starts_with("/dev/tty")
                || lower.starts_with("/dev/pts");
            return location | if stream { 0 } else { DEVICE };
        }
        if home.is_none_or(|home| !is_within(path, home))
            && SYSTEM_DIRECTORIES
                .iter()
                .any(|directory| is_within(&lower, directory))
        {
            return location | SYSTEM;
        }
        if location == 0 { OUTSIDE } else { location }
    }

    /// The classes of `path-classes.toml` a path is in.
    fn by_name(&self, path: &str, from_home: Option<&str>) -> u64 {
        let lower = lowercase(path);
        let parts: Vec<&str> = lower.split('/').filter(|part| !part.is_empty()).collect();
        if parts.len() > MAX_COMPONENTS {
            // [`Place::is_too_deep`] says so, and the call is not judged by its name.
            return UNKNOWN_PLACE;
        }
        let below_home = from_home.and_then(|home| home.strip_prefix("~/"));
        let home_depth = below_home.map(|below| parts.len().saturating_sub(depth_of(below)));
        // What stands above the workspace says nothing about a file in it.
        let workspace_depth = self
            .workspace()
            .filter(|workspace| is_within(path, workspace))
            .map_or(0, depth_of);
        let mut found = 0;
        let mut taken_back = 0;
        for (at, part) in parts.iter().enumerate() {
            let anchored = at == 0 || home_depth == Some(at);
            if at < workspace_depth && !anchored {
                continue;
            }
            let rest = parts.get(at..).unwrap_or_default();
            let mut check = |rule: &PathRule| {
                let placed = match rule.anchor {
                    Anchor::Anywhere => at >= workspace_depth,
                    Anchor::Workspace => workspace_depth > 0 && at == workspace_depth,
                    Anchor::Root => at == 0 && lower.starts_with('/'),
                    Anchor::Home => home_depth == Some(at),
                };
                if placed && fits(rule.parts, rest, 0) {
                    if rule.except {
                        taken_back |= rule.class;
                    } else {
                        found |= rule.class;
                    }
                }
            };
            rules::paths_named(part).iter().for_each(&mut check);
            let dot = part.bytes().rposition(|byte| byte == b'.');
            if let Some(ending) = dot.and_then(|dot| part.get(dot + 1..))
                && let Ok(place) = PATHS_BY_ENDING.binary_search_by_key(&ending, |(name, _)| name)
            {
                PATHS_BY_ENDING
                    .get(place)
                    .into_iter()
                    .for_each(|(_, rules)| rules.iter().for_each(&mut check));
            }
            rules::patterns_near(part, &mut check);
        }
        found & !taken_back
    }

    /// The classes of paths a pattern with wild directories would match: `~/.c*/settings.json`.
    fn reached_below(&self, place: &Place) -> u64 {
        let lower = place.path.as_deref().unwrap_or_default().to_lowercase();
        let parts: Vec<&str> = lower.split('/').filter(|part| !part.is_empty()).collect();
        if parts.len() > MAX_COMPONENTS {
            return UNKNOWN_PLACE;
        }
        // A path must have one name of a rule literally.
        let rules = parts.iter().flat_map(|part| rules::paths_with_part(part));
        let mut found = 0;
        for rule in rules {
            if rule.class & !found == 0 {
                continue;
            }
            let named = rule.parts.iter().filter(|part| !part.contains('*')).count();
            let reaches = (0..parts.len()).any(|at| {
                let rest = parts.get(at..).unwrap_or_default();
                let literal = rest
                    .iter()
                    .zip(rule.parts)
                    .any(|(given, wanted)| given == wanted);
                rest.len() >= named && literal && fits_either_way(rule.parts, rest)
            });
            if reaches {
                found |= rule.class;
            }
        }
        found & !GENERATED
    }

    /// The classes of names a pattern of the shell would match: `.e*` reaches `.env`.
    fn reached(&self, tail: &str) -> u64 {
        let name = tail
            .rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        let name = name.replace(UNKNOWN, "*").to_lowercase();
        // An ending alone says nothing of a file: `*.json` is not a way to say `credentials.json`.
        let stem = match name.rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem,
            Some(_) | None => name.as_str(),
        };
        if !stem.contains(char::is_alphanumeric) || !name.contains(['*', '?', '[']) {
            return 0;
        }
        let glob = Glob::new(&name);
        let hidden = name.starts_with('.');
        let mut found = 0;
        for (known, rules) in PATHS_BY_NAME {
            // `*` does not reach hidden files.
            if known.starts_with('.') == hidden && glob.matches(known) {
                for rule in *rules {
                    if !rule.except && rule.anchor == Anchor::Anywhere && rule.parts.len() == 1 {
                        found |= rule.class;
                    }
                }
            }
        }
        found & !GENERATED
    }
}

/// Every bit that says where a path is.
const LOCATIONS: u64 = ROOT
    | HOME
    | SYSTEM
    | DEVICE
    | WORKSPACE_ROOT
    | WORKSPACE
    | GENERATED
    | TEMPORARY
    | FRESH
    | OUTSIDE
    | UNKNOWN_PLACE;

/// All bits if a directory is itself no plain place inside the workspace.
fn inside(classes: u64) -> u64 {
    if classes & (WORKSPACE_ROOT | GENERATED) != 0 {
        u64::MAX
    } else {
        0
    }
}

/// A path in lower case; nearly all are ASCII, for which there is a shorter way.
fn lowercase(path: &str) -> Cow<'_, str> {
    if path.is_ascii() {
        ascii_lowercase(path)
    } else {
        path.to_lowercase().into()
    }
}

/// The same with other letters left as they are.
fn ascii_lowercase(path: &str) -> Cow<'_, str> {
    match path.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => path.to_ascii_lowercase().into(),
        false => path.into(),
    }
}

/// How many components a path has.
fn depth_of(path: &str) -> usize {
    let names = path.as_bytes().split(|byte| *byte == b'/');
    names.filter(|name| !name.is_empty()).count()
}

/// Whether a component is a pattern for nearly every name.
fn is_broad(component: &str) -> bool {
    component.contains(['*', '?', UNKNOWN])
        && component
            .chars()
            .all(|c| matches!(c, '*' | '?' | '.' | '[' | ']' | '^' | '!') || c == UNKNOWN)
}

/// Whether the components of a path begin as a pattern says: a directory stands for what is in it.
fn fits(pattern: &[&str], path: &[&str], depth: usize) -> bool {
    match (pattern, path) {
        ([], _) | (["**"], _) => true,
        (["**", rest @ ..], _) => {
            depth < 32
                && (0..=path.len())
                    .any(|skip| fits(rest, path.get(skip..).unwrap_or_default(), depth + 1))
        }
        ([first, rest @ ..], [name, below @ ..]) => {
            matching::wild(first, name) && fits(rest, below, depth + 1)
        }
        (_, []) => false,
    }
}

/// The same where the path may be wild, too.
fn fits_either_way(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], _) | (["**", ..], _) => true,
        ([first, rest @ ..], [name, below @ ..]) => {
            (matching::wild(first, name) || matching::wild(name, first))
                && fits_either_way(rest, below)
        }
        (_, []) => false,
    }
}

/// Whether a path is what a rule's `path` says.
pub(crate) fn is_at(place: &Place, pattern: &str) -> bool {
    if let Some(below) = pattern.strip_prefix('~') {
        let below_home = place
            .from_home
            .as_deref()
            .and_then(|path| path.strip_prefix('~'));
        return below_home.is_some_and(|path| leads_to(below, path, false));
    }
    let anywhere = !pattern.starts_with('/');
    let path = place.path.as_deref();
    path.is_some_and(|path| leads_to(pattern, path, anywhere))
}

/// Whether a path, or what stands below one of its components, begins as a pattern says. Rules ask
/// this of hundreds of patterns for one path, so nothing is copied.
fn leads_to(pattern: &str, path: &str, anywhere: bool) -> bool {
    // Comparing goes without the case of ASCII letters anyway.
    if !pattern.is_ascii() || !path.is_ascii() {
        let (pattern, path) = (pattern.to_lowercase(), path.to_lowercase());
        return path_fits(&pattern, &path, anywhere);
    }
    path_fits(pattern, path, anywhere)
}

fn path_fits(pattern: &str, path: &str, anywhere: bool) -> bool {
    let Some((first, _)) = component(pattern) else {
        return true;
    };
    if first == "**" || !anywhere {
        return begins(pattern, path, 0);
    }
    // Most components begin with another letter: that is all that is looked at.
    let letter = first.bytes().next().filter(|byte| !b"*?".contains(byte));
    let mut before = b'/';
    path.bytes().enumerate().any(|(at, byte)| {
        let starts = before == b'/' && byte != b'/';
        before = byte;
        starts
            && letter.is_none_or(|letter| letter.eq_ignore_ascii_case(&byte))
            && path.get(at..).is_some_and(|rest| begins(pattern, rest, 0))
    })
}

/// [`fits`] for texts.
fn begins(pattern: &str, mut path: &str, depth: usize) -> bool {
    match component(pattern) {
        None => true,
        Some(("**", rest)) if component(rest).is_none() => true,
        Some(("**", rest)) => {
            if depth >= 32 {
                return false;
            }
            loop {
                if begins(rest, path, depth + 1) {
                    return true;
                }
                match component(path) {
                    Some((_, below)) => path = below,
                    None => return false,
                }
            }
        }
        Some((first, rest)) => component(path).is_some_and(|(name, below)| {
            matching::wild(first, name) && begins(rest, below, depth + 1)
        }),
    }
}

/// The first component of a path and what stands below it.
fn component(path: &str) -> Option<(&str, &str)> {
    let start = path.bytes().position(|byte| byte != b'/')?;
    let path = path.get(start..)?;
    match path.bytes().position(|byte| byte == b'/') {
        Some(end) => path.split_at_checked(end),
        None => Some((path, "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_lead_to_paths() {
        let place = |path: &str| Place {
            named: String::new(),
            path: Some(path.to_owned()),
            from_home: path
                .strip_prefix("/home/ada")
                .map(|below| format!("~{below}")),
            classes: 0,
        };
        let holds = [
            ("/etc/cron.d", "/etc/cron.d/job"),
            ("/etc/cron.*", "/ETC/Cron.Daily"),
            ("/", "/anything"),
            ("**", "/anything"),
            ("/**/hosts", "/etc/hosts"),
            ("/etc/**", "/etc"),
            ("/srv/**/key", "/srv/a/b/key/c"),
            (".git/hooks", "/work/.git/hooks/pre-push"),
            (".git/hooks/", "/work/.git//hooks"),
            ("**/x", "/a/b/x"),
            ("~/.ssh", "/home/ada/.ssh/id"),
            ("~", "/home/ada/x"),
            ("ключ", "/a/КЛЮЧ"),
            // A letter that becomes a `k` in lower case.
            ("key", "/a/\u{212a}ey"),
        ];
        for (pattern, path) in holds {
            assert!(is_at(&place(path), pattern), "{pattern} {path}");
        }
        let fails = [
            ("/etc/cron.d", "/srv/etc/cron.d"),
            ("/etc/cron.d", "/etc"),
            (".git/hooks", "/work/.git"),
            (".git/hooks", "/work/.git/x/hooks"),
            ("/srv/**/key", "/srv/a/b"),
            ("~/.ssh", "/root/.ssh"),
            ("x", "/"),
            ("*", "/"),
        ];
        for (pattern, path) in fails {
            assert!(!is_at(&place(path), pattern), "{pattern} {path}");
        }
    }
}
