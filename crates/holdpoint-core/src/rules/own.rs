//! A pack of somebody's own: the shipped format, and what such a pack may not claim.

use super::{PACKS, Pack, PackError, RULES};
use crate::verdict::Method;

/// The longest name of a pack or rule.
const MAX_NAME: usize = 100;

/// The longest reason or advice; an agent is shown both.
const MAX_TEXT: usize = 500;

impl Pack {
    /// Reads a pack that is to be loaded beside the shipped ones; `place` names it in errors.
    ///
    /// It may not pass for a shipped pack: `guards` switches packs and rules by name, and a rule
    /// that is shipped later must not meet one of the same name.
    pub fn own(place: &str, text: &str) -> Result<Self, PackError> {
        let pack = Self::read(place, text)?;
        let wrong = |what: String| PackError(format!("{place}: {what}"));
        if let Some(rule) = pack
            .rules()
            .iter()
            .find(|rule| RULES.iter().any(|shipped| shipped.id == rule.id))
        {
            return Err(wrong(format!(
                "rule `{}` is a shipped one: give yours another name, or switch that one under `guards`",
                rule.id
            )));
        }
        let name = pack.name();
        if PACKS.iter().any(|(shipped, _, _)| *shipped == name) {
            return Err(wrong(format!(
                "pack `{name}` is a shipped one: give yours another name"
            )));
        }
        if !is_name(name) {
            return Err(wrong(format!(
                "`{}` is no name for a pack: use at most {MAX_NAME} of a-z, 0-9, `-` and `_`",
                name.escape_debug()
            )));
        }
        for rule in pack.rules() {
            let id = rule.id.as_ref();
            if rule.method == Method::SelfProtection {
                return Err(wrong(
                    "only Holdpoint's own pack protects it: use the method `guard` or `file_guard`"
                        .to_owned(),
                ));
            }
            if !id.split('.').all(is_name) || id.len() > MAX_NAME {
                return Err(wrong(format!(
                    "`{}` is no id of a rule: use a-z, 0-9, `-` and `_` behind `{name}.`",
                    id.escape_debug()
                )));
            }
            for (key, text) in [("reason", &rule.reason), ("instead", &rule.instead)] {
                let length = text.chars().count();
                if text.trim().is_empty() || length > MAX_TEXT || text.contains(char::is_control) {
                    return Err(wrong(format!(
                        "rule `{id}`: its `{key}` must be one line of 1 to {MAX_TEXT} characters"
                    )));
                }
            }
        }
        Ok(pack)
    }

    /// The ids of its rules.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.rules().iter().map(|rule| rule.id.as_ref())
    }
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(head: &str, id: &str, reason: &str) -> String {
        format!(
            "{head}\ntitle = \"Ours\"\n[[rule]]\nid = \"{id}\"\nverdict = \"ask\"\nrisk = \"low\"\n\
             reason = \"{reason}\"\ninstead = \"Ask\"\nmatches = [\"deploy\"]\n\
             not_matches = [\"ls\"]\n[[rule.when]]\nprogram = \"deploy\"\n"
        )
    }

    #[test]
    fn a_pack_of_ones_own_is_read_and_known_by_its_content() {
        let one = Pack::own("team.toml", &pack("pack = \"team\"", "team.deploy", "Why")).unwrap();
        let other = Pack::own("x", &pack("pack = \"team\"", "team.deploy", "Why not")).unwrap();
        assert_eq!((one.name(), one.title()), ("team", "Ours"));
        assert_ne!(one.digest(), other.digest());
    }

    #[test]
    fn it_may_not_pass_for_a_shipped_one() {
        let shipped = pack("pack = \"git\"", "git.force-push-shared", "Why");
        let named = pack("pack = \"git\"", "git.ours", "Why");
        let protecting = pack(
            "pack = \"team\"\nmethod = \"self_protection\"",
            "team.x",
            "Why",
        );
        for (text, part) in [
            (shipped, "rule `git.force-push-shared` is a shipped one"),
            (named, "pack `git` is a shipped one"),
            (protecting, "only Holdpoint's own pack protects it"),
            (
                pack("pack = \"a b\"", "a b.x", "Why"),
                "is no name for a pack",
            ),
            (
                pack("pack = \"team\"", "team.X", "Why"),
                "is no id of a rule",
            ),
            (
                pack("pack = \"team\"", "team.x", "a\\nb"),
                "must be one line",
            ),
            (pack("pack = \"team\"", "team.x", " "), "must be one line"),
        ] {
            let error = Pack::own("team.toml", &text).unwrap_err().to_string();
            assert!(error.starts_with("team.toml: "), "{error}");
            assert!(error.contains(part), "{error}");
        }
    }
}
