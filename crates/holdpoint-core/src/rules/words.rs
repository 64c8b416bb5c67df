//! The words rules are written in: effects, places and reasons, each list in one place. The
//! build script checks the shipped packs against them.

/// Kinds of effects; the place in the list is the bit.
pub(crate) const EFFECTS: &[&str] = &[
    "run",
    "read",
    "write",
    "append",
    "delete",
    "mode",
    "owner",
    "connect",
    "send",
    "listen",
    "history",
    "publish",
    "database",
    "infrastructure",
    "privilege",
    "signal",
    "install",
    "persist",
    "opaque",
    "list",
    "either",
    "show",
];

/// Bits beside those of effects, for a case of a rule that asks about none of them: what it needs of a
/// subject instead, and what every subject has.
pub(crate) const NEEDS_OPAQUE: u64 = 1 << 59;
pub(crate) const NEEDS_ASSIGNS: u64 = 1 << 60;
pub(crate) const NEEDS_WITHIN: u64 = 1 << 61;
pub(crate) const NEEDS_SQL: u64 = 1 << 62;
pub(crate) const NEEDS_NOTHING: u64 = 1 << 63;

/// Where a path can be and what else an effect can be about; `path-classes.toml` adds to them.
#[allow(
    dead_code,
    reason = "read by the build script, which adds the classes of paths"
)]
pub(crate) const TARGETS: &[&str] = &[
    "root",
    "home",
    "system",
    "device",
    "workspace-root",
    "workspace",
    "generated",
    "temporary",
    "fresh",
    "committed",
    "outside",
    "unknown",
    "all-files",
    "gate-reach",
    "gate-above",
    "gate-twin",
    "tool-destroys",
    "tool-publishes",
    "tool-pays",
    "tool-reveals",
    "tool-sends",
    "program-destroys",
    "program-reaches",
    "program-reveals",
    "program-pays",
    "program-sends",
    "local-history",
    "remote-branch",
    "shared-branch",
    "loopback",
    "metadata-service",
    "raw-address",
    "internet",
    "private-address",
    "link-local",
    "internal-name",
    "disguised-address",
    "look-alike-host",
    "secret-variable",
    "environment",
    "terminal",
];

/// Roles of operands. `text` is no path; `move` is read and deleted.
#[allow(dead_code, reason = "read by the build script")]
pub(crate) const ROLES: &[&str] = &[
    "text", "read", "write", "append", "delete", "mode", "owner", "list", "run", "connect", "send",
    "either", "move", "remote", "address", "image",
];

/// What the files hold that a program has written.
#[allow(dead_code, reason = "read by the build script")]
pub(crate) const LEAVES: &[&str] = &[
    "copies", "links", "input", "edited", "history", "built", "nothing",
];

/// What statements for a database are written in.
#[allow(dead_code, reason = "read by the build script")]
pub(crate) const STATEMENTS: &[&str] = &[
    "postgres",
    "mysql",
    "sqlite",
    "sql",
    "redis",
    "mongo",
    "memcached",
];

/// Why what runs is not known.
pub(crate) const OPAQUE: &[&str] = &[
    "dynamic-program",
    "dynamic-code",
    "piped-into-shell",
    "downloaded",
    "decoded",
    "inline-code",
    "script-from-input",
    "executable-setting",
    "unreadable",
    "too-deep",
    "calls-itself",
    "over-budget",
    "cannot-read",
    "too-large",
    "not-text",
    "changed-before",
    "built-before",
];

/// The bit of a word in a list.
pub(crate) fn bit(list: &[&str], word: &str) -> Option<u64> {
    let at = list.iter().position(|known| *known == word)?;
    1u64.checked_shl(u32::try_from(at).ok()?)
}
