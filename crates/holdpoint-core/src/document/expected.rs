//! What a type expects, said without the words of the type system.

/// The words after "must be" for an `expecting` text. Texts that a type wrote itself
/// are used as given.
pub(super) fn plain(text: &str) -> String {
    if whole_number_range(text).is_some() {
        return "a whole number".to_owned();
    }
    let said = match text {
        "a boolean" => "true or false",
        "a string" | "a borrowed string" | "string" | "path string" => "a string",
        "a character" => "a single character",
        "a sequence" => "an array",
        "a map" => "an object",
        "f32" | "f64" => "a number",
        "unit" => "null",
        "option" => "a value or null",
        "string or map" => "a string or an object",
        "map with a single key" => "an object with one key",
        "variant identifier" | "field identifier" => "one of the accepted words",
        "any value" | "any valid JSON value" => "a value",
        other => return by_shape(other),
    };
    said.to_owned()
}

/// Like [`plain`], for a value of the right type that the type cannot hold.
pub(super) fn plain_range(text: &str) -> String {
    whole_number_range(text).unwrap_or_else(|| plain(text))
}

fn by_shape(text: &str) -> String {
    if text.starts_with("a nonzero ") {
        return "a whole number other than 0".to_owned();
    }
    for (start, sized, unsized_) in SHAPES {
        if let Some(rest) = text.strip_prefix(start) {
            let count = rest.split(' ').find_map(|word| word.parse::<usize>().ok());
            return match count {
                Some(1) if sized.ends_with("values") => "an array of one value".to_owned(),
                Some(count) => sized.replace("{}", &count.to_string()),
                None => unsized_.to_owned(),
            };
        }
    }
    text.to_owned()
}

/// How an expected text starts, and what to say with and without a number in the rest.
const SHAPES: [(&str, &str, &str); 13] = [
    ("a tuple of size ", "an array of {} values", "an array"),
    ("an array of length ", "an array of {} values", "an array"),
    ("an empty array", "an empty array", "an empty array"),
    ("tuple struct ", "an array of {} values", "an array"),
    ("tuple variant ", "an array of {} values", "an array"),
    ("struct ", "an object", "an object"),
    ("internally tagged enum ", "an object", "an object"),
    ("adjacently tagged enum ", "an object", "an object"),
    (
        "enum ",
        "one of the accepted words",
        "one of the accepted words",
    ),
    ("unit struct ", "null", "null"),
    ("unit variant ", "null", "null"),
    ("newtype struct ", "a value", "a value"),
    ("newtype variant ", "a value", "a value"),
];

fn whole_number_range(text: &str) -> Option<String> {
    macro_rules! ranges {
        ($($number:ident)*) => {
            match text {
                $(stringify!($number) => {
                    Some(format!("a whole number from {} to {}", $number::MIN, $number::MAX))
                })*
                _ => None,
            }
        };
    }
    ranges!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_texts_become_plain_words() {
        for (text, said) in [
            ("a boolean", "true or false"),
            ("u64", "a whole number"),
            ("f64", "a number"),
            ("a sequence", "an array"),
            ("a map", "an object"),
            ("struct Rule", "an object"),
            ("struct variant Rule::Glob", "an object"),
            ("struct Rule with 3 elements", "an object"),
            ("a tuple of size 2", "an array of 2 values"),
            ("an array of length 1", "an array of one value"),
            ("tuple struct Pair with 2 elements", "an array of 2 values"),
            ("tuple variant Shape::Pair", "an array"),
            ("a nonzero u32", "a whole number other than 0"),
            ("string or map", "a string or an object"),
        ] {
            assert_eq!(plain(text), said, "{text}");
        }
        assert_eq!(plain_range("u8"), "a whole number from 0 to 255");
    }

    #[test]
    fn texts_of_the_types_themselves_are_kept() {
        for text in ["a string such as `30s`", "an array of globs", "a pattern"] {
            assert_eq!(plain(text), text);
        }
    }
}
