//! Control groups: how much memory and how many processes a command may have, all of it together.
//!
//! A group is made beside or below the one this process is in, where the system lets it; the first process is put into
//! it before it does anything. Both versions are known, because many machines still have the first for what counts
//! here. What cannot be bounded is said.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use libc::pid_t;

use crate::contain::{Limits, Reached};

/// What the names of our groups begin with; the number of the supervisor follows.
const PREFIX: &str = "holdpoint-";

/// The files of a controller, in one version or the other.
struct Controller {
    name: &'static str,
    /// Where the limit is written.
    limit: &'static str,
    /// Where it is counted how often it was reached, and the word before the number.
    events: (&'static str, &'static str),
}

const MEMORY: [Controller; 2] = [
    Controller {
        name: "memory",
        limit: "memory.limit_in_bytes",
        events: ("memory.oom_control", "oom_kill"),
    },
    Controller {
        name: "memory",
        limit: "memory.max",
        events: ("memory.events", "oom_kill"),
    },
];

const PROCESSES: [Controller; 2] = [
    Controller {
        name: "pids",
        limit: "pids.max",
        events: ("pids.events", "max"),
    },
    Controller {
        name: "pids",
        limit: "pids.max",
        events: ("pids.events", "max"),
    },
];

/// A limit that stands.
#[derive(Debug)]
struct Bound {
    directory: PathBuf,
    events: (&'static str, &'static str),
    reached: Reached,
}

/// The groups of one run.
#[derive(Debug, Default)]
pub(super) struct Groups {
    bounds: Vec<Bound>,
    /// What could not be bounded.
    missing: Vec<Reached>,
}

impl Groups {
    /// Makes what the limits ask for, as far as the system lets this process.
    pub(super) fn make(limits: &Limits) -> Self {
        let mut groups = Self::default();
        let Some(memory) = limits.memory else {
            // A group costs more than all the rest of a sandbox, so one is made only for what nothing else bounds. Root
            // is not held to its limit of processes otherwise.
            if crate::user::id() == 0 {
                groups.missing.push(Reached::Processes);
            }
            return groups;
        };
        sweep();
        let wanted = [
            (memory, &MEMORY, Reached::Memory),
            (limits.processes, &PROCESSES, Reached::Processes),
        ];
        let hierarchies = Hierarchy::all();
        for (limit, controllers, reached) in wanted {
            if groups
                .bound(&hierarchies, controllers, limit, reached)
                .is_none()
            {
                groups.missing.push(reached);
            }
        }
        groups
    }

    fn bound(
        &mut self,
        hierarchies: &[Hierarchy],
        [first, second]: &[Controller; 2],
        limit: u64,
        reached: Reached,
    ) -> Option<()> {
        let hierarchy = hierarchies.iter().find(|one| one.has(first.name))?;
        let controller = if hierarchy.second { second } else { first };
        let directory = hierarchy.place(controller.name)?.join(own_name());
        let known = self.bounds.iter().any(|bound| bound.directory == directory);
        if !known && fs::create_dir(&directory).is_err() {
            return None;
        }
        let swap = if hierarchy.second {
            "memory.swap.max"
        } else {
            "memory.memsw.limit_in_bytes"
        };
        let written = fs::write(directory.join(controller.limit), limit.to_string());
        if written.is_err() {
            if !known {
                // An empty group bounds nothing.
                let _ = fs::remove_dir(&directory);
            }
            return None;
        }
        if reached == Reached::Memory {
            // What is swapped out is not less of it; a system without swap has no such file.
            let most = if hierarchy.second { 0 } else { limit };
            let _ = fs::write(directory.join(swap), most.to_string());
        }
        self.bounds.push(Bound {
            directory,
            events: controller.events,
            reached,
        });
        Some(())
    }

    /// Puts a process into them.
    pub(super) fn add(&self, process: pid_t) -> io::Result<()> {
        for bound in &self.bounds {
            fs::write(bound.directory.join("cgroup.procs"), process.to_string())?;
        }
        Ok(())
    }

    /// Limits that were asked for and do not stand.
    pub(super) fn missing(&self) -> &[Reached] {
        &self.missing
    }

    /// Limits that stand.
    pub(super) fn standing(&self) -> Vec<Reached> {
        self.bounds.iter().map(|bound| bound.reached).collect()
    }

    /// Which limits were reached.
    pub(super) fn reached(&self) -> Vec<Reached> {
        self.bounds
            .iter()
            .filter(|bound| {
                let (file, word) = bound.events;
                let text = fs::read_to_string(bound.directory.join(file)).unwrap_or_default();
                text.lines().any(|line| {
                    let mut words = line.split_whitespace();
                    let counted = words.next() == Some(word);
                    counted && words.next().is_some_and(|count| count != "0")
                })
            })
            .map(|bound| bound.reached)
            .collect()
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for bound in &self.bounds {
            // The last process may still be dying; what stays is swept by a later run.
            for _ in 0..20 {
                match fs::remove_dir(&bound.directory) {
                    Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                        std::thread::sleep(std::time::Duration::from_millis(2));
                    }
                    Ok(()) | Err(_) => break,
                }
            }
        }
    }
}

/// The name of a group of this run: a process makes one run after the other.
fn own_name() -> String {
    format!("{PREFIX}{}", std::process::id())
}

/// Takes away the groups of runs that were killed. One that has processes in it stays: the system says so.
pub(super) fn sweep() {
    for hierarchy in Hierarchy::all() {
        for place in hierarchy.places() {
            for entry in fs::read_dir(place).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
                let number = number.and_then(|rest| rest.split('-').next());
                let gone = |number: &str| !Path::new("/proc").join(number).exists();
                if number.is_some_and(gone) {
                    // Another may have done so already.
                    let _ = fs::remove_dir(entry.path());
                }
            }
        }
    }
}

/// A tree of groups, and where this process is in it.
#[derive(Debug)]
struct Hierarchy {
    /// Whether it is of the second version.
    second: bool,
    controllers: Vec<String>,
    /// The group this process is in.
    here: PathBuf,
    /// The top of what can be seen of the tree.
    top: PathBuf,
}

impl Hierarchy {
    fn all() -> Vec<Self> {
        let (Ok(mounts), Ok(groups)) = (
            fs::read_to_string("/proc/self/mountinfo"),
            fs::read_to_string("/proc/self/cgroup"),
        ) else {
            return Vec::new();
        };
        mounts
            .lines()
            .filter_map(|line| Self::read(line, &groups))
            .collect()
    }

    /// The tree a line of mounts is of.
    fn read(line: &str, groups: &str) -> Option<Self> {
        let (mount, rest) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, top) = (mount.next()?, PathBuf::from(mount.next()?));
        let mut rest = rest.split(' ');
        let second = match rest.next()? {
            "cgroup2" => true,
            "cgroup" => false,
            _ => return None,
        };
        let options = rest.nth(1)?;
        let path = groups.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            let same = if second {
                controllers.is_empty()
            } else {
                let named = |one: &str| options.split(',').any(|option| option == one);
                !controllers.is_empty() && controllers.split(',').all(named)
            };
            same.then_some(path)
        })?;
        let below = Path::new(path).strip_prefix(root).ok()?;
        let here = top.join(below);
        let controllers = if second {
            fs::read_to_string(here.join("cgroup.controllers")).ok()?
        } else {
            options.replace(',', " ")
        };
        Some(Self {
            second,
            controllers: controllers.split_whitespace().map(str::to_owned).collect(),
            here,
            top,
        })
    }

    fn has(&self, controller: &str) -> bool {
        self.controllers.iter().any(|one| one == controller)
    }

    /// Groups below which ours may be made: in the second version a group with processes in it can have none below it
    /// that bound anything, so it is beside our own.
    fn places(&self) -> Vec<&Path> {
        let beside = self
            .here
            .parent()
            .filter(|beside| beside.starts_with(&self.top));
        let mut places = vec![self.here.as_path()];
        if self.second {
            places.extend(beside);
        }
        places
    }

    fn place(&self, controller: &str) -> Option<&Path> {
        self.places().into_iter().find(|place| {
            if !self.second {
                return true;
            }
            let given = fs::read_to_string(place.join("cgroup.subtree_control"));
            given.is_ok_and(|given| given.split_whitespace().any(|one| one == controller))
        })
    }
}
