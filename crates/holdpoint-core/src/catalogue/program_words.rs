//! What a program nobody has described is told to do, by the words of its command line.
//!
//! Programs say what they destroy in a few ways: a verb among the first words (`vm destroy x`), a verb that is everyday
//! elsewhere together with a flag that takes away the question (`apps rm x --force`), a flag that is such a verb
//! (`--eraseall`), a verb with what it is about (`db:drop`), or a statement for a database. The verbs are data, in
//! `tools.toml`. What is looked at, tested, made or noted down may be called anything. That they show a secret, move money
//! or bring something to somebody else they say in the same way.

use super::name_words::{is_harmless, words};
use super::{
    DESTROYS_WORDS, FORCED_VERBS_WORDS, FORCING_WORDS, HOLDINGS_WORDS, ISSUED_WORDS,
    LONE_VERBS_WORDS, LOOKS_WORDS, MAKES_WORDS, OBJECTS_WORDS, PAYS_WORDS, REVEALING_FLAGS_WORDS,
    SECRET_NOUNS_WORDS, SENDS_WORDS, SHOWING_WORDS, UNDOES_WORDS, UNDONE_WORDS, VERBS_WORDS,
};

/// The words among which a verb is looked for: programs nest their subcommands three deep (`operator namespace delete`),
/// and what stands behind is what they are told about.
const MAX_LEADING: usize = 4;

/// The longest word that is taken for a subcommand; a longer one is a text.
const MAX_SUBCOMMAND: usize = 48;

/// Verbs that say something is lost only together with what it is: `drop` with a table, `reset` with a database.
const WITH_OBJECT: [&str; 7] = [
    "clear", "drop", "empty", "flush", "format", "reset", "truncate",
];

/// The longest ending by which a word is more of the same: `secrets`, `indexes`.
const PLURALS: [&str; 3] = ["", "s", "es"];

/// What a program is told.
#[derive(Debug, Default)]
pub(crate) struct Told<'a> {
    /// Its words that are no flags; empty where nobody knows one.
    pub(crate) operands: Vec<&'a str>,
    /// Its flags, without their values.
    pub(crate) flags: Vec<&'a str>,
}

impl Told<'_> {
    /// Whether it is told to look at something.
    pub(crate) fn only_looks(&self) -> bool {
        let first = self.operands.first().map(|first| words(first));
        let begins = first.as_ref().and_then(|first| first.first());
        begins.is_some_and(|begins| LOOKS_WORDS.contains(&begins.as_str()))
    }

    /// Whether it is told to destroy something.
    pub(crate) fn destroys(&self) -> bool {
        let first = self.operands.first().map(|first| words(first));
        let begins = first.as_ref().and_then(|first| first.first());
        if begins.is_some_and(|begins| is_calm(begins)) {
            return false;
        }
        // What is built is built again.
        let cleans = begins.is_some_and(|begins| matches!(begins.as_str(), "cache" | "clean"));
        (!cleans && self.flags.iter().any(|flag| is_destroying_flag(flag)))
            || self.operands.iter().any(|text| is_statement(text))
            || self.by_subcommand()
    }

    /// Whether a subcommand says so: by itself, by what follows it, or by a flag that takes away the question.
    pub(crate) fn by_subcommand(&self) -> bool {
        let mut all: Vec<String> = Vec::new();
        for (at, operand) in self.operands.iter().enumerate().take(MAX_LEADING) {
            if !is_subcommand(operand) {
                return false;
            }
            let parts = words(operand);
            if parts.first().is_some_and(|begins| is_calm(begins)) {
                return false;
            }
            let is_among = |list: &[&str]| {
                let ends = [parts.first(), parts.last()];
                ends.into_iter()
                    .flatten()
                    .any(|part| list.contains(&part.as_str()))
            };
            let follows = at + 1 < self.operands.len();
            let next: Vec<String> = self
                .operands
                .get(at + 1)
                .map_or_else(Vec::new, |next| words(next));
            let said = (is_among(VERBS_WORDS) && (follows || self.is_forced() || parts.len() > 1))
                || (is_among(LONE_VERBS_WORDS) && (!follows || at > 0 || self.is_forced()))
                || (is_among(FORCED_VERBS_WORDS)
                    && (self.is_forced() || parts.iter().any(|part| part == "all")));
            // `repos rm x`: an entry of a list of its own is everyday, what somebody else keeps is not.
            let holds = all
                .iter()
                .chain(parts.split_last().map_or(&[][..], |(_, front)| front));
            let said = said
                || (parts
                    .last()
                    .is_some_and(|last| UNDOES_WORDS.contains(&last.as_str()))
                    && (follows || !self.flags.is_empty())
                    && holds.into_iter().any(|word| names_holding(word)));
            all.extend(parts);
            if said && !is_harmless(&[all.as_slice(), &next].concat()) {
                return true;
            }
            let undone = || UNDONE_WORDS.iter().any(|pair| has_all(&all, pair));
            if (loses_object(&all) || undone()) && !is_harmless(&all) {
                return true;
            }
        }
        false
    }

    /// Whether it is told to show a secret: `secrets get x`, `auth print-access-token`, `--show-token`.
    pub(crate) fn reveals(&self) -> bool {
        let flagged = |flag: &&str| REVEALING_FLAGS_WORDS.contains(flag);
        if self.flags.iter().any(flagged) {
            return true;
        }
        let leading = self.leading_words();
        let shows = |word: &String| SHOWING_WORDS.contains(&word.as_str());
        let has = |pair: &&str| has_all(&leading, pair);
        (leading.iter().any(shows) && SECRET_NOUNS_WORDS.iter().any(has))
            || ISSUED_WORDS.iter().any(has)
    }

    /// Whether it is told to move money: `refunds create`.
    pub(crate) fn pays(&self) -> bool {
        let leading = self.leading_words();
        let looks = leading
            .first()
            .is_some_and(|first| LOOKS_WORDS.contains(&first.as_str()));
        !looks
            && PAYS_WORDS
                .iter()
                .any(|pair| has_all(&leading, pair) && pair.contains('+'))
    }

    /// Whether it is told to bring something to somebody else: `upload x`.
    pub(crate) fn sends(&self) -> bool {
        let mut operands = self.operands.iter().take(MAX_LEADING);
        let calm = |parts: &[String]| parts.first().is_some_and(|first| is_calm(first));
        let said = |parts: &[String]| {
            let ends = [parts.first(), parts.last()];
            ends.into_iter()
                .flatten()
                .any(|part| SENDS_WORDS.contains(&part.as_str()))
        };
        for operand in operands.by_ref() {
            let parts = words(operand);
            if !is_subcommand(operand) || operand.contains('.') || calm(&parts) {
                return false;
            }
            if said(&parts) {
                return true;
            }
        }
        false
    }

    /// The words of the subcommand, and of what it is about. A name of a file is neither.
    fn leading_words(&self) -> Vec<String> {
        let leading = self.operands.iter().take(MAX_LEADING);
        let leading = leading.take_while(|text| is_subcommand(text) && !text.contains('.'));
        leading.flat_map(|text| words(text)).collect()
    }

    /// Whether a flag says that nobody is asked, or that all of it is meant.
    fn is_forced(&self) -> bool {
        self.flags.iter().any(|flag| {
            FORCING_WORDS.contains(flag)
                // `-rf`, `-fy`
                || (!flag.starts_with("--") && flag.len() == 3 && flag.contains('f') && flag.contains(['r', 'y']))
        })
    }
}

/// Words that look at, make, run or say what follows them.
fn is_calm(word: &str) -> bool {
    LOOKS_WORDS.contains(&word) || MAKES_WORDS.contains(&word)
}

fn is_subcommand(word: &str) -> bool {
    word.len() <= MAX_SUBCOMMAND
        && !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_:./".contains(&byte))
}

/// Whether words name a verb and what it makes go: `db:drop`, `database reset`.
fn loses_object(all: &[String]) -> bool {
    let has = |wanted: &str| all.iter().any(|word| word == wanted);
    // Hardly a word is such a verb, and the pairs are many.
    let mut verbs = WITH_OBJECT.iter().filter(|verb| has(verb));
    verbs.any(|verb| {
        DESTROYS_WORDS.iter().any(|pair| {
            let about = pair
                .strip_prefix(verb)
                .and_then(|rest| rest.strip_prefix('+'));
            about.is_some_and(has)
        })
    })
}

/// Whether all parts of `a+b` are among words, also if they are about several.
fn has_all(all: &[String], pair: &str) -> bool {
    pair.split('+').all(|wanted| {
        let is_it = |word: &String| {
            let rest = word.strip_prefix(wanted);
            rest.is_some_and(|rest| PLURALS.contains(&rest))
        };
        all.iter().any(is_it)
    })
}

/// Whether a word names what a service keeps for people: `repo`, `databases`.
fn names_holding(word: &str) -> bool {
    let one = word.strip_suffix('s').unwrap_or(word);
    HOLDINGS_WORDS.contains(&word) || HOLDINGS_WORDS.contains(&one)
}

/// `--eraseall`, `--delete-contents`, `-deleteduplicates`: not where it is told not to.
fn is_destroying_flag(flag: &str) -> bool {
    let name = flag.trim_start_matches('-');
    if name.len() < MIN_FLAG || flag.len() > MAX_SUBCOMMAND {
        return false;
    }
    let parts = words(name);
    let Some(first) = parts.first() else {
        return false;
    };
    // Glued to what it is about.
    let glued = [
        "all",
        "contents",
        "duplicates",
        "everything",
        "flash",
        "chip",
    ]
    .iter()
    .find_map(|about| first.strip_suffix(about));
    VERBS_WORDS.contains(&first.as_str()) || glued.is_some_and(|verb| VERBS_WORDS.contains(&verb))
}

/// The shortest flag that is a verb; shorter ones are letters.
const MIN_FLAG: usize = 4;

/// Whether a text is a statement that takes something away: `DROP KEYSPACE x`, `TRUNCATE test`, `delete from x`.
pub(crate) fn is_statement(text: &str) -> bool {
    let mut parts = text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
    let mut next = || parts.find(|part| !part.is_empty());
    // A word alone is a subcommand, and what begins with a sign no statement.
    if !text.trim().contains(' ')
        || !text
            .trim_start()
            .starts_with(|sign: char| sign.is_ascii_alphabetic())
    {
        return false;
    }
    let (Some(verb), Some(about)) = (next(), next()) else {
        return false;
    };
    // A sentence may begin so in small letters, and not with what a database holds.
    let shouted = verb.bytes().all(|byte| byte.is_ascii_uppercase());
    let about = about.to_ascii_lowercase();
    let verb = verb.to_ascii_lowercase();
    // Statements in small letters are short; what goes on is a sentence.
    let object = OBJECTS_WORDS.contains(&about.as_str())
        && (shouted || text.split_ascii_whitespace().count() <= MAX_STATEMENT);
    match verb.as_str() {
        "drop" | "truncate" => shouted || object,
        "remove" => shouted && object,
        "delete" => about == "from" && (shouted || !text.contains(" the ")),
        _ => false,
    }
}

/// Words of a statement in small letters that is no sentence: `drop table if exists x`.
const MAX_STATEMENT: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> bool {
        parsed(line).destroys()
    }

    #[test]
    fn words_of_a_command_say_what_it_destroys() {
        for line in [
            "delete ns prod",
            "vm destroy x",
            "apps:destroy x",
            "delete-cluster x",
            "DELETE x",
            "project nuke x",
            "operator namespace delete x",
            "pipeline delete --all -f",
            "repository destroy --name x",
            "destroy",
            "database wipe",
            "erase_flash",
            "apps rm x --force",
            "down -a -y",
            "rt del repo --quiet --force",
            "remove-application x --force",
            "db:drop",
            "remove_all",
            "db reset",
            "db.drop",
            "--eraseall",
            "-deleteduplicates true x",
            "sync --delete-contents",
            "repos rm x",
            "phone-numbers:remove PN1",
            "ca revoke x",
            "revoke --cert-name x --force",
            "rt repo del x",
            "gc -w -f",
            "migrate/fresh",
            "db downgrade base",
        ] {
            assert!(told(line), "{line}");
        }
        for line in [
            "delete",
            "list delete x",
            "test delete x",
            "add delete-later x",
            "vm undelete x",
            "rm x",
            "remove x",
            "down",
            "reset",
            "delete todo",
            "sync --no-delete",
            "get --deleted",
            "clean --expunge",
            "format src",
            "format --all",
            "notes/delete-me.md x",
            "env remove x",
            "entry rm x",
            "migrate up",
            "gc",
            "",
        ] {
            assert!(!told(line), "{line}");
        }
    }

    fn parsed(line: &str) -> Told<'_> {
        let mut told = Told::default();
        for word in line.split(' ').filter(|word| !word.is_empty()) {
            match word.starts_with('-') {
                true => told.flags.push(word.split('=').next().unwrap_or(word)),
                false => told.operands.push(word),
            }
        }
        told
    }

    #[test]
    fn words_of_a_command_say_that_it_shows_a_secret() {
        for line in [
            "secrets get x",
            "secret show x",
            "auth print-access-token",
            "get-password x",
            "credentials:show",
            "api-keys reveal x",
            "config get token",
            "read secret/app",
            "status --show-token",
        ] {
            assert!(parsed(line).reveals(), "{line}");
        }
        for line in [
            "secrets list",
            "secret set x",
            "show secret-santa.md",
            "get users",
            "tokens count",
            "key-value get x",
            "login --token",
            "",
        ] {
            assert!(!parsed(line).reveals(), "{line}");
        }
    }

    #[test]
    fn words_of_a_command_say_that_it_pays_or_sends() {
        for line in [
            "refunds create --charge x",
            "payouts create",
            "send payment x",
        ] {
            assert!(parsed(line).pays(), "{line}");
        }
        for line in [
            "list refunds create",
            "refunds list",
            "payments get x",
            "pay",
        ] {
            assert!(!parsed(line).pays(), "{line}");
        }
        for line in ["upload a/b .", "file upload x", "upload-file x"] {
            assert!(parsed(line).sends(), "{line}");
        }
        for line in ["list upload", "x.upload", "build upload.ts", ""] {
            assert!(!parsed(line).sends(), "{line}");
        }
    }

    #[test]
    fn a_statement_is_no_sentence() {
        for text in [
            "DROP KEYSPACE x",
            "drop table x;",
            "TRUNCATE test",
            "delete from x",
            "REMOVE DATABASE x",
        ] {
            assert!(is_statement(text), "{text}");
        }
        for text in [
            "drop it",
            "delete the old file",
            "Remove unused imports",
            "drop",
            "delete from the list",
            "truncate long lines",
            "drop table handling is wrong here",
        ] {
            assert!(!is_statement(text), "{text}");
        }
    }
}
