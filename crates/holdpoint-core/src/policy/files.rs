//! Rules about files and directories, for every tool that names one (R-07 … ).

use super::document::{FileRules, Files};
use crate::effects::{EffectKind, PathEffect};
use crate::glob::Glob;
use crate::paths::{self, Surroundings, Unresolved};
use crate::verdict::Verdict;

/// The file rules of one policy layer.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileGuard {
    roots: Vec<String>,
    blocked: Vec<String>,
    read: ByVerdict,
    write: ByVerdict,
    delete: ByVerdict,
}

#[derive(Clone, Debug, Default)]
struct ByVerdict {
    deny: PathPatterns,
    ask: PathPatterns,
    allow: PathPatterns,
}

/// What a layer says about one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathFinding {
    pub(crate) verdict: Verdict,
    pub(crate) rule: String,
    pub(crate) reason: String,
}

impl FileGuard {
    pub(crate) fn new(document: &Files) -> Self {
        Self {
            roots: document.roots.clone(),
            blocked: document.blocked.clone(),
            read: ByVerdict::new(&document.read),
            write: ByVerdict::new(&document.write),
            delete: ByVerdict::new(&document.delete),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.roots.is_empty()
            && self.blocked.is_empty()
            && [&self.read, &self.write, &self.delete]
                .iter()
                .all(|rules| rules.is_empty())
    }

    /// Everything this layer says about `path`.
    pub(crate) fn findings(
        &self,
        path: &PathEffect,
        around: &Surroundings<'_>,
    ) -> Vec<PathFinding> {
        let mut found = Vec::new();
        let text = path.text.as_str();
        let scoped = !self.roots.is_empty() || !self.blocked.is_empty();
        let guarded = self.rules_for(path.kind).iter().any(|rules| rules.guards());
        if path.dynamic && (scoped || guarded) {
            found.push(PathFinding {
                verdict: Verdict::Ask,
                rule: "files.dynamic".into(),
                reason: format!("Path `{text}` is only known when the shell runs it"),
            });
        }
        if let Err(reason) = around.resolve(text)
            && !path.dynamic
        {
            found.extend(unresolved(path, &reason, scoped, guarded));
        }
        if text.len() > paths::MAX_PATH {
            return found;
        }
        let subject = Subject::from_path(text, around);
        let place = subject.place.as_ref();
        if let Some(place) = place.filter(|_| !path.dynamic) {
            found.extend(self.outside_roots(text, place, around));
            found.extend(self.inside_blocked(text, place, around));
        }
        for rules in self.rules_for(path.kind) {
            found.extend(rules.findings(&subject));
            if path.glob {
                found.extend(rules.reached_by(text));
            }
        }
        found
    }

    fn outside_roots(
        &self,
        text: &str,
        place: &str,
        around: &Surroundings<'_>,
    ) -> Option<PathFinding> {
        let inside = self.roots.is_empty()
            || self.roots.iter().any(|root| {
                around
                    .resolve_root(root)
                    .is_ok_and(|root| paths::is_within(place, &root))
            });
        (!inside).then(|| PathFinding {
            verdict: Verdict::Deny,
            rule: "files.roots".into(),
            reason: format!("Path `{text}` is outside the allowed directories"),
        })
    }

    /// A blocked directory that contains the workspace does not apply inside it, or a project
    /// under `/tmp` could not be worked on at all.
    fn inside_blocked(
        &self,
        text: &str,
        place: &str,
        around: &Surroundings<'_>,
    ) -> Option<PathFinding> {
        let workspace = around
            .workspace
            .and_then(|dir| around.resolve_root(dir).ok());
        let in_workspace = workspace
            .as_deref()
            .is_some_and(|workspace| paths::is_within(place, workspace));
        let blocked = self.blocked.iter().find(|blocked| {
            // What cannot be found cannot be kept out of.
            let Ok(directory) = around.resolve_root(blocked) else {
                return true;
            };
            let spares_workspace = in_workspace
                && workspace
                    .as_deref()
                    .is_some_and(|workspace| paths::is_within(workspace, &directory));
            paths::is_within(place, &directory) && !spares_workspace
        })?;
        Some(PathFinding {
            verdict: Verdict::Deny,
            rule: format!("files.blocked={blocked}"),
            reason: format!("Path `{text}` is in `{blocked}`, which is blocked"),
        })
    }

    fn rules_for(&self, kind: EffectKind) -> Vec<&ByVerdict> {
        match kind {
            EffectKind::Read
            | EffectKind::List
            | EffectKind::Send
            | EffectKind::Show
            | EffectKind::Run => {
                vec![&self.read]
            }
            EffectKind::Write | EffectKind::Append | EffectKind::Mode | EffectKind::Owner => {
                vec![&self.write]
            }
            EffectKind::Delete => vec![&self.delete],
            // Nobody knows what happens to it.
            EffectKind::Either
            | EffectKind::Connect
            | EffectKind::Listen
            | EffectKind::History
            | EffectKind::Publish
            | EffectKind::Database
            | EffectKind::Infrastructure
            | EffectKind::Privilege
            | EffectKind::Signal
            | EffectKind::Install
            | EffectKind::Persist
            | EffectKind::Opaque => vec![&self.read, &self.write, &self.delete],
        }
    }
}

/// What a path that leads nowhere is worth: a tool must not touch it where places are guarded; a
/// word of a command may not be a path at all, so only what looks like one counts.
fn unresolved(
    path: &PathEffect,
    reason: &Unresolved,
    scoped: bool,
    guarded: bool,
) -> Option<PathFinding> {
    let text = path.text.as_str();
    let is_path = path.command.is_none() || text.contains('/') || text.starts_with('~');
    // A pattern for names needs no directory to be matched.
    let known_by_name = *reason == Unresolved::NoDirectory && !scoped;
    if !is_path || known_by_name || !(scoped || guarded) {
        return None;
    }
    Some(PathFinding {
        verdict: if scoped || path.command.is_none() {
            Verdict::Deny
        } else {
            Verdict::Ask
        },
        rule: "files.unresolved".into(),
        reason: format!("Path `{}` cannot be resolved: {reason}", shortened(text)),
    })
}

/// The beginning of a text too long to show.
fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}

impl ByVerdict {
    fn new(rules: &FileRules) -> Self {
        Self {
            deny: PathPatterns::new(&rules.deny),
            ask: PathPatterns::new(&rules.ask),
            allow: PathPatterns::allowing(&rules.allow),
        }
    }

    /// A protected name that a glob of the shell would reach.
    fn reached_by(&self, glob: &str) -> Option<PathFinding> {
        let name = [&self.deny, &self.ask]
            .into_iter()
            .find_map(|patterns| patterns.reached_by(glob))?;
        Some(PathFinding {
            verdict: Verdict::Ask,
            rule: name.to_owned(),
            reason: format!("`{glob}` may name `{name}`"),
        })
    }

    /// Whether some file must not be touched without a person.
    fn guards(&self) -> bool {
        !self.deny.is_empty() || !self.ask.is_empty()
    }

    fn is_empty(&self) -> bool {
        [&self.deny, &self.ask, &self.allow]
            .iter()
            .all(|patterns| patterns.is_empty())
    }

    fn findings(&self, subject: &Subject<'_>) -> Vec<PathFinding> {
        let mut found = Vec::new();
        for (patterns, verdict, says) in [
            (&self.deny, Verdict::Deny, "is protected"),
            (&self.ask, Verdict::Ask, "needs a person's yes"),
            (&self.allow, Verdict::Allow, "is allowed"),
        ] {
            if let Some(pattern) = patterns.matching(subject) {
                found.push(PathFinding {
                    verdict,
                    rule: pattern.to_owned(),
                    reason: format!("Path `{}` {says} (matches `{pattern}`)", subject.text),
                });
            }
        }
        found
    }
}

/// A path under all the names rules may call it by.
pub(crate) struct Subject<'t> {
    text: &'t str,
    place: Option<String>,
    /// The place below the workspace, starting with `/`.
    inside: Option<String>,
    /// The place below the home directory, starting with `~`.
    at_home: Option<String>,
}

impl<'t> Subject<'t> {
    pub(crate) fn from_path(text: &'t str, around: &Surroundings<'_>) -> Self {
        let place = around.resolve(text).ok();
        let below = |directory: Option<&str>, name: &str| {
            let directory = around.resolve_root(directory?).ok()?;
            let place = place.as_deref()?;
            let inside = paths::is_within(place, &directory) && directory != "/";
            inside.then(|| place.replacen(&directory, name, 1))
        };
        Self {
            inside: below(around.workspace, ""),
            at_home: below(around.home, "~"),
            text,
            place,
        }
    }
}

/// Patterns over paths: without `/` over any component, with it over the whole; `!` takes back.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathPatterns {
    patterns: Vec<PathPattern>,
    /// Whether they allow: then case counts, and a relative pattern starts in the workspace.
    allow: bool,
}

#[derive(Clone, Debug)]
struct PathPattern {
    text: String,
    glob: Glob,
    takes_back: bool,
    kind: PatternKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternKind {
    /// A component.
    Name,
    /// A path whose beginning is left open or is the workspace.
    Relative,
    /// A path from the root or from home.
    Anchored,
}

impl PathPatterns {
    /// Patterns that refuse or ask. Case does not count: on many disks `.ENV` is `.env` (H-11).
    pub(crate) fn new(patterns: &[String]) -> Self {
        Self::compile(patterns, false)
    }

    /// Patterns that allow.
    fn allowing(patterns: &[String]) -> Self {
        Self::compile(patterns, true)
    }

    fn compile(patterns: &[String], allow: bool) -> Self {
        let compiled = patterns.iter().map(|text| {
            let (takes_back, body) = match text.strip_prefix('!') {
                Some(body) => (true, body),
                None => (false, text.as_str()),
            };
            // `.github/` is the directory and so a component.
            let body = body.trim_end_matches('/');
            let body = if allow {
                body.to_owned()
            } else {
                body.to_lowercase()
            };
            let (kind, glob) = if body.starts_with(['/', '~']) {
                (PatternKind::Anchored, Glob::new(&body))
            } else if !body.contains('/') {
                (PatternKind::Name, Glob::new(&body))
            } else if allow {
                (PatternKind::Relative, Glob::new(&format!("/{body}")))
            } else {
                (PatternKind::Relative, Glob::new(&format!("*/{body}")))
            };
            PathPattern {
                text: text.clone(),
                glob,
                takes_back,
                kind,
            }
        });
        Self {
            patterns: compiled.collect(),
            allow,
        }
    }

    fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The pattern that speaks about a path, unless a later one takes it back.
    pub(crate) fn matching(&self, subject: &Subject<'_>) -> Option<&str> {
        if self.is_empty() {
            return None;
        }
        let rooted = || {
            let relative = !subject.text.starts_with(['/', '~']);
            relative.then(|| format!("/{}", subject.text))
        };
        // Directories above the workspace are not the agent's doing and do not count inside it.
        let tree = subject.inside.as_ref().or(subject.place.as_ref());
        let open: [Option<String>; 2] = match (self.allow, tree) {
            (true, _) => [subject.inside.clone(), None],
            (false, Some(tree)) => [Some(tree.clone()), rooted()],
            (false, None) => [rooted().or_else(|| Some(subject.text.to_owned())), None],
        };
        let open = open
            .iter()
            .flatten()
            .find_map(|path| self.speaking(path, |kind| kind != PatternKind::Anchored));
        open.or_else(|| {
            [&subject.place, &subject.at_home]
                .into_iter()
                .flatten()
                .find_map(|path| self.speaking(path, |kind| kind == PatternKind::Anchored))
        })
    }

    /// The pattern that speaks about some directory of `path` or the path itself: for each, the
    /// last one counts.
    fn speaking(&self, path: &str, counts: impl Fn(PatternKind) -> bool) -> Option<&str> {
        let path = if self.allow {
            path.to_owned()
        } else {
            path.to_lowercase()
        };
        let ends = path
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([path.len()]);
        ends.filter_map(|end| path.get(..end))
            .filter(|part| !part.is_empty())
            .find_map(|part| {
                self.patterns
                    .iter()
                    .rev()
                    .filter(|pattern| counts(pattern.kind))
                    .find(|pattern| pattern.speaks_of(part))
                    .filter(|pattern| !pattern.takes_back)
            })
            .map(|pattern| pattern.text.as_str())
    }

    /// The first plain name among the patterns that the last part of a shell glob matches. As in a
    /// shell, `*` does not stand for a leading dot.
    fn reached_by(&self, glob: &str) -> Option<&str> {
        let last = glob.rsplit('/').next().unwrap_or(glob).to_lowercase();
        let matcher = Glob::new(&last);
        self.patterns
            .iter()
            .filter(|pattern| !pattern.takes_back)
            .find(|pattern| {
                pattern.glob.literal().is_some_and(|name| {
                    (!name.starts_with('.') || last.starts_with('.')) && matcher.matches(name)
                })
            })
            .map(|pattern| pattern.text.as_str())
    }
}

impl PathPattern {
    fn speaks_of(&self, path: &str) -> bool {
        match self.kind {
            PatternKind::Name => path
                .rsplit('/')
                .next()
                .is_some_and(|name| self.glob.matches(name)),
            PatternKind::Relative | PatternKind::Anchored => self.glob.matches(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matching(patterns: &[&str], path: &str) -> bool {
        let patterns: Vec<String> = patterns.iter().map(|&text| text.to_owned()).collect();
        let around = Surroundings {
            workspace: Some("/ws"),
            home: Some("/home/dev"),
            ..Surroundings::nowhere()
        };
        let subject = Subject::from_path(path, &around);
        PathPatterns::new(&patterns).matching(&subject).is_some()
    }

    #[test]
    fn a_name_matches_a_component_not_a_substring() {
        assert!(matching(&[".env"], "/ws/.env"));
        assert!(matching(&[".env"], "app/.ENV"));
        assert!(!matching(&[".env"], "/ws/.environment"));
        assert!(matching(&[".ssh/"], "/home/dev/.ssh/authorized_keys"));
        assert!(!matching(&["*.key"], "/ws/en.keys.ts"));
    }

    #[test]
    fn what_lies_above_the_workspace_does_not_count_inside_it() {
        assert!(!matching(&["ws"], "/ws/x"));
        assert!(matching(&["build"], "/ws/build/x"));
        assert!(matching(&["etc"], "/etc/x"));
    }

    #[test]
    fn an_exception_is_for_what_it_names_and_not_for_what_lies_in_it() {
        assert!(matching(
            &[".env", "!.env.example"],
            "/ws/.env.example/.env"
        ));
    }

    #[test]
    fn a_pattern_that_allows_starts_in_the_workspace_and_minds_case() {
        let allowed = |path: &str| {
            let around = Surroundings {
                workspace: Some("/ws"),
                ..Surroundings::nowhere()
            };
            let subject = Subject::from_path(path, &around);
            let patterns = PathPatterns::allowing(&["src/*".to_owned()]);
            patterns.matching(&subject).is_some()
        };
        assert!(allowed("src/a") && allowed("/ws/src/a/b"));
        assert!(!allowed("/etc/src/a") && !allowed("SRC/a") && !allowed("/ws/x/src/a"));
    }

    #[test]
    fn an_exception_takes_back_what_stands_before_it() {
        let patterns = [".env", ".env.*", "!.env.example"];
        assert!(matching(&patterns, "/ws/.env.local"));
        assert!(!matching(&patterns, "/ws/.env.example"));
    }

    #[test]
    fn a_pattern_with_a_slash_speaks_of_the_path_and_what_lies_below() {
        assert!(matching(&["~/.aws"], "~/.aws/credentials"));
        assert!(matching(&[".git/config"], "/ws/.git/config"));
        assert!(!matching(&[".git/config"], "/ws/config"));
        assert!(matching(&["/etc/ssh"], "/etc/ssh/sshd_config"));
        assert!(!matching(&["/etc/ssh"], "/ws/etc/ssh"));
    }
}
