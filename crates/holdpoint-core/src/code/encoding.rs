//! Whether code says that its bytes are not what they look like: by an encoding it names, or a filter it is put through.
//!
//! All code is read as UTF-8. An interpreter told of another encoding runs other text than that: in UTF-7 or rot13, what
//! stands in a comment is a statement.

use super::Language;

/// Encodings in which ASCII is ASCII, and nothing else than a letter is made of the rest.
const AS_READ: &[&str] = &[
    "ascii",
    "iso-8859-1",
    "iso-latin-1",
    "latin-1",
    "latin1",
    "us-ascii",
    "utf-8",
    "utf8",
];
/// The same, where there is nothing but ASCII.
const AS_READ_IN_ASCII: &[&str] = &["cp1252", "windows-1252"];
/// What editors say of line endings behind an encoding's name; both languages drop it.
const LINE_ENDINGS: &[&str] = &["-dos", "-mac", "-sig", "-unix"];
/// Modules of Perl that change the code below them before it is read; with colons, all below a name.
const FILTERS: &[&str] = &["encoding", "Filter::", "Acme::", "Switch"];

/// Whether an interpreter reads other text than stands here.
pub(super) fn is_other(language: Language, code: &str) -> bool {
    match language {
        Language::Python | Language::Ruby => has_other_comment(language, code),
        Language::Perl => code.lines().any(uses_filter),
        Language::Php => declares_other(code),
        Language::JavaScript
        | Language::Awk
        | Language::Vim
        | Language::Lua
        | Language::PowerShell => false,
    }
}

/// Whether the first two lines, by which interpreters find an encoding, name another in a comment.
fn has_other_comment(language: Language, code: &str) -> bool {
    code.split('\n').take(2).any(|line| {
        // A carriage return ends a line for some of their readers, and not for others.
        line.split('\r')
            .skip_while(|part| {
                let part = part.trim_start_matches([' ', '\t', '\u{c}', '\u{feff}']);
                !part.starts_with('#')
            })
            .any(|part| names_other(language, &part.to_ascii_lowercase(), code.is_ascii()))
    })
}

/// Whether a comment, in small letters, has a `coding:` or `coding=` of another encoding.
fn names_other(language: Language, comment: &str, in_ascii: bool) -> bool {
    comment.split("coding").skip(1).any(|behind| {
        let behind = match language == Language::Ruby {
            true => behind.trim_start(),
            false => behind,
        };
        let Some(named) = behind.strip_prefix([':', '=']) else {
            return false;
        };
        let named = named.trim_start_matches([' ', '\t']);
        // Taken apart at `coding`, a name may be cut off there: it is none of those that are known.
        let end = named
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_.".contains(letter)))
            .unwrap_or(named.len());
        let name = named.get(..end).unwrap_or_default();
        let binary = language == Language::Ruby && matches!(name, "ascii-8bit" | "binary");
        !name.is_empty() && !binary && !is_as_read(name, in_ascii)
    })
}

fn is_as_read(name: &str, in_ascii: bool) -> bool {
    let name = name.replace('_', "-");
    let name = LINE_ENDINGS
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    AS_READ.contains(&name) || (in_ascii && AS_READ_IN_ASCII.contains(&name))
}

/// Whether a line of Perl uses a module that changes what comes below it.
fn uses_filter(line: &str) -> bool {
    if line.trim_start().starts_with('#') {
        return false;
    }
    let mut words = line.split(|letter: char| letter.is_whitespace() || ";{}".contains(letter));
    while let Some(word) = words.next() {
        if word != "use" {
            continue;
        }
        let module = words.find(|word| !word.is_empty()).unwrap_or_default();
        let is_filter = FILTERS.iter().any(|filter| match filter.ends_with(':') {
            true => module.starts_with(filter),
            false => module == *filter,
        });
        if is_filter {
            return true;
        }
    }
    false
}

/// Whether PHP declares another encoding.
fn declares_other(code: &str) -> bool {
    let code_small = code.to_ascii_lowercase();
    code_small.split("declare").skip(1).any(|behind| {
        let Some(inside) = behind.trim_start().strip_prefix('(') else {
            return false;
        };
        let inside = inside.split(')').next().unwrap_or_default();
        let Some((_, value)) = inside.split_once("encoding") else {
            return false;
        };
        let value =
            value.trim_matches(|letter: char| letter.is_whitespace() || "='\"".contains(letter));
        !is_as_read(value, code.is_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_another_encoding_is_told_from_code_that_is_what_it_looks_like() {
        for (language, code, other) in [
            (
                Language::Python,
                "# -*- coding: utf-7 -*-\n#+AAo-import os\n",
                true,
            ),
            (Language::Python, "# coding: rot13\n", true),
            (
                Language::Python,
                "#!/usr/bin/python3\n# vim: set fileencoding=rot_13 :\n",
                true,
            ),
            (Language::Python, "\u{feff} \t\u{c}#coding=UTF-7", true),
            (Language::Python, "x\r# coding: utf-7\n", true),
            (Language::Python, "# a\rcoding: utf-7\n", true),
            (Language::Python, "# coding: gbk\n", true),
            (Language::Python, "# coding: cp1252\n'é'\n", true),
            (Language::Python, "# coding: cp1252\n'e'\n", false),
            (Language::Python, "# -*- coding: utf-8 -*-\n", false),
            (Language::Python, "# -*- coding: UTF_8-unix -*-\n", false),
            (Language::Python, "# coding=latin-1\n", false),
            (Language::Python, "# About coding: \n", false),
            (Language::Python, "# encoding is fun\nx = 1\n", false),
            (Language::Python, "import os\n\n# coding: utf-7\n", false),
            (Language::Python, "print('# coding: utf-7')\n", false),
            (Language::Ruby, "# encoding: Shift_JIS\n", true),
            (Language::Ruby, "#!/usr/bin/ruby\n# Coding : euc-jp\n", true),
            (Language::Ruby, "# encoding: ASCII-8BIT\n", false),
            (Language::Ruby, "# frozen_string_literal: true\n", false),
            (
                Language::Perl,
                "use strict;\n1;use encoding 'utf-7';\n",
                true,
            ),
            (Language::Perl, "use Filter::Simple;\n", true),
            (Language::Perl, "BEGIN{use  Acme::Bleach;}\n", true),
            (
                Language::Perl,
                "use utf8;\nuse strict;\n# use encoding\n",
                false,
            ),
            (Language::Perl, "use Encode;\n", false),
            (Language::Php, "<?php DECLARE (encoding='UTF-7');\n", true),
            (Language::Php, "<?php declare(encoding='UTF-8');\n", false),
            (Language::Php, "<?php declare(strict_types=1);\n", false),
            (Language::JavaScript, "// coding: utf-7\n", false),
        ] {
            assert_eq!(is_other(language, code), other, "{code:?}");
        }
    }
}
