//! What rules do for a call besides objecting: what the model is told, and the safe form of the command.

use super::Judgement;
use super::guards::Guarded;
use crate::decision::Rewritten;
use crate::policy::tool_rules::Opinion;

/// The most texts a model is told of one call: more is not read beside a result.
const MAX_TOLD: usize = 4;

impl Judgement<'_> {
    /// What the model is told of a call that runs.
    pub(super) fn told(&self, guarded: &[Guarded], opinions: &[Vec<Opinion>]) -> Vec<String> {
        let of_packs = guarded.iter().filter_map(|one| {
            let tell = one.help.as_ref()?.tell.as_ref()?;
            Some((tell, one.found.part))
        });
        let of_tools = opinions.iter().enumerate().flat_map(|(part, by_layer)| {
            let part = self.has_commands().then_some(part);
            let texts = by_layer.iter().flat_map(|opinion| &opinion.tell);
            texts.map(move |text| (text, part))
        });
        let mut told: Vec<String> = Vec::new();
        for (template, part) in of_packs.chain(of_tools) {
            let text = self.facts.fill_in(template, part);
            if told.len() < MAX_TOLD && !told.contains(&text) {
                told.push(text);
            }
        }
        told
    }

    /// The line in the form rules name as the safe one.
    pub(super) fn rewritten(&self, guarded: &[Guarded]) -> Option<Rewritten> {
        let mut rule = None;
        let mut places: Vec<(usize, usize, &str)> = Vec::new();
        for one in guarded {
            let Some(rewrite) = one.help.as_ref().and_then(|help| help.rewrite.as_ref()) else {
                continue;
            };
            // Where one part stays as it is, the line is not in its safe form.
            let line = self.view.line.as_deref()?;
            let command = self.view.commands.get(one.found.part?)?;
            for place in rewrite.places(&command.command, line)? {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
            rule.get_or_insert(&one.found.finding.rule);
        }
        let rule = rule?.clone();
        if !self.view.is_shell() || self.view.call.input().contains_key("args") {
            return None;
        }
        let mut line = self.view.line.clone()?;
        // From the end, so that what stands in front stays where it is.
        places.sort_unstable_by(|one, other| other.cmp(one));
        let mut before = usize::MAX;
        for (start, end, with) in places {
            // Two rules that want different words in one place.
            if end > before || line.get(start..end).is_none() {
                return None;
            }
            line.replace_range(start..end, with);
            before = start;
        }
        Some(Rewritten { rule, line })
    }
}
