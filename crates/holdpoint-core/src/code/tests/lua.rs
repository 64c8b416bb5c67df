//! Lua.

use super::{check, check_harmless};
use crate::code::Language::Lua;

#[test]
fn effects_are_found() {
    check(
        Lua,
        &[
            ("os.execute('rm -rf /')", "shell rm -rf /"),
            ("os.execute 'id'", "shell id"),
            ("os.execute[[id]]", "shell id"),
            ("local f = io.popen(\"id\")", "shell id"),
            ("os.remove('a' .. 'b')", "delete ab"),
            ("os.remove('a' .. x)", "delete a…"),
            ("os.rename('a', 'b')", "rename a b"),
            (
                "local f = io.open('x', 'w') f:write('y') f:close()",
                "write x",
            ),
            ("io.open('x')", "read x"),
            ("for l in io.lines('x') do print(l) end", "read x"),
            ("os['exec' .. 'ute']('id')", "shell id"),
            ("_G.os.execute('id')", "shell id"),
            ("local o = os o.execute('id')", "shell id"),
            ("load('os.remove(\"x\")')()", "delete x"),
            ("load(x)()", "eval; !Evaluates"),
            ("require('os').execute('id')", "shell id"),
            ("_G[x]()", "!DynamicName"),
            ("local function f() os.execute('id') end", "shell id"),
            ("if x then os.remove('y') end", "delete y"),
            ("local t = {os.execute}; t[1]('id')", "shell ?"),
            ("pcall(os.execute, 'id')", "shell ?"),
        ],
    );
}

#[test]
fn ordinary_code_gives_nothing() {
    check_harmless(
        Lua,
        &[
            "print('rm -rf /')",
            "print(1 + 1, 10 / 2)",
            "-- os.execute('x')\nprint(1)",
            "--[[ os.execute('x') ]] print(1)",
            "--[==[ ]] os.execute('x') ]==] print(1)",
            "local t = {1, 2, a = 3, ['b'] = 4} print(#t, t.a)",
            "for i, v in ipairs(t) do print(i, v) end",
            "for i = 1, 10 do print(i) end",
            "local function f(a, b) return a, b end print(f(1, 2))",
            "print(os.time(), os.date('%Y'), os.getenv('HOME'))",
            "print(string.format('%d', 1), ('x'):rep(3))",
            "io.write('x', '\\n')",
            "local s = io.read('*a') print(#s)",
            "while true do break end repeat until true",
            "print(x ~= y, not x, x and y or z)",
            "local m = require 'lpeg' print(m.version)",
            "goto done ::done:: print(1)",
            "print [[ os.execute('x') ]]",
            "local a <const> = 1",
            "setmetatable({}, {__index = function(t, k) return k end})",
        ],
    );
}
