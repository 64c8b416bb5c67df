//! How each text is looked at: by its words, by what it means in a repository, and against what somebody
//! has seen before.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use holdpoint_cli::scan::baseline::{Baseline, MAX_BASELINE};
use holdpoint_cli::scan::dependencies::{
    Advisories, MAX_LOCK, is_lock, is_unread_lock, not_looked_up, weak,
};
use holdpoint_cli::scan::loosened::{MAX_POLICY, baseline_grown, hook_removed, loosened};
use holdpoint_cli::scan::repository::{is_policy, may_hold_hooks, severity};
use holdpoint_cli::scan::staged::{Revision, read_bounded, read_staged};
use holdpoint_cli::scan::{LocatedFinding, Scanned, Scanner};
use holdpoint_core::text::inspection::{Finding, Terms};
use holdpoint_core::text::{Origin, Severity};
use holdpoint_engine::escape_for_display;

use super::sources::Source;
use crate::cli::Scan;
use crate::commands::in_words;

/// What holds for every text of a run.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) scanner: Scanner,
    /// The origin that was named for all.
    pub(super) origin: Option<Origin>,
    terms: Terms,
    least: Severity,
    repository: Option<Revision>,
    baseline: Option<Arc<Baseline>>,
    /// How the baseline is called among the files that are scanned.
    baseline_name: Option<String>,
    advisories: Option<Arc<Advisories>>,
}

impl Look {
    pub(super) fn new(
        args: &Scan,
        scanner: Scanner,
        terms: Terms,
        least: Severity,
    ) -> anyhow::Result<Self> {
        let here = std::env::current_dir()?;
        let repository = match &args.against {
            Some(name) => Some(Revision::named(&here, name)?),
            None if args.staged || args.in_repo => Some(Revision::last(&here)?),
            None => None,
        };
        let mut advisories: Option<Advisories> = None;
        for path in &args.advisories {
            let more = Advisories::read(path)?;
            match &mut advisories {
                Some(known) => known.join(more),
                None => advisories = Some(more),
            }
        }
        let baseline = match &args.baseline {
            Some(path) if !args.update_baseline => Some(baseline(path, args.staged, &here)?),
            Some(_) | None => None,
        };
        Ok(Self {
            scanner,
            origin: None,
            terms,
            least,
            repository,
            baseline: baseline.map(Arc::new),
            baseline_name: args.baseline.as_deref().map(plain_name),
            advisories: advisories.map(Arc::new),
        })
    }

    /// Inspects the words of a text.
    pub(super) fn read(
        &self,
        name: &str,
        text: &mut dyn Read,
        origin: Origin,
    ) -> io::Result<Scanned> {
        let mut known = self.baseline.as_ref().map(|it| it.of_file(name));
        let in_repository = self.repository.is_some();
        let mut refine = |finding: &mut Finding, print: &str| {
            if in_repository {
                finding.severity = severity(name, finding);
            }
            !known.as_mut().is_some_and(|it| it.knows(finding, print))
        };
        self.scanner.read_refined(text, origin, Some(&mut refine))
    }

    /// Adds what can only be found in a whole file: policies that loosen, settings that no longer guard,
    /// locked versions that are known to be weak.
    pub(super) fn compare(
        &self,
        source: &Source,
        name: &str,
        whole: &dyn Fn(u64) -> io::Result<Option<Vec<u8>>>,
        scanned: &mut Scanned,
    ) -> Result<(), String> {
        let mut found = Vec::new();
        if let Some(revision) = &self.repository {
            found = self.against(revision, source, name, whole)?;
        }
        if let Some(advisories) = &self.advisories
            && !matches!(source, Source::Removed(_))
        {
            if is_unread_lock(name) {
                found.push(not_looked_up());
            }
            if is_lock(name)
                && let Some(bytes) = whole(MAX_LOCK).map_err(|error| in_words(&error))?
            {
                found.extend(weak(name, &bytes, advisories).map_err(|error| error.to_string())?);
            }
        }
        let mut known = self.baseline.as_ref().map(|it| it.of_file(name));
        for one in found {
            if let Some(known) = &mut known
                && known.knows(&one.finding, &one.print)
            {
                continue;
            }
            let action = self.terms.action(Origin::File, one.finding.severity);
            scanned.add(one, action, self.least);
        }
        Ok(())
    }

    fn against(
        &self,
        revision: &Revision,
        source: &Source,
        name: &str,
        whole: &dyn Fn(u64) -> io::Result<Option<Vec<u8>>>,
    ) -> Result<Vec<LocatedFinding>, String> {
        let is_baseline = self.baseline_name.as_deref() == Some(name);
        if !is_policy(name) && !may_hold_hooks(name) && !is_baseline {
            return Ok(Vec::new());
        }
        let path = match source {
            Source::Staged(_, path) | Source::Removed(path) => path.clone(),
            Source::File(path) => PathBuf::from("./").join(below_here(path)),
            Source::Input | Source::Problem(..) => return Ok(Vec::new()),
        };
        let max = match is_baseline {
            true => MAX_BASELINE,
            false => MAX_POLICY,
        };
        let before = revision
            .read(&path, max)
            .map_err(|error| format!("git does not say what it was ({})", error.kind()))?;
        let after = whole(max).map_err(|error| in_words(&error))?;
        let (before, after) = (before.as_deref(), after.as_deref());
        let mut found = Vec::new();
        if is_policy(name) {
            found = loosened(name, before, after);
        }
        if may_hold_hooks(name) {
            found.extend(hook_removed(name, before, after));
        }
        if let Some(after) = after.filter(|_| is_baseline) {
            found.extend(baseline_grown(before, after, name));
        }
        Ok(found)
    }
}

/// A path as it is called from here, where it was named in full.
fn below_here(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).to_owned()
}

/// How a file is called among those that are scanned.
fn plain_name(path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path);
    path.display().to_string()
}

fn baseline(path: &Path, staged: bool, here: &Path) -> anyhow::Result<Baseline> {
    let name = escape_for_display(&path.display().to_string(), 300);
    let bytes = match staged {
        // What is not staged is not committed either: nobody else would leave the same findings out.
        true => {
            let from_here = Path::new("./").join(path);
            match read_staged(here, &from_here, |text| read_bounded(text, MAX_BASELINE)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Baseline::default());
                }
                read => read,
            }
        }
        false => std::fs::File::open(path).and_then(|mut it| read_bounded(&mut it, MAX_BASELINE)),
    };
    let bytes = bytes.map_err(|error| {
        let again = match error.kind() == io::ErrorKind::NotFound {
            true => ": make it with --update-baseline",
            false => "",
        };
        anyhow::anyhow!("{name}: {}{again}", in_words(&error))
    })?;

    Baseline::read(&name, &bytes).context("--baseline")
}
