//! Commands that run elsewhere or as somebody else: `ssh` and `su`.

use crate::opaque::Reason;
use crate::shell::commands::Wrapping;
use crate::shell::options::{self, Order, Spec};
use crate::shell::refusal::Refusal;
use crate::shell::unwrapping::Unwrapped;

const SSH: Spec = Spec {
    values: "-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w",
    flags: "-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y",
};
const MOSH: Spec = Spec {
    values: "-p --port --ssh --server --client --predict --family --bind-server --experimental-remote-ip",
    flags: "-4 -6 -a -n -o --local --no-init --no-ssh-pty --predict-overwrite",
};
const SU: Spec = Spec {
    values: "-c -s -g -G -u -w -C --command --session-command --shell --group --supp-group --user \
             --whitelist-environment",
    flags: "- -l -m -p -f -P --login --preserve-environment --fast --pty",
};

impl Unwrapped<'_, '_> {
    pub(super) fn ssh(&mut self) -> Result<(), Refusal> {
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

    /// Other than ssh, it hands the words behind the host on as they are.
    pub(super) fn mosh(&mut self) -> Result<(), Refusal> {
        let order = Order::OptionsFirst;
        for reading in options::read(self.words, 1, MOSH, order, self.listing.budget()) {
            let Some(host) = reading.operands.first().copied() else {
                continue;
            };
            let from = host + 1 + usize::from(self.known(host + 1) == Some("--"));
            match self.rest(from) {
                // No program's name has a blank in it.
                [line] if line.unquoted().contains(' ') => {
                    let line = line.clone();
                    self.runs(Wrapping::Commanding, &line)?;
                }
                words => {
                    let words = words.to_vec();
                    self.starts(Wrapping::Commanding, Vec::new(), words)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn su(&mut self, name: &str) -> Result<(), Refusal> {
        // The search tool of the same name.
        let searches = ["run", "scan", "test", "new", "lsp", "completions"];
        if name == "sg" && self.known(1).is_some_and(|word| searches.contains(&word)) {
            return Ok(());
        }
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
}
