//! What a character's script means for the characters nobody sees beside it.

/// Scripts in which joiners change how letters look.
pub(super) fn needs_joiners(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{1900}'..='\u{1aaf}'
        | '\u{1b00}'..='\u{1c7f}' | '\u{a800}'..='\u{abff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}')
}

/// Scripts without spaces, in which a space without width tells where a line may end.
pub(super) fn needs_breaks(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{1950}'..='\u{19ff}' | '\u{1a20}'..='\u{1aaf}')
}

/// Letters that are written from right to left.
pub(super) fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{5be}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Chinese, Japanese and Korean, in which full-width letters are ordinary.
pub(super) fn is_east_asian(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{30ff}' | '\u{3100}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Pictures that joiners combine and selectors colour.
pub(super) fn is_picture(c: char) -> bool {
    matches!(c, '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{20e3}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{fe0f}'
        | '\u{1f000}'..='\u{1faff}')
}

/// Accents that go on letters of any script.
pub(super) fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}
