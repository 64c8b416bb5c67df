//! The scenes of the tour. Each lets the agent act, shows what came of it, and holds the gate to
//! what the scene promises.

mod allowed;
mod cleaned;
mod denied;
mod held;
mod recorded;

use anyhow::bail;

use super::stage::Stage;

pub(super) struct Scene {
    pub(super) title: &'static str,
    pub(super) play: fn(&mut Stage<'_>) -> anyhow::Result<()>,
}

pub(super) const SCENES: [Scene; 5] = [
    Scene {
        title: "A call nobody objects to",
        play: allowed::play,
    },
    Scene {
        title: "A deletion in disguise, and words that only mention it",
        play: denied::play,
    },
    Scene {
        title: "A call that waits for you",
        play: held::play,
    },
    Scene {
        title: "A web page that gives orders",
        play: cleaned::play,
    },
    Scene {
        title: "A record nobody rewrites unnoticed",
        play: recorded::play,
    },
];

/// Holds a scene to what it promises.
fn promised(kept: bool, promise: &str) -> anyhow::Result<()> {
    if !kept {
        bail!("{promise}");
    }
    Ok(())
}
