//! Traces: one bit for a name, so that most rules are passed over without comparing texts.
//!
//! Equal names have equal bits, whatever the case of their letters; different names mostly do not.
//! A set of names is the bits of all of them; no bit at all says that nothing is known.

/// The bit of a name.
pub(crate) fn of_name(name: &str) -> u128 {
    of_bytes(name.as_bytes())
}

fn of_bytes(name: &[u8]) -> u128 {
    let hash = name.iter().fold(0u32, |hash, byte| {
        (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    });
    1 << (hash >> 25)
}

/// The bits of a word: of the whole of it and of how it begins, which a pattern may still name.
pub(crate) fn of_word(word: &str) -> u128 {
    let bytes = word.as_bytes();
    let begins = |count: usize| bytes.get(..count).map_or(0, of_bytes);
    of_bytes(bytes) | begins(LONG_START).rotate_left(3) | begins(1).rotate_left(5)
}

/// A bit that every word a pattern fits has; none if it fits words that begin in any way.
#[allow(dead_code, reason = "read by the build script")]
pub(crate) fn of_word_pattern(pattern: &str) -> u128 {
    let bytes = pattern.as_bytes();
    let fixed = match bytes.iter().position(|byte| matches!(byte, b'*' | b'?')) {
        Some(fixed) => fixed,
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

/// The bits of a component of a path: its whole name, and what stands before its first and behind
/// its last dot, which patterns with a wildcard may still name.
pub(crate) fn of_component(name: &str) -> u128 {
    let stem = name.split_once('.').map_or(0, |(stem, _)| of_stem(stem));
    let ending = name
        .rsplit_once('.')
        .map_or(0, |(_, ending)| of_ending(ending));
    of_name(name) | stem | ending
}

/// A bit that every path a pattern fits has, by a component it cannot do without.
pub(crate) fn of_path_pattern(pattern: &str) -> u128 {
    // Such paths are compared in lower case, in which other letters may become ASCII ones.
    if !pattern.is_ascii() {
        return 0;
    }
    let names = || pattern.trim_start_matches('~').split('/');
    let plain = |text: &&str| !text.is_empty() && !text.contains(['*', '?']);
    if let Some(name) = names().filter(plain).max_by_key(|name| name.len()) {
        return of_name(name);
    }
    names()
        .find_map(|name| {
            let ending = name.rsplit_once('.').map(|(_, ending)| ending);
            let stem = name.split_once('.').map(|(stem, _)| stem);
            let ending = ending.filter(plain).map(of_ending);
            ending.or_else(|| stem.filter(plain).map(of_stem))
        })
        .unwrap_or(0)
}

// Not the bits of names: `json` the directory says nothing of `*.json`.
fn of_stem(stem: &str) -> u128 {
    of_name(stem).rotate_left(1)
}

fn of_ending(ending: &str) -> u128 {
    of_name(ending).rotate_left(2)
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
        assert_eq!(of_path_pattern("~/.config/autostart"), of_name("autostart"));
        assert_eq!(of_path_pattern("/etc/rc?.d/**"), of_name("etc"));
        assert_eq!(of_path_pattern("**/*.pth"), of_ending("pth"));
        assert_eq!(of_path_pattern("compose.*.yml"), of_ending("yml"));
        assert_eq!(of_path_pattern("Dockerfile.*"), of_stem("dockerfile"));
        assert_eq!(of_path_pattern("**/id_*"), 0);
        assert_eq!(of_path_pattern("~"), 0);
        for (pattern, name) in [
            ("*.tfstate.*", "a.b.tfstate.c"),
            ("*.pth", ".pth"),
            ("x.*", "X."),
        ] {
            let wanted = of_path_pattern(pattern);
            assert!(wanted == 0 || wanted & of_component(name) != 0, "{pattern}");
        }
        // The Kelvin sign is a `k` in lower case.
        assert_eq!(of_path_pattern("/dev/\u{212a}vm"), 0);
    }
}
