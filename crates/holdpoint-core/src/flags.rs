//! The flags of a command as rules compare them: apart, and under both of their names.

/// Adds `text` as a flag of `program`: `-rf` is `-rf`, `-r` and `-f`; `--force=x` is itself and
/// `--force`.
pub(crate) fn push(flags: &mut Vec<String>, program: &str, text: &str) {
    flags.push(text.to_owned());
    if text.starts_with("--") {
        if let Some((name, _)) = text.split_once('=') {
            flags.push(name.to_owned());
        }
    } else if is_cluster(text) && !LONG_BEHIND_ONE_DASH.contains(&program) {
        let mut seen = 0u128;
        for letter in text.chars().skip(1) {
            let own = 1u128.checked_shl(u32::from(letter)).unwrap_or_default();
            if seen & own == 0 {
                flags.push(format!("-{letter}"));
            }
            seen |= own;
        }
    }
}

/// `-rf`: several letters behind one dash, which may be several flags.
pub(crate) fn is_cluster(flag: &str) -> bool {
    !flag.starts_with("--") && flag.chars().count() > 2
}

/// Adds the other names of the flags a command has, long ones also when cut short (`--recurs`).
/// `words` are its words without flags.
pub(crate) fn add_other_names<'w>(
    flags: &mut Vec<String>,
    mut words: impl Iterator<Item = &'w str>,
) {
    let program = words.next().unwrap_or_default();
    if flags.is_empty() || program.is_empty() {
        return;
    }
    if !SAME.iter().any(|(command, _)| is_of(command, program)) {
        return;
    }
    let second = words.next().unwrap_or_default();
    let third = words.next().unwrap_or_default();
    for (command, names) in SAME {
        if !is_of(command, program) {
            continue;
        }
        let subcommand = command.get(program.len()..).unwrap_or_default();
        let applies = subcommand.strip_prefix(' ').is_none_or(|named| {
            let behind = named.strip_prefix(second);
            let rest = behind.and_then(|rest| rest.strip_prefix(' '));
            named == second || rest == Some(third)
        });
        let given = |name: &str| {
            flags
                .iter()
                .any(|flag| flag == name || is_cut_short(flag, name))
        };
        if applies && names.iter().any(|name| given(name)) {
            for name in *names {
                if !flags.iter().any(|flag| flag == name) {
                    flags.push((*name).to_owned());
                }
            }
        }
    }
}

/// Whether a command that is written out begins with a program.
fn is_of(command: &str, program: &str) -> bool {
    matches!(command.as_bytes().get(program.len()), None | Some(b' '))
        && command.starts_with(program)
}

fn is_cut_short(flag: &str, name: &str) -> bool {
    flag.len() > 2 && flag.starts_with("--") && name.starts_with(flag)
}

/// How many of a program's words are options that stand before its subcommand: `-C /repo` in
/// `git -C /repo push`.
pub(crate) fn before_subcommand<'w>(program: &str, words: impl Iterator<Item = &'w str>) -> usize {
    let Some((_, with_value)) = GLOBAL.iter().find(|(name, _)| *name == program) else {
        return 0;
    };
    let mut value_next = false;
    for (count, word) in words.enumerate() {
        if value_next {
            value_next = false;
        } else if word.starts_with(['-', '+']) && word != "--" {
            value_next = with_value.contains(&word);
        } else {
            return count;
        }
    }
    // Options and no subcommand: they are all there is.
    0
}

/// Programs with subcommands, and those of their own options that take the next word.
const GLOBAL: &[(&str, &[&str])] = &[
    ("cargo", &["--config", "-C", "-Z", "--color"]),
    (
        "docker",
        &[
            "-H",
            "--host",
            "-c",
            "--context",
            "--config",
            "-l",
            "--log-level",
        ],
    ),
    (
        "git",
        &[
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--super-prefix",
            "--config-env",
        ],
    ),
    (
        "helm",
        &["-n", "--namespace", "--kube-context", "--kubeconfig"],
    ),
    (
        "kubectl",
        &[
            "-n",
            "--namespace",
            "--context",
            "--cluster",
            "--user",
            "--kubeconfig",
            "-s",
            "--server",
        ],
    ),
    ("npm", &["--prefix", "--registry", "-w", "--workspace"]),
    (
        "podman",
        &["--url", "-c", "--connection", "--log-level", "--root"],
    ),
];

/// Programs whose options are words behind one dash, not letters.
pub(crate) const LONG_BEHIND_ONE_DASH: &[&str] = &[
    "bfs",
    "cc",
    "clang",
    "clang++",
    "ffmpeg",
    "find",
    "g++",
    "gcc",
    "go",
    "java",
    "javac",
    "openssl",
    "terraform",
];

/// Flags with several names, for the programs whose rules people write.
const SAME: &[(&str, &[&str])] = &[
    ("chmod", &["-R", "--recursive"]),
    ("chown", &["-R", "--recursive"]),
    ("cp", &["-r", "-R", "--recursive"]),
    ("cp", &["-f", "--force"]),
    ("docker container rm", &["-f", "--force"]),
    ("docker image prune", &["-a", "--all"]),
    ("docker rm", &["-f", "--force"]),
    ("docker rm", &["-v", "--volumes"]),
    ("docker rmi", &["-f", "--force"]),
    ("docker system prune", &["-a", "--all"]),
    ("docker system prune", &["-f", "--force"]),
    ("docker volume prune", &["-a", "--all"]),
    ("docker volume prune", &["-f", "--force"]),
    ("docker volume rm", &["-f", "--force"]),
    ("git branch", &["-d", "--delete"]),
    ("git branch", &["-f", "--force"]),
    ("git checkout", &["-f", "--force"]),
    ("git clean", &["-f", "--force"]),
    ("git push", &["-d", "--delete"]),
    ("git push", &["-f", "--force"]),
    ("git rm", &["-f", "--force"]),
    ("mv", &["-f", "--force"]),
    ("rm", &["-f", "--force"]),
    ("rm", &["-r", "-R", "--recursive"]),
    ("sed", &["-i", "--in-place"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_has_all_its_names() {
        let mut flags = Vec::new();
        push(&mut flags, "rm", "-Rf");
        add_other_names(&mut flags, ["rm", "x"].into_iter());
        assert_eq!(flags, ["-Rf", "-R", "-f", "--force", "-r", "--recursive"]);
    }

    #[test]
    fn a_long_flag_may_be_cut_short() {
        let mut flags = vec!["--recurs".to_owned()];
        add_other_names(&mut flags, ["rm", "x"].into_iter());
        assert!(flags.iter().any(|flag| flag == "-r"));
    }

    #[test]
    fn another_program_has_other_flags() {
        let mut flags = vec!["-f".to_owned()];
        add_other_names(&mut flags, ["grep", "x"].into_iter());
        assert_eq!(flags, ["-f"]);
    }
}
