//! `holdpoint prompt`: prompts in eleven sections, with text from elsewhere fenced.

use std::fs;
use std::io::Write;

use anyhow::{Context as _, bail};
use holdpoint_core::plan::{Format, Manifest};
use holdpoint_engine::prompt::{Prompt, PromptError};
use serde_json::json;

use super::in_words;
use crate::cli::{PromptAction, Prompts};
use crate::exit::Exit;
use crate::terminal::{Terminal, escape_for_display};

/// The largest text that is put into a prompt: more than a model reads.
const MAX_TEXT: u64 = 4 << 20;

pub(crate) fn run(args: &Prompts, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    let PromptAction::Build {
        file,
        kind,
        untrusted,
        json: as_json,
    } = &args.action;
    let name = file.display().to_string();
    let manifest = Manifest::read(&name, read(file)?.as_bytes(), Format::of_name(&name))?;
    let Some(kind) = kind.or(manifest.meta.kind) else {
        bail!("{name}: it names no kind of task: add `kind` to [meta], or say --kind feature");
    };
    let mut prompt = match Prompt::of_plan(&manifest, kind) {
        Ok(prompt) => prompt,
        Err(error) => return refused(&error, terminal),
    };
    for one in untrusted {
        let text = read(&one.file)?;
        prompt = prompt.with_untrusted(&one.file.display().to_string(), one.origin, &text);
    }
    let mut secret = [0; 32];
    getrandom::fill(&mut secret)
        .map_err(|error| anyhow::anyhow!("{error}"))
        .context("no random bytes can be had, so a boundary could be guessed: check the system")?;
    let built = match prompt.build(&secret) {
        Ok(built) => built,
        Err(error) => return refused(&error, terminal),
    };
    if *as_json {
        let whole = json!({
            "v": 1, "text": built.text, "digest": built.digest, "boundary": built.boundary, "notes": built.notes,
        });
        writeln!(terminal.out, "{whole}")?;
        return Ok(Exit::Fine);
    }
    write!(terminal.out, "{}", built.text)?;
    writeln!(terminal.out, "<!-- prompt {} -->", built.digest)?;
    for note in &built.notes {
        writeln!(terminal.out, "<!-- {} -->", escape_for_display(note, 500))?;
    }
    Ok(Exit::Fine)
}

fn refused(error: &PromptError, terminal: &mut Terminal) -> anyhow::Result<Exit> {
    match error {
        PromptError::Refused { .. } => {
            writeln!(terminal.out, "{error}")?;
            Ok(Exit::Denied)
        }
        PromptError::Templates(_) | PromptError::NoObjective => bail!("{error}"),
    }
}

fn read(file: &std::path::Path) -> anyhow::Result<String> {
    let name = file.display();
    if fs::metadata(file).is_ok_and(|found| found.len() > MAX_TEXT) {
        bail!("{name}: it is larger than {MAX_TEXT} bytes: take the part that is needed");
    }
    let bytes = fs::read(file).map_err(|error| anyhow::anyhow!("{name}: {}", in_words(&error)))?;
    String::from_utf8(bytes)
        .map_err(|_| anyhow::anyhow!("{name}: it is not UTF-8 text: save it as UTF-8"))
}
