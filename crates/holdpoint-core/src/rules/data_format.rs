//! `programs.toml` and `path-classes.toml` as they are written. Only the build script reads them.

use std::collections::BTreeMap;

use serde::Deserialize;

/// `programs.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramsFile {
    /// Programs that change nothing outside themselves.
    pub(crate) read_only: Vec<String>,
    /// Programs that do nothing but print their help when asked for it.
    pub(crate) helpful: Vec<String>,
    /// Programs that send what they are given to read.
    pub(crate) senders: Vec<String>,
    /// Programs that print what they are given to read.
    pub(crate) printers: Vec<String>,
    /// Programs that print their words.
    pub(crate) sayers: Vec<String>,
    /// Shells whose language is near enough to bash's for the reader of lines.
    pub(crate) shells: Vec<String>,
    /// Programs whose words are requests.
    pub(crate) requesters: Vec<String>,
    /// Programs that print what they get from a network.
    pub(crate) fetchers: Vec<String>,
    /// Programs that copy or link a file.
    pub(crate) copiers: Vec<String>,
    /// Programs that put something there that was elsewhere before.
    pub(crate) movers: Vec<String>,
    /// Programs that take more words from a file: `gcc @file`.
    pub(crate) response_files: Vec<String>,
    /// Programs that print the names they are given as patterns.
    pub(crate) listers: Vec<String>,
    /// Programs that find names by a pattern.
    pub(crate) finders: Vec<String>,
    /// Programs that pass on some of the lines they read.
    pub(crate) passers: Vec<String>,
    /// Programs whose flags of one letter are texts for others.
    pub(crate) speakers: Vec<String>,
    /// Programs all of whose words go to somebody else, but those that say who asks.
    pub(crate) talkers: Vec<String>,
    /// Builtins that keep what they are given, and programs that are told a secret to know it.
    pub(crate) keepers: Vec<String>,
    /// Programs for which no value a variable ever had may be overlooked.
    pub(crate) destroyers: Vec<String>,
    /// Names of variables that hold secrets, wild.
    pub(crate) secret_variables: Vec<String>,
    /// Names of variables that make programs do something else than their words say, wild.
    pub(crate) steering: Vec<String>,
    /// Flags by which any program is told its settings or proves who it is.
    pub(crate) credential_flags: Vec<String>,
    /// Programs whose words are texts and names, and commands only where a table says so.
    pub(crate) data: Vec<String>,
    /// Hosts packages come from every day.
    pub(crate) usual_sources: Vec<String>,
    /// Programs that decode their input, with the flags that make them do so; none means always.
    pub(crate) decoders: BTreeMap<String, Vec<String>>,
    /// Programs that start the hooks of a repository, with the words by which they do.
    pub(crate) hooked: BTreeMap<String, Vec<String>>,
    /// Programs that print settings for the shell that runs them, with the word they do so by; none means always.
    pub(crate) set_ups: BTreeMap<String, Vec<String>>,
    /// Programs of which the same holds in some case.
    pub(crate) read_only_when: Vec<ReadOnlyEntry>,
    /// Programs policies allow by what they are for.
    pub(crate) group: Vec<GroupEntry>,
    pub(crate) program: Vec<ProgramEntry>,
    pub(crate) carrier: Vec<CarrierEntry>,
    /// Files programs load of their own accord.
    pub(crate) loads: Vec<LoadsEntry>,
    /// How files are read that are loaded so.
    pub(crate) format: Vec<FormatEntry>,
    /// Package managers, and the files that say where they get packages.
    pub(crate) sources: Vec<SourcesEntry>,
    /// What of such a file names a source.
    pub(crate) source_format: Vec<SourceFormatEntry>,
}

/// Programs of a group, in some case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupEntry {
    pub(crate) name: String,
    pub(crate) programs: Vec<String>,
    /// Its operands begin with one of these; any, if there are none.
    #[serde(default)]
    pub(crate) subcommand: Vec<String>,
    /// All of these flags are given, each one of several.
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    /// None of these flags is given.
    #[serde(default)]
    pub(crate) without: Vec<String>,
    /// Its words begin with a dash only if they are one of these flags; any flags, if there is no list.
    pub(crate) only: Option<Vec<String>>,
    /// No word of it is like one of these.
    #[serde(default)]
    pub(crate) without_words: Vec<String>,
    /// What the operands behind the subcommand must be: `names` or `refs`.
    pub(crate) operands: Option<String>,
    /// No more operands stand behind the subcommand.
    pub(crate) most_operands: Option<usize>,
}

/// Flags of some programs whose values run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CarrierEntry {
    pub(crate) programs: Vec<String>,
    /// One of these stands among the words; any, if there are none.
    #[serde(default)]
    pub(crate) subcommand: Vec<String>,
    /// Flags whose value is a command line; behind `=` stands what it begins with where it is one.
    #[serde(default)]
    pub(crate) runs: Vec<String>,
    /// Flags whose value is code it loads into itself, or a setting that runs something.
    #[serde(default)]
    pub(crate) loads: Vec<String>,
    /// Letters that take a value, and end a bundle of others.
    #[serde(default)]
    pub(crate) values: Vec<String>,
    /// It exists to run the command.
    #[serde(default)]
    pub(crate) commanding: bool,
    /// Flags whose value is SQL it hands to a database somewhere.
    #[serde(default)]
    pub(crate) statements: Vec<String>,
    /// Its operands of several words are SQL, too.
    #[serde(default)]
    pub(crate) statement_operands: bool,
}

/// The files of a project some programs load and run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadsEntry {
    pub(crate) programs: Vec<String>,
    /// Its first operand is one of these; any, if there are none.
    #[serde(default)]
    pub(crate) subcommand: Vec<String>,
    /// With any of these flags it loads nothing.
    #[serde(default)]
    pub(crate) without: Vec<String>,
    /// Operands name files, or directories with one of `index` in them.
    #[serde(default)]
    pub(crate) operand: bool,
    #[serde(default)]
    pub(crate) index: Vec<String>,
    /// Endings that may be left out.
    #[serde(default)]
    pub(crate) extensions: Vec<String>,
    /// Flags whose value names a file.
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    /// The flag whose value names a module, its directories separated by dots.
    #[serde(default)]
    pub(crate) module: Option<String>,
    /// Files it looks for by name.
    #[serde(default)]
    pub(crate) files: Vec<String>,
    /// Files these may load in turn.
    #[serde(default)]
    pub(crate) reach: Vec<String>,
    /// Only what the session remembers counts: git does not look at these files.
    #[serde(default)]
    pub(crate) remembered: bool,
    /// How a file is read whose name does not say.
    #[serde(default)]
    pub(crate) language: Option<String>,
}

/// How files of these names are read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormatEntry {
    pub(crate) reader: String,
    pub(crate) files: Vec<String>,
}

/// Where a package manager is told to get packages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourcesEntry {
    pub(crate) programs: Vec<String>,
    /// Words by which it fetches; it always does, if there are none.
    #[serde(default)]
    pub(crate) fetching: Vec<String>,
    /// Of these programs no word is needed.
    #[serde(default)]
    pub(crate) bare: Vec<String>,
    /// Files below the directory it runs in.
    pub(crate) files: Vec<String>,
    /// Those that programs write: only what the session is known to have written itself is the agent's.
    #[serde(default)]
    pub(crate) locks: Vec<String>,
}

/// What of a file names a source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceFormatEntry {
    /// Files by the end of their names.
    pub(crate) files: Vec<String>,
    /// `any`, `dependencies`, `replacements` or `repositories`; what stands behind `keys`, if nothing is said.
    #[serde(default)]
    pub(crate) form: Option<String>,
    #[serde(default)]
    pub(crate) keys: Vec<String>,
}

/// When a program changes nothing outside itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadOnlyEntry {
    pub(crate) program: String,
    /// Its first operand is one of these; any, if there are none.
    #[serde(default)]
    pub(crate) subcommand: Vec<String>,
    /// No flag begins like one of these.
    pub(crate) without: Vec<String>,
}

/// What a program does.
#[derive(Debug, Deserialize)]
pub(crate) struct ProgramEntry {
    pub(crate) names: Vec<String>,
    #[serde(default)]
    pub(crate) before: Vec<String>,
    #[serde(default)]
    pub(crate) single_dash: bool,
    #[serde(default)]
    pub(crate) dashless: bool,
    #[serde(default)]
    pub(crate) options_first: bool,
    /// Long flags that take two words, a name and a text, neither of which is a path.
    #[serde(default)]
    pub(crate) pairs: Vec<String>,
    /// Flags of a program with `single_dash` whose value may be glued to them.
    #[serde(default)]
    pub(crate) glued: Vec<String>,
    /// Flags that name the directory it goes to before it looks at its words.
    #[serde(default)]
    pub(crate) directory: Vec<String>,
    /// The same for its operands alone.
    #[serde(default)]
    pub(crate) operands_in: Vec<String>,
    #[serde(default)]
    pub(crate) remote: bool,
    /// Operands behind the address are what is sent: `name=value`, `name@file`.
    #[serde(default)]
    pub(crate) items: bool,
    /// Operands may be files of another revision: `HEAD:file`.
    #[serde(default)]
    pub(crate) revisions: bool,
    /// The first operand is what is searched for.
    #[serde(default)]
    pub(crate) searches: bool,
    /// Variables whose value is an address it goes to.
    #[serde(default)]
    pub(crate) addresses_in: Vec<String>,
    #[serde(default)]
    pub(crate) same: Vec<Vec<String>>,
    /// How it hands statements to a database.
    pub(crate) database: Option<DatabaseEntry>,
    #[serde(flatten)]
    pub(crate) roles: RolesEntry,
    #[serde(default)]
    pub(crate) case: Vec<ProgramCaseEntry>,
}

/// How a program hands statements to a database.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatabaseEntry {
    /// What the statements are written in.
    pub(crate) language: String,
    /// Flags whose value is statements.
    #[serde(default)]
    pub(crate) statements: Vec<String>,
    /// Flags whose value is a file of them.
    #[serde(default)]
    pub(crate) files: Vec<String>,
    /// Operands from this one on are statements.
    pub(crate) operands: Option<usize>,
}

/// A case of a program.
#[derive(Debug, Deserialize)]
pub(crate) struct ProgramCaseEntry {
    #[serde(default)]
    pub(crate) subcommand: Vec<String>,
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    #[serde(default)]
    pub(crate) without: Vec<String>,
    /// No more operands stand behind the subcommand.
    pub(crate) most_operands: Option<usize>,
    #[serde(flatten)]
    pub(crate) roles: RolesEntry,
}

/// What happens to a program's words.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RolesEntry {
    pub(crate) values: Vec<String>,
    pub(crate) operands: Option<String>,
    pub(crate) first: Option<String>,
    pub(crate) first_unless: Vec<String>,
    pub(crate) last: Option<String>,
    /// The path meant when no operand is given.
    pub(crate) default: Option<String>,
    pub(crate) flag_operands: BTreeMap<String, String>,
    /// Flags whose value names a file only behind `@`.
    pub(crate) at_file: Vec<String>,
    /// Flags whose value may be `name@file`, too.
    pub(crate) named_file: Vec<String>,
    /// Flags whose value is a file unless it is `name=value`.
    pub(crate) bare_file: Vec<String>,
    /// Flags whose value is sent as it stands.
    pub(crate) data: Vec<String>,
    /// It asks another machine for something by name.
    pub(crate) looks_up: bool,
    pub(crate) prefixed: BTreeMap<String, String>,
    pub(crate) recursive: Option<Recursive>,
    pub(crate) effects: Option<Vec<String>>,
    /// What the files it writes hold afterwards.
    pub(crate) leaves: Option<String>,
    /// The directory it brings files into though no word of it names them.
    pub(crate) fills: Option<String>,
    /// It writes files that are called what the addresses of its operands end in.
    pub(crate) named_by_address: Option<bool>,
    /// Endings it takes off the names of its operands to name what it writes.
    pub(crate) takes_off: Vec<String>,
}

/// When a program takes whole trees.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Recursive {
    Always(bool),
    With(Vec<String>),
}

/// `path-classes.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassesFile {
    pub(crate) class: Vec<ClassEntry>,
}

/// A class of paths by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClassEntry {
    pub(crate) name: String,
    pub(crate) paths: Vec<String>,
    #[serde(default)]
    pub(crate) except: Vec<String>,
}
