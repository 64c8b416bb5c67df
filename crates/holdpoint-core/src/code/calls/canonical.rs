//! One name for what a language lets be called by several.

use std::borrow::Cow;

use crate::code::Language;

/// A name as the table spells it.
pub(in crate::code) fn canonical(language: Language, name: &str) -> Cow<'_, str> {
    match language {
        Language::Python => {
            for (from, to) in [
                ("builtins.", ""),
                ("__builtins__.", ""),
                ("posix.", "os."),
                ("nt.", "os."),
            ] {
                if let Some(rest) = name.strip_prefix(from) {
                    return Cow::Owned(format!("{to}{rest}"));
                }
            }
            Cow::Borrowed(name)
        }
        Language::JavaScript => javascript_name(name),
        Language::Ruby => Cow::Borrowed(
            ["Kernel.", "Object.", "self.", "Process."]
                .iter()
                .find_map(|prefix| name.strip_prefix(prefix))
                .filter(|rest| {
                    matches!(
                        *rest,
                        "system"
                            | "exec"
                            | "spawn"
                            | "eval"
                            | "open"
                            | "load"
                            | "send"
                            | "require"
                            | "const_get"
                            | "instance_eval"
                            | "class_eval"
                            | "`"
                    )
                })
                .unwrap_or(name),
        ),
        Language::Perl => Cow::Borrowed(
            ["CORE.GLOBAL.", "CORE."]
                .iter()
                .find_map(|prefix| name.strip_prefix(prefix))
                .unwrap_or(name),
        ),
        Language::Php => Cow::Owned(name.trim_start_matches('\\').to_ascii_lowercase()),
        Language::Lua => Cow::Borrowed(name.strip_prefix("_G.").unwrap_or(name)),
        Language::Awk | Language::Vim | Language::PowerShell => Cow::Borrowed(name),
    }
}

fn javascript_name(name: &str) -> Cow<'_, str> {
    let mut name = name;
    while let Some(rest) = ["globalThis.", "global.", "window.", "self.", "node:"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
    {
        name = rest;
    }
    if let Some(rest) = name.strip_prefix("@aws-sdk/client-") {
        return Cow::Owned(format!("@aws-sdk.{rest}"));
    }
    for (module, known) in [
        ("fs/promises", "fs"),
        ("fs-extra", "fs"),
        ("graceful-fs", "fs"),
        ("fs.promises", "fs"),
        ("fs.default", "fs"),
        ("child_process.default", "child_process"),
        ("process.mainModule.require", "require"),
        ("module.require", "require"),
        ("process.getBuiltinModule", "require"),
        ("module.constructor._load", "require"),
    ] {
        if let Some(rest) = name.strip_prefix(module)
            && (rest.is_empty() || rest.starts_with('.'))
        {
            return Cow::Owned(format!(
                "{known}{}",
                rest.strip_suffix("Sync").unwrap_or(rest)
            ));
        }
    }
    if name.starts_with('?') {
        // `execSync` says more about an unknown object than `exec`.
        return Cow::Borrowed(name);
    }
    Cow::Borrowed(name.strip_suffix("Sync").unwrap_or(name))
}
