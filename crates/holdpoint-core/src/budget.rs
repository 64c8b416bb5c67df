//! How much work one call may cause, whatever it says.
//!
//! One [`Budget`] is made for a call and handed to every reader. It counts what readers use up, so
//! that the cost of a call is bounded as a whole and not only by each reader for itself. A reader
//! whose budget is spent returns an [`Opaque`](crate::opaque::Opaque) or a refusal, never less
//! than there is: in the call's own text the call is refused, in a file the command that runs the
//! file is asked about.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// Something a reader uses up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Looks at one thing for the sake of another: a directory of a path, a variable of a state
    /// that meets another, a command that may have changed a file. A step is some ten nanoseconds.
    Steps,
    /// Words of the commands that are listed.
    Words,
    /// Bytes of code that stands in words or files and is read as code.
    Code,
    /// Tokens of code in other languages than the shell's.
    Tokens,
    /// Bytes of values and constants that are copied.
    Copies,
    /// Files read to know what a command does.
    Files,
    /// Bytes of these files.
    FileBytes,
    /// Functions a text defines.
    Functions,
    /// Bodies of loops walked a second time.
    Rounds,
    /// Values with code in them that arithmetic uses.
    Evaluations,
}

const RESOURCES: usize = 10;

/// The limits, in the order of the resources.
const LIMITS: [usize; RESOURCES] = [
    Resource::Steps.limit(),
    Resource::Words.limit(),
    Resource::Code.limit(),
    Resource::Tokens.limit(),
    Resource::Copies.limit(),
    Resource::Files.limit(),
    Resource::FileBytes.limit(),
    Resource::Functions.limit(),
    Resource::Rounds.limit(),
    Resource::Evaluations.limit(),
];

/// Enough for some thousand commands with a dozen variables each; spent, the call took some 20 ms.
pub const MAX_STEPS: usize = 2_000_000;
/// A line of 60,000 words is a program; nobody reads one before saying yes to it.
pub const MAX_WORDS: usize = 60_000;
/// Four times the longest line: code in words of code is read again at every level.
pub const MAX_CODE: usize = 4 << 20;
/// Tokens of a script of about a megabyte.
pub const MAX_TOKENS: usize = 200_000;
/// A name that stands for a long text and is used often costs more than the text is long.
pub const MAX_COPIES: usize = 8 << 20;
/// Scripts that run scripts stay below ten; each file is a read from the disk.
pub const MAX_FILES: usize = 64;
/// Eight of the longest files that are read.
pub const MAX_FILE_BYTES: usize = 2 << 20;
/// The longest file that is read: written by people, scripts are a tenth of it.
pub const MAX_FILE: usize = 256 << 10;
/// Functions are kept with their text, and those nothing runs are walked at the end.
pub const MAX_FUNCTIONS: usize = 200;
/// Loops in loops: each level doubles the walk.
pub const MAX_ROUNDS: usize = 64;
/// A value may use itself, or others that use it.
pub const MAX_EVALUATIONS: usize = 64;

impl Resource {
    const fn limit(self) -> usize {
        match self {
            Resource::Steps => MAX_STEPS,
            Resource::Words => MAX_WORDS,
            Resource::Code => MAX_CODE,
            Resource::Tokens => MAX_TOKENS,
            Resource::Copies => MAX_COPIES,
            Resource::Files => MAX_FILES,
            Resource::FileBytes => MAX_FILE_BYTES,
            Resource::Functions => MAX_FUNCTIONS,
            Resource::Rounds => MAX_ROUNDS,
            Resource::Evaluations => MAX_EVALUATIONS,
        }
    }
}

/// There is not enough left of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a reader that goes on as if nothing happened leaves something out"]
pub struct Spent(pub Resource);

impl fmt::Display for Spent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "more than {} {:?}", self.0.limit(), self.0)
    }
}

impl std::error::Error for Spent {}

/// What is left for one call. Copies share it.
#[derive(Clone)]
pub struct Budget(Rc<Counters>);

struct Counters {
    used: [Cell<usize>; RESOURCES],
    /// A reader that could not say so where it stood went on without something.
    overrun: Cell<bool>,
    /// How often there was not enough left.
    refused: Cell<usize>,
}

/// What was used up when some reading began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    used: [usize; RESOURCES],
    overrun: bool,
    refused: usize,
}

/// What a reading used up that never had to do without.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost([usize; RESOURCES]);

/// A place to come back to: what follows is given up as a whole and must not count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checkpoint {
    words: usize,
    overrun: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(&self.0.used).finish()
    }
}

impl Budget {
    /// What one call may use.
    #[must_use]
    pub fn new() -> Self {
        Self(Rc::new(Counters {
            used: [const { Cell::new(0) }; RESOURCES],
            overrun: Cell::new(false),
            refused: Cell::new(0),
        }))
    }

    /// What is used up so far.
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            used: std::array::from_fn(|at| self.0.used.get(at).map_or(0, Cell::get)),
            overrun: self.is_overrun(),
            refused: self.0.refused.get(),
        }
    }

    /// What a reading that began then has used up; none if it had to do without something, so that
    /// with more or less left it would say something else.
    pub(crate) fn cost_since(&self, before: &Usage) -> Option<Cost> {
        let now = self.usage();
        let same = now.overrun == before.overrun && now.refused == before.refused;
        let spent = |at: usize| -> Option<usize> {
            let (now, before) = (now.used.get(at)?, before.used.get(at)?);
            now.checked_sub(*before)
        };
        let mut cost = [0; RESOURCES];
        for (at, place) in cost.iter_mut().enumerate() {
            *place = spent(at)?;
        }
        same.then_some(Cost(cost))
    }

    /// Takes what a reading used up once more, as if it were made again; false, and nothing taken, if
    /// there is not so much left.
    pub(crate) fn spend_again(&self, cost: &Cost) -> bool {
        let counters = || self.0.used.iter().zip(LIMITS).zip(cost.0);
        let fits = |((used, most), cost): ((&Cell<usize>, usize), usize)| {
            used.get().checked_add(cost).is_some_and(|sum| sum <= most)
        };
        if !counters().all(fits) {
            return false;
        }
        for ((used, _), cost) in counters() {
            used.set(used.get().saturating_add(cost));
        }
        true
    }

    fn used(&self, resource: Resource) -> Option<&Cell<usize>> {
        self.0.used.get(resource as usize)
    }

    /// Takes so much of a resource.
    pub fn spend(&self, resource: Resource, amount: usize) -> Result<(), Spent> {
        let Some(used) = self.used(resource) else {
            return Err(Spent(resource));
        };
        let sum = used.get().saturating_add(amount);
        if sum > resource.limit() {
            self.0.refused.set(self.0.refused.get().saturating_add(1));
            return Err(Spent(resource));
        }
        used.set(sum);
        Ok(())
    }

    /// What is left of a resource.
    #[must_use]
    pub fn left(&self, resource: Resource) -> usize {
        let used = self.used(resource).map_or(usize::MAX, Cell::get);
        resource.limit().saturating_sub(used)
    }

    /// Notes that something was left out by a reader that cannot say so where it stands. Whoever
    /// lists the next command refuses.
    pub(crate) fn overrun(&self) {
        self.0.overrun.set(true);
    }

    /// Whether something was left out so.
    #[must_use]
    pub(crate) fn is_overrun(&self) -> bool {
        self.0.overrun.get()
    }

    /// Remembers what a file's words will be counted from.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            words: self.used(Resource::Words).map_or(0, Cell::get),
            overrun: self.is_overrun(),
        }
    }

    /// Forgets the words listed since, because they were taken off the list, and what was left
    /// out among them, because that is now said. Time that was used stays used.
    pub(crate) fn restore(&self, checkpoint: Checkpoint) {
        if let Some(words) = self.used(Resource::Words) {
            words.set(checkpoint.words);
        }
        self.0.overrun.set(checkpoint.overrun);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_stays_spent_and_is_shared() {
        let budget = Budget::new();
        let same = budget.clone();
        assert_eq!(budget.spend(Resource::Files, MAX_FILES), Ok(()));
        assert_eq!(same.spend(Resource::Files, 1), Err(Spent(Resource::Files)));
        assert_eq!(same.left(Resource::Files), 0);
        assert_eq!(
            same.spend(Resource::Steps, usize::MAX),
            Err(Spent(Resource::Steps))
        );
        assert_eq!(same.left(Resource::Steps), MAX_STEPS);
    }

    #[test]
    fn what_is_read_once_and_used_twice_costs_twice() {
        let budget = Budget::new();
        let before = budget.usage();
        assert_eq!(budget.spend(Resource::Tokens, MAX_TOKENS / 2), Ok(()));
        let cost = budget.cost_since(&before).unwrap();
        assert!(budget.spend_again(&cost));
        assert_eq!(budget.left(Resource::Tokens), 0);
        assert!(!budget.spend_again(&cost));
        assert_eq!(budget.left(Resource::Tokens), 0);
    }

    #[test]
    fn a_reading_that_had_to_do_without_something_is_made_again() {
        let budget = Budget::new();
        let before = budget.usage();
        let much = budget.spend(Resource::Copies, MAX_COPIES + 1);
        assert_eq!(much, Err(Spent(Resource::Copies)));
        assert!(budget.cost_since(&before).is_none());
    }

    #[test]
    fn a_file_that_is_given_up_gives_its_words_back() {
        let budget = Budget::new();
        let before = budget.checkpoint();
        assert_eq!(budget.spend(Resource::Words, 100), Ok(()));
        budget.overrun();
        budget.restore(before);
        assert_eq!(budget.left(Resource::Words), MAX_WORDS);
        assert!(!budget.is_overrun());
    }
}
