//! How things look, with colours and without.

use holdpoint_engine::Risk;
use ratatui::style::{Color, Modifier, Style};

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Bold,
    Faint,
    Good,
    Notable,
    Bad,
    Alarming,
    Place,
    Caught,
}

impl Look {
    /// The look of a risk.
    pub(super) fn for_risk(risk: Risk) -> Self {
        match risk {
            Risk::None | Risk::Low => Look::Good,
            Risk::Medium => Look::Notable,
            Risk::High => Look::Bad,
            Risk::Critical => Look::Alarming,
        }
    }
}

/// Whether there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Ink {
    Coloured,
    Plain,
}

impl Ink {
    pub(super) fn style(self, look: Look) -> Style {
        let plain = Style::new();
        let colour = |colour| match self {
            Ink::Coloured => plain.fg(colour),
            Ink::Plain => plain,
        };
        match look {
            Look::Plain => plain,
            Look::Bold => plain.add_modifier(Modifier::BOLD),
            Look::Faint => plain.add_modifier(Modifier::DIM),
            Look::Good => colour(Color::Green),
            Look::Notable => colour(Color::Yellow),
            Look::Bad => colour(Color::Red).add_modifier(Modifier::BOLD),
            Look::Alarming => match self {
                Ink::Coloured => plain.fg(Color::White).bg(Color::Red),
                Ink::Plain => plain.add_modifier(Modifier::REVERSED),
            }
            .add_modifier(Modifier::BOLD),
            Look::Place => colour(Color::Cyan),
            Look::Caught => colour(Color::Red).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
        }
    }
}
