//! PHP.

use super::{check, check_harmless};
use crate::code::Language::Php;

#[test]
fn files_are_followed_to_their_paths() {
    check(
        Php,
        &[
            ("unlink('/etc/passwd');", "delete /etc/passwd"),
            ("UNLINK('x');", "delete x"),
            ("\\unlink('x');", "delete x"),
            ("@unlink('x');", "delete x"),
            ("$p = '/a' . '/b'; unlink($p);", "delete /a/b"),
            ("unlink(\"/tmp/$x\");", "delete /tmp/…"),
            ("unlink(\"/tmp/{$x['y']}\");", "delete /tmp/…"),
            ("unlink($argv[1]);", "delete ?"),
            (
                "foreach (['a', 'b'] as $f) { unlink($f); }",
                "delete a; delete b",
            ),
            ("array_map('unlink', glob('*'));", "delete ?"),
            ("rmdir('x');", "delete x"),
            ("file_put_contents('x', 'y');", "write x"),
            ("$f = fopen('x', 'w'); fwrite($f, 'y');", "write x"),
            ("fopen('x', 'a');", "append x"),
            ("echo file_get_contents('x');", "read x"),
            (
                "echo file_get_contents('https://a.b');",
                "connect https://a.b",
            ),
            ("rename('a', 'b');", "rename a b"),
            ("chmod('x', 0777);", "mode x"),
            ("copy('a', 'b');", "read a; write b"),
            ("<p><?php unlink('x'); ?></p>", "delete x"),
            ("<?= unlink('x') ?>", "delete x"),
            ("$f = 'unlink'; $f('x');", "delete x"),
            ("'unlink'('x');", "delete x"),
            ("call_user_func('unlink', 'x');", "delete x"),
            ("unlink('x'); // <?php", "delete x"),
            ("unlink(<<<E\nx\nE);", "delete x"),
        ],
    );
}

#[test]
fn programs_are_lines() {
    check(
        Php,
        &[
            ("system('rm -rf /');", "shell rm -rf /"),
            ("echo `id`;", "shell id"),
            ("exec('id', $out);", "shell id"),
            ("echo shell_exec('id');", "shell id"),
            ("passthru(\"ls $d\");", "shell ls …"),
            ("popen('id', 'r');", "shell id"),
            ("proc_open(['ls', '-l'], [], $p);", "run ls|-l"),
            ("$f = 'sys' . 'tem'; $f('id');", "shell id"),
            ("usort($a, 'system');", "shell ?"),
            ("base64_decode('c3lzdGVt')('id');", "shell id"),
            ("curl_init('https://a.b');", "connect https://a.b"),
            ("function f() { system('id'); } f();", "shell id"),
            ("$f = fn() => system('id');", "shell id"),
            ("echo \"{$x->y(system('id'))}\";", "shell id"),
        ],
    );
}

#[test]
fn code_made_at_run_time_is_read_or_said() {
    check(
        Php,
        &[
            ("eval('unlink(\"x\");');", "delete x"),
            ("eval(base64_decode('dW5saW5rKCJ4Iik7'));", "delete x"),
            ("eval($_GET['x']);", "eval; !Evaluates"),
            ("$_GET['f']('x');", "!DynamicName"),
            ("include $x;", "!DynamicName"),
            ("require 'vendor/autoload.php';", ""),
            ("require __DIR__ . '/x.php';", ""),
            ("array_map($f, [1]);", "!DynamicName"),
            ("unserialize($x);", "!Native"),
            ("echo 'a", "!Unreadable"),
        ],
    );
}

#[test]
fn ordinary_code_gives_nothing() {
    check_harmless(
        Php,
        &[
            "echo 1 + 1;",
            "echo 'rm -rf /';",
            "echo \"system('x')\";",
            "echo PHP_VERSION, PHP_EOL;",
            "echo json_encode(['a' => 1, 'b' => [1, 2]]);",
            "$x = json_decode('{\"a\":1}', true); echo $x['a'];",
            "// unlink('x')\necho 1;",
            "# unlink('x')\necho 1;",
            "/* unlink('x') */ echo 1;",
            "<html><body>unlink('x')</body></html>",
            "<?php echo 1; ?> it's <?php echo 2; ?>",
            "foreach ($a as $k => $v) { echo \"$k=$v\\n\"; }",
            "for ($i = 0; $i < 3; $i++) echo $i;",
            "function f($a, $b = 1) { return $a . $b; } echo f(1);",
            "class A { public function exec($x) { return $x; } private $y = 1; }",
            "$o = new A(); $o->exec('rm'); A::run('x');",
            "$f = function($x) use ($y) { return $x; }; $f(1);",
            "array_map(fn($x) => $x * 2, [1, 2]);",
            "array_map('trim', [' a']);",
            "usort($a, function($x, $y) { return $x <=> $y; });",
            "if (file_exists('x')) { echo 'y'; } else { echo 'n'; }",
            "echo $x ? 'a' : 'b', $y ?? 'c', $z ?: 'd';",
            "var_dump(preg_match('/a(b)/', 'ab', $m), $m[1]);",
            "echo implode(',', explode(' ', 'a b'));",
            "print_r(ini_get_all());",
            "phpinfo();",
            "echo <<<'E'\nit's unlink('x')\nE;\n",
            "echo <<<E\n a $x b\n E . 'c';",
            "try { f(); } catch (Exception $e) { echo $e->getMessage(); }",
            "namespace A\\B; use C\\D; echo D::class;",
            "switch ($x) { case 1: break; default: echo 2; }",
            "echo date('Y-m-d'), strlen('x'), 10 / 2 / 5, 7 % 3;",
            "$x .= 'a'; $y += 1; $z ??= 2;",
            "echo __FILE__, __LINE__;",
            "exit(0);",
            "echo number_format(1.5, 2);",
            "#[Attr] function g(): ?int { return null; }",
            "$a = [...$b, 1]; [$c, $d] = $a;",
            "echo \"\\$x \\\"y\\\" {$a['b']} ${c}\";",
            "static fn() => 1;",
        ],
    );
}
