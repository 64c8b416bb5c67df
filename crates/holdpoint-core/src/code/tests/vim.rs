//! Vim.

use super::{check, check_harmless};
use crate::code::Language::Vim;

#[test]
fn effects_are_found() {
    check(
        Vim,
        &[
            (":!rm -rf /", "shell rm -rf /"),
            ("!id | cat", "shell id | cat"),
            ("%!sort", "shell sort"),
            ("1,$!sort -u", "shell sort -u"),
            ("r !id", "shell id"),
            ("read !id", "shell id"),
            ("r x", "read x"),
            ("w !sudo tee %", "shell sudo tee …"),
            ("w! x", "write x"),
            ("write x | q", "write x"),
            ("w >> x", "append x"),
            ("wq", "write ?"),
            ("x", "write ?"),
            ("sil! exe '!id'", "shell id"),
            ("call system('id')", "shell id"),
            ("call system('ls ' . x)", "shell ls …"),
            ("echo system(\"id\") | q", "shell id"),
            ("call delete('x')", "delete x"),
            ("call delete('x', 'rf')", "delete -r x"),
            ("call writefile(['a'], 'x')", "write x"),
            ("call rename('a', 'b')", "rename a b"),
            ("terminal id", "shell id"),
            ("lua os.execute('id')", "shell id"),
            ("py3 import os; os.system('id')", "shell id"),
            ("python3 open('x', 'w')", "write x"),
            ("exe cmd", "eval; !Evaluates"),
            ("g/x/!id", "shell id"),
            ("bufdo !id", "shell id"),
            ("au BufRead * !id", "shell id"),
            ("set shell=/bin/evil", "!Evaluates"),
            ("norm :!id", "!Evaluates"),
            ("PlugInstall", "!DynamicName"),
            ("make all", "shell make all"),
            ("e http://a.b", "connect http://a.b"),
            ("set nu\n!id\n\" !no", "shell id"),
            ("call libcall('libc.so', 'system', 'id')", "!Native"),
        ],
    );
}

#[test]
fn ordinary_commands_give_nothing() {
    check_harmless(
        Vim,
        &[
            "q",
            ":qa!",
            "set nu",
            "set ts=4 sw=4 et",
            "%s/foo/bar/g",
            "s/a|b/c/",
            "g/^$/d",
            "normal Gdd",
            "10",
            "$",
            "syntax on",
            "\" !rm",
            "echo 'rm -rf /'",
            "echo \"system('x')\"",
            "let x = 'delete(1)'",
            "colorscheme desert",
            "1,3d | 5m0",
            "'<,'>y",
            "if has('x') | echo 1 | endif",
            "nohlsearch",
        ],
    );
}
