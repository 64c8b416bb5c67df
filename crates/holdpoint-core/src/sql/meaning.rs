//! What one statement does, by its clauses.

use super::act::StatementEffect;
use super::condition::selects_everything;
use super::functions::{Reach, reach};
use super::split::{Reader, Statements};
use super::tokens::{Token, TokenKind};
use super::verbs::{self, Rule, rule};
use super::view::View;
use super::{Dialect, StatementKind};

/// Objects of one statement listed by name.
const MAX_OBJECTS: usize = 64;
/// Statements inside parentheses of one statement that are looked into, level by level.
const MAX_NESTED: usize = 16;

impl Reader<'_> {
    /// Lists what the statement of these tokens does.
    pub(super) fn statement(&mut self, tokens: &[Token], found: &mut Statements) {
        let view = View {
            text: self.text(),
            tokens,
            flavour: self.flavour(),
        };
        let before = found.statements.len();
        self.meaning(view, MAX_NESTED, found);
        self.reaching(view, found);
        if tokens.iter().any(|token| token.kind == TokenKind::Spliced) {
            self.push(
                StatementEffect::new(StatementKind::Unreadable),
                view.span(),
                found,
            );
        }
        if found.statements.len() == before {
            self.push(
                StatementEffect::new(StatementKind::Unreadable),
                view.span(),
                found,
            );
        }
        if view.is(0, "copy") && view.find(1, &["stdin"]).is_some() {
            self.skip_rows();
        }
    }

    fn meaning(&self, view: View<'_>, left: usize, found: &mut Statements) {
        let view = self.without_opening(view);
        let word = view.word(0);
        let Some(rule) = rule(word) else {
            self.unknown(view, found);
            return;
        };
        if left == 0 {
            self.push(
                StatementEffect::new(StatementKind::Unreadable),
                view.span(),
                found,
            );
            return;
        }
        match rule {
            Rule::Is(kind) => self.push(StatementEffect::new(kind), view.span(), found),
            Rule::Drop => self.dropping(view, found),
            Rule::Delete => {
                let kinds = [
                    StatementKind::DeleteAll,
                    StatementKind::DeleteAlways,
                    StatementKind::DeleteWhere,
                ];
                self.restricted(view, kinds, found);
            }
            Rule::Update => {
                let kinds = [
                    StatementKind::UpdateAll,
                    StatementKind::UpdateAlways,
                    StatementKind::UpdateWhere,
                ];
                self.restricted(view, kinds, found);
            }
            Rule::Merge => self.merging(view, found),
            Rule::Truncate => self.truncating(view, found),
            Rule::Alter => self.altering(view, found),
            Rule::Create => self.creating(view, left, found),
            Rule::Insert => self.inserting(view, found),
            Rule::Select => self.selecting(view, left, found),
            Rule::Explain => self.explaining(view, left, found),
            Rule::Analyze => {
                let inner = view.level(1).take(4).find(|at| modifies(view, *at));
                match inner {
                    Some(at) => self.meaning(view.part(at..view.len()), left - 1, found),
                    None => self.push(
                        StatementEffect::new(StatementKind::Admin),
                        view.span(),
                        found,
                    ),
                }
            }
            Rule::Copy => self.copying(view, found),
            Rule::Load => {
                let kind = if self.flavour().dialect == Dialect::Postgres {
                    StatementKind::ShellEscape
                } else {
                    StatementKind::LoadFile
                };
                self.push(
                    StatementEffect::new(kind).touching(view.next_literal(1)),
                    view.span(),
                    found,
                );
            }
            Rule::Prepare => self.preparing(view, left, found),
            Rule::Execute => self.executing(view, found),
            Rule::Exec => self.calling(view, found),
            Rule::Do => self.doing(view, found),
            Rule::Begin | Rule::Block => self.block(view, rule, left, found),
            Rule::Maintain => {
                let kind = if view.find(1, &["into"]).is_some() {
                    StatementKind::IntoOutfile
                } else {
                    StatementKind::Admin
                };
                self.push(
                    StatementEffect::new(kind).touching(view.next_literal(1)),
                    view.span(),
                    found,
                );
            }
        }
        let looked_into = matches!(
            rule,
            Rule::Select
                | Rule::Explain
                | Rule::Analyze
                | Rule::Prepare
                | Rule::Create
                | Rule::Begin
                | Rule::Block
        );
        if !looked_into {
            self.nested(view, left, found);
        }
    }

    /// Passes `(`, `{` and labels in front of a statement.
    fn without_opening<'v>(&self, view: View<'v>) -> View<'v> {
        let mut at = 0;
        loop {
            if view.symbol(at, b'(') || view.symbol(at, b'{') {
                at += 1;
            } else if view.symbol(at, b'<') && view.symbol(at + 1, b'<') {
                at += 5;
            } else if view.symbol(at + 1, b':') && rule(view.word(at + 2)).is_some() {
                at += 2;
            } else {
                return view.part(at..view.len());
            }
        }
    }

    /// A statement whose first word says nothing. In a block it may be an assignment.
    fn unknown(&self, view: View<'_>, found: &mut Statements) {
        let assigns = view
            .name(0)
            .is_some_and(|(_, at)| view.symbol(at, b':') && view.symbol(at + 1, b'='));
        let only_symbols = view
            .tokens
            .iter()
            .all(|token| matches!(token.kind, TokenKind::Symbol(_)));
        let kind = if assigns || only_symbols {
            StatementKind::Other
        } else {
            StatementKind::Unreadable
        };
        self.push(StatementEffect::new(kind), view.span(), found);
    }

    fn dropping(&self, view: View<'_>, found: &mut Statements) {
        let modifiers = [
            "temporary",
            "temp",
            "foreign",
            "external",
            "materialized",
            "public",
        ];
        let mut at = 1;
        while view.is_any(at, &modifiers) {
            at += 1;
        }
        let cascade = view.find(at, &["cascade"]).is_some();
        let mut kind = verbs::dropped(view.word(at));
        if kind == StatementKind::DropSchema {
            kind = match (self.flavour().dialect == Dialect::MySql, cascade) {
                (true, _) => StatementKind::DropDatabase,
                (false, true) => StatementKind::DropSchemaCascade,
                (false, false) => kind,
            };
        }
        at += 1;
        while view.is_any(at, &["if", "exists", "concurrently", "by"]) {
            at += 1;
        }
        self.each_object(view, at, kind, found);
    }

    /// One act for each name of a list.
    fn each_object(&self, view: View<'_>, at: usize, kind: StatementKind, found: &mut Statements) {
        let mut at = at;
        for listed in 0..MAX_OBJECTS {
            let Some((name, next)) = view.name(at) else {
                if listed == 0 {
                    self.push(StatementEffect::new(kind), view.span(), found);
                }
                return;
            };
            self.push(
                StatementEffect::new(kind).on(Some(name)),
                view.span(),
                found,
            );
            match view.level(next).find(|at| view.symbol(*at, b',')) {
                Some(comma) => at = comma + 1,
                None => return,
            }
            while view.is(at, "only") {
                at += 1;
            }
        }
        self.push(StatementEffect::new(kind), view.span(), found);
    }

    /// `DELETE` and `UPDATE`: everything, everything in disguise, or what a condition selects.
    fn restricted(&self, view: View<'_>, kinds: [StatementKind; 3], found: &mut Statements) {
        let [all, always, selected] = kinds;
        let modifiers = [
            "from",
            "only",
            "low_priority",
            "quick",
            "ignore",
            "or",
            "rollback",
            "abort",
            "replace",
            "fail",
        ];
        let mut at = 1;
        loop {
            if view.is_any(at, &modifiers) {
                at += 1;
            } else if view.is(at, "top") && view.symbol(at + 1, b'(') {
                at = view.closing(at + 1) + 1;
            } else {
                break;
            }
        }
        let object = view.name(at).map(|(name, _)| name);
        let kind = match view.find(at, &["where"]) {
            None => all,
            Some(at) => {
                let end = view.find(at, CLAUSES_AFTER_WHERE).unwrap_or(view.len());
                if selects_everything(view.part(at + 1..end), object.as_deref()) {
                    always
                } else {
                    selected
                }
            }
        };
        self.push(StatementEffect::new(kind).on(object), view.span(), found);
    }

    fn merging(&self, view: View<'_>, found: &mut Statements) {
        let at = if view.is(1, "into") { 2 } else { 1 };
        let object = view.name(at).map(|(name, _)| name);
        let when = view.find(at, &["when"]).unwrap_or(view.len());
        let on = view.find(at, &["on"]).map_or(when, |on| on + 1);
        let deletes = view.find(when, &["delete"]).is_some();
        let updates = view.find(when, &["update"]).is_some();
        let always = selects_everything(view.part(on..when), None);
        let kind = match (deletes, updates, always) {
            (true, _, true) => StatementKind::DeleteAlways,
            (true, _, false) => StatementKind::DeleteWhere,
            (false, true, true) => StatementKind::UpdateAlways,
            (false, true, false) => StatementKind::UpdateWhere,
            (false, false, _) => StatementKind::Insert,
        };
        self.push(StatementEffect::new(kind).on(object), view.span(), found);
    }

    fn truncating(&self, view: View<'_>, found: &mut Statements) {
        let mut at = 1;
        while view.is_any(at, &["table", "only", "if", "exists"]) {
            at += 1;
        }
        let kind = match (view.is(1, "database"), view.find(at, &["cascade"])) {
            (true, _) => StatementKind::DropDatabase,
            (false, Some(_)) => StatementKind::TruncateCascade,
            (false, None) => StatementKind::Truncate,
        };
        self.each_object(view, at + usize::from(view.is(1, "database")), kind, found);
    }

    fn altering(&self, view: View<'_>, found: &mut Statements) {
        if view.is(1, "system") {
            self.push(
                StatementEffect::new(StatementKind::Admin),
                view.span(),
                found,
            );
            return;
        }
        let mut at = 2;
        while view.is_any(at, &["table", "view", "if", "exists", "only", "ignore"]) {
            at += 1;
        }
        let object = view.name(at).map(|(name, _)| name);
        // `ALTER COLUMN c DROP NOT NULL` takes nothing away.
        let harmless = ["default", "not", "identity", "expression"];
        let drops = view.level(at).any(|at| {
            (view.is(at, "drop") && !view.is_any(at + 1, &harmless))
                || (view.is(at, "discard") && view.is(at + 1, "tablespace"))
                // ClickHouse deletes rows by altering their table.
                || (view.is(at, "delete") && view.is(at + 1, "where"))
        });
        let truncates = view
            .level(at)
            .any(|at| view.is(at, "truncate") && view.is(at + 1, "partition"));
        let kind = match (truncates, drops) {
            (true, _) => StatementKind::Truncate,
            (false, true) => StatementKind::AlterDrop,
            (false, false) => StatementKind::Alter,
        };
        self.push(StatementEffect::new(kind).on(object), view.span(), found);
    }

    fn creating(&self, view: View<'_>, left: usize, found: &mut Statements) {
        let mut at = 1;
        let replaces = view.is(1, "or") && view.is(2, "replace");
        while view.is_any(at, WORDS_AFTER_CREATE) {
            at += 1;
        }
        let what = at;
        at += 1;
        while view.is_any(at, &["if", "not", "exists", "concurrently"]) {
            at += 1;
        }
        let object = view.name(at).map(|(name, _)| name);
        if replaces && view.is(what, "table") {
            let act = StatementEffect::new(StatementKind::DropTable).on(object.clone());
            self.push(act, view.span(), found);
        }
        // A function in C names the library it loads.
        let loads = view
            .level(at)
            .any(|at| view.is(at, "language") && view.is(at + 1, "c"));
        let file = if loads { view.next_literal(at) } else { None };
        self.push(
            StatementEffect::new(StatementKind::Create)
                .on(object)
                .touching(file),
            view.span(),
            found,
        );
        if view.is_any(what, ROUTINES) {
            self.body(view, at, left, found);
        }
    }

    /// The body of a routine: a literal in Postgres, a block elsewhere.
    fn body(&self, view: View<'_>, from: usize, left: usize, found: &mut Statements) {
        for at in view.level(from) {
            if view.is(at, "as")
                && let Some(body) = view.literal(at + 1)
            {
                self.inner(&body, view.span(), true, found);
                return;
            }
            if view.is(at, "begin")
                && (view.is(at + 1, "atomic") || rule(view.word(at + 1)).is_some())
            {
                self.pieces(view.part(at..view.len()), left, true, found);
                return;
            }
        }
    }

    /// The statements of a block, each by itself.
    fn pieces(&self, view: View<'_>, left: usize, stored: bool, found: &mut Statements) {
        let first = found.statements.len();
        let mut start = 0;
        for at in 0..=view.len() {
            if at == view.len() || view.symbol(at, b';') {
                if at > start {
                    self.meaning(view.part(start..at), left - 1, found);
                }
                start = at + 1;
            }
        }
        if stored {
            for statement in found.statements.iter_mut().skip(first) {
                statement.stored = true;
            }
        }
    }

    fn inserting(&self, view: View<'_>, found: &mut Statements) {
        let overwrites = view.is(1, "overwrite");
        let mut at = 1;
        while view.is_any(at, WORDS_AFTER_INSERT) {
            at += 1;
        }
        let kind = if overwrites {
            StatementKind::Truncate
        } else {
            StatementKind::Insert
        };
        let object = view.name(at).map(|(name, _)| name);
        self.push(StatementEffect::new(kind).on(object), view.span(), found);
    }

    /// A query, also one behind `WITH`: what it is made of may change data.
    fn selecting(&self, view: View<'_>, left: usize, found: &mut Statements) {
        self.nested(view, left, found);
        if view.is(0, "with") {
            let main = view.level(1).find(|at| {
                modifies(view, *at) || view.is_any(*at, &["select", "values", "table", "replace"])
            });
            if let Some(at) = main {
                self.meaning(view.part(at..view.len()), left - 1, found);
                return;
            }
        }
        for at in view.level(1).filter(|at| view.is(*at, "into")) {
            let act = if view.is_any(at + 1, &["outfile", "dumpfile"]) {
                StatementEffect::new(StatementKind::IntoOutfile).touching(view.literal(at + 2))
            } else if self.flavour().backslash == super::tokens::Backslash::Mysql {
                continue;
            } else {
                StatementEffect::new(StatementKind::Create)
                    .on(view.name(at + 1).map(|(name, _)| name))
            };
            self.push(act, view.span(), found);
        }
        let from = view.find(0, &["from"]);
        let object = from.and_then(|at| view.name(at + 1)).map(|(name, _)| name);
        self.push(
            StatementEffect::new(StatementKind::Select).on(object),
            view.span(),
            found,
        );
    }

    /// Statements that change data between parentheses: `WITH x AS (DELETE …)`, `COPY (DELETE …)`.
    fn nested(&self, view: View<'_>, left: usize, found: &mut Statements) {
        let mut at = 0;
        while at < view.len() {
            if view.symbol(at, b'(') && modifies(view, at + 1) {
                let close = view.closing(at);
                self.meaning(view.part(at + 1..close), left - 1, found);
                at = close;
            }
            at += 1;
        }
    }

    /// `EXPLAIN` only looks, unless it is told to run the statement.
    fn explaining(&self, view: View<'_>, left: usize, found: &mut Statements) {
        let mut at = 1;
        let mut runs = false;
        loop {
            if view.is_any(at, &["analyze", "analyse"]) {
                runs = true;
                at += 1;
            } else if view.symbol(at, b'(') && at == 1 {
                let close = view.closing(at);
                runs |= (at..close).any(|at| {
                    view.is_any(at, &["analyze", "analyse"])
                        && !view.is_any(at + 1, &["false", "off"])
                        && view.source(at + 1) != "0"
                });
                at = close + 1;
            } else if view.is_any(
                at,
                &[
                    "verbose",
                    "format",
                    "extended",
                    "partitions",
                    "query",
                    "plan",
                ],
            ) {
                at += 1;
                if view.symbol(at, b'=') {
                    at += 2;
                }
            } else {
                break;
            }
        }
        if runs {
            self.meaning(view.part(at..view.len()), left - 1, found);
        } else {
            self.push(
                StatementEffect::new(StatementKind::Select),
                view.span(),
                found,
            );
        }
    }

    fn copying(&self, view: View<'_>, found: &mut Statements) {
        let object = view
            .name(1)
            .map(|(name, _)| name)
            .filter(|_| !view.symbol(1, b'('));
        let direction = view.find(1, &["from", "to"]);
        let at = direction.unwrap_or(view.len());
        let reads = view.is(at, "from");
        let act = if view.is(at + 1, "program") {
            let act = StatementEffect::new(StatementKind::CopyFromProgram);
            act.running(view.literal(at + 2))
        } else if let Some(file) = view.literal(at + 1) {
            StatementEffect::new(StatementKind::CopyFile).touching(Some(file))
        } else if view.is_any(at + 1, &["stdin", "stdout"]) {
            StatementEffect::new(if reads {
                StatementKind::Insert
            } else {
                StatementKind::Select
            })
        } else {
            // `\copy` needs no quotes.
            let rest = view
                .tokens
                .get(at + 1)
                .and_then(|token| view.text.get(token.start..));
            let file = rest.and_then(|rest| rest.split_ascii_whitespace().next());
            StatementEffect::new(StatementKind::CopyFile).touching(file.map(str::to_owned))
        };
        self.push(act.on(object), view.span(), found);
    }

    /// `PREPARE` is taken for running: what follows is an `EXECUTE` by name.
    fn preparing(&self, view: View<'_>, left: usize, found: &mut Statements) {
        if view.is(1, "transaction") {
            self.push(
                StatementEffect::new(StatementKind::Transaction),
                view.span(),
                found,
            );
            return;
        }
        let name = view.name(1).map(|(name, _)| name.to_ascii_lowercase());
        let at = view.find(1, &["from", "as"]).unwrap_or(view.len());
        if view.is(at, "as") && at + 1 < view.len() {
            found.prepare(name);
            self.meaning(view.part(at + 1..view.len()), left - 1, found);
        } else if let Some(text) = view.literal(at + 1) {
            found.prepare(name);
            self.inner(&text, view.span(), false, found);
        } else {
            self.push(
                StatementEffect::new(StatementKind::Unreadable),
                view.span(),
                found,
            );
        }
    }

    /// `EXECUTE`: a prepared statement by name, or text that may be put together at run time.
    fn executing(&self, view: View<'_>, found: &mut Statements) {
        let name = view.name(1).map(|(name, _)| name.to_ascii_lowercase());
        if let Some(name) = &name
            && view.kind(1) != Some(TokenKind::Text)
            && found.prepared.contains(name)
        {
            self.push(
                StatementEffect::new(StatementKind::Other).on(Some(name.clone())),
                view.span(),
                found,
            );
            return;
        }
        let at = if view.is(1, "immediate") { 2 } else { 1 };
        self.dynamic(view, at, found);
    }

    /// Text that runs as SQL: a literal alone is read, anything more is also unreadable.
    fn dynamic(&self, view: View<'_>, at: usize, found: &mut Statements) {
        if let Some(text) = view.next_literal(at) {
            self.inner(&text, view.span(), false, found);
        }
        let mut end = at;
        while view.kind(end) == Some(TokenKind::Text) {
            end += 1;
        }
        let alone = end > at && (end == view.len() || view.is_any(end, &["into", "using"]));
        if !alone {
            self.push(
                StatementEffect::new(StatementKind::Unreadable),
                view.span(),
                found,
            );
        }
    }

    /// A procedure by name, or T-SQL's `EXEC ('text')`.
    fn calling(&self, view: View<'_>, found: &mut Statements) {
        match view.name(1) {
            Some((name, _)) if view.kind(1) != Some(TokenKind::Text) && !view.symbol(1, b'(') => {
                self.push(
                    StatementEffect::new(StatementKind::Other).on(Some(name)),
                    view.span(),
                    found,
                );
            }
            _ => self.dynamic(view, 1, found),
        }
    }

    fn doing(&self, view: View<'_>, found: &mut Statements) {
        let plain = view.is(1, "language") || view.kind(1) == Some(TokenKind::Text);
        let foreign = view
            .find(1, &["language"])
            .is_some_and(|at| !view.is(at + 1, "plpgsql"));
        match view.next_literal(1) {
            Some(body) if plain && !foreign => self.inner(&body, view.span(), false, found),
            _ if plain => self.push(
                StatementEffect::new(StatementKind::Unreadable),
                view.span(),
                found,
            ),
            _ => self.push(
                StatementEffect::new(StatementKind::Other),
                view.span(),
                found,
            ),
        }
    }

    /// Words of a block in front of statements, or a bare `BEGIN`.
    fn block(&self, view: View<'_>, rule: Rule, left: usize, found: &mut Statements) {
        let starts: Vec<usize> = view
            .level(1)
            .filter(|at| {
                self.begins(view, *at) && (verbs::opens(view.word(at - 1)) || self.leads(view, *at))
            })
            .collect();
        if starts.is_empty() {
            if rule == Rule::Begin && view.len() > 1 && !view.is_any(1, WORDS_AFTER_BEGIN) {
                self.meaning(view.part(1..view.len()), left - 1, found);
                return;
            }
            let kind = if rule == Rule::Begin {
                StatementKind::Transaction
            } else {
                StatementKind::Other
            };
            self.push(StatementEffect::new(kind), view.span(), found);
            return;
        }
        for (index, start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(view.len());
            self.meaning(view.part(*start..end), left - 1, found);
        }
    }

    fn begins(&self, view: View<'_>, at: usize) -> bool {
        view.tokens
            .get(at)
            .is_some_and(|token| self.begins_statement(token))
    }

    /// T-SQL has no `THEN`: `IF condition DROP TABLE x`.
    fn leads(&self, view: View<'_>, at: usize) -> bool {
        modifies(view, at)
            || view.is_any(
                at,
                &[
                    "drop", "truncate", "execute", "exec", "alter", "create", "call",
                ],
            )
    }

    /// Lists what functions in the statement reach.
    fn reaching(&self, view: View<'_>, found: &mut Statements) {
        for at in 0..view.len() {
            let called = view.symbol(at + 1, b'(')
                || view.is(at, "xp_cmdshell")
                || view.is(at, "sp_executesql");
            if !called {
                continue;
            }
            let name = match view.kind(at) {
                Some(TokenKind::Word) => view.source(at),
                Some(TokenKind::Quoted) => view.source(at).trim_matches(['"', '`', '[', ']']),
                _ => continue,
            };
            let Some(reach) = reach(name) else {
                continue;
            };
            let near = view.part(at + 1..at + 1 + NEAR);
            let arguments = near.part(
                0..if near.symbol(0, b'(') {
                    near.closing(0)
                } else {
                    NEAR
                },
            );
            let argument = arguments.next_literal(0);
            let act = StatementEffect::new(reach.kind());
            let act = match reach {
                Reach::Reads | Reach::Writes | Reach::Loads => act.touching(argument),
                Reach::Runs => act.running(argument),
                Reach::Admin => act,
                Reach::Sql => {
                    for at in 0..arguments.len() {
                        if let Some(text) = arguments.literal(at) {
                            self.inner(&text, view.span(), false, found);
                        }
                    }
                    act
                }
            };
            self.push(act, view.span(), found);
        }
    }
}

/// Whether a statement that changes data begins at `at`.
fn modifies(view: View<'_>, at: usize) -> bool {
    let near = view.part(at..at + NEAR);
    match near.word(0) {
        word if word.eq_ignore_ascii_case("delete") => near.find(1, &["from"]).is_some(),
        word if word.eq_ignore_ascii_case("update") => near.find(1, &["set"]).is_some(),
        word if verbs::is_one_of(word, &["insert", "merge"]) => near.is_any(1, WORDS_AFTER_INSERT),
        word => word.eq_ignore_ascii_case("with") && at > 0 && view.symbol(at - 1, b'('),
    }
}

/// Tokens within which a statement shows what it is, and a function its arguments.
const NEAR: usize = 256;
const CLAUSES_AFTER_WHERE: &[&str] = &[
    "returning",
    "order",
    "limit",
    "offset",
    "fetch",
    "option",
    "window",
];
const ROUTINES: &[&str] = &[
    "procedure",
    "function",
    "trigger",
    "event",
    "package",
    "proc",
];
const WORDS_AFTER_CREATE: &[&str] = &[
    "or",
    "replace",
    "temp",
    "temporary",
    "global",
    "local",
    "unlogged",
    "unique",
    "materialized",
    "foreign",
    "external",
    "recursive",
    "virtual",
    "constraint",
    "definer",
    "aggregate",
];
const WORDS_AFTER_BEGIN: &[&str] = &[
    "transaction",
    "tran",
    "work",
    "isolation",
    "read",
    "not",
    "deferrable",
    "deferred",
    "immediate",
    "exclusive",
    "concurrent",
];
const WORDS_AFTER_INSERT: &[&str] = &[
    "into",
    "or",
    "ignore",
    "replace",
    "rollback",
    "abort",
    "fail",
    "low_priority",
    "delayed",
    "high_priority",
    "overwrite",
    "table",
];
