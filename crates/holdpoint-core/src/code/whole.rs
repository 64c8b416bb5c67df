//! Whether some Python was read to the end: everything it names is known to do nothing, or is what the reading reports.
//!
//! The other way round from the rest of the reading, which looks for what does harm: here all that is not on a list fails.
//! Names of a module are allowed one by one, since modules hold others (`json.codecs.open`); so are members of everything
//! else, unless the code itself gives them to its own objects. Builtins by which code is made, or members found by a text, end
//! it, and so does a name with two underscores that is not harmless. It says nothing of places: `open` and its like are
//! effects of the reading, with a path that is known or not.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Kind, Piece, Tree};

/// Modules and which of their names do nothing, or are in the table of calls. A star is every name of a module without others in it.
const MODULES: &[(&str, &str)] = &[
    ("abc", "ABC abstractmethod"),
    (
        "argparse",
        "ArgumentParser Namespace ArgumentDefaultsHelpFormatter RawDescriptionHelpFormatter",
    ),
    ("array", "array"),
    ("ast", "literal_eval parse dump walk"),
    (
        "base64",
        "b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode b16encode b16decode b85encode b85decode",
    ),
    ("binascii", "hexlify unhexlify crc32"),
    (
        "bisect",
        "bisect bisect_left bisect_right insort insort_left insort_right",
    ),
    (
        "calendar",
        "monthrange month_name day_name month_abbr day_abbr isleap timegm",
    ),
    (
        "collections",
        "Counter defaultdict OrderedDict deque namedtuple ChainMap",
    ),
    ("contextlib", "contextmanager suppress nullcontext"),
    ("copy", "copy deepcopy"),
    (
        "csv",
        "reader writer DictReader DictWriter QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Sniffer field_size_limit",
    ),
    (
        "dataclasses",
        "dataclass field fields asdict astuple replace",
    ),
    ("datetime", "datetime date time timedelta timezone UTC"),
    (
        "decimal",
        "Decimal getcontext ROUND_HALF_UP ROUND_HALF_EVEN ROUND_DOWN ROUND_UP",
    ),
    (
        "difflib",
        "unified_diff context_diff ndiff SequenceMatcher get_close_matches",
    ),
    ("enum", "Enum IntEnum Flag IntFlag StrEnum auto unique"),
    ("fnmatch", "fnmatch filter fnmatchcase"),
    ("fractions", "Fraction"),
    (
        "functools",
        "reduce partial lru_cache cache wraps total_ordering cmp_to_key cached_property",
    ),
    ("glob", "glob iglob escape"),
    (
        "hashlib",
        "md5 sha1 sha224 sha256 sha384 sha512 sha3_256 sha3_512 blake2b blake2s new",
    ),
    (
        "heapq",
        "heappush heappop heapify heappushpop heapreplace nlargest nsmallest merge",
    ),
    ("html", "escape unescape"),
    ("io", "StringIO BytesIO"),
    ("itertools", "*"),
    ("json", "load loads dump dumps JSONDecodeError"),
    ("keyword", "iskeyword kwlist"),
    ("math", "*"),
    (
        "operator",
        "itemgetter add sub mul truediv floordiv mod neg eq ne lt le gt ge and_ or_ xor not_ contains countOf concat getitem",
    ),
    (
        "os",
        "path getcwd listdir scandir walk stat sep linesep name getpid cpu_count makedirs mkdir remove unlink rmdir rename replace",
    ),
    (
        "os.path",
        "exists isfile isdir islink join basename dirname splitext getsize getmtime getctime abspath realpath normpath relpath split commonpath commonprefix isabs expanduser sep",
    ),
    (
        "platform",
        "system machine python_version release platform node processor",
    ),
    ("pickle", "dump dumps HIGHEST_PROTOCOL"),
    ("pprint", "pprint pformat pp"),
    (
        "random",
        "random randint choice choices sample shuffle seed uniform gauss randrange normalvariate expovariate betavariate getrandbits triangular",
    ),
    (
        "re",
        "compile match search findall finditer sub subn split fullmatch escape I IGNORECASE M MULTILINE S DOTALL X VERBOSE A ASCII Pattern Match error",
    ),
    (
        "secrets",
        "token_hex token_urlsafe token_bytes choice randbelow",
    ),
    (
        "statistics",
        "mean fmean median mode stdev variance pstdev pvariance quantiles geometric_mean harmonic_mean median_low median_high multimode correlation linear_regression",
    ),
    (
        "string",
        "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation printable whitespace capwords Template",
    ),
    (
        "struct",
        "pack unpack calcsize pack_into unpack_from iter_unpack Struct error",
    ),
    (
        "sys",
        "argv executable exit stdin stdout stderr version version_info platform maxsize byteorder getsizeof float_info getrecursionlimit setrecursionlimit maxunicode",
    ),
    // With words that say nothing of the place alone: see `stays_temporary`.
    (
        "tempfile",
        "NamedTemporaryFile TemporaryDirectory TemporaryFile mkdtemp gettempdir",
    ),
    ("textwrap", "dedent wrap fill indent shorten"),
    ("time", "*"),
    ("tomllib", "load loads TOMLDecodeError"),
    ("traceback", "print_exc format_exc"),
    ("types", "SimpleNamespace"),
    (
        "typing",
        "Any Callable Dict FrozenSet Generator Generic Iterable Iterator List Literal Mapping NamedTuple Optional Sequence Set Tuple Type TypeVar TypedDict Union cast overload Protocol Final ClassVar",
    ),
    ("unicodedata", "*"),
    (
        "urllib.parse",
        "urlparse urlunparse urljoin urlsplit quote quote_plus unquote unquote_plus urlencode parse_qs parse_qsl",
    ),
    (
        "uuid",
        "uuid1 uuid3 uuid4 uuid5 UUID NAMESPACE_DNS NAMESPACE_URL",
    ),
    ("warnings", "filterwarnings simplefilter warn"),
    ("zlib", "compress decompress crc32 adler32"),
];

/// Members of the values such code has: of texts, numbers, lists, maps, sets, files that are open, dates, matches.
const MEMBERS: &str = "\
    capitalize casefold center count decode encode endswith expandtabs find hex fromhex index isalnum isalpha \
    isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip maketrans \
    partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase \
    title translate upper zfill \
    append clear copy extend insert pop popleft appendleft extendleft remove reverse rotate sort \
    fromkeys get items keys popitem setdefault update values most_common elements total move_to_end \
    add difference difference_update discard intersection intersection_update isdisjoint issubset issuperset symmetric_difference union \
    as_integer_ratio bit_count bit_length conjugate imag is_integer numerator denominator real to_bytes from_bytes quantize \
    read readline readlines readable seek tell truncate writable write writelines flush close closed getvalue name mode encoding buffer \
    group groups groupdict start end span pos endpos lastindex lastgroup string pattern flags match search findall finditer sub subn fullmatch \
    year month day hour minute second microsecond tzinfo days seconds microseconds total_seconds now today utcnow fromtimestamp fromisoformat \
    isoformat isocalendar isoweekday weekday strftime strptime timestamp timetuple date time astimezone utcoffset combine min max \
    digest hexdigest digest_size block_size \
    add_argument parse_args parse_known_args print_help add_mutually_exclusive_group add_subparsers add_parser set_defaults add_argument_group error \
    writerow writerows writeheader fieldnames line_num dialect ratio get_matching_blocks get_opcodes real_quick_ratio quick_ratio set_seq1 set_seq2 \
    st_size st_mtime st_mode st_ctime st_atime is_file is_dir path args errno strerror filename msg lineno colno doc code reason value \
    int bytes fields urn scheme netloc query params fragment hostname port username geturl _asdict _replace _fields _make \
    major minor micro releaselevel serial epsilon dig";

/// Builtins and statements by which code is made or members are found by a text.
const MAKING: &[&str] = &[
    "exec",
    "eval",
    "compile",
    "__import__",
    "getattr",
    "setattr",
    "delattr",
    "globals",
    "locals",
    "vars",
    "breakpoint",
    "help",
    "input",
    "exit",
    "quit",
    "copyright",
    "credits",
    "license",
    "memoryview",
    "dir",
];

/// Names with two underscores that code may use or give: none of them leads to what is behind.
const PLAIN_DUNDERS: &[&str] = &[
    "__name__",
    "__main__",
    "__doc__",
    "__init__",
    "__str__",
    "__repr__",
    "__len__",
    "__iter__",
    "__next__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__hash__",
    "__enter__",
    "__exit__",
    "__call__",
    "__getitem__",
    "__setitem__",
    "__delitem__",
    "__contains__",
    "__post_init__",
    "__add__",
    "__radd__",
    "__sub__",
    "__mul__",
    "__rmul__",
    "__truediv__",
    "__floordiv__",
    "__mod__",
    "__neg__",
    "__bool__",
    "__int__",
    "__float__",
    "__format__",
    "__slots__",
    "__all__",
    "__version__",
    "__author__",
];

/// Classes a class of the code may come from besides its own.
const BASES: &[&str] = &[
    "object",
    "Exception",
    "ValueError",
    "RuntimeError",
    "KeyError",
    "TypeError",
    "LookupError",
    "ABC",
    "Enum",
    "IntEnum",
    "StrEnum",
    "NamedTuple",
    "TypedDict",
    "Protocol",
    "dict",
    "list",
    "str",
    "int",
    "tuple",
    "set",
];

/// The modules the code loads, by their first names, if it was read to the end.
pub(super) fn modules(trees: &[Tree<'_>]) -> Option<Vec<String>> {
    let mut whole = Whole::default();
    whole.note_names(trees);
    whole.pass(trees, Lines::Statements).then(|| {
        let loaded = whole.loaded.iter();
        let first = loaded.map(|name| name.split('.').next().unwrap_or_default().to_owned());
        first.collect::<BTreeSet<_>>().into_iter().collect()
    })
}

/// What is known of the code so far.
#[derive(Default)]
struct Whole<'t> {
    /// Names of modules, as the code calls them.
    modules: BTreeMap<&'t str, String>,
    loaded: BTreeSet<String>,
    /// Classes and functions of the code, and members it gives its own objects.
    own: BTreeSet<&'t str>,
    classes: BTreeSet<&'t str>,
    /// Names that stand for objects of its own classes, and for nothing else.
    objects: BTreeSet<&'t str>,
    others: BTreeSet<&'t str>,
}

impl<'t> Whole<'t> {
    /// Notes what the code itself names, wherever it stands.
    fn note_names(&mut self, trees: &[Tree<'t>]) {
        self.note_classes(trees);
        self.note_objects(trees);
        let others = std::mem::take(&mut self.others);
        self.objects.retain(|name| !others.contains(name));
    }

    fn note_classes(&mut self, trees: &[Tree<'t>]) {
        for (at, tree) in trees.iter().enumerate() {
            let next = trees.get(at + 1).and_then(Tree::as_word);
            match tree.as_word() {
                Some("class") => self.classes.extend(next),
                Some("def") => self.own.extend(next),
                Some(_) | None => {}
            }
            each_inside(tree, &mut |inside| self.note_classes(inside));
        }
    }

    /// `name = Class(…)`, and every other way a name may come by a value.
    fn note_objects(&mut self, trees: &[Tree<'t>]) {
        for (at, tree) in trees.iter().enumerate() {
            each_inside(tree, &mut |inside| self.note_objects(inside));
            let Some(name) = tree.as_word() else {
                continue;
            };
            let given = trees.get(at + 1).is_some_and(|sign| sign.is_sign("="));
            let member = at > 0 && trees.get(at - 1).is_some_and(|sign| sign.is_sign("."));
            let called = trees
                .get(at + 3)
                .is_some_and(|group| group.group(b'(').is_some());
            let class = trees.get(at + 2).and_then(Tree::as_word);
            let ends = trees.get(at + 4).is_none_or(Tree::is_end);
            let own = called && ends && class.is_some_and(|class| self.classes.contains(class));
            let named = at > 0
                && matches!(
                    trees.get(at - 1).and_then(Tree::as_word),
                    Some(
                        "for"
                            | "as"
                            | "global"
                            | "nonlocal"
                            | "import"
                            | "lambda"
                            | "def"
                            | "class"
                    )
                );
            let walrus = trees.get(at + 1).is_some_and(|sign| sign.is_sign(":="));
            let comma = trees.get(at + 1).is_some_and(|sign| sign.is_sign(","));
            match given && !member {
                true if own => _ = self.objects.insert(name),
                true => _ = self.others.insert(name),
                // Of a list of names, any may be given something: `a, b = …`, `def f(a, b)`.
                false if named || walrus || (comma && !member) => _ = self.others.insert(name),
                false => {}
            }
        }
    }

    /// Whether everything in these trees is known.
    fn pass(&mut self, trees: &[Tree<'t>], lines: Lines) -> bool {
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            let word = tree.as_word();
            let begins = at == 0
                || trees
                    .get(at - 1)
                    .is_some_and(|one| one.is_end() || one.is_sign(":"));
            if lines == Lines::Statements && begins && rebinds_unseen(trees, at) {
                return false;
            }
            match word {
                Some("import" | "from") if begins || word == Some("import") => {
                    let Some(next) = self.load(trees, at) else {
                        return false;
                    };
                    at = next;
                    continue;
                }
                Some("class") if !self.is_plain_class(trees, at) => return false,
                Some(_) if at > 0 && trees.get(at - 1).is_some_and(|sign| sign.is_sign(".")) => {
                    if !self.is_known_member(trees, at) {
                        return false;
                    }
                }
                Some(name) if !self.is_known_name(name, trees, at) => return false,
                Some(_) | None => {}
            }
            let known = match &tree.kind {
                Kind::Word(_) | Kind::Number(_) | Kind::Sign(_) | Kind::End => true,
                Kind::Group(_, inside) => self.pass(inside, Lines::Values),
                Kind::Text(literal) => literal.pieces.iter().all(|piece| match piece {
                    Piece::Text(_) => true,
                    Piece::Hole(inside) => self.pass(inside, Lines::Values),
                }),
                Kind::Shell(_) | Kind::Words(_) | Kind::Regex(_) => false,
            };
            if !known {
                return false;
            }
            at += 1;
        }
        true
    }

    /// Reads an `import`; the place behind it, if all it loads is known.
    fn load(&mut self, trees: &[Tree<'t>], at: usize) -> Option<usize> {
        let end = trees
            .get(at..)?
            .iter()
            .position(Tree::is_end)
            .map_or(trees.len(), |length| at + length);
        let statement = trees.get(at..end)?;
        let mut words = Vec::new();
        for tree in statement {
            match &tree.kind {
                Kind::Word(word) => words.push(*word),
                Kind::Sign(sign) => words.push(*sign),
                Kind::Group(b'(', inside) => {
                    for one in inside {
                        match &one.kind {
                            Kind::Word(word) => words.push(*word),
                            Kind::Sign(sign) => words.push(*sign),
                            Kind::End => {}
                            Kind::Group(..)
                            | Kind::Number(_)
                            | Kind::Text(_)
                            | Kind::Shell(_)
                            | Kind::Words(_)
                            | Kind::Regex(_) => return None,
                        }
                    }
                }
                Kind::Group(..)
                | Kind::Number(_)
                | Kind::Text(_)
                | Kind::Shell(_)
                | Kind::Words(_)
                | Kind::Regex(_)
                | Kind::End => return None,
            }
        }
        match words.split_first()? {
            (&"from", rest) => {
                let import = rest.iter().position(|word| *word == "import")?;
                let module = rest.get(..import)?.concat();
                for part in rest.get(import + 1..)?.split(|word| *word == ",") {
                    let (name, alias) = match part {
                        [] => continue,
                        [name] => (*name, *name),
                        [name, "as", alias] => (*name, *alias),
                        _ => return None,
                    };
                    // What these are told is looked at where they are called by their own name.
                    if !allows(&module, name) || module == "tempfile" {
                        return None;
                    }
                    let full = format!("{module}.{name}");
                    if names_of(&full).is_some() {
                        self.modules.insert(alias, full);
                    }
                }
                self.loaded.insert(module);
            }
            (_, rest) => {
                for part in rest.split(|word| *word == ",") {
                    let (path, alias) = match part {
                        [path @ .., "as", alias] => (path, Some(*alias)),
                        path => (path, None),
                    };
                    let module = path.concat();
                    names_of(&module)?;
                    match alias {
                        Some(alias) => _ = self.modules.insert(alias, module.clone()),
                        // `import os.path` is `os`.
                        None => {
                            let first = path.first().copied()?;
                            names_of(first).or((path.len() > 1).then_some(""))?;
                            self.modules.insert(first, first.to_owned());
                        }
                    }
                    self.loaded.insert(module);
                }
            }
        }
        Some(end)
    }

    /// A class that comes from nothing but others of the code, or from what holds values.
    fn is_plain_class(&self, trees: &[Tree<'t>], at: usize) -> bool {
        let Some(bases) = trees.get(at + 2).and_then(|tree| tree.group(b'(')) else {
            return true;
        };
        bases.iter().all(|tree| {
            tree.is_sign(",")
                || tree
                    .as_word()
                    .is_some_and(|name| self.classes.contains(name) || BASES.contains(&name))
        })
    }

    /// A name that stands alone: none by which code is made, and no module that goes elsewhere.
    fn is_known_name(&self, name: &str, trees: &[Tree<'t>], at: usize) -> bool {
        let next = trees.get(at + 1);
        if name.starts_with("__") {
            return PLAIN_DUNDERS.contains(&name);
        }
        if self.modules.contains_key(name) {
            return next.is_some_and(|sign| sign.is_sign("."));
        }
        if name == "open" {
            return next.is_some_and(|group| group.group(b'(').is_some());
        }
        !MAKING.contains(&name)
    }

    /// A member: of a module one that is listed, of the code's own objects one of theirs, of anything else one that does
    /// nothing.
    fn is_known_member(&self, trees: &[Tree<'t>], at: usize) -> bool {
        let name = trees.get(at).and_then(Tree::as_word).unwrap_or_default();
        if name.starts_with("__") {
            return PLAIN_DUNDERS.contains(&name);
        }
        let owner = at.checked_sub(2).and_then(|before| trees.get(before));
        let first = at
            .checked_sub(3)
            .is_none_or(|before| !trees.get(before).is_some_and(|sign| sign.is_sign(".")));
        let owner = owner.and_then(Tree::as_word);
        if let Some(owner) = owner.filter(|_| first) {
            if let Some(module) = self.modules.get(owner) {
                // A module within a module goes nowhere as a value, either.
                let within = names_of(&format!("{module}.{name}")).is_some();
                let used = !within || trees.get(at + 1).is_some_and(|sign| sign.is_sign("."));
                return used
                    && !is_given(trees, at)
                    && allows(module, name)
                    && is_plain_call(module, trees, at);
            }
            let mine = self.classes.contains(owner) || self.objects.contains(owner);
            if mine && self.own.contains(name) {
                return true;
            }
        }
        // `os.path.join`
        if let Some(middle) = owner.filter(|_| !first) {
            let root = at
                .checked_sub(4)
                .and_then(|before| trees.get(before))
                .and_then(Tree::as_word);
            let module = root.and_then(|root| self.modules.get(root));
            let full = module.map(|module| format!("{module}.{middle}"));
            if let Some(full) = full.filter(|full| names_of(full).is_some()) {
                return !is_given(trees, at) && allows(&full, name);
            }
        }
        MEMBERS.split_ascii_whitespace().any(|one| one == name)
    }
}

/// What trees stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    /// Statements.
    Statements,
    /// What is within brackets or a text: values.
    Values,
}

/// Whether the statement at a place gives names values in a way the reading does not follow: `p: str = …`, `case [p]:`; or gives
/// something else the name of a function every Python has.
fn rebinds_unseen(trees: &[Tree<'_>], at: usize) -> bool {
    let Some(word) = trees.get(at).and_then(Tree::as_word) else {
        return false;
    };
    let next = trees.get(at + 1);
    let is_next = |sign: &str| next.is_some_and(|tree| tree.is_sign(sign));
    match word {
        "else" | "try" | "except" | "finally" | "lambda" => false,
        "case" => !is_given(trees, at),
        "def" | "class" => next
            .and_then(Tree::as_word)
            .is_some_and(|name| BUILTINS.contains(&name)),
        _ => is_next(":") || (BUILTINS.contains(&word) && is_given(trees, at)),
    }
}

/// Whether what stands at a place is given another value: then it is no longer what it is called.
fn is_given(trees: &[Tree<'_>], at: usize) -> bool {
    let next = trees.get(at + 1);
    let signs = [
        "=", "+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", ">>=", "<<=", "**=", ":=",
    ];
    signs
        .into_iter()
        .any(|sign| next.is_some_and(|tree| tree.is_sign(sign)))
}

/// Functions every Python has by which values are made that others are known by. Under another meaning nothing is.
const BUILTINS: &[&str] = &[
    "abs",
    "all",
    "any",
    "bool",
    "bytes",
    "chr",
    "dict",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "input",
    "int",
    "isinstance",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "open",
    "ord",
    "print",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "sorted",
    "str",
    "sum",
    "tuple",
    "type",
    "zip",
];

/// Whether a member of a module that does more than compute is called where it stands, in a way that the reading follows.
fn is_plain_call(module: &str, trees: &[Tree<'_>], at: usize) -> bool {
    module != "tempfile" || stays_temporary(trees, at)
}

/// Words of `tempfile` that say nothing of the place, and what they may be given.
const OF_TEMPORARY: &[&str] = &[
    "mode", "suffix", "prefix", "delete", "encoding", "newline", "True", "False", "None",
];

/// Whether what is called at a place makes a file where the system has its temporary ones: a name with a slash in it leads
/// elsewhere, and so does `dir`.
fn stays_temporary(trees: &[Tree<'_>], at: usize) -> bool {
    let Some(inside) = trees.get(at + 1).and_then(|group| group.group(b'(')) else {
        return false;
    };
    inside.iter().all(|tree| match &tree.kind {
        Kind::Word(word) => OF_TEMPORARY.contains(word),
        Kind::Sign(sign) => matches!(*sign, "=" | ","),
        Kind::Text(literal) => literal.pieces.iter().all(|piece| match piece {
            Piece::Text(text) => !text.contains(['/', '\\']),
            Piece::Hole(_) => false,
        }),
        Kind::End => true,
        Kind::Group(..) | Kind::Number(_) | Kind::Shell(_) | Kind::Words(_) | Kind::Regex(_) => {
            false
        }
    })
}

/// The names of a module that are allowed.
fn names_of(module: &str) -> Option<&'static str> {
    let mut all = MODULES.iter();
    all.find(|(name, _)| *name == module)
        .map(|(_, names)| *names)
}

fn allows(module: &str, name: &str) -> bool {
    let names = names_of(module).unwrap_or_default();
    let any = names == "*" && !name.starts_with('_') && name != "*";
    any || names.split(' ').any(|one| one == name)
}

/// Calls something with every list of trees in a tree.
fn each_inside<'a, 't>(tree: &'a Tree<'t>, then: &mut dyn FnMut(&'a [Tree<'t>])) {
    match &tree.kind {
        Kind::Group(_, inside) => then(inside),
        Kind::Text(literal) => {
            for piece in &literal.pieces {
                match piece {
                    Piece::Hole(inside) => then(inside),
                    Piece::Text(_) => {}
                }
            }
        }
        Kind::Word(_)
        | Kind::Number(_)
        | Kind::Sign(_)
        | Kind::End
        | Kind::Shell(_)
        | Kind::Words(_)
        | Kind::Regex(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::budget::Budget;
    use crate::code::{Language, Place, read};

    fn modules(code: &str) -> Option<Vec<String>> {
        read(
            Language::Python,
            code,
            &Place::default(),
            &Budget::default(),
        )
        .whole
    }

    #[test]
    fn what_only_computes_and_opens_files_is_read_to_the_end() {
        for code in [
            "print(1 + 2)",
            "import json, sys\nd = json.load(open('a.json'))\nprint(d['a'], file=sys.stderr)",
            "import os.path as p\nprint(p.join('a', 'b').upper())",
            "import os\nfor name in sorted(os.listdir('.')):\n    print(os.path.splitext(name)[0])",
            "from collections import Counter\nwith open('x') as f:\n    print(Counter(f.read().split()).most_common(3))",
            "import datetime\nprint(f'{datetime.datetime.now():%Y} {len([x for x in range(3)])}')",
            "def f(a, b=2):\n    return a.strip() + str(b)\nif __name__ == '__main__':\n    print(f(' x '))",
        ] {
            assert!(modules(code).is_some(), "{code}");
        }
        assert_eq!(
            modules("import json, os.path"),
            Some(vec!["json".to_owned(), "os".to_owned()])
        );
    }

    #[test]
    fn what_may_do_more_is_not() {
        for code in [
            "import os\nos.system('x')",
            "import os as o\no.system('x')",
            "from os import system\nsystem('x')",
            "from os import *\nlistdir('.')",
            "import os\nf = os\nf.system('x')",
            "import os\n[os][0].system('x')",
            "import json\njson.codecs.open('/x', 'w')",
            "import random\nrandom._os.system('x')",
            "import re\nre.enum.sys.modules['os'].system('x')",
            "print((1).__class__.__mro__)",
            "getattr(__builtins__, 'ev' + 'al')('x')",
            "eval('x')",
            "o = open\no('/x', 'w')",
            "list(map(open, ['/x']))",
            "import helper\nhelper.run()",
            "from . import helper",
            "import numpy as np\nnp.save('/x', 1)",
            "import subprocess\nlist(map(subprocess.run, [['x']]))",
            "import subprocess\nr = subprocess.run\nr(['x'])",
            "from subprocess import run\nrun(['x'])",
            "import subprocess\nsubprocess.os.system('x')",
            "import tempfile\ntempfile.NamedTemporaryFile(dir='/etc')",
            "import tempfile\ntempfile.NamedTemporaryFile(prefix='/etc/x')",
            "import tempfile\ntempfile.mkdtemp(s)",
            "import tempfile\ntempfile.tempdir = '/etc'",
            "from tempfile import mkdtemp\nmkdtemp()",
            "class A:\n    def system(self): pass\nimport os\nos.system('x')",
            "class A:\n    def f_globals(self): pass\ng = (x for x in [])\ng.gi_frame.f_globals",
            "import zipfile\nclass Z(zipfile.ZipFile): pass",
            "class A:\n    def extractall(self): pass\ndef f(z):\n    z.extractall('/')",
            "class A:\n    def system(self): pass\na = A()\na = thing\na.system('x')",
            "import sys\nsys.path.insert(0, '/tmp')",
            "import os\nprint(os.environ)",
            "print(f'{__import__(\"os\").system(1)}')",
            "import operator\noperator.attrgetter('x')",
            "x = lambda: exec",
            "@eval\ndef f(): pass",
        ] {
            assert_eq!(modules(code), None, "{code}");
        }
    }

    #[test]
    fn what_changes_under_its_name_is_not_read_to_the_end() {
        for code in [
            "import subprocess\nsubprocess.run(['ls'])",
            "def f(p):\n    p.terminate()",
            "def f(p):\n    print(p.communicate())",
            "class A:\n    def run(self):\n        self.rows.append(1)\na = A()\na.run()",
            "import os\nx = os.path\nprint(x)",
            "p = 'a'\np: str = '/etc/x'\nopen(p, 'w')",
            "p = 'a'\nmatch ['/etc/x']:\n    case [p]:\n        pass\nopen(p, 'w')",
            "def str(x):\n    return '/etc/x'\nopen(str(1), 'w')",
            "list = print\nlist(1)",
            "import os\nos.path.join = lambda *a: '/etc/x'",
            "import os\nos.getcwd = print",
            "print('{0.os}'.format(1))",
        ] {
            assert!(modules(code).is_none(), "{code}");
        }
        // Maps and slices have colons, too.
        assert!(modules("a = 1\nd = {a: 2}\nprint(d, [1, 2][a:2])\nif a: print(a)").is_some());
    }
}
