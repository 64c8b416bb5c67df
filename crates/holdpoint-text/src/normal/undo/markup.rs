//! What HTML and Markdown hold without showing it: comments, hidden elements, titles and the texts of
//! images; and words that tags break up.

use std::ops::Range;

use super::super::Disguise;
use super::super::pieces::{Draft, Made};
use super::passage;

/// Takes out what is not shown.
pub(super) fn hidden<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    let mut done = 0;
    // Elements that never close would be looked for again and again.
    let mut searches = MAX_SEARCHES;
    for place in places {
        if *place < done || draft.is_full() || searches == 0 {
            continue;
        }
        let rest = text.get(*place..).unwrap_or_default();
        let found = if rest.starts_with('<') {
            element(rest, &mut searches)
        } else {
            markdown(rest)
        };
        if let Some(inner) = found {
            let range = place + inner.start..place + inner.end;
            done = range.end;
            let says = text.get(range.clone()).unwrap_or_default();
            if says.bytes().filter(u8::is_ascii_alphabetic).count() >= MIN_COUNT || !says.is_ascii()
            {
                draft.copy(range);
                draft.end_segment();
            }
        }
    }
}

/// What a comment or an element that is not shown holds.
fn element(rest: &str, searches: &mut usize) -> Option<Range<usize>> {
    if let Some(inner) = rest.strip_prefix("<!--") {
        *searches -= 1;
        let end = inner.find("-->").unwrap_or(inner.len().min(MAX_LENGTH));
        return Some(4..4 + inner.floor_char_boundary(end.min(MAX_LENGTH)));
    }
    let near = rest.get(..rest.floor_char_boundary(MAX_TAG))?;
    let tag = near.get(..near.find('>')? + 1)?;
    if !tag.contains([' ', '\n']) && !tag.eq_ignore_ascii_case("<template>") {
        return None;
    }
    if !is_hidden(tag) {
        return None;
    }
    *searches -= 1;
    let name = tag.get(1..)?.split([' ', '\n', '>', '/']).next()?;
    let inner = rest.get(tag.len()..)?;
    let inner = inner.get(..inner.floor_char_boundary(MAX_LENGTH))?;
    let closing = format!("</{name}");
    let end = inner.find(closing.as_str())?;
    Some(tag.len()..tag.len() + end)
}

/// Whether an element with this start tag is not shown.
fn is_hidden(tag: &str) -> bool {
    let squeezed: String = tag
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\''))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let attributes = || {
        tag.trim_end_matches(['>', '/'])
            .split_whitespace()
            .skip(1)
            .map(|word| word.split('=').next().unwrap_or_default())
    };
    squeezed == "<template>"
        || squeezed.contains("aria-hidden=true")
        || attributes().any(|name| name.eq_ignore_ascii_case("hidden"))
        || CONCEALING.iter().any(|style| squeezed.contains(style))
        || white_on_white(&squeezed)
}

fn white_on_white(squeezed: &str) -> bool {
    let colour = |property: &str| {
        let start = squeezed.find(property)? + property.len();
        let value = squeezed.get(start..)?;
        let value = value.get(..value.find([';', '>']).unwrap_or(value.len()))?;
        Some(match value {
            "white" | "#fff" | "#ffffff" | "rgb(255,255,255)" => "white",
            "black" | "#000" | "#000000" | "rgb(0,0,0)" => "black",
            other => other,
        })
    };
    let letters = colour(";color:").or_else(|| colour("style=color:"));
    let ground = colour("background:").or_else(|| colour("background-color:"));
    match (letters, ground) {
        (Some("transparent"), _) | (Some("white"), None) => true,
        (Some(letters), Some(ground)) => letters == ground,
        _ => false,
    }
}

/// A comment, title or image text of Markdown.
fn markdown(rest: &str) -> Option<Range<usize>> {
    let line = rest.get(..rest.floor_char_boundary(MAX_LINE))?;
    let line = line.get(..line.find('\n').unwrap_or(line.len()))?;
    if line.starts_with("[//]:") {
        let from = line.find(['(', '"', '\''])? + 1;
        let to = line.rfind([')', '"', '\'']).filter(|to| *to >= from)?;
        return Some(from..to);
    }
    if line.starts_with('[') {
        // The text of an image: the bracket stands after `!`.
        let end = line.find("](")?;
        return Some(1..end);
    }
    // The title of a link.
    let close = line.find(')')?;
    let open = line.find(" \"").filter(|open| *open < close)?;
    let from = open + 2;
    let to = from + line.get(from..)?.find('"')?;
    Some(from..to)
}

/// Takes tags out of the lines in which they break up words.
pub(super) fn without_tags<'t>(text: &'t str, places: &[usize], draft: &mut Draft<'t>) {
    let seams: Vec<(usize, Seam)> = places
        .iter()
        .filter_map(|place| Some((*place, seam(text, *place)?)))
        .collect();
    // The element that follows may stand on a line of its own.
    let inside: Vec<usize> = seams
        .iter()
        .flat_map(|(place, seam)| match seam {
            Seam::InWord => [*place, *place],
            Seam::BetweenElements(next) => [*place, *next],
        })
        .collect();
    let mut seams = seams.iter().peekable();
    for line in paragraphs(text, &inside) {
        if draft.is_full() {
            return;
        }
        let (mut in_words, mut between) = (0, 0);
        while let Some((_, seam)) = seams.next_if(|(place, _)| *place < line.end) {
            match seam {
                Seam::InWord => in_words += 1,
                Seam::BetweenElements(_) => between += 1,
            }
        }
        if in_words == 0 && between < MIN_ELEMENTS {
            continue;
        }
        let mut at = line.start;
        let mut broken = 0;
        while let Some(next) = text.get(at..line.end).and_then(|rest| rest.find('<')) {
            let tag = at + next;
            draft.copy(at..tag);
            let end = tag_end(text, tag).filter(|end| *end <= line.end);
            at = end.unwrap_or(tag + 1);
            if end.is_some() {
                broken += 1;
                let gap = if is_inline(text.get(tag..at).unwrap_or_default()) {
                    ""
                } else {
                    " "
                };
                draft.add(tag..at, gap, Made::Undone(Disguise::Markup));
            } else {
                draft.copy(tag..at);
            }
        }
        draft.copy(at..line.end);
        if broken == 0 {
            draft.drop_segment();
        } else {
            draft.end_segment();
        }
    }
}

/// How a tag stands in what is written.
enum Seam {
    /// Within a word, or next to another tag there.
    InWord,
    /// At the end of an element that another follows, where that begins.
    BetweenElements(usize),
}

fn seam(text: &str, place: usize) -> Option<Seam> {
    let bytes = text.as_bytes();
    let letter = |at: usize| {
        let byte = bytes.get(at);
        byte.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte >= 128)
    };
    let before = place.checked_sub(1)?;
    let ends_words = letter(before)
        || matches!(
            bytes.get(before),
            Some(b'.' | b',' | b'!' | b'?' | b';' | b':')
        );
    if bytes.get(place) != Some(&b'<') || !ends_words {
        return None;
    }
    let end = tag_end(text, place)?;
    if letter(before) && (letter(end) || bytes.get(end) == Some(&b'<')) {
        return Some(Seam::InWord);
    }
    let rest = bytes.get(end..)?;
    let gap = rest
        .iter()
        .take(WIDEST_GAP)
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'/' | b'#' | b'*'))
        .count();
    (rest.get(gap) == Some(&b'<')).then_some(Seam::BetweenElements(end + gap))
}

/// The lines around places, those next to each other as one.
fn paragraphs<'a>(text: &'a str, places: &'a [usize]) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut lines = passage::all(text, places).peekable();
    std::iter::from_fn(move || {
        let mut all = lines.next()?;
        while let Some(next) = lines.next_if(|next| next.start <= all.end + 1) {
            all.end = next.end;
        }
        Some(all)
    })
}

/// Whether a tag or comment leaves no gap between what stands before and after it.
fn is_inline(tag: &str) -> bool {
    let name = tag.trim_start_matches(['<', '/']);
    let name = name
        .get(
            ..name
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(name.len()),
        )
        .unwrap_or_default();
    INLINE
        .iter()
        .any(|inline| name.eq_ignore_ascii_case(inline))
}

/// Where the tag or comment ends that begins at `at`.
fn tag_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let near = rest.get(..rest.floor_char_boundary(MAX_TAG))?;
    if near.starts_with("<!--") {
        return near.find("-->").map(|end| at + end + 3);
    }
    let second = near.as_bytes().get(1)?;
    if !second.is_ascii_alphabetic() && *second != b'/' {
        return None;
    }
    let end = near.find(['>', '\n'])?;
    (near.as_bytes().get(end) == Some(&b'>')).then_some(at + end + 1)
}

const CONCEALING: &[&str] = &[
    "display:none",
    "visibility:hidden",
    "font-size:0;",
    "font-size:0>",
    "font-size:0px",
    "font-size:1px",
    "font-size:0.",
    "opacity:0;",
    "opacity:0>",
    "opacity:0.0",
    "left:-999",
    "top:-999",
    "text-indent:-999",
    "width:0;",
    "height:0;",
    "height:0>",
    "max-height:0",
    "clip:rect(0",
    "clip-path:inset(100%",
    "type=hidden",
];

/// The elements that stand within lines; a comment has no name.
const INLINE: &[&str] = &[
    "", "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "tt", "u",
    "var", "wbr",
];

const MIN_COUNT: usize = 8;
/// Fewer elements in a row are an ordinary line.
const MIN_ELEMENTS: usize = 3;
const WIDEST_GAP: usize = 16;
const MAX_LENGTH: usize = 16 << 10;
const MAX_TAG: usize = 512;
const MAX_LINE: usize = 2048;
const MAX_SEARCHES: usize = 512;
