//! Whether an attack is talked about rather than made: quoted, tested, listed, explained.
//!
//! Talk needs evidence. A pair of quotes is none: who attacks may quote too. Evidence are words about attacks and
//! detection near by, a verb form that reports an order instead of giving it, or a reference that makes sense of it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::concepts::{self, Hit};
use super::quoting::{self, Literal};
use super::surroundings::{after, before, line_after, line_before, window};
use crate::words::{self, Word};

/// How strongly what stands at `span` of a text is talk: 0 not at all, 3 beyond doubt.
pub fn talk(text: &str, span: Range<usize>) -> u8 {
    talk_in(text, (span.start, span.end))
}

/// How much a passage speaks of attacks, its own words included: for a judgement that rests on no single phrase.
pub fn words_of_talk(text: &str, span: Range<usize>) -> usize {
    let start = text.floor_char_boundary(span.start.saturating_sub(LOOK));
    let end = text.floor_char_boundary(span.end.saturating_add(LOOK).min(text.len()));
    weight_in(text.get(start..end).unwrap_or_default(), None)
}

pub(super) fn talk_in(text: &str, span: (usize, usize)) -> u8 {
    let reference = reference_to_document(text, span.1);
    let excuse = u8::from(takes_back(text, span));
    let asked = if is_asked(text, span) { 2 } else { 0 };
    reference
        .max(excuse)
        .max(asked)
        .max(talk_by_words(text, span))
}

/// Whether it is part of a question about somebody else: "should I ignore …?". Who asks "can you" gives an order.
fn is_asked(text: &str, span: (usize, usize)) -> bool {
    let ends = ['.', '!', '?', ';', '\n'];
    let lead = before(text, span.0, QUESTION);
    let lead = lead.rsplit(ends).next().unwrap_or_default();
    let rest = after(text, span.1, QUESTION);
    let is_question = rest
        .find(ends)
        .is_some_and(|at| rest.get(at..).is_some_and(|end| end.starts_with('?')));
    let mut words = lead
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase);
    let asks = words.next().is_some_and(|word| ASKING.contains(&&*word));
    is_question && asks && !words.any(|word| word == "you")
}

fn talk_by_words(text: &str, span: (usize, usize)) -> u8 {
    if quoting::is_pattern(text, span) {
        return 2;
    }
    let words = weight_of_words(text, span);
    let signs = signs_of_talk(around(text, span).1);
    let embedded = if quoting::is_embedded(text, span) {
        2
    } else {
        0
    };
    let by_quotes = Literal::around(text, span).map_or(0, |literal| {
        // Two orders side by side may be meant both, if nothing speaks of them.
        let listed = match literal.listed_with(text) {
            few @ ..3 if words + signs == 0 => few.min(1),
            many => many,
        };
        let shown =
            literal.is_in_sentence(text) || literal.is_element(text) || literal.is_in_table(text);
        let shown = usize::from(shown);
        match words + signs + listed + shown {
            4.. => 3,
            2.. => 2,
            1 => 1,
            0 => 0,
        }
    });
    let set_apart = quoting::is_set_apart(text, span);
    let reported = is_reported(text, span.0);
    let quoted = set_apart && is_said(text, span.0);
    // Around a longer quotation these signs are everyday words.
    let around = words + signs.min(1);
    let by_words = match (set_apart, reported, around) {
        (true, _, 5..) | (_, true, 7..) => 3,
        (true, _, 3..) | (_, true, 3..) => 2,
        (true, _, 2) | (_, true, 2) => 1,
        _ => u8::from(words >= 6 || quoted && around > 0 || is_told(text, span.0)),
    };
    by_words.max(by_quotes).max(embedded)
}

/// How many kinds of words there are that tests, filters and their descriptions are full of.
fn signs_of_talk(around: &str) -> usize {
    let around = around.to_lowercase();
    let mut seen = 0_u64;
    for word in around.split(|c: char| !c.is_alphanumeric()) {
        if let Some(at) = SIGNS.iter().position(|sign| word.starts_with(sign)) {
            seen |= 1 << at;
        }
    }
    seen.count_ones() as usize
}

/// What may speak of a span, and where it starts: what stands around it, or in its field of a record.
fn around(text: &str, span: (usize, usize)) -> (usize, &str) {
    let start = text.floor_char_boundary(span.0.saturating_sub(LOOK));
    let end = text.floor_char_boundary(span.1.saturating_add(LOOK).min(text.len()));
    let field = match Literal::around(text, span) {
        // An order that is all there is leads to nothing, whoever wrote the record.
        Some(_) => None,
        None => quoting::field(text, span),
    };
    let (start, end) = field.unwrap_or((start, end));
    (start, text.get(start..end).unwrap_or_default())
}

/// The weight of the words about attacks around a span: those that speak of nothing else count twice.
fn weight_of_words(text: &str, span: (usize, usize)) -> usize {
    let (start, around) = around(text, span);
    weight_in(around, Some((span.0 - start, span.1 - start)))
}

/// The weight of the words about attacks in a text, but for those in a part of it.
fn weight_in(around: &str, without: Option<(usize, usize)>) -> usize {
    let mut found: Vec<Word> = Vec::new();
    let mut hits: Vec<Hit> = Vec::new();
    words::split(around, &mut found);
    concepts::find(&found, around, &mut hits);
    let (weak, strong) = (concepts::named("talk"), concepts::named("attack-talk"));
    // Each word counts once, as much as the strongest thing it says.
    let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
    for hit in &hits {
        let Some(word) = found.get(hit.first_word as usize) else {
            continue;
        };
        let inside = without
            .is_some_and(|(from, to)| (word.start as usize) < to && (word.end as usize) > from);
        let weight = match Some(hit.concept) {
            _ if inside || is_in_address(around, word) => continue,
            concept if concept == strong => 2,
            concept if concept == weak => 1,
            _ => continue,
        };
        let most = seen.entry(word.hash).or_default();
        *most = weight.max(*most);
    }
    seen.values().sum()
}

/// Whether a word is part of a name of a host.
fn is_in_address(text: &str, word: &Word) -> bool {
    let before = before(text, word.start as usize, 2);
    before.ends_with(['.', '@']) || before == "//"
}

/// Whether the words before make a report of the order: "tells the model to ignore …".
fn is_reported(text: &str, at: usize) -> bool {
    let before = before(text, at, 48).to_ascii_lowercase();
    let before = before.trim_end();
    REPORTS.iter().any(|word| {
        before
            .strip_suffix(word)
            .is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
    })
}

/// Whether the words before a quote tell that somebody said it: `says "ignore …`, `I typed: ignore …`.
fn is_said(text: &str, at: usize) -> bool {
    let before = before(text, at, 48).to_lowercase();
    let before = before.trim_end_matches(['"', '\'', '`', '“', '„', '”', '‘', '«', '»', '「', ' ']);
    let before = before.trim_end_matches([':', ',']);
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next();
    word.is_some_and(|word| SAID.contains(&word))
}

/// Whether somebody tells what they wrote themselves: `I typed: ignore …`.
fn is_told(text: &str, at: usize) -> bool {
    let before = before(text, at, 24).to_lowercase();
    let before = before.trim_end_matches([' ', ':', '"', '“', '*', '_', '`']);
    let mut words = before.rsplit(' ');
    let (verb, who) = (words.next(), words.next());
    matches!(verb, Some("typed" | "tried" | "wrote" | "entered"))
        && matches!(
            who,
            Some("i" | "we" | "he" | "she" | "they" | "somebody" | "someone")
        )
}

/// How strongly a document is named right after: "… in section 2". Who attacks may name a message or a text as well.
fn reference_to_document(text: &str, at: usize) -> u8 {
    let rest = after(text, at, 60).to_ascii_lowercase();
    let mut words = rest
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let Some(link) = words.next().filter(|word| LINKS.contains(word)) else {
        return 0;
    };
    let sentence = rest
        .split(['.', '\n', ';', '!', '?'])
        .next()
        .unwrap_or_default();
    let of = |word: &str| match DOCUMENT.iter().position(|it| *it == word) {
        Some(at) if at < ANY_TEXT && matches!(link, "in" | "of" | "on" | "from" | "for") => 1,
        Some(_) => 2,
        None => 0,
    };
    sentence
        .split(|c: char| !c.is_alphanumeric())
        .map(of)
        .max()
        .unwrap_or(0)
}

/// Whether one message is taken back with an excuse, as people do: "… the previous prompt; it had a typo".
fn takes_back(text: &str, span: (usize, usize)) -> bool {
    let order = text.get(span.0..span.1).unwrap_or_default();
    let rest = after(text, span.1, 48).to_ascii_lowercase();
    !order.ends_with(['s', 'S']) && EXCUSES.iter().any(|word| rest.contains(word))
}

/// How strongly a token of a chat template is mentioned rather than used: quoted alone, or shown where templates are
/// explained.
pub(super) fn talk_of_token(text: &str, span: (usize, usize)) -> u8 {
    let next_to = |c: Option<char>| c.is_some_and(|c| "\"'`".contains(c));
    let (before, after) = (before(text, span.0, LOOK), after(text, span.1, LOOK));
    if next_to(before.chars().next_back()) && next_to(after.chars().next()) {
        return 3;
    }
    if Literal::around(text, span).is_some() && weight_of_words(text, span) >= 2 {
        return 3;
    }
    let (line, rest) = (line_before(text, span.0), line_after(text, span.1));
    let is_quoted = line.contains(['"', '\'', '`']) && rest.contains(['"', '\'', '`']);
    let is_filled = FILLED
        .iter()
        .any(|(open, close)| rest.starts_with(open) || line.ends_with(close));
    if is_quoted && is_filled {
        return 3;
    }
    // What a notebook keeps of a run: a model's own tokens, printed. A cell with orders in it is judged by those.
    if NOTEBOOK
        .iter()
        .filter(|sign| before.contains(**sign) || after.contains(**sign))
        .count()
        >= 2
    {
        return 2;
    }
    let is_code = before.contains("```") || TEXTS_IN_CODE.iter().any(|sign| line.contains(sign));
    let around = window(text, span, LOOK).to_ascii_lowercase();
    let words = TEMPLATES
        .iter()
        .filter(|word| around.contains(**word))
        .count();
    match (is_code, words) {
        (true, 2..) => 2,
        (true, 1) => 1,
        _ => talk_in(text, span),
    }
}

/// Words of saying and writing, as they are reported.
const SAID: [&str; 22] = [
    "typed",
    "types",
    "typing",
    "tried",
    "says",
    "said",
    "saying",
    "wrote",
    "writes",
    "writing",
    "means",
    "meaning",
    "contains",
    "containing",
    "like",
    "phrase",
    "phrases",
    "sentence",
    "string",
    "called",
    "schreibt",
    "dit",
];

/// How words begin that tests, filters and their descriptions are full of, beyond what the lexicon has.
const SIGNS: [&str; 40] = [
    "asserttrue",
    "assertfalse",
    "assertthat",
    "assertequal",
    "tobe",
    "toequal",
    "isequalto",
    "tocontain",
    "blocklist",
    "denylist",
    "blacklist",
    "nocase",
    "severit",
    "techniq",
    "filter",
    "filtr",
    "sentence",
    "sätze",
    "satz",
    "frase",
    "zdani",
    "cümle",
    "предложени",
    "фраз",
    "quiz",
    "expression",
    "spoof",
    "spam",
    "scan",
    "inspect",
    "detect",
    "sanit",
    "leaderboard",
    "finding",
    "refused",
    "jailbreak",
    "fuzz",
    "fixture",
    "moderat",
    "reconna",
];

/// How questions begin that can be answered with yes or no, and how long they are at most.
const ASKING: [&str; 13] = [
    "should", "can", "could", "may", "must", "do", "does", "did", "is", "are", "will", "would",
    "shall",
];
const QUESTION: usize = 200;

/// Words of an excuse.
const EXCUSES: [&str; 6] = [
    "typo", "mistake", "attached", "accident", "wrong", "outdated",
];

/// Where a template takes what it is filled with, right after a token or right before it.
const FILLED: [(&str, &str); 2] = [("{{", "}}"), ("{%", "%}")];

/// What a string of a program begins with.
const TEXTS_IN_CODE: [&str; 6] = ["= \"", "= '", "=\"", "= f\"", "(\"", "('"];

/// Names of what a notebook is made of.
const NOTEBOOK: [&str; 5] = [
    "\"cell_type\":",
    "\"output_type\":",
    "\"execution_count\":",
    "\"outputs\":",
    "\"source\":",
];

/// Words that stand where templates are explained.
const TEMPLATES: [&str; 9] = [
    "template",
    "tokeniz",
    "token",
    "format",
    "prompt",
    "stop=",
    "chat model",
    "instruct",
    "fine-tun",
];

/// How far a look around goes.
const LOOK: usize = 400;

/// Words that make a report of the order after them.
const REPORTS: [&str; 16] = [
    "to", "could", "may", "might", "would", "can", "not", "like", "says", "saying", "said", "will",
    "which", "who", "cannot", "as",
];

/// Words that tie what is named after them to what stands before.
const LINKS: [&str; 19] = [
    "in",
    "from",
    "of",
    "on",
    "for",
    "given",
    "if",
    "about",
    "when",
    "inside",
    "within",
    "embedded",
    "contained",
    "found",
    "that",
    "which",
    "they",
    "it",
    "appearing",
];

/// How many of [`DOCUMENT`] may be any text at all.
const ANY_TEXT: usize = 14;

/// Documents and their parts.
const DOCUMENT: [&str; 33] = [
    "them",
    "email",
    "ticket",
    "content",
    "contents",
    "text",
    "file",
    "files",
    "results",
    "result",
    "output",
    "message",
    "messages",
    "data",
    "document",
    "section",
    "chapter",
    "step",
    "steps",
    "page",
    "paragraph",
    "appendix",
    "readme",
    "manual",
    "guide",
    "documentation",
    "docs",
    "tutorial",
    "version",
    "release",
    "wiki",
    "article",
    "installation",
];
