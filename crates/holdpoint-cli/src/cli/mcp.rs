//! The flags of `mcp`.

use std::ffi::OsString;

use clap::{Args, Subcommand};

pub(super) const MCP_EXAMPLES: &str = "Examples:
  holdpoint mcp proxy --name files -- npx -y @modelcontextprotocol/server-filesystem ~/work";

const PROXY_EXAMPLES: &str = "Example, in an agent's list of servers (.mcp.json):
  { \"mcpServers\": { \"files\": {
      \"command\": \"holdpoint\",
      \"args\": [\"mcp\", \"proxy\", \"--name\", \"files\", \"--\", \"npx\", \"-y\", \"@modelcontextprotocol/server-filesystem\", \"/work\"] } } }

In policies its tools are mcp__files__TOOL.";

/// Servers of the Model Context Protocol.
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) action: McpAction,
}

/// What is done with them.
#[derive(Debug, Subcommand)]
pub(crate) enum McpAction {
    /// Stand between a client and a server, and gate the server's tools
    ///
    /// The server is started as it is named, and everything the two say to each other goes through
    /// unchanged, but: a call of a tool is judged first and waits for a person where the policy says so,
    /// what a tool returns is inspected, and a tool that is denied is not listed. What the server says of
    /// its tools is remembered when it is first seen; a tool it describes otherwise later is hidden until
    /// a person takes it. The server's exit code is this command's.
    #[command(after_help = PROXY_EXAMPLES)]
    Proxy(McpProxy),
}

/// A server and what it goes by.
#[derive(Debug, Args)]
pub(crate) struct McpProxy {
    /// The name the server goes by, in policies and on record: its tools are mcp__NAME__TOOL
    ///
    /// Without it, that of the program, or of the package its program runs.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The session its calls come under; without it one of this process alone
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The server and its arguments
    #[arg(last = true, required = true, value_name = "SERVER")]
    pub(crate) server: Vec<OsString>,
}
