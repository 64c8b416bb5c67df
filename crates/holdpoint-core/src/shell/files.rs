//! What the files hold that the text itself changes before it runs them.
//!
//! Promises that what is on the disk is never taken for what a command of the text leaves there:
//! a file that was written is what was written, one that was changed in a way nobody foresees is
//! unknown, and where a command may or may not have run both are possible. Paths are compared as
//! written and put together with the directory; who looks a file up compares real paths, too.

use std::rc::Rc;
use std::sync::Arc;

use super::environment::Origin;
use crate::paths::base_name;
use crate::seeded::SeededMap;

/// Files whose content is remembered. A text that writes more is more than the budget is for.
const MAX_FILES: usize = 256;
/// Names of one file by links the text makes. Links to links end in loops; systems follow forty.
const MAX_ALIASES: usize = 64;
/// Contents one file may have; one that may have more may hold anything.
const MAX_CONTENTS: usize = 4;

/// What a file may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// This text.
    Known(Arc<str>),
    /// A text that comes from there.
    From(Origin),
    /// What another file holds.
    Same(String),
    /// What another file holds, of which it is another name.
    Link(String),
    /// What it held before, changed in place in a way that is not foreseen.
    Edited,
}

/// A file the text writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// Everything it may hold; never empty.
    pub(super) contents: Vec<Content>,
    /// It may also hold what is on the disk.
    pub(super) doubtful: bool,
    /// How many commands were listed before the one that wrote it last.
    pub(super) at: usize,
}

/// More was changed than is remembered.
#[derive(Debug)]
#[must_use]
pub(super) struct TooManyFiles;

/// All files the text changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Files {
    written: SeededMap<String, Written>,
}

impl Written {
    fn add(&mut self, content: Content) {
        if self.contents.contains(&content) {
            return;
        }
        if self.contents.len() >= MAX_CONTENTS {
            let unknown = Content::From(Origin::Elsewhere);
            if !self.contents.contains(&unknown) {
                self.contents.push(unknown);
            }
            return;
        }
        self.contents.push(content);
    }
}

impl Files {
    /// Whether the line wrote a file that a language may take for this module, wherever that is: `json.py`, `json/x.py`.
    pub(super) fn name_module(&self, module: &str) -> bool {
        let is_module = |part: &str| part.split('.').next() == Some(module);
        let mut paths = self.written.keys();
        paths.any(|path| path.split('/').any(is_module))
    }

    /// Whether nothing was changed.
    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// What the file of that name was left with.
    pub(super) fn get(&self, path: &str) -> Option<&Written> {
        self.written.get(path)
    }

    /// The other names a path has by links the text makes, of itself or of a directory above it, and whether there are more
    /// than are followed.
    pub(super) fn aliases(&self, path: &str) -> (Vec<String>, bool) {
        let mut more = false;
        let mut aliases: Vec<String> = Vec::new();
        let mut next = 0;
        let mut name = path.to_owned();
        loop {
            let ends = name.char_indices().filter(|(_, letter)| *letter == '/');
            let ends: Vec<usize> = ends.map(|(at, _)| at).chain([name.len()]).collect();
            for end in ends {
                let (front, rest) = name.split_at_checked(end).unwrap_or((&name, ""));
                let contents = self
                    .written
                    .get(front)
                    .map_or(&[][..], |file| &file.contents);
                for content in contents {
                    let Content::Link(target) = content else {
                        continue;
                    };
                    let alias = match target.is_empty() {
                        true => rest.trim_start_matches('/').to_owned(),
                        false => tidy(&format!("{target}{rest}")),
                    };
                    if alias == path || aliases.contains(&alias) {
                        continue;
                    }
                    match aliases.len() < MAX_ALIASES {
                        true => aliases.push(alias),
                        false => more = true,
                    }
                }
            }
            let Some(alias) = aliases.get(next) else {
                return (aliases, more);
            };
            name.clone_from(alias);
            next += 1;
        }
    }

    /// The files that were written, in no order.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &Written)> {
        self.written
            .iter()
            .map(|(name, file)| (name.as_str(), file))
    }

    /// Notes what a file will hold; `surely` if the command writes this very file.
    pub(super) fn write(
        &mut self,
        path: &str,
        content: Content,
        surely: bool,
        at: usize,
    ) -> Result<(), TooManyFiles> {
        let edits = content == Content::Edited;
        if let Some(file) = self.written.get_mut(path) {
            file.at = at;
            if surely && !edits {
                file.contents.clear();
                file.doubtful = false;
            }
            file.add(content);
            return Ok(());
        }
        if self.written.len() >= MAX_FILES {
            return Err(TooManyFiles);
        }
        let file = Written {
            contents: vec![content],
            doubtful: !surely || edits,
            at,
        };
        self.written.insert(path.to_owned(), file);
        Ok(())
    }

    /// Notes that a text is added to a file.
    pub(super) fn append(
        &mut self,
        path: &str,
        content: Content,
        at: usize,
    ) -> Result<(), TooManyFiles> {
        let before = self.written.get(path).map(|file| &file.contents[..]);
        let content = match (before, content) {
            (Some([Content::Known(before)]), Content::Known(after)) => {
                Content::Known(Arc::from(format!("{before}{after}")))
            }
            (Some([Content::From(origin)]), Content::Known(_)) => Content::From(*origin),
            // What stood there before stays in front.
            (_, content) => return self.write(path, content, false, at),
        };
        self.write(path, content, true, at)
    }

    /// The files after commands of which either these or those ran.
    pub(super) fn either(one: &Rc<Self>, other: &Rc<Self>) -> Rc<Self> {
        if Rc::ptr_eq(one, other) || one == other {
            return Rc::clone(one);
        }
        let mut both = Self::clone(one);
        for (name, file) in &mut both.written {
            file.doubtful |= !other.written.contains_key(name);
        }
        for (name, file) in &other.written {
            match both.written.get_mut(name) {
                Some(known) => {
                    for content in &file.contents {
                        known.add(content.clone());
                    }
                    known.doubtful |= file.doubtful;
                    known.at = known.at.min(file.at);
                }
                None => {
                    let doubtful = Written {
                        doubtful: true,
                        ..file.clone()
                    };
                    both.written.insert(name.clone(), doubtful);
                }
            }
        }
        Rc::new(both)
    }
}

/// A path without `.`, and without `..` where what it leaves is known.
pub(super) fn tidy(path: &str) -> String {
    let mut tidy = String::with_capacity(path.len());
    let root = usize::from(path.starts_with('/'));
    if root > 0 {
        tidy.push('/');
    }
    let mut rest = Some(path);
    while let Some(text) = rest {
        // Letter by letter: a search has to be prepared, and names are short.
        let slash = text.bytes().position(|byte| byte == b'/');
        let part = text.get(..slash.unwrap_or(text.len())).unwrap_or_default();
        rest = slash.and_then(|slash| text.get(slash + 1..));
        let is_empty = tidy.len() == root;
        match part {
            "" | "." => {}
            ".." if !is_empty && !matches!(base_name(&tidy), ".." | "~") => {
                let last = tidy.bytes().rposition(|byte| byte == b'/');
                tidy.truncate(last.unwrap_or(0).max(root));
            }
            ".." if is_empty && root > 0 => {}
            name => {
                if !is_empty {
                    tidy.push('/');
                }
                tidy.push_str(name);
            }
        }
    }
    tidy
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> Content {
        Content::Known(Arc::from(text))
    }

    #[test]
    fn paths_are_compared_without_detours() {
        assert_eq!(tidy("./a//b/../c"), "a/c");
        assert_eq!(tidy("/a/../../b"), "/b");
        assert_eq!(tidy("../x"), "../x");
        assert_eq!(tidy("~/../x"), "~/../x");
    }

    #[test]
    fn what_only_one_branch_writes_may_also_be_what_is_there() -> Result<(), TooManyFiles> {
        let empty = Rc::new(Files::default());
        let mut files = Files::default();
        files.write("a", known("x"), true, 0)?;
        let both = Files::either(&Rc::new(files), &empty);
        assert!(both.get("a").is_some_and(|file| file.doubtful));
        Ok(())
    }

    #[test]
    fn branches_that_write_different_texts_leave_both() -> Result<(), TooManyFiles> {
        let (mut one, mut other) = (Files::default(), Files::default());
        one.write("a", known("x"), true, 0)?;
        other.write("a", known("y"), true, 0)?;
        let both = Files::either(&Rc::new(one), &Rc::new(other));
        let contents = both.get("a").map(|file| file.contents.clone());
        assert_eq!(contents, Some(vec![known("x"), known("y")]));
        Ok(())
    }

    #[test]
    fn an_edit_leaves_what_was_known_to_be_judged() -> Result<(), TooManyFiles> {
        let mut files = Files::default();
        files.write("a", known("x"), true, 0)?;
        files.write("a", Content::Edited, true, 1)?;
        let contents = files.get("a").map(|file| file.contents.clone());
        assert_eq!(contents, Some(vec![known("x"), Content::Edited]));
        Ok(())
    }
}
