# What every test of a screen needs first: `screens`, where what was seen is kept if somebody wants that; `root`; tmux;
# and the program, in `HOLDPOINT`. Sourced with the test's name and the test's own arguments:
#   . setting.sh NAME [SCREENS]
screens=${2:+$(mkdir -p "$2" && cd "$2" && pwd)}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

if [ "${HOLDPOINT_SKIP_TERMINAL:-}" = 1 ]; then
    echo "$1: skipped (HOLDPOINT_SKIP_TERMINAL=1)"
    exit 0
fi
command -v tmux >/dev/null || {
    echo "$1: \`tmux\` is missing; to leave this out: HOLDPOINT_SKIP_TERMINAL=1" >&2
    exit 1
}
if [ -z "${HOLDPOINT:-}" ]; then
    # All of the workspace, as `cargo test` builds it: a part alone gets other features of what it depends on, and
    # is built anew.
    cargo build --quiet --locked --manifest-path "$root/Cargo.toml" --workspace --bins --examples
    HOLDPOINT=${CARGO_TARGET_DIR:-$root/target}/debug/holdpoint
fi

# Waits until a condition holds, for at most ten seconds.
until_true() {
    for _ in $(seq 200); do
        if "${@:2}"; then return; fi
        sleep 0.05
    done
    fail "$1"
}
has() { screen | grep -qF -- "$1"; }
sees() { until_true "\`$1\` is not on the screen" has "$1"; }
