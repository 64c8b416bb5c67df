//! Which programs an allow rule may name, and how.

/// Programs that run what their words say, here or elsewhere: whoever allows one allows anything.
const RUN_OTHERS: &str = "\
    sh bash dash ash zsh ksh mksh fish csh tcsh pwsh powershell cmd busybox toybox python pypy \
    ipython node nodejs deno bun tsx ts-node ruby irb perl php lua luajit tclsh wish expect \
    rscript r julia osascript groovy jshell scala java dotnet ghci elixir erl awk gawk mawk nawk \
    sed sudo sudoedit doas su runuser pkexec gosu env xargs nohup setsid nice ionice time \
    timeout stdbuf strace ltrace gdb lldb watch entr parallel find fd exec eval source . command \
    builtin trap ssh mosh rsh docker podman nerdctl kubectl oc nsenter chroot unshare bwrap \
    firejail systemd-run at batch crontab screen tmux script npx bunx pnpx uvx pipx nix-shell \
    nix direnv mise asdf vim vi nvim emacs ed ex less more man psql mysql sqlite3 mongosh redis- \
    cli";

/// Programs that fetch, run or delete what their operands name: allowed word for word or not at all.
const ONLY_AS_WRITTEN: &str = "\
    npm pnpm yarn pip uv poetry pdm gem bundle composer go make just task rake gradle mvn ant \
    bazel cmake ninja curl wget http rsync scp sftp nc ncat socat aws gcloud az terraform tofu \
    pulumi ansible helm apt apt-get dnf yum apk brew rm mv dd chmod chown kill systemctl tar \
    unzip";

/// How far an allow rule for a program may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fitness {
    /// It may not be allowed at all.
    Never,
    /// Only a whole command may be.
    AsWritten,
    /// A command and whatever follows it may be.
    Any,
}

/// How far a rule may go for the program of this name, with or without a path, a version and
/// capitals.
pub(super) fn fitness(word: &str) -> Fitness {
    let name = name_of(word).to_ascii_lowercase();
    let plain = name.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    let among = |list: &str| {
        let mut known = list.split_ascii_whitespace();
        known.any(|one| one == name || one == plain)
    };
    if among(RUN_OTHERS) {
        Fitness::Never
    } else if among(ONLY_AS_WRITTEN) {
        Fitness::AsWritten
    } else {
        Fitness::Any
    }
}

/// The name of a program without its path.
pub(super) fn name_of(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_matter() {
        for name in [
            "python",
            "python3",
            "python3.12",
            "/usr/bin/Python3",
            "SH",
            "C:\\x\\cmd.exe",
            ".",
        ] {
            assert_eq!(fitness(name), Fitness::Never, "{name}");
        }
        assert_eq!(fitness("pip3"), Fitness::AsWritten);
        assert_eq!(fitness("sqlite3"), Fitness::Never);
        for name in ["git", "cargo", "gh", "shellcheck", "pythonic"] {
            assert_eq!(fitness(name), Fitness::Any, "{name}");
        }
    }
}
