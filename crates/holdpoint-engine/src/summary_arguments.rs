//! Which arguments say most about a call, for whoever has one line to tell it in.

/// The most telling first.
pub const SUMMARY_ARGUMENTS: &[&str] = &[
    "command",
    "cmd",
    "file_path",
    "absolute_path",
    "notebook_path",
    "path",
    "url",
    "query",
    "pattern",
    "prompt",
];
