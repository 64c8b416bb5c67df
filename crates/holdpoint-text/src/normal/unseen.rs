//! The characters nobody sees.

/// What an invisible character is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unseen {
    /// Joins or parts the letters beside it.
    Joiner,
    /// A place where a line may end.
    Break,
    /// A place where a word may be hyphenated.
    SoftHyphen,
    /// An operator of mathematics that is not written.
    Operator,
    /// The mark at the start of a file.
    ByteOrder,
    /// Anything else without width.
    Filler,
    /// A letter of no width with a direction.
    Direction,
    /// The start of a part with a direction of its own.
    Opening,
    /// The start of a part whose letters are forced into a direction.
    Forcing,
    /// The end of such a part.
    Closing,
    /// A tag: the ASCII character it stands for.
    Tag(u8),
    /// A variation selector: the byte it stands for.
    Selector(u8),
}

/// What a character nobody sees is for; nothing for one that is seen.
pub(super) fn unseen(c: char) -> Option<Unseen> {
    Some(match c {
        '\u{ad}' => Unseen::SoftHyphen,
        '\u{200b}' => Unseen::Break,
        '\u{200c}' | '\u{200d}' => Unseen::Joiner,
        '\u{200e}' | '\u{200f}' | '\u{61c}' => Unseen::Direction,
        '\u{202a}' | '\u{202b}' | '\u{2066}'..='\u{2068}' => Unseen::Opening,
        '\u{202d}' | '\u{202e}' => Unseen::Forcing,
        '\u{202c}' | '\u{2069}' => Unseen::Closing,
        '\u{2061}'..='\u{2064}' => Unseen::Operator,
        '\u{feff}' => Unseen::ByteOrder,
        '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{2060}'
        | '\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' => Unseen::Filler,
        '\u{fe00}'..='\u{fe0f}' => Unseen::Selector(low_byte(c, 0xfe00)),
        '\u{e0100}'..='\u{e01ef}' => Unseen::Selector(low_byte(c, 0xe0100 - 16)),
        '\u{e0000}'..='\u{e007f}' => Unseen::Tag(low_byte(c, 0xe0000)),
        _ => return None,
    })
}

fn low_byte(c: char, first: u32) -> u8 {
    u8::try_from((c as u32).saturating_sub(first)).unwrap_or(u8::MAX)
}
