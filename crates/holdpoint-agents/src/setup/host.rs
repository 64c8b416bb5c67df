//! An agent whose settings Holdpoint knows, as data: which files, what is ours in them, and how it is asked
//! whether it asks.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Around, Dialect, Form, Part, Scope, SetupError};

/// An agent whose settings Holdpoint knows.
pub struct Host {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// The names of its program.
    pub(crate) programs: &'static [&'static str],
    /// Where it keeps what belongs to this user.
    pub(crate) home: fn(&Around) -> Option<PathBuf>,
    /// The files that hold its hook.
    pub(crate) files: Files,
    /// What keeps it from running a hook.
    pub(crate) switched_off_by: Switch,
    /// The payload of a call that every policy denies, as it would send it from there.
    pub(crate) canary: fn(&Path) -> Value,
    /// How it reads the answer.
    pub(crate) dialect: Dialect,
    /// Whether what tools return is looked at too.
    pub(crate) shows_results: bool,
    /// What the user of a scope has to know or do once the hook is in its place.
    pub(crate) remark: Option<(Scope, &'static str)>,
}

/// The files that hold an agent's hook.
pub(crate) enum Files {
    /// One, and what is ours in it.
    One(Places, &'static dyn Form),
    /// Several, or others for some scopes.
    Own(FindParts),
}

/// Finds what is ours in an agent's files; the last argument is the program.
pub(crate) type FindParts = fn(&Host, Scope, &Around, &str) -> Result<Vec<Part>, SetupError>;

/// Where an agent's file lies: beneath its home, the project and the machine's directory.
pub(crate) struct Places {
    pub(crate) user: &'static str,
    pub(crate) project: &'static str,
    /// This user's own in the project.
    pub(crate) local: Option<&'static str>,
    pub(crate) managed: Option<&'static str>,
}

impl Places {
    /// The file of a scope.
    pub(crate) fn path(
        &self,
        host: &Host,
        scope: Scope,
        around: &Around,
    ) -> Result<PathBuf, SetupError> {
        let none = |known| Err(SetupError::NoSuchScope(host.title, scope.name(), known));
        match (scope, self.local, self.managed) {
            (Scope::User, _, _) => {
                let home = host.home(around).ok_or(SetupError::NoHome)?;
                Ok(home.join(self.user))
            }
            (Scope::Project, _, _) => Ok(around.directory.join(self.project)),
            (Scope::Local, Some(local), _) => Ok(around.directory.join(local)),
            (Scope::Managed, _, Some(managed)) => Ok(around.managed(managed)),
            (Scope::Local, None, Some(_)) => none("user, project or managed"),
            (Scope::Managed, Some(_), None) => none("user, project or local"),
            (Scope::Local | Scope::Managed, None, None) => none("user or project"),
        }
    }
}

/// What keeps an agent from running a hook of a scope.
pub(crate) struct Switch {
    /// Nothing if nobody but the machine's owner can.
    pub(crate) managed: Option<&'static str>,
    pub(crate) user: &'static str,
    /// In a project, everybody's or this user's.
    pub(crate) project: &'static str,
}

impl Switch {
    /// The same in every scope.
    pub(crate) const fn everywhere(how: &'static str) -> Self {
        Self {
            managed: Some(how),
            user: how,
            project: how,
        }
    }

    /// The same in every scope but the machine's, where nothing does.
    pub(crate) const fn unless_managed(how: &'static str) -> Self {
        Self {
            managed: None,
            user: how,
            project: how,
        }
    }
}

impl Host {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its name for people.
    pub fn title(&self) -> &'static str {
        self.title
    }

    /// The names of its program.
    pub fn programs(&self) -> &'static [&'static str] {
        self.programs
    }

    /// Where it keeps what belongs to this user.
    pub fn home(&self, around: &Around) -> Option<PathBuf> {
        (self.home)(around)
    }

    /// The files that hold its hook, for a program.
    pub fn parts(
        &self,
        scope: Scope,
        around: &Around,
        program: &str,
    ) -> Result<Vec<Part>, SetupError> {
        match &self.files {
            Files::One(places, form) => {
                let path = places.path(self, scope, around)?;
                Ok(vec![Part::new(path, *form)])
            }
            Files::Own(parts) => parts(self, scope, around, program),
        }
    }

    /// What keeps the agent from running a hook of that scope; nothing if nobody but the machine's
    /// owner can.
    pub fn switched_off_by(&self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::Managed => self.switched_off_by.managed,
            Scope::User => Some(self.switched_off_by.user),
            Scope::Project | Scope::Local => Some(self.switched_off_by.project),
        }
    }

    /// The payload of a call that every policy denies, as the agent would send it from there.
    pub fn canary(&self, directory: &Path) -> Value {
        (self.canary)(directory)
    }

    /// How it reads the answer.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Whether what tools return is looked at too.
    pub fn shows_results(&self) -> bool {
        self.shows_results
    }

    /// What the user has to know or do once the hook is in its place.
    pub fn remark(&self, scope: Scope) -> Option<&'static str> {
        let (about, remark) = self.remark?;
        (about == scope).then_some(remark)
    }
}
