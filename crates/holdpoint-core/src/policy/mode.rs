//! Whether what a policy says is held to, or only written down.
//!
//! A team that wants to know what a gate would mean for it looks first: everything is judged and put on record, and
//! nothing is stopped but what would take the gate itself away.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layer::{Authority, Layer};

/// Whether what the policy says is held to; the order is from the loosest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Stop nothing but what would harm Holdpoint itself; put on record what would have been said.
    Observe,
    /// Hold calls to the policy.
    #[default]
    Enforce,
}

impl Mode {
    /// The word used in output and in policies.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Observe => "observe",
            Mode::Enforce => "enforce",
        }
    }

    /// The mode of these layers. A project has no say: whose agent it is decides whether it is guarded. A managed file
    /// that says nothing wants to be held to, so that nobody below it takes it out of force.
    pub(super) fn of_layers(layers: &[Layer]) -> Self {
        let deciding = layers.iter().filter(|layer| match layer.authority {
            Authority::Managed => true,
            Authority::User => layer.mode.is_some(),
            Authority::Project => false,
        });
        let stated = deciding.map(|layer| layer.mode.unwrap_or_default());
        stated.max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Policy, Source, Trust};

    fn mode(layers: &[(Authority, &str)]) -> Mode {
        let sources = layers.iter().map(|(authority, text)| Source {
            name: "test".into(),
            authority: *authority,
            trust: Trust::Trusted,
            bytes: (*text).into(),
        });
        Policy::compile(sources.collect()).unwrap().mode()
    }

    #[test]
    fn only_the_machine_and_its_user_say_that_nothing_is_enforced() {
        use Authority::{Managed, Project, User};
        const LOOK: &str = r#"{"mode":"observe"}"#;
        const HOLD: &str = r#"{"mode":"enforce"}"#;
        assert_eq!(mode(&[]), Mode::Enforce);
        assert_eq!(mode(&[(User, "{}")]), Mode::Enforce);
        assert_eq!(mode(&[(User, LOOK)]), Mode::Observe);
        assert_eq!(mode(&[(Managed, LOOK)]), Mode::Observe);
        assert_eq!(mode(&[(Managed, LOOK), (User, "{}")]), Mode::Observe);
        assert_eq!(mode(&[(Managed, LOOK), (User, HOLD)]), Mode::Enforce);
        // What stands above is not loosened, whether it says so or not.
        assert_eq!(mode(&[(Managed, HOLD), (User, LOOK)]), Mode::Enforce);
        assert_eq!(mode(&[(Managed, "{}"), (User, LOOK)]), Mode::Enforce);
        // A project neither loosens nor takes away the look its user wants.
        assert_eq!(mode(&[(Project, LOOK)]), Mode::Enforce);
        assert_eq!(mode(&[(User, LOOK), (Project, HOLD)]), Mode::Observe);
    }

    #[test]
    fn a_profile_beside_it_changes_nothing() {
        let user = Authority::User;
        let text = r#"{"profile":"strict","mode":"observe"}"#;
        assert_eq!(mode(&[(user, text)]), Mode::Observe);
    }
}
