//! The same command, spelled differently.

use super::{lines, listed};

#[test]
fn quotes_and_escapes_do_not_change_the_program() {
    for text in [
        "rm x",
        "r''m x",
        "\\rm x",
        "$'\\x72m' x",
        "$'\\162m' x",
        "$'\\u0072m' x",
        "\"r\"m x",
        "r\\\nm x",
        "'rm' x",
        "r\"\"m 'x'",
        "rm \\\n x",
        "$'r'\"m\" x",
        "$\"rm\" x",
        "\"r\\\nm\" x",
        "  rm\t x ",
        "rm x # y",
        "rm x\r\n",
        "\\\nrm x",
        "$'\\x{72}m' x",
    ] {
        assert_eq!(lines(text), ["rm x"], "{text:?}");
        assert_eq!(listed(text)[0].program(), Some("rm"), "{text:?}");
    }
}

#[test]
fn program_is_the_last_part_of_its_path() {
    assert_eq!(listed("/usr/bin/rm x")[0].program(), Some("rm"));
    assert_eq!(listed("'/usr/bin/'rm x")[0].program(), Some("rm"));
    assert_eq!(listed("$X")[0].program(), None);
    assert_eq!(listed("/bin/r?")[0].program(), None);
}

#[test]
fn static_braces_become_words() {
    assert_eq!(lines("{rm,-rf,/}"), ["rm -rf /"]);
    assert_eq!(
        lines("a {a,b{c,d}}x x{,} {3..1..2} {01..03}"),
        ["a ax bcx bdx x x 3 1 01 02 03"]
    );
    assert_eq!(
        lines("a {a} {} {a,b \"{a,b}\" {a\\,b,c} {,}"),
        ["a {a} {} {a,b {a,b} a,b c"]
    );
    assert_eq!(
        lines("a a{b,c}} {{a,b} {a,{b,c} ~{a,b}"),
        ["a ab} ac} {a {b {a,b {a,c ~a ~b"]
    );
    assert!(listed("a {1..9999}")[0].words[1].dynamic);
    let words = &listed("a {$x,b}")[0].words;
    assert!(words[1].dynamic && !words[2].dynamic);
}

#[test]
fn dynamic_words_keep_their_source_without_quotes() {
    let words = &listed("a \"x $y\" ~/z *.c '*' a[b]c [ $'\\t'")[0].words;
    assert_eq!(words[1].text, "x $y");
    assert!(words[1].dynamic);
    assert_eq!((words[2].text.as_str(), words[2].dynamic), ("~/z", false));
    assert!(words[3].glob && !words[4].glob && words[5].glob && !words[6].glob);
    assert_eq!(words[7].text, "\t");
}

#[test]
fn spans_point_into_the_text() {
    let text = "a; b $(c d) `e \\`f\\``; bash -c 'g h'; cat <<X\n$(i)\nX\n";
    let of = |line: &str| {
        let command = listed(text)
            .into_iter()
            .find(|command| command.line() == line);
        text[command.unwrap().span].to_owned()
    };
    assert_eq!(of("a"), "a");
    assert_eq!(of("c d"), "c d");
    assert_eq!(of("f"), "f");
    assert_eq!(of("g h"), "'g h'");
    assert_eq!(of("i"), "i");
    assert_eq!(of("b $(c d) `e \\`f\\``"), "b $(c d) `e \\`f\\``");
}

#[test]
fn nul_in_ansi_quotes_cuts_the_text() {
    assert_eq!(lines("a $'x\\0y'z"), ["a xz"]);
}
