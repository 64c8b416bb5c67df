//! The commands that install one package, exactly.

use super::manifest::NewPackage;

/// What installs packages: its name, what puts a version behind the name of a package, and the commands up to that.
const MANAGERS: &[(&str, &str, &[&str])] = &[
    ("cargo", "@", &["cargo add", "cargo add --dev"]),
    (
        "npm",
        "@",
        &[
            "npm install",
            "npm i",
            "npm install --save-dev",
            "npm install -D",
        ],
    ),
    ("pnpm", "@", &["pnpm add", "pnpm add -D"]),
    ("yarn", "@", &["yarn add", "yarn add --dev", "yarn add -D"]),
    ("bun", "@", &["bun add", "bun add -d"]),
    (
        "pip",
        "==",
        &[
            "pip install",
            "pip3 install",
            "python -m pip install",
            "python3 -m pip install",
        ],
    ),
    ("uv", "==", &["uv add", "uv add --dev", "uv pip install"]),
    ("poetry", "@", &["poetry add"]),
    ("go", "@", &["go get"]),
    ("gem", ":", &["gem install"]),
    ("composer", ":", &["composer require"]),
];

/// The names of what installs packages.
pub(super) fn managers() -> Vec<&'static str> {
    MANAGERS.iter().map(|(name, ..)| *name).collect()
}

/// The commands that install a package; none if nobody knows how, or its name is none.
pub(super) fn commands(package: &NewPackage) -> Option<Vec<String>> {
    let (_, sign, begins) = (MANAGERS.iter()).find(|(name, ..)| *name == package.manager)?;
    let what = match &package.version {
        Some(version) => format!("{}{sign}{version}", package.name),
        None => package.name.clone(),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "@._/:+~^=-".contains(c);
    // An address or a path is another package than the registry's of that name.
    let named = what.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@')
        && what.chars().all(plain)
        && !what.contains("..")
        && !what.contains("//")
        && !what.contains(":/");
    named.then(|| {
        let lines = begins.iter().map(|begin| format!("{begin} {what}"));
        lines.collect()
    })
}
