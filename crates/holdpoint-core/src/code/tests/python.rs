//! Python.

use super::{check, check_harmless};
use crate::code::Language::Python;

#[test]
fn files_are_followed_to_their_paths() {
    check(
        Python,
        &[
            ("import os; os.remove('/etc/passwd')", "delete /etc/passwd"),
            ("import os\nos.unlink('a' 'b')", "delete ab"),
            (
                "import shutil; shutil.rmtree(\"/home\" + '/me')",
                "delete -r /home/me",
            ),
            ("from shutil import rmtree as r\nr('/x')", "delete -r /x"),
            ("from os import *\nremove('x')", "delete x"),
            ("import os as o, sys\no.rmdir(sys.argv[1])", "delete ?"),
            (
                "from pathlib import Path; Path('a', 'b').unlink()",
                "delete a/b",
            ),
            (
                "import pathlib\n(pathlib.Path('/a') / 'b').write_text('x')",
                "write /a/b",
            ),
            (
                "from pathlib import Path\nfor p in Path('.').glob('*.pyc'):\n    p.unlink()",
                "delete ./…",
            ),
            ("open('x', 'w').write('y')", "write x"),
            ("with open('x', mode='a') as f:\n  f.write('1')", "append x"),
            ("open(file='x')", "read x"),
            ("open('x', m)", "write x"),
            ("p = '/tmp/x'\nopen(p, 'w')", "write /tmp/x"),
            (
                "import os; p = os.path.join('/a', 'b', 'c'); os.remove(p)",
                "delete /a/b/c",
            ),
            (
                "import os\nfor f in ['a', 'b']:\n    os.remove(f)",
                "delete a; delete b",
            ),
            (
                "import os\n[os.remove(f) for f in ('a', 'b')]",
                "delete a; delete b",
            ),
            ("import os; os.remove(f'/tmp/{name}')", "delete /tmp/…"),
            ("import os; os.remove(f'/tmp/{{x}}')", "delete /tmp/{x}"),
            ("import os; os.remove('/tmp/%s' % n)", "delete /tmp/…"),
            ("import os; os.remove('/tmp/{}'.format(n))", "delete /tmp/…"),
            ("import os; os.chmod('x', 0o777)", "mode x"),
            ("import os; os.rename('a', 'b')", "rename a b"),
            ("import shutil; shutil.copy('a', 'b')", "read a; write b"),
            ("import os; os.open('x', os.O_RDONLY)", "read x"),
            (
                "import os; os.open('x', os.O_WRONLY | os.O_CREAT)",
                "write x",
            ),
            (
                "import os\ndef f(p):\n  os.remove(p)\np = 'x'\nf(p)",
                "delete ?",
            ),
            ("import os\np = 'x'\np += y\nos.remove(p)", "delete ?"),
            ("# a\ros.remove('x')", "delete x"),
        ],
    );
}

#[test]
fn names_of_a_function_are_its_own() {
    check(
        Python,
        &[
            (
                "import os\ndef a():\n    p = '/a'\n    os.remove(p)\ndef b():\n    p = '/b'\n",
                "delete /a",
            ),
            (
                "import os\ndef a(p):\n    pass\np = '/a'\nos.remove(p)",
                "delete /a",
            ),
            (
                "import os\np = '/a'\ndef a():\n    q = 1\n    os.remove(p)\n",
                "delete /a",
            ),
            (
                "import os\nclass A:\n    def a(self):\n        p = '/a'\n        os.remove(p)\n    def b(self, p):\n        p = 2\n",
                "delete /a",
            ),
            (
                "import os\ndef a():\n    p = '/a'\n    def b():\n        os.remove(p)\n    b()\np = 3",
                "delete /a",
            ),
            (
                "import os\np = '/home'\ndef a():\n    x = '''\nb'''\n    p = '/a'\n    os.remove(p)",
                "delete /a",
            ),
        ],
    );
}

#[test]
fn what_looks_like_a_name_of_a_function_and_is_none_is_not_told() {
    check(
        Python,
        &[
            // The value of a parameter is whoever's that calls.
            (
                "import os\ndef a(p):\n    os.remove(p)\np = '/a'\n",
                "delete ?",
            ),
            (
                "import os\np = '/home'\ndef a():\n    global p\n    p = '/a'\na()\nos.remove(p)",
                "delete ?",
            ),
            (
                "import os\ndef a():\n    p = '/home'\n    def b():\n        nonlocal p\n        p = '/a'\n    os.remove(p)",
                "delete ?",
            ),
            // The name of a comprehension, and of a class, is not that of the function around it.
            (
                "import os\np = '/home'\ndef a():\n    [p for p in ['/a']]\n    os.remove(p)",
                "delete ?",
            ),
            (
                "import os\np = '/home'\ndef a():\n    class C:\n        p = '/a'\n    os.remove(p)",
                "delete ?",
            ),
            (
                "import os\np = '/home'\ndef a():\n    (lambda p: 1)(2)\n    os.remove(p)",
                "delete ?",
            ),
            // A default is worked out outside of the function.
            (
                "import os\np = '/home'\ndef a(q=os.remove(p)):\n    p = '/a'\n",
                "delete /home",
            ),
            // Where lines go on in the next one nothing is told apart.
            (
                "import os\np = '/home'\ndef a():\n    x = 1 + \\\n2\n    p = '/a'\n    os.remove(p)",
                "delete ?",
            ),
        ],
    );
}

#[test]
fn programs_are_lines_or_words() {
    check(
        Python,
        &[
            ("import os; os.system('rm -rf /')", "shell rm -rf /"),
            ("__import__('os').system('id')", "shell id"),
            (
                "import importlib; importlib.import_module('os').popen('id')",
                "shell id",
            ),
            (
                "import subprocess; subprocess.run(['rm', '-rf', '/'])",
                "run rm|-rf|/",
            ),
            (
                "import subprocess as s; s.call('rm -rf /', shell=True)",
                "shell rm -rf /",
            ),
            ("from subprocess import Popen\nPopen('ls')", "run ls"),
            (
                "import subprocess; subprocess.run(args=['ls', d])",
                "run ls|?",
            ),
            (
                "import subprocess; subprocess.check_output(['git', 'log'] + extra)",
                "run git|log|?",
            ),
            (
                "import subprocess; cmd = ['rm', 'x']; subprocess.run(cmd)",
                "run rm|x",
            ),
            (
                "import subprocess; cmd = ['rm']; cmd.append('x'); subprocess.run(cmd)",
                "run ?",
            ),
            (
                "import subprocess; subprocess.run('git log'.split())",
                "run git|log",
            ),
            ("import os; os.execl('/bin/rm', 'rm', 'x')", "run /bin/rm|x"),
            (
                "import os; os.execvp('rm', ['rm', '-rf', 'x'])",
                "run rm|-rf|x",
            ),
            ("import pty; pty.spawn('/bin/sh')", "run /bin/sh|-i"),
            ("import os; os.system(b'id'.decode())", "shell id"),
            ("import os; os.system(chr(105) + chr(100))", "shell id"),
            (
                "import os, base64; os.system(base64.b64decode('aWQ=').decode())",
                "shell id",
            ),
            ("import os; os.system(''.join(['i', 'd']))", "shell id"),
            ("import os; os.system('di'[::-1])", "shell id"),
            ("import os; os.system(input())", "shell ?"),
            ("import os; s = os.system; s('id')", "shell id"),
            ("import os; getattr(os, 'sys' + 'tem')('id')", "shell id"),
            ("import sys; sys.modules['os'].system('id')", "shell id"),
            ("import os; os.system.__call__('id')", "shell id"),
            ("import os; list(map(os.system, ['id']))", "shell ?"),
            ("import os; d = {'a': os.system}; d['a']('id')", "shell id"),
            ("print(f\"{__import__('os').system('id')}\")", "shell id"),
            (
                "print(f'{__import__(\"os\").system(\"id\"):>10}')",
                "shell id",
            ),
            ("import os\ndef f(): return os.system\nf()('id')", "shell ?"),
            (
                "import os\ntry:\n  pass\nfinally:\n  os.system('id')",
                "shell id",
            ),
            ("def f():\n  os.system('id')\nimport os", "shell id"),
            ("import os; {os.system}.pop()('id')", "shell ?"),
            (
                "[m for m in sys.modules.values()][0].system('id')",
                "shell id",
            ),
        ],
    );
}

#[test]
fn the_network_is_named() {
    check(
        Python,
        &[
            (
                "import urllib.request; urllib.request.urlopen('http://a.b/c')",
                "connect http://a.b/c",
            ),
            (
                "import requests as r; r.post('https://a.b', data=d)",
                "connect https://a.b",
            ),
            (
                "import requests; requests.get(f'https://a.b/{x}')",
                "connect https://a.b/…",
            ),
            (
                "import socket; s = socket.socket(); s.connect(('a.b', 80))",
                "connect a.b",
            ),
            (
                "from urllib.request import urlretrieve\nurlretrieve('http://a', 'f')",
                "connect http://a; write f",
            ),
        ],
    );
}

#[test]
fn code_made_at_run_time_is_read_or_said() {
    check(
        Python,
        &[
            ("exec('import os; os.remove(\"x\")')", "delete x"),
            (
                "eval(compile('open(\"x\", \"w\")', 'f', 'exec'))",
                "write x",
            ),
            (
                "import base64; exec(base64.b64decode('aW1wb3J0IG9zOyBvcy5yZW1vdmUoJ3gnKQ=='))",
                "delete x",
            ),
            ("exec(open('x.py').read())", "read x.py; eval; !Evaluates"),
            ("eval(input())", "eval; !Evaluates"),
            ("__import__(name)", "!DynamicName"),
            ("import os; getattr(os, name)('x')", "!DynamicName"),
            ("import os; vars(os)['system']('id')", "!DynamicName"),
            ("import os; os.__dict__['system']('id')", "!DynamicName"),
            (
                "import ctypes; ctypes.CDLL(None).system(b'id')",
                "shell id; !Native",
            ),
            ("().__class__.__base__.__subclasses__()", "!DynamicName"),
            ("import pickle; pickle.loads(b'x')", "!Native"),
            ("globals()['x']", "!DynamicName"),
            ("ｅval('1')", "!DynamicName"),
            ("print('a", "!Unreadable"),
            ("exec(\"exec(\\\"exec('exec(1)')\\\")\")", ""),
        ],
    );
}

#[test]
fn ordinary_code_gives_nothing() {
    check_harmless(
        Python,
        &[
            "print(1+1)",
            "print('rm -rf /')",
            "import json,sys; print(json.load(sys.stdin)['x'])",
            "import sys; print(sys.version)",
            "import os; print(os.getcwd())",
            "import os; print(os.environ['HOME'])",
            "import os; print(os.listdir('.'))",
            "import os; print(len(os.listdir('.')))",
            "import os.path; print(os.path.exists('x'))",
            "x = [i for i in range(10) if i % 2]; print(x)",
            "# os.system('x')\nprint(1)",
            "\"\"\"os.system('x')\"\"\"\nprint(2)",
            "print(\"it's\", 'a \"b\"')",
            "import re; print(re.sub(r'\\d+', 'x', 'a1'))",
            "d = {'a': 1, 'b': [1, 2]}\nprint(d['a'], d.get('b'))",
            "print(f'{1:>10} {x!r} {y=}')",
            "def remove(x):\n    return x\nremove('a')",
            "class A:\n    def open(self): pass\n    def exec(self, x): return x\n",
            "items = []; items.remove(1); items.append(2)",
            "import yaml; print(yaml.safe_load('a: 1'))",
            "import datetime; print(datetime.datetime.now().isoformat())",
            "import django; print(django.VERSION)",
            "from collections import Counter; print(Counter('abc').most_common(1))",
            "import numpy as np; print(np.zeros((2,3)).sum())",
            "print(*[1,2], sep=',')",
            "import sys; sys.stdout.write('x')",
            "import asyncio\nasync def f():\n  await g()\nasyncio.run(f())",
            "lambda x: x + 1",
            "s = 'a' if x else 'b'\nprint(s)",
            "print({k: v for k, v in zip('ab', [1, 2])})",
            "import sqlite3; sqlite3.connect(':memory:').execute('select 1')",
            "try:\n  import json\nexcept ImportError:\n  json = None",
            "print(getattr(x, 'y', None))",
            "print(getattr(x, name))",
            "import torch; m = torch.nn.Linear(1, 2); m.eval(); print(m)",
            "df.eval('a+b')",
            "import os; print([f for f in os.listdir('.') if f.endswith('.py')])",
            "print(r'a\\b')\nprint('x')",
            "x: int = 1\nprint(x)",
            "match x:\n  case 1: print(1)",
            "print(b'\\xff\\x00', u'é', 'ü')",
            "import os; os.environ['A'] = '1'",
            "import platform; print(platform.system())",
            "a, b = 1, 2\na = b = 3\nprint(a @ b, a // b, a ** b, a << b, ~a)",
        ],
    );
}
