//! Traces: one bit for a name, so that most rules are passed over without comparing texts.
//!
//! Equal names have equal bits, whatever the case of their letters; different names mostly do not.
//! A set of names is the bits of all of them; no bit at all says that nothing is known.

/// The bit of a name.
pub(crate) fn of_name(name: &str) -> u128 {
    let hash = name.bytes().fold(0u32, |hash, byte| {
        (hash ^ u32::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    });
    1 << (hash >> 25)
}

/// The bit of a name that every path a pattern fits has among its components.
pub(crate) fn of_path_pattern(pattern: &str) -> u128 {
    // Such paths are compared in lower case, in which other letters may become ASCII ones.
    if !pattern.is_ascii() {
        return 0;
    }
    pattern
        .trim_start_matches('~')
        .split('/')
        .filter(|name| !name.is_empty() && !name.contains(['*', '?']))
        .max_by_key(|name| name.len())
        .map_or(0, of_name)
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
    fn a_path_pattern_is_traced_by_a_name_it_cannot_do_without() {
        assert_eq!(of_path_pattern("~/.config/autostart"), of_name("autostart"));
        assert_eq!(of_path_pattern("/etc/rc?.d/**"), of_name("etc"));
        assert_eq!(of_path_pattern("**/*.pth"), 0);
        assert_eq!(of_path_pattern("~"), 0);
        // The Kelvin sign is a `k` in lower case.
        assert_eq!(of_path_pattern("/dev/\u{212a}vm"), 0);
    }
}
