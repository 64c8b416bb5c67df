//! The rule packs under a policy: the shipped ones, those its layers load, and what its layers
//! make of each rule.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::guards::{self, Key, Switch};
use super::layer::{Authority, Policy, Trust};
use crate::call::hex_digest;
use crate::document::hint;
use crate::rules::{PACKS, Pack, RULES, Rule, spoken};
use crate::verdict::{Method, Risk, Verdict};

/// A pack of somebody's own and who loads it.
#[derive(Clone, Debug)]
pub struct LoadedPack {
    /// The pack.
    pub pack: Pack,
    /// Whose layer loads it: those below cannot loosen its rules.
    pub authority: Authority,
    /// How messages call it: its path.
    pub place: String,
}

/// Where a loaded pack comes from.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    authority: Authority,
    place: String,
}

/// The highest layer that wants a rule in force, so that none below answers for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Insists {
    /// Its place among the layers; none where a directory of packs has no policy file beside it.
    pub(crate) layer: Option<usize>,
    pub(crate) authority: Authority,
    pub(crate) trust: Trust,
}

/// A rule of a pack, and what a policy makes of it.
#[derive(Clone, Debug)]
pub struct Guard<'p> {
    /// Its id.
    pub id: &'p str,
    /// Its pack.
    pub pack: &'p str,
    /// What the pack is about.
    pub title: &'p str,
    /// The file of the pack; none if it is shipped.
    pub place: Option<&'p str>,
    /// What its pack wants.
    pub verdict: Verdict,
    /// How much harm it sees.
    pub risk: Risk,
    /// How its findings are reported.
    pub method: Method,
    /// Why.
    pub reason: &'p str,
    /// What to do instead.
    pub instead: &'p str,
    /// What it wants under this policy; none if it is off.
    pub in_force: Option<Verdict>,
    /// What the layers say of it, the highest authority first.
    pub switches: Vec<Switched<'p>>,
    rule: &'p Rule,
}

/// What one layer says of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Switched<'p> {
    /// The layer's name.
    pub layer: &'p str,
    /// Whose it is.
    pub authority: Authority,
    /// Whether it may loosen.
    pub trusted: bool,
    /// Where it says so: `guards.rules`, `guards.packs` or `guards.enabled`.
    pub key: &'static str,
    /// What it says: `off`, `on` or a verdict.
    pub value: &'static str,
    /// Whether it counts. It does not where it would loosen what it may not.
    pub counts: bool,
}

impl Guard<'_> {
    /// What it does for a call besides objecting: the keys it has, with what they say.
    pub fn help(&self) -> Vec<(&'static str, Value)> {
        (self.rule.help.as_deref()).map_or_else(Vec::new, spoken::help)
    }

    /// The ways for it to hold: each a list of keys that must all hold, with what they ask for.
    pub fn cases(&self) -> Vec<Vec<(&'static str, Value)>> {
        self.rule.when.iter().map(spoken::keys).collect()
    }
}

impl Policy {
    /// The same policy with packs of somebody's own. They are part of the policy's version.
    #[must_use]
    pub fn with_packs(mut self, loaded: Vec<LoadedPack>) -> Self {
        if loaded.is_empty() {
            return self;
        }
        let mut hasher = Sha256::new();
        hasher.update(&self.digest);
        for one in loaded {
            hasher.update(format!("\npack {} ", one.authority.as_str()));
            hasher.update(one.pack.digest());
            self.packs.push(one.pack);
            self.owners.push(Owner {
                authority: one.authority,
                place: one.place,
            });
        }
        self.digest = hex_digest(hasher);
        self
    }

    /// The packs loaded besides the shipped ones.
    pub fn packs(&self) -> &[Pack] {
        &self.packs
    }

    /// Whether anything in force could ask if tests have passed since the session's last edit. Without that nobody looks at how
    /// they went. No shipped rule asks about facts.
    pub fn asks_about_tests(&self) -> bool {
        let rules = self.packs.iter().flat_map(Pack::rules);
        let of_packs = rules.flat_map(|rule| rule.when.iter());
        let of_packs = of_packs.filter_map(|case| case.facts.as_deref());
        let of_layers = self.layers().iter().flat_map(|layer| {
            let outside = layer.external.iter().filter_map(|one| one.facts.as_ref());
            layer.tools.facts().chain(outside)
        });
        of_packs
            .chain(of_layers)
            .any(|facts| facts.tests_passed.is_some())
    }

    /// Every rule there is, pack by pack, the shipped ones first.
    pub fn guards(&self) -> impl Iterator<Item = Guard<'_>> {
        let shipped = RULES.iter().map(|rule| self.guard_of(rule, None));
        let loaded = self
            .packs
            .iter()
            .zip(&self.owners)
            .flat_map(move |(pack, owner)| {
                let of = Some((pack, owner));
                pack.rules().iter().map(move |rule| self.guard_of(rule, of))
            });
        shipped.chain(loaded)
    }

    /// The rule with this id.
    pub fn guard(&self, id: &str) -> Option<Guard<'_>> {
        self.guards().find(|guard| guard.id == id)
    }

    /// What to write in place of an id no rule has: the nearest there are.
    pub fn nearest_guards(&self, id: &str) -> String {
        let shipped = RULES.iter();
        let known: Vec<&str> = shipped
            .chain(self.packs.iter().flat_map(Pack::rules))
            .map(|rule| rule.id.as_ref())
            .collect();
        hint(id, &known)
    }

    /// Names, title and file of every pack, the shipped ones first.
    pub fn pack_titles(&self) -> impl Iterator<Item = (&str, &str, Option<&str>)> {
        let shipped = PACKS.iter().map(|(name, title, _)| (*name, *title, None));
        let loaded = self.packs.iter().zip(&self.owners);
        shipped.chain(
            loaded.map(|(pack, owner)| (pack.name(), pack.title(), Some(owner.place.as_str()))),
        )
    }

    /// Whether some name under `guards` is no pack and no rule; asked once all packs are loaded.
    pub fn unknown_guard(&self) -> Option<String> {
        self.layers.iter().find_map(|layer| {
            let problem = layer.guards.as_ref()?.unknown_name(&self.packs)?;
            Some(format!("{}: {problem}", layer.name))
        })
    }

    /// What a rule of a pack wants here, and in whose name; none if it is switched off.
    pub(crate) fn guard_verdict(&self, rule: &Rule) -> Option<(Verdict, Option<Insists>)> {
        let owner = self.owner_of(rule);
        let mut first: Option<Insists> = None;
        let verdict = guards::verdict(&self.layers, rule, owner, |said| {
            if first.is_none() && said.counts && said.switch != Switch::Off {
                let layer = self
                    .layers
                    .iter()
                    .position(|one| std::ptr::eq(one, said.layer));
                first = Some(Insists {
                    layer,
                    authority: said.layer.authority,
                    trust: said.layer.trust,
                });
            }
        })?;
        // Whoever loads a pack wants its rules, without a word about them.
        let loads = owner.map(|authority| Insists {
            layer: self
                .layers
                .iter()
                .position(|layer| layer.authority == authority),
            authority,
            trust: Trust::Trusted,
        });
        let highest = match (first, loads) {
            (Some(first), Some(loads)) if first.authority > loads.authority => Some(loads),
            (first, loads) => first.or(loads),
        };
        Some((verdict, highest))
    }

    /// Whether a rule may tell the model something or change a command: those that the machine's or the user's own layer loads.
    /// A project's pack is somebody else's text.
    pub(crate) fn may_help(&self, rule: &Rule) -> bool {
        matches!(
            self.owner_of(rule),
            Some(Authority::Managed | Authority::User)
        )
    }

    /// Who loads the pack of a rule; none if it is shipped.
    fn owner_of(&self, rule: &Rule) -> Option<Authority> {
        let owner = self.packs.iter().zip(&self.owners).find(|(pack, _)| {
            // A name may be shared by two packs; an id is not.
            pack.name() == rule.pack && pack.rules().iter().any(|one| one.id == rule.id)
        });
        owner.map(|(_, owner)| owner.authority)
    }

    fn guard_of<'p>(&'p self, rule: &'p Rule, of: Option<(&'p Pack, &'p Owner)>) -> Guard<'p> {
        let mut switches = Vec::new();
        let owner = of.map(|(_, owner)| owner.authority);
        let in_force = guards::verdict(&self.layers, rule, owner, |said| {
            switches.push(Switched {
                layer: &said.layer.name,
                authority: said.layer.authority,
                trusted: said.layer.trust == Trust::Trusted,
                key: match said.key {
                    Key::Rules => "guards.rules",
                    Key::Packs => "guards.packs",
                    Key::Enabled => "guards.enabled",
                },
                value: said.switch.as_str(),
                counts: said.counts,
            });
        });
        let title = match of {
            Some((pack, _)) => pack.title(),
            None => PACKS
                .iter()
                .find(|(name, _, _)| *name == rule.pack)
                .map_or("", |(_, title, _)| *title),
        };
        Guard {
            id: &rule.id,
            pack: &rule.pack,
            title,
            place: of.map(|(_, owner)| owner.place.as_str()),
            verdict: rule.verdict,
            risk: rule.risk,
            method: rule.method,
            reason: &rule.reason,
            instead: &rule.instead,
            in_force,
            switches,
            rule,
        }
    }
}
