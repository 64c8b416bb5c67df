//! Rules a person keeps for one project, in a file of their own beside their policy: never in the repository, where whoever
//! writes there could change them.
//!
//! They count as if they stood in the person's policy, for work in that project alone. A project is known by its path and by
//! where its repository comes from, so that another one in the same place has none of them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use holdpoint_core::policy::{Authority, Source, Trust};
use holdpoint_core::{digest_of, document};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::load::{FileError, read_text_file};
use crate::locations::Locations;
use crate::stamps::Stamps;
use crate::store::{is_absent, lock, plain_words, write_whole};

/// The largest such file that is read: some ten thousand rules. A larger one is an error.
const MAX_KEPT: u64 = 4 << 20;

/// The largest repository's settings that are looked at for where it comes from; of larger ones the beginning counts.
const MAX_SETTINGS: u64 = 1 << 20;

/// The file, as it is stored.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    #[serde(default)]
    projects: BTreeMap<String, Project>,
}

/// What is kept for one project.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Project {
    /// The digest of where its repository comes from.
    identity: String,
    /// Patterns that run without asking.
    allow: Vec<String>,
}

/// Why a rule was not kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// There is no place for it.
    #[error("no home directory is known, so nothing can be kept: set HOME")]
    NoPlace,
    /// What is there cannot be read.
    #[error(transparent)]
    Unread(#[from] FileError),
    /// The disk does not play along.
    #[error("{0}: it cannot be written ({1}): check the directory and the disk")]
    Unwritten(String, String),
}

/// The rules kept for projects.
#[derive(Clone, Debug)]
pub struct KeptRules {
    path: PathBuf,
}

impl KeptRules {
    /// Those of this user.
    pub fn at(locations: &Locations) -> Option<Self> {
        // A file named in place of the user's stands in place of these, too.
        let user = locations
            .user
            .as_ref()
            .filter(|_| locations.named.is_none())?;
        Some(Self {
            path: user.with_file_name("projects.json"),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rules for work in a directory, as a layer of the user's.
    pub(crate) fn source(
        &self,
        workspace: &Path,
        stamps: &mut Stamps,
    ) -> Result<Option<Source>, FileError> {
        let allow = self.read_for(workspace, stamps)?;
        Ok((!allow.is_empty()).then(|| Source {
            name: self.path.display().to_string(),
            authority: Authority::User,
            trust: Trust::Trusted,
            bytes: json!({ "allow": { "patterns": allow } })
                .to_string()
                .into_bytes(),
        }))
    }

    /// The rules for work in a directory.
    pub fn list(&self, workspace: &Path) -> Result<Vec<String>, KeepError> {
        Ok(self.read_for(workspace, &mut Stamps::default())?)
    }

    /// Keeps rules for work in a directory.
    pub fn add(&self, workspace: &Path, patterns: &[String]) -> Result<(), KeepError> {
        self.change(workspace, |allow| {
            for pattern in patterns {
                if !allow.contains(pattern) {
                    allow.push(pattern.clone());
                }
            }
        })
    }

    /// Takes a rule back: whether it was there.
    pub fn forget(&self, workspace: &Path, pattern: &str) -> Result<bool, KeepError> {
        let mut found = false;
        self.change(workspace, |allow| {
            found = allow.iter().any(|known| known == pattern);
            allow.retain(|known| known != pattern);
        })?;
        Ok(found)
    }

    fn read_for(&self, workspace: &Path, stamps: &mut Stamps) -> Result<Vec<String>, FileError> {
        if is_absent(&self.path) {
            stamps.absent(&self.path);
            return Ok(Vec::new());
        }
        let mut kept = self.read(stamps)?;
        let root = root_of(workspace);
        let Some(project) = kept.projects.remove(&name_of(&root)) else {
            return Ok(Vec::new());
        };
        Ok(match project.identity == identity(&root, stamps) {
            true => project.allow,
            false => Vec::new(),
        })
    }

    fn read(&self, stamps: &mut Stamps) -> Result<Kept, FileError> {
        let bytes = read_text_file(&self.path, "file of kept rules", MAX_KEPT, stamps)?;
        document::read(&self.path.display().to_string(), &bytes).map_err(|error| FileError {
            path: self.path.clone(),
            problem: format!("line {}: {}", error.line, error.message()),
            hint: "correct it, or remove the file to forget what is kept for projects",
        })
    }

    fn change(
        &self,
        workspace: &Path,
        edit: impl FnOnce(&mut Vec<String>),
    ) -> Result<(), KeepError> {
        let failed = |error: io::Error| {
            KeepError::Unwritten(self.path.display().to_string(), plain_words(&error))
        };
        let _held = lock(&self.path).map_err(failed)?;
        let stamps = &mut Stamps::default();
        let mut kept = match is_absent(&self.path) {
            true => Kept::default(),
            false => self.read(stamps)?,
        };
        let root = root_of(workspace);
        let identity = identity(&root, stamps);
        let project = kept.projects.entry(name_of(&root)).or_default();
        if project.identity != identity {
            // What was kept for what stood here before is not for this.
            *project = Project {
                identity,
                allow: Vec::new(),
            };
        }
        edit(&mut project.allow);
        kept.projects.retain(|_, project| !project.allow.is_empty());
        let text = serde_json::to_vec_pretty(&kept).map_err(|error| failed(error.into()))?;
        write_whole(&self.path, &text).map_err(failed)
    }
}

/// The directory a project is known by: its repository's, or the one itself.
fn root_of(workspace: &Path) -> PathBuf {
    let mut above = workspace.ancestors();
    let root = above.find(|path| path.join(".git").exists());
    root.unwrap_or(workspace).to_owned()
}

fn name_of(root: &Path) -> String {
    root.display().to_string()
}

/// A digest of where a repository comes from: the addresses of its remotes, in order.
fn identity(root: &Path, stamps: &mut Stamps) -> String {
    let settings = root.join(".git/config");
    let text = match read_text_file(&settings, "repository's settings", MAX_SETTINGS, stamps) {
        Ok(bytes) => bytes,
        Err(_) => {
            if is_absent(&settings) {
                stamps.absent(&settings);
            }
            Vec::new()
        }
    };
    let text = String::from_utf8_lossy(&text);
    let mut remote = false;
    let mut addresses = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            remote = line.starts_with("[remote ");
        } else if let Some((key, address)) = line.split_once('=')
            && remote
            && key.trim() == "url"
        {
            addresses.push(address.trim());
        }
    }
    digest_of(addresses.join("\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn rules_are_for_one_project_and_not_for_what_takes_its_place() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        let kept = KeptRules {
            path: at("config/projects.json"),
        };
        fs::create_dir_all(at("p/.git")).unwrap();
        fs::create_dir_all(at("p/src")).unwrap();
        let config = "[core]\n\turl = x\n[remote \"origin\"]\n\turl = https://a.example/p\n";
        fs::write(at("p/.git/config"), config).unwrap();
        assert_eq!(kept.list(&at("p")).unwrap(), [""; 0]);
        let rules = ["make *".to_owned(), "npm test".to_owned()];
        kept.add(&at("p/src"), &rules).unwrap();
        kept.add(&at("p"), &rules).unwrap();
        assert_eq!(kept.list(&at("p")).unwrap(), rules);
        assert_eq!(kept.list(&at("q")).unwrap(), [""; 0]);
        // Settings that say nothing about where it comes from change nothing.
        fs::write(at("p/.git/config"), config.replace("url = x", "url = y")).unwrap();
        assert_eq!(kept.list(&at("p")).unwrap(), rules);
        assert!(kept.forget(&at("p"), "make *").unwrap());
        assert!(!kept.forget(&at("p"), "make *").unwrap());
        assert_eq!(kept.list(&at("p")).unwrap(), ["npm test"]);
        fs::write(
            at("p/.git/config"),
            config.replace("a.example", "b.example"),
        )
        .unwrap();
        assert_eq!(kept.list(&at("p")).unwrap(), [""; 0]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let kept = KeptRules {
            path: home.path().join("projects.json"),
        };
        fs::write(kept.path(), "{\"projects\": 1}").unwrap();
        assert!(kept.list(home.path()).is_err());
        assert!(kept.add(home.path(), &["ls".into()]).is_err());
    }
}
