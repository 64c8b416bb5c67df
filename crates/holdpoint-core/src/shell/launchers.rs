//! Programs that start others in a syntax of their own: `find`, `xargs`, `ssh`, `docker`, …
//!
//! Promises the same as `unwrapping`, for programs where the command does not simply follow
//! the options. Git has a module of its own.

use std::sync::Arc;

use super::carried::carried;
use super::commands::{Container, Wrapping};
use super::environment::Whereabouts;
use super::git;
use super::input::Input;
use super::items::{items, line_item};
use super::listings;
use super::names::Names;
use super::options::{self, Order, Spec};
use super::refusal::Refusal;
use super::texts::{Argument, UNKNOWN};
use super::told;
use super::tree::Span;
use super::unwrapping::Unwrapped;
use super::windows;
use super::wrappers;
use crate::opaque::Reason;
use crate::paths::base_name;
use crate::rules::{self, Role};

/// Lists what such a program starts; does nothing for any other.
pub(super) fn launch(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    carried(command, name)?;
    match name {
        "find" | "gfind" | "bfs" => command.find(),
        "xargs" | "gxargs" => command.xargs(),
        "parallel" => command.parallel(),
        "env" | "genv" => command.env(),
        "watch" => command.watch(),
        "ssh" | "autossh" | "mosh" => command.ssh(),
        "su" | "runuser" | "sg" => command.su(name),
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => {
            command.container(name)
        }
        "kubectl" | "oc" | "k3s" | "microk8s" => command.kubectl(),
        "git" => git::launch(command),
        "fd" | "fdfind" => command.fd(),
        "tmux" if matches!(command.known(1), Some("if-shell" | "if")) => command.tmux_condition(),
        "tmux" => command.tmux(),
        "screen" => match command
            .words
            .iter()
            .position(|word| word.unquoted() == "stuff")
        {
            Some(at) => command.typed(at + 1),
            None => Ok(()),
        },
        "make" | "gmake" | "bmake" => command.make(),
        "npm" | "yarn" | "pnpm" | "bun" => command.package_scripts(name),
        "hyperfine" => command.operand_codes(HYPERFINE),
        "concurrently" | "npm-run-all" | "run-p" | "run-s" => command.operand_codes(CONCURRENTLY),
        "watchexec" => command.command_or_code(WATCHEXEC),
        "dc" => command.edited(),
        "cmd" | "cmd.exe" | "del" | "erase" | "rd" | "rmdir" => windows::launch(command, name),
        "cmake" | "cmake3" => command.cmake_tool(),
        "ed" | "red" => {
            command.edited()?;
            told::ed(command)
        }
        "sed" | "gsed" => told::sed(command),
        "apply_patch" | "applypatch" | "patch" | "gpatch" => told::patch(command, 1),
        "less" | "more" | "man" | "view" => command.paged(),
        "nix" => command.after_option(&["-c", "--command"]),
        "gcloud" | "lxc" | "incus" | "multipass" | "limactl" | "eksctl" => {
            command.after_option(&["--"])
        }
        "xterm" | "urxvt" | "konsole" | "alacritty" | "st" => command.after_option(&["-e"]),
        _ if is_unknown_launcher(name) => command.any_command(),
        _ => Ok(()),
    }
}

/// Programs that run others in ways too many to list each.
const LAUNCHERS: Names = Names::new(
    "bwrap firejail proot capsh coreutils dotenv aws-vault chamber lerna cross-env env-cmd just reflex doppler \
     infisical op tsh nx turbo envchain envdir dumb-init tini gosu su-exec catatonit s6-setuidgid chpst softlimit \
     systemd-nspawn toolbox distrobox railway ctest consul etcdctl dokku kamal psexec runas start wsl",
);

/// Programs that do harm with the words that follow, or run what does.
const RISKY: Names = Names::new(
    "rm dd shred mv chmod chown truncate bash sh zsh dash ksh eval python python3 perl ruby node php curl wget git \
     sudo doas kill pkill docker podman kubectl terraform psql mysql mkfs wipefs find xargs env tee cp ln holdpoint",
);

/// Whether a program is known to run others, in ways too many to list.
pub(super) fn is_launcher(name: &str) -> bool {
    LAUNCHERS.contains(name) || name.starts_with("ld-")
}

/// Whether a program nobody has described may be one that runs another.
fn is_unknown_launcher(name: &str) -> bool {
    is_launcher(name) || (rules::program(name).is_none() && wrappers::find(name, None).is_none())
}

const XARGS: Spec = Spec {
    values: "-a -d -E -I -J -L -n -P -R -S -s --arg-file --delimiter --max-lines --max-args \
             --max-procs --max-chars --process-slot-var",
    flags: "-0 -e -i -l -o -p -r -t -x --null --eof --replace --interactive --no-run-if-empty \
            --verbose --exit --open-tty --show-limits",
};

const PARALLEL: Spec = Spec {
    values: "-a -j -P -n -N -L -S -C -I --arg-file --jobs --max-args --colsep --delay --timeout \
             --joblog --results --tmpdir --retries --sshlogin --workdir --arg-sep --tagstring --load",
    flags: "-0 -k -q -t -u -v -X -m -r --keep-order --bar --eta --progress --dry-run --null --quote \
            --will-cite --line-buffer --lb --ungroup --group --verbose --no-notice --tag --pipe --halt-on-error",
};

const ENV: Spec = Spec {
    values: "-u -C -S -P --unset --chdir --split-string",
    flags: "-i -0 -v - --ignore-environment --null --debug --block-signal --default-signal \
            --ignore-signal --list-signal-handling",
};

const HYPERFINE: Spec = Spec {
    values: "-w -m -M -r -s -p -c -P -D -L -S -i -u -n -N --warmup --min-runs --max-runs --runs --setup \
             --prepare --cleanup --conclude --parameter-scan --parameter-step-size --parameter-list \
             --shell --style --time-unit --export-json --export-csv --export-markdown --output --input \
             --command-name",
    flags: "-i --ignore-failure --show-output",
};

const CONCURRENTLY: Spec = Spec {
    values: "-n -c -m -k -s -l -t --names --prefix-colors --max-processes --success --prefix",
    flags: "-r --raw --kill-others --kill-others-on-fail --group",
};

const WATCHEXEC: Spec = Spec {
    values: "-w -e -f -i -s -d -o --watch --exts --filter --ignore --signal --debounce --shell --delay-run \
             --workdir --on-busy-update",
    flags: "-c -r -n -p -q -v --clear --restart --postpone --no-vcs-ignore --quiet --verbose",
};

const WATCH: Spec = Spec {
    values: "-n -q --interval --equexit",
    flags: "-b -c -C -d -e -g -p -r -t -w -x --beep --color --differences --errexit --chgexit --precise \
            --no-title --no-wrap --exec",
};

const SSH: Spec = Spec {
    values: "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w",
    flags: "-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y",
};

const SU: Spec = Spec {
    values: "-c -s -g -G -u -w -C --command --session-command --shell --group --supp-group --user \
             --whitelist-environment",
    flags: "- -l -m -p -f -P --login --preserve-environment --fast --pty",
};

const CONTAINER: Spec = Spec {
    values: "-H -l -c -f -p --host --context --config --log-level --tlscacert --tlscert --tlskey \
             --file --project-name --project-directory --profile --env-file --ansi --parallel --url \
             --connection --identity --root --runroot",
    flags: "-D --debug --tls --tlsverify --remote -r",
};

const CONTAINER_RUN: Spec = Spec {
    values: "-a -c -e -h -l -m -p -u -v -w --add-host --annotation --attach --blkio-weight --cap-add \
             --cap-drop --cgroup-parent --cgroupns --cidfile --cpu-period --cpu-quota --cpu-shares \
             --cpus --cpuset-cpus --cpuset-mems --detach-keys --device --device-cgroup-rule \
             --device-read-bps --device-write-bps --dns --dns-option --dns-search --domainname \
             --entrypoint --env --env-file --expose --gpus --group-add --health-cmd \
             --health-interval --health-retries --health-timeout --hostname --index --ip --ip6 --ipc \
             --isolation --kernel-memory --label --label-file --link --log-driver --log-opt \
             --mac-address --memory --memory-reservation --memory-swap --mount --name --net --network \
             --network-alias --pid --pids-limit --platform --pull --publish --restart --runtime \
             --security-opt --shm-size --stop-signal --stop-timeout --storage-opt --sysctl --tmpfs \
             --ulimit --user --userns --uts --volume --volume-driver --volumes-from --workdir --pod",
    flags: "-d -i -P -q -t -T --detach --disable-content-trust --init --interactive --no-healthcheck \
            --oom-kill-disable --privileged --publish-all --quiet --read-only --rm --sig-proxy --tty \
            --no-deps --service-ports --build --use-aliases --no-TTY --replace --latest",
};

const KUBECTL: Spec = Spec {
    values: "-n -c -f -s --namespace --container --context --cluster --kubeconfig --user --as \
             --as-group --token --server --filename --pod-running-timeout --request-timeout --image \
             --overrides --restart --env --labels --port --target --profile --copy-to --share-processes",
    flags: "-i -t -q --stdin --tty --quiet --rm --attach --command --insecure-skip-tls-verify",
};

/// Whether an image runs a shell when it is told nothing else.
fn is_shell_image(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    let name = name.split([':', '@']).next().unwrap_or_default();
    [
        "alpine",
        "archlinux",
        "bash",
        "busybox",
        "centos",
        "debian",
        "fedora",
        "rockylinux",
        "ubuntu",
    ]
    .contains(&name)
}

/// What a container is lent of this machine: `-v here:there`, `--mount source=here,target=there`.
fn container(reading: &options::Reading) -> Container {
    let mut lent = Container::default();
    for (name, value) in &reading.options {
        let Some(value) = value.as_ref().map(Argument::unquoted) else {
            continue;
        };
        match name.as_str() {
            "-v" | "--volume" => {
                let mut parts = value.split(':');
                if let (Some(here), Some(there)) = (parts.next(), parts.next())
                    && here.starts_with(['/', '.', '~', '$'])
                {
                    lent.mounts.push((there.to_owned(), here_path(here)));
                }
            }
            "--mount" => {
                let field = |names: &[&str]| {
                    value.split(',').find_map(|part| {
                        let (key, text) = part.split_once('=')?;
                        names.contains(&key).then(|| text.to_owned())
                    })
                };
                let here = field(&["source", "src"]);
                let there = field(&["target", "destination", "dst"]);
                if let (Some(here), Some(there)) = (here, there)
                    && here.starts_with(['/', '.', '~', '$'])
                {
                    lent.mounts.push((there, here_path(&here)));
                }
            }
            "-w" | "--workdir" => lent.directory = Some(value.to_owned()),
            _ => {}
        }
    }
    lent
}

/// A directory that is lent; one nobody knows may be any.
fn here_path(here: &str) -> String {
    if here.contains('$') {
        return UNKNOWN.to_string();
    }
    here.trim_end_matches('/').to_owned()
}

/// Tests of `find` after which the name of what it finds stands.
const FIND_BY_NAME: [&str; 4] = ["-name", "-iname", "-path", "-wholename"];

/// A pattern for what `find` finds below a place.
fn found_below(root: &Argument, filter: &Option<String>) -> String {
    let root = if root.text.dynamic {
        UNKNOWN.to_string()
    } else {
        root.unquoted().trim_end_matches('/').to_owned()
    };
    let name = match filter {
        Some(name) => name
            .rsplit('/')
            .find(|part| !part.is_empty())
            .unwrap_or("*"),
        None => "*",
    };
    format!("{root}/{name}")
}

/// A word of `-exec` with its braces filled in.
fn text_filled(text: &str, found: &str) -> String {
    text.replace("{}", found)
}

impl Unwrapped<'_, '_> {
    fn find(&mut self) -> Result<(), Refusal> {
        let begins = |word: &Argument| {
            let text = word.unquoted();
            matches!(text, "(" | "!" | ",") || (text.starts_with('-') && text.len() > 1)
        };
        let mut from = 1;
        while let Some("-H" | "-L" | "-P" | "-D") = self.known(from) {
            from += if self.known(from) == Some("-D") { 2 } else { 1 };
        }
        let roots: Vec<Argument> = self
            .rest(from)
            .iter()
            .take_while(|word| !begins(word))
            .cloned()
            .collect();
        let mut at = from + roots.len();
        let follows = self
            .words
            .get(1..from)
            .unwrap_or_default()
            .iter()
            .any(|word| matches!(word.unquoted(), "-L" | "-H"));
        let roots: Vec<Argument> = if follows {
            // What a link leads to is searched, not the link.
            let led = |root: &Argument| match root.known() {
                Some(text) => Argument::literal(&format!("{text}/"), root.text.span.clone()),
                None => root.clone(),
            };
            roots.iter().map(led).collect()
        } else {
            roots
        };
        let roots = if roots.is_empty() {
            let span = self
                .words
                .first()
                .map_or(0..0, |word| word.text.span.clone());
            vec![Argument::literal(".", span)]
        } else {
            roots
        };
        // What it finds is named like this, at any depth.
        let tests = self.rest(at);
        let acts = |word: &Argument| {
            let text = word.unquoted();
            text == "-delete" || text.starts_with("-exec") || text.starts_with("-ok")
        };
        // A test behind the deed, or one that is turned around, narrows nothing.
        let first_act = tests.iter().position(acts).unwrap_or(tests.len());
        let loose = tests
            .iter()
            .any(|word| matches!(word.unquoted(), "!" | "-not" | "-o" | "-or" | ","));
        let tests = tests
            .get(..first_act)
            .filter(|_| !loose)
            .unwrap_or_default();
        let filter = tests.windows(2).find_map(|pair| match pair {
            [test, name] if FIND_BY_NAME.contains(&test.unquoted()) => name.known(),
            _ => None,
        });
        let filter = filter.map(str::to_owned);
        let found: Vec<String> = roots
            .iter()
            .flat_map(|root| {
                let hidden = listings::found_hidden(root.unquoted(), filter.as_deref());
                std::iter::once(found_below(root, &filter)).chain(hidden)
            })
            .collect();
        while let Some(word) = self.words.get(at) {
            at += 1;
            if word.splits {
                self.mark(Reason::DynamicCode);
            }
            match word.unquoted() {
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let from = at;
                    let ends = |at: usize, word: &Argument| {
                        let braces = at > from && self.known(at - 1) == Some("{}");
                        word.unquoted() == ";" || (word.unquoted() == "+" && braces)
                    };
                    let left = self.rest(from).iter().enumerate();
                    let count = left
                        .take_while(|(place, word)| !ends(from + place, word))
                        .count();
                    let given: Vec<Argument> =
                        self.rest(from).iter().take(count).cloned().collect();
                    at = from + count + 1;
                    self.executes(&given, &found, filter.is_none(), &word.text.span.clone())?;
                }
                "-delete" => {
                    let span = word.text.span.clone();
                    let mut words = vec![Argument::literal("rm", span.clone())];
                    if self
                        .rest(from)
                        .iter()
                        .any(|word| word.unquoted() == "-empty")
                    {
                        words = vec![Argument::literal("rmdir", span.clone())];
                    } else if filter.is_none() {
                        words.push(Argument::literal("-r", span.clone()));
                    }
                    for root in &roots {
                        let hidden = listings::found_hidden(root.unquoted(), filter.as_deref());
                        words.extend(hidden.map(|pattern| {
                            let word = Argument::supplied(root.unquoted(), span.clone());
                            word.filled_with(Some(pattern))
                        }));
                        words.push(match &filter {
                            Some(_) => Argument::supplied(root.unquoted(), span.clone())
                                .filled_with(Some(found_below(root, &filter))),
                            None => root.clone(),
                        });
                    }
                    self.starts(Wrapping::Incidental, Vec::new(), words)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What `find -exec` runs, once for what is found below each of the places it starts from.
    fn executes(
        &mut self,
        given: &[Argument],
        found: &[String],
        everything: bool,
        span: &Span,
    ) -> Result<(), Refusal> {
        let filled = given.iter().any(|word| word.unquoted().contains("{}"));
        // What names nothing that is found does the same each time.
        let times = if filled { found.len() } else { 1 };
        for found in found.iter().take(times) {
            let fill = |word: &Argument| match word.unquoted() {
                text if text.contains("{}") => {
                    let filled = text_filled(text, found);
                    word.clone().filled_with(Some(filled))
                }
                _ => word.clone(),
            };
            let mut words: Vec<Argument> = given.iter().map(fill).collect();
            // Done to everything that is found, it is done to the whole tree.
            let tree = match words.first().and_then(Argument::known) {
                Some("rm" | "shred") => Some("-r"),
                Some("chmod" | "chown" | "chgrp") => Some("-R"),
                Some(_) | None => None,
            };
            if let (true, Some(flag), true) = (everything, tree, filled) {
                words.insert(1, Argument::literal(flag, span.clone()));
            }
            self.starts(Wrapping::Incidental, Vec::new(), words)?;
        }
        Ok(())
    }

    /// A pager told to run a command when it starts: `less +!cmd`.
    fn paged(&mut self) -> Result<(), Refusal> {
        let codes: Vec<Argument> = self
            .words
            .iter()
            .filter(|word| word.unquoted().starts_with("+!"))
            .map(|word| word.tail(2))
            .collect();
        codes
            .iter()
            .try_for_each(|code| self.runs(Wrapping::Incidental, code))
    }

    /// `cmake -E env`, `time` and `chdir` run what follows.
    fn cmake_tool(&mut self) -> Result<(), Refusal> {
        let Some(at) = self.words.iter().position(|word| word.unquoted() == "-E") else {
            return Ok(());
        };
        let before = Arc::clone(&self.listing.environment.directory);
        let mut from = at + 2;
        match self.known(at + 1) {
            Some("env") => {
                while self.known(from).is_some_and(|word| word.starts_with("--")) {
                    from += 1;
                }
            }
            Some("time") => {}
            Some("chdir") => {
                match self.known(from).map(str::to_owned) {
                    Some(target) => self.listing.environment.go(&target),
                    None => self.listing.environment.get_lost(),
                }
                from += 1;
            }
            Some(_) | None => return Ok(()),
        }
        let (assignments, from) = self.assignments_from(from);
        let words = self.rest(from).to_vec();
        let walked = self.starts(Wrapping::Incidental, assignments, words);
        self.listing.environment.directory = before;
        walked
    }

    /// The lines of `ed` and `dc` that begin with `!` are commands.
    fn edited(&mut self) -> Result<(), Refusal> {
        let Input::Known(text) = self.start.input.clone() else {
            return Ok(());
        };
        let span = self
            .words
            .first()
            .map_or(0..0, |word| word.text.span.clone());
        for line in text
            .lines()
            .filter_map(|line| line.trim().strip_prefix('!'))
        {
            self.runs(Wrapping::Incidental, &Argument::literal(line, span.clone()))?;
        }
        Ok(())
    }

    fn xargs(&mut self) -> Result<(), Refusal> {
        for reading in options::read(
            self.words,
            1,
            XARGS,
            Order::OptionsFirst,
            self.listing.budget(),
        ) {
            let Some(first) = reading.operands.first().copied() else {
                continue;
            };
            let marker = match reading.value(&["-I", "-J", "--replace"]) {
                Some(marker) => Some(marker.unquoted().to_owned()),
                None if reading.has(&["-i", "--replace"]) => Some("{}".to_owned()),
                None => None,
            };
            let mut words = self.rest(first).to_vec();
            let end = words.last().map_or(0, |word| word.text.span.end);
            match marker {
                Some(marker) if matches!(self.start.input, Input::Known(_)) => {
                    let Input::Known(text) = self.start.input.clone() else {
                        continue;
                    };
                    for line in text.lines() {
                        let unquoted = line_item(line);
                        let line = unquoted.as_deref().unwrap_or(line);
                        let filled = words
                            .iter()
                            .map(|word| {
                                let text = word.unquoted().replace(&marker, line);
                                Argument::literal(&text, word.text.span.clone())
                            })
                            .collect();
                        self.starts_apart(Wrapping::Incidental, filled)?;
                    }
                    continue;
                }
                Some(marker) => {
                    let fill = |word: Argument| {
                        let filled = word.unquoted().contains(&marker);
                        if filled { word.filled_with(None) } else { word }
                    };
                    words = words.into_iter().map(fill).collect();
                }
                None => match &self.start.input {
                    // What it adds stands in the text: `echo / | xargs rm -rf`.
                    Input::Known(text) => {
                        let whole = reading.has(&["-0", "--null", "-d", "--delimiter"]);
                        let plain = || text.split_whitespace().map(str::to_owned).collect();
                        let added: Vec<String> = if whole {
                            text.split(['\0', '\n'])
                                .filter(|line| !line.is_empty())
                                .map(str::to_owned)
                                .collect()
                        } else {
                            items(text).unwrap_or_else(plain)
                        };
                        let added = added.iter();
                        words.extend(added.map(|word| Argument::literal(word, end..end)));
                    }
                    Input::Inherited | Input::Empty | Input::Partly(_) | Input::Unknown(_) => {
                        let piped = !reading.has(&["-a", "--arg-file"])
                            && self.listing.reads_pipe(self.place);
                        if let Some(found) = self.edits_what_is_found(&words).filter(|_| piped) {
                            words.extend(found.into_iter().map(|pattern| {
                                let text = pattern.replace(UNKNOWN, "*");
                                Argument::supplied(&text, end..end).filled_with(Some(pattern))
                            }));
                            self.starts_apart(Wrapping::Incidental, words)?;
                            continue;
                        }
                        // The word says where it comes from.
                        let source = self.listing.last_of_pipeline();
                        let text =
                            source.map_or_else(|| "{}".to_owned(), |line| format!("$({line})"));
                        let mut supplied = Argument::supplied(&text, end..end);
                        supplied.origin = self.start.input.origin();
                        words.push(supplied);
                    }
                },
            }
            self.starts_apart(Wrapping::Incidental, words)?;
        }
        Ok(())
    }

    /// `tmux if-shell CONDITION COMMAND [COMMAND]`: a line of the shell, and lines of tmux.
    fn tmux_condition(&mut self) -> Result<(), Refusal> {
        let words = self.words;
        let operands = words
            .iter()
            .skip(2)
            .filter(|word| !word.unquoted().starts_with('-'));
        for (at, word) in operands.enumerate() {
            match at {
                0 => self.runs(Wrapping::Incidental, word)?,
                _ => {
                    let line = format!("tmux {}", word.unquoted());
                    let line = Argument::literal(&line, word.text.span.clone());
                    self.runs(Wrapping::Incidental, &line)?;
                }
            }
        }
        Ok(())
    }

    /// What a command is given that looks at files or edits them, where it is known in which directories
    /// those were found. What deletes them, or runs something, is asked about as before: which
    /// files those are is the point.
    fn edits_what_is_found(&self, words: &[Argument]) -> Option<Vec<String>> {
        let name = words.first().and_then(|word| word.text.program())?;
        let role = rules::program(name)?.roles.operands?;
        if !matches!(role, Role::Read | Role::Write | Role::Append | Role::Mode) {
            return None;
        }
        listings::found_inside(self.listing.feeders())
    }

    fn parallel(&mut self) -> Result<(), Refusal> {
        for reading in options::read(
            self.words,
            1,
            PARALLEL,
            Order::OptionsFirst,
            self.listing.budget(),
        ) {
            let from = reading
                .operands
                .first()
                .copied()
                .unwrap_or(self.words.len());
            let separator = |word: &Argument| word.unquoted().starts_with(":::");
            let end = self
                .rest(from)
                .iter()
                .position(separator)
                .map_or(self.words.len(), |place| from + place);
            let template: Vec<&str> = self
                .words
                .get(from..end)
                .unwrap_or_default()
                .iter()
                .map(Argument::unquoted)
                .collect();
            if template.is_empty() && end < self.words.len() {
                for word in self.words.get(end + 1..).unwrap_or_default() {
                    self.runs(Wrapping::Incidental, word)?;
                }
            } else if template.is_empty() {
                self.may_read_input()?;
            } else {
                // What fills the template is input: to the reader, the value of a variable.
                let mut code = template.join(" ").replace("{}", "$_");
                if !code.contains("$_") {
                    code.push_str(" $_");
                }
                let span = self
                    .words
                    .get(from)
                    .map_or(0..0, |word| word.text.span.clone());
                let code = Argument::literal(&code, span);
                self.runs(Wrapping::Incidental, &code)?;
            }
        }
        Ok(())
    }

    fn env(&mut self) -> Result<(), Refusal> {
        // What follows is read by the command this starts.
        if self.split_string()? {
            return Ok(());
        }
        for reading in options::read(
            self.words,
            1,
            ENV,
            Order::OptionsFirst,
            self.listing.budget(),
        ) {
            let from = reading
                .operands
                .first()
                .copied()
                .unwrap_or(self.words.len());
            let (assignments, at) = self.assignments_from(from);
            let front = self.words.get(1..at).unwrap_or_default();
            if front.iter().any(|word| word.splits) {
                self.mark(Reason::DynamicCode);
            }
            let words = self.rest(at).to_vec();
            let before = self.changed_directory(&reading, &["-C", "--chdir"]);
            let walked = self.starts(Wrapping::Incidental, assignments, words);
            self.listing.environment.directory = before;
            walked?;
        }
        Ok(())
    }

    /// Goes where an option says what is run shall be; gives back where it was.
    pub(super) fn changed_directory(
        &mut self,
        reading: &options::Reading,
        flags: &[&str],
    ) -> Arc<Whereabouts> {
        let before = Arc::clone(&self.listing.environment.directory);
        match reading.value(flags).map(Argument::known) {
            Some(Some(target)) => self.listing.environment.go(target),
            Some(None) => self.listing.environment.get_lost(),
            None => {}
        }
        before
    }

    fn watch(&mut self) -> Result<(), Refusal> {
        for reading in options::read(
            self.words,
            1,
            WATCH,
            Order::OptionsFirst,
            self.listing.budget(),
        ) {
            let from = reading
                .operands
                .first()
                .copied()
                .unwrap_or(self.words.len());
            if reading.has(&["-x", "--exec"]) {
                let words = self.rest(from).to_vec();
                self.starts(Wrapping::Incidental, Vec::new(), words)?;
            } else {
                self.runs_joined(Wrapping::Incidental, from)?;
            }
        }
        Ok(())
    }

    fn ssh(&mut self) -> Result<(), Refusal> {
        let commands = [
            "proxycommand",
            "localcommand",
            "knownhostscommand",
            "remotecommand",
        ];
        let loads = ["pkcs11provider", "securitykeyprovider", "include"];
        for reading in options::read(
            self.words,
            1,
            SSH,
            Order::OptionsFirst,
            self.listing.budget(),
        ) {
            let Some(host) = reading.operands.first().copied() else {
                continue;
            };
            // Options may also follow the host.
            for after in options::read(
                self.words,
                host + 1,
                SSH,
                Order::OptionsFirst,
                self.listing.budget(),
            ) {
                let settings = reading.options.iter().chain(&after.options);
                for (name, value) in settings {
                    let Some(value) = value.as_ref().filter(|_| name == "-o") else {
                        continue;
                    };
                    let key = value.unquoted().to_ascii_lowercase();
                    if commands
                        .iter()
                        .chain(&loads)
                        .any(|known| key.starts_with(known))
                    {
                        self.mark(Reason::ExecutableSetting);
                    }
                }
                match after.operands.first().copied() {
                    Some(from) => self.runs_joined(Wrapping::Commanding, from)?,
                    None if reading.has(&["-N"]) || after.has(&["-N"]) => {}
                    None => self.may_read_input()?,
                }
            }
        }
        Ok(())
    }

    fn su(&mut self, name: &str) -> Result<(), Refusal> {
        for reading in options::read(self.words, 1, SU, Order::Mixed, self.listing.budget()) {
            if name == "runuser" && reading.has(&["-u", "--user"]) {
                for first in options::read(
                    self.words,
                    1,
                    SU,
                    Order::OptionsFirst,
                    self.listing.budget(),
                ) {
                    let from = first.operands.first().copied().unwrap_or(self.words.len());
                    let words = self.rest(from).to_vec();
                    self.starts(Wrapping::Commanding, Vec::new(), words)?;
                }
                continue;
            }
            let code = reading.value(&["-c", "--command", "--session-command"]);
            if let Some(code) = code.cloned() {
                self.runs(Wrapping::Commanding, &code)?;
            } else if name == "sg" && reading.operands.len() > 1 {
                let from = reading.operands.get(1).copied().unwrap_or(self.words.len());
                self.runs_joined(Wrapping::Commanding, from)?;
            } else if let Some(from) = reading.operands.get(1).copied() {
                // What follows the user is given to the user's shell.
                self.shell(from)?;
            } else {
                self.may_read_input()?;
            }
        }
        Ok(())
    }

    fn container(&mut self, name: &str) -> Result<(), Refusal> {
        for reading in options::read(
            self.words,
            1,
            CONTAINER,
            Order::OptionsFirst,
            self.listing.budget(),
        ) {
            let mut at = reading
                .operands
                .first()
                .copied()
                .unwrap_or(self.words.len());
            if name.ends_with("-compose") || matches!(self.known(at), Some("container" | "compose"))
            {
                at += usize::from(!name.ends_with("-compose"));
                let inner = options::read(
                    self.words,
                    at,
                    CONTAINER,
                    Order::OptionsFirst,
                    self.listing.budget(),
                );
                let place = inner
                    .first()
                    .and_then(|inner| inner.operands.first().copied());
                at = place.unwrap_or(self.words.len());
            }
            if !matches!(self.known(at), Some("run" | "exec" | "create")) {
                continue;
            }
            for inner in options::read(
                self.words,
                at + 1,
                CONTAINER_RUN,
                Order::OptionsFirst,
                self.listing.budget(),
            ) {
                let image = inner.operands.first().copied().unwrap_or(self.words.len());
                let mut words: Vec<Argument> = inner
                    .value(&["--entrypoint"])
                    .cloned()
                    .into_iter()
                    .collect();
                words.extend_from_slice(self.rest(image + 1));
                let front = self.words.get(at..image).unwrap_or_default();
                if front.iter().any(|word| word.splits) {
                    self.mark(Reason::DynamicCode);
                }
                let interactive = inner.has(&["-i", "--interactive"]);
                let shell_image = self.known(image).is_some_and(is_shell_image);
                if words.is_empty() && interactive && shell_image {
                    self.may_read_input()?;
                }
                // A container that is only made for this has no files but those it is lent.
                let fresh = matches!(self.known(at), Some("run" | "create"))
                    && !inner.has(&["--privileged", "--volumes-from", "--device"]);
                let lent = fresh.then(|| Arc::new(container(&inner)));
                let outer = self.listing.container.clone();
                if let Some(lent) = lent {
                    self.listing.container = Some(lent);
                }
                let directory = std::mem::take(&mut self.listing.environment.directory);
                let walked = self.starts(Wrapping::Commanding, Vec::new(), words);
                self.listing.environment.directory = directory;
                self.listing.container = outer;
                walked?;
            }
        }
        Ok(())
    }

    fn kubectl(&mut self) -> Result<(), Refusal> {
        let runs = |text: &str| matches!(text, "exec" | "run" | "debug" | "attach");
        let Some(at) = (1..self.words.len()).find(|at| self.known(*at).is_some_and(runs)) else {
            return Ok(());
        };
        let separator = (at..self.words.len()).find(|at| self.known(*at) == Some("--"));
        if let Some(separator) = separator {
            let words = self.rest(separator + 1).to_vec();
            return self.starts(Wrapping::Commanding, Vec::new(), words);
        }
        for reading in options::read(
            self.words,
            at + 1,
            KUBECTL,
            Order::Mixed,
            self.listing.budget(),
        ) {
            let from = reading.operands.get(1).copied().unwrap_or(self.words.len());
            let words = self.rest(from).to_vec();
            self.starts(Wrapping::Commanding, Vec::new(), words)?;
        }
        Ok(())
    }

    /// Lists what follows an option to the end: one word of code, or a command's words.
    fn after_option(&mut self, options: &[&str]) -> Result<(), Refusal> {
        let given = |word: &Argument| options.contains(&word.unquoted());
        let Some(at) = self.words.iter().position(given) else {
            return Ok(());
        };
        match self.words.get(at + 1..).unwrap_or_default() {
            [code] => self.runs(Wrapping::Commanding, code),
            words => self.starts(Wrapping::Commanding, Vec::new(), words.to_vec()),
        }
    }

    fn fd(&mut self) -> Result<(), Refusal> {
        let option = |text: &str| matches!(text, "-x" | "-X" | "--exec" | "--exec-batch");
        let Some(at) = (1..self.words.len()).find(|at| self.known(*at).is_some_and(option)) else {
            return Ok(());
        };
        let end_of_command = |word: &&Argument| word.unquoted() != ";";
        let mut words: Vec<Argument> = self
            .rest(at + 1)
            .iter()
            .take_while(end_of_command)
            .cloned()
            .collect();
        let end = words.last().map_or(0, |word| word.text.span.end);
        // What follows the pattern is where it searches.
        let root = self
            .words
            .get(1..at)
            .unwrap_or_default()
            .iter()
            .filter_map(Argument::known)
            .filter(|word| !word.starts_with('-'))
            .skip(1)
            .last();
        let pattern = format!("{}/*", root.unwrap_or(".").trim_end_matches('/'));
        words.push(Argument::supplied("{}", end..end).filled_with(Some(pattern)));
        self.starts(Wrapping::Incidental, Vec::new(), words)
    }

    /// Lists the command that begins with the first word that could do harm, or behind `--`.
    fn any_command(&mut self) -> Result<(), Refusal> {
        let begins = |word: &Argument| word.text.program().is_some_and(|name| RISKY.contains(name));
        let dashes = self.words.iter().position(|word| word.unquoted() == "--");
        let at = (1..self.words.len())
            .find(|at| self.words.get(*at).is_some_and(begins))
            .or(dashes.map(|at| at + 1));
        // `--coreutils-prog=rm -rf x`: the value of a flag is the program, what follows its words.
        let glued = self
            .words
            .iter()
            .enumerate()
            .skip(1)
            .find_map(|(at, word)| {
                let (flag, value) = word.unquoted().split_once('=')?;
                let runs = flag.starts_with("--") && RISKY.contains(base_name(value));
                runs.then(|| (at, word.tail(flag.len() + 1)))
            });
        let words = match (at, glued) {
            (at, Some((glued_at, program))) if at.is_none_or(|at| glued_at < at) => {
                let mut words = vec![program];
                words.extend_from_slice(self.rest(glued_at + 1));
                words
            }
            (Some(at), _) => self.rest(at).to_vec(),
            (None, _) => return Ok(()),
        };
        self.starts(Wrapping::Incidental, Vec::new(), words)
    }

    /// Lists the operands of a program that hands each of them to a shell.
    fn operand_codes(&mut self, spec: Spec) -> Result<(), Refusal> {
        for reading in options::read(self.words, 1, spec, Order::Mixed, self.listing.budget()) {
            for at in reading.operands {
                if let Some(code) = self.words.get(at).cloned() {
                    self.runs(Wrapping::Incidental, &code)?;
                }
            }
        }
        Ok(())
    }

    /// Lists a command that may also be one word of code.
    fn command_or_code(&mut self, spec: Spec) -> Result<(), Refusal> {
        for reading in options::read(
            self.words,
            1,
            spec,
            Order::OptionsFirst,
            self.listing.budget(),
        ) {
            let from = reading
                .operands
                .first()
                .copied()
                .unwrap_or(self.words.len());
            match self.rest(from).to_vec().as_slice() {
                [code] => self.runs(Wrapping::Incidental, code)?,
                words => self.starts(Wrapping::Incidental, Vec::new(), words.to_vec())?,
            }
        }
        Ok(())
    }

    /// Lists what is typed into another terminal, up to the names of keys.
    fn typed(&mut self, from: usize) -> Result<(), Refusal> {
        let keys = ["Enter", "C-m", "KPEnter", "C-j"];
        let mut at = from;
        while matches!(self.known(at), Some(flag) if flag.starts_with('-')) {
            at += if self.known(at) == Some("-t") { 2 } else { 1 };
        }
        let texts: Vec<&str> = self
            .rest(at)
            .iter()
            .map(Argument::unquoted)
            .filter(|word| !keys.contains(word))
            .collect();
        let span = self
            .words
            .get(at)
            .map_or(0..0, |word| word.text.span.clone());
        let code = texts.join(" ").replace("\\n", "\n").replace("^M", "\n");
        if self.rest(at).iter().any(|word| word.text.dynamic) {
            self.mark(Reason::DynamicCode);
        }
        let code = Argument::literal(&code, span);
        self.runs(Wrapping::Commanding, &code)
    }

    fn tmux(&mut self) -> Result<(), Refusal> {
        let typed = [
            "send-keys",
            "send",
            "run-shell",
            "run",
            "if-shell",
            "if",
            "pipe-pane",
        ];
        let opened = [
            "new-session",
            "new",
            "new-window",
            "neww",
            "split-window",
            "splitw",
        ];
        for at in 1..self.words.len() {
            let Some(text) = self.known(at) else {
                continue;
            };
            if typed.contains(&text) {
                return self.typed(at + 1);
            }
            if opened.contains(&text) {
                const NEW: Spec = Spec {
                    values: "-c -e -F -f -n -s -t -x -y -l -p",
                    flags: "-A -d -D -E -P -X -a -b -k -S -h -v -f -Z -I",
                };
                for reading in options::read(
                    self.words,
                    at + 1,
                    NEW,
                    Order::OptionsFirst,
                    self.listing.budget(),
                ) {
                    if let Some(from) = reading.operands.first().copied() {
                        self.runs_joined(Wrapping::Commanding, from)?;
                    }
                }
                return Ok(());
            }
        }
        if let Input::Partly(_) | Input::Unknown(_) = self.start.input {
            self.mark(Reason::ScriptFromInput);
        }
        Ok(())
    }
}
