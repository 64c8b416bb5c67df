//! Hostile sizes end, in a value or a refusal.

use super::refused;
use crate::shell::{RefusalReason, commands};

/// Reads a text for the sake of ending: work is counted by the reader, so a text that took more
/// than its share would be refused, and one that escaped the count would hang this test.
fn ends(text: &str) {
    let _ = commands(text);
}

#[test]
fn hostile_texts_end() {
    let mega = 1 << 20;
    for unit in [
        ";",
        "a;",
        "a\n",
        "(",
        "((",
        "( ",
        "$(",
        "$((",
        "`",
        "\\`",
        "{",
        "{a,",
        "[",
        "\"",
        "'",
        "<",
        "<<",
        "<<a ",
        ">",
        "&",
        "|",
        "\\",
        "\\\n",
        "#",
        "$",
        "${",
        "${a:-",
        "a ",
        "a=",
        "a=(",
        "!",
        "! ",
        "if ",
        "case a in a) ",
        "\"$(",
        "<(",
        "x[",
        "[[ ",
        "*",
        "?(",
        "@(",
        "~",
        "\r",
        "\r\n",
        "é",
        "a=b ",
        "time ",
        "coproc ",
        "f()",
        "$'",
        "sudo ",
        "sudo -X ",
        "xargs ",
        "eval ",
        "bash -c ",
        "find -exec ",
        "env -S ",
        "{1..9}",
        "`\\`",
        "a|",
        "<<<a ",
        "$((a) ",
        "((a) ",
        "'\"",
        "a <<b\n",
        "$[",
        "=~",
        "[[ a =~ (",
        "watch ",
        "parallel ",
        "${a[",
        "ssh -o ",
    ] {
        ends(&unit.repeat(mega / unit.len()));
    }
}

#[test]
fn ten_thousand_levels_are_refused() {
    for (open, close) in [
        ("(", ")"),
        ("( ", " )"),
        ("{ ", "; }"),
        ("$(", ")"),
        ("\"$(", ")\""),
        ("${a:-", "}"),
    ] {
        let text = open.repeat(10_000) + "a" + &close.repeat(10_000);
        ends(&text);
        if open != "(" {
            assert_eq!(refused(&text), RefusalReason::TooDeep, "{open}");
        }
    }
}

#[test]
fn failed_arithmetic_does_not_multiply() {
    let text = "$((".repeat(30) + "a" + &") )".repeat(30);
    ends(&text);
    ends(&("((".repeat(23) + "a" + &") )".repeat(23)));
}

#[test]
fn values_that_calculate_with_each_other_end() {
    let itself = "x='a[$((x))$((x))]'; echo $((x))";
    assert_eq!(refused(itself), RefusalReason::TooDeep);
    let chain: String = (0..60)
        .map(|at| format!("x{at}='a[$((x{next}))$((x{next}))]'; ", next = at + 1))
        .collect();
    ends(&(chain + "echo $((x0))"));
}

#[test]
fn functions_with_many_bodies_end() {
    let names: String = (0..40)
        .map(|at| {
            let next = at + 1;
            format!("f{at}() {{ f{next}; f{next}; }}; a && f{at}() {{ f{next}; b; f{next}; }}; ")
        })
        .collect();
    ends(&(names + "f0"));
}

#[test]
fn a_long_document_is_read() {
    let text = "cat <<'E'\n".to_owned() + &"some line of a file\n".repeat(50_000) + "E\n";
    ends(&text);
    assert_eq!(commands(&text).unwrap().len(), 1);
    ends(&text.replace("'E'", "E"));
}

#[test]
fn a_text_over_a_mebibyte_is_refused() {
    assert_eq!(refused(&"a".repeat((1 << 20) + 1)), RefusalReason::TooLong);
    assert_eq!(refused(&"a;".repeat(1 << 19)), RefusalReason::TooMuchWork);
}

#[test]
fn texts_inside_texts_do_not_exhaust_the_stack() {
    let mut text = "a".to_owned();
    for level in 0..30 {
        let (open, close) = ("( ".repeat(44), " )".repeat(44));
        text = format!("{open}bash <<'E{level}'\n{text}\nE{level}\n{close}");
    }
    ends(&text);
    assert_eq!(refused(&text), RefusalReason::TooDeep);
}
