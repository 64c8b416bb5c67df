//! Where the results of a tool come from.

use holdpoint_core::text::Origin;
use holdpoint_core::{Explained, ToolCall, reaches_network, reads_files};

/// Where what a call returned comes from. `explained` is asked what the call would do, if that is
/// not clear from its tool.
pub fn origin_of(call: &ToolCall, explained: impl FnOnce() -> Explained) -> Origin {
    if reaches_network(call.tool()) {
        return Origin::Web;
    }
    if reads_files(call.tool()) {
        return Origin::File;
    }
    if call.command_line().is_none() {
        return Origin::Tool;
    }
    let commands = explained().commands;
    let mut effects = commands.iter().flat_map(|command| &command.effects);
    if effects.any(|effect| matches!(effect.kind, "connect" | "send")) {
        return Origin::Web;
    }
    Origin::Tool
}
