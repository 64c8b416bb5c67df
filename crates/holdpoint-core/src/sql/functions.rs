//! Functions that reach out of the database, whichever statement calls them.

use super::StatementKind;

/// What a call of a function does with its first literal argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Reads the file it names.
    Reads,
    /// Writes the file it names.
    Writes,
    /// Runs it as a command.
    Runs,
    /// Loads the library it names.
    Loads,
    /// Runs it as SQL.
    Sql,
    /// Changes the server, whatever the argument.
    Admin,
}

impl Reach {
    /// The kind of statement a call amounts to.
    pub(super) fn kind(self) -> StatementKind {
        match self {
            Reach::Reads => StatementKind::LoadFile,
            Reach::Writes => StatementKind::IntoOutfile,
            Reach::Runs | Reach::Loads => StatementKind::ShellEscape,
            Reach::Sql => StatementKind::Unreadable,
            Reach::Admin => StatementKind::Admin,
        }
    }
}

/// What calling `name` reaches.
pub(super) fn reach(name: &str) -> Option<Reach> {
    FUNCTIONS
        .iter()
        .find(|(known, _)| name.eq_ignore_ascii_case(known))
        .map(|(_, reach)| *reach)
}

const FUNCTIONS: &[(&str, Reach)] = &[
    ("load_file", Reach::Reads),
    ("pg_read_file", Reach::Reads),
    ("pg_read_binary_file", Reach::Reads),
    ("pg_ls_dir", Reach::Reads),
    ("pg_stat_file", Reach::Reads),
    ("lo_import", Reach::Reads),
    ("readfile", Reach::Reads),
    ("openrowset", Reach::Reads),
    ("read_csv", Reach::Reads),
    ("read_csv_auto", Reach::Reads),
    ("read_parquet", Reach::Reads),
    ("read_json", Reach::Reads),
    ("read_json_auto", Reach::Reads),
    ("read_text", Reach::Reads),
    ("read_blob", Reach::Reads),
    ("lo_export", Reach::Writes),
    ("pg_file_write", Reach::Writes),
    ("pg_file_unlink", Reach::Writes),
    ("pg_file_rename", Reach::Writes),
    ("writefile", Reach::Writes),
    ("xp_cmdshell", Reach::Runs),
    ("sys_exec", Reach::Runs),
    ("sys_eval", Reach::Runs),
    ("executable", Reach::Runs),
    ("edit", Reach::Loads),
    ("load_extension", Reach::Loads),
    ("sp_executesql", Reach::Sql),
    ("dblink", Reach::Sql),
    ("dblink_exec", Reach::Sql),
    ("query_to_xml", Reach::Sql),
    ("query_to_xml_and_xmlschema", Reach::Sql),
    ("query_to_xmlschema", Reach::Sql),
    ("cursor_to_xml", Reach::Sql),
    ("pg_terminate_backend", Reach::Admin),
    ("pg_cancel_backend", Reach::Admin),
    ("pg_reload_conf", Reach::Admin),
    ("pg_rotate_logfile", Reach::Admin),
    ("pg_promote", Reach::Admin),
    ("pg_switch_wal", Reach::Admin),
    ("pg_drop_replication_slot", Reach::Admin),
    ("lo_unlink", Reach::Admin),
    ("set_config", Reach::Admin),
    ("setval", Reach::Admin),
];
