//! The shell lines and program words among a call's arguments, read into commands.

use super::{Action, Here, collect_texts, is_scalar, unreadable::Unreadable, view::CommandView};
use crate::call::{ToolCall, push_python_str};
use crate::shell::{self, Listed, MAX_COMMANDS};
use crate::supposed::Supposition;
use serde_json::Value;

/// The longest command line that is read; a longer one is refused, whatever it says (H-10).
pub const MAX_COMMAND: usize = 1 << 20;
/// The most words of a line that may name files.
pub(super) const MAX_WORDS: usize = 8000;

impl Action {
    pub(super) fn read_shell_call(&mut self, call: &ToolCall, key: &str, here: &Here<'_>) {
        let input = call.input();
        match input.get(key) {
            None => return,
            Some(Value::String(_)) => {}
            Some(
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_),
            ) => {
                self.trouble = Some(Unreadable::Malformed("the command is not text"));
                return;
            }
        }
        match input.get("args") {
            None | Some(Value::Null) => {}
            Some(Value::Array(args)) if args.iter().all(is_scalar) => {}
            Some(_) => {
                self.trouble = Some(Unreadable::Malformed("`args` is not a list of texts"));
                return;
            }
        }
        if let Some(line) = self.line.clone() {
            self.read_line(&line, here);
            self.in_line = self.commands.len();
        }
        self.read_literal_args(call, key, here);
    }

    /// A tool may pass `args` to the program as they are instead of to a shell: then they are
    /// words, whatever they contain. Both readings are judged.
    fn read_literal_args(&mut self, call: &ToolCall, key: &str, here: &Here<'_>) {
        let input = call.input();
        let (Some(Value::String(program)), Some(Value::Array(args))) =
            (input.get(key), input.get("args"))
        else {
            return;
        };
        let mut words: Vec<String> = program.split_whitespace().map(str::to_owned).collect();
        for arg in args {
            let mut word = String::new();
            push_python_str(&mut word, arg);
            words.push(word);
        }
        let plain = |word: &String| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_alphanumeric() || "-_./=:,@+%".contains(c))
        };
        if words.iter().all(plain) {
            return;
        }
        let words: Vec<Value> = words.into_iter().map(Value::String).collect();
        self.read_words(&words, here);
    }

    /// A command given as a list of words, which no shell takes apart.
    pub(super) fn read_words(&mut self, words: &[Value], here: &Here<'_>) {
        let mut texts = Vec::new();
        for word in words {
            collect_texts(word, &mut |text| texts.push(text.to_owned()));
        }
        let words: Vec<&str> = texts.iter().map(String::as_str).collect();
        let whole = 0..self.line.as_ref().map_or(0, String::len);
        match shell::commands_of_words_in(&words, Some(here.around), &here.budget) {
            Ok(mut listed) => {
                // Words have no place in a line of their own; they are all of it.
                for command in &mut listed.commands {
                    command.span = whole.clone();
                }
                self.add_commands(listed);
            }
            Err(refusal) => self.trouble = Some(Unreadable::from_refusal(refusal)),
        }
    }

    pub(super) fn read_line(&mut self, line: &str, here: &Here<'_>) {
        if line.len() > MAX_COMMAND {
            self.trouble = Some(Unreadable::Oversize(line.len()));
            return;
        }
        match shell::commands_in(line, Some(here.around), &here.budget) {
            Ok(listed) => self.add_commands(listed),
            Err(refusal) => self.trouble = Some(Unreadable::from_refusal(refusal)),
        }
    }

    fn add_commands(&mut self, listed: Listed) {
        let Listed {
            commands,
            files,
            may_run,
        } = listed;
        for file in files {
            if !self.files.contains(&file) {
                self.files.push(file);
            }
        }
        // A second list's references to its own members move with it.
        let offset = self.commands.len();
        if offset + commands.len() > MAX_COMMANDS {
            self.trouble = Some(Unreadable::TooMany);
            return;
        }
        let here = may_run.into_iter().filter(|(by, _)| *by < commands.len());
        self.may_run.extend(here.map(|(by, line)| Supposition {
            by: by + offset,
            line,
            is_itself: false,
        }));
        if offset == 0 {
            // For nearly every call this is all of them.
            self.commands.reserve_exact(commands.len());
        }
        for mut command in commands {
            if let shell::Reached::Within { wrapper, .. } = &mut command.reached {
                *wrapper += offset;
            }
            command.fed_by.start += offset;
            command.fed_by.end += offset;
            self.commands.push(CommandView::from_command(command));
        }
    }
}
