//! How the learning goes: every number that was chosen.

use anyhow::{Result, bail};

/// How the learning goes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Rounds of choosing windows and learning from them.
    pub rounds: usize,
    /// Passes in each round.
    pub passes: usize,
    /// Rounds, the last ones, over which the weights are averaged.
    pub averaged: usize,
    /// The step.
    pub rate: f32,
    /// The pull to nought.
    pub decay: f32,
    /// What share of features is left out in a step.
    pub dropout: f32,
    /// Windows of ordinary text taken at random in a round.
    pub random: usize,
    /// Windows of ordinary text added in a round because they score high.
    pub hard: usize,
    /// What a window of ordinary text weighs.
    pub ordinary: f32,
    /// What all attacks weigh together.
    pub attacks: f32,
    /// What all harmless labelled texts weigh together.
    pub harmless: f32,
    /// What people's questions to a model weigh, of that.
    pub chat: f32,
    /// What texts about attacks and instructions to models weigh, of that.
    pub talk: f32,
    /// What harmless texts of many languages and kinds weigh, of that.
    pub real: f32,
    /// A source of n texts weighs n to this power: one counts texts, nought sources.
    pub evenness: f32,
    /// Chunks of one package of ordinary text.
    pub of_package: usize,
    /// The share of ordinary chunks in which a model that ships may find something worth a word. The rules beside it
    /// have false alarms of their own.
    pub faint: f32,
    /// The share in which it may say that a text might give orders.
    pub loose: f32,
    /// The share in which it may say that a text does give orders.
    pub strict: f32,
    /// The seed.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            rounds: 4,
            passes: 2,
            averaged: 1,
            rate: 0.3,
            decay: 1e-6,
            dropout: 0.3,
            random: 40_000,
            hard: 20_000,
            ordinary: 3.0,
            attacks: 50_000.0,
            harmless: 40_000.0,
            chat: 1.0,
            talk: 6.0,
            real: 2.0,
            evenness: 0.5,
            of_package: 40,
            faint: 0.006,
            loose: 0.0007,
            strict: 0.0001,
            seed: 1,
        }
    }
}

impl Plan {
    /// Sets a number by its name, as `name=number`.
    pub fn set(&mut self, assignment: &str) -> Result<()> {
        let Some((name, value)) = assignment.split_once('=') else {
            bail!("`{assignment}` is not of the form name=number");
        };
        let number: f32 = value.parse()?;
        match name {
            "rounds" => self.rounds = number as usize,
            "passes" => self.passes = number as usize,
            "averaged" => self.averaged = number as usize,
            "rate" => self.rate = number,
            "decay" => self.decay = number,
            "dropout" => self.dropout = number,
            "random" => self.random = number as usize,
            "hard" => self.hard = number as usize,
            "ordinary" => self.ordinary = number,
            "attacks" => self.attacks = number,
            "harmless" => self.harmless = number,
            "chat" => self.chat = number,
            "talk" => self.talk = number,
            "real" => self.real = number,
            "evenness" => self.evenness = number,
            "of-package" => self.of_package = number as usize,
            "faint" => self.faint = number,
            "loose" => self.loose = number,
            "strict" => self.strict = number,
            "seed" => self.seed = number as u64,
            _ => bail!("the plan has no `{name}`"),
        }
        Ok(())
    }
}
