//! Names that code brings in: `import`, `from … import`, destructuring.

use std::ops::Range;

use super::tokens::{Kind, Tree};
use super::values::Value;
use super::walker::Walker;

impl<'t> Walker<'t, '_> {
    fn bring_in(&mut self, local: &str, full: String) {
        self.stands_for_something(local);
        self.imported.insert(local.to_owned(), Value::Name(full));
    }

    /// `import a.b as c, d`, the `import` being read.
    pub(super) fn python_import(&mut self, trees: &[Tree<'t>], at: &mut usize) {
        loop {
            let Some(full) = dotted(trees, at) else {
                return;
            };
            match alias(trees, at) {
                Some(local) => self.bring_in(local, full),
                None => {
                    let root = full.split('.').next().unwrap_or("").to_owned();
                    self.bring_in(&root.clone(), root);
                }
            }
            if !trees.get(*at).is_some_and(|tree| tree.is_sign(",")) {
                return;
            }
            *at += 1;
        }
    }

    /// `from a.b import c as d, e`, the `from` being read.
    pub(super) fn python_from(&mut self, trees: &[Tree<'t>], at: &mut usize) {
        while trees
            .get(*at)
            .and_then(Tree::sign)
            .is_some_and(|sign| sign.starts_with('.'))
        {
            *at += 1;
        }
        let Some(module) = dotted(trees, at) else {
            return;
        };
        if !trees.get(*at).is_some_and(|tree| tree.is_word("import")) {
            return;
        }
        *at += 1;
        if trees.get(*at).is_some_and(|tree| tree.is_sign("*")) {
            *at += 1;
            self.whole(module);
            return;
        }
        if let Some(inside) = trees.get(*at).and_then(|tree| tree.group(b'(')) {
            *at += 1;
            let mut place = 0;
            self.members(&module, inside, &mut place);
            return;
        }
        self.members(&module, trees, at);
    }

    fn whole(&mut self, module: String) {
        if !self.whole_modules.contains(&module) && self.whole_modules.len() < 8 {
            self.whole_modules.push(module);
        }
    }

    fn members(&mut self, module: &str, trees: &[Tree<'t>], at: &mut usize) {
        while let Some(name) = trees.get(*at).and_then(Tree::as_word) {
            *at += 1;
            let local = alias(trees, at).unwrap_or(name);
            self.bring_in(local, format!("{module}.{name}"));
            if !trees.get(*at).is_some_and(|tree| tree.is_sign(",")) {
                return;
            }
            *at += 1;
        }
    }

    /// `import a, {b as c}, * as d from "e"`, the `import` being read.
    pub(super) fn javascript_import(&mut self, trees: &[Tree<'t>], at: &mut usize) {
        let start = *at;
        while trees
            .get(*at)
            .is_some_and(|tree| !tree.is_end() && !matches!(tree.kind, Kind::Text(_)))
        {
            *at += 1;
        }
        let module = match trees.get(*at).map(|tree| &tree.kind) {
            Some(Kind::Text(literal)) => {
                let value = self.literal(literal);
                *at += 1;
                value.text().map(str::to_owned)
            }
            _ => None,
        };
        let Some(module) = module else {
            return;
        };
        let clause = trees.get(start..*at).unwrap_or(&[]);
        for (place, tree) in clause.iter().enumerate() {
            match &tree.kind {
                Kind::Word("from" | "as" | "type") => {}
                // A default import, or the name after `* as`, stands for the module.
                Kind::Word(name) => self.bring_in(name, module.clone()),
                Kind::Group(b'{', inside) => self.named(&module, inside),
                Kind::Sign(_) if place > 32 => return,
                Kind::Number(_)
                | Kind::Text(_)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Regex(_)
                | Kind::Sign(_)
                | Kind::Group(..)
                | Kind::End => {}
            }
        }
    }

    /// `{ a, b as c }`
    fn named(&mut self, module: &str, inside: &[Tree<'t>]) {
        for part in inside.split(|tree| tree.is_sign(",")) {
            let words: Vec<&str> = part.iter().filter_map(Tree::as_word).collect();
            match words.as_slice() {
                ["default", "as", local] => self.bring_in(local, module.to_owned()),
                [name, "as", local] => self.bring_in(local, format!("{module}.{name}")),
                [name] => self.bring_in(name, format!("{module}.{name}")),
                _ => {}
            }
        }
    }

    /// `const { a, b: c } = value`
    pub(super) fn destructured(&mut self, inside: &[Tree<'t>], value: &Value, span: &Range<usize>) {
        let Value::Name(module) = value else {
            self.escape(value, span);
            return;
        };
        for part in inside.split(|tree| tree.is_sign(",")) {
            let rest = part.iter().any(|tree| tree.is_sign("..."));
            let words: Vec<&str> = part.iter().filter_map(Tree::as_word).collect();
            match words.as_slice() {
                [local] if rest => self.bring_in(local, module.clone()),
                [name] => self.bring_in(name, format!("{module}.{name}")),
                [name, local] => self.bring_in(local, format!("{module}.{name}")),
                [] if part.iter().all(Tree::is_end) => {}
                _ => self.escape(value, span),
            }
        }
    }
}

fn dotted(trees: &[Tree<'_>], at: &mut usize) -> Option<String> {
    let mut full = trees.get(*at)?.as_word()?.to_owned();
    *at += 1;
    while trees.get(*at).is_some_and(|tree| tree.is_sign("."))
        && full.len() < 200
        && let Some(name) = trees.get(*at + 1).and_then(Tree::as_word)
    {
        full.push('.');
        full.push_str(name);
        *at += 2;
    }
    Some(full)
}

fn alias<'t>(trees: &[Tree<'t>], at: &mut usize) -> Option<&'t str> {
    if !trees.get(*at)?.is_word("as") {
        return None;
    }
    let local = trees.get(*at + 1)?.as_word()?;
    *at += 2;
    Some(local)
}
