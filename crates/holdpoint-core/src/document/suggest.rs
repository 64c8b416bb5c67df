//! Finds the accepted word an author probably meant.

use super::quote::{cite, quote};
use std::cmp::Reverse;

/// A hint for a word that is not accepted: the one it resembles, else those there are.
pub fn hint(word: &str, accepted: &[&str]) -> String {
    if let Some(best) = closest(word, accepted) {
        return format!("did you mean {}?", cite(&quote(best)));
    }
    match accepted.len() {
        0 => "remove it".to_owned(),
        1..=LISTED_WHOLE => format!("use {}", list(accepted)),
        _ => {
            let mut ranked = accepted.to_vec();
            let folded = fold(word);
            ranked.sort_by_cached_key(|candidate| rank(&folded, candidate));
            ranked.truncate(LISTED_CLOSEST);
            format!(
                "use {} or one of {} others",
                ranked
                    .iter()
                    .map(|w| cite(&quote(w)))
                    .collect::<Vec<_>>()
                    .join(", "),
                accepted.len() - LISTED_CLOSEST
            )
        }
    }
}

/// The accepted word that resembles `word`, if one does.
pub fn closest<'w>(word: &str, accepted: &[&'w str]) -> Option<&'w str> {
    let folded = fold(word);
    accepted
        .iter()
        .filter_map(|candidate| Some((resemblance(&folded, &fold(candidate))?, *candidate)))
        .min_by_key(|(score, _)| *score)
        .map(|(_, candidate)| candidate)
}

/// How far apart two resembling words are; less is closer.
fn resemblance(word: &[char], candidate: &[char]) -> Option<(usize, usize)> {
    let apart = distance(word, candidate);
    let shorter = word.len().min(candidate.len());
    let slips = if shorter < 2 { 0 } else { (shorter / 3).max(1) };
    if apart <= slips {
        return Some((apart, apart));
    }
    if shorter < SHORTEST_PART {
        return None;
    }
    if word.starts_with(candidate) || candidate.starts_with(word) {
        Some((slips + 1, apart))
    } else if contains(word, candidate) || contains(candidate, word) {
        Some((slips + 2, apart))
    } else {
        None
    }
}

fn rank(word: &[char], candidate: &str) -> (usize, Reverse<usize>) {
    let candidate = fold(candidate);
    let shared = word
        .iter()
        .zip(&candidate)
        .take_while(|(a, b)| a == b)
        .count();
    (distance(word, &candidate), Reverse(shared))
}

/// `` `a`, `b` or `c` ``
fn list(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| cite(&quote(word))).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Lower case without separators, so that `default_policy` equals `defaultPolicy`. Cut,
/// because the distance takes the product of both lengths.
fn fold(word: &str) -> Vec<char> {
    word.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .take(COMPARED)
        .flat_map(char::to_lowercase)
        .collect()
}

fn contains(whole: &[char], part: &[char]) -> bool {
    !part.is_empty() && whole.windows(part.len()).any(|window| window == part)
}

/// The Damerau-Levenshtein distance: insertions, deletions, replacements and swaps of
/// neighbours, no stretch edited twice.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut a_previous = None;
    for (row, a_char) in a.iter().enumerate() {
        let mut line = Vec::with_capacity(above.len());
        let mut left = row + 1;
        line.push(left);
        let mut b_previous = None;
        for (column, (b_char, corner)) in b.iter().zip(above.windows(2)).enumerate() {
            let &[diagonal, up] = corner else { break };
            let mut cost = (left + 1)
                .min(up + 1)
                .min(diagonal + usize::from(a_char != b_char));
            if a_previous == Some(b_char)
                && b_previous == Some(a_char)
                && let Some(swap) = column.checked_sub(1).and_then(|at| before.get(at))
            {
                cost = cost.min(swap + 1);
            }
            line.push(cost);
            left = cost;
            b_previous = Some(b_char);
        }
        a_previous = Some(a_char);
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or_default()
}

const LISTED_WHOLE: usize = 12;
const LISTED_CLOSEST: usize = 5;
const SHORTEST_PART: usize = 3;
const COMPARED: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(a: &str, b: &str) -> usize {
        distance(&fold(a), &fold(b))
    }

    #[test]
    fn distance_counts_a_swap_of_neighbours_once() {
        assert_eq!(apart("deny", "deny"), 0);
        assert_eq!(apart("dney", "deny"), 1);
        assert_eq!(apart("den", "deny"), 1);
        assert_eq!(apart("", "deny"), 4);
        assert_eq!(apart("kitten", "sitting"), 3);
        assert_eq!(apart("ba", "ab"), 1);
    }

    #[test]
    fn case_and_separators_do_not_count() {
        let accepted = ["allow", "defaultPolicy"];
        assert_eq!(closest("DEFAULT_POLICY", &accepted), Some("defaultPolicy"));
        assert_eq!(closest("ALLOW", &accepted), Some("allow"));
    }

    #[test]
    fn a_prefix_or_a_part_is_recognised() {
        let accepted = ["blacklist", "defaultPolicy"];
        assert_eq!(closest("default", &accepted), Some("defaultPolicy"));
        assert_eq!(closest("policy", &accepted), Some("defaultPolicy"));
        assert_eq!(closest("blacklists", &accepted), Some("blacklist"));
        assert_eq!(closest("bl", &accepted), None);
    }

    #[test]
    fn a_slip_wins_over_a_prefix() {
        assert_eq!(closest("rule", &["rulesets", "rules"]), Some("rules"));
    }

    #[test]
    fn unlike_words_get_the_list() {
        assert_eq!(
            hint("maybe", &["allow", "ask", "deny"]),
            "use `allow`, `ask` or `deny`"
        );
        assert_eq!(hint("maybe", &["allow"]), "use `allow`");
        assert_eq!(hint("maybe", &[]), "remove it");
    }

    #[test]
    fn a_long_list_is_cut_to_the_closest_five() {
        let accepted = [
            "aaaaaaaaaa",
            "bbbbbbbbbb",
            "cccccccccc",
            "dddddddddd",
            "eeeeeeeeee",
            "ffffffffff",
            "gggggggggg",
            "hhhhhhhhhh",
            "iiiiiiiiii",
            "jjjjjjjjjj",
            "kkkkkkkkkk",
            "llllllllll",
            "mmmmmmmmmm",
        ];
        let hint = hint("mmm-xxx-yyy", &accepted);
        assert!(hint.starts_with("use `mmmmmmmmmm`, "), "{hint}");
        assert!(hint.ends_with(" or one of 8 others"), "{hint}");
        assert_eq!(hint.matches('`').count(), 10);
    }

    #[test]
    fn an_enormous_word_is_compared_in_bounded_time() {
        assert_eq!(closest(&"x".repeat(4 << 20), &["allow"]), None);
    }
}
