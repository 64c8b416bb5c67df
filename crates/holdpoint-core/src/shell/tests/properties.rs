//! What holds for every text.

use proptest::prelude::*;

use crate::shell::{commands, commands_of_words, read};

const FRAGMENTS: &[&str] = &[
    "a",
    "b ",
    " ",
    "\n",
    ";",
    "&",
    "|",
    "&&",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "{ ",
    "; }",
    "'",
    "\"",
    "`",
    "\\",
    "$",
    "$(",
    "${",
    "$((",
    "$'",
    "$\"",
    "<(",
    ">",
    "<<E\n",
    "<<'E'\n",
    "<<-E",
    "\nE\n",
    "<<<",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "case x in ",
    "esac",
    ";;",
    "[[ ",
    " ]]",
    "time ",
    "! ",
    "coproc ",
    "function f ",
    "f() ",
    "x=",
    "x=(",
    "x[",
    "]",
    "*",
    "?",
    "@(",
    "#",
    "é",
    "\r\n",
    "\\\n",
    "${x:-",
    "bash -c ",
    "eval ",
    "sudo ",
    "xargs ",
    "find . -exec ",
    "\\;",
    "env ",
    "=~",
    "{a,b}",
    "{1..3}",
    "~",
    "echo ",
    "| sh",
    "-c ",
    "git -c ",
    "docker run ",
    "ssh h ",
    "sed ",
    "awk ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_ends_in_a_value_or_a_refusal(picks in prop::collection::vec(0..FRAGMENTS.len(), 0..24)) {
        let text: String = picks.into_iter().map(|pick| FRAGMENTS[pick]).collect();
        match commands(&text) {
            Ok(list) => for command in list {
                prop_assert!(text.get(command.span.clone()).is_some(), "{text:?} {command:?}");
                for word in command.words {
                    prop_assert!(text.get(word.span.clone()).is_some(), "{text:?} {word:?}");
                }
            },
            Err(refusal) => prop_assert!(refusal.at <= text.len(), "{text:?} {refusal:?}"),
        }
    }

    #[test]
    fn any_characters_end_in_a_value_or_a_refusal(text in any::<String>()) {
        let _ = read(&text);
    }

    #[test]
    fn quoting_a_word_and_reading_it_back_is_the_identity(word in "[^\0]*") {
        // A program that starts no other, whatever it is given.
        let text = format!("echo '{}'", word.replace('\'', "'\\''"));
        let list = commands(&text).unwrap();
        prop_assert_eq!(list.len(), 1);
        prop_assert_eq!(&list[0].words[1].text, &word);
        prop_assert!(!list[0].words[1].dynamic && !list[0].words[1].glob);
    }

    #[test]
    fn words_without_a_shell_come_back_unchanged(words in prop::collection::vec("[^\0]*", 1..5)) {
        let mut all = vec!["cmd_a"];
        all.extend(words.iter().map(String::as_str));
        let list = commands_of_words(&all).unwrap();
        prop_assert_eq!(list[0].line(), all.join(" "));
    }
}
