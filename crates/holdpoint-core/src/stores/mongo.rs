//! What JavaScript for MongoDB's shell would do to the database.
//!
//! Found are calls of the shell's methods by name, wherever they stand in the code. Names that are
//! put together at run time, `eval` and loaded files are unreadable. A filter is taken for one
//! unless it is empty or one of the ways to write "every document".

use super::scripts::{Token, TokenKind, tokens};
use super::{MAX_TEXT, StoreEffect, StoreKind, push};

/// Tokens of a call's arguments that are looked at.
const NEAR: usize = 512;

/// Everything a script does, in order.
pub(crate) fn script(text: &str) -> Vec<StoreEffect> {
    let mut acts = Vec::new();
    let whole = text.len();
    let text = text
        .get(..text.floor_char_boundary(MAX_TEXT))
        .unwrap_or(text);
    let tokens = tokens(text);
    for at in 0..tokens.len() {
        look(
            Cursor {
                tokens: &tokens,
                at,
            },
            &mut acts,
        );
    }
    if text.len() < whole {
        push(&mut acts, StoreEffect::new(StoreKind::Unreadable, None));
    }
    acts
}

/// A place in the tokens.
#[derive(Clone, Copy)]
struct Cursor<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl<'t> Cursor<'t> {
    fn ahead(&self, count: usize) -> Option<&'t Token> {
        self.tokens.get(self.at + count)
    }

    fn behind(&self, count: usize) -> Option<&'t Token> {
        self.tokens.get(self.at.checked_sub(count)?)
    }

    fn symbol_ahead(&self, count: usize, symbol: char) -> bool {
        self.ahead(count)
            .is_some_and(|token| token.is_symbol(symbol))
    }

    fn symbol_behind(&self, count: usize, symbol: char) -> bool {
        self.behind(count)
            .is_some_and(|token| token.is_symbol(symbol))
    }

    fn word_ahead(&self, count: usize, words: &[&str]) -> bool {
        self.ahead(count)
            .is_some_and(|token| words.iter().any(|word| token.is_word(word)))
    }
}

fn look(place: Cursor<'_>, acts: &mut Vec<StoreEffect>) {
    let Some(token) = place.ahead(0) else {
        return;
    };
    match token.kind {
        TokenKind::Word if place.symbol_behind(1, '.') => {
            let goes_on = place.symbol_ahead(1, '.') || place.symbol_ahead(1, '[');
            let lent =
                place.symbol_ahead(1, '.') && place.word_ahead(2, &["call", "apply", "bind"]);
            if place.symbol_ahead(1, '(') {
                method(&token.text, place, 2, acts);
            } else if lent || !goes_on {
                taken(&token.text, acts);
            }
        }
        TokenKind::Word if place.symbol_ahead(1, '(') => function(&token.text, acts),
        // `db.x["drop"]()`
        TokenKind::Text if place.symbol_behind(1, '[') && place.symbol_ahead(1, ']') => {
            if place.symbol_ahead(2, '(') {
                method(&token.text, place, 3, acts);
            } else if place.symbol_ahead(2, '.') && place.word_ahead(3, &["call", "apply", "bind"])
            {
                taken(&token.text, acts);
            }
        }
        // `db.x[name]()`, `\u0064rop`
        TokenKind::Symbol(']') if place.symbol_ahead(1, '(') => {
            let named = place
                .behind(1)
                .is_some_and(|token| token.kind == TokenKind::Text)
                && place.symbol_behind(2, '[');
            if !named {
                push(acts, StoreEffect::new(StoreKind::Unreadable, None));
            }
        }
        TokenKind::Symbol('\\') => push(acts, StoreEffect::new(StoreKind::Unreadable, None)),
        TokenKind::Unknown => push(acts, StoreEffect::new(StoreKind::Unreadable, None)),
        TokenKind::Word
        | TokenKind::Text
        | TokenKind::Number
        | TokenKind::Pattern
        | TokenKind::Symbol(_) => {}
    }
}

/// A method that is not called but taken, to be called under another name.
fn taken(name: &str, acts: &mut Vec<StoreEffect>) {
    if METHODS
        .iter()
        .any(|(known, usage)| *known == name && !matches!(usage, Use::Is(StoreKind::Read)))
    {
        push(
            acts,
            StoreEffect::new(StoreKind::Unreadable, Some(name.to_owned())),
        );
    }
}

/// A function that belongs to no object.
fn function(name: &str, acts: &mut Vec<StoreEffect>) {
    if let Some((_, kind)) = FUNCTIONS.iter().find(|(known, _)| *known == name) {
        push(acts, StoreEffect::new(*kind, None));
    }
}

/// A call of a method whose arguments begin `behind` tokens further.
fn method(name: &str, place: Cursor<'_>, behind: usize, acts: &mut Vec<StoreEffect>) {
    let Some((_, usage)) = METHODS.iter().find(|(known, _)| *known == name) else {
        return;
    };
    let arguments = Arguments::read(place, behind);
    let object = receiver(place);
    let argument = arguments.text(0);
    let kind = match usage {
        Use::Is(kind) => *kind,
        Use::Named(kind) => {
            push(acts, StoreEffect::new(*kind, argument));
            return;
        }
        Use::DeleteMany => {
            arguments
                .filter()
                .pick(StoreKind::DeleteAll, StoreKind::DeleteWhere, acts)
        }
        Use::Remove if arguments.only_one() => StoreKind::DeleteWhere,
        Use::Remove => arguments
            .filter()
            .pick(StoreKind::DeleteAll, StoreKind::DeleteWhere, acts),
        Use::UpdateMany => {
            arguments
                .filter()
                .pick(StoreKind::UpdateAll, StoreKind::UpdateWhere, acts)
        }
        Use::Update if !arguments.has("multi") => StoreKind::UpdateWhere,
        Use::Update => arguments
            .filter()
            .pick(StoreKind::UpdateAll, StoreKind::UpdateWhere, acts),
        Use::FindAndModify if arguments.has("remove") => StoreKind::DeleteWhere,
        Use::FindAndModify => StoreKind::UpdateWhere,
        Use::Aggregate if arguments.has("$out") || arguments.has("$merge") => StoreKind::Write,
        Use::Aggregate => StoreKind::Read,
        Use::Bulk => arguments.bulk(),
        Use::Command => {
            push(acts, arguments.command());
            return;
        }
    };
    push(acts, StoreEffect::new(kind, object));
}

/// The collection or database in front of a method: `db.x.`, `db.getCollection("x").`, `db["x"].`
fn receiver(place: Cursor<'_>) -> Option<String> {
    let last = place.behind(2)?;
    let name = match last.kind {
        TokenKind::Word => last,
        TokenKind::Symbol(')' | ']') => place.behind(3)?,
        TokenKind::Symbol(_)
        | TokenKind::Text
        | TokenKind::Number
        | TokenKind::Pattern
        | TokenKind::Unknown => {
            return None;
        }
    };
    let is_name = matches!(name.kind, TokenKind::Word | TokenKind::Text);
    (is_name && name.text != "db").then(|| name.text.clone())
}

/// What a filter selects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Filter {
    Everything,
    Some,
    /// Not written out here.
    Unknown,
}

impl Filter {
    fn pick(self, all: StoreKind, some: StoreKind, acts: &mut Vec<StoreEffect>) -> StoreKind {
        if self == Filter::Unknown {
            push(acts, StoreEffect::new(StoreKind::Unreadable, None));
        }
        if self == Filter::Everything {
            all
        } else {
            some
        }
    }
}

/// The arguments of a call.
struct Arguments<'t> {
    tokens: &'t [Token],
    /// Where each begins and ends.
    ranges: Vec<(usize, usize)>,
}

impl<'t> Arguments<'t> {
    fn read(place: Cursor<'t>, behind: usize) -> Self {
        let from = (place.at + behind).min(place.tokens.len());
        let to = (from + NEAR).min(place.tokens.len());
        let tokens = place.tokens.get(from..to).unwrap_or_default();
        let mut ranges = Vec::new();
        let mut depth = 0usize;
        let mut start = 0;
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::Symbol('(' | '[' | '{') => depth += 1,
                TokenKind::Symbol(')' | ']' | '}') if depth == 0 => {
                    if at > start {
                        ranges.push((start, at));
                    }
                    return Self {
                        tokens: tokens.get(..at).unwrap_or_default(),
                        ranges,
                    };
                }
                TokenKind::Symbol(')' | ']' | '}') => depth -= 1,
                TokenKind::Symbol(',') if depth == 0 => {
                    ranges.push((start, at));
                    start = at + 1;
                }
                TokenKind::Word
                | TokenKind::Text
                | TokenKind::Unknown
                | TokenKind::Number
                | TokenKind::Pattern
                | TokenKind::Symbol(_) => {}
            }
        }
        ranges.push((start, tokens.len()));
        Self { tokens, ranges }
    }

    fn argument(&self, index: usize) -> &'t [Token] {
        let range = self.ranges.get(index).copied().unwrap_or((0, 0));
        self.tokens.get(range.0..range.1).unwrap_or_default()
    }

    fn text(&self, index: usize) -> Option<String> {
        match self.argument(index) {
            [token] if token.kind == TokenKind::Text => Some(token.text.clone()),
            _ => None,
        }
    }

    /// Whether a key of this name stands anywhere in them.
    fn has(&self, key: &str) -> bool {
        self.tokens.iter().any(|token| is_key(token, key))
    }

    /// `remove(filter, true)` and `remove(filter, { justOne: true })` remove one document.
    fn only_one(&self) -> bool {
        let second = self.argument(1);
        second.iter().any(|token| token.is_word("true"))
            && (second.len() == 1 || second.iter().any(|token| is_key(token, "justOne")))
    }

    fn filter(&self) -> Filter {
        filter(self.argument(0))
    }

    /// `bulkWrite([{ deleteMany: { filter: {} } }])`
    fn bulk(&self) -> StoreKind {
        let everything = holds_empty(self.tokens, "filter");
        match (
            self.has("deleteMany"),
            self.has("deleteOne"),
            self.has("updateMany"),
            everything,
        ) {
            (true, _, _, true) => StoreKind::DeleteAll,
            (true, _, _, false) | (false, true, _, _) => StoreKind::DeleteWhere,
            (false, false, true, true) => StoreKind::UpdateAll,
            (false, false, true, false) => StoreKind::UpdateWhere,
            (false, false, false, _) => StoreKind::Write,
        }
    }

    /// `runCommand({ drop: "x" })`: the first key is the command.
    fn command(&self) -> StoreEffect {
        let (name, object) = match self.argument(0) {
            [open, name, colon, value, ..] if open.is_symbol('{') && colon.is_symbol(':') => {
                (name, Some(value))
            }
            [name] => (name, None),
            _ => return StoreEffect::new(StoreKind::Unreadable, None),
        };
        let known = COMMANDS
            .iter()
            .find(|(known, _)| name.text.eq_ignore_ascii_case(known));
        let everything = holds_empty(self.tokens, "q");
        let kind = match known.map(|(_, kind)| *kind) {
            Some(StoreKind::DeleteWhere) if everything => StoreKind::DeleteAll,
            Some(StoreKind::UpdateWhere) if everything && self.has("multi") => StoreKind::UpdateAll,
            kind => kind.unwrap_or(StoreKind::Unreadable),
        };
        let object = object.filter(|value| value.kind == TokenKind::Text);
        StoreEffect::new(kind, object.map(|value| value.text.clone()))
    }
}

fn is_key(token: &Token, key: &str) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Text) && token.text == key
}

/// Whether `key: {}` stands in the tokens.
fn holds_empty(tokens: &[Token], key: &str) -> bool {
    tokens.windows(4).any(|window| match window {
        [name, colon, open, close] => {
            is_key(name, key) && colon.is_symbol(':') && open.is_symbol('{') && close.is_symbol('}')
        }
        _ => false,
    })
}

fn filter(tokens: &[Token]) -> Filter {
    match tokens {
        [] => Filter::Everything,
        [word] if word.is_word("null") || word.is_word("undefined") => Filter::Everything,
        [open, close] if open.is_symbol('{') && close.is_symbol('}') => Filter::Everything,
        [open, dot, ..] if open.is_symbol('{') && dot.is_symbol('.') => Filter::Unknown,
        [open, key, colon, rest @ .., close]
            if open.is_symbol('{') && colon.is_symbol(':') && close.is_symbol('}') =>
        {
            condition(&key.text, rest)
        }
        _ => Filter::Unknown,
    }
}

/// A filter of one key that every document passes.
fn condition(key: &str, value: &[Token]) -> Filter {
    let everything = match (key, value) {
        // `{ _id: { $exists: true } }`, `{ _id: { $ne: null } }`
        ("_id", [open, test, colon, wanted, close]) => {
            open.is_symbol('{')
                && colon.is_symbol(':')
                && close.is_symbol('}')
                && ((is_key(test, "$exists") && !wanted.is_word("false"))
                    || (is_key(test, "$ne") && wanted.is_word("null")))
        }
        // `{ $where: "true" }`, `{ $expr: true }`
        ("$where" | "$expr", [test]) => matches!(test.text.as_str(), "true" | "1" | "return true"),
        // `{ $or: [{}] }`
        ("$or" | "$and", list) => list.windows(2).any(|window| match window {
            [open, close] => open.is_symbol('{') && close.is_symbol('}'),
            _ => false,
        }),
        _ => false,
    };
    if everything {
        Filter::Everything
    } else {
        Filter::Some
    }
}

/// What calling a method does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// This, to the collection or database in front of it.
    Is(StoreKind),
    /// This, to what its argument names.
    Named(StoreKind),
    DeleteMany,
    Remove,
    UpdateMany,
    Update,
    FindAndModify,
    Aggregate,
    Bulk,
    Command,
}

const METHODS: &[(&str, Use)] = &[
    ("dropDatabase", Use::Is(StoreKind::FlushDb)),
    ("drop", Use::Is(StoreKind::DropCollection)),
    ("dropIndex", Use::Is(StoreKind::DropOther)),
    ("dropIndexes", Use::Is(StoreKind::DropOther)),
    ("dropSearchIndex", Use::Is(StoreKind::DropOther)),
    ("dropUser", Use::Named(StoreKind::DropRole)),
    ("dropAllUsers", Use::Is(StoreKind::DropRole)),
    ("removeUser", Use::Named(StoreKind::DropRole)),
    ("dropRole", Use::Named(StoreKind::DropRole)),
    ("dropAllRoles", Use::Is(StoreKind::DropRole)),
    ("deleteMany", Use::DeleteMany),
    ("deleteOne", Use::Is(StoreKind::DeleteWhere)),
    ("remove", Use::Remove),
    ("findOneAndDelete", Use::Is(StoreKind::DeleteWhere)),
    ("updateMany", Use::UpdateMany),
    ("updateOne", Use::Is(StoreKind::UpdateWhere)),
    ("update", Use::Update),
    ("replaceOne", Use::Is(StoreKind::UpdateWhere)),
    ("findOneAndUpdate", Use::Is(StoreKind::UpdateWhere)),
    ("findOneAndReplace", Use::Is(StoreKind::UpdateWhere)),
    ("findAndModify", Use::FindAndModify),
    ("bulkWrite", Use::Bulk),
    ("initializeUnorderedBulkOp", Use::Is(StoreKind::Write)),
    ("initializeOrderedBulkOp", Use::Is(StoreKind::Write)),
    ("insert", Use::Is(StoreKind::Write)),
    ("insertOne", Use::Is(StoreKind::Write)),
    ("insertMany", Use::Is(StoreKind::Write)),
    ("save", Use::Is(StoreKind::Write)),
    ("renameCollection", Use::Is(StoreKind::Write)),
    ("convertToCapped", Use::Is(StoreKind::Write)),
    ("createCollection", Use::Named(StoreKind::Write)),
    ("createView", Use::Named(StoreKind::Write)),
    ("createIndex", Use::Is(StoreKind::Write)),
    ("createIndexes", Use::Is(StoreKind::Write)),
    ("ensureIndex", Use::Is(StoreKind::Write)),
    ("copyDatabase", Use::Is(StoreKind::Write)),
    ("cloneDatabase", Use::Is(StoreKind::Write)),
    ("mapReduce", Use::Is(StoreKind::Eval)),
    ("eval", Use::Is(StoreKind::Eval)),
    ("aggregate", Use::Aggregate),
    ("find", Use::Is(StoreKind::Read)),
    ("findOne", Use::Is(StoreKind::Read)),
    ("count", Use::Is(StoreKind::Read)),
    ("countDocuments", Use::Is(StoreKind::Read)),
    ("estimatedDocumentCount", Use::Is(StoreKind::Read)),
    ("distinct", Use::Is(StoreKind::Read)),
    ("getIndexes", Use::Is(StoreKind::Read)),
    ("getCollectionNames", Use::Is(StoreKind::Read)),
    ("getCollectionInfos", Use::Is(StoreKind::Read)),
    ("stats", Use::Is(StoreKind::Read)),
    ("serverStatus", Use::Is(StoreKind::Read)),
    ("currentOp", Use::Is(StoreKind::Read)),
    ("getUsers", Use::Is(StoreKind::Read)),
    ("watch", Use::Is(StoreKind::Read)),
    ("createUser", Use::Is(StoreKind::Admin)),
    ("updateUser", Use::Is(StoreKind::Admin)),
    ("changeUserPassword", Use::Is(StoreKind::Admin)),
    ("grantRolesToUser", Use::Is(StoreKind::Admin)),
    ("revokeRolesFromUser", Use::Is(StoreKind::Admin)),
    ("createRole", Use::Is(StoreKind::Admin)),
    ("updateRole", Use::Is(StoreKind::Admin)),
    ("grantPrivilegesToRole", Use::Is(StoreKind::Admin)),
    ("setProfilingLevel", Use::Is(StoreKind::ConfigSet)),
    ("setLogLevel", Use::Is(StoreKind::ConfigSet)),
    ("fsyncLock", Use::Is(StoreKind::Admin)),
    ("fsyncUnlock", Use::Is(StoreKind::Admin)),
    ("killOp", Use::Is(StoreKind::Admin)),
    ("compact", Use::Is(StoreKind::Admin)),
    ("reIndex", Use::Is(StoreKind::Admin)),
    ("reconfig", Use::Is(StoreKind::Admin)),
    ("initiate", Use::Is(StoreKind::Admin)),
    ("stepDown", Use::Is(StoreKind::Admin)),
    ("removeShard", Use::Is(StoreKind::Admin)),
    ("shutdownServer", Use::Is(StoreKind::Shutdown)),
    ("runCommand", Use::Command),
    ("adminCommand", Use::Command),
    ("_adminCommand", Use::Command),
    ("execSync", Use::Is(StoreKind::ShellEscape)),
    ("exec", Use::Is(StoreKind::ShellEscape)),
    ("spawn", Use::Is(StoreKind::ShellEscape)),
    ("spawnSync", Use::Is(StoreKind::ShellEscape)),
    ("execFile", Use::Is(StoreKind::ShellEscape)),
    ("execFileSync", Use::Is(StoreKind::ShellEscape)),
    ("fork", Use::Is(StoreKind::ShellEscape)),
];

/// The first key of a command.
const COMMANDS: &[(&str, StoreKind)] = &[
    ("dropDatabase", StoreKind::FlushDb),
    ("drop", StoreKind::DropCollection),
    ("dropIndexes", StoreKind::DropOther),
    ("deleteIndexes", StoreKind::DropOther),
    ("dropUser", StoreKind::DropRole),
    ("dropAllUsersFromDatabase", StoreKind::DropRole),
    ("dropRole", StoreKind::DropRole),
    ("dropAllRolesFromDatabase", StoreKind::DropRole),
    ("delete", StoreKind::DeleteWhere),
    ("update", StoreKind::UpdateWhere),
    ("findAndModify", StoreKind::UpdateWhere),
    ("insert", StoreKind::Write),
    ("create", StoreKind::Write),
    ("createIndexes", StoreKind::Write),
    ("renameCollection", StoreKind::Write),
    ("collMod", StoreKind::Write),
    ("find", StoreKind::Read),
    ("count", StoreKind::Read),
    ("distinct", StoreKind::Read),
    ("ping", StoreKind::Read),
    ("hello", StoreKind::Read),
    ("isMaster", StoreKind::Read),
    ("buildInfo", StoreKind::Read),
    ("serverStatus", StoreKind::Read),
    ("dbStats", StoreKind::Read),
    ("collStats", StoreKind::Read),
    ("listCollections", StoreKind::Read),
    ("listDatabases", StoreKind::Read),
    ("listIndexes", StoreKind::Read),
    ("usersInfo", StoreKind::Read),
    ("connectionStatus", StoreKind::Read),
    ("getParameter", StoreKind::Read),
    ("replSetGetStatus", StoreKind::Read),
    ("currentOp", StoreKind::Read),
    ("aggregate", StoreKind::Write),
    ("eval", StoreKind::Eval),
    ("mapReduce", StoreKind::Eval),
    ("setParameter", StoreKind::ConfigSet),
    ("profile", StoreKind::ConfigSet),
    ("shutdown", StoreKind::Shutdown),
    ("createUser", StoreKind::Admin),
    ("updateUser", StoreKind::Admin),
    ("grantRolesToUser", StoreKind::Admin),
    ("killOp", StoreKind::Admin),
    ("fsync", StoreKind::Admin),
    ("compact", StoreKind::Admin),
    ("replSetReconfig", StoreKind::Admin),
    ("replSetStepDown", StoreKind::Admin),
    ("logRotate", StoreKind::Admin),
    ("enableSharding", StoreKind::Admin),
    ("shardCollection", StoreKind::Admin),
];

/// Functions of the shell and of JavaScript that belong to no object.
const FUNCTIONS: &[(&str, StoreKind)] = &[
    ("run", StoreKind::ShellEscape),
    ("runProgram", StoreKind::ShellEscape),
    ("runMongoProgram", StoreKind::ShellEscape),
    ("runNonMongoProgram", StoreKind::ShellEscape),
    ("rawMongoProgramOutput", StoreKind::ShellEscape),
    ("exec", StoreKind::ShellEscape),
    ("execSync", StoreKind::ShellEscape),
    ("spawn", StoreKind::ShellEscape),
    ("spawnSync", StoreKind::ShellEscape),
    ("load", StoreKind::Unreadable),
    ("require", StoreKind::Unreadable),
    ("import", StoreKind::Unreadable),
    ("eval", StoreKind::Unreadable),
    ("Function", StoreKind::Unreadable),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        script(text)
            .iter()
            .map(|act| match &act.object {
                Some(object) => format!("{} {object}", act.kind.as_str()),
                None => act.kind.as_str().to_owned(),
            })
            .collect()
    }

    #[test]
    fn calls_are_told_apart() {
        for (text, wanted) in [
            ("db.dropDatabase()", "flush-db"),
            ("db.getSiblingDB('prod').dropDatabase()", "flush-db prod"),
            ("db.users.drop()", "drop-collection users"),
            (
                "db.getCollection(\"users\").drop()",
                "drop-collection users",
            ),
            ("db['users'].drop()", "drop-collection users"),
            ("db.users['drop']()", "drop-collection users"),
            ("db . users /* x */ . drop ( )", "drop-collection users"),
            ("db.users.deleteMany({})", "delete-all users"),
            ("db.users.deleteMany({ })", "delete-all users"),
            ("db.users.deleteMany()", "delete-all users"),
            (
                "db.users.deleteMany({_id: {$exists: true}})",
                "delete-all users",
            ),
            (
                "db.users.deleteMany({$or: [{a: 1}, {}]})",
                "delete-all users",
            ),
            ("db.users.deleteMany({a: 1})", "delete-where users"),
            (
                "db.users.deleteMany({a: {b: 1}, c: 2})",
                "delete-where users",
            ),
            ("db.users.deleteOne({})", "delete-where users"),
            ("db.users.remove({})", "delete-all users"),
            ("db.users.remove({}, true)", "delete-where users"),
            ("db.users.remove({}, {justOne: true})", "delete-where users"),
            (
                "db.users.updateMany({}, {$set: {a: 1}})",
                "update-all users",
            ),
            (
                "db.users.updateMany({b: 1}, {$set: {a: 1}})",
                "update-where users",
            ),
            ("db.users.update({}, {$set: {a: 1}})", "update-where users"),
            (
                "db.users.update({}, {$set: {a: 1}}, {multi: true})",
                "update-all users",
            ),
            (
                "db.users.bulkWrite([{deleteMany: {filter: {}}}])",
                "delete-all users",
            ),
            ("db.users.insertOne({drop: 1})", "write users"),
            ("db.users.find({a: 'db.users.drop()'})", "read users"),
            ("db.users.aggregate([{$match: {}}])", "read users"),
            ("db.users.aggregate([{$out: 'x'}])", "write users"),
            ("db.dropUser('bob')", "drop-role bob"),
            ("db.adminCommand({shutdown: 1})", "shutdown"),
            ("db.runCommand({drop: 'users'})", "drop-collection users"),
            (
                "db.runCommand({delete: 'users', deletes: [{q: {}, limit: 0}]})",
                "delete-all users",
            ),
            (
                "db.runCommand({delete: 'users', deletes: [{q: {a: 1}, limit: 0}]})",
                "delete-where users",
            ),
            ("db.runCommand('ping')", "read"),
            ("db.shutdownServer()", "shutdown"),
            ("load('x.js')", "unreadable"),
            ("db.users[name]()", "unreadable"),
            ("eval('x')", "unreadable"),
            ("db.users.\\u0064rop()", "unreadable"),
            ("db.users['\\x64rop']()", "drop-collection users"),
            ("f = db.users.drop", "unreadable drop"),
        ] {
            assert_eq!(words(text), [wanted], "{text}");
        }
    }

    #[test]
    fn strings_and_comments_are_no_code() {
        for text in [
            "// db.users.drop()",
            "/* db.users.drop() */ 1",
            "'db.users.drop()'",
            "`db.users.drop()`",
            "/db.users.drop()/",
            "use prod\nshow collections",
            "print(1 / 2)",
        ] {
            assert_eq!(words(text), [""; 0], "{text}");
        }
        assert_eq!(
            words("x = 1 / 2; db.users.drop() / 3"),
            ["drop-collection users"]
        );
        assert_eq!(
            words("print('a')\ndb.users.drop()"),
            ["drop-collection users"]
        );
    }

    #[test]
    fn a_slash_that_could_be_either_hides_nothing() {
        for text in [
            "a++ / db.users.drop() / 1",
            "(a) / db.users.drop() / 1",
            "if (a) /x/.test(b); db.users.drop()",
            "x = {} / 1; db.users.drop() / 1",
        ] {
            assert_eq!(words(text), ["drop-collection users"], "{text}");
        }
        for text in [
            "if (a) {} /'/.test(b); db.users.drop(); '",
            "if (a) /\"/.test(b); db.users.drop(); \"",
            &format!("x = /{}'/; db.users.drop(); '", "a".repeat(2_000)),
        ] {
            assert!(words(text).contains(&"unreadable".to_owned()), "{text}");
        }
    }

    #[test]
    fn a_filter_that_is_not_written_out_is_unreadable_too() {
        assert_eq!(
            words("db.users.deleteMany(f)"),
            ["unreadable", "delete-where users"]
        );
        assert_eq!(
            words("db.users.deleteMany({...f})"),
            ["unreadable", "delete-where users"]
        );
    }

    #[test]
    fn programs_are_seen() {
        assert_eq!(
            words("require('child_process').execSync('ls')"),
            ["unreadable", "shell-escape child_process"]
        );
        assert_eq!(words("run('ls')"), ["shell-escape"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read(pieces in prop::collection::vec(prop::sample::select(&[
            "db", ".", "x", "drop", "(", ")", "{", "}", "[", "]", "'", "\"", "`", "/", "*", "//", "\n", "\\", "deleteMany",
            ",", ":", "$or", "${", "remove", "true", "runCommand", "é", " ", "\\u", "\\x6",
        ][..]), 0..80)) {
            let text: String = pieces.concat();
            prop_assert!(script(&text).len() <= text.len() + 1);
        }

        #[test]
        fn a_call_behind_other_code_is_never_lost(
            before in prop::sample::select(&["print('a')", "var a = 1 / 2", "x = /a'b/", "use x", "// c", "`a`", "if (a) {}"][..]),
        ) {
            let found = words(&format!("{before}\ndb.users.drop()"));
            prop_assert_eq!(found, ["drop-collection users"]);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test may look at the clock")]
    fn a_long_script_of_any_shape_is_read_in_time() {
        for shape in [
            "a.find(",
            "/",
            "/[",
            "=/(",
            "'",
            "`",
            "${",
            "{",
            "a[",
            "/a",
            "db.x.remove({}",
            "\\",
            "//",
        ] {
            let text = shape.repeat(MAX_TEXT / 8 / shape.len());
            let start = std::time::Instant::now();
            script(&text);
            assert!(
                start.elapsed().as_secs() < 20,
                "{shape:?} took {:?}",
                start.elapsed()
            );
        }
    }
}
