//! Lock files of each format against advisories of both.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

const OSV: &str = r#"{"id": "GHSA-aaaa", "summary": "Prototype pollution.", "affected": [
  {"package": {"ecosystem": "npm", "name": "left"},
   "ranges": [{"type": "SEMVER", "events": [{"introduced": "1.0.0"}, {"fixed": "1.2.3"}, {"introduced": "2.0.0"}, {"last_affected": "2.0.5"}]}]},
  {"package": {"ecosystem": "PyPI", "name": "Left_Pad"}, "versions": ["1.0"]},
  {"package": {"ecosystem": "Go", "name": "example.org/left"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.5.0"}]}]},
  {"package": {"ecosystem": "Packagist", "name": "left/left"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]}
], "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}]}"#;

const RUSTSEC: &str = "```toml\n[advisory]\nid = \"RUSTSEC-2026-0001\"\npackage = \"left\"\ndate = \"2026-01-01\"\n\n[versions]\npatched = [\">= 1.2.3\"]\nunaffected = [\"< 1.0.0\"]\n```\n\n# Out of bounds\n\nLong text.\n";

fn database() -> Advisories {
    let place = TempDir::new().unwrap();
    fs::create_dir_all(place.path().join("crates/left")).unwrap();
    fs::write(place.path().join("GHSA-aaaa.json"), OSV).unwrap();
    fs::write(
        place.path().join("crates/left/RUSTSEC-2026-0001.md"),
        RUSTSEC,
    )
    .unwrap();
    fs::write(place.path().join("README.md"), "# A database\n").unwrap();
    fs::write(
        place.path().join("old.json"),
        OSV.replace(
            "\"summary\"",
            "\"withdrawn\": \"2026-01-01T00:00:00Z\", \"summary\"",
        )
        .replace("aaaa", "bbbb"),
    )
    .unwrap();
    Advisories::read(place.path()).unwrap()
}

fn found(path: &str, text: &str) -> Vec<(String, u64, Severity)> {
    weak(path, text.as_bytes(), &database())
        .unwrap()
        .into_iter()
        .map(|one| (one.preview, one.start.line, one.finding.severity))
        .collect()
}

#[test]
fn weak_versions_are_found_in_every_format() {
    let cargo = "version = 4\n\n[[package]]\nname = \"right\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"left\"\nversion = \"1.2.0\"\n";
    assert_eq!(
        found("a/Cargo.lock", cargo),
        [("left 1.2.0".into(), 8, Severity::High)]
    );
    for version in ["0.9.0", "1.2.3", "2.0.0"] {
        assert!(
            found("Cargo.lock", &cargo.replace("1.2.0", version)).is_empty(),
            "{version}"
        );
    }
    let npm = "{\n \"packages\": {\n  \"\": {},\n  \"node_modules/a/node_modules/left\": {\"version\": \"2.0.5\"},\n  \"node_modules/other\": {\"name\": \"left\", \"version\": \"1.0.0\"},\n  \"node_modules/left\": {\"version\": \"2.0.6\"}}}";
    let want = [4, 5].map(|line| line as u64);
    assert_eq!(
        found("package-lock.json", npm)
            .iter()
            .map(|it| it.1)
            .collect::<Vec<_>>(),
        want
    );
    let old = "{\"dependencies\": {\"a\": {\"version\": \"1.0.0\", \"dependencies\": {\"left\": {\"version\": \"1.1.0\"}}}}}";
    assert_eq!(found("npm-shrinkwrap.json", old)[0].2, Severity::Critical);
    let poetry = "[[package]]\nname = \"left-pad\"\nversion = \"1.0\"\n";
    for name in ["poetry.lock", "uv.lock", "pdm.lock"] {
        assert_eq!(found(name, poetry).len(), 1, "{name}");
    }
    let requirements = "# all\nleft.pad[x]==1.0.0 ; python_version > '3'\nleft-pad>=1.0\n";
    assert_eq!(found("requirements-dev.txt", requirements)[0].1, 2);
    assert_eq!(found("requirements-dev.txt", requirements).len(), 1);
    let pipfile = "{\"default\": {\"left-pad\": {\"version\": \"==1.0\"}}}";
    assert_eq!(found("Pipfile.lock", pipfile).len(), 1);
    let go = "example.org/left v1.4.0 h1:x=\nexample.org/left v1.3.0/go.mod h1:x=\nexample.org/left v1.5.0 h1:x=\n";
    assert_eq!(
        found("go.sum", go),
        [("example.org/left v1.4.0".into(), 1, Severity::Critical)]
    );
    let composer = "{\"packages\": [{\"name\": \"Left/Left\", \"version\": \"dev-main\"}]}";
    assert_eq!(
        found("composer.lock", composer).len(),
        1,
        "a version nobody can compare"
    );
}

#[test]
fn what_cannot_be_read_is_an_error() {
    assert!(weak("Cargo.lock", b"[[package", &database()).is_err());
    assert!(weak("package-lock.json", b"\xff", &database()).is_err());
    let place = TempDir::new().unwrap();
    assert!(matches!(
        Advisories::read(place.path()),
        Err(AdvisoriesError::Empty(_))
    ));
    fs::write(place.path().join("x.json"), "{").unwrap();
    assert!(matches!(
        Advisories::read(place.path()),
        Err(AdvisoriesError::Malformed(..))
    ));
    assert!(is_unread_lock("web/yarn.lock") && !is_lock("web/yarn.lock"));
}

#[test]
fn nothing_of_a_database_is_passed_over_in_silence() {
    let place = TempDir::new().unwrap();
    let read = || Advisories::read(place.path());
    let twelve: PathBuf = std::iter::repeat_n("d", 12).collect();
    let deepest = place.path().join(twelve);
    fs::create_dir_all(&deepest).unwrap();
    fs::write(deepest.join("one.json"), OSV).unwrap();
    assert!(read().is_ok());
    fs::create_dir(deepest.join("e")).unwrap();
    assert!(matches!(read(), Err(AdvisoriesError::TooDeep(_))));
    fs::remove_dir(deepest.join("e")).unwrap();
    #[cfg(unix)]
    {
        let elsewhere = TempDir::new().unwrap();
        let link = place.path().join("linked");
        std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
        assert!(matches!(read(), Err(AdvisoriesError::Linked(_))));
        // What is named may be one.
        fs::write(elsewhere.path().join("one.json"), OSV).unwrap();
        assert!(Advisories::read(&link).is_ok());
    }
}
