//! The syntax tree of a bash text.
//!
//! It keeps what a later stage needs to expand words and follow values: how each piece was
//! quoted, which characters are live for globbing and braces, and every piece of code at any
//! depth already parsed. Spans are bytes of the text handed to [`read`](super::read), also
//! for what stands inside backquotes or here-documents. Nothing here is expanded or judged.

use std::ops::Range;

/// Bytes of the text that was read.
pub type Span = Range<usize>;

/// A list of commands with a lexical scope of its own: a whole text, or the inside of a
/// substitution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The commands, in order.
    pub items: Vec<Item>,
    /// The here-documents announced anywhere in `items`, by the number their redirect holds.
    pub here_documents: Vec<HereDocument>,
    /// Where it stands.
    pub span: Span,
}

/// One pipeline of a list and what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What runs.
    pub pipeline: Pipeline,
    /// What separates it from the next item.
    pub connector: Connector,
}

/// What stands after a pipeline in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Connector {
    /// `;`, a new line or the end: the next item runs afterwards.
    Sequence,
    /// `&`: this item runs in the background.
    Background,
    /// `&&`.
    And,
    /// `||`.
    Or,
}

/// Commands joined by `|`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// An odd number of `!` stands in front.
    pub negated: bool,
    /// The reserved word `time` stands in front.
    pub timed: bool,
    /// The commands; empty for a bare `!` or `time`.
    pub commands: Vec<CommandNode>,
}

/// A command and the redirects of the whole of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandNode {
    /// What kind of command.
    pub kind: CommandKind,
    /// Redirects; those of a simple command are here too.
    pub redirects: Vec<Redirect>,
    /// Where it stands.
    pub span: Span,
}

/// What a command is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandKind {
    /// `A=1 program words`.
    Simple(Simple),
    /// `( … )`.
    Subshell(Vec<Item>),
    /// `{ …; }`.
    Group(Vec<Item>),
    /// `if … then … elif … else … fi`.
    If {
        /// Condition and body of `if` and each `elif`.
        branches: Vec<(Vec<Item>, Vec<Item>)>,
        /// The body of `else`.
        otherwise: Option<Vec<Item>>,
    },
    /// `while` or `until`.
    Loop {
        /// `until` rather than `while`.
        until: bool,
        /// The condition.
        condition: Vec<Item>,
        /// The body.
        body: Vec<Item>,
    },
    /// `for name in words` or `select name in words`.
    Each {
        /// `select` rather than `for`.
        select: bool,
        /// The variable.
        name: String,
        /// The words; `None` means the positional parameters.
        words: Option<Vec<Word>>,
        /// The body.
        body: Vec<Item>,
    },
    /// `for (( ; ; ))`.
    ForArithmetic {
        /// The three expressions as one.
        header: Arithmetic,
        /// The body.
        body: Vec<Item>,
    },
    /// `case word in … esac`.
    Case {
        /// The word.
        subject: Word,
        /// The clauses.
        clauses: Vec<Clause>,
    },
    /// `[[ … ]]`.
    Condition(Vec<ConditionToken>),
    /// `(( … ))`.
    Arithmetic(Arithmetic),
    /// A function definition.
    Function {
        /// Its name, unexpanded.
        name: Word,
        /// Its body.
        body: Box<CommandNode>,
    },
    /// `coproc`.
    Coproc {
        /// The name, where given.
        name: Option<String>,
        /// What runs.
        body: Box<CommandNode>,
        /// It stands in a substitution, whose code bash 5.2 writes anew before it runs it: what
        /// it writes for this one is another command.
        rewritten: bool,
    },
}

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    /// The assignments in front.
    pub assignments: Vec<AssignmentNode>,
    /// Program and arguments.
    pub words: Vec<Word>,
}

/// `name=value`, `name[subscript]+=value`, `name=(…)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssignmentNode {
    /// The variable.
    pub name: String,
    /// What stands between the brackets.
    pub subscript: Option<Vec<Part>>,
    /// `+=`.
    pub append: bool,
    /// The value; an array is a single [`Part::Array`].
    pub value: Word,
    /// Where it stands.
    pub span: Span,
}

/// One clause of `case`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause {
    /// The patterns.
    pub patterns: Vec<Word>,
    /// The body.
    pub body: Vec<Item>,
}

/// A piece of `[[ … ]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionToken {
    /// An operand, or an operator spelled as a word (`-f`, `==`, `!`).
    Word(Word),
    /// `&&`, `||`, `(`, `)`, `<` or `>`.
    Operator(&'static str),
}

/// A redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The descriptor in front, digits or the name between braces.
    pub descriptor: Option<String>,
    /// What it does.
    pub kind: RedirectKind,
    /// Its target; for a here-document, the delimiter.
    pub target: Word,
    /// Where it stands.
    pub span: Span,
}

/// What a redirect does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `>|`
    Clobber,
    /// `<&`
    DuplicateInput,
    /// `>&`
    DuplicateOutput,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<<`
    HereString,
    /// `<<` or `<<-`, with the number of the document in its script.
    HereDocument(usize),
}

/// The body of a here-document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HereDocument {
    /// The delimiter was quoted, so that the body is plain data.
    pub quoted: bool,
    /// The body: one literal when quoted, otherwise text and expansions.
    pub parts: Vec<Part>,
    /// Where the body stands.
    pub span: Span,
}

/// A word: pieces written without a blank between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The pieces.
    pub parts: Vec<Part>,
    /// Where it stands.
    pub span: Span,
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text after removal of backslashes.
    Literal {
        /// The text.
        text: String,
        /// It was escaped, or stands inside double quotes.
        quoted: bool,
    },
    /// `'…'`.
    SingleQuoted(String),
    /// `$'…'`, decoded.
    AnsiQuoted(String),
    /// `"…"`.
    DoubleQuoted(Vec<Part>),
    /// `$"…"`.
    Localized(Vec<Part>),
    /// `$x`, `${x…}`.
    Parameter(Parameter),
    /// `$(…)` or `` `…` ``.
    Command(Substitution),
    /// `<(…)` or `>(…)`.
    Process(Substitution),
    /// `$((…))` or `$[…]`.
    Arithmetic(Arithmetic),
    /// An unquoted `*`, `?` or `[`.
    Glob(char),
    /// An unquoted `{`, or a `,` or `}` after one.
    Brace(char),
    /// `@(…|…)` and its like, live only where `extglob` is on.
    Extended(Vec<Part>),
    /// `~` or `~user` where it would be expanded.
    Tilde(String),
    /// `(…)` after the `=` of an assignment.
    Array(Vec<Word>),
}

/// A parameter expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// The parameter, without `!` or `#` in front.
    pub name: String,
    /// `!` for indirection, `#` for length.
    pub prefix: Option<char>,
    /// What follows the name between the braces, as written.
    pub operator: String,
    /// The same, read: substitutions inside are code.
    pub parts: Vec<Part>,
    /// Where it stands.
    pub span: Span,
}

/// Code whose output or channel becomes part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution {
    /// The code.
    pub script: Script,
    /// Where it stands, with its delimiters.
    pub span: Span,
}

/// An arithmetic expression. Its text is not parsed, the expansions inside are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arithmetic {
    /// Text and expansions.
    pub parts: Vec<Part>,
    /// Where it stands, with its delimiters.
    pub span: Span,
}

impl Word {
    /// The text, if the word is one piece without quotes, escapes or live characters.
    #[must_use]
    pub fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [
                Part::Literal {
                    text,
                    quoted: false,
                },
            ] => Some(text),
            _ => None,
        }
    }
}
