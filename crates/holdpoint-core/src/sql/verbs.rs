//! The words statements begin with, and what is dropped by which word.

use super::StatementKind;

/// What to do with a statement that begins with a certain word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// It is of this kind.
    Is(StatementKind),
    Drop,
    Delete,
    Update,
    Merge,
    Truncate,
    Alter,
    Create,
    Insert,
    Select,
    Explain,
    /// `ANALYZE t`, or MariaDB's `ANALYZE statement`, which runs it.
    Analyze,
    Copy,
    /// `LOAD DATA`, or Postgres' `LOAD 'library'`.
    Load,
    Prepare,
    Execute,
    /// `EXEC`: a procedure, or text.
    Exec,
    /// `DO`: a block, or an expression.
    Do,
    /// `BEGIN`: a transaction, or a block.
    Begin,
    /// A word of a block; statements follow inside.
    Block,
    /// `VACUUM`, `ATTACH`: may name a file.
    Maintain,
}

/// The rule for a statement's first word.
pub(super) fn rule(word: &str) -> Option<Rule> {
    VERBS
        .iter()
        .find(|(verb, _)| word.eq_ignore_ascii_case(verb))
        .map(|(_, rule)| *rule)
}

/// Whether a statement that does something can begin with this word.
pub(super) fn is_verb(word: &str) -> bool {
    rule(word).is_some_and(|rule| rule != Rule::Block)
}

/// Whether statements may follow this word inside a block.
pub(super) fn opens(word: &str) -> bool {
    is_one_of(
        word,
        &[
            "begin", "then", "else", "loop", "atomic", "do", "declare", "as", "is",
        ],
    )
}

/// Whether `word` is one of `words`, in any case.
pub(super) fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// What `DROP word` removes.
pub(super) fn dropped(word: &str) -> StatementKind {
    DROPS
        .iter()
        .find(|(known, _)| word.eq_ignore_ascii_case(known))
        .map_or(StatementKind::DropOther, |(_, kind)| *kind)
}

/// What `DROP` can be followed by where nothing separates statements (T-SQL).
pub(super) fn is_droppable(word: &str) -> bool {
    DROPS
        .iter()
        .any(|(known, _)| word.eq_ignore_ascii_case(known))
}

const DROPS: &[(&str, StatementKind)] = &[
    ("table", StatementKind::DropTable),
    ("tables", StatementKind::DropTable),
    ("database", StatementKind::DropDatabase),
    ("keyspace", StatementKind::DropDatabase),
    ("catalog", StatementKind::DropDatabase),
    ("schema", StatementKind::DropSchema),
    ("owned", StatementKind::DropSchemaCascade),
    ("role", StatementKind::DropRole),
    ("user", StatementKind::DropRole),
    ("group", StatementKind::DropRole),
    ("login", StatementKind::DropRole),
    ("view", StatementKind::DropOther),
    ("index", StatementKind::DropOther),
    ("procedure", StatementKind::DropOther),
    ("function", StatementKind::DropOther),
    ("trigger", StatementKind::DropOther),
];

const VERBS: &[(&str, Rule)] = &[
    ("select", Rule::Select),
    ("insert", Rule::Insert),
    ("update", Rule::Update),
    ("delete", Rule::Delete),
    ("drop", Rule::Drop),
    ("create", Rule::Create),
    ("alter", Rule::Alter),
    ("truncate", Rule::Truncate),
    ("merge", Rule::Merge),
    ("replace", Rule::Insert),
    ("with", Rule::Select),
    ("explain", Rule::Explain),
    ("describe", Rule::Explain),
    ("desc", Rule::Explain),
    ("analyze", Rule::Analyze),
    ("analyse", Rule::Analyze),
    ("copy", Rule::Copy),
    ("load", Rule::Load),
    ("import", Rule::Maintain),
    ("prepare", Rule::Prepare),
    ("execute", Rule::Execute),
    ("exec", Rule::Exec),
    ("call", Rule::Exec),
    ("do", Rule::Do),
    ("begin", Rule::Begin),
    ("values", Rule::Select),
    ("table", Rule::Select),
    ("from", Rule::Select),
    ("show", Rule::Is(StatementKind::Select)),
    ("help", Rule::Is(StatementKind::Select)),
    ("fetch", Rule::Is(StatementKind::Select)),
    ("print", Rule::Is(StatementKind::Select)),
    ("perform", Rule::Select),
    ("grant", Rule::Is(StatementKind::Grant)),
    ("revoke", Rule::Is(StatementKind::Revoke)),
    ("deny", Rule::Is(StatementKind::Revoke)),
    ("start", Rule::Is(StatementKind::Transaction)),
    ("commit", Rule::Is(StatementKind::Transaction)),
    ("end", Rule::Is(StatementKind::Transaction)),
    ("rollback", Rule::Is(StatementKind::Transaction)),
    ("abort", Rule::Is(StatementKind::Transaction)),
    ("savepoint", Rule::Is(StatementKind::Transaction)),
    ("save", Rule::Is(StatementKind::Transaction)),
    ("release", Rule::Is(StatementKind::Transaction)),
    ("xa", Rule::Is(StatementKind::Transaction)),
    ("rename", Rule::Is(StatementKind::Alter)),
    ("undrop", Rule::Is(StatementKind::Create)),
    ("vacuum", Rule::Maintain),
    ("attach", Rule::Maintain),
    ("detach", Rule::Maintain),
    ("backup", Rule::Maintain),
    ("restore", Rule::Maintain),
    ("bulk", Rule::Load),
    ("unload", Rule::Copy),
    ("export", Rule::Copy),
    ("set", Rule::Is(StatementKind::Admin)),
    ("reset", Rule::Is(StatementKind::Admin)),
    ("shutdown", Rule::Is(StatementKind::Admin)),
    ("restart", Rule::Is(StatementKind::Admin)),
    ("kill", Rule::Is(StatementKind::Admin)),
    ("flush", Rule::Is(StatementKind::Admin)),
    ("purge", Rule::Is(StatementKind::Admin)),
    ("stop", Rule::Is(StatementKind::Admin)),
    ("change", Rule::Is(StatementKind::Admin)),
    ("clone", Rule::Is(StatementKind::Admin)),
    ("install", Rule::Is(StatementKind::Admin)),
    ("uninstall", Rule::Is(StatementKind::Admin)),
    ("optimize", Rule::Is(StatementKind::Admin)),
    ("repair", Rule::Is(StatementKind::Admin)),
    ("check", Rule::Is(StatementKind::Admin)),
    ("checksum", Rule::Is(StatementKind::Admin)),
    ("cache", Rule::Is(StatementKind::Admin)),
    ("binlog", Rule::Is(StatementKind::Admin)),
    ("lock", Rule::Is(StatementKind::Admin)),
    ("unlock", Rule::Is(StatementKind::Admin)),
    ("reindex", Rule::Is(StatementKind::Admin)),
    ("cluster", Rule::Is(StatementKind::Admin)),
    ("checkpoint", Rule::Is(StatementKind::Admin)),
    ("discard", Rule::Is(StatementKind::Admin)),
    ("reassign", Rule::Is(StatementKind::Admin)),
    ("refresh", Rule::Is(StatementKind::Admin)),
    ("security", Rule::Is(StatementKind::Admin)),
    ("pragma", Rule::Is(StatementKind::Admin)),
    ("system", Rule::Is(StatementKind::Admin)),
    ("reconfigure", Rule::Is(StatementKind::Admin)),
    ("dbcc", Rule::Is(StatementKind::Admin)),
    ("use", Rule::Is(StatementKind::Other)),
    ("comment", Rule::Is(StatementKind::Other)),
    ("deallocate", Rule::Is(StatementKind::Other)),
    ("close", Rule::Is(StatementKind::Other)),
    ("open", Rule::Is(StatementKind::Other)),
    ("move", Rule::Is(StatementKind::Other)),
    ("listen", Rule::Is(StatementKind::Other)),
    ("unlisten", Rule::Is(StatementKind::Other)),
    ("notify", Rule::Is(StatementKind::Other)),
    ("handler", Rule::Is(StatementKind::Other)),
    ("signal", Rule::Is(StatementKind::Other)),
    ("resignal", Rule::Is(StatementKind::Other)),
    ("raise", Rule::Is(StatementKind::Other)),
    ("raiserror", Rule::Is(StatementKind::Other)),
    ("throw", Rule::Is(StatementKind::Other)),
    ("leave", Rule::Is(StatementKind::Other)),
    ("iterate", Rule::Is(StatementKind::Other)),
    ("exit", Rule::Is(StatementKind::Other)),
    ("quit", Rule::Is(StatementKind::Other)),
    ("continue", Rule::Is(StatementKind::Other)),
    ("null", Rule::Is(StatementKind::Other)),
    ("go", Rule::Is(StatementKind::Other)),
    ("return", Rule::Block),
    ("declare", Rule::Block),
    ("if", Rule::Block),
    ("elsif", Rule::Block),
    ("elseif", Rule::Block),
    ("else", Rule::Block),
    ("case", Rule::Block),
    ("when", Rule::Block),
    ("while", Rule::Block),
    ("for", Rule::Block),
    ("foreach", Rule::Block),
    ("loop", Rule::Block),
    ("repeat", Rule::Block),
    ("until", Rule::Block),
    ("exception", Rule::Block),
    ("then", Rule::Block),
    ("as", Rule::Block),
    ("is", Rule::Block),
];
