//! Rules about files and directories, for every tool that names one (R-07 … ).

use super::document::{FileRules, Files};
use crate::glob::Glob;
use crate::paths::{self, Surroundings, Unresolved};
use crate::understand::{PathUse, Verb};
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
    pub(crate) fn findings(&self, path: &PathUse, around: &Surroundings<'_>) -> Vec<PathFinding> {
        let mut found = Vec::new();
        let text = path.text.as_str();
        let scoped = !self.roots.is_empty() || !self.blocked.is_empty();
        let guarded = self.rules_for(path.verb).iter().any(|rules| rules.guards());
        if path.dynamic && (scoped || (guarded && path.verb != Verb::Read)) {
            found.push(PathFinding {
                verdict: Verdict::Ask,
                rule: "files.dynamic".into(),
                reason: format!("Path `{text}` is only known when the shell runs it"),
            });
        }
        let place = around.resolve(text);
        if let Err(reason) = &place
            && !path.dynamic
        {
            found.extend(unresolved(path, reason, scoped, guarded));
        }
        let place = place.ok();
        if text.len() > paths::MAX_PATH {
            return found;
        }
        if let Some(place) = place.as_ref().filter(|_| !path.dynamic) {
            found.extend(self.outside_roots(text, place, around));
            found.extend(self.inside_blocked(text, place, around));
        }
        let at_home = place.as_deref().and_then(|place| {
            let home = around.resolve_root(around.home?).ok()?;
            paths::is_within(place, &home).then(|| place.replacen(&home, "~", 1))
        });
        for rules in self.rules_for(path.verb) {
            found.extend(rules.findings(text, place.as_deref(), at_home.as_deref()));
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

    fn rules_for(&self, verb: Verb) -> Vec<&ByVerdict> {
        match verb {
            Verb::Read => vec![&self.read],
            Verb::Write => vec![&self.write],
            Verb::Delete => vec![&self.delete],
            Verb::Unknown => vec![&self.read, &self.write, &self.delete],
        }
    }
}

/// What a path that leads nowhere is worth: a tool must not touch it where places are guarded; a
/// word of a command may not be a path at all, so only what looks like one counts.
fn unresolved(
    path: &PathUse,
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
            allow: PathPatterns::new(&rules.allow),
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
        !self.deny.0.is_empty() || !self.ask.0.is_empty()
    }

    fn is_empty(&self) -> bool {
        [&self.deny, &self.ask, &self.allow]
            .iter()
            .all(|patterns| patterns.0.is_empty())
    }

    fn findings(&self, text: &str, place: Option<&str>, at_home: Option<&str>) -> Vec<PathFinding> {
        let mut found = Vec::new();
        for (patterns, verdict, says) in [
            (&self.deny, Verdict::Deny, "is protected"),
            (&self.ask, Verdict::Ask, "needs a person's yes"),
            (&self.allow, Verdict::Allow, "is allowed"),
        ] {
            let resolved = [place, at_home]
                .into_iter()
                .flatten()
                .find_map(|place| patterns.matching(place));
            // What is refused is refused under either name, what is allowed only for its place.
            let hit = match verdict {
                Verdict::Allow => resolved,
                Verdict::Notify | Verdict::Ask | Verdict::Review | Verdict::Deny => {
                    resolved.or_else(|| patterns.matching(text))
                }
            };
            if let Some(pattern) = hit {
                found.push(PathFinding {
                    verdict,
                    rule: pattern.to_owned(),
                    reason: format!("Path `{text}` {says} (matches `{pattern}`)"),
                });
            }
        }
        found
    }
}

/// Patterns over paths: without `/` over any component, with it over the whole; `!` takes back.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathPatterns(Vec<PathPattern>);

#[derive(Clone, Debug)]
struct PathPattern {
    text: String,
    glob: Glob,
    takes_back: bool,
    whole: bool,
    /// It starts at the root, so it says nothing about a path of which only the end is known.
    anchored: bool,
}

impl PathPatterns {
    pub(crate) fn new(patterns: &[String]) -> Self {
        Self(
            patterns
                .iter()
                .map(|text| {
                    let (takes_back, body) = match text.strip_prefix('!') {
                        Some(body) => (true, body),
                        None => (false, text.as_str()),
                    };
                    // `.github/` is the directory and so a component.
                    let body = body.trim_end_matches('/').to_lowercase();
                    let whole = body.contains('/');
                    let glob = if whole && !body.starts_with(['/', '*', '~']) {
                        Glob::new(&format!("*/{body}"))
                    } else {
                        Glob::new(&body)
                    };
                    PathPattern {
                        text: text.clone(),
                        glob,
                        takes_back,
                        whole,
                        anchored: body.starts_with(['/', '~']),
                    }
                })
                .collect(),
        )
    }

    /// The last pattern that speaks about `path`, unless it takes it back. Case does not count: on
    /// many disks `.ENV` is `.env` (H-11).
    pub(crate) fn matching(&self, path: &str) -> Option<&str> {
        let path = path.to_lowercase();
        let absolute = path.starts_with(['/', '~']);
        let rooted = if absolute { path } else { format!("/{path}") };
        self.0
            .iter()
            .rev()
            .filter(|pattern| absolute || !pattern.anchored)
            .find(|pattern| pattern.speaks_of(&rooted))
            .filter(|pattern| !pattern.takes_back)
            .map(|pattern| pattern.text.as_str())
    }
}

impl PathPatterns {
    /// The first plain name among the patterns that the last part of a shell glob matches. As in a
    /// shell, `*` does not stand for a leading dot.
    fn reached_by(&self, glob: &str) -> Option<&str> {
        let last = glob.rsplit('/').next().unwrap_or(glob).to_lowercase();
        let matcher = Glob::new(&last);
        self.0
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
        if self.whole {
            // A directory speaks for what lies in it.
            path.match_indices('/')
                .map(|(at, _)| at)
                .chain([path.len()])
                .any(|end| path.get(..end).is_some_and(|part| self.glob.matches(part)))
        } else {
            path.split('/')
                .any(|component| self.glob.matches(component))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matching(patterns: &[&str], path: &str) -> bool {
        let patterns: Vec<String> = patterns.iter().map(|&text| text.to_owned()).collect();
        PathPatterns::new(&patterns).matching(path).is_some()
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
