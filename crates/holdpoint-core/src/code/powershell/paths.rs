//! Paths and texts of PowerShell and `cmd` as a shell writes them.

/// A path of Windows as one of a shell: backslashes part directories, a drive is a root.
pub(crate) fn slashed(path: &str) -> String {
    let mut letters = path.chars();
    let drive = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.next() == Some(':');
    let rest = match drive {
        true => letters.as_str(),
        false => path,
    };
    let rest = rest.replace('\\', "/");
    match drive && !rest.starts_with('/') {
        true => format!("/{rest}"),
        false => rest,
    }
}

/// A text as a shell writes it, its wild signs left wild.
pub(super) fn quoted_but_wild(text: &str) -> String {
    let plain = |letter: char| {
        letter.is_alphanumeric()
            || matches!(
                letter,
                '_' | '-' | '.' | '/' | ':' | '@' | '%' | '+' | '*' | '?' | '~' | '='
            )
    };
    let mut made = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => made.push_str("$'\\n'"),
            letter if plain(letter) => made.push(letter),
            letter => {
                made.push('\\');
                made.push(letter);
            }
        }
    }
    made
}

/// Whether a path lies in the registry.
pub(super) fn is_registry(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    ["hklm:", "hkcu:", "hkcr:", "hku:", "registry::", "hkey_"]
        .iter()
        .any(|front| lower.starts_with(front))
}

/// Whether a path lies in what the shell itself remembers: gone when it ends.
pub(super) fn is_memory(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    ["env:", "variable:"]
        .iter()
        .any(|front| lower.starts_with(front))
}
