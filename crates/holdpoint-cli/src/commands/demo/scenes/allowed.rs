//! Reading a file of the project: nothing objects, so nobody is bothered.

use super::promised;
use crate::commands::demo::script::{PROJECT, READ};
use crate::commands::demo::stage::Stage;

pub(super) fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let acted = stage.act(&READ)?;
    stage.show_verdict(&acted)?;
    stage.show_result(&acted)?;
    promised(acted.executed.ran(), "the file should have been read")?;
    let text = PROJECT.iter().find(|file| file.path == READ.argument);
    promised(
        text.is_some_and(|file| file.text == acted.read()),
        "the model should have read the file as it is",
    )
}
