//! What git would lose: asked of git itself, by commands that only read, with everything switched
//! off by which a repository could have a program run.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use holdpoint_core::ExplainedCommand;

use super::deletions::Count;
use super::quiet::{self, Output};
use super::{Known, MAX_LISTED, NO_SIMULATION};
use crate::humanize::counted;

/// Settings by which a repository has something run, or somebody asked. What comes with `-c` stands
/// above what the repository says.
const HARMLESS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.untrackedCache=keep",
    "credential.helper=",
    "diff.external=",
    "diff.submodule=short",
    "gpg.program=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

pub(super) fn simulate(command: &ExplainedCommand, directory: Option<&Path>) -> Option<Known> {
    let words: Vec<&str> = command.words.iter().skip(1).map(String::as_str).collect();
    let (at, words) = match before_subcommand(&words) {
        Ok(found) => found,
        Err(why) => return Some(Known::nothing(why)),
    };
    let (subcommand, rest) = words.split_first()?;
    let ask = match READERS.contains(subcommand) {
        true => return None,
        false => asked(subcommand, rest),
    };
    let Some(ask) = ask else {
        return Some(Known::nothing(NO_SIMULATION));
    };
    if words.iter().any(|word| word.contains('…')) {
        return Some(Known::nothing(
            "what it is about is only known when it runs",
        ));
    }
    let Some(directory) = directory else {
        return Some(Known::nothing("where it runs is only known when it does"));
    };
    let directory = at
        .iter()
        .fold(directory.to_owned(), |all, one| all.join(one));
    let repository = match Repository::at(&directory) {
        Ok(repository) => repository,
        Err(why) => return Some(Known::nothing(&why)),
    };
    let known = match ask {
        Ask::Nothing(why) => Ok(Known::all(vec![why.to_owned()])),
        Ask::Changes { paths, rev } => repository.changes(&paths, rev),
        Ask::Clean { arguments } => repository.clean(&arguments),
        Ask::Branches { names, remote } => repository.branches(&names, remote),
        Ask::Push(push) => repository.push(&push),
        Ask::StashDrop(which) => repository.stash(Some(which)),
        Ask::StashClear => repository.stash(None),
    };
    Some(known.unwrap_or_else(|why| Known::nothing(&format!("it cannot be said: {why}"))))
}

/// Whether nothing is uncommitted in the worktree around a directory, files git does not know among it; none if git does not
/// say so in time.
pub(super) fn is_clean(directory: &Path, time: Duration) -> Option<bool> {
    let repository = Repository::until(directory, Some(Instant::now() + time)).ok()?;
    let said = repository.ask(&["status", "--porcelain", "-z", "--ignore-submodules=dirty"]);
    Some(said.ok()?.text.is_empty())
}

/// Subcommands that lose nothing.
const READERS: &[&str] = &[
    "blame",
    "cat-file",
    "describe",
    "diff",
    "fetch",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "show",
    "rev-list",
    "rev-parse",
    "shortlog",
    "status",
    "version",
];

/// The directories named by `-C`, and the words from the subcommand on.
fn before_subcommand<'w>(words: &[&'w str]) -> Result<(Vec<&'w str>, Vec<&'w str>), &'static str> {
    let mut directories = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "-C" => directories.extend(words.next()),
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => {}
            flag if flag.starts_with('-') => {
                return Err("its options change what git looks at, so it is not simulated");
            }
            subcommand => {
                let rest = [subcommand].into_iter().chain(words).collect();
                return Ok((directories, rest));
            }
        }
    }
    Ok((directories, Vec::new()))
}

/// What there is to find out.
#[derive(Debug)]
enum Ask<'w> {
    Nothing(&'static str),
    /// Changes of tracked files that are overwritten, and commits that are left behind.
    Changes {
        paths: Vec<&'w str>,
        rev: Option<&'w str>,
    },
    Clean {
        arguments: Vec<&'w str>,
    },
    Branches {
        names: Vec<&'w str>,
        remote: bool,
    },
    Push(Push<'w>),
    StashDrop(&'w str),
    StashClear,
}

#[derive(Debug)]
struct Push<'w> {
    remote: Option<&'w str>,
    refspecs: Vec<&'w str>,
    deletes: bool,
}

/// What a subcommand would lose; none if that cannot be told.
fn asked<'w>(subcommand: &str, rest: &[&'w str]) -> Option<Ask<'w>> {
    let end = rest.iter().position(|word| *word == "--");
    let (before, behind) = match end {
        Some(end) => (rest.get(..end)?, rest.get(end + 1..)?),
        None => (rest, &[][..]),
    };
    let has = |names: &[&str]| before.iter().any(|word| names.contains(word));
    let letter = |letter: char| {
        before
            .iter()
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let operands: Vec<&'w str> = before
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-'))
        .collect();
    match subcommand {
        "reset" if has(&["--hard"]) => Some(Ask::Changes {
            paths: Vec::new(),
            rev: operands.first().copied(),
        }),
        "checkout" if end.is_some() => Some(Ask::Changes {
            paths: behind.to_vec(),
            rev: None,
        }),
        "checkout" if operands.last() == Some(&".") => Some(Ask::Changes {
            paths: vec!["."],
            rev: None,
        }),
        "checkout" | "switch" if has(&["--force", "--discard-changes"]) || letter('f') => {
            Some(Ask::Changes {
                paths: Vec::new(),
                rev: None,
            })
        }
        "checkout" | "switch" if operands.len() == 1 && !letter('B') && !letter('C') => Some(
            Ask::Nothing("loses nothing if that is a branch: git refuses to overwrite changes"),
        ),
        "restore" if !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]) => {
            Some(Ask::Changes {
                paths: operands.iter().chain(behind).copied().collect(),
                rev: None,
            })
        }
        "clean" => clean_arguments(rest).map(|arguments| Ask::Clean { arguments }),
        "branch"
            if letter('D') || (has(&["--delete", "-d"]) && (has(&["--force"]) || letter('f'))) =>
        {
            Some(Ask::Branches {
                names: operands.iter().chain(behind).copied().collect(),
                remote: has(&["--remotes"]) || letter('r'),
            })
        }
        "branch" if letter('d') || has(&["--delete"]) => Some(Ask::Nothing(
            "loses nothing: git refuses to remove a branch that is not merged",
        )),
        "push" if has(&["--mirror", "--all", "--prune", "--branches", "--tags"]) => None,
        "push" => Some(Ask::Push(Push {
            remote: operands.first().copied(),
            refspecs: operands.iter().skip(1).copied().collect(),
            deletes: has(&["--delete"]) || letter('d'),
        }))
        .filter(|_| before.iter().all(|word| is_plain_push(word))),
        "stash" => match (operands.first(), operands.get(1)) {
            (Some(&"drop"), which) => Some(Ask::StashDrop(which.copied().unwrap_or("stash@{0}"))),
            (Some(&"clear"), None) => Some(Ask::StashClear),
            (Some(&("list" | "show")), _) => Some(Ask::Nothing("loses nothing")),
            (_, _) => None,
        },
        _ => None,
    }
}

fn is_plain_push(word: &str) -> bool {
    const FLAGS: &[&str] = &[
        "--force",
        "-f",
        "--force-with-lease",
        "--delete",
        "-d",
        "-u",
        "--set-upstream",
        "--quiet",
        "-q",
        "--verbose",
        "-v",
        "-fu",
        "-uf",
        "--no-verify",
        "--force-if-includes",
    ];
    !word.starts_with('-') || FLAGS.contains(&word) || word.starts_with("--force-with-lease=")
}

/// The arguments of `git clean` that may be kept for a dry run.
fn clean_arguments<'w>(rest: &[&'w str]) -> Option<Vec<&'w str>> {
    let mut kept = vec!["-n"];
    let mut words = rest.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--" => {
                kept.push(word);
                kept.extend(words);
                break;
            }
            "--force" | "--dry-run" | "--quiet" => {}
            "-e" => {
                kept.push(word);
                kept.push(words.next()?);
            }
            long if long.starts_with("--exclude=") => kept.push(long),
            long if long.starts_with("--") => return None,
            cluster if cluster.starts_with('-') => {
                for letter in cluster.chars().skip(1) {
                    match letter {
                        'f' | 'n' | 'q' => {}
                        'd' => kept.push("-d"),
                        'x' => kept.push("-x"),
                        'X' => kept.push("-X"),
                        // What asks, and what takes the rest of the word.
                        _ => return None,
                    }
                }
            }
            path => kept.push(path),
        }
    }
    Some(kept)
}

/// A repository that is only read.
struct Repository<'d> {
    directory: &'d Path,
    /// Settings that switch its filters off.
    filters: Vec<String>,
    /// When everything that is asked must be answered, if not each question by itself.
    until: Option<Instant>,
}

impl<'d> Repository<'d> {
    fn at(directory: &'d Path) -> Result<Self, String> {
        Self::until(directory, None)
    }

    fn until(directory: &'d Path, until: Option<Instant>) -> Result<Self, String> {
        let mut repository = Self {
            directory,
            filters: Vec::new(),
            until,
        };
        if repository
            .ask(&["rev-parse", "--is-inside-work-tree"])
            .is_err()
        {
            return Err("there is no repository that git would read here".into());
        }
        // A filter is a program the repository names for its files; `status` would run it. One that
        // is not known, or whose name cannot be said, cannot be switched off.
        let settings = repository.ask(&["config", "--includes", "--name-only", "-z", "--list"])?;
        if settings.cut {
            return Err("the repository has too many settings to switch its filters off".into());
        }
        for name in settings.records() {
            let Some((driver, _)) = name.rsplit_once('.') else {
                continue;
            };
            if !driver.starts_with("filter.") {
                continue;
            }
            // The first equals sign would end the name.
            if driver.contains('=') {
                return Err("the repository has a filter that cannot be switched off".into());
            }
            for off in ["clean=", "smudge=", "process=", "required=false"] {
                let setting = format!("{driver}.{off}");
                if !repository.filters.contains(&setting) {
                    repository.filters.push(setting);
                }
            }
        }
        Ok(repository)
    }

    fn ask(&self, arguments: &[&str]) -> Result<Output, String> {
        let mut all = vec!["--no-pager", "--no-optional-locks"];
        let settings = HARMLESS.iter().copied();
        for setting in settings.chain(self.filters.iter().map(String::as_str)) {
            all.extend(["-c", setting]);
        }
        all.extend(arguments);
        let left = |until: Instant| until.saturating_duration_since(Instant::now());
        let time = self.until.map_or(quiet::MAX_TIME, left);
        quiet::run("git", &all, self.directory, ENVIRONMENT, time)
    }

    /// The commit a name stands for.
    fn commit(&self, name: &str) -> Result<String, String> {
        let name = format!("{name}^{{commit}}");
        let said = self.ask(&[
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &name,
        ])?;
        said.lines()
            .into_iter()
            .next()
            .ok_or_else(|| "git names no commit".to_owned())
    }

    /// Changes of tracked files that are not in a commit, and commits only the present branch has.
    fn changes(&self, paths: &[&str], rev: Option<&str>) -> Result<Known, String> {
        let mut arguments = vec![
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=no",
            "--ignore-submodules=all",
            "--no-renames",
            "--",
        ];
        arguments.extend(paths);
        let said = self.ask(&arguments)?;
        let changed = said.records();
        let mut lines = match changed.len() {
            0 => vec!["loses no changes of tracked files".to_owned()],
            count => listed(
                format!(
                    "loses the changes of {} that are in no commit",
                    counted(count, "file")
                ),
                &changed,
            ),
        };
        if let Some(rev) = rev {
            let commit = self.commit(rev)?;
            lines.extend(self.commits(
                &format!("{commit}..HEAD"),
                &[],
                "takes",
                "off the present branch",
            )?);
        }
        Ok(Known {
            lines,
            complete: !said.cut,
        })
    }

    fn clean(&self, arguments: &[&str]) -> Result<Known, String> {
        let mut all = vec!["-c", "core.quotePath=false", "clean"];
        all.extend(arguments);
        let said = self.ask(&all)?;
        let until = Instant::now() + Duration::from_secs(2);
        let mut count = Count::default();
        for line in said.lines() {
            if let Some(path) = line.strip_prefix("Would remove ") {
                let path: PathBuf = self.directory.join(path.trim_end_matches('/'));
                count.add(&path, true, until);
            }
        }
        if count.is_empty() {
            return Ok(Known::all(vec!["removes nothing".into()]));
        }
        Ok(Known {
            lines: count.lines("removes"),
            complete: count.is_whole() && !said.cut,
        })
    }

    fn branches(&self, names: &[&str], remote: bool) -> Result<Known, String> {
        let place = if remote { "refs/remotes" } else { "refs/heads" };
        let references: Vec<String> = names.iter().map(|name| format!("{place}/{name}")).collect();
        let mut lines = Vec::new();
        for reference in &references {
            let commit = self.commit(reference)?;
            let mut others = vec!["--not".to_owned()];
            others.extend(references.iter().map(|one| format!("--exclude={one}")));
            others.push("--all".to_owned());
            let others: Vec<&str> = others.iter().map(String::as_str).collect();
            let name = reference
                .strip_prefix(place)
                .unwrap_or_default()
                .trim_start_matches('/');
            lines.extend(self.commits(&commit, &others, "loses", &format!("only {name} has"))?);
        }
        match lines.is_empty() {
            true => Err("no branch is named".into()),
            false => Ok(Known::all(lines)),
        }
    }

    /// What the other side has and would not have any more, as far as it was last seen from here.
    fn push(&self, push: &Push<'_>) -> Result<Known, String> {
        let branch = || -> Result<String, String> {
            let said = self.ask(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
            said.lines()
                .into_iter()
                .next()
                .ok_or_else(|| "there is no branch".to_owned())
        };
        let remote = push.remote.unwrap_or("origin");
        let mut pairs: Vec<(Option<String>, String)> = Vec::new();
        for refspec in &push.refspecs {
            let refspec = refspec.trim_start_matches('+');
            pairs.push(match refspec.split_once(':') {
                Some(("", there)) => (None, there.to_owned()),
                Some((here, there)) => (Some(here.to_owned()), there.to_owned()),
                None if push.deletes => (None, refspec.to_owned()),
                None if refspec == "HEAD" => (Some("HEAD".into()), branch()?),
                None => (Some(refspec.to_owned()), refspec.to_owned()),
            });
        }
        if pairs.is_empty() {
            let branch = branch()?;
            pairs.push((Some(branch.clone()), branch));
        }
        let mut lines = Vec::new();
        for (here, there) in pairs {
            let there = there.trim_start_matches("refs/heads/");
            let seen = format!("refs/remotes/{remote}/{there}");
            let Ok(other) = self.commit(&seen) else {
                lines.push(format!(
                    "{remote}/{there} was never seen from here: what it has is not known"
                ));
                continue;
            };
            let range = match here {
                Some(here) => format!("{}..{other}", self.commit(&here)?),
                None => other,
            };
            lines.extend(self.commits(&range, &[], "loses", &format!("{remote}/{there} has"))?);
        }
        lines.push(format!(
            "as {remote} was last seen from here; nobody was asked over the network"
        ));
        Ok(Known::part(lines))
    }

    fn stash(&self, which: Option<&str>) -> Result<Known, String> {
        let said = self.ask(&["stash", "list", "--format=%gd: %s"])?;
        let all = said.lines();
        let Some(which) = which else {
            return Ok(match all.len() {
                0 => Known::all(vec!["loses nothing: nothing is stashed".into()]),
                count => Known::all(listed(format!("loses {}", entries(count)), &all)),
            });
        };
        let name = match which.bytes().all(|byte| byte.is_ascii_digit()) {
            true => format!("stash@{{{which}}}"),
            false => which.to_owned(),
        };
        let commit = self.commit(&name)?;
        let base = format!("{commit}^1");
        let changed = self.ask(&[
            "diff",
            "--numstat",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--ignore-submodules=all",
            &base,
            &commit,
        ])?;
        let title = all
            .into_iter()
            .find(|line| line.starts_with(&format!("{name}: ")));
        let files = changed.lines();
        let mut lines = vec![format!("loses {}", title.unwrap_or(name))];
        lines.extend(listed(
            format!(
                "with the changes of {} (added, removed)",
                counted(files.len(), "file")
            ),
            &files
                .iter()
                .map(|line| line.replace('\t', " "))
                .collect::<Vec<_>>(),
        ));
        Ok(Known {
            lines,
            complete: !changed.cut,
        })
    }

    /// How many commits a range has, and the first of them.
    fn commits(
        &self,
        range: &str,
        others: &[&str],
        verb: &str,
        whose: &str,
    ) -> Result<Vec<String>, String> {
        let mut arguments = vec!["rev-list", "--count", range];
        arguments.extend(others);
        arguments.push("--");
        let count = self.ask(&arguments)?;
        let count: usize = count
            .lines()
            .first()
            .and_then(|line| line.trim().parse().ok())
            .ok_or_else(|| "git does not count".to_owned())?;
        if count == 0 {
            return Ok(vec![format!("{verb} no commit {whose}")]);
        }
        let most = format!("--max-count={MAX_LISTED}");
        let mut arguments = vec![
            "log",
            "--oneline",
            "--no-decorate",
            "--no-color",
            &most,
            range,
        ];
        arguments.extend(others);
        arguments.push("--");
        let mut lines = vec![format!("{verb} {} {whose}", counted(count, "commit"))];
        lines.extend(
            self.ask(&arguments)?
                .lines()
                .into_iter()
                .map(|line| format!("  {line}")),
        );
        if count > MAX_LISTED {
            lines.push(format!("  … and {} more", count - MAX_LISTED));
        }
        Ok(lines)
    }
}

fn entries(count: usize) -> String {
    match count {
        1 => "1 stash entry".to_owned(),
        count => format!("{count} stash entries"),
    }
}

/// A line, and the first of what it counts below it.
fn listed(title: String, all: &[String]) -> Vec<String> {
    let mut lines = vec![title];
    lines.extend(
        all.iter()
            .take(MAX_LISTED)
            .map(|line| format!("  {}", line.trim())),
    );
    if all.len() > MAX_LISTED {
        lines.push(format!("  … and {} more", all.len() - MAX_LISTED));
    }
    lines
}
