//! The process of the agent that asks, found above this one, and the arguments it was started with.

use std::path::Path;

use holdpoint_engine::store::plain_words;

/// How far above this process the agent is looked for: a shell or two start a hook, and launchers the agent.
const MAX_ABOVE: usize = 32;

/// A process above this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentProcess {
    /// Its program and arguments.
    pub arguments: Vec<String>,
    /// Whether it has put a title of its own in their place.
    pub is_overwritten: bool,
}

impl AgentProcess {
    /// A process from the text the system keeps of its arguments, each ended by a zero byte.
    pub fn from_text(text: &[u8]) -> Self {
        let trimmed = text.strip_suffix(b"\0").unwrap_or(text);
        Self {
            arguments: trimmed
                .split(|byte| *byte == 0)
                .map(|one| String::from_utf8_lossy(one).into_owned())
                .collect(),
            // A title is shorter than what it overwrites, and the rest is filled with zeros.
            is_overwritten: text.ends_with(b"\0\0"),
        }
    }

    /// Whether its program, or the script its program runs, has one of these names.
    pub(crate) fn is_called(&self, names: &[&str]) -> bool {
        self.arguments.iter().take(3).any(|argument| {
            Path::new(argument)
                .components()
                .filter_map(|part| part.as_os_str().to_str())
                .any(|part| {
                    let stem = part.strip_suffix(".exe").or(part.strip_suffix(".js"));
                    names.contains(&stem.unwrap_or(part))
                })
        })
    }
}

/// The processes above this one, the nearest first; an error if the first cannot be read.
#[cfg(target_os = "linux")]
pub fn ancestors() -> Result<Vec<AgentProcess>, String> {
    let mut found = Vec::new();
    let mut process = "self".to_owned();
    while found.len() < MAX_ABOVE {
        let next = parent(&process).and_then(|parent| {
            let text = std::fs::read(format!("/proc/{parent}/cmdline"))?;
            Ok((parent, AgentProcess::from_text(&text)))
        });
        match next {
            Ok((parent, above)) => {
                found.push(above);
                if parent == "1" {
                    break;
                }
                process = parent;
            }
            // Whoever runs the agent may be hidden from it; the agent itself is not.
            Err(_) if !found.is_empty() => break,
            Err(error) => {
                let error = plain_words(&error);
                return Err(format!("the agent's process cannot be read ({error})"));
            }
        }
    }
    Ok(found)
}

#[cfg(target_os = "linux")]
fn parent(process: &str) -> std::io::Result<String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    match parent.map(str::trim) {
        Some(parent) if parent != "0" => Ok(parent.to_owned()),
        Some(_) | None => Err(std::io::ErrorKind::NotFound.into()),
    }
}

/// The processes above this one; elsewhere they cannot be read.
#[cfg(not(target_os = "linux"))]
pub fn ancestors() -> Result<Vec<AgentProcess>, String> {
    let _ = (MAX_ABOVE, plain_words);
    Err("the agent's process cannot be read on this system".into())
}
