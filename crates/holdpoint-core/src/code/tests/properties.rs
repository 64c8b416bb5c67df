//! What holds for every text.

use proptest::prelude::*;

use super::{read, read_twice};
use crate::code::{Language, Unfollowed};

const LANGUAGES: [Language; 9] = [
    Language::Python,
    Language::JavaScript,
    Language::Ruby,
    Language::Perl,
    Language::Php,
    Language::Awk,
    Language::Vim,
    Language::PowerShell,
    Language::Lua,
];

const FRAGMENTS: &[&str] = &[
    "a",
    "b",
    " ",
    "\n",
    ";",
    ",",
    ".",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "`",
    "\\",
    "$",
    "@",
    "%",
    "#",
    "/",
    "=",
    "==",
    "=>",
    "->",
    "::",
    "+",
    "<<",
    "<<~X\n",
    "\nX\n",
    "<<<X\n",
    "f\"",
    "f'{",
    "${",
    "#{",
    "@{[",
    "'''",
    "[[",
    "]]",
    "--[[",
    "/*",
    "*/",
    "//",
    "q{",
    "qq(",
    "qw[",
    "s/",
    "/e",
    "%w[",
    "%x(",
    "import os",
    "os.system(",
    "require('fs')",
    ".rmSync(",
    "eval(",
    "exec ",
    "for x in ",
    " of ",
    " as ",
    "lambda ",
    "def f(",
    "function ",
    "open(",
    "system ",
    "print ",
    " | getline",
    ":!",
    "|",
    "é",
    "?>",
    "<?php ",
    "do |x|",
    " if ",
    "__import__(",
    "getattr(",
    "\u{0}",
    "\u{ff45}",
    "{|x|",
    ":sym",
    "...",
    "*",
    "&",
    "1",
    "0x",
    "=begin\n",
    "\n=cut\n",
    "exe '",
    "call system('",
];

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        for language in LANGUAGES {
            let _ = read(language, &text);
        }
    }

    #[test]
    fn any_order_of_fragments_is_read(parts in prop::collection::vec(prop::sample::select(FRAGMENTS), 0..60)) {
        let text = parts.concat();
        for language in LANGUAGES {
            let reading = read(language, &text);
            for effect in &reading.effects {
                prop_assert!(effect.span.start <= effect.span.end && effect.span.end <= text.len());
            }
            prop_assert_eq!(&reading, &read_twice(language, &text), "{}", text);
        }
    }

    #[test]
    fn text_in_a_string_is_not_code(text in "[a-zA-Z0-9 ./()*;:-]{0,60}") {
        for (language, code) in [
            (Language::Python, format!("print('{text}')")),
            (Language::JavaScript, format!("console.log('{text}')")),
            (Language::Ruby, format!("puts '{text}'")),
            (Language::Perl, format!("print '{text}';")),
            (Language::Php, format!("echo '{text}';")),
            (Language::Lua, format!("print('{text}')")),
            (Language::Awk, format!("{{ print \"{text}\" }}")),
        ] {
            let mut reading = read(language, &code);
            // Nothing is loaded, and nothing is left unread.
            prop_assert!(reading.whole.take().is_none_or(|modules| modules.is_empty()));
            prop_assert_eq!(reading, crate::code::Reading::default(), "{}", code);
        }
    }
}

/// Work grows with the length of the code: this would take hours if some part of it were looked
/// at again and again.
#[test]
fn junk_as_long_as_allowed_is_read_soon() {
    for fragment in FRAGMENTS {
        let text = fragment.repeat((2 << 10) / fragment.len());
        for language in LANGUAGES {
            let _ = read(language, &text);
        }
    }
    for pair in FRAGMENTS.windows(2) {
        let text = pair.concat().repeat((1 << 9) / pair.concat().len());
        for language in LANGUAGES {
            let _ = read(language, &text);
        }
    }
}

#[test]
fn a_constant_used_often_costs_no_more_than_it_is_long() {
    let mut code = format!("a = '{}'\n", "x".repeat(100_000));
    for _ in 0..20_000 {
        code.push_str("b(a + a)\n");
    }
    let _ = read(Language::Python, &code);
    let mut code = "a0 = ['x']\n".to_owned();
    for at in 0..10_000 {
        code.push_str(&format!("a{} = [a{at}, a{at}]\n", at + 1));
    }
    let _ = read(Language::Python, &code);
}

#[test]
fn what_is_too_much_is_said() {
    for language in LANGUAGES {
        let long = "a ".repeat(600_000);
        assert_eq!(
            read(language, &long).opaque,
            Some(Unfollowed::TooLong),
            "{language:?}"
        );
    }
    for language in [Language::Python, Language::JavaScript, Language::Awk] {
        let deep = format!("{}{}", "(".repeat(100), ")".repeat(100));
        assert_eq!(
            read(language, &deep).opaque,
            Some(Unfollowed::TooDeep),
            "{language:?}"
        );
    }
    let many = "a = ".repeat(500);
    assert_eq!(
        read(Language::JavaScript, &many).opaque,
        Some(Unfollowed::TooDeep)
    );
}
