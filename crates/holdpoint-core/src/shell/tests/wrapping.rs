//! Wrappers, each with its own options.

use super::{listed, wrapped};
use crate::shell::Wrapping::{Commanding, Incidental, Transparent};
use crate::shell::{Reached, Wrapping, commands_of_words};

#[track_caller]
fn runs(how: Wrapping, texts: &[&str]) {
    for text in texts {
        let found = wrapped(text);
        assert_eq!(
            found.last(),
            Some(&("rm x".to_owned(), how)),
            "{text:?}: {found:?}"
        );
    }
}

#[test]
fn transparent_wrappers_run_what_follows_their_options() {
    runs(
        Transparent,
        &[
            "timeout 5 rm x",
            "timeout -s KILL 5 rm x",
            "timeout --signal=KILL -k 1 5 rm x",
            "nice rm x",
            "nice -n 10 rm x",
            "nice -10 rm x",
            "nohup rm x &",
            "stdbuf -oL rm x",
            "stdbuf -o L rm x",
            "setsid rm x",
            "ionice -c2 -n 0 rm x",
            "chrt -f 1 rm x",
            "taskset -c 0 rm x",
            "command rm x",
            "command -p rm x",
            "builtin rm x",
            "exec rm x",
            "exec -a y rm x",
            "/usr/bin/time -f %e rm x",
            "\\time -p rm x",
            "/usr/bin/nice rm x",
            "flock /tmp/l rm x",
            "flock -n /tmp/l -c 'rm x'",
            "strace -f -o y rm x",
            "timeout 5 nice rm x",
            "time -v rm x",
        ],
    );
}

#[test]
fn commanding_wrappers_run_their_command() {
    runs(
        Commanding,
        &[
            "sudo rm x",
            "sudo -u root -- rm x",
            "sudo -nu root rm x",
            "sudo A=1 rm x",
            "'sudo' rm x",
            "/usr/bin/sudo rm x",
            "\\sudo rm x",
            "sudo --user=root rm x",
            "sudo --user root rm x",
            "doas -u root rm x",
            "pkexec rm x",
            "su -c 'rm x'",
            "su - root -c 'rm x'",
            "su root --command='rm x'",
            "runuser -u root -- rm x",
            "bash -c 'rm x'",
            "bash -lc 'rm x'",
            "bash -o pipefail -c 'rm x'",
            "bash -eo pipefail -c 'rm x'",
            "bash -c -e 'rm x'",
            "sh -c 'rm x' y z",
            "zsh -c 'rm x'",
            "dash -c 'rm x'",
            "fish -c 'rm x'",
            "bash +e -c 'rm x'",
            "/bin/sh -c \"rm x\"",
            "eval rm x",
            "eval 'rm x'",
            "eval -- 'rm' x",
            "trap 'rm x' EXIT",
            "ssh host rm x",
            "ssh -p 22 host rm x",
            "ssh -o A=b u@host 'rm x'",
            "ssh host -p 22 rm x",
            "docker run --rm -v /:/h img rm x",
            "docker run -it --name n img rm x",
            "docker exec -it c rm x",
            "docker exec -it c sh -c 'rm x'",
            "podman exec c rm x",
            "docker compose exec web rm x",
            "docker-compose -f a.yml run --rm web rm x",
            "docker --context c run img rm x",
            "docker run --entrypoint rm img x",
            "kubectl exec pod -- rm x",
            "kubectl exec -it pod -c y -- rm x",
            "kubectl -n z exec pod rm x",
            "chroot /mnt rm x",
            "nsenter -t 1 -m rm x",
            "unshare -r rm x",
            "busybox rm x",
            "script -c 'rm x' /dev/null",
            "systemd-run --user rm x",
            "bash <<E\nrm x\nE\n",
            "sh <<< 'rm x'",
            "echo rm x | sh",
            "printf '%s' 'rm x' | bash",
            "printf 'rm %s\\n' x | sh -s",
            "cat <<E | bash\nrm x\nE\n",
            "echo rm x | sudo bash",
            "{ sh; } <<< 'rm x'",
            "ssh host <<< 'rm x'",
            "echo 'rm x' | cat | sh -",
            "alias y='rm x'",
            "bash -c \"bash -c 'rm x'\"",
            "sudo sh -c 'rm x'",
            "su root -- -c 'rm x'",
            "sudo -s <<< 'rm x'",
            "sudo --unheard-of y rm x",
            "xterm -e rm x",
            "nix develop -c rm x",
            "command eval 'rm x'",
            "busybox sh -c 'rm x'",
            ". /dev/stdin <<< 'rm x'",
        ],
    );
}

#[test]
fn incidental_wrappers_run_a_command_among_their_work() {
    runs(
        Incidental,
        &[
            "env rm x",
            "env -i -u FOO A=1 B=2 rm x",
            "env - rm x",
            "env -S 'rm x'",
            "env A=$y rm x",
            "env \"A=$y\" rm x",
            "watch -n 1 rm x",
            "watch 'rm x'",
            "find . -exec rm x \\;",
            "git -c alias.y='!rm x' y",
            "git rebase -x 'rm x' main",
            "git bisect run rm x",
            "git submodule foreach 'rm x'",
            "tar --checkpoint-action=exec='rm x' -cf y z",
            "tar -cf y --to-command 'rm x' z",
            "rsync -e 'rm x' a b",
            "npx rm x",
            "uv run rm x",
            "split --filter='rm x' y",
            "git clone 'ext::rm x'",
            "poetry run rm x",
        ],
    );
}

#[test]
fn find_lists_its_commands_and_deletions() {
    assert_eq!(
        wrapped("find . -name x -exec rm {} \\; -exec ls {} +"),
        [
            ("rm {}".to_owned(), Incidental),
            ("ls {}".to_owned(), Incidental)
        ]
    );
    assert_eq!(
        wrapped("find /a b -delete"),
        [("rm -r /a b".to_owned(), Incidental)]
    );
    assert_eq!(
        wrapped("find -L -type f -delete"),
        [("rm -r .".to_owned(), Incidental)]
    );
    assert!(listed("find . -name x -exec rm {} \\;")[1].words[1].dynamic);
    assert!(wrapped("find . -name '-delete'x").is_empty());
    assert_eq!(
        wrapped("find . -execdir sh -c 'rm x' \\;")
            .last()
            .unwrap()
            .0,
        "rm x"
    );
}

#[test]
fn xargs_supplies_words_that_are_not_known() {
    for text in [
        "xargs rm",
        "xargs -0 -n 1 rm",
        "xargs -I{} rm {}",
        "xargs -I % rm %",
        "xargs -r -P4 rm",
    ] {
        let list = listed(text);
        assert_eq!(list[1].program(), Some("rm"), "{text:?}");
        assert!(list[1].words[1].dynamic, "{text:?}");
    }
    assert_eq!(wrapped("xargs sh -c 'rm x'").last().unwrap().0, "rm x");
    let list = listed("parallel rm ::: a b");
    assert_eq!(list[1].program(), Some("rm"));
    assert!(list[1].words[1].dynamic);
    assert_eq!(wrapped("parallel ::: 'rm x' 'ls y'").len(), 2);
}

#[test]
fn some_options_mean_that_nothing_is_run() {
    for text in [
        "command -v rm",
        "command -V rm",
        "sudo -l rm",
        "trap - EXIT",
        "trap '' INT",
        "trap INT",
        "ionice -p 1",
        "bash --version",
        "bash script.sh",
        "docker ps",
        "kubectl get pods",
        "ssh host",
        "git log",
        "xargs",
        "env",
        "env A=1",
        "docker run img",
        "exec >f",
    ] {
        assert!(wrapped(text).is_empty(), "{text:?}");
    }
}

#[test]
fn assignments_of_env_belong_to_the_inner_command() {
    let list = listed("env -i A=1 B=2 rm x");
    let names: Vec<_> = list[1]
        .assignments
        .iter()
        .map(|a| a.name.as_str())
        .collect();
    assert_eq!(names, ["A", "B"]);
}

#[test]
fn a_wrapper_is_named_by_its_place() {
    let list = listed("a; sudo nice rm x");
    assert_eq!(
        list[2].reached,
        Reached::Within {
            wrapper: 1,
            how: Commanding
        }
    );
    assert_eq!(
        list[3].reached,
        Reached::Within {
            wrapper: 2,
            how: Transparent
        }
    );
}

#[test]
fn words_without_a_shell_are_literal() {
    let list = commands_of_words(&["sudo", "rm", "$(x)", "*"]).unwrap();
    assert_eq!(list.len(), 2);
    assert_eq!(list[1].line(), "rm $(x) *");
    assert!(!list[1].words[1].dynamic && !list[1].words[2].glob);
    let list = commands_of_words(&["bash", "-c", "a; b $(c)"]).unwrap();
    assert_eq!(list.len(), 4);
    assert!(commands_of_words(&[]).unwrap().is_empty());
    assert!(commands_of_words(&["a", "\0"]).is_err());
}
