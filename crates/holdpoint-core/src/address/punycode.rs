//! The letters of a name that was written in ASCII for the network: `xn--…` (RFC 3492).

/// The most letters of a label: a name on the network has no longer ones.
const MAX_LABEL: usize = 63;

const BASE: u32 = 36;
const LOWEST: u32 = 1;
const HIGHEST: u32 = 26;

/// The label behind `xn--`; none if it is none.
pub(super) fn decoded(label: &str) -> Option<String> {
    if label.len() > MAX_LABEL {
        return None;
    }
    let (plain, encoded) = label.rsplit_once('-').unwrap_or(("", label));
    let mut letters: Vec<char> = plain.chars().collect();
    let (mut code, mut bias, mut at) = (128u32, 72u32, 0u32);
    let mut digits = encoded.bytes().peekable();
    while digits.peek().is_some() {
        let before = at;
        let (mut weight, mut step) = (1u32, BASE);
        loop {
            let digit = digit(digits.next()?)?;
            at = at.checked_add(digit.checked_mul(weight)?)?;
            let threshold = step.saturating_sub(bias).clamp(LOWEST, HIGHEST);
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(BASE - threshold)?;
            step += BASE;
        }
        let count = u32::try_from(letters.len()).ok()? + 1;
        bias = adapted(at - before, count, before == 0);
        code = code.checked_add(at / count)?;
        at %= count;
        letters.insert(usize::try_from(at).ok()?, char::from_u32(code)?);
        at += 1;
    }
    Some(letters.into_iter().collect())
}

fn digit(letter: u8) -> Option<u32> {
    match letter {
        b'a'..=b'z' => Some(u32::from(letter - b'a')),
        b'A'..=b'Z' => Some(u32::from(letter - b'A')),
        b'0'..=b'9' => Some(u32::from(letter - b'0') + 26),
        _ => None,
    }
}

fn adapted(delta: u32, count: u32, first: bool) -> u32 {
    let mut delta = delta / if first { 700 } else { 2 };
    delta += delta / count;
    let mut steps = 0;
    while delta > (BASE - LOWEST) * HIGHEST / 2 {
        delta /= BASE - LOWEST;
        steps += BASE;
    }
    steps + (BASE - LOWEST + 1) * delta / (delta + 38)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_as_the_network_wrote_them() {
        assert_eq!(decoded("bcher-kva").as_deref(), Some("bücher"));
        assert_eq!(decoded("80ak6aa92e").as_deref(), Some("аррӏе"));
        assert_eq!(decoded("p1ai").as_deref(), Some("рф"));
        assert_eq!(decoded("a-ecp.ru"), None);
        assert_eq!(decoded("99999999999999999999"), None);
    }
}
