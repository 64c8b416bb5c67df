//! The services of a compose file, as the `docker run` lines they come to.
//!
//! Only what decides about the machine outside is read: what is mounted, what a container may do there
//! and what it runs. The file is read by its lines and their indentation, and leniently: a key counts
//! wherever in a service it stands, and so do blocks that services take in by a name (`x-…`) and volumes that are
//! directories of the machine. What stands in other files is said to be left out.

use super::settings::quoted;
use super::{CommandLines, yaml_scalar};

/// Services read; a file with more is written by a program, and cut.
const MAX_SERVICES: usize = 64;

#[derive(Debug, Default)]
struct Service {
    /// It is no service, but what services take in.
    shared: bool,
    options: Vec<String>,
    image: Option<String>,
    command: Vec<String>,
    /// The source of a mount in the long form, until its target is known.
    source: Option<String>,
    target: Option<String>,
    /// The key whose list is being read.
    list: Option<String>,
}

/// What starting the services comes to.
pub(crate) fn commands(text: &str) -> CommandLines {
    let text = with_defaults(text);
    let mut services: Vec<Service> = Vec::new();
    let mut in_services = false;
    let mut in_shared = false;
    let mut cut = false;
    let mut level: Option<usize> = None;
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        if indent == 0 {
            in_services = bare.starts_with("services:");
            in_shared = bare.starts_with("x-") || bare.starts_with("volumes:");
            cut |= bare.starts_with("include:");
            level = None;
            if in_shared && services.len() < MAX_SERVICES {
                services.push(Service {
                    shared: true,
                    ..Service::default()
                });
            }
            // All in one line: `services: {a: {…}}`.
            if in_services && bare.len() > "services:".len() {
                services.push(flowing(bare));
            }
            continue;
        }
        if in_shared && let Some(block) = services.last_mut() {
            block.line(bare);
        }
        if !in_services {
            continue;
        }
        // `extends` of a service in another file.
        cut |= bare.starts_with("file:");
        let service_level = *level.get_or_insert(indent);
        if indent <= service_level && !bare.starts_with('-') {
            if services.len() >= MAX_SERVICES {
                cut = true;
                break;
            }
            let inline = bare.contains('{');
            services.push(if inline {
                flowing(bare)
            } else {
                Service::default()
            });
            continue;
        }
        if let Some(service) = services.last_mut() {
            service.line(bare);
        }
    }
    let mut lines = Vec::new();
    for service in &mut services {
        service.mount();
        if !service.shared || !service.options.is_empty() {
            lines.push(service.run());
        }
    }
    CommandLines { lines, cut }
}

/// A text with variables that have a default written as that: `${ROOT:-/}:/host`.
fn with_defaults(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((front, behind)) = rest.split_once("${") {
        written.push_str(front);
        let end = behind.find(['}', '\n']).unwrap_or(behind.len());
        let (inside, after) = behind.split_at_checked(end).unwrap_or((behind, ""));
        let name = inside.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
        let default = name
            .and_then(|at| inside.get(at..))
            .and_then(|operator| {
                operator
                    .strip_prefix(":-")
                    .or_else(|| operator.strip_prefix('-'))
            })
            .filter(|_| after.starts_with('}'));
        match default {
            Some(default) => {
                written.push_str(default);
                rest = after.get(1..).unwrap_or_default();
            }
            None => {
                written.push_str("${");
                rest = behind;
            }
        }
    }
    written.push_str(rest);
    written
}

/// A service in braces: every text of it counts for what it could be.
fn flowing(line: &str) -> Service {
    let mut service = Service::default();
    for part in line.split([',', '{', '}', '[', ']']) {
        let part = part.trim().trim_matches(['"', '\'']);
        let value = part.split_once(": ").map_or(part, |(_, value)| value);
        let value = value.trim().trim_matches(['"', '\'']);
        if value.starts_with(['/', '~', '.']) && value.contains(':') {
            service.options.push(format!("-v {}", quoted(value)));
        } else {
            service.line(part);
        }
    }
    service
}

impl Service {
    fn line(&mut self, bare: &str) {
        let (item, rest) = match bare.strip_prefix('-') {
            Some(rest) => (true, rest.trim()),
            None => (false, bare),
        };
        let (key, value) = match rest.split_once(':') {
            Some((key, value))
                if (value.is_empty() || value.starts_with(' '))
                    && key
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
            {
                (Some(key), yaml_scalar(value))
            }
            _ => (None, yaml_scalar(rest)),
        };
        match key {
            None if item => self.item(value),
            None => {}
            Some("source" | "src" | "device") => {
                self.mount();
                self.source = Some(value.to_owned());
            }
            Some("target" | "dst" | "destination") => self.target = Some(value.to_owned()),
            Some("privileged") if value != "false" => self.options.push("--privileged".into()),
            Some("image") => self.image = Some(value.to_owned()),
            Some("pid" | "network_mode" | "ipc" | "userns_mode" | "user") if !value.is_empty() => {
                let flag = match key {
                    Some("network_mode") => "network",
                    Some("userns_mode") => "userns",
                    Some(other) => other,
                    None => "pid",
                };
                self.options.push(format!("--{flag}={}", quoted(value)));
            }
            Some(key @ ("command" | "entrypoint" | "test")) => {
                self.list = Some(key.to_owned());
                match value {
                    "" => {}
                    value if value.starts_with('[') => {
                        let items = value.trim_matches(['[', ']']).split(',');
                        let words = items.map(|word| quoted(yaml_scalar(word)));
                        self.command.extend(words);
                    }
                    value => self.command.push(value.to_owned()),
                }
            }
            Some(key) => {
                self.list = Some(key.to_owned());
                if value.starts_with('[') {
                    for item in value.trim_matches(['[', ']']).split(',') {
                        self.item(yaml_scalar(item));
                    }
                }
            }
        }
    }

    fn item(&mut self, value: &str) {
        match self.list.as_deref() {
            Some("volumes") => self.options.push(format!("-v {}", quoted(value))),
            Some("devices") => self.options.push(format!("--device={}", quoted(value))),
            Some("cap_add") => self.options.push(format!("--cap-add={}", quoted(value))),
            Some("security_opt") => self
                .options
                .push(format!("--security-opt={}", quoted(value))),
            Some("command" | "entrypoint" | "test") => self.command.push(quoted(value)),
            Some(_) | None => {}
        }
    }

    /// A mount in the long form is complete.
    fn mount(&mut self) {
        if let Some(source) = self.source.take() {
            let target = self.target.take().unwrap_or_else(|| "/mnt".to_owned());
            self.options
                .push(format!("-v {}", quoted(&format!("{source}:{target}"))));
        }
    }

    fn run(&mut self) -> String {
        self.mount();
        let image = self.image.clone().unwrap_or_else(|| "image".to_owned());
        let mut words = vec!["docker run".to_owned()];
        words.append(&mut self.options);
        words.push(quoted(&image));
        words.append(&mut self.command);
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_a_container_that_is_run() {
        let text = "services:\n  web:\n    image: alpine\n    privileged: true\n    volumes:\n      - /:/host\n    command: rm -rf /host\n  db:\n    image: postgres\n    volumes:\n      - type: bind\n        source: /etc\n        target: /x\nvolumes:\n  data:\n";
        assert_eq!(
            commands(text).lines,
            [
                "docker run --privileged -v '/:/host' 'alpine' rm -rf /host",
                "docker run -v '/etc:/x' 'postgres'"
            ]
        );
    }

    #[test]
    fn shared_blocks_volumes_and_defaults_count() {
        for text in [
            "x-all: &all\n  volumes:\n    - /:/host\nservices:\n  a:\n    <<: *all\n    image: alpine\n",
            "services:\n  a:\n    image: alpine\n    volumes:\n      - ${ROOT:-/}:/host\n",
            "services:\n  a:\n    image: alpine\nvolumes:\n  d:\n    driver_opts:\n      type: none\n      o: bind\n      device: /\n",
        ] {
            let lines = commands(text).lines;
            assert!(
                lines.iter().any(|line| line.contains("-v '/:/")),
                "{lines:?}"
            );
        }
        assert!(commands("include:\n  - other.yml\nservices:\n  a:\n    image: alpine\n").cut);
        assert!(
            commands("services:\n  a:\n    extends:\n      file: other.yml\n      service: b\n")
                .cut
        );
        let plain = commands(
            "x-env: &e\n  A: 1\nservices:\n  a:\n    image: ${IMAGE:-alpine}\nvolumes:\n  data:\n",
        );
        assert_eq!(plain.lines, ["docker run 'alpine'"]);
        assert!(!plain.cut);
    }

    #[test]
    fn braces_are_read_too() {
        let lines = commands("services: {a: {image: alpine, volumes: [\"/:/host\"]}}\n").lines;
        assert!(
            lines.iter().any(|line| line.contains("-v '/:/host'")),
            "{lines:?}"
        );
    }
}
