//! What cannot be known is marked.

use super::listed;
use crate::opaque::Opaque;
use crate::opaque::Reason::{self, *};
use crate::shell::Command;

#[track_caller]
fn marked(reason: Reason, texts: &[&str]) {
    for text in texts {
        let list = listed(text);
        let found = list
            .iter()
            .any(|command| command.opaque.contains(&Opaque::run(reason)));
        assert!(found, "{text:?}: {list:?}");
    }
}

#[test]
fn a_program_that_is_an_expansion_is_marked() {
    marked(
        DynamicProgram,
        &[
            "$X a",
            "\"$(a)\" b",
            "`a` b",
            "/bin/r? x",
            "{$a,b}",
            "sudo $X a",
            "xargs env",
            "find . -exec {} \\;",
            "timeout 5 $X",
            "bash -c '$0' rm",
            "bash -c '\"$@\"' _ $X",
        ],
    );
}

#[test]
fn code_that_is_an_expansion_is_marked() {
    marked(
        DynamicCode,
        &[
            "eval \"$X\"",
            "sh -c \"$X\"",
            "trap \"$X\" EXIT",
            "bash -c \"rm $X\"",
            "ssh host $X",
            "bash $X",
            "source \"$X\"",
            "xargs sh -c",
            "xargs -I{} sh -c '{}'",
            "timeout $T rm",
            "eval $(a)",
            "echo ${x@P}",
            "find . -name x $ARGS",
            "python3 $X",
            "awk \"$X\" f",
        ],
    );
}

#[test]
fn known_parts_of_dynamic_code_are_still_listed() {
    let list = listed("bash -c \"cd $DIR && rm -rf y\"");
    assert!(list.iter().any(|command| command.line() == "rm -rf y"));
}

#[test]
fn a_shell_fed_from_outside_is_marked() {
    marked(
        PipedIntoShell,
        &[
            "cat u | sh",
            "bash < f",
            "sh <<< \"$X\"",
            "cat u | sudo bash -s -- a",
            "bash <(cat u)",
            ". <(cat u)",
            "cat u | (sh)",
            "cat u | tee f | bash",
            "sh <<E\n$x\nE\n",
            "cat u | { read a; bash; }",
            "cat u | while read x; do sh; done",
            "cat u | env sh",
            "cat u | ssh host",
            "cat u | source /dev/stdin",
            "a | zsh -",
            "a > >(sh)",
        ],
    );
    marked(
        ScriptFromInput,
        &[
            "bash",
            "sh -s",
            "cat u | python3",
            "a | perl",
            "a | node -",
            "python3 - < f",
            "awk '{print | \"sh\"}'",
        ],
    );
}

#[test]
fn code_from_the_network_is_told_from_other_input() {
    marked(
        Downloaded,
        &[
            "curl u | sh",
            "curl u | sudo bash -s -- a",
            "bash <(curl u)",
            ". <(curl u)",
            "curl u | (sh)",
            "curl u | tee f | bash",
            "curl u | { read a; bash; }",
            "curl u | while read x; do sh; done",
            "curl u | env sh",
            "curl u | ssh host",
            "curl u | source /dev/stdin",
            "curl u | python3",
            "eval \"$(curl u)\"",
        ],
    );
    marked(Decoded, &["base64 -d f | bash", "xxd -r f | sh"]);
}

#[test]
fn text_that_the_line_itself_pipes_into_a_shell_is_read() {
    let list = listed("echo -e 'a\\nb' | sh");
    let lines: Vec<String> = list.iter().map(Command::line).collect();
    assert!(lines.contains(&"a".to_owned()) && lines.contains(&"b".to_owned()));
    assert!(list.iter().all(|command| command.opaque.is_empty()));
}

#[test]
fn code_of_other_languages_that_cannot_be_followed_is_marked() {
    marked(
        InlineCode,
        &[
            "python -c 'exec(input())'",
            "python3.11 -Bc 'exec(input())'",
            "python3 -W ignore -c 'exec(input())'",
            "perl -e 'eval <STDIN>'",
            "perl -lane eval f",
            "ruby -e 'eval gets'",
            "node -e 'eval(process.argv[1])'",
            "node '--eval=eval(process.argv[1])'",
            "node -pe 'eval(process.argv[1])'",
            "php -r 'eval($argv[1]);'",
            "deno eval 'eval(Deno.args[0])'",
            "lua -e 'load(io.read())()'",
            "python3 <<E\nexec(input())\nE\n",
            "sed 's/a/b/e' f",
            "sed -n '1e a' f",
            "sed e",
            "sed -e p -e '1!e a'",
            "pwsh -Command '$o.Run()'",
            "osascript -e x",
        ],
    );
}

#[test]
fn code_of_other_languages_is_listed_by_what_it_runs() {
    for text in [
        "python -c 'import os; os.system(\"a x\")'",
        "perl -e 'system(\"a x\")'",
        "ruby -e 'system(\"a x\")'",
        "node -e 'require(\"child_process\").execSync(\"a x\")'",
        "php -r 'system(\"a x\");'",
        "lua -e 'os.execute(\"a x\")'",
        "awk 'BEGIN{system(\"a x\")}'",
        "awk -F: '{\"a x\" | getline y}' f",
        "vim -c ':!a x'",
        "vim '+!a x' f",
        "tmux send-keys 'a x' Enter",
        "python3 <<E\nimport os\nos.system('a x')\nE\n",
    ] {
        let list = listed(text);
        assert!(
            list.iter().any(|command| command.line() == "a x"),
            "{text:?}: {list:?}"
        );
        assert!(
            list.iter().all(|command| command.opaque.is_empty()),
            "{text:?}: {list:?}"
        );
    }
}

#[test]
fn settings_that_run_something_are_marked() {
    marked(
        ExecutableSetting,
        &[
            "git -c core.pager=x log",
            "git -c alias.y='!z' y",
            "git --exec-path=/t log",
            "GIT_SSH_COMMAND=x git pull",
            "PAGER=x man y",
            "LD_PRELOAD=x ls",
            "export BASH_ENV=x",
            "env LD_PRELOAD=x ls",
            "sudo EDITOR=x crontab -e",
            "BASH_ENV=x",
            "git config core.hooksPath x",
            "git -c core.sshCommand=\"$x\" fetch",
            "hash -p /t/x ls",
            "ssh -o ProxyCommand=x host",
            "NODE_OPTIONS='--require x' node y.js",
            "PS4='$(x)' bash -x y",
            "git -c protocol.ext.allow=always clone x",
            "declare -x PROMPT_COMMAND=x",
        ],
    );
}

#[test]
fn ordinary_commands_are_not_marked() {
    for text in [
        "ls $X",
        "git -c core.pager=cat log",
        "GIT_PAGER=cat git log",
        "PAGER= git log",
        "sed -n 's/a/b/gp' f",
        "sed -i '/e/d' f",
        "sed 's|/e|/e/|' f",
        "sed -e 's/x/e/;p' -e '$d' f",
        "sed '1,/a/{s/b/c/;n}' f",
        "awk '{print $1}' f",
        "awk -F: '$1==\"a\"||$2{print}' f",
        "awk '/a|b/{print $2}' f",
        "python3 x.py -c y",
        "python3 -m pytest -c x",
        "node x.js -e",
        "perl x.pl",
        "bash x.sh",
        "FOO=$y make",
        "git commit -m x",
        "NODE_OPTIONS=--max-old-space-size=4096 node x",
        "find $D -name x",
        "git config user.name x",
        "python3",
        "python3 -c 'print(1)'",
        "node -e 'console.log(1)'",
        "echo x | cat",
        "trap 'rm x' EXIT",
        "git -c user.name=x commit",
        "source x.sh",
        "vim +12 f",
        "sed 10q f",
        "sed '$!d' f",
        "sed -n '5,10p' f",
        "sed 's/a\\/e/b/' f",
        "cat f | sed 's/^/e /'",
        "env A=1 make",
        "bash < /dev/null",
    ] {
        for command in listed(text) {
            assert_eq!(command.opaque, [], "{text:?}: {command:?}");
        }
    }
}

#[test]
fn unreadable_code_is_marked_and_the_rest_is_listed() {
    marked(
        Unreadable,
        &[
            "bash -c 'if'; rm x",
            "zsh -c 'a =(b)'",
            "fish -c 'a (b)'",
            "eval '('",
            "a $(coproc b)",
            "a $(coproc N { b; })",
        ],
    );
    assert_eq!(listed("bash -c 'if'; rm x").len(), 2);
}

#[test]
fn wrapping_too_deep_is_marked() {
    let text = "sudo ".repeat(60) + "rm x";
    marked(TooDeep, &[&text]);
}
