//! The sequences a terminal acts on.

use std::ops::Range;

use super::Disguise;

/// A sequence at the start of `rest`, which begins with ESC or one of its one-character forms: its
/// length and what it does.
pub(super) fn sequence(rest: &str) -> Option<(usize, Disguise)> {
    let mut chars = rest.chars();
    let (kind, head) = match chars.next()? {
        '\x1b' => {
            let kind = chars.next()?;
            (kind, 1 + kind.len_utf8())
        }
        // The controls beyond ASCII are ESC and a letter in one.
        c @ '\u{80}'..='\u{9f}' => (char::from_u32(c as u32 - 0x40)?, 2),
        _ => return None,
    };
    let body = rest.get(head..)?;
    match kind {
        '[' => control(body).map(|(length, does)| (head + length, does)),
        ']' => command(body).map(|(length, does)| (head + length, does)),
        // Strings for the device, the application and others.
        'P' | 'X' | '^' | '_' => {
            string_end(body).map(|(length, _)| (head + length, Disguise::Terminal))
        }
        // The choice of a character set.
        ' '..='/' => {
            let skipped = body.find(|c| !(' '..='/').contains(&c))?;
            let last = body.get(skipped..)?.chars().next()?;
            ('0'..='~')
                .contains(&last)
                .then_some((head + skipped + 1, Disguise::Colour))
        }
        // Full reset.
        'c' => Some((head, Disguise::Terminal)),
        '0'..='~' => Some((head, Disguise::Colour)),
        _ => None,
    }
}

/// `CSI parameters final`.
fn control(body: &str) -> Option<(usize, Disguise)> {
    let parameters = body.find(|c| !('0'..='?').contains(&c))?;
    let between = body.get(parameters..)?;
    let between = between.find(|c| !(' '..='/').contains(&c))?;
    let end = parameters + between;
    let last = body.get(end..)?.chars().next()?;
    if end > MAX_CONTROL || !('@'..='~').contains(&last) {
        return None;
    }
    let parameters = body.get(..parameters)?;
    let does = match last {
        'm' if conceals(parameters) => Disguise::Terminal,
        // To the end of the line is what programs that colour their output write after every colour.
        'K' if parameters.is_empty() || parameters == "0" => Disguise::Colour,
        'A' | 'B' | 'C' | 'D' | 'E' | 'F' | 'G' | 'H' | 'J' | 'K' | 'L' | 'M' | 'P' | 'S' | 'T'
        | 'X' | '@' | 'd' | 'f' | 's' | 'u' | 'i' | 't' => Disguise::Terminal,
        _ => Disguise::Colour,
    };
    Some((end + 1, does))
}

/// Whether letters are told to be invisible or to have the colour of what they stand on.
fn conceals(parameters: &str) -> bool {
    let mut codes = parameters.split([';', ':']);
    let (mut letters, mut ground) = (None, None);
    while let Some(code) = codes.next() {
        match code {
            "8" => return true,
            // A colour by number or by red, green and blue.
            "38" | "48" => {
                let skip = match codes.next() {
                    Some("5") => 1,
                    Some("2") => 3,
                    _ => 0,
                };
                for _ in 0..skip {
                    codes.next();
                }
            }
            _ => match code.parse::<u8>() {
                Ok(colour @ 30..=37) => letters = Some(colour - 30),
                Ok(colour @ 40..=47) => ground = Some(colour - 40),
                Ok(colour @ 90..=97) => letters = Some(colour - 82),
                Ok(colour @ 100..=107) => ground = Some(colour - 92),
                _ => {}
            },
        }
    }
    letters.is_some() && letters == ground
}

/// `OSC number ; text`, with its end.
fn command(body: &str) -> Option<(usize, Disguise)> {
    let (length, text) = string_end(body)?;
    let number = text.split(';').next().unwrap_or_default();
    let does = match number {
        "0" | "1" | "2" | "8" => Disguise::TerminalTitle,
        // Colours, and what shells tell of where a prompt begins.
        "4" | "10" | "11" | "12" | "104" | "110" | "111" | "112" | "133" | "633" => {
            Disguise::Colour
        }
        _ => Disguise::Terminal,
    };
    Some((length, does))
}

/// Where the text stands in a sequence that has one.
pub(super) fn text(sequence: &str) -> Option<Range<usize>> {
    let head = ["\x1b]", "\u{9d}"]
        .iter()
        .find(|head| sequence.starts_with(**head))?
        .len();
    let body = sequence.get(head..)?;
    let (_, text) = string_end(body)?;
    let number = text.find(';')?;
    // Before the address of a link are its parameters.
    let skipped = match text.get(..number)? {
        "8" => number + 1 + text.get(number + 1..)?.find(';')?,
        _ => number,
    };
    let text = head + skipped + 1..head + text.len();
    (!text.is_empty()).then_some(text)
}

/// The length of a string up to and with its end, and the string. One that does not end soon is none.
fn string_end(body: &str) -> Option<(usize, &str)> {
    let near = body.get(..body.floor_char_boundary(MAX_STRING))?;
    let end = near.find(['\x07', '\x1b', '\u{9c}', '\n', '\0'])?;
    let text = near.get(..end)?;
    let tail = near.get(end..)?;
    let closing = match tail.chars().next()? {
        '\x07' => 1,
        '\u{9c}' => 2,
        '\x1b' if tail.starts_with("\x1b\\") => 2,
        _ => return None,
    };
    Some((end + closing, text))
}

const MAX_CONTROL: usize = 64;
const MAX_STRING: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_nothing_and_what_conceals_is_something() {
        for (text, length, does) in [
            ("\x1b[31mred", 5, Disguise::Colour),
            ("\x1b[38;5;8mgrey", 9, Disguise::Colour),
            ("\x1b[0;8mhidden", 6, Disguise::Terminal),
            ("\x1b[37;47mwhite on white", 8, Disguise::Terminal),
            ("\x1b[Kend", 3, Disguise::Colour),
            ("\x1b[2K", 4, Disguise::Terminal),
            ("\x1b[1;1H", 6, Disguise::Terminal),
            ("\u{9b}2J", 4, Disguise::Terminal),
            ("\x1b]0;title\x07", 10, Disguise::TerminalTitle),
            ("\x1b]8;;http://a\x1b\\", 15, Disguise::TerminalTitle),
            ("\x1b]52;c;aWQ=\x07", 12, Disguise::Terminal),
            ("\x1bPq\x1b\\", 5, Disguise::Terminal),
            ("\x1b(Btext", 3, Disguise::Colour),
        ] {
            assert_eq!(sequence(text), Some((length, does)), "{text:?}");
        }
        for text in ["\x1b", "\x1b[", "\x1b[31", "\x1b]0;never", "\x1bé", "plain"] {
            assert_eq!(sequence(text), None, "{text:?}");
        }
    }
}
