//! A deletion of the whole home, spelt so that no search for its text finds it; then the plain text
//! of one, in a commit message, where it does nothing.

use super::promised;
use crate::commands::demo::script::{COMMIT, DELETE};
use crate::commands::demo::stage::Stage;

pub(super) fn play(stage: &mut Stage<'_>) -> anyhow::Result<()> {
    let deleted = stage.act(&DELETE)?;
    stage.show_verdict(&deleted)?;
    stage.show_result(&deleted)?;
    promised(!deleted.executed.ran(), "the deletion should not have run")?;
    promised(
        deleted.is_by("filesystem.delete-home"),
        "the deletion should have been refused as one of the home directory",
    )?;

    stage.sheet.space()?;
    let committed = stage.act(&COMMIT)?;
    stage.show_verdict(&committed)?;
    stage.show_result(&committed)?;
    promised(committed.executed.ran(), "the commit should have run")?;

    stage.sheet.space()?;
    stage.sheet.say(
        "Commands are read as a shell reads them, with their quotes and variables, and judged by \
         what they would do. Words inside a message do nothing.",
    )?;
    Ok(())
}
