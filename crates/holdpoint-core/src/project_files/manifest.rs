//! The pods of a Kubernetes manifest, as the `docker run` lines they come to.
//!
//! Only what decides about the node outside is read: which of its directories are mounted, what a container may do
//! there and what it runs. YAML and JSON are read by their keys, wherever in a document they stand, and leniently: a
//! template with holes is read as far as it says something.

use super::settings::quoted;
use super::{CommandLines, yaml_scalar};

/// Documents read; a file with more is written by a program, and cut.
const MAX_DOCUMENTS: usize = 64;

/// Keys behind `hostPath` among which its path is looked for: it has two.
const HOST_PATH_KEYS: usize = 2;

#[derive(Debug, Default)]
struct Document {
    options: Vec<String>,
    image: Option<String>,
    /// What each container runs.
    commands: Vec<Vec<String>>,
    /// The key whose list is being read.
    list: Option<String>,
    /// Keys left that may be the path of a `hostPath`.
    host_path: usize,
}

/// What bringing the objects of a manifest to a cluster comes to.
pub(crate) fn commands(text: &str) -> CommandLines {
    let mut lines = Vec::new();
    let mut cut = false;
    for (at, part) in text.split("\n---").enumerate() {
        if at >= MAX_DOCUMENTS {
            cut = true;
            break;
        }
        let mut document = Document::default();
        for line in part.lines() {
            let line = line.trim();
            if !line.starts_with('#') {
                pieces(line).into_iter().for_each(|one| document.line(&one));
            }
        }
        document.run(&mut lines);
    }
    CommandLines { lines, cut }
}

/// A line taken apart at its braces and at the commas between keys; a list of plain values stays whole.
fn pieces(line: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut quote = None;
    let mut in_list = false;
    for (at, sign) in line.char_indices() {
        let plain_list = || {
            let rest = line.get(at..).unwrap_or_default();
            let end = rest.find(']').unwrap_or(rest.len());
            !rest.get(..end).unwrap_or_default().contains('{')
        };
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (None, '"' | '\'') => quote = Some(sign),
            (None, '[') => in_list = plain_list(),
            (None, ']') => in_list = false,
            (Some(_) | None, _) => {}
        }
        let parts = quote.is_none() && !in_list && matches!(sign, '{' | '}' | ',' | '[');
        match (parts, found.last_mut()) {
            (false, Some(last)) => last.push(sign),
            (true, _) | (false, None) => found.push(String::new()),
        }
    }
    found
}

impl Document {
    fn line(&mut self, text: &str) {
        let text = text.trim();
        let (item, rest) = match text.strip_prefix("- ") {
            Some(rest) => (true, rest.trim()),
            None => (false, text),
        };
        let key = rest.split_once(':').and_then(|(key, value)| {
            let key = key.trim().trim_matches(['"', '\'']);
            let is_key = (value.is_empty() || value.starts_with(' ') || rest.starts_with('"'))
                && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
            (is_key && !key.is_empty()).then_some((key, yaml_scalar(value)))
        });
        let Some((key, value)) = key else {
            if item {
                self.item(yaml_scalar(rest));
            }
            return;
        };
        let near_host_path = self.host_path > 0;
        self.host_path = self.host_path.saturating_sub(1);
        self.list = None;
        match key {
            "hostPath" => self.host_path = HOST_PATH_KEYS,
            "path" if near_host_path => {
                self.host_path = 0;
                let mount = quoted(&format!("{value}:/host"));
                self.options.push(format!("-v {mount}"));
            }
            "privileged" if value == "true" => self.options.push("--privileged".to_owned()),
            "hostPID" if value == "true" => self.options.push("--pid=host".to_owned()),
            "hostNetwork" if value == "true" => self.options.push("--network=host".to_owned()),
            "hostIPC" if value == "true" => self.options.push("--ipc=host".to_owned()),
            "image" => self.image = Some(value.to_owned()),
            "command" | "args" | "add" => {
                if key == "command" || (key == "args" && self.commands.is_empty()) {
                    self.commands.push(Vec::new());
                }
                self.list = Some(key.to_owned());
                let items = value
                    .strip_prefix('[')
                    .map(|list| list.trim_end_matches(']'));
                for one in items.into_iter().flat_map(listed) {
                    self.item(&one);
                }
            }
            _ => {}
        }
    }

    fn item(&mut self, value: &str) {
        match self.list.as_deref() {
            Some("add") => self.options.push(format!("--cap-add={}", quoted(value))),
            Some("command" | "args") => {
                if let Some(command) = self.commands.last_mut() {
                    command.push(quoted(value));
                }
            }
            Some(_) | None => {}
        }
    }

    fn run(self, lines: &mut Vec<String>) {
        // Without a container or something of the node there is nothing to run.
        if self.image.is_none() && self.options.is_empty() {
            return;
        }
        let image = quoted(self.image.as_deref().unwrap_or("image"));
        let start = [vec!["docker run".to_owned()], self.options, vec![image]].concat();
        let commands = match self.commands.is_empty() {
            true => vec![Vec::new()],
            false => self.commands,
        };
        for command in commands {
            lines.push([start.clone(), command].concat().join(" "));
        }
    }
}

/// The values of a list in brackets.
fn listed(list: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut quote = None;
    for sign in list.chars() {
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (None, '"' | '\'') => quote = Some(sign),
            (None, ',') => {
                found.push(String::new());
                continue;
            }
            (Some(_) | None, _) => {}
        }
        if let Some(last) = found.last_mut() {
            last.push(sign);
        }
    }
    found
        .iter()
        .map(|one| yaml_scalar(one).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_a_container_that_is_run() {
        let text = "apiVersion: v1\nkind: Pod\nspec:\n  hostPID: true\n  containers:\n  - name: a\n    image: alpine\n    command: [\"sh\", \"-c\", \"rm -rf /host, now\"]\n    securityContext:\n      privileged: true\n      capabilities:\n        add:\n        - SYS_ADMIN\n    livenessProbe:\n      httpGet:\n        path: /healthz\n  volumes:\n  - name: h\n    hostPath:\n      type: Directory\n      path: /\n";
        assert_eq!(
            commands(text).lines,
            [
                "docker run --pid=host --privileged --cap-add='SYS_ADMIN' -v '/:/host' 'alpine' 'sh' '-c' 'rm -rf /host, now'"
            ]
        );
    }

    #[test]
    fn json_and_braces_say_the_same() {
        for text in [
            r#"{"kind":"Pod","spec":{"containers":[{"image":"alpine"}],"volumes":[{"hostPath":{"path":"/"}}]}}"#,
            "spec: {containers: [{image: alpine}], volumes: [{name: h, hostPath: {path: /}}]}",
        ] {
            assert_eq!(
                commands(text).lines,
                ["docker run -v '/:/host' 'alpine'"],
                "{text}"
            );
        }
    }

    #[test]
    fn what_runs_nothing_is_nothing() {
        let text = "kind: ConfigMap\ndata:\n  path: /etc\n---\nkind: Service\nspec:\n  ports:\n  - port: 80\n";
        assert!(commands(text).lines.is_empty());
        assert!(commands("").lines.is_empty());
    }
}
