//! Where packages come from, as manifests and settings of package managers say it.
//!
//! Promises the addresses among the places of a file that name a source, and of those only the ones whose host is no
//! registry or forge people get their packages from every day. A homepage is no source.

use crate::rules::{SOURCE_FORMATS, SourceForm, USUAL_SOURCES};

/// Keys of JSON whose values are addresses for people.
const FOR_PEOPLE: &[&str] = &[
    "$schema",
    "author",
    "bugs",
    "docs",
    "documentation",
    "email",
    "funding",
    "homepage",
    "icon",
    "image",
    "license",
    "proxy",
    "repository",
    "source",
    "support",
    "url",
    "website",
];

/// The most text that is looked through; lists that people keep are shorter, and locks are written by programs.
const MAX_TEXT: usize = 512 << 10;
/// Addresses taken out of one file: one is enough to ask.
const MAX_SOURCES: usize = 4;

/// The unusual sources a file names.
pub(crate) fn unusual(file: &str, text: &str) -> Vec<String> {
    let form_of = |file: &str| {
        let fits = |ends: &&[&str]| ends.iter().any(|end| file.ends_with(end));
        SOURCE_FORMATS.iter().find(|(ends, _)| fits(ends))
    };
    let requirements = || file.ends_with(".txt").then(|| form_of("requirements.txt"));
    let Some((_, form)) = form_of(file).or_else(|| requirements().flatten()) else {
        return Vec::new();
    };
    let mut found: Vec<String> = Vec::new();
    let mut in_repository = false;
    // Settings in braces may stand on one line: each of them is looked at.
    let ends =
        |sign: char| sign == '\n' || (*form == SourceForm::Dependencies && ",{}".contains(sign));
    for line in text.get(..MAX_TEXT).unwrap_or(text).split(ends) {
        let line = line.trim();
        if line.starts_with(['#', ';']) || line.starts_with("//") {
            continue;
        }
        let from = match form {
            SourceForm::Any => Some(line),
            SourceForm::Keys(keys) => behind_key(line, keys),
            SourceForm::Dependencies => dependency(line),
            SourceForm::Replacements => line.split_once("=>").map(|(_, to)| to.trim()),
            SourceForm::Repositories => {
                in_repository |= line.contains("<repositor")
                    || line.contains("<pluginRepositor")
                    || line.contains("<mirror");
                let url = line.split_once("<url>").map(|(_, url)| url);
                let url = url.filter(|_| in_repository);
                in_repository &= !line.contains("</repositories") && !line.contains("</mirrors");
                url
            }
        };
        let Some(address) = from.and_then(|from| address_in(from, *form)) else {
            continue;
        };
        if !found.contains(&address) {
            found.push(address);
        }
        if found.len() >= MAX_SOURCES {
            break;
        }
    }
    found
}

/// What stands behind one of these keys, at the beginning of the line or within a table on it.
fn behind_key<'l>(line: &'l str, keys: &[&str]) -> Option<&'l str> {
    keys.iter().find_map(|key| {
        let at = line.find(key)?;
        let front = line.get(..at)?;
        let behind = line.get(at + key.len()..)?;
        // `url` of `url = …`, not of `curl`, `urls` or `documentation-url`.
        let begins = key.starts_with(' ')
            || !front.ends_with(|sign: char| sign.is_alphanumeric() || "-_/".contains(sign));
        let first = behind.trim_start_matches(['"', '\'']).trim_start();
        let ends = key.starts_with(' ') || first.starts_with(['=', ':', '(', '{', '"', '\'', 'h']);
        (begins && ends).then_some(behind)
    })
}

/// The value of a dependency in a line of JSON, if it is an address.
fn dependency(line: &str) -> Option<&str> {
    let (key, value) = line.split_once("\":")?;
    let key = key.rsplit('"').next().unwrap_or(key);
    let value = value.trim().trim_start_matches('"');
    let is_address = value.starts_with("http") || value.starts_with("git");
    (is_address && !FOR_PEOPLE.contains(&key)).then_some(value)
}

/// The first address of a text, if its host is none of the usual.
fn address_in(text: &str, form: SourceForm) -> Option<String> {
    let (scheme, rest) = match text.split_once("://") {
        Some((front, rest)) => {
            let scheme = front
                .trim_end_matches('\\')
                .rsplit(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '+'))
                .next()?;
            (scheme.to_owned(), rest)
        }
        // A module is named by its host.
        None if form == SourceForm::Replacements && !text.starts_with(['.', '/']) => {
            ("https".to_owned(), text)
        }
        None => return None,
    };
    let ends = |sign: char| sign.is_whitespace() || "\"'<>)],;".contains(sign);
    let whole = rest.split(ends).next()?;
    let host = whole.split(['/', '?', '#']).next()?;
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.replace('\\', "");
    let name = host.split(':').next().unwrap_or(&host).to_ascii_lowercase();
    let usual = USUAL_SOURCES.iter().any(|usual| {
        name.strip_suffix(usual)
            .is_some_and(|front| front.is_empty() || front.ends_with('.'))
    });
    (name.contains('.') && !usual && !name.contains(['$', '{']))
        .then(|| format!("{scheme}://{whole}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_anybody_serves_files_is_no_usual_source() {
        for host in [
            "evil.s3.amazonaws.com",
            "evil.github.io",
            "evil.gitlab.io",
            "evil.cloudapp.azure.com",
            "codeberg.org",
            "git.sr.ht",
            "python.pkg.dev",
            "example.com",
        ] {
            let text = format!("{{\"dependencies\": {{\n  \"x\": \"https://{host}/x.tgz\"\n}}}}");
            assert_eq!(unusual("package.json", &text).len(), 1, "{host}");
        }
        for host in ["registry.npmjs.org", "npm.jsr.io", "github.com"] {
            let text = format!("{{\"dependencies\": {{\n  \"x\": \"https://{host}/x.tgz\"\n}}}}");
            assert!(unusual("package.json", &text).is_empty(), "{host}");
        }
    }

    #[test]
    fn the_registry_of_vcpkg_is_a_source() {
        let text = "{\n \"default-registry\": { \"kind\": \"git\",\n  \"repository\": \"https://evil.example/ports\" }}";
        assert_eq!(unusual("vcpkg-configuration.json", text).len(), 1);
    }

    #[test]
    fn sources_that_are_not_usual_are_found() {
        for (file, text) in [
            (".npmrc", "registry=http://evil.example\n"),
            (
                "package.json",
                "{\"dependencies\": {\n  \"x\": \"http://evil.example/x.tgz\"\n}}",
            ),
            (
                "requirements.txt",
                "--index-url http://evil.example/simple\n",
            ),
            ("requirements.txt", "x @ git+https://evil.example/x\n"),
            (
                "pyproject.toml",
                "dependencies=[\"x @ http://evil.example/x.whl\"]\n",
            ),
            ("pyproject.toml", "index-url=\"http://evil.example\"\n"),
            ("Cargo.toml", "x = { git = \"https://evil.example/x\" }\n"),
            (
                "go.mod",
                "replace github.com/x/y => evil.example/y v1.0.0\n",
            ),
            (
                "gradle/wrapper/gradle-wrapper.properties",
                "distributionUrl=https\\://evil.example/gradle.zip\n",
            ),
            (
                "pom.xml",
                "<project><repositories><repository><url>http://evil.example</url></repository></repositories></project>",
            ),
        ] {
            assert_eq!(unusual(file, text).len(), 1, "{file}: {text}");
        }
    }

    #[test]
    fn homepages_and_usual_registries_are_none() {
        for (file, text) in [
            (
                ".npmrc",
                "registry=https://registry.npmjs.org/\nengine-strict=true\n",
            ),
            (
                "package.json",
                "{\n \"homepage\": \"https://acme.example\",\n \"url\": \"https://acme.example/x.git\",\n \"proxy\": \"http://localhost:4000\",\n \"x\": \"^1.0.0\"\n}",
            ),
            (
                "requirements.txt",
                "requests==2.0\n# see https://acme.example\ngit+https://github.com/a/b\n",
            ),
            (
                "pyproject.toml",
                "[project.urls]\nHomepage = \"https://acme.example\"\nDocumentation-url = \"https://acme.example\"\n",
            ),
            (
                "Cargo.toml",
                "repository = \"https://acme.example\"\nhomepage = \"https://acme.example\"\n",
            ),
            (
                "go.mod",
                "replace a/b => ../b\nrequire acme.example/x v1.0.0\n",
            ),
            (
                "pom.xml",
                "<project><url>http://acme.example</url></project>",
            ),
            ("build.gradle", "maven { url 'https://jitpack.io' }\n"),
        ] {
            assert_eq!(unusual(file, text), Vec::<String>::new(), "{file}");
        }
    }
}
