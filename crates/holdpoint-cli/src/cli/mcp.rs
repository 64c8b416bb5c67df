//! The flags of `mcp`.

use std::ffi::OsString;

use clap::{Args, Subcommand};

pub(super) const MCP_EXAMPLES: &str = "Examples:
  holdpoint mcp scan                    the servers your agents are set up with, and what was found
  holdpoint mcp wrap                    put them behind Holdpoint
  holdpoint mcp unwrap                  and back, to the byte
  holdpoint mcp accept files            read what a server says otherwise of its tools, and take it
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
    /// Read what a server says otherwise of its tools, and take it
    ///
    /// A tool that its server describes otherwise than when it was first seen, or did not have then, or whose
    /// description gives orders to the model, is hidden from agents until you have read the difference and
    /// said yes. Only a person does that, as with `holdpoint approve`.
    Accept(McpAccept),
    /// List the servers agents are set up with, and what was found
    ///
    /// Reads the lists of Claude Code, Claude Desktop, Codex, Cursor, Gemini CLI, Qwen Code and VS Code: yours and
    /// those of the project you stand in. No server is started: what is known of tools comes from servers
    /// that ran behind Holdpoint.
    Scan(McpScan),
    /// Put the servers agents are set up with behind Holdpoint
    ///
    /// Changes agents' lists so that each server that is a program is started by `holdpoint mcp proxy`. All
    /// else in the files stays as it is. A server that is reached at an address is left alone, and `scan` says so.
    Wrap(McpWrap),
    /// Take the servers from behind Holdpoint again: the lists are as they were, to the byte
    Unwrap(McpWrap),
    /// Be a server of one tool, askPermission: would this call be let run?
    ///
    /// For programs that want to know beforehand. Nothing is run, counted, remembered or recorded by
    /// asking, and the answer is no promise. Do not offer it to a model: models ask instead of calling.
    Serve(McpServe),
}

/// A server that says otherwise.
#[derive(Debug, Args)]
pub(crate) struct McpAccept {
    /// The name the server goes by
    #[arg(value_name = "SERVER")]
    pub(crate) server: String,
    /// Take it without being asked again
    #[arg(long, conflicts_with = "show")]
    pub(crate) yes: bool,
    /// Only show it; ends with 3 if something waits
    #[arg(long)]
    pub(crate) show: bool,
}

/// What is listed.
#[derive(Debug, Args)]
pub(crate) struct McpScan {
    /// Print JSON, a line for each server
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whose lists are changed.
#[derive(Debug, Args)]
pub(crate) struct McpWrap {
    /// The agents; without any, all whose lists are found
    #[arg(value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    /// Say what would be changed, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Under what is asked.
#[derive(Debug, Args)]
pub(crate) struct McpServe {
    /// The session whose rules count; without it one of its own
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
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
