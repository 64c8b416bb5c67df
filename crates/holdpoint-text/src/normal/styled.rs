//! Letters in fancy dress: mathematical, full-width, circled, squared, raised, flags.

/// The letter behind one in a dress Unicode itself does not take off.
pub(super) fn letter(c: char) -> Option<char> {
    let first = match c {
        '\u{1f150}'..='\u{1f169}' => 0x1f150,
        '\u{1f170}'..='\u{1f189}' => 0x1f170,
        '\u{1f1e6}'..='\u{1f1ff}' => 0x1f1e6,
        _ => return None,
    };
    char::from_u32('A' as u32 + (c as u32 - first))
}

/// Whether a character is one half of a flag.
pub(super) fn is_flag_half(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Whether a character is a letter in a dress of Unicode's.
pub(super) fn is_dressed(c: char) -> bool {
    matches!(c, '\u{2b0}'..='\u{2b8}' | '\u{1d2c}'..='\u{1d6a}' | '\u{1d9c}'..='\u{1dbf}' | '\u{2071}' | '\u{207f}'
        | '\u{2090}'..='\u{209c}' | '\u{2102}'..='\u{2138}' | '\u{249c}'..='\u{24e9}' | '\u{1d400}'..='\u{1d6a5}'
        | '\u{1f110}'..='\u{1f149}')
        || is_full_width(c)
}

/// Letters as wide as Chinese characters.
pub(super) fn is_full_width(c: char) -> bool {
    matches!(c, '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}')
}
