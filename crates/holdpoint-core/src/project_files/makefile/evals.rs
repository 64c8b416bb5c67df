//! What `$(eval …)` adds to a makefile, as far as it stands there.

/// Texts that are taken; a makefile that evaluates more is made by a program, and cut.
const MAX_EVALS: usize = 64;

/// What a makefile evaluates as more of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Evals {
    /// The texts, each as lines of a makefile.
    pub(crate) text: String,
    /// Some of it is only known when make runs.
    pub(crate) computed: bool,
    /// There is more than was read.
    pub(crate) cut: bool,
}

/// Finds what a makefile evaluates.
pub(crate) fn evals(text: &str) -> Evals {
    let mut found = Evals::default();
    let mut rest = text;
    let mut count = 0;
    while let Some(at) = rest.find("eval") {
        let before = rest.get(..at).unwrap_or_default();
        rest = rest.get(at + "eval".len()..).unwrap_or_default();
        let close = match before.get(before.len().saturating_sub(2)..) {
            Some("$(") => ')',
            Some("${") => '}',
            _ => continue,
        };
        if !rest.starts_with([' ', '\t']) {
            continue;
        }
        count += 1;
        if count > MAX_EVALS {
            found.cut = true;
            break;
        }
        let argument = until(rest, close);
        found.computed |= argument.contains("$(") || argument.contains("${");
        found.text.push('\n');
        // `$$` is there to be expanded by what is evaluated.
        found
            .text
            .push_str(argument.trim().replace("$$", "$").as_str());
        found.text.push('\n');
    }
    found
}

/// What stands in front of the bracket that closes the call.
fn until(rest: &str, close: char) -> &str {
    let open = if close == ')' { '(' } else { '{' };
    let mut depth = 0_usize;
    for (at, letter) in rest.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            if depth == 0 {
                return rest.get(..at).unwrap_or(rest);
            }
            depth -= 1;
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_evaluated_is_more_of_the_file() {
        let found = evals("$(eval all: ; rm -rf x)\nall:\n\t@echo eval\n");
        assert_eq!(found.text.trim(), "all: ; rm -rf x");
        assert!(!found.computed);
        assert!(evals("${eval $(call rule,a)}").computed);
        assert_eq!(evals("all: ; echo evaluate"), Evals::default());
    }
}
