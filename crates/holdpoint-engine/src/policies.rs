//! The policies calls come under, loaded once and kept for as long as their files stay the same.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use holdpoint_core::{Policy, Profile};

use crate::context::PolicySource;
use crate::error::EngineError;
use crate::load::{LoadError, load_file_stamped, load_layers_stamped, load_text_stamped};
use crate::locations::Locations;
use crate::stamps::Stamps;

/// The most policies kept at once. A stream of calls may bring one of its own with each; beyond this
/// all are forgotten, and loaded again when they are wanted.
const MAX_KEPT: usize = 256;

/// The largest policy given with a call: as large as a file may be. A call with a larger one is refused.
const MAX_INLINE: usize = 4 << 20;

/// Policies by their source.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    kept: Mutex<HashMap<PolicySource, Kept>>,
    loads: AtomicUsize,
}

#[derive(Debug)]
struct Kept {
    policy: Result<Arc<Policy>, Arc<LoadError>>,
    stamps: Stamps,
    /// When it was last known to be as its files are.
    checked: Instant,
}

impl Policies {
    /// The policy of a source, as its files are now or were at most `moment` ago, and when that was.
    pub(crate) fn get(
        &self,
        locations: &Locations,
        source: &PolicySource,
        moment: Duration,
    ) -> Result<(Arc<Policy>, Instant), EngineError> {
        match source {
            PolicySource::Given(given) => return Ok((Arc::clone(&given.0), Instant::now())),
            PolicySource::Inline(text) if text.len() > MAX_INLINE => {
                return Err(EngineError::PolicyTooLarge {
                    size: text.len(),
                    most: MAX_INLINE,
                });
            }
            PolicySource::Layers { .. }
            | PolicySource::File(_)
            | PolicySource::Inline(_)
            | PolicySource::Profile(_) => {}
        }
        let mut kept = self.kept();
        if let Some(one) = kept.get_mut(source) {
            if one.checked.elapsed() < moment {
                return one.policy();
            }
            // What could not be loaded says nothing about all that would have been looked at.
            if one.policy.is_ok() && one.stamps.are_current() {
                one.checked = Instant::now();
                return one.policy();
            }
        }
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        let checked = Instant::now();
        let mut stamps = Stamps::default();
        self.loads.fetch_add(1, Ordering::Relaxed);
        let policy = load(locations, source, &mut stamps);
        let one = Kept {
            policy: policy.map(Arc::new).map_err(Arc::new),
            stamps,
            checked,
        };
        let policy = one.policy();
        kept.insert(source.clone(), one);
        policy
    }

    /// The policy of a source as it was when it was last wanted.
    pub(crate) fn latest(&self, source: &PolicySource) -> Option<Arc<Policy>> {
        if let PolicySource::Given(given) = source {
            return Some(Arc::clone(&given.0));
        }
        self.kept().get(source)?.policy.as_ref().ok().cloned()
    }

    /// How often a policy was loaded.
    pub(crate) fn loads(&self) -> usize {
        self.loads.load(Ordering::Relaxed)
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<PolicySource, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn policy(&self) -> Result<(Arc<Policy>, Instant), EngineError> {
        match &self.policy {
            Ok(policy) => Ok((Arc::clone(policy), self.checked)),
            Err(error) => Err(EngineError::Policy(Arc::clone(error))),
        }
    }
}

/// Loads the policy of a source.
pub fn load_source(locations: &Locations, source: &PolicySource) -> Result<Policy, LoadError> {
    load(locations, source, &mut Stamps::default())
}

fn load(
    locations: &Locations,
    source: &PolicySource,
    stamps: &mut Stamps,
) -> Result<Policy, LoadError> {
    match source {
        PolicySource::Layers {
            workspace,
            directory,
            named,
        } if *named == locations.named => {
            load_layers_stamped(locations, workspace, directory, None, stamps)
        }
        PolicySource::Layers {
            workspace,
            directory,
            named,
        } => {
            let locations = Locations {
                named: named.clone(),
                ..locations.clone()
            };
            load_layers_stamped(&locations, workspace, directory, None, stamps)
        }
        PolicySource::File(path) => load_file_stamped(path, stamps),
        PolicySource::Inline(text) => load_text_stamped("config", text, stamps),
        // Named as a file would name it, so that a wrong name gets the same suggestion.
        PolicySource::Profile(name) => {
            match Profile::ALL.into_iter().find(|one| one.name() == name) {
                Some(profile) => Ok(Policy::profile(profile)?),
                None => {
                    let text = serde_json::json!({ "profile": name }).to_string();
                    Ok(Policy::from_text("--profile", text)?)
                }
            }
        }
        PolicySource::Given(given) => Ok(Policy::clone(&given.0)),
    }
}
