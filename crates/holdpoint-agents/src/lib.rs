//! The agents Holdpoint stands before: what each one says to a hook and wants to hear, where its
//! settings are, and what its transcripts look like. Nothing here decides anything.

mod agents;
pub mod hook;
pub mod mcp_servers;
pub mod own_rules;
pub mod replay;
pub mod setup;
