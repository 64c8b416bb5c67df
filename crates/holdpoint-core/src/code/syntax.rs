//! How the languages differ for the tokenizer and the walker, as data.

use super::Language;

/// The signs and words of a language that the reading needs to know.
pub(super) struct Syntax {
    pub(super) language: Language,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    /// What begins a variable: `$` in PHP, also `@` and `%` in Perl.
    pub(super) sigils: &'static [u8],
    /// `/…/` is a regular expression where no operand stands in front.
    pub(super) regex: bool,
    /// What joins texts.
    pub(super) concat: &'static [&'static str],
    /// Texts next to each other are one.
    pub(super) adjacent: bool,
    /// What stands between an object and its member.
    pub(super) member: &'static [&'static str],
    /// A call needs no parentheses.
    pub(super) bare_calls: bool,
    /// Words in front of an operand that add nothing to it.
    pub(super) prefixes: &'static [&'static str],
    /// Words between operands, or words that begin a statement.
    pub(super) operators: &'static [&'static str],
    /// Reserved words after which an operand begins, so that a slash opens a regular expression.
    /// A word that could also be a variable is not among them. For Perl: its functions.
    pub(super) takes_operand: &'static [&'static str],
    /// A new line ends a statement unless an operator follows.
    pub(super) lines: Lines,
}

/// What a new line means between statements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// It ends a statement.
    End,
    /// It ends one unless the next line begins with what continues it.
    EndUnlessContinued,
    /// It is a blank.
    Blank,
}

impl Syntax {
    pub(super) fn for_language(language: Language) -> &'static Syntax {
        match language {
            Language::Python => &PYTHON,
            Language::JavaScript => &JAVASCRIPT,
            Language::Ruby => &RUBY,
            Language::Perl => &PERL,
            Language::Php => &PHP,
            Language::Lua => &LUA,
            // Vim has no expressions that need trees; it borrows nothing but a place here.
            Language::Awk | Language::Vim | Language::PowerShell => &AWK,
        }
    }

    pub(super) fn is(&self, language: Language) -> bool {
        self.language == language
    }
}

static PYTHON: Syntax = Syntax {
    language: Language::Python,
    line_comments: &["#"],
    block_comments: &[],
    sigils: &[],
    regex: false,
    concat: &["+"],
    adjacent: true,
    member: &["."],
    bare_calls: false,
    prefixes: &[
        "return", "yield", "await", "not", "del", "raise", "assert", "with", "async", "elif", "if",
        "while", "case", "match",
    ],
    operators: &["and", "or", "in", "is", "else", "as", "if", "for"],
    takes_operand: &[],
    lines: Lines::End,
};

static JAVASCRIPT: Syntax = Syntax {
    language: Language::JavaScript,
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    sigils: &[],
    regex: true,
    concat: &["+"],
    adjacent: false,
    member: &[".", "?."],
    bare_calls: false,
    prefixes: &[
        "return", "yield", "await", "new", "typeof", "void", "delete", "throw", "const", "let",
        "var", "export", "default", "async", "static", "else", "case", "do",
    ],
    operators: &["instanceof", "in", "of", "as"],
    takes_operand: &[
        "return",
        "typeof",
        "void",
        "delete",
        "throw",
        "case",
        "do",
        "else",
        "in",
        "instanceof",
        "new",
    ],
    lines: Lines::EndUnlessContinued,
};

static RUBY: Syntax = Syntax {
    language: Language::Ruby,
    line_comments: &["#"],
    block_comments: &[],
    sigils: b"$@",
    regex: true,
    concat: &["+"],
    adjacent: true,
    member: &[".", "&.", "::"],
    bare_calls: true,
    prefixes: &[
        "return", "yield", "not", "if", "unless", "while", "until", "elsif", "else", "begin", "do",
        "then", "end", "when", "case", "and", "or", "ensure", "rescue", "in", "for",
    ],
    operators: &[
        "if", "unless", "while", "until", "and", "or", "do", "then", "end", "else", "rescue", "in",
        "elsif", "when", "ensure",
    ],
    takes_operand: &[
        "return", "yield", "not", "if", "unless", "while", "until", "elsif", "else", "begin", "do",
        "then", "when", "case", "and", "or", "ensure", "rescue", "in",
    ],
    lines: Lines::EndUnlessContinued,
};

static PERL: Syntax = Syntax {
    language: Language::Perl,
    line_comments: &["#"],
    block_comments: &[],
    sigils: b"$@%",
    regex: true,
    concat: &["."],
    adjacent: false,
    member: &["->", "::"],
    bare_calls: true,
    prefixes: &[
        "return", "my", "our", "local", "state", "not", "if", "unless", "while", "until", "elsif",
        "else", "do", "and", "or", "for", "foreach", "defined", "scalar", "xor", "use", "no",
    ],
    operators: &[
        "if", "unless", "while", "until", "for", "foreach", "and", "or", "xor", "eq", "ne", "lt",
        "gt", "le", "ge", "cmp", "x", "isa",
    ],
    takes_operand: &[
        "split", "grep", "map", "join", "if", "unless", "elsif", "and", "or", "not", "while",
        "until", "return", "push", "unshift", "xor", "lt", "gt", "le", "ge", "eq", "ne", "cmp",
        "print", "die", "warn", "when", "first", "any", "all",
    ],
    lines: Lines::Blank,
};

static PHP: Syntax = Syntax {
    language: Language::Php,
    line_comments: &["#", "//"],
    block_comments: &[("/*", "*/")],
    sigils: b"$",
    regex: false,
    concat: &["."],
    adjacent: false,
    member: &["->", "?->", "::"],
    bare_calls: false,
    prefixes: &[
        "return",
        "yield",
        "echo",
        "print",
        "new",
        "throw",
        "static",
        "global",
        "public",
        "private",
        "protected",
        "else",
        "case",
        "do",
        "clone",
        "const",
        "readonly",
    ],
    operators: &["instanceof", "and", "or", "xor", "as", "insteadof"],
    takes_operand: &[],
    lines: Lines::Blank,
};

static LUA: Syntax = Syntax {
    language: Language::Lua,
    line_comments: &["--"],
    block_comments: &[],
    sigils: &[],
    regex: false,
    concat: &[".."],
    adjacent: false,
    member: &[".", ":"],
    bare_calls: false,
    prefixes: &[
        "return", "local", "not", "if", "then", "else", "elseif", "do", "while", "repeat", "until",
        "end", "for",
    ],
    operators: &[
        "and", "or", "then", "do", "in", "end", "else", "elseif", "until",
    ],
    takes_operand: &[],
    lines: Lines::Blank,
};

static AWK: Syntax = Syntax {
    language: Language::Awk,
    line_comments: &["#"],
    block_comments: &[],
    sigils: &[],
    regex: true,
    concat: &[],
    adjacent: true,
    member: &[],
    bare_calls: false,
    prefixes: &[],
    operators: &[
        "in", "getline", "print", "printf", "return", "if", "while", "else", "do",
    ],
    takes_operand: &["print", "printf", "return", "in", "else", "do"],
    lines: Lines::End,
};
