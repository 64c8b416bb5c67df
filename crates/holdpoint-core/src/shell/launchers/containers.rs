//! Commands that run in a container or a pod.

use std::sync::Arc;

use crate::opaque::Reason;
use crate::rules::SHELLS;
use crate::shell::commands::{Container, Wrapping};
use crate::shell::input::Input;
use crate::shell::options::{self, Order, Spec};
use crate::shell::refusal::Refusal;
use crate::shell::texts::{Argument, UNKNOWN};
use crate::shell::unwrapping::Unwrapped;

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

impl Unwrapped<'_, '_> {
    /// Whether a command is nothing but a shell, which reads what nobody has given it.
    fn is_shell_at_terminal(&self, words: &[Argument]) -> bool {
        let program = words.first().and_then(|word| word.text.program());
        matches!(self.start.input, Input::Inherited)
            && program.is_some_and(|program| SHELLS.contains(program))
    }

    pub(super) fn container(&mut self, name: &str) -> Result<(), Refusal> {
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
                // A shell on a terminal waits for somebody to type, and what is typed is a call of its own.
                let waits = inner.has(&["-t", "--tty"]) && words.len() == 1;
                if waits && self.is_shell_at_terminal(&words) {
                    continue;
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

    pub(super) fn kubectl(&mut self) -> Result<(), Refusal> {
        let runs = |text: &str| matches!(text, "exec" | "run" | "debug" | "attach");
        let Some(at) = (1..self.words.len()).find(|at| self.known(*at).is_some_and(runs)) else {
            return Ok(());
        };
        let separator = (at..self.words.len()).find(|at| self.known(*at) == Some("--"));
        if let Some(separator) = separator {
            let words = self.rest(separator + 1).to_vec();
            let on_terminal = |word: &Argument| {
                let text = word.unquoted();
                matches!(text, "-t" | "-it" | "-ti" | "--tty")
            };
            let front = self.words.get(at..separator).unwrap_or_default();
            let waits = words.len() == 1 && front.iter().any(on_terminal);
            if waits && self.is_shell_at_terminal(&words) {
                return Ok(());
            }
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
}

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
pub(super) fn container(reading: &options::Reading) -> Container {
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
