//! Small aligned tables, and goals with their outcome.

/// Prints rows under a header, the first column to the left and the others to the right.
pub fn print(header: &[&str], rows: &[Vec<String>]) {
    let header: Vec<String> = header.iter().map(ToString::to_string).collect();
    let all = || std::iter::once(&header).chain(rows);
    let width = |column: usize| {
        let cells = all().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    for row in all() {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            match column {
                0 => line.push_str(&format!("{cell:<width$}")),
                _ => line.push_str(&format!("  {cell:>width$}")),
            }
        }
        println!("{}", line.trim_end());
    }
}

/// Whether missing a goal fails `--check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A ratio of two times of the same run: it holds on any machine.
    Ratio,
    /// An amount of memory: no other program changes it.
    Size,
    /// A time or a rate: it depends on the machine and on what else runs there.
    Absolute,
}

/// Goals, and how many of those that count were missed.
#[derive(Debug, Default)]
pub struct Goals {
    missed: Vec<String>,
}

impl Goals {
    /// Prints one goal with its outcome. A ratio or size that is missed fails a check only if it is also
    /// `alarming`: goals are for an idle machine, a check must not fail on a busy one.
    pub fn state(&mut self, kind: Kind, met: bool, alarming: bool, text: &str) {
        let word = match (met, kind) {
            (true, _) => "pass",
            (false, Kind::Ratio | Kind::Size) => "FAIL",
            (false, Kind::Absolute) => "fail (absolute: a warning)",
        };
        println!("  {word}: {text}");
        if alarming && kind != Kind::Absolute {
            self.missed.push(text.to_owned());
        }
    }

    /// With `check`, an error that names the goals missed.
    pub fn outcome(&self, check: bool) -> anyhow::Result<()> {
        anyhow::ensure!(
            !check || self.missed.is_empty(),
            "goal missed: {}",
            self.missed.join("; ")
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_alarming_ratio_fails_and_only_when_checked() {
        let mut goals = Goals::default();
        goals.state(Kind::Absolute, false, true, "slow machine");
        goals.state(Kind::Ratio, true, false, "fine");
        goals.state(Kind::Ratio, false, false, "19x (goal 20x)");
        assert!(goals.outcome(true).is_ok());
        goals.state(Kind::Ratio, false, true, "2x (goal 20x)");
        assert!(goals.outcome(false).is_ok());
        assert!(goals.outcome(true).is_err());
    }
}
