//! Where packages come from, as manifests and settings of package managers say it.
//!
//! Promises the addresses among the places of a file that name a source, and of those only the ones whose host is no
//! registry or forge people get their packages from every day. A homepage is no source.

/// What a file says about sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Every address is one: a list of requirements.
    Any,
    /// `key = value`, with these keys.
    Keys(&'static [&'static str]),
    /// The value of a dependency in JSON, whatever it is called.
    Dependencies,
    /// `replace a => b`
    Replacements,
    /// `<repository><url>`
    Repositories,
}

/// Files by the end of their names.
const FORMS: &[(&str, Form)] = &[
    (".npmrc", Form::Keys(&["registry"])),
    (".yarnrc.yml", Form::Keys(&["npmRegistryServer"])),
    (".yarnrc", Form::Keys(&["registry"])),
    ("package.json", Form::Dependencies),
    ("package-lock.json", Form::Keys(&["resolved"])),
    ("yarn.lock", Form::Keys(&["resolved"])),
    ("pip.conf", Form::Keys(&["index-url", "find-links"])),
    ("requirements.txt", Form::Any),
    ("constraints.txt", Form::Any),
    ("Pipfile", Form::Keys(&["url"])),
    ("uv.toml", Form::Keys(&["url", "index"])),
    (
        "pyproject.toml",
        Form::Keys(&["url", "index-url", "index", " @ ", "git"]),
    ),
    ("config.toml", Form::Keys(&["registry", "index"])),
    ("Cargo.toml", Form::Keys(&["git", "registry", "index"])),
    ("go.mod", Form::Replacements),
    ("pom.xml", Form::Repositories),
    ("settings.xml", Form::Repositories),
    ("build.gradle", Form::Keys(&["url", "maven"])),
    ("build.gradle.kts", Form::Keys(&["url", "maven"])),
    ("settings.gradle", Form::Keys(&["url", "maven"])),
    (
        "gradle-wrapper.properties",
        Form::Keys(&["distributionUrl"]),
    ),
    (
        "maven-wrapper.properties",
        Form::Keys(&["distributionUrl", "wrapperUrl"]),
    ),
    ("composer.json", Form::Keys(&["url"])),
    ("Gemfile", Form::Keys(&["source", "git"])),
];

/// Hosts packages come from every day, and this machine.
const USUAL: &[&str] = &[
    "127.0.0.1",
    "anaconda.org",
    "apache.org",
    "bitbucket.org",
    "clojars.org",
    "crates.io",
    "dl.google.com",
    "github.com",
    "githubusercontent.com",
    "gitlab.com",
    "go.dev",
    "golang.org",
    "googlesource.com",
    "gopkg.in",
    "gradle.org",
    "huggingface.co",
    "jboss.org",
    "jitpack.io",
    "jsr.io",
    "k8s.io",
    "localhost",
    "maven.google.com",
    "maven.org",
    "npmjs.com",
    "npmjs.org",
    "nvidia.com",
    "oracle.com",
    "packagist.org",
    "pypi.org",
    "python.org",
    "pythonhosted.org",
    "pytorch.org",
    "rubygems.org",
    "sonatype.org",
    "spring.io",
    "uber.org",
    "yarnpkg.com",
];

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

/// The files of a package manager that say where packages come from, below the directory it runs in.
pub(crate) fn files_of(program: &str) -> &'static [&'static str] {
    match program {
        "npm" | "pnpm" | "yarn" | "bun" => &[
            ".npmrc",
            ".yarnrc.yml",
            ".yarnrc",
            "package.json",
            "package-lock.json",
            "yarn.lock",
        ],
        "pip" | "pip3" => &[
            "requirements.txt",
            "requirements-dev.txt",
            "dev-requirements.txt",
            "pyproject.toml",
            "pip.conf",
        ],
        "uv" | "poetry" | "pdm" | "pipenv" | "hatch" | "rye" => {
            &["pyproject.toml", "uv.toml", "Pipfile", "requirements.txt"]
        }
        "cargo" => &[".cargo/config.toml", "Cargo.toml"],
        "go" => &["go.mod"],
        "mvn" | "mvnw" => &[
            "pom.xml",
            ".mvn/wrapper/maven-wrapper.properties",
            ".mvn/settings.xml",
        ],
        "gradle" | "gradlew" => &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "gradle/wrapper/gradle-wrapper.properties",
        ],
        "composer" => &["composer.json"],
        "bundle" | "bundler" => &["Gemfile"],
        _ => &[],
    }
}

/// The unusual sources a file names.
pub(crate) fn unusual(file: &str, text: &str) -> Vec<String> {
    let Some((_, form)) = FORMS
        .iter()
        .find(|(end, _)| file.ends_with(end))
        .or_else(|| {
            FORMS
                .iter()
                .find(|(end, _)| *end == "requirements.txt" && file.ends_with(".txt"))
        })
    else {
        return Vec::new();
    };
    let mut found: Vec<String> = Vec::new();
    let mut in_repository = false;
    for line in text.get(..MAX_TEXT).unwrap_or(text).lines() {
        let line = line.trim();
        if line.starts_with(['#', ';']) || line.starts_with("//") {
            continue;
        }
        let from = match form {
            Form::Any => Some(line),
            Form::Keys(keys) => behind_key(line, keys),
            Form::Dependencies => dependency(line),
            Form::Replacements => line.split_once("=>").map(|(_, to)| to.trim()),
            Form::Repositories => {
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
fn address_in(text: &str, form: Form) -> Option<String> {
    let (scheme, rest) = match text.split_once("://") {
        Some((front, rest)) => {
            let scheme = front
                .trim_end_matches('\\')
                .rsplit(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '+'))
                .next()?;
            (scheme.to_owned(), rest)
        }
        // A module is named by its host.
        None if form == Form::Replacements && !text.starts_with(['.', '/']) => {
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
    let usual = USUAL.iter().any(|usual| {
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
