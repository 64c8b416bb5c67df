//! Programs that start others in a syntax of their own: `find`, `xargs`, `ssh`, `docker`, …
//!
//! Promises the same as `unwrapping`, for programs where the command does not simply follow
//! the options. Git has a module of its own.

use super::commands::{Opaque, Wrapping};
use super::git;
use super::input::Input;
use super::names::Names;
use super::options::{self, Order, Spec};
use super::refusal::Refusal;
use super::texts::Argument;
use super::unwrapping::Unwrapped;

/// Lists what such a program starts; does nothing for any other.
pub(super) fn launch(command: &mut Unwrapped<'_>, name: &str) -> Result<(), Refusal> {
    for carrier in CARRIERS {
        if carrier.programs.contains(name) {
            command.carried(carrier)?;
        }
    }
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
        "tmux" => command.tmux(),
        "nix" => command.after_option(&["-c", "--command"]),
        "xterm" | "urxvt" | "konsole" | "alacritty" | "st" => command.after_option(&["-e"]),
        _ => Ok(()),
    }
}

/// Options whose value is code, looked for anywhere among the words: such a value is rarely
/// an operand by accident, and listing one too many costs less than missing one.
struct Carrier {
    programs: Names,
    options: &'static str,
    how: Wrapping,
}

static CARRIERS: &[Carrier] = &[
    Carrier {
        programs: Names::new("tar gtar bsdtar"),
        options: "--to-command --use-compress-program -I --rsh-command --info-script \
                  --new-volume-script -F --checkpoint-action=exec",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("rsync"),
        options: "-e --rsh --rsync-path",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("split gsplit"),
        options: "--filter",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("sort gsort"),
        options: "--compress-program",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("man"),
        options: "-P --pager -H --html",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("nc ncat netcat"),
        options: "-e -c --exec --sh-exec --lua-exec",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("zip"),
        options: "-TT --unzip-command",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("script"),
        options: "-c --command",
        how: Wrapping::Commanding,
    },
    Carrier {
        programs: Names::new("scp sftp"),
        options: "-S -D",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("nix-shell"),
        options: "--run --command",
        how: Wrapping::Commanding,
    },
    Carrier {
        programs: Names::new("npx npm"),
        options: "-c --call",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("mapfile readarray compgen"),
        options: "-C",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("rg"),
        options: "--pre",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("fzf"),
        options: "--preview",
        how: Wrapping::Incidental,
    },
    Carrier {
        programs: Names::new("hyperfine"),
        options: "--prepare --setup --cleanup --conclude -p -s -c",
        how: Wrapping::Incidental,
    },
];

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

impl Unwrapped<'_> {
    fn carried(&mut self, carrier: &Carrier) -> Result<(), Refusal> {
        for (at, word) in self.words.iter().enumerate().skip(1) {
            let text = word.unquoted();
            for option in carrier.options.split_ascii_whitespace() {
                let Some(rest) = text.strip_prefix(option) else {
                    continue;
                };
                let short = !option.starts_with("--");
                if rest.is_empty() {
                    if let Some(code) = self.words.get(at + 1) {
                        self.runs(carrier.how, code)?;
                    }
                } else if rest.starts_with('=') || short {
                    let equals = usize::from(rest.starts_with('='));
                    self.runs(carrier.how, &word.tail(option.len() + equals))?;
                }
            }
        }
        Ok(())
    }

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
        while let Some(word) = self.words.get(at) {
            at += 1;
            if word.splits {
                self.mark(Opaque::DynamicCode);
            }
            match word.unquoted() {
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let mut words = Vec::new();
                    while let Some(word) = self.words.get(at) {
                        at += 1;
                        let text = word.unquoted();
                        let last = words.last().map(Argument::unquoted);
                        if text == ";" || (text == "+" && last == Some("{}")) {
                            break;
                        }
                        let filled = text.contains("{}");
                        let word = word.clone();
                        words.push(if filled { word.made_dynamic() } else { word });
                    }
                    self.starts(Wrapping::Incidental, Vec::new(), words)?;
                }
                "-delete" => {
                    let span = word.text.span.clone();
                    let mut words = vec![Argument::literal("rm", span.clone())];
                    words.extend(roots.iter().cloned());
                    if roots.is_empty() {
                        words.push(Argument::literal(".", span));
                    }
                    self.starts(Wrapping::Incidental, Vec::new(), words)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn xargs(&mut self) -> Result<(), Refusal> {
        for reading in options::read(self.words, 1, XARGS, Order::OptionsFirst) {
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
                Some(marker) => {
                    let fill = |word: Argument| {
                        let filled = word.unquoted().contains(&marker);
                        if filled { word.made_dynamic() } else { word }
                    };
                    words = words.into_iter().map(fill).collect();
                }
                None => words.push(Argument::supplied("{}", end..end)),
            }
            self.starts_apart(Wrapping::Incidental, words)?;
        }
        Ok(())
    }

    fn parallel(&mut self) -> Result<(), Refusal> {
        for reading in options::read(self.words, 1, PARALLEL, Order::OptionsFirst) {
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
        for reading in options::read(self.words, 1, ENV, Order::OptionsFirst) {
            if let Some(code) = reading.value(&["-S", "--split-string"]) {
                let code = code.clone();
                // Its escapes are not a shell's: `\_` is a space.
                if code.unquoted().contains('\\') {
                    self.mark(Opaque::DynamicCode);
                }
                self.runs(Wrapping::Incidental, &code)?;
            }
            let from = reading
                .operands
                .first()
                .copied()
                .unwrap_or(self.words.len());
            let (assignments, at) = self.assignments_from(from);
            let front = self.words.get(1..at).unwrap_or_default();
            if front.iter().any(|word| word.splits) {
                self.mark(Opaque::DynamicCode);
            }
            let words = self.rest(at).to_vec();
            self.starts(Wrapping::Incidental, assignments, words)?;
        }
        Ok(())
    }

    fn watch(&mut self) -> Result<(), Refusal> {
        for reading in options::read(self.words, 1, WATCH, Order::OptionsFirst) {
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
        for reading in options::read(self.words, 1, SSH, Order::OptionsFirst) {
            let Some(host) = reading.operands.first().copied() else {
                continue;
            };
            // Options may also follow the host.
            for after in options::read(self.words, host + 1, SSH, Order::OptionsFirst) {
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
                        self.mark(Opaque::ExecutableSetting);
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
        for reading in options::read(self.words, 1, SU, Order::Mixed) {
            if name == "runuser" && reading.has(&["-u", "--user"]) {
                for first in options::read(self.words, 1, SU, Order::OptionsFirst) {
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
        for reading in options::read(self.words, 1, CONTAINER, Order::OptionsFirst) {
            let mut at = reading
                .operands
                .first()
                .copied()
                .unwrap_or(self.words.len());
            if name.ends_with("-compose") || matches!(self.known(at), Some("container" | "compose"))
            {
                at += usize::from(!name.ends_with("-compose"));
                let inner = options::read(self.words, at, CONTAINER, Order::OptionsFirst);
                let place = inner
                    .first()
                    .and_then(|inner| inner.operands.first().copied());
                at = place.unwrap_or(self.words.len());
            }
            if !matches!(self.known(at), Some("run" | "exec" | "create")) {
                continue;
            }
            for inner in options::read(self.words, at + 1, CONTAINER_RUN, Order::OptionsFirst) {
                let image = inner.operands.first().copied().unwrap_or(self.words.len());
                let mut words: Vec<Argument> = inner
                    .value(&["--entrypoint"])
                    .cloned()
                    .into_iter()
                    .collect();
                words.extend_from_slice(self.rest(image + 1));
                let front = self.words.get(at..image).unwrap_or_default();
                if front.iter().any(|word| word.splits) {
                    self.mark(Opaque::DynamicCode);
                }
                let interactive = inner.has(&["-i", "--interactive"]);
                if words.is_empty() && interactive {
                    self.may_read_input()?;
                }
                self.starts(Wrapping::Commanding, Vec::new(), words)?;
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
        for reading in options::read(self.words, at + 1, KUBECTL, Order::Mixed) {
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
        words.push(Argument::supplied("{}", end..end));
        self.starts(Wrapping::Incidental, Vec::new(), words)
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
                self.mark(Opaque::InlineCode);
                return Ok(());
            }
            if opened.contains(&text) {
                const NEW: Spec = Spec {
                    values: "-c -e -F -f -n -s -t -x -y -l -p",
                    flags: "-A -d -D -E -P -X -a -b -k -S -h -v -f -Z -I",
                };
                for reading in options::read(self.words, at + 1, NEW, Order::OptionsFirst) {
                    if let Some(from) = reading.operands.first().copied() {
                        self.runs_joined(Wrapping::Commanding, from)?;
                    }
                }
                return Ok(());
            }
        }
        if let Input::Unknown = self.start.input {
            self.mark(Opaque::ScriptFromInput);
        }
        Ok(())
    }
}
