//! Programs that run the command that follows their own options, as data.
//!
//! One row says what kind of wrapper it is, which of its options take a value, how many
//! operands stand before the command, and which options mean that no command is run. How a
//! row is applied is left to `unwrapping`.

use super::commands::Wrapping::{self, Commanding, Incidental, Transparent};
use super::names::{Names, Shape, Shapes};
use super::options::Spec;
use super::texts::Argument;

/// A program that runs the command in its words.
pub(super) struct Wrapper {
    /// Its names.
    pub(super) names: Names,
    /// Subcommands after which the command follows; empty if there is none.
    pub(super) subcommands: Names,
    /// What kind of wrapper it is.
    pub(super) how: Wrapping,
    /// Its options.
    pub(super) spec: Spec,
    /// Operands before the command.
    pub(super) operands: usize,
    /// Assignments may stand before the command.
    pub(super) assigns: bool,
    /// Options with which it runs no command.
    pub(super) idle: &'static [&'static str],
    /// Without a command it runs a shell.
    pub(super) shell: bool,
}

const PLAIN: Wrapper = Wrapper {
    names: Names::new(""),
    subcommands: Names::new(""),
    how: Transparent,
    spec: Spec {
        values: "",
        flags: "",
    },
    operands: 0,
    assigns: false,
    idle: &[],
    shell: false,
};

const fn spec(values: &'static str, flags: &'static str) -> Spec {
    Spec { values, flags }
}

/// The wrapper of a name, and of a subcommand if it has any.
pub(super) fn find(name: &str, subcommand: Option<&str>) -> Option<&'static Wrapper> {
    if !ALL.could_hold(name) {
        return None;
    }
    let shape = Shape::from_name(name);
    WRAPPERS.iter().find(|wrapper| {
        wrapper.names.contains_shaped(name, shape)
            && (wrapper.subcommands.is_empty()
                || subcommand.is_some_and(|word| wrapper.subcommands.contains(word)))
    })
}

/// The wrapper that some words are a command of, and where its own options begin. Flags may stand in
/// front of a subcommand, each with one word that may be its value.
pub(super) fn find_in(name: &str, words: &[Argument]) -> Option<(&'static Wrapper, usize)> {
    if !ALL.could_hold(name) {
        return None;
    }
    // A name that only looks like one is none behind any number of flags.
    let shape = Shape::from_name(name);
    let mut wrappers = WRAPPERS.iter();
    if !wrappers.any(|wrapper| wrapper.names.contains_shaped(name, shape)) {
        return None;
    }
    let mut at = 1;
    // Ends behind the last word at the latest, which is neither a flag nor the value of one.
    loop {
        let word = words.get(at).and_then(Argument::known);
        if let Some(wrapper) = find(name, word) {
            let own = wrapper.subcommands.is_empty();
            return Some((wrapper, if own { 1 } else { at + 1 }));
        }
        let before = words.get(at.saturating_sub(1)).filter(|_| at > 1);
        let is_flag = |word: &Argument| word.unquoted().starts_with('-');
        let is_value = before.is_some_and(is_flag);
        let goes_round = word.is_some_and(|word| ROUNDS.contains(&word));
        let is_named = before.is_some_and(|word| word.unquoted() == "workspace");
        if !words.get(at).is_some_and(is_flag) && !is_value && !goes_round && !is_named {
            return None;
        }
        at += 1;
    }
}

/// Subcommands that do what the next one says, in other directories: `yarn workspaces foreach exec …`. The
/// last is followed by the name of one.
const ROUNDS: [&str; 5] = ["workspaces", "foreach", "recursive", "workspace", "alloc"];

/// The shapes of all their names: most programs are none of them.
const ALL: Shapes = {
    let mut rest = WRAPPERS;
    let mut shapes = Shapes::NONE;
    while let [first, tail @ ..] = rest {
        shapes = first.names.shapes_with(shapes);
        rest = tail;
    }
    shapes
};

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: Names::new("heroku"),
        subcommands: Names::new("local:run"),
        spec: spec("-e -p --env --port", ""),
        ..PLAIN
    },
    Wrapper {
        names: Names::new(
            "- noglob nocorrect nohup ssh-agent builtin catchsegv fakeroot-sysv torsocks torify unbuffer dbus-launch \
                eatmydata tsocks setsid chronic noti",
        ),
        spec: spec("", "-c -f -w --ctty --fork --wait -p -q -i"),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("timeout gtimeout"),
        spec: spec(
            "-s -k --signal --kill-after",
            "-v -p -f --verbose --preserve-status --foreground",
        ),
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("nice gnice"),
        spec: spec("-n --adjustment", ""),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("stdbuf gstdbuf"),
        spec: spec("-i -o -e --input --output --error", ""),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("ionice"),
        spec: spec(
            "-c -n -p -P -u --class --classdata --pid --pgid --uid",
            "-t --ignore",
        ),
        idle: &["-p", "-P", "-u", "--pid", "--pgid", "--uid"],
        ..PLAIN
    },
    Wrapper {
        names: Names::new("time gtime"),
        spec: spec(
            "-f -o --format --output",
            "-p -v -a -q -l -h --portability --verbose --append --quiet",
        ),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("command"),
        spec: spec("", "-p -v -V"),
        idle: &["-v", "-V"],
        ..PLAIN
    },
    Wrapper {
        names: Names::new("exec"),
        spec: spec("-a", "-c -l"),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("chrt"),
        spec: spec(
            "-T -P -D --sched-runtime --sched-period --sched-deadline",
            "-a -b -d -f -i -m -o -p -r -R -v --all-tasks --batch --deadline --fifo --idle --max \
             --other --pid --rr --reset-on-fork --verbose",
        ),
        operands: 1,
        idle: &["-p", "-m", "--pid", "--max"],
        ..PLAIN
    },
    Wrapper {
        names: Names::new("taskset"),
        spec: spec("", "-a -c -p --all-tasks --cpu-list --pid"),
        operands: 1,
        idle: &["-p", "--pid"],
        ..PLAIN
    },
    Wrapper {
        names: Names::new("numactl"),
        spec: spec(
            "-i -N -m -C -p --interleave --cpunodebind --membind --physcpubind --preferred",
            "-l -a --localalloc --all",
        ),
        ..PLAIN
    },
    Wrapper {
        names: Names::new(
            "prlimit cpulimit caffeinate softlimit chpst setarch linux32 linux64 i386 x86_64 arch \
                trickle proxychains proxychains4 dumb-init tini catatonit faketime pv-run",
        ),
        spec: spec(
            "-l -t -e -m -d -f -o -u -n -p -w --pid --limit",
            "-i -s -q -z -b -R -g -v --",
        ),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("strace ltrace"),
        spec: spec(
            "-a -b -e -E -I -o -O -p -P -s -S -u -U -X --trace --output --attach --user",
            "-A -c -C -d -D -DD -DDD -f -F -ff -h -i -k -n -N -q -qq -r -t -tt -ttt -T -v -V -w -x -xx \
             -y -yy -z -Z",
        ),
        ..PLAIN
    },
    Wrapper {
        names: Names::new(
            "valgrind perf-record xvfb-run dbus-run-session fakeroot heaptrack hotspot",
        ),
        spec: spec(
            "-n -s -e -f -w -l -i --server-num --server-args --error-file --auth-file --lib \
                    --faked",
            "-a -u -h --auto-servernum",
        ),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("flock"),
        spec: spec(
            "-w -E --timeout --wait --conflict-exit-code",
            "-e -x -s -n -u -o -F --exclusive --shared --nonblock --nb --unlock --close --no-fork --verbose",
        ),
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("setpriv runcon"),
        spec: spec(
            "--reuid --regid --ruid --rgid --euid --egid --groups --inh-caps --ambient-caps \
                    --bounding-set --securebits --pdeathsig --selinux-label --apparmor-profile \
                    -t -u -r -l --type --user --role --range",
            "-d -c --dump --nnp --no-new-privs --init-groups --clear-groups --keep-groups --reset-env --compute",
        ),
        how: Commanding,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("sudo"),
        how: Commanding,
        spec: spec(
            "-a -C -c -D -g -h -p -R -r -T -t -U -u --auth-type --close-from --login-class \
                    --chdir --group --host --prompt --chroot --role --command-timeout --type \
                    --other-user --user",
            "-A -B -b -E -e -H -i -K -k -l -n -N -P -S -s -V -v --askpass --bell --background \
             --preserve-env --edit --set-home --help --login --remove-timestamp --reset-timestamp \
             --list --non-interactive --no-update --preserve-groups --stdin --shell --version --validate",
        ),
        idle: &[
            "-l",
            "-v",
            "-V",
            "-K",
            "-e",
            "--list",
            "--validate",
            "--version",
            "--edit",
        ],
        assigns: true,
        shell: true,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("doas"),
        how: Commanding,
        spec: spec("-a -C -u", "-L -n -s"),
        shell: true,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("pkexec"),
        how: Commanding,
        spec: spec("--user -u", "--disable-internal-agent --keep-cwd"),
        shell: true,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("gosu su-exec setuidgid"),
        how: Commanding,
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("chroot"),
        how: Commanding,
        spec: spec("--userspec --groups -u -g -G", "--skip-chdir -n"),
        operands: 1,
        shell: true,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("nsenter"),
        how: Commanding,
        spec: spec(
            "-t -S -G --target --setuid --setgid",
            "-a -m -u -i -n -p -U -C -T -r -w -W -F -Z -e -c --all --mount --uts --ipc --net --pid \
             --cgroup --user --time --root --wd --wdns --no-fork --env --join-cgroup \
             --preserve-credentials --follow-context --keep-caps",
        ),
        shell: true,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("unshare"),
        how: Commanding,
        spec: spec(
            "-R -w -S -G --root --wd --setuid --setgid --map-user --map-group --map-users \
                    --map-groups --propagation --setgroups --monotonic --boottime",
            "-i -m -n -p -u -U -C -T -f -r -c --ipc --mount --net --pid --uts --user --cgroup --time \
             --fork --map-root-user --map-current-user --map-auto --mount-proc --kill-child --keep-caps",
        ),
        shell: true,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("systemd-run systemd-inhibit"),
        how: Commanding,
        spec: spec(
            "-u -p -E -M -H -d --unit --property --setenv --machine --host --description --slice \
                    --uid --gid --nice --working-directory --on-active --on-boot --on-calendar \
                    --service-type --timer-property --path-property --what --who --why --mode",
            "-r -t -P -q -G -S --user --system --scope --pty --pipe --quiet --wait --collect --shell \
             --same-dir --remain-after-exit --no-block --no-ask-password",
        ),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("firejail bwrap proot toolbox distrobox-enter machinectl"),
        how: Commanding,
        spec: spec(
            "--chdir --setenv --unsetenv --dev --proc --tmpfs --hostname --uid --gid -r -b -w -n --name",
            "--unshare-all --share-net --die-with-parent --new-session --quiet --noprofile --private",
        ),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("busybox toybox"),
        how: Commanding,
        idle: &["--list", "--install", "--help"],
        spec: spec("", "--list --install --help"),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("npx bunx pnpx uvx"),
        how: Incidental,
        spec: spec(
            "-p --package --with --from --python --call",
            "-y -q --yes --no --no-install --quiet --ignore-existing",
        ),
        ..PLAIN
    },
    Wrapper {
        names: Names::new(
            "uv poetry pipenv pdm hatch rye conda mamba micromamba op doppler infisical \
                dotenv aws-vault chamber teller",
        ),
        subcommands: Names::new("run exec"),
        how: Incidental,
        spec: spec(
            "-n -p -m -e --with --python --package --extra --group --env-file --directory --project \
                    --name --prefix --cwd --config --env",
            "-q -v --isolated --no-sync --frozen --locked --all-extras --no-project --quiet \
             --no-capture-output --live-stream",
        ),
        ..PLAIN
    },
    Wrapper {
        names: Names::new(
            "bundle pnpm yarn npm bun rbenv pyenv nodenv mise asdf volta fnm rtx rustup opam stack cabal pixi \
                jenv goenv luaver corepack",
        ),
        subcommands: Names::new("exec x dlx run-script-exec"),
        how: Incidental,
        spec: spec("-c --call --using --package", "-y --yes --silent"),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("holdpoint"),
        subcommands: Names::new("run"),
        spec: spec("--floor --write --time --ticket --cwd", "--plan"),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("direnv"),
        subcommands: Names::new("exec"),
        how: Incidental,
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("npm"),
        subcommands: Names::new("explore"),
        how: Incidental,
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("nomad"),
        subcommands: Names::new("exec"),
        how: Commanding,
        spec: spec("-task -job -namespace -region -address -e", "-i -t -m"),
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("podman buildah"),
        subcommands: Names::new("unshare"),
        how: Commanding,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("oc"),
        subcommands: Names::new("rsh"),
        how: Commanding,
        spec: spec(
            "-c -n --container --namespace --shell --timeout",
            "-t -T --tty --no-tty",
        ),
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("multipass limactl lxc incus"),
        subcommands: Names::new("exec shell"),
        how: Commanding,
        spec: spec(
            "--working-directory --workdir --env --user --cwd --project",
            "-v -q -T -t",
        ),
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("rr uftrace samply"),
        subcommands: Names::new("record live"),
        how: Incidental,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("run0 kdesu gksudo gksu beesu"),
        how: Commanding,
        spec: spec(
            "-u -g -D --user --group --chdir --setenv --property --unit",
            "-k -m",
        ),
        assigns: true,
        shell: true,
        ..PLAIN
    },
    Wrapper {
        names: Names::new("flatpak-spawn"),
        spec: spec(
            "--sdk --toolchain --env --directory --forward-fd",
            "--host --clear-env --watch-bus --sandbox -r -v",
        ),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("entr"),
        how: Incidental,
        spec: spec("", "-a -c -d -n -p -r -s -x -z"),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("screen"),
        how: Incidental,
        spec: spec(
            "-S -c -e -h -L -p -s -t -T -U -X",
            "-a -A -d -D -m -q -r -R -x -i -l",
        ),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("perf"),
        subcommands: Names::new("record stat trace"),
        how: Incidental,
        spec: spec("-e -F -o -p -t -C -c", "-a -g -v -d -r"),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("corepack scan-build intercept-build"),
        how: Incidental,
        spec: spec("-o --use-cc --use-c++ --cdb", "-v -k --status-bugs"),
        ..PLAIN
    },
    Wrapper {
        names: Names::new("sshpass"),
        spec: spec("-p -f -d -P", "-e -v -h -V"),
        how: Incidental,
        ..PLAIN
    },
];
