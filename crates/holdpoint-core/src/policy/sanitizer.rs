//! The blunt checks of jaato's `sanitization` (J-26 … J-35), made to hold for every command and
//! path argument whatever the tool is called and for every command of a line.

use super::document::{PathScope, Sanitization};
use crate::effects::PathEffect;
use crate::paths::{self, Surroundings};
use crate::understand::{Action, Unreadable};

/// Programs refused by `block_dangerous_commands` (J-28).
const DANGEROUS: &[&str] = &[
    "sudo", "su", "doas", "pkexec", "shutdown", "reboot", "halt", "poweroff", "init", "rm",
    "rmdir", "mkfs", "dd", "shred", "curl", "wget", "nc", "netcat", "ncat", "ssh", "scp", "rsync",
    "ftp", "sftp", "kill", "killall", "pkill", "chmod", "chown", "chgrp", "mount", "umount",
];

/// Characters refused by `block_shell_metacharacters`, quoted or not (J-27).
const METACHARACTERS: &[char] = &[
    ';', '|', '&', '`', '$', '(', ')', '{', '}', '<', '>', '\n', '\r',
];

/// The temporary directory `allow_tmp` speaks of.
const TMP: &str = "/tmp";

/// The checks one policy layer asks for.
#[derive(Clone, Debug)]
pub(crate) struct Sanitizer {
    metacharacters: bool,
    blocked: Vec<String>,
    scope: Option<PathScope>,
}

/// Something the sanitizer refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) rule: &'static str,
    pub(crate) reason: String,
    pub(crate) command: Option<usize>,
}

impl Sanitizer {
    /// The checks of a document, or nothing if they are switched off.
    pub(crate) fn new(document: &Sanitization) -> Option<Self> {
        if !document.enabled {
            return None;
        }
        let mut blocked: Vec<String> = Vec::new();
        if document.block_dangerous_commands {
            blocked.extend(
                DANGEROUS
                    .iter()
                    .filter(|name| {
                        !document
                            .allowed_dangerous_commands
                            .iter()
                            .any(|allowed| allowed == *name)
                    })
                    .map(|name| (*name).to_owned()),
            );
        }
        blocked.extend(document.custom_blocked_commands.iter().cloned());
        Some(Self {
            metacharacters: document.block_shell_metacharacters,
            blocked,
            scope: document.path_scope.clone().filter(|scope| scope.enabled),
        })
    }

    /// Everything about the call that is refused.
    pub(crate) fn violations(&self, view: &Action, around: &Surroundings<'_>) -> Vec<Violation> {
        let mut found = Vec::new();
        self.check_text(view, &mut found);
        self.check_programs(view, &mut found);
        if let Some(scope) = &self.scope {
            for path in view.paths() {
                if let Some(reason) = out_of_scope(scope, path, around) {
                    found.push(Violation {
                        rule: "sanitization.path_scope",
                        reason,
                        command: path.command,
                    });
                }
            }
        }
        found
    }

    fn check_text(&self, view: &Action, found: &mut Vec<Violation>) {
        match &view.trouble {
            Some(Unreadable::Syntax(refusal)) => found.push(Violation {
                rule: "sanitization.malformed",
                reason: format!("Malformed command: {refusal}"),
                command: None,
            }),
            Some(
                Unreadable::Malformed(_)
                | Unreadable::Oversize(_)
                | Unreadable::TooMany
                | Unreadable::TooManyPaths(_)
                | Unreadable::PathTooDeep
                | Unreadable::TooComplex,
            )
            | None => {}
        }
        if !self.metacharacters {
            return;
        }
        for line in view.command_texts() {
            let mut seen: Vec<char> = line
                .chars()
                .filter(|c| METACHARACTERS.contains(c))
                .collect();
            seen.sort_unstable();
            seen.dedup();
            for c in seen {
                found.push(Violation {
                    rule: "sanitization.shell_metacharacter",
                    reason: format!("Shell metacharacter `{}` is not allowed", c.escape_debug()),
                    command: None,
                });
            }
        }
    }

    fn check_programs(&self, view: &Action, found: &mut Vec<Violation>) {
        for (index, command) in view.commands.iter().enumerate() {
            let Some(program) = command.program() else {
                continue;
            };
            // `mkfs.ext4` is `mkfs` (J-28 names the family).
            let family = program.split('.').next().unwrap_or(program);
            let hit = self
                .blocked
                .iter()
                .any(|name| name == program || (name == family && family == "mkfs"));
            if hit {
                found.push(Violation {
                    rule: "sanitization.dangerous_command",
                    reason: format!("Dangerous command `{program}` is not allowed"),
                    command: Some(index),
                });
            }
        }
    }
}

/// Why a path is refused, if it is.
fn out_of_scope(scope: &PathScope, path: &PathEffect, around: &Surroundings<'_>) -> Option<String> {
    let text = path.text.as_str();
    if path.dynamic {
        return Some(format!(
            "Path `{text}` is only known when the shell runs it"
        ));
    }
    let place = around.resolve(text);
    if scope.allow_tmp
        && place
            .as_deref()
            .is_ok_and(|place| paths::is_within(place, TMP))
    {
        return None;
    }
    let bare = !text.contains('/') && !text.starts_with('.') && !text.starts_with('~');
    if bare && path.command.is_some() {
        // A bare word of a command is a path only if something in the workspace has that name and
        // leads elsewhere; a word that is just a word stays inside by definition.
        return match &place {
            Ok(place) if within_any(scope, place, around) => None,
            Ok(_) => Some(format!(
                "Path `{text}` leads outside the allowed directories"
            )),
            Err(paths::Unresolved::NoDirectory) => None,
            Err(reason) => Some(format!("Path `{text}` cannot be resolved: {reason}")),
        };
    }
    if scope.block_absolute && text.starts_with('/') {
        return Some(format!("Absolute path `{text}` is not allowed"));
    }
    if scope.block_parent_traversal && paths::climbs(text) {
        return Some(format!(
            "Path `{text}` goes to a parent directory, which is not allowed"
        ));
    }
    if !scope.allow_home && text.starts_with('~') {
        return Some(format!(
            "Path `{text}` is in the home directory, which is not allowed"
        ));
    }
    match place {
        Ok(place) if within_any(scope, &place, around) => None,
        Ok(_) => Some(format!("Path `{text}` is outside the allowed directories")),
        Err(reason) => Some(format!("Path `{text}` cannot be resolved: {reason}")),
    }
}

fn within_any(scope: &PathScope, place: &str, around: &Surroundings<'_>) -> bool {
    scope.allowed_roots.iter().any(|root| {
        around
            .resolve_root(root)
            .is_ok_and(|root| paths::is_within(place, &root))
    })
}
