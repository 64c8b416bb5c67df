//! `holdpoint mcp`: servers of the Model Context Protocol, gated.

mod accept;
mod configured;
mod pin_store;
pub(crate) mod proxy;
mod serve;

use crate::cli::{Mcp, McpAction};
use crate::exit::Exit;
use crate::terminal::Terminal;

pub(crate) fn run(args: &Mcp, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    match &args.action {
        // It ends as its server does, so it has been run by now.
        McpAction::Proxy(_) => Ok(Exit::Error),
        McpAction::Accept(args) => accept::run(args, terminal),
        McpAction::Scan(args) => configured::scan(args, terminal),
        McpAction::Wrap(args) => configured::wrap(args, terminal),
        McpAction::Unwrap(args) => configured::unwrap(args, terminal),
        McpAction::Serve(args) => serve::run(args, terminal),
    }
}
