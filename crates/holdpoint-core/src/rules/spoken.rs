//! What a case asks, in the words its pack is written in.

use serde_json::{Value, json};

use super::{Case, Help, TARGETS, Texts, words};

/// The keys a case has, each with what it asks for, in the order of `docs/rules.md`.
pub(crate) fn keys(case: &Case) -> Vec<(&'static str, Value)> {
    let texts = |list: &Texts| -> Value { list.iter().map(|text| text.as_ref()).collect() };
    let mut keys = vec![
        ("program", texts(&case.program)),
        ("subcommand", texts(&case.subcommand)),
        ("not_subcommand", texts(&case.not_subcommand)),
        ("flags", texts(&case.flags)),
        ("without", texts(&case.without)),
        ("operands", texts(&case.operands)),
        ("not_operands", texts(&case.not_operands)),
        ("least_operands", case.least_operands.into()),
        ("most_operands", case.most_operands.into()),
        ("words", texts(&case.words)),
        ("effect", named(case.effect, words::EFFECTS)),
        ("target", named(case.target, TARGETS)),
        ("path", texts(&case.path)),
        ("not_path", texts(&case.not_path)),
        ("host", texts(&case.host)),
        ("not_host", texts(&case.not_host)),
        ("recursive", case.recursive.into()),
        ("forced", case.forced.into()),
        ("sql", texts(&case.sql)),
        ("opaque", named(case.opaque, words::OPAQUE)),
        ("assigns", texts(&case.assigns)),
        ("not_program", texts(&case.not_program)),
        ("within", texts(&case.within)),
        ("not_within", texts(&case.not_within)),
        ("tool", texts(&case.tool)),
        (
            "facts",
            (case.facts.as_ref()).map_or(Value::Null, |facts| Value::Object(facts.spoken())),
        ),
    ];
    keys.retain(|(_, value)| {
        !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
    });
    keys
}

/// What a rule does for a call besides objecting.
pub(crate) fn help(help: &Help) -> Vec<(&'static str, Value)> {
    let rewrite = help.rewrite.as_ref().map(|rewrite| {
        let (replace, with) = rewrite.spoken();
        json!({"replace": replace, "with": with})
    });
    let tell = help.tell.as_ref().map(|tell| json!(tell));
    let keys = [("tell", tell), ("rewrite", rewrite)];
    let given = keys.into_iter();
    given
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
}

/// The words whose bits are set.
pub(crate) fn of_bits(bits: u64, list: &[&'static str]) -> Vec<&'static str> {
    list.iter()
        .enumerate()
        .filter(|(at, _)| bits >> at & 1 == 1)
        .map(|(_, word)| *word)
        .collect()
}

fn named(bits: u64, list: &[&'static str]) -> Value {
    of_bits(bits, list).into_iter().collect()
}
