//! Programs that start others in a syntax of their own: `find`, `xargs`, `ssh`, `docker`, …
//!
//! Promises the same as `unwrapping`, for programs where the command does not simply follow
//! the options. Git has a module of its own.
mod containers;
mod feeders;
mod finders;
mod logins;
mod terminals;

use std::sync::Arc;

use super::carried::carried;
use super::commands::Wrapping;
use super::environment::Whereabouts;
use super::git;
use super::names::Names;
use super::options::{self, Order, Spec};
use super::refusal::Refusal;
use super::texts::Argument;
use super::told;
use super::unwrapping::Unwrapped;
use super::windows;
use super::wrappers;
use crate::opaque::Reason;
use crate::paths::base_name;
use crate::rules;

/// Lists what such a program starts; does nothing for any other.
pub(super) fn launch(command: &mut Unwrapped<'_, '_>, name: &str) -> Result<(), Refusal> {
    carried(command, name)?;
    match name {
        "npm" | "pnpm" | "yarn" | "bun" if command.known(1) == Some("pkg") => {
            command.kept_scripts(3)
        }
        "npm" if command.known(1) == Some("set-script") => command.kept_scripts(3),
        "find" | "gfind" | "bfs" => command.find(),
        "xargs" | "gxargs" => command.xargs(),
        "parallel" => command.parallel(),
        "env" | "genv" => command.env(),
        "watch" => command.watch(),
        "ssh" | "autossh" => command.ssh(),
        "mosh" => command.mosh(),
        "su" | "runuser" | "sg" => command.su(name),
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" => {
            command.container(name)
        }
        "kubectl" | "oc" | "k3s" | "microk8s" => command.kubectl(),
        "git" => git::launch(command),
        _ if git::is_part(name) => git::part(command, name),
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
        "make" | "gmake" | "bmake" | "pmake" | "remake" | "colormake" | "nmake"
        | "mingw32-make" | "dmake" | "smake" => command.make(),
        "npm" | "yarn" | "pnpm" | "bun" => command.package_scripts(name),
        "hyperfine" => command.operand_codes(HYPERFINE),
        "concurrently" | "npm-run-all" | "run-p" | "run-s" => command.operand_codes(CONCURRENTLY),
        "watchexec" => command.command_or_code(WATCHEXEC),
        "script" => command.recorded(),
        "gnuplot" | "m4" | "gm4" => command.calls_in_input(),
        "gdb" | "cgdb" | "rust-gdb" => command.after_option(&["--args", "-args"]),
        "lldb" | "rust-lldb" => command.after_option(&["--"]),
        "dc" | "ftp" | "lftp" | "sftp" | "telnet" | "tftp" | "smbclient" | "mail" | "mailx" => {
            command.edited()
        }
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
        "flatpak" if command.known(1) == Some("run") => command.any_command(),
        "gh" if matches!(command.known(1), Some("codespace" | "cs")) => {
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
     systemd-nspawn toolbox distrobox railway ctest consul etcdctl dokku kamal psexec runas start wsl \
     systemd-cat pixi guix dotenvx dtach abduco zellij flux minikube colima uftrace spack",
);

/// Programs that do harm with the words that follow, or run what does.
const RISKY: Names = Names::new(
    "rm dd shred mv chmod chown truncate bash sh zsh dash ksh eval python python3 perl ruby node php curl wget git \
     sudo doas kill pkill docker podman kubectl terraform psql mysql mkfs wipefs find xargs env tee cp ln holdpoint \
     dropdb mysqladmin mongosh redis-cli sqlite3 aws gcloud az gh helm scp rsync crontab reboot shutdown",
);

/// Whether a program is known to run others, in ways too many to list.
pub(super) fn is_launcher(name: &str) -> bool {
    LAUNCHERS.contains(name) || name.starts_with("ld-") || name == "ld.so"
}

/// Whether a program nobody has described may be one that runs another.
fn is_unknown_launcher(name: &str) -> bool {
    is_launcher(name) || (rules::program(name).is_none() && wrappers::find(name, None).is_none())
}

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

impl Unwrapped<'_, '_> {
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

    /// `script` records a shell, which reads what it is given, unless it is told a command.
    fn recorded(&mut self) -> Result<(), Refusal> {
        let told = |word: &Argument| {
            let text = word.unquoted();
            text.starts_with("--command") || (text.starts_with('-') && text.contains('c'))
        };
        match self.rest(1).iter().any(told) {
            true => Ok(()),
            false => self.may_read_input(),
        }
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
}
