//! The command lines among settings: task runners, workflows, hooks and tools are told in YAML, TOML,
//! INI files and the like what to run.
//!
//! Which settings are commands is each tool's affair, so every value is given that could be one, and a
//! block of lines as a whole, too. Whoever takes them leaves out what no shell reads.

use std::collections::HashSet;

use serde_json::Value;

use super::CommandLines;

/// Lines given for one file; a file with more settings is not written by hand, and is cut.
const MAX_LINES: usize = 600;
/// The longest value that is taken for a command. Longer ones are texts; one that could be a command
/// all the same leaves the file cut.
const MAX_LINE: usize = 8 << 10;

/// Everything in a file of settings that may be a command line.
pub(crate) fn command_lines(text: &str) -> CommandLines {
    let mut found = Settings::default();
    if let Ok(whole @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
        found.texts_in(&whole);
        return found.found;
    }
    // Terraform's word for where a file lies.
    let joined = text
        .replace("\\\n", " ")
        .replace("${path.module}", ".")
        .replace("${path.root}", ".");
    let lines: Vec<&str> = joined.lines().collect();
    let mut block: Option<Block> = None;
    for line in &lines {
        let indent = line.len() - line.trim_start().len();
        let bare = line.trim();
        if let Some(open) = &mut block {
            if bare.is_empty() || indent > open.indent || open.fence.is_some() {
                let ends = open.fence.is_some_and(|fence| bare.starts_with(fence));
                if !ends {
                    open.lines.push(bare.to_owned());
                    found.value(bare);
                    continue;
                }
            }
            let whole = std::mem::take(&mut open.lines).join("\n");
            let fenced = open.fence.is_some();
            if bare.starts_with(']') {
                found.list(&whole);
            }
            block = None;
            found.push(&whole);
            if fenced {
                continue;
            }
        }
        if bare.is_empty() || bare.starts_with(['#', ';']) || bare.starts_with("//") {
            continue;
        }
        if opens_block(bare) {
            block = Some(Block {
                indent,
                fence: fence_of(bare),
                lines: Vec::new(),
            });
            continue;
        }
        found.value(bare);
    }
    if let Some(open) = block {
        found.push(&open.lines.join("\n"));
    }
    found.found
}

/// A block of lines that belong together.
struct Block {
    indent: usize,
    fence: Option<&'static str>,
    lines: Vec<String>,
}

/// Whether a line begins a block: `run: |`, a recipe's head, `script = """`.
fn opens_block(line: &str) -> bool {
    let ends = ["|", "|-", "|+", ">", ">-", ">+", ":", "=", "{", "["];
    fence_of(line).is_some() || ends.iter().any(|end| line.ends_with(end))
}

fn fence_of(line: &str) -> Option<&'static str> {
    let fences = ["\"\"\"", "'''", "```"];
    fences.into_iter().find(|fence| {
        line.find(fence)
            .is_some_and(|at| line.get(at + 3..).is_some_and(|rest| !rest.contains(fence)))
    })
}

#[derive(Default)]
struct Settings {
    found: CommandLines,
    known: HashSet<String>,
    /// What runs the command beside it, as a shell's words: `interpreter = ["python3", "-c"]`.
    interpreter: Option<String>,
    /// That command.
    command: Option<String>,
}

impl Settings {
    /// The texts of a value in JSON; a list of them may be one command's words.
    fn texts_in(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.push(text),
            Value::Array(items) => {
                let words: Vec<String> =
                    items.iter().filter_map(Value::as_str).map(quoted).collect();
                if words.len() > 1 {
                    self.push(&words.join(" "));
                }
                items.iter().for_each(|item| self.texts_in(item));
            }
            Value::Object(fields) => fields.values().for_each(|value| self.texts_in(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn push(&mut self, line: &str) {
        let line = line.trim();
        // One plain word runs nothing anybody would be asked about.
        let plain = line
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.,".contains(&byte));
        if plain || self.known.contains(line) {
            return;
        }
        if line.len() > MAX_LINE || self.found.lines.len() >= MAX_LINES {
            self.found.cut = true;
            return;
        }
        self.known.insert(line.to_owned());
        self.found.lines.push(line.to_owned());
    }

    /// A list over several lines may be one command's words.
    fn list(&mut self, lines: &str) {
        let items = list_items(&format!("[{}]", lines.replace('\n', " "))).unwrap_or_default();
        if items.len() > 1 {
            let words: Vec<String> = items.iter().map(|item| quoted(item)).collect();
            self.push(&words.join(" "));
        }
    }

    /// A command and what it is told to be run by, whichever comes first.
    fn paired(&mut self, line: &str) {
        let Some((key, value)) = line.split_once('=') else {
            return;
        };
        let value = value.trim();
        match key.trim() {
            "interpreter" => {
                self.interpreter = list_items(value).map(|items| {
                    let words: Vec<String> = items.iter().map(|item| quoted(item)).collect();
                    words.join(" ")
                });
            }
            "command" => self.command = Some(unescaped(unquoted(value))),
            _ => return,
        }
        if let (Some(interpreter), Some(command)) = (&self.interpreter, &self.command) {
            let line = format!("{interpreter} {}", quoted(command));
            self.push(&line);
        }
    }

    /// Everything a line of settings may say: itself, what follows its key, the items of a list.
    fn value(&mut self, line: &str) {
        // `data "external" "x" { program = ["sh", "-c", "…"] }`
        if let Some((head, inside)) = line.split_once('{')
            && let Some(inside) = inside.trim_end().strip_suffix('}')
            && !inside.contains(['{', '}'])
            && inside.contains('=')
            && !head.contains(['=', '$'])
        {
            self.value(inside.trim());
        }
        self.paired(line);
        let mut rest = line;
        loop {
            let before = rest;
            rest = rest.trim().trim_start_matches(['@', '+']);
            rest = rest
                .strip_prefix("- ")
                .unwrap_or(rest)
                .trim_end_matches(',');
            if let Some(items) = list_items(rest) {
                let words: Vec<String> = items.iter().map(|item| quoted(item)).collect();
                self.push(&words.join(" "));
                for item in &items {
                    self.push(item);
                }
                return;
            }
            let bare = unquoted(rest);
            self.push(bare);
            rest = bare;
            if let Some(value) = after_key(rest) {
                rest = value;
            }
            if rest.len() >= before.len() {
                return;
            }
        }
    }
}

/// What follows `key:` or `key =`.
fn after_key(line: &str) -> Option<&str> {
    let at = line.find([':', '='])?;
    let key = line.get(..at)?.trim();
    let is_key = !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.\"' ".contains(&byte));
    let value = line.get(at + 1..)?;
    // `http://` is no key, `a=b` may be one.
    (is_key && !value.starts_with("//")).then(|| value.trim_start_matches(['=', ' ']))
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    for quote in ["\"\"\"", "'''", "\"", "'", "`"] {
        let inside = text
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        if let Some(inside) = inside {
            return inside;
        }
    }
    text
}

/// A text without the slashes in front of its quotes.
fn unescaped(text: &str) -> String {
    text.replace("\\\"", "\"")
}

/// The items of `["rm", "-rf", "/"]`.
fn list_items(text: &str) -> Option<Vec<String>> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    let mut items = Vec::new();
    let mut item = String::new();
    let mut quote: Option<char> = None;
    for letter in inside.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => item.push(letter),
            None if letter == '"' || letter == '\'' => quote = Some(letter),
            None if letter == ',' => items.push(std::mem::take(&mut item).trim().to_owned()),
            None => item.push(letter),
        }
    }
    items.push(item.trim().to_owned());
    items.retain(|item| !item.is_empty());
    Some(items)
}

/// A text as one word of a shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, line: &str) -> bool {
        command_lines(text).lines.iter().any(|found| found == line)
    }

    #[test]
    fn values_lists_and_blocks_may_be_commands() {
        assert!(has(
            "version: '3'\ntasks:\n  a:\n    cmds:\n      - rm -rf ~\n",
            "rm -rf ~"
        ));
        assert!(has("      - cmd: 'rm -rf ~'\n", "rm -rf ~"));
        assert!(has("commands = rm -rf ~\n", "rm -rf ~"));
        assert!(has("commands =\n    pytest\n    rm -rf ~\n", "rm -rf ~"));
        assert!(has("entry = [\"rm\", \"-rf\", \"/\"]\n", "'rm' '-rf' '/'"));
        assert!(has(
            "    run: |\n      cd /\n      rm -rf x\n",
            "cd /\nrm -rf x"
        ));
        assert!(has("all:\n    @rm -rf ~\n", "rm -rf ~"));
        let external = "data \"external\" \"x\" { program = [\"sh\", \"-c\", \"rm -rf ~\"] }\n";
        assert!(has(external, "'sh' '-c' 'rm -rf ~'"));
        assert!(has(
            "  program = [\n    \"rm\",\n    \"-rf\", \"/\",\n  ]\n",
            "'rm' '-rf' '/'"
        ));
        assert!(has(
            "  interpreter = [\"python3\", \"-c\"]\n  command = \"print(1)\"\n",
            "'python3' '-c' 'print(1)'"
        ));
        assert!(has(
            "program = [\"bash\", \"${path.module}/z.sh\"]\n",
            "'bash' './z.sh'"
        ));
        assert!(has("x = \"\"\"\nrm -rf ~\n\"\"\"\n", "rm -rf ~"));
    }

    #[test]
    fn comments_and_plain_words_are_none() {
        assert!(command_lines("# rm -rf /\n- app\n").lines.is_empty());
        assert!(!has("name: app\n", "app"));
    }

    #[test]
    fn what_is_left_out_is_said() {
        let many: String = (0..=MAX_LINES).map(|n| format!("- run {n}\n")).collect();
        assert!(command_lines(&many).cut);
        let long = format!("cmd: rm -rf ~ {}\n", "x".repeat(MAX_LINE));
        assert!(command_lines(&long).cut);
        assert!(!command_lines(&"- run it\n".repeat(MAX_LINES * 2)).cut);
    }
}
