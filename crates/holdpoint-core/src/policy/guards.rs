//! Which rule packs are in force, and with which verdicts.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Deserialize;

use super::layer::{Authority, Layer, Trust};
use crate::document::hint;
use crate::rules::{Pack, Rule};
use crate::verdict::{Method, Verdict};

/// Rule packs: which are in force, and what their rules want.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Guards {
    /// Whether the packs are in force at all; they are unless this says no.
    pub enabled: Option<bool>,
    /// Whole packs, by name.
    pub packs: BTreeMap<String, Switch>,
    /// Single rules, by id. They come before their pack's word.
    pub rules: BTreeMap<String, Switch>,
    /// Further directories of generated files, which may be deleted without asking.
    pub generated: Vec<String>,
    /// Files with packs of your own; relative ones start where this file stands.
    pub load: Vec<String>,
}

/// What becomes of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// It says nothing.
    Off,
    /// It says what its pack says.
    On,
    /// It tells a person.
    Notify,
    /// It wants the command run inside the sandbox.
    Contain,
    /// It asks.
    Ask,
    /// It wants a person to look closely.
    Review,
    /// It refuses.
    Deny,
}

impl Switch {
    /// The word used in output and in policies.
    pub fn as_str(self) -> &'static str {
        match self {
            Switch::Off => "off",
            Switch::On => "on",
            Switch::Notify => "notify",
            Switch::Contain => "contain",
            Switch::Ask => "ask",
            Switch::Review => "review",
            Switch::Deny => "deny",
        }
    }

    /// The verdict of a rule that wants `own`; none if it is off.
    fn verdict(self, own: Verdict) -> Option<Verdict> {
        match self {
            Switch::Off => None,
            Switch::On => Some(own),
            Switch::Notify => Some(Verdict::Notify),
            Switch::Contain => Some(Verdict::Contain),
            Switch::Ask => Some(Verdict::Ask),
            Switch::Review => Some(Verdict::Review),
            Switch::Deny => Some(Verdict::Deny),
        }
    }
}

impl Guards {
    pub(super) fn joined(mut self, other: Self) -> Self {
        self.enabled = other.enabled.or(self.enabled);
        self.packs.extend(other.packs);
        self.rules.extend(other.rules);
        self.generated.extend(other.generated);
        self.load.extend(other.load);
        self
    }

    /// A name that is no pack and no rule, with the nearest that is.
    pub(super) fn unknown_name(&self, loaded: &[Pack]) -> Option<String> {
        let packs: Vec<&str> = crate::rules::PACKS
            .iter()
            .map(|(name, _, _)| *name)
            .chain(loaded.iter().map(Pack::name))
            .collect();
        let shown = |name: &str| name.escape_debug().to_string();
        if let Some(name) = self
            .packs
            .keys()
            .find(|name| !packs.contains(&name.as_str()))
        {
            let hint = hint(name, &packs);
            return Some(format!("unknown pack `{}`: {hint}", shown(name)));
        }
        if self.rules.is_empty() {
            return None;
        }
        let rules: Vec<&str> = crate::rules::RULES
            .iter()
            .chain(loaded.iter().flat_map(Pack::rules))
            .map(|rule| rule.id.as_ref())
            .collect();
        let unknown = |id: &&String| !rules.contains(&id.as_str());
        let id = self.rules.keys().find(unknown)?;
        let hint = hint(id, &rules);
        Some(format!("unknown rule `{}`: {hint}", shown(id)))
    }

    /// What is said of a rule, and under which key: its own word before its pack's, and that
    /// before the word on all packs.
    fn switch(&self, rule: &Rule) -> Option<(Key, Switch)> {
        let named = self.rules.get(rule.id.as_ref());
        let by_pack = self.packs.get(rule.pack.as_ref());
        let all = self.enabled.map(|enabled| match enabled {
            true => (Key::Enabled, Switch::On),
            false => (Key::Enabled, Switch::Off),
        });
        named
            .map(|switch| (Key::Rules, *switch))
            .or(by_pack.map(|switch| (Key::Packs, *switch)))
            .or(all)
    }
}

/// The key of `guards` something is said under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Rules,
    Packs,
    Enabled,
}

/// What one layer says of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayerSwitch<'l> {
    pub(super) layer: &'l Layer,
    pub(super) key: Key,
    pub(super) switch: Switch,
    /// Whether it counts: it would loosen what stands above it otherwise.
    pub(super) counts: bool,
}

/// What a rule wants under these layers; none if it is off. `owner` is who loads its pack, if it
/// is not shipped. `each` is told what every layer says.
///
/// The first layer that speaks of a rule decides, those below only tighten, and so do a file
/// nobody trusts and whoever stands below the one that loads the pack. Self-protection is always
/// on.
pub(super) fn verdict<'l>(
    layers: &'l [Layer],
    rule: &Rule,
    owner: Option<Authority>,
    mut each: impl FnMut(LayerSwitch<'l>),
) -> Option<Verdict> {
    let protects = rule.method == Method::SelfProtection;
    let mut verdict = Some(rule.verdict);
    let mut stated = false;
    for layer in layers {
        let Some((key, switch)) = layer.guards.as_ref().and_then(|guards| guards.switch(rule))
        else {
            continue;
        };
        let wanted = switch.verdict(rule.verdict);
        let owned_above = owner.is_some_and(|owner| layer.authority > owner);
        let tightens = stated || owned_above || layer.trust == Trust::Untrusted;
        let loosens = tightens && wanted < verdict;
        let counts = !protects && !loosens;
        if counts {
            verdict = wanted;
        }
        stated |= layer.trust == Trust::Trusted;
        each(LayerSwitch {
            layer,
            key,
            switch,
            counts,
        });
    }
    verdict
}
