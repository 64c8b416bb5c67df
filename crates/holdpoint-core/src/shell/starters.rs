//! Programs whose business is to run what they are given: a rule that lets such a program run lets
//! anything run.
//!
//! Most of it is not listed here but tried: a program that is followed by commands and would run
//! one of them is a starter, by whichever table says so.

use super::commands::{Reached, commands_of_words};
use super::interpreters;
use super::launchers;
use super::names::Names;
use super::wrappers;
use crate::paths::base_name;
use crate::rules::{self, SHELLS};

/// Those that run code or lines no other table of this reader has a place for.
const OTHERS: Names = Names::new(
    "eval source . exec trap alias at batch crontab pkexec sudoedit java jshell ghci groovysh rake \
     psql mysql mariadb sqlite3 duckdb sqlplus cqlsh mongo mongosh redis-cli awk gawk mawk nawk",
);

/// How far into a command its subcommands may stand.
const DEPTH: usize = 6;

/// Whether a command with these words, program first, runs others, or would if more words followed.
pub(crate) fn starts_others(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let name = base_name(first);
    let subcommand = rest.iter().find(|word| !word.starts_with('-')).copied();
    SHELLS.contains(name)
        || OTHERS.contains(name)
        || interpreters::is_interpreter(name)
        || launchers::is_launcher(name)
        || wrappers::find(name, subcommand).is_some()
        || (rules::program(name).is_some() && is_tempted(words))
}

/// Whether a name is that of a program something is known of, or a built-in of the shell.
pub(crate) fn is_program(name: &str) -> bool {
    rules::program(name).is_some()
        || SHELLS.contains(name)
        || OTHERS.contains(name)
        || launchers::is_launcher(name)
        || interpreters::is_interpreter(name)
        || wrappers::find(name, None).is_some()
}

/// Whether some beginning of the words, followed by a command, runs that command. Only a program
/// that is described can be tried: of any other, every word may be a command.
fn is_tempted(words: &[&str]) -> bool {
    (1..=words.len().min(DEPTH)).any(|count| {
        let own = words.get(..count).unwrap_or_default().iter().copied();
        let line: Vec<&str> = own.chain(["rm", "rm", "rm"]).collect();
        commands_of_words(&line).is_ok_and(|commands| {
            commands
                .iter()
                .any(|command| matches!(command.reached, Reached::Within { .. }))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(line: &str) -> bool {
        starts_others(&line.split(' ').collect::<Vec<_>>())
    }

    #[test]
    fn interpreters_wrappers_and_launchers_start_others() {
        for line in [
            "sh x.sh",
            "bash -c ls",
            "/usr/bin/python3.12 x.py",
            "node x.js",
            "perl x.pl",
            "ruby x.rb",
            "env",
            "env ls",
            "xargs ls",
            "sudo ls",
            "nohup ls",
            "timeout 5 ls",
            "ssh host",
            "ssh host ls",
            "docker exec box ls",
            "docker run alpine",
            "docker compose run web",
            "docker --context x compose exec web",
            "podman run alpine",
            "kubectl exec pod",
            "kubectl -n prod exec pod",
            "npx tsc",
            "npm exec tsc",
            "uv run x",
            "poetry run pytest",
            "bundle exec rspec",
            "git bisect run make",
            "git submodule foreach ls",
            "tmux new",
            "watch ls",
            "eval ls",
            "source x",
            "psql db",
            "awk 1",
            "vim x",
            "just build",
            "busybox ls",
        ] {
            assert!(starts(line), "{line}");
        }
    }

    #[test]
    fn other_programs_do_not() {
        for line in [
            "ls",
            "ls -la x",
            "git push origin main",
            "git -C dir status",
            "cargo test",
            "npm run build",
            "npm install x",
            "make test",
            "docker compose up",
            "docker ps",
            "kubectl get pods",
            "kubectl -n prod get pods",
            "find . -name x",
            "grep x y",
            "tar xzf x.tgz",
            "terraform plan",
            "systemctl status nginx",
            "unheard-of tool",
        ] {
            assert!(!starts(line), "{line}");
        }
    }
}
