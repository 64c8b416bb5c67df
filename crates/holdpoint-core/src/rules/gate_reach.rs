//! Whether a path that is only known in part can be one of the files that decide what agents may do.
//!
//! `.c*/settings.json` names no such file and reaches one. A wildcard of the shell reaches hidden names
//! only if its component begins with a dot, so a path counts if a hidden component of it is wild and
//! the rest fits. What is unknown as a whole (`> "$OUT"`) reaches everything and so says nothing: it
//! is judged as an unknown place.

use super::{PATHS_BY_ENDING, PATHS_BY_NAME, PathRule, target_bit};
use crate::glob::Glob;
use crate::shell::UNKNOWN;

/// It can be such a file.
pub(crate) const GATE_REACH: u64 = target_bit("gate-reach");
/// Such a file lies below it.
pub(crate) const GATE_ABOVE: u64 = target_bit("gate-above");

/// The classes of files that are reached.
const GUARDED: u64 =
    target_bit("hook-registration") | target_bit("gate-config") | target_bit("gate-key");

/// The bits of a path with wild components.
pub(crate) fn of(path: &str) -> u64 {
    // Most wild paths have no hidden component at all.
    if !path.starts_with('.') && !path.contains("/.") && !path.contains("holdpoint") {
        return 0;
    }
    let lower = path.to_lowercase();
    let parts: Vec<&str> = lower
        .split('/')
        .filter(|part| !part.is_empty() && *part != "." && *part != "..")
        .collect();
    let mut found = 0;
    for (at, part) in parts.iter().enumerate() {
        if !is_hidden_and_wild(part) && *part != "holdpoint" {
            continue;
        }
        // The directory before it may be part of what a class names: `.config/.*`.
        let from = at.saturating_sub(2);
        for start in from..=at {
            let rest = parts.get(start..).unwrap_or_default();
            found |= reached(rest, at - start);
        }
    }
    found
}

/// Whether all a component says is that it is hidden.
fn is_broad(part: &str) -> bool {
    let mut signs = part.chars();
    signs.all(|sign| matches!(sign, '.' | '*' | '?') || sign == UNKNOWN)
}

/// The bits of a path from a component on, of which the one at `wild` is hidden and wild.
fn reached(path: &[&str], wild: usize) -> u64 {
    let tables = PATHS_BY_NAME.iter().chain(PATHS_BY_ENDING);
    let rules = tables.flat_map(|(_, rules)| rules.iter());
    let mut found = 0;
    for rule in rules.filter(|rule| !rule.except && rule.class & GUARDED != 0) {
        match fit(rule, path, wild) {
            Some(Fit::Whole) => {
                found |= GATE_REACH;
                if rule.class == target_bit("gate-key") {
                    found |= rule.class;
                }
            }
            Some(Fit::Above) => found |= GATE_ABOVE,
            None => {}
        }
    }
    found
}

enum Fit {
    Whole,
    Above,
}

fn fit(rule: &PathRule, path: &[&str], wild: usize) -> Option<Fit> {
    let mut wanted = rule.parts.iter();
    for (at, given) in path.iter().enumerate() {
        match wanted.next() {
            // A directory stands for what is in it; but any file of any hidden directory would be one
            // of these.
            None | Some(&"**") => {
                let named = path.iter().take(at).any(|part| !is_broad(part));
                return (at > wild && named).then_some(Fit::Whole);
            }
            Some(wanted) if could_be(given, wanted) => {}
            Some(_) => return None,
        }
    }
    match wanted.next() {
        None | Some(&"**") => Some(Fit::Whole),
        Some(_) => Some(Fit::Above),
    }
}

/// Whether a component of a path, wild or not, can be one a class names.
fn could_be(given: &str, wanted: &str) -> bool {
    if given == wanted {
        return true;
    }
    // A wildcard does not reach hidden names unless it begins with a dot.
    if given.starts_with('.') != wanted.starts_with('.') && !given.starts_with(UNKNOWN) {
        return false;
    }
    let as_glob = given.replace(UNKNOWN, "*");
    Glob::new(&as_glob).matches(&wanted.replace('*', "x")) || Glob::new(wanted).matches(given)
}

fn is_hidden_and_wild(part: &str) -> bool {
    part.starts_with('.') && part.contains(['*', '?', '[', UNKNOWN])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wild_hidden_components_reach_what_they_can_match() {
        for path in [
            "/ws/.c*/settings.json",
            "/ws/.*/*.json",
            "/ws/.cl?ude/settings.json",
            "/ws/.[a-d]*/hooks/x.sh",
            ".g*/settings.json",
            "/home/dev/.c\u{1}/settings.local.json",
        ] {
            assert_ne!(of(path) & GATE_REACH, 0, "{path}");
        }
        for path in ["/ws/.c*", "/ws/.*", "/ws/.??*", "/ws/.[a-z]*"] {
            assert_ne!(of(path) & GATE_ABOVE, 0, "{path}");
        }
        for path in [
            "/ws/.*.swp",
            "/ws/.coverage.*",
            "/ws/.eslintrc.*",
            "/ws/.github/workflows/*.yml",
            "/ws/*/settings.json",
            "/ws/src/*.json",
            "/ws/.env.*",
            "/ws/.*/x.py",
        ] {
            assert_eq!(of(path) & (GATE_REACH | GATE_ABOVE), 0, "{path}");
        }
    }
}
