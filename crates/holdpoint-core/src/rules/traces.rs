//! Traces: one bit for a name, so that most rules are passed over without comparing texts.
//!
//! Equal names have equal bits, whatever the case of their letters; different names mostly do not.
//! A set of names is the bits of all of them; no bit at all says that nothing is known. The number a
//! bit is taken from is the name's mark: where a set has a bit by chance, its marks tell.

/// The bit of a name.
#[cfg(test)]
pub(crate) fn of_name(name: &str) -> u128 {
    of_bytes(name.as_bytes())
}

fn of_bytes(name: &[u8]) -> u128 {
    bit(mark(name))
}

fn mark(name: &[u8]) -> u32 {
    name.iter().fold(0u32, |hash, byte| {
        (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    })
}

/// The bit of a mark.
pub(crate) fn bit(mark: u32) -> u128 {
    1 << place(mark)
}

/// Which of 128 bits a mark has.
pub(crate) fn place(mark: u32) -> u32 {
    mark >> 25
}

/// The longest word of a rule that has a bit of its own: a word that holds code is not looked
/// through for being one.
const MAX_NAMED: usize = 64;

/// The bits of a word: of the whole of it and of how it begins, which a pattern may still name.
pub(crate) fn of_word(word: &str) -> u128 {
    let bytes = word.as_bytes();
    let begins = |count: usize| bytes.get(..count).map_or(0, of_bytes);
    let whole = match bytes.len() <= MAX_NAMED {
        true => of_bytes(bytes),
        false => 0,
    };
    whole | begins(LONG_START).rotate_left(3) | begins(1).rotate_left(5)
}

/// A bit that every word a pattern fits has; none if it fits words that begin in any way.
#[allow(dead_code, reason = "read by the build script")]
pub(crate) fn of_word_pattern(pattern: &str) -> u128 {
    let bytes = pattern.as_bytes();
    let fixed = match bytes.iter().position(|byte| matches!(byte, b'*' | b'?')) {
        Some(fixed) => fixed,
        None if bytes.len() > MAX_NAMED => return 0,
        None => return of_bytes(bytes),
    };
    let begins = |count: usize| bytes.get(..count).filter(|_| count <= fixed).map(of_bytes);
    let long = begins(LONG_START).map(|bits| bits.rotate_left(3));
    let short = || begins(1).map(|bits| bits.rotate_left(5));
    long.or_else(short).unwrap_or(0)
}

/// How much of a word's beginning tells it from most others.
const LONG_START: usize = 3;

/// Where the search for a name begins in a table of so many slots, a power of two.
pub(crate) fn slot(name: &str, slots: usize) -> usize {
    let hash = name.bytes().fold(0x811c_9dc5u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    // The low bits of the product are the weakest.
    (hash ^ (hash >> 15)) as usize & slots.wrapping_sub(1)
}

/// The marks of a component of a path: of its whole name, and of what stands before its first and
/// behind its last dot, which patterns with a wildcard may still name.
pub(crate) fn marks_of_component(name: &[u8], found: &mut impl FnMut(u32)) {
    found(mark(name));
    if let Some(first) = name.iter().position(|byte| *byte == b'.') {
        let last = name.iter().rposition(|byte| *byte == b'.');
        let ending = last.and_then(|last| name.get(last + 1..));
        found(of_stem(name.get(..first).unwrap_or_default()));
        found(of_ending(ending.unwrap_or_default()));
    }
}

/// A mark that every path a pattern fits has, by a component it cannot do without; 0 if nothing is
/// known.
pub(crate) fn mark_of_path_pattern(pattern: &str) -> u32 {
    // Such paths are compared in lower case, in which other letters may become ASCII ones.
    if !pattern.is_ascii() {
        return 0;
    }
    let names = || pattern.trim_start_matches('~').split('/');
    let plain = |text: &&str| !text.is_empty() && !text.contains(['*', '?']);
    if let Some(name) = names().filter(plain).max_by_key(|name| name.len()) {
        return mark(name.as_bytes());
    }
    names()
        .find_map(|name| {
            let ending = name.rsplit_once('.').map(|(_, ending)| ending);
            let stem = name.split_once('.').map(|(stem, _)| stem);
            let ending = ending.filter(plain).map(|text| of_ending(text.as_bytes()));
            ending.or_else(|| stem.filter(plain).map(|text| of_stem(text.as_bytes())))
        })
        .unwrap_or(0)
}

/// The bit of that mark; none if nothing is known.
#[allow(dead_code, reason = "read by the build script")]
pub(crate) fn of_path_pattern(pattern: &str) -> u128 {
    match mark_of_path_pattern(pattern) {
        0 => 0,
        mark => bit(mark),
    }
}

// Not the marks of names: `json` the directory says nothing of `*.json`.
fn of_stem(stem: &[u8]) -> u32 {
    mark(stem).wrapping_add(1 << 25)
}

fn of_ending(ending: &[u8]) -> u32 {
    mark(ending).wrapping_add(2 << 25)
}

/// The letters of ASCII a text has, in whatever case, a bit each: what needs others does not stand in it.
pub(crate) fn letters(text: &[u8]) -> u32 {
    text.iter()
        .map(|byte| byte.to_ascii_lowercase().wrapping_sub(b'a'))
        .filter(|place| *place < 26)
        .fold(0, |all, place| all | 1 << place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_the_same_in_every_case_of_letters() {
        assert_eq!(of_name(".SSH"), of_name(".ssh"));
        assert_ne!(of_name("hooks"), of_name("hosts"));
    }

    #[test]
    fn a_word_has_the_trace_of_every_pattern_it_fits() {
        for (pattern, word) in [
            ("publish", "Publish"),
            ("+*", "+nightly"),
            ("python3.*", "python3.12"),
            ("mkfs.*", "mkfs.ext4"),
            ("pi?", "pip"),
            ("é*", "école"),
        ] {
            let wanted = of_word_pattern(pattern);
            assert!(wanted != 0 && wanted & of_word(word) == wanted, "{pattern}");
        }
        assert_eq!(of_word_pattern("*manage.py"), 0);
        assert_eq!(of_word_pattern(""), of_word(""));
    }

    #[test]
    fn a_path_pattern_is_traced_by_a_name_it_cannot_do_without() {
        let mark_of = mark_of_path_pattern;
        assert_eq!(mark_of("~/.config/autostart"), mark(b"autostart"));
        assert_eq!(mark_of("/etc/rc?.d/**"), mark(b"etc"));
        assert_eq!(mark_of("**/*.pth"), of_ending(b"pth"));
        assert_eq!(mark_of("compose.*.yml"), of_ending(b"yml"));
        assert_eq!(mark_of("Dockerfile.*"), of_stem(b"dockerfile"));
        assert_eq!(mark_of("**/id_*"), 0);
        assert_eq!(mark_of("~"), 0);
        assert_eq!(of_path_pattern("/etc/x"), of_name("etc"));
        for (pattern, name) in [
            ("*.tfstate.*", "a.b.tfstate.c"),
            ("*.pth", ".pth"),
            ("x.*", "X."),
        ] {
            let wanted = mark_of(pattern);
            let mut has = wanted == 0;
            marks_of_component(name.as_bytes(), &mut |mark| has |= mark == wanted);
            assert!(has, "{pattern}");
        }
        // The Kelvin sign is a `k` in lower case.
        assert_eq!(mark_of("/dev/\u{212a}vm"), 0);
    }

    #[test]
    fn letters_are_those_of_ascii_whatever_their_case() {
        assert_eq!(letters(b"aZ"), 1 | 1 << 25);
        assert_eq!(letters("*-_.7[\u{e9}`{@".as_bytes()), 0);
    }
}
