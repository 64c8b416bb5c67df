//! Where code stands and runs: what `__file__` and `getcwd()` give.

use super::Operand;

/// The directory code runs in, and the file it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) directory: String,
    pub(crate) file: String,
}

impl Default for Place {
    /// Code in a command stands where it runs, to whatever asks.
    fn default() -> Self {
        Self {
            directory: ".".to_owned(),
            file: "./-".to_owned(),
        }
    }
}

/// Names of what languages give code to find itself by.
const NAMING: &[&str] = &[
    "__dirname",
    "__filename",
    "__DIR__",
    "__FILE__",
    "__file__",
    "__dir__",
    "FindBin",
    "import.meta",
    "cwd",
    "pwd",
    "$0",
    "Rails.root",
];

/// Whether code may ask where it stands or runs: of all other code nobody needs to know.
pub(crate) fn names_its_place(code: &str) -> bool {
    NAMING.iter().any(|name| code.contains(name))
}

impl Place {
    /// What a name of a language's own says of this place.
    pub(super) fn named(&self, name: &str) -> Option<Operand> {
        let known = match name {
            "__dirname"
            | "__DIR__"
            | "__dir__"
            | "import.meta.dirname"
            | "import.meta.dir"
            | "$FindBin::Bin"
            | "$FindBin::RealBin" => parent(&self.file),
            "__filename"
            | "__FILE__"
            | "__file__"
            | "$0"
            | "import.meta.filename"
            | "import.meta.path"
            | "import.meta.url" => self.file.clone(),
            "Rails.root" => self.directory.clone(),
            _ => return None,
        };
        Some(Operand::Known(known))
    }
}

/// The directory a path lies in.
pub(super) fn parent(path: &str) -> String {
    let path = match path.trim_end_matches('/') {
        "" if path.starts_with('/') => return "/".to_owned(),
        path => path,
    };
    let (above, last) = match path.rsplit_once('/') {
        Some(("", last)) => ("/", last),
        Some((above, last)) => (above, last),
        None => (".", path),
    };
    match last {
        "." | ".." => format!("{path}/.."),
        // The home has no name to take away.
        "" => ".".to_owned(),
        home if home.starts_with('~') && above == "." => format!("{home}/.."),
        _ => above.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_in_a_directory() {
        for (path, above) in [
            ("/a/b", "/a"),
            ("/a", "/"),
            ("/", "/"),
            ("a/b/", "a"),
            ("a", "."),
            (".", "./.."),
            ("a/..", "a/../.."),
            ("~", "~/.."),
            ("~/x", "~"),
            ("", "."),
        ] {
            assert_eq!(parent(path), above, "{path}");
        }
    }
}
