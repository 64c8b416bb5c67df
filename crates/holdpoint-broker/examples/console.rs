//! Asks one made-up question on the controlling terminal, as a hook does: standard input is a
//! payload, standard output the answer. The tests in `tests/terminal` drive it.
//!
//!     console [SECONDS [LOCK]] < payload

use std::error::Error;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use holdpoint_broker::channel::{Setting, build};
use holdpoint_broker::{Channel, ChannelError, Request, Waiting};
use holdpoint_core::Policy;
use holdpoint_core::policy::channel_of;
use holdpoint_sandbox::last_words::{self, LastWords};

fn main() -> Result<(), Box<dyn Error>> {
    last_words::arm(LastWords {
        stdout: "last words\n",
        stderr: "",
        code: 2,
        deadline: Duration::from_secs(600),
        memory: 2 << 30,
    })?;
    let mut words = std::env::args().skip(1);
    let seconds = words.next().map(|word| word.parse()).transpose()?;
    let mut payload = String::new();
    io::stdin().read_to_string(&mut payload)?;
    let policy = Policy::from_text("example", r#"{"channel": {"type": "console"}}"#)?;
    let setting = Setting {
        approver: "ann".into(),
        prompt_lock: words.next().map(PathBuf::from),
        environment: &|name| std::env::var(name).ok(),
        webhooks: None,
    };
    let written = channel_of(&policy).ok_or("no channel")?;
    let mut channel = build(written, &setting)?;
    let text = match ask(channel.as_mut(), seconds) {
        Ok(text) => text,
        Err(error) => format!("{error:?}"),
    };
    writeln!(io::stdout(), "{}: {text}", payload.trim())?;
    Ok(())
}

fn ask(channel: &mut dyn Channel, seconds: Option<u64>) -> Result<String, ChannelError> {
    let request = include_str!("../src/channel/sample.json");
    let request: Request =
        serde_json::from_str(request).map_err(|error| ChannelError::Unusable(error.to_string()))?;
    let waiting = Waiting {
        limit: seconds.map(Duration::from_secs),
        cancelled: &|| false,
    };
    let said = channel.ask(&request, &waiting)?;
    channel.told(&request, "this was an example");
    Ok(format!("{:?} by {}", said.answer, said.approver))
}
