//! Data is not code, and code that looks like data is.

use super::{lines, refused};
use crate::shell::{RedirectionKind, RefusalReason};

#[test]
fn comments_are_not_run() {
    assert_eq!(lines("a # rm x; rm y"), ["a"]);
    assert_eq!(lines("# rm x\na"), ["a"]);
    assert_eq!(lines("a # b \\\nc"), ["a", "c"]);
    assert_eq!(lines("a b#c"), ["a b#c"]);
}

#[test]
fn quoted_text_is_not_run() {
    assert_eq!(
        lines("git commit -m 'rm -rf / && $(x)'"),
        ["git commit -m rm -rf / && $(x)"]
    );
    assert_eq!(
        lines("echo \"rm x; y | z\" '`a`' \\$\\(b\\)"),
        ["echo rm x; y | z `a` $(b)"]
    );
    assert_eq!(lines("echo \"\\$(a) \\`b\\`\""), ["echo $(a) `b`"]);
}

#[test]
fn quoted_heredoc_body_is_not_run() {
    for delimiter in ["'EOF'", "\"EOF\"", "\\EOF", "E'O'F"] {
        let text = format!("cat <<{delimiter}\nrm x $(a) `b`\nEOF\nc");
        assert_eq!(lines(&text), ["cat", "c"], "{delimiter}");
    }
}

#[test]
fn commit_message_by_heredoc_lists_no_extra_command() {
    let text = "git commit -m \"$(cat <<'EOF'\nfix: it's `rm -rf /` (done)\nEOF\n)\"";
    let list = lines(text);
    assert_eq!(list.len(), 2);
    assert_eq!(list[1], "cat");
}

#[test]
fn unquoted_heredoc_body_runs_its_substitutions() {
    assert_eq!(
        lines("cat <<E\n$(a) `b` ${x:-$(c)} $((1+$(d))) \\$(e) 'f $(g)'\nE\n"),
        ["cat", "a", "b", "c", "d", "g"]
    );
}

#[test]
fn heredoc_ends_only_at_its_line() {
    assert_eq!(lines("cat <<E\n E\nE \nEE\nE\na"), ["cat", "a"]);
    assert_eq!(lines("cat <<-E\n\tx\n\tE\na"), ["cat", "a"]);
    assert_eq!(lines("cat <<-'E'\n\t\tx\n\t\tE\na"), ["cat", "a"]);
    assert_eq!(lines("cat <<E\nx\n\tE\nE\na"), ["cat", "a"]);
    assert_eq!(lines("cat <<E\nx\\\nE\nE\na"), ["cat", "a"]);
    assert_eq!(lines("cat <<EOF\nEO\\\nF\na"), ["cat", "a"]);
    assert_eq!(lines("cat <<E\r\nE\nE\r\na"), ["cat", "a"]);
}

#[test]
fn several_heredocs_follow_one_line() {
    assert_eq!(
        lines("a <<X; b <<'Y' | c <<Z\n$(d)\nX\n$(e)\nY\n$(f)\nZ\ng"),
        ["a", "d", "b", "c", "f", "g"]
    );
    assert_eq!(
        lines("cat <<X \"a\nb\"\n$(c)\nX\nd"),
        ["cat a\nb", "c", "d"]
    );
    assert_eq!(lines("(a <<X)\nb\nX\nc"), ["a", "c"]);
    assert_eq!(lines("if a <<X; then b; fi\nc\nX\nd"), ["a", "b", "d"]);
    assert_eq!(
        lines("cat <<X $(a\nb)\nbody\nX\nc"),
        ["cat $(a\nb)", "a", "b", "c"]
    );
}

#[test]
fn heredoc_ended_by_the_text_is_accepted() {
    assert_eq!(lines("cat <<E\nrm $(a)"), ["cat", "a"]);
    assert_eq!(lines("cat <<E"), ["cat"]);
    assert_eq!(lines("a $(cat <<E\nx\nE)\nb"), ["a x", "cat", "b"]);
    assert_eq!(
        refused("a $(cat <<E)\nx\nE"),
        RefusalReason::UnclosedHereDoc
    );
}

#[test]
fn heredoc_text_is_the_target_of_its_redirect() {
    let list = super::listed("cat <<E <<< y >>f 2>&1 >&g &>h <>i >|j <k\nx\nE\n");
    let kinds: Vec<_> = list[0]
        .redirects
        .iter()
        .map(|r| (r.kind, r.target.text.as_str()))
        .collect();
    assert_eq!(
        kinds,
        [
            (RedirectionKind::HereDocument, "x\n"),
            (RedirectionKind::HereString, "y"),
            (RedirectionKind::Append, "f"),
            (RedirectionKind::Duplicate, "1"),
            (RedirectionKind::Write, "g"),
            (RedirectionKind::Write, "h"),
            (RedirectionKind::ReadWrite, "i"),
            (RedirectionKind::Clobber, "j"),
            (RedirectionKind::Read, "k"),
        ]
    );
}

#[test]
fn backquotes_nest_by_escapes() {
    assert_eq!(lines("a `b \\`c \\\\\\`d\\\\\\`\\``").len(), 4);
    assert_eq!(lines("a \"`b \\\"x y\\\"`\"")[1], "b x y");
    assert_eq!(lines("cat <<E\n`a`\nE")[1], "a");
    assert_eq!(lines("a ${x:-`b`} \"${y:-`c`}\"")[1..], ["b", "c"]);
}

#[test]
fn single_quotes_inside_a_quoted_default_do_not_protect() {
    assert_eq!(lines("a \"${x:-'$(b)'}\"")[1], "b");
    assert_eq!(lines("a \"${x:-'}'}\" $(b)")[1], "b");
    assert_eq!(refused("a \"${x:-it's}\"; b"), RefusalReason::UnclosedQuote);
    // What quotes in an unquoted default protect is not followed; `b` does not run.
    assert_eq!(lines("a ${x:-'$(b)'}"), ["a ${x:-'$(b)'}"]);
}

#[test]
fn quoted_subscripts_are_still_evaluated() {
    assert_eq!(lines("test -v 'a[$(b)]'")[1], "b");
    assert_eq!(lines("unset 'a[$(b)]'")[1], "b");
    assert_eq!(lines("printf -v 'a[$(b)]' x")[1], "b");
    assert_eq!(lines("printf -v'a[$(b)]' x")[1], "b");
    assert_eq!(lines("[ 'a[$(b)]' -eq 1 ]")[1], "b");
    assert_eq!(lines("declare -i 'x=a[$(b)]'")[1], "b");
    assert_eq!(lines("x='a[$(b)]'; echo $((x))")[2], "b");
    assert_eq!(lines("x='a[$(b)]'; y[x]=1")[2], "b");
    assert_eq!(lines("x='a[$(b)]'; ((x))")[1], "b");
    assert_eq!(lines("let 'x=$(b)'")[1], "b");
    assert_eq!(lines("[[ 'a[$(b)]' -eq 1 ]]"), ["b"]);
    assert_eq!(lines("printf '%s' '$(b)'").len(), 1);
    assert_eq!(lines("printf '%s' 'a[$(b)]'").len(), 1);
    assert_eq!(lines("[ x = 'a[$(b)]' ]").len(), 1);
}
