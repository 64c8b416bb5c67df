//! Loops: the rounds a body is walked, with the values their variables have in each.

use super::{Listing, Scope};
use crate::budget::Resource;
use crate::shell::environment::{Environment, Origin, Value};
use crate::shell::input::Input;
use crate::shell::readings;
use crate::shell::refusal::Refusal;
use crate::shell::texts::Expander;
use crate::shell::tree::{Arithmetic, CommandKind, Connector, Item, Word};

/// Rounds of a loop over words, each with several values. A line that loops over more words is
/// refused.
const MAX_LOOP_ROUNDS: usize = 16;
/// The same where all words are numbers: one is as good as another, and beyond it may be any.
const MAX_NUMBER_ROUNDS: usize = 8;
/// Rounds of a loop after the second, in which variables get values they had not; then they may
/// have any, and what uses them is asked about.
const MAX_FURTHER_ROUNDS: usize = 3;
/// What may start a loop's next round, by itself or by the text it runs.
const GO_AROUND: &[&str] = &["continue", "eval", "source", ".", "command", "builtin"];
/// Values of a loop's variable looked at in one round: as many as a variable may have.
const ROUND: usize = 8;
/// What may make several words of one.
const PATTERN_SIGNS: &[char] = &['*', '?', '[', '{', '$', '`', '+', '@', '!'];

impl<'w> Listing<'w> {
    /// `while` and `until`: apart from the walk that leads here, whose room on the stack every level
    /// of a nested text takes.
    pub(super) fn conditioned_loop(
        &mut self,
        condition: &[Item],
        body: &[Item],
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        self.repeated(body, |listing| {
            listing.items(condition, scope, input)?;
            // The condition is the last to run, unless something breaks out of the body.
            let ended = listing.environment.clone();
            listing.items(body, scope, input)?;
            listing.environment = listing.environment.clone().either(ended);
            Ok(())
        })?;
        self.read_to_the_end(condition);
        Ok(())
    }

    /// `for ((…))`.
    pub(super) fn counting_loop(
        &mut self,
        header: &Arithmetic,
        body: &[Item],
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        self.parts(&header.parts, scope)?;
        self.calculation(header, scope)?;
        self.repeated(body, |listing| listing.items(body, scope, input))
    }

    /// Walks a loop's body as often as it may see something new: once, and again with what the
    /// first round leaves behind.
    fn repeated(
        &mut self,
        body: &[Item],
        mut walk: impl FnMut(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let before = self.environment.clone();
        let looked_up = self.looked_up;
        walk(self)?;
        let after = self.environment.clone();
        let both = before.clone().either(after);
        // A file that is run may have been changed by what follows it in the body.
        let reruns = looked_up < self.looked_up
            && both.changers != before.changers
            && !self.leaves_at_once(body);
        if reruns || both.differs(&before) {
            self.pay(Resource::Rounds, 1, &(0..0))?;
            self.environment = both.clone();
            walk(self)?;
            let twice = both.clone().either(self.environment.clone());
            return self.repeated_on(both, twice, walk);
        }
        self.environment = both;
        Ok(())
    }

    /// Whether a loop's body comes to a `break` at its end, past nothing that could go around it.
    fn leaves_at_once(&self, body: &[Item]) -> bool {
        let name = |item: &Item| {
            let [one] = item.pipeline.commands.as_slice() else {
                return None;
            };
            let CommandKind::Simple(simple) = &one.kind else {
                return None;
            };
            simple.words.first()?.plain().map(str::to_owned)
        };
        let ends =
            |item: &Item| matches!(item.connector, Connector::Sequence | Connector::Background);
        let passes = |item: &Item| ends(item) && self.comes_back(std::slice::from_ref(item));
        let Some((last, before)) = body.split_last() else {
            return false;
        };
        let breaks = name(last).is_some_and(|name| name == "break");
        breaks && !self.environment.redefines("break") && before.iter().all(passes)
    }

    /// Whether the shell goes on behind all of these: none of them can go around what follows.
    fn comes_back(&self, items: &[Item]) -> bool {
        let mut nodes = items.iter().flat_map(|item| &item.pipeline.commands);
        nodes.all(|node| match &node.kind {
            CommandKind::Simple(simple) => {
                let name = simple.words.first().and_then(|word| word.plain());
                name.is_some_and(|name| {
                    !GO_AROUND.contains(&name) && !self.environment.redefines(name)
                })
            }
            CommandKind::Group(body) => self.comes_back(body),
            CommandKind::If {
                branches,
                otherwise,
            } => {
                let mut branches = branches.iter();
                branches
                    .all(|(condition, body)| self.comes_back(condition) && self.comes_back(body))
                    && otherwise.iter().all(|body| self.comes_back(body))
            }
            CommandKind::Case { clauses, .. } => {
                clauses.iter().all(|clause| self.comes_back(&clause.body))
            }
            CommandKind::Subshell(_)
            | CommandKind::Loop { .. }
            | CommandKind::Each { .. }
            | CommandKind::ForArithmetic { .. }
            | CommandKind::Condition(_)
            | CommandKind::Arithmetic(_)
            | CommandKind::Function { .. }
            | CommandKind::Coproc { .. } => false,
        })
    }

    /// Goes on with a loop as long as its variables come to name further places: `a=$b; b=$c`.
    fn repeated_on(
        &mut self,
        mut before: Environment,
        mut after: Environment,
        mut walk: impl FnMut(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let first = before.clone();
        for round in 0..=MAX_FURTHER_ROUNDS {
            if !after.names_new_places(&before) {
                break;
            }
            if round == MAX_FURTHER_ROUNDS {
                after.crowd(&first);
            }
            self.pay(Resource::Rounds, 1, &(0..0))?;
            self.environment = after.clone();
            walk(self)?;
            before = after.clone();
            after = after.either(self.environment.clone());
        }
        self.environment = after;
        Ok(())
    }

    pub(super) fn each(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        body: &[Item],
        scope: &Scope<'_>,
        input: &Input,
    ) -> Result<(), Refusal> {
        let values: Vec<Value> = match words {
            Some(words) => {
                self.substitutions_in(words, scope)?;
                self.readings_of(words, scope)
            }
            None => match &self.environment.positional {
                Some(values) => values.iter().cloned().map(Value::one_of).collect(),
                None => vec![Value::Unknown(Origin::Elsewhere)],
            },
        };
        if let (Some([only]), [_]) = (words, values.as_slice())
            && only
                .plain()
                .is_some_and(|word| !word.contains(PATTERN_SIGNS))
        {
            // One word is one round: nothing that comes later in the body comes before anything in it.
            let before = self.environment.clone();
            self.environment.assign_any(name, values);
            self.items(body, scope, input)?;
            // Something may break out of it.
            self.environment = before.either(self.environment.clone());
            return Ok(());
        }
        let before = self.environment.clone();
        let mut after = before.clone();
        let mut rounds: Vec<Vec<Value>> = values.chunks(ROUND).map(<[Value]>::to_vec).collect();
        let numbers = values.iter().all(is_number);
        let most = if numbers {
            MAX_NUMBER_ROUNDS
        } else {
            MAX_LOOP_ROUNDS
        };
        if rounds.len() > most {
            if !numbers {
                self.budget().overrun();
            }
            rounds.truncate(most);
            rounds.push(vec![Value::Unknown(Origin::Elsewhere)]);
        }
        if rounds.is_empty() {
            // Nobody iterates over nothing; what stands in the body is listed all the same.
            rounds.push(vec![Value::Unset]);
        }
        for values in rounds {
            self.environment = before.clone();
            self.environment.assign_any(name, values);
            self.repeated(body, |listing| listing.items(body, scope, input))?;
            after = after.either(self.environment.clone());
        }
        self.environment = after;
        Ok(())
    }

    /// What a loop over words gives its variable, in all readings of them.
    fn readings_of(&mut self, words: &[Word], scope: &Scope<'_>) -> Vec<Value> {
        let all: Vec<&Word> = words.iter().collect();
        let choices = readings::choices(&mut self.environment, &all);
        let mut values: Vec<Value> = Vec::new();
        for choice in &choices {
            let expander = Expander {
                choice,
                ..self.expander(scope)
            };
            for argument in words.iter().flat_map(|word| expander.arguments(word, None)) {
                let value = argument.one_value();
                if choices.len() == 1 || !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        values
    }
}

pub(super) fn is_plain_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a value is digits and nothing else.
fn is_number(value: &Value) -> bool {
    match value {
        Value::Known(text) => is_plain_number(text),
        Value::Partly(_)
        | Value::Pattern(_)
        | Value::List(_)
        | Value::Unset
        | Value::Unknown(_) => false,
    }
}
