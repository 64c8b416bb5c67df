//! Containers and pods in the arguments of tools: `{"image": …, "volumes": ["/:/host"]}`, a manifest as text or object.
//!
//! Each is listed as the `docker run` it comes to, so that one set of rules judges both. An object is a container if it
//! names an image and takes something of the machine; one that takes nothing is not worth a line.

use serde_json::{Map, Value};

use super::{Action, Here};
use crate::project_files::manifest;
use crate::project_files::settings::quoted;

/// Lists of mounts, by the names container engines and their clients have for them.
const MOUNTS: [&str; 6] = ["volumes", "volume", "binds", "bind", "mounts", "mount"];

/// What a mount is a mount of.
const SOURCES: [&str; 6] = ["source", "src", "hostpath", "host_path", "host", "from"];

/// Words of one container that are taken; one with more is made by a program, and what is left out of it stands
/// behind what the rules look for.
const MAX_OPTIONS: usize = 64;

impl Action {
    /// Reads an object that may be a container or an object of a cluster.
    pub(super) fn read_container(&mut self, input: &Map<String, Value>, here: &Here<'_>) {
        let has = |name: &str| input.keys().any(|key| key.eq_ignore_ascii_case(name));
        if has("kind") && has("spec") {
            self.read_manifest(&Value::Object(input.clone()).to_string(), here);
        }
        if !has("image") {
            return;
        }
        let mut options = Vec::new();
        taken(input, &mut options);
        if let Some(image) = text_of(input, "image").filter(|_| !options.is_empty()) {
            for some in options.chunks(MAX_OPTIONS) {
                let line = format!("docker run {} {}", some.join(" "), quoted(image));
                self.read_line(&line, here);
            }
        }
    }

    /// Reads a text that may be a manifest.
    pub(super) fn read_manifest(&mut self, text: &str, here: &Here<'_>) {
        let looks = text.contains("spec") && text.contains("kind");
        let takes = [
            "hostPath",
            "privileged",
            "hostPID",
            "hostNetwork",
            "hostIPC",
        ];
        if looks && takes.iter().any(|word| text.contains(word)) {
            for line in manifest::commands(text).lines {
                self.read_line(&line, here);
            }
        }
    }
}

fn text_of<'v>(input: &'v Map<String, Value>, name: &str) -> Option<&'v str> {
    let mut found = input
        .iter()
        .filter(|(key, _)| key.eq_ignore_ascii_case(name));
    found.find_map(|(_, value)| value.as_str())
}

/// What a container takes of the machine, in its settings (`HostConfig`) too.
fn taken(input: &Map<String, Value>, options: &mut Vec<String>) {
    for (key, value) in input {
        let key = key.to_ascii_lowercase();
        match (key.as_str(), value) {
            ("privileged", Value::Bool(true)) => options.push("--privileged".to_owned()),
            ("pid" | "pid_mode" | "pidmode", Value::String(mode)) => {
                options.push(format!("--pid={}", quoted(mode)));
            }
            ("network" | "network_mode" | "networkmode", Value::String(mode)) if mode == "host" => {
                options.push("--network=host".to_owned());
            }
            ("cap_add" | "capadd", Value::Array(all)) => {
                let names = all.iter().filter_map(Value::as_str);
                options.extend(names.map(|name| format!("--cap-add={}", quoted(name))));
            }
            (key, value) if MOUNTS.contains(&key) => mounts(value, options),
            ("hostconfig" | "host_config", Value::Object(inner)) => {
                for (key, value) in inner {
                    let one = Map::from_iter([(key.clone(), value.clone())]);
                    taken(&one, options);
                }
            }
            _ => {}
        }
    }
}

fn mounts(value: &Value, options: &mut Vec<String>) {
    let mut add = |mount: &str| options.push(format!("-v {}", quoted(mount)));
    match value {
        Value::String(mount) => add(mount),
        Value::Array(all) => all.iter().for_each(|one| match one {
            Value::String(mount) => add(mount),
            Value::Object(mount) => {
                if let Some(source) = SOURCES.iter().find_map(|name| text_of(mount, name)) {
                    add(&format!("{source}:/mnt"));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
        }),
        // `{"/": "/host"}`, `{"/": {"bind": "/host"}}`
        Value::Object(map) => {
            for source in map.keys().filter(|key| key.starts_with(['/', '~', '.'])) {
                add(&format!("{source}:/mnt"));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_container_takes_is_found_however_it_is_written() {
        for input in [
            json!({"image": "a", "volumes": ["/:/host"]}),
            json!({"Image": "a", "HostConfig": {"Binds": ["/:/host"]}}),
            json!({"image": "a", "mounts": [{"Source": "/", "Target": "/host"}]}),
            json!({"image": "a", "volumes": {"/": {"bind": "/host"}}}),
            json!({"image": "a", "volumes": "/:/host"}),
        ] {
            let mut options = Vec::new();
            taken(input.as_object().unwrap(), &mut options);
            assert!(
                matches!(options.as_slice(), [one] if one.starts_with("-v '/:")),
                "{input} {options:?}"
            );
        }
        let mut options = Vec::new();
        let plain = json!({"image": "a", "name": "/", "ports": ["80:80"], "privileged": false});
        taken(plain.as_object().unwrap(), &mut options);
        assert!(options.is_empty(), "{options:?}");
    }
}
