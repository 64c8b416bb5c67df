//! Every construct of the language.

use super::{lines, listed, refused};
use crate::shell::Reached;
use crate::shell::RefusalReason;

#[test]
fn operators_need_no_spaces() {
    assert_eq!(lines("a&&b||c;d|e&f"), ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(lines("a|&b;(c)&{ d;}"), ["a", "b", "c", "d"]);
    assert_eq!(lines("a&\\\n&b"), ["a", "b"]);
    assert_eq!(lines("a &&\n# x\nb |\nc"), ["a", "b", "c"]);
}

#[test]
fn double_parentheses_are_arithmetic_only_when_both_close() {
    assert_eq!(lines("( (a) )"), ["a"]);
    assert_eq!(lines("((a) )"), ["a"]);
    assert_eq!(lines("((a); (b))"), ["a", "b"]);
    assert!(lines("((1))").is_empty());
    assert_eq!(lines("((x=$(a)))"), ["a"]);
    assert_eq!(
        lines("a $((1+$(b))) $( (c) ) $((d) )")[1..],
        ["b", "c", "d"]
    );
    assert_eq!(lines("a $[1+$(b)]")[1..], ["b"]);
    assert_eq!(lines("((a = '$(b)'))"), ["b"]);
}

#[test]
fn a_comment_cannot_hide_code_behind_double_parentheses() {
    assert_eq!(
        refused(": $((a) # ) ; b\n)"),
        RefusalReason::AmbiguousParentheses
    );
}

#[test]
fn a_heredoc_inside_double_parentheses_is_refused() {
    for text in [
        "((a <<E\nb\nE\n) )",
        "((a <<'E'\n))\nE\n) )",
        "b $((a <<E\nb\nE\n) )",
    ] {
        let reason = refused(text);
        assert!(
            matches!(
                reason,
                RefusalReason::AmbiguousParentheses | RefusalReason::UnexpectedToken
            ),
            "{text:?}: {reason}"
        );
    }
}

#[test]
fn case_inside_a_substitution_is_read_as_code() {
    assert_eq!(
        lines("a $(case x in x) b;; (y|z) c;& *) d;;& esac)")[1..],
        ["b", "c", "d"]
    );
    assert_eq!(lines("case $(a) in $(b)) c;; esac"), ["a", "b", "c"]);
    assert_eq!(lines("case x in a) ;; esac; b"), ["b"]);
    assert_eq!(lines("case x in\n a)\n b\n ;;\nesac"), ["b"]);
    assert_eq!(lines("case x in a) b; esac"), ["b"]);
}

#[test]
fn every_branch_and_body_is_listed() {
    assert_eq!(
        lines("if a; then b; elif c; then d; else e; fi"),
        ["a", "b", "c", "d", "e"]
    );
    assert_eq!(
        lines("if (a) then (b) fi; while [[ x ]] do c; done"),
        ["a", "b", "c"]
    );
    assert_eq!(
        lines("while a; do b; done; until c; do d; done"),
        ["a", "b", "c", "d"]
    );
    assert_eq!(
        lines("for x in $(a) y; do b; done; for x; do c; done; for x do d; done"),
        ["a", "b", "c", "d"]
    );
    assert_eq!(
        lines("for x in a; { b; }; for ((i=$(c);i<1;i++)); do d; done"),
        ["b", "c", "d"]
    );
    assert_eq!(
        lines("for ((;;)) { a; }; select x in $(b); do c; done"),
        ["a", "b", "c"]
    );
    assert_eq!(
        lines("f() { a; }; function g { b; }; function h() ( c ); i () if d; then e; fi"),
        ["a", "b", "c", "d", "e"]
    );
    assert_eq!(
        lines("coproc a x; coproc N { b; }; coproc { c; }"),
        ["a x", "b", "c"]
    );
    assert_eq!(
        lines("! a; time -p b; ! ! c; time; time ! d; !(e)"),
        ["a", "b", "c", "d", "e"]
    );
    assert_eq!(lines("a | time b"), ["a", "time b", "b"]);
    assert_eq!(lines("a+() { b; }"), ["b"]);
    assert_eq!(lines("{ a; } 2>f <$(b)"), ["", "b", "a"]);
}

#[test]
fn substitutions_are_found_wherever_they_stand() {
    for text in [
        "a $(z)",
        "a \"$(z)\"",
        "a `z`",
        "a <(z)",
        "a >(z)",
        "x=$(z) a",
        "x=$(z)",
        "x=(1 $(z))",
        "x[$(z)]=1",
        "x=([$(z)]=1)",
        "x+=(a `z`)",
        "a > $(z)",
        "a < <(z)",
        "a <<< $(z)",
        "a ${x:-$(z)}",
        "a ${x[$(z)]}",
        "a ${x:$(z):1}",
        "a ${x/$(z)/y}",
        "a \"${x:-\"$(z)\"}\"",
        "a $((1+$(z)))",
        "a ${x:-<(z)}",
        "[[ -n $(z) ]]",
        "[[ a =~ (b c|$(z)) ]]",
        "[[ a == @(b|$(z)) ]]",
        "a $\\\n(z)",
        "export x=($(z))",
        "declare -A x=([a]=$(z))",
        "a @(b|$(z))",
        "a {x,$(z)}",
        "$(z)",
        "a[1 $(z)] b",
        "(( x[$(z)] ))",
        "a 2>$(z)",
        "a $\"$(z)\"",
        "for x in `z`; do a; done",
        "a ${!x:-$(z)}",
        "a ${x@Q}$(z)",
    ] {
        let list = listed(text);
        let found = list
            .iter()
            .filter(|command| command.line() == "z")
            .collect::<Vec<_>>();
        assert_eq!(found.len(), 1, "{text:?}");
        assert_eq!(found[0].reached, Reached::Substituted, "{text:?}");
    }
}

#[test]
fn reserved_words_are_words_elsewhere() {
    assert_eq!(
        lines("echo if then { } [[ ! time"),
        ["echo if then { } [[ ! time"]
    );
    assert_eq!(lines("x=1 if a"), ["if a"]);
    assert_eq!(lines("'if' a; \\time b"), ["if a", "time b", "b"]);
    assert_eq!(lines("echo }; a"), ["echo }", "a"]);
}

#[test]
fn conditions_hold_words_and_operators() {
    assert_eq!(lines("[[ a < b && ( -f c || ! d ) ]] && e"), ["e"]);
    assert_eq!(lines("[[ $x =~ ^(a|b)+$ ]] || f"), ["f"]);
    assert_eq!(lines("[[ $x == *.c ]]; a"), ["a"]);
    assert_eq!(refused("[[ a && b"), RefusalReason::UnclosedCompound);
}

#[test]
fn a_subscript_belongs_to_its_word() {
    assert_eq!(lines("a[1 2]=3 b"), ["b"]);
    assert_eq!(lines("a[1 2] b"), ["a[1 2] b"]);
    assert_eq!(lines("a=(1)b c"), ["c"]);
    assert_eq!(listed("A=1 B+=2 c")[0].assignments.len(), 2);
}

#[test]
fn unclosed_text_is_refused() {
    use RefusalReason::*;
    for (text, reason) in [
        ("a 'b", UnclosedQuote),
        ("a \"b", UnclosedQuote),
        ("a $'b", UnclosedQuote),
        ("a $(b", UnclosedSubstitution),
        ("a `b", UnclosedSubstitution),
        ("a <(b", UnclosedSubstitution),
        ("a ${b", UnclosedExpansion),
        ("a $((b", UnclosedArithmetic),
        ("((a", UnclosedArithmetic),
        ("(a", UnclosedCompound),
        ("{ a", UnclosedCompound),
        ("if a; then b", UnclosedCompound),
        ("while a; do b", UnclosedCompound),
        ("case x in a) b", UnclosedCompound),
        ("a &&", UnexpectedEnd),
        ("a |", UnexpectedEnd),
        ("a >", UnexpectedEnd),
        ("f()", UnexpectedEnd),
    ] {
        assert_eq!(refused(text), reason, "{text:?}");
    }
}

#[test]
fn what_has_no_place_is_refused() {
    for text in [
        ")",
        "a )",
        ";",
        "a;;b",
        "a & ; b",
        "&& a",
        "| a",
        "()",
        "{ }",
        "fi",
        "then",
        "a (b)",
        "a=(b) (c)",
        "a x=(b)",
        "if; then a; fi",
        "(a) b",
        "{ a; } b",
        "f() a",
        "a ;; b",
        "for 1$x in a; do b; done",
        "a @(b\nc)",
        "case x in esac) a;; esac",
        "a <<$(b)\nx",
        "}",
        "a || ;",
    ] {
        let reason = refused(text);
        assert!(
            matches!(
                reason,
                RefusalReason::UnexpectedToken
                    | RefusalReason::UnexpectedEnd
                    | RefusalReason::UnclosedCompound
                    | RefusalReason::UnknownDelimiter
            ),
            "{text:?}: {reason}"
        );
    }
}

#[test]
fn expansions_that_shells_read_differently_are_refused() {
    for text in [
        "a ${ b; }",
        "a ${| b; }",
        "a ${\tb; }",
        "a ${$(b)}",
        "a ${}",
        "a $(coproc [[ b ]])",
    ] {
        assert_eq!(refused(text), RefusalReason::UnknownExpansion, "{text:?}");
    }
    assert_eq!(refused("a\0b"), RefusalReason::NulByte);
}

#[test]
fn refusals_are_plain_sentences() {
    let refusal = crate::shell::commands("a 'b").unwrap_err();
    assert_eq!(refusal.to_string(), "a quote is never closed at byte 2");
}
