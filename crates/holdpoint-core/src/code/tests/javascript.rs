//! JavaScript.

use super::{check, check_harmless};
use crate::code::Language::JavaScript;

#[test]
fn files_are_followed_to_their_paths() {
    check(
        JavaScript,
        &[
            (
                "require('fs').unlinkSync('/etc/passwd')",
                "delete /etc/passwd",
            ),
            (
                "const fs = require('node:fs'); fs.rmSync('/x', {recursive: true, force: true})",
                "delete -r /x",
            ),
            ("const {rmSync: r} = require('fs'); r('x')", "delete x"),
            (
                "const {rm} = require('fs').promises\nawait rm('x', opts)",
                "delete x",
            ),
            (
                "import {rm as del} from 'fs/promises'\nawait del('x')",
                "delete x",
            ),
            (
                "import fs, {readFile} from 'fs'; fs.writeFileSync('a', readFile('b'))",
                "read b; write a",
            ),
            (
                "import * as f from 'node:fs';\nf.appendFile(`log`, 'x', () => {})",
                "append log",
            ),
            ("import('fs').then(fs => fs.rmSync('x'))", "delete x"),
            ("(await import('fs')).rmSync('x')", "delete x"),
            ("require('fs')['rm' + 'Sync']('x')", "delete x"),
            ("require('fs').rmSync(`/tmp/${x}`)", "delete /tmp/…"),
            (
                "const p = require('path').join('/a', 'b'); require('fs').rmSync(p)",
                "delete /a/b",
            ),
            (
                "const path = require('path'); const fs = require('fs'), d = '/a'; fs.rmSync(path.join(d, 'b'))",
                "delete /a/b",
            ),
            (
                "for (const f of ['a', 'b']) require('fs').unlinkSync(f)",
                "delete a; delete b",
            ),
            ("['a'].forEach(require('fs').unlinkSync)", "delete ?"),
            ("files.forEach(f => fs.unlinkSync(f))", "delete ?"),
            ("require('fs').rmSync.call(null, 'x')", "delete x"),
            ("require('fs').rmSync.apply(null, ['x'])", "delete x"),
            ("require('fs').chmodSync('x', 0o777)", "mode x"),
            ("require('fs').renameSync('a', 'b')", "rename a b"),
            ("require('fs').cpSync('a', 'b')", "read a; write b"),
            ("require('fs').createWriteStream('x')", "write x"),
            ("require('fs-extra').removeSync('x')", "delete -r x"),
            ("await Deno.remove('x', {recursive: true})", "delete -r x"),
            ("Bun.write('x', 'y')", "write x"),
            (
                "function f() { g.rmSync('x') }\nconst g = require('fs')",
                "delete x",
            ),
            ("let p = 'a'; p = 'b'; require('fs').rmSync(p)", "delete ?"),
            ("(0, require('fs').rmSync)('x')", "delete x"),
            ("var a = {} /1; require('fs').rmSync('x') /1", "delete x"),
            (
                "var of = 4; of /1; require('fs').rmSync('x') /1",
                "delete x",
            ),
            ("//\u{2028}require('fs').rmSync('x')", "delete x"),
            ("// a\rrequire('fs').rmSync('x')", "delete x"),
            ("require\u{a0}('fs').rmSync('x')", "delete x"),
        ],
    );
}

#[test]
fn programs_are_lines_or_words() {
    check(
        JavaScript,
        &[
            (
                "require('child_process').execSync('rm -rf /')",
                "shell rm -rf /",
            ),
            (
                "const {exec} = require('child_process'); exec('id', (e, o) => console.log(o))",
                "shell id",
            ),
            (
                "const cp = require('child_process'); cp.spawn('rm', ['-rf', '/'], {stdio: 'inherit'})",
                "run rm|-rf|/",
            ),
            (
                "require('child_process').spawnSync('rm -rf', ['/'], {shell: true})",
                "shell rm -rf /",
            ),
            (
                "require('child_process').execFileSync('ls', args)",
                "run ls|?",
            ),
            (
                "const run = require('util').promisify(require('child_process').exec); run('id')",
                "shell id",
            ),
            (
                "process.mainModule.require('child_process').exec('id')",
                "shell id",
            ),
            (
                "globalThis.process.mainModule.require('child_process').exec('id')",
                "shell id",
            ),
            ("require('child_' + 'process').exec(cmd)", "shell ?"),
            ("require('child_process').exec(`ls ${d}`)", "shell ls …"),
            ("new Deno.Command('rm', {args: ['x']}).output()", "run rm|x"),
            ("Bun.spawn(['rm', 'x'])", "run rm|x"),
            ("import {$} from 'bun'; await $`rm -rf x`", "shell rm -rf x"),
            (
                "const e = require('child_process').exec\ne('id')",
                "shell id",
            ),
            ("module.exports = require('child_process').exec", "shell ?"),
            ("`${require('child_process').execSync('id')}`", "shell id"),
            (
                "fetch('https://a.b')\n  .then(r => r.text())",
                "connect https://a.b",
            ),
            (
                "require('https').get({hostname: 'a.b', path: '/'}, r => r)",
                "connect a.b",
            ),
            ("await fetch(url)", "connect ?"),
        ],
    );
}

#[test]
fn code_made_at_run_time_is_read_or_said() {
    check(
        JavaScript,
        &[
            ("eval(\"require('fs').rmSync('x')\")", "delete x"),
            (
                "new Function('return require(\"fs\").rmSync(\"x\")')()",
                "delete x",
            ),
            (
                "eval(atob('cmVxdWlyZSgnZnMnKS5ybVN5bmMoJ3gnKQ=='))",
                "delete x",
            ),
            ("eval(Buffer.from('31', 'hex').toString())", ""),
            ("eval(x)", "eval; !Evaluates"),
            ("globalThis['ev' + 'al'](x)", "eval; !Evaluates"),
            ("require(name)", "!DynamicName"),
            ("require('./' + name)", ""),
            ("require(__dirname + '/x')", ""),
            ("require('fs')[name]('x')", "!DynamicName"),
            ("require('vm').runInNewContext(code)", "eval; !Evaluates"),
            ("this.constructor.constructor('return 1')()", ""),
            ("x.constructor.constructor(y)()", "eval; !Evaluates"),
            ("process.binding('spawn_sync')", "!Native"),
            ("\\u0065val('1')", "!DynamicName"),
            ("Object.keys(require('fs'))", "!DynamicName"),
            ("const x = 'a", "!Unreadable"),
        ],
    );
}

#[test]
fn ordinary_code_gives_nothing() {
    check_harmless(
        JavaScript,
        &[
            "console.log(process.version)",
            "console.log('rm -rf /')",
            "console.log(require('./package.json').version)",
            "console.log(JSON.stringify({a: 1, b: [1, 2]}, null, 2))",
            "const m = /a(b)c/.exec('abc'); console.log(m[1])",
            "const re = new RegExp('x', 'g'); re.exec(s)",
            "console.log([1,2,3].map(x => x * 2).join(','))",
            "// require('fs').rmSync('x')\n1",
            "/* require('fs').rmSync('x') */ 1",
            "console.log(`a ${1 + 1} b`)",
            "let s = ''; process.stdin.on('data', d => s += d).on('end', () => console.log(JSON.parse(s).x))",
            "console.log(require('fs').existsSync('x'))",
            "console.log(require('os').cpus().length, require('path').sep)",
            "class A { exec(x) { return x } fetch(u) { return u } static f() {} }",
            "function exec(x) { return x }\nexec('rm')",
            "const o = {get x() { return 1 }, y: 2, ...z}",
            "const {a, b: {c}} = obj; console.log(a, c)",
            "for (let i = 0; i < 3; i++) { console.log(i / 2 / 3) }",
            "if (x) { y() } else if (z) w()",
            "const s = x ? 'a' : 'b'",
            "new Promise(r => setTimeout(r, 10)).then(() => console.log('done'))",
            "async function f() { await g(); return 1 }",
            "process.exit(0)",
            "console.log(a?.b ?? c, d?.[0], e?.())",
            "'use strict'; var x = 1, y = 2",
            "x.split(/['\"]/).filter(Boolean)",
            "str.replace(/\\//g, '-')",
            "const a = b / c; const d = e / f",
            "switch (x) { case 'a': break; default: y() }",
            "try { f() } catch (e) { console.error(e.message) } finally { g() }",
            "import React from 'react'\nimport './x.css'\nexport default function App() { return 1 }",
            "label: for (;;) { break label }",
            "db.exec('select x')",
            "const t = setTimeout(() => {}, 1); clearTimeout(t)",
            "console.log(typeof x === 'undefined', void 0, !x, -x, +x, ~x)",
            "const f = (a, b = 1) => ({a, b}); f(1)",
            "a\n  .b()\n  .c()",
            "#!/usr/bin/env node\nconsole.log(1)",
            "export const x = 1, y = () => {}",
            "const x = {'a-b': 1, [k]: 2, 3: 4}",
        ],
    );
}
