//! `holdpoint mcp`: servers of the Model Context Protocol, gated.

mod pin_store;
pub(crate) mod proxy;
