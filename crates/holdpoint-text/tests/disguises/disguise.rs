//! Ways to disguise a sentence, by family: each gives the sentence in several dresses.

use super::encodings::{base32, base64, base64_url, each, percent, reversed, rot13, wrapped};

/// A family of disguises.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// The sentence in each dress of the family; none where the family cannot dress its letters.
    pub(crate) dress: fn(&str) -> Vec<String>,
}

pub(crate) const FAMILIES: &[Family] = &[
    Family {
        name: "zero-width",
        dress: zero_width,
    },
    Family {
        name: "tags",
        dress: tags,
    },
    Family {
        name: "selectors",
        dress: selectors,
    },
    Family {
        name: "bidi",
        dress: bidi,
    },
    Family {
        name: "combining",
        dress: combining,
    },
    Family {
        name: "look-alikes",
        dress: look_alikes,
    },
    Family {
        name: "styled",
        dress: styled,
    },
    Family {
        name: "leet",
        dress: leet,
    },
    Family {
        name: "spaced",
        dress: spaced,
    },
    Family {
        name: "entities",
        dress: entities,
    },
    Family {
        name: "comments",
        dress: comments,
    },
    Family {
        name: "hidden-html",
        dress: hidden_html,
    },
    Family {
        name: "hidden-markdown",
        dress: hidden_markdown,
    },
    Family {
        name: "escapes",
        dress: escapes,
    },
    Family {
        name: "percent",
        dress: percents,
    },
    Family {
        name: "base64",
        dress: base64s,
    },
    Family {
        name: "base32",
        dress: base32s,
    },
    Family {
        name: "hex",
        dress: hexes,
    },
    Family {
        name: "binary",
        dress: binaries,
    },
    Family {
        name: "codes",
        dress: codes,
    },
    Family {
        name: "rot13",
        dress: rot13s,
    },
    Family {
        name: "reversed",
        dress: reverses,
    },
    Family {
        name: "terminal",
        dress: terminals,
    },
    Family {
        name: "control",
        dress: controls,
    },
    Family {
        name: "split-lines",
        dress: split_lines,
    },
    Family {
        name: "split-strings",
        dress: split_strings,
    },
    Family {
        name: "split-fields",
        dress: split_fields,
    },
    Family {
        name: "nested",
        dress: nested,
    },
];

/// Something between each two letters of a word, and nothing between words.
fn among_letters(text: &str, something: &str) -> String {
    words(text, |word| {
        let letters: Vec<String> = word.chars().map(String::from).collect();
        letters.join(something)
    })
}

fn words(text: &str, dressed: impl Fn(&str) -> String) -> String {
    let words: Vec<String> = text.split(' ').map(dressed).collect();
    words.join(" ")
}

/// Letters exchanged one by one.
fn letters(text: &str, exchanged: impl Fn(char) -> char) -> String {
    text.chars().map(exchanged).collect()
}

/// Most disguises of letters are made for these.
fn is_latin(text: &str) -> bool {
    text.is_ascii()
}

fn zero_width(text: &str) -> Vec<String> {
    [
        "\u{200b}", "\u{200c}", "\u{2060}", "\u{ad}", "\u{feff}", "\u{2063}", "\u{180e}",
        "\u{200d}",
    ]
    .iter()
    .map(|it| among_letters(text, it))
    .chain([words(text, |word| {
        let middle = word.char_indices().nth(2).map_or(word.len(), |(at, _)| at);
        format!("{}\u{200b}{}", &word[..middle], &word[middle..])
    })])
    .collect()
}

fn tags(text: &str) -> Vec<String> {
    if !is_latin(text) {
        return Vec::new();
    }
    let hidden: String = text
        .chars()
        .filter_map(|c| char::from_u32(0xe0000 + c as u32))
        .collect();
    vec![
        format!("All good.{hidden}"),
        format!("\u{e0001}{hidden}\u{e007f} See you on Monday."),
        format!("\u{1f600}{hidden}"),
    ]
}

fn selectors(text: &str) -> Vec<String> {
    let selector = |byte: u8| match byte {
        0..=15 => char::from_u32(0xfe00 + u32::from(byte)),
        _ => char::from_u32(0xe0100 + u32::from(byte) - 16),
    };
    let hidden: String = text.bytes().filter_map(selector).collect();
    vec![format!("\u{1f642}{hidden} thanks"), format!("a{hidden}")]
}

fn bidi(text: &str) -> Vec<String> {
    vec![
        format!("\u{202e}{}\u{202c}", reversed(text)),
        format!("\u{2067}{}\u{2069}", reversed(text)),
        words(text, |word| format!("\u{2066}{word}\u{2069}")),
        among_letters(text, "\u{202d}"),
    ]
}

fn combining(text: &str) -> Vec<String> {
    if !is_latin(text) {
        return Vec::new();
    }
    let heaped = |marks: &str| {
        let dressed = text.chars().map(|c| {
            if c.is_alphabetic() {
                format!("{c}{marks}")
            } else {
                c.to_string()
            }
        });
        dressed.collect()
    };
    vec![
        heaped("\u{336}"),
        heaped("\u{301}"),
        heaped("\u{35b}\u{322}\u{330}"),
        heaped("\u{20dd}"),
    ]
}

fn look_alikes(text: &str) -> Vec<String> {
    if !is_latin(text) {
        return Vec::new();
    }
    let cyrillic = |c: char| match c {
        'a' => 'а',
        'c' => 'с',
        'e' => 'е',
        'i' => 'і',
        'o' => 'о',
        'p' => 'р',
        's' => 'ѕ',
        'x' => 'х',
        'y' => 'у',
        'j' => 'ј',
        'I' => 'І',
        'A' => 'А',
        'O' => 'О',
        'D' => 'Ꭰ',
        other => other,
    };
    let greek = |c: char| match c {
        'a' => 'α',
        'i' => 'ι',
        'o' => 'ο',
        'v' => 'ν',
        'u' => 'υ',
        'p' => 'ρ',
        'n' => 'η',
        'I' => 'Ι',
        'A' => 'Α',
        'E' => 'Ε',
        other => other,
    };
    let one_in_a_word = words(text, |word| {
        let mut found = false;
        letters(word, |c| c)
            .chars()
            .map(|c| {
                let other = cyrillic(c);
                if found || other == c {
                    c
                } else {
                    found = true;
                    other
                }
            })
            .collect()
    });
    let armenian = |c: char| match c {
        'o' => 'օ',
        'u' => 'ս',
        'n' => 'ո',
        'h' => 'հ',
        'g' => 'ց',
        other => other,
    };
    vec![
        letters(text, cyrillic),
        letters(text, greek),
        letters(text, armenian),
        one_in_a_word,
    ]
}

fn styled(text: &str) -> Vec<String> {
    if !is_latin(text) {
        return Vec::new();
    }
    let block = |upper: u32, lower: u32| {
        letters(text, |c| {
            let there = match c {
                'A'..='Z' => upper + (c as u32 - 'A' as u32),
                'a'..='z' => lower + (c as u32 - 'a' as u32),
                other => other as u32,
            };
            char::from_u32(there).unwrap_or(c)
        })
    };
    let wide = letters(text, |c| match c {
        '!'..='~' => char::from_u32(c as u32 - 0x21 + 0xff01).unwrap_or(c),
        ' ' => '\u{3000}',
        other => other,
    });
    vec![
        block(0x1d400, 0x1d41a),
        block(0x1d468, 0x1d482),
        block(0x1d4d0, 0x1d4ea),
        block(0x1d56c, 0x1d586),
        block(0x1d5d4, 0x1d5ee),
        block(0x1d670, 0x1d68a),
        block(0x24b6, 0x24d0),
        block(0x1f150, 0x1f150),
        block(0x1f130, 0x1f130),
        block(0x249c, 0x249c),
        wide,
        letters(text, |c| {
            "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡxʏᴢ"
                .chars()
                .nth((c.to_ascii_lowercase() as usize).wrapping_sub('a' as usize))
                .unwrap_or(c)
        }),
    ]
}

fn leet(text: &str) -> Vec<String> {
    if !is_latin(text) {
        return Vec::new();
    }
    let light = |c: char| match c.to_ascii_lowercase() {
        'a' => '4',
        'e' => '3',
        'i' => '1',
        'o' => '0',
        _ => c,
    };
    let usual = |c: char| match c.to_ascii_lowercase() {
        'a' => '4',
        'e' => '3',
        'i' => '1',
        'o' => '0',
        's' => '5',
        't' => '7',
        _ => c,
    };
    let heavy = |c: char| match c.to_ascii_lowercase() {
        'a' => '@',
        'e' => '3',
        'i' => '!',
        'o' => '0',
        's' => '$',
        't' => '7',
        'g' => '9',
        'b' => '8',
        'l' => '1',
        _ => c,
    };
    vec![
        letters(text, light),
        letters(text, usual),
        letters(text, heavy),
    ]
}

fn spaced(text: &str) -> Vec<String> {
    if !is_latin(text) {
        return Vec::new();
    }
    let apart = |between: &str, words: &str| {
        let all: Vec<String> = text
            .split(' ')
            .map(|word| {
                word.chars()
                    .map(String::from)
                    .collect::<Vec<_>>()
                    .join(between)
            })
            .collect();
        all.join(words)
    };
    vec![
        apart(" ", "   "),
        apart(" ", "  "),
        apart(" ", " "),
        apart(".", " "),
        apart("-", " "),
        apart("_", " "),
        apart("*", " "),
        apart(" ", " / "),
        apart("\u{a0}", "\u{a0}\u{a0}"),
        apart("\u{2009}", "  "),
        apart("\n", "\n\n"),
    ]
}

fn entities(text: &str) -> Vec<String> {
    let each = |form: fn(u32) -> String| text.chars().map(|c| form(c as u32)).collect::<String>();
    let decimal = each(|code| format!("&#{code};"));
    vec![
        each(|code| format!("&#x{code:x};")),
        each(|code| format!("&#{code:05};")),
        decimal.replace('&', "&amp;"),
        words(text, |word| {
            let first = word.chars().next().map_or(0, |c| c as u32);
            format!("&#{first};{}", word.chars().skip(1).collect::<String>())
        }),
        decimal,
    ]
}

fn comments(text: &str) -> Vec<String> {
    vec![
        format!("<p>Welcome to our shop.</p><!-- {text} --><p>Open daily.</p>"),
        format!("<!--\n{text}\n-->\n\n# Notes\n\nNothing special here."),
        format!("<ul><li>One</li><!--{text}--></ul>"),
        format!("<![CDATA[ {text} ]]>"),
    ]
}

fn hidden_html(text: &str) -> Vec<String> {
    vec![
        format!("<p>Our menu</p><div style=\"display:none\">{text}</div>"),
        format!("<span hidden>{text}</span><p>Contact us any time.</p>"),
        format!("<p style=\"color:#ffffff;background:#fff\">{text}</p>"),
        format!("<span style='font-size:0px'>{text}</span>"),
        format!("<div style=\"position:absolute;left:-9999px\">{text}</div>"),
        format!("<template>{text}</template>"),
        format!("<img src=\"cat.png\" alt=\"{text}\">"),
        format!("<meta name=\"description\" content=\"{text}\">"),
        format!("<input type=\"hidden\" value=\"{text}\">"),
        format!("<div aria-hidden=\"true\" style=\"opacity:0\">{text}</div>"),
        format!("<noscript>{text}</noscript>"),
        words(text, |word| format!("<b>{word}</b>")),
        among_letters(text, "<wbr>"),
    ]
}

fn hidden_markdown(text: &str) -> Vec<String> {
    vec![
        format!("# Title\n\n[//]: # ({text})\n\nA paragraph.\n"),
        format!("[comment]: <> ({text})\n"),
        format!("[docs](https://docs.example.com \"{text}\")\n"),
        format!("![{text}](logo.png)\n"),
        format!("Some text.[^1]\n\n[^1]: {text}\n"),
        format!("[ref]: https://docs.example.com '{text}'\n"),
        words(text, |word| format!("**{word}**")),
        format!("<details><summary>more</summary>{text}</details>"),
    ]
}

fn escapes(text: &str) -> Vec<String> {
    let units = |form: fn(u16) -> String| text.encode_utf16().map(form).collect::<String>();
    let mut all = vec![
        units(|unit| format!("\\u{unit:04x}")),
        text.chars()
            .map(|c| format!("\\u{{{:x}}}", c as u32))
            .collect(),
        text.chars()
            .map(|c| format!("\\U{:08x}", c as u32))
            .collect(),
        each(text.as_bytes(), "", |byte| format!("\\x{byte:02x}")),
        format!(
            "msg = \"{}\"",
            each(text.as_bytes(), "", |byte| format!("\\x{byte:02X}"))
        ),
    ];
    if is_latin(text) {
        all.push(each(text.as_bytes(), "", |byte| format!("\\{byte:03o}")));
    }
    all
}

fn percents(text: &str) -> Vec<String> {
    vec![
        percent(text),
        text.replace(' ', "%20"),
        format!("https://example.com/search?q={}", text.replace(' ', "+")),
        format!("https://example.com/?next={}", percent(text)),
        percent(text).to_lowercase(),
    ]
}

fn base64s(text: &str) -> Vec<String> {
    let plain = base64(text.as_bytes());
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        wrapped(&plain, 64),
        wrapped(&plain, 76),
        base64_url(text.as_bytes()),
        plain.trim_end_matches('=').to_owned(),
        format!("data:text/plain;base64,{plain}"),
        format!("payload = b64decode(\"{plain}\")"),
        base64(&utf16),
        plain,
    ]
}

fn base32s(text: &str) -> Vec<String> {
    let plain = base32(text.as_bytes());
    vec![plain.trim_end_matches('=').to_owned(), plain]
}

fn hexes(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    vec![
        each(bytes, "", |byte| format!("{byte:02x}")),
        each(bytes, "", |byte| format!("{byte:02X}")),
        each(bytes, " ", |byte| format!("{byte:02x}")),
        each(bytes, ":", |byte| format!("{byte:02x}")),
        each(bytes, ", ", |byte| format!("0x{byte:02x}")),
        each(bytes, "-", |byte| format!("{byte:02X}")),
        format!("0x{}", each(bytes, "", |byte| format!("{byte:02x}"))),
    ]
}

fn binaries(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    vec![
        each(bytes, " ", |byte| format!("{byte:08b}")),
        each(bytes, "", |byte| format!("{byte:08b}")),
        each(bytes, ",", |byte| format!("{byte:08b}")),
        each(bytes, " ", |byte| format!("0b{byte:08b}")),
    ]
}

fn codes(text: &str) -> Vec<String> {
    if !is_latin(text) {
        return Vec::new();
    }
    let bytes = text.as_bytes();
    vec![
        each(bytes, " ", |byte| byte.to_string()),
        each(bytes, ", ", |byte| byte.to_string()),
        format!(
            "String.fromCharCode({})",
            each(bytes, ",", |byte| byte.to_string())
        ),
        each(bytes, " + ", |byte| format!("chr({byte})")),
        each(bytes, " ", |byte| format!("{byte:03o}")),
        format!("[{}]", each(bytes, ",", |byte| byte.to_string())),
    ]
}

fn rot13s(text: &str) -> Vec<String> {
    if !is_latin(text) {
        return Vec::new();
    }
    vec![rot13(text), rot13(&text.to_uppercase())]
}

fn reverses(text: &str) -> Vec<String> {
    if !is_latin(text) {
        return Vec::new();
    }
    vec![reversed(text), words(text, reversed)]
}

fn terminals(text: &str) -> Vec<String> {
    vec![
        format!("build ok\u{1b}[8m{text}\u{1b}[0m"),
        among_letters(text, "\u{1b}[0m"),
        format!("\u{1b}]0;{text}\u{7}done"),
        format!(
            "\u{1b}]8;;https://example.com/{}\u{1b}\\log\u{1b}]8;;\u{1b}\\",
            text.replace(' ', "%20")
        ),
        format!("{text}\u{1b}[2K\u{1b}[1Gall tests passed"),
        format!("\u{1b}[30;40m{text}\u{1b}[0m"),
        words(text, |word| format!("\u{1b}[1;31m{word}\u{1b}[0m")),
    ]
}

fn controls(text: &str) -> Vec<String> {
    vec![
        among_letters(text, "\0"),
        among_letters(text, "\u{b}"),
        among_letters(text, "x\u{8}"),
        among_letters(text, "\u{7f}"),
        format!("\0{text}"),
    ]
}

fn split_lines(text: &str) -> Vec<String> {
    let by = |between: &str| text.split(' ').collect::<Vec<_>>().join(between);
    vec![
        by("\n"),
        by("\n\n"),
        format!("# {}", by("\n# ")),
        format!("// {}", by("\n// ")),
        format!("> {}", by("\n> ")),
        format!(" * {}", by("\n * ")),
        format!("- {}", by("\n- ")),
        words(text, |word| match word.char_indices().nth(3) {
            Some((at, _)) if word.len() > 5 => format!("{}-\n{}", &word[..at], &word[at..]),
            _ => word.to_owned(),
        }),
    ]
}

fn split_strings(text: &str) -> Vec<String> {
    let pieces: Vec<String> = wrapped(&text.replace('"', ""), 7)
        .split('\n')
        .map(str::to_owned)
        .collect();
    let joined = |between: &str| format!("s = \"{}\"", pieces.join(between));
    let named: Vec<String> = pieces
        .iter()
        .enumerate()
        .map(|(place, piece)| format!("p{place} = \"{piece}\""))
        .collect();
    vec![
        joined("\" + \""),
        joined("\"\n    \""),
        joined("\" .\n  \""),
        joined("\" & \""),
        joined("\", \""),
        named.join("\n"),
    ]
}

fn split_fields(text: &str) -> Vec<String> {
    let words: Vec<String> = text
        .replace('"', "")
        .split(' ')
        .map(str::to_owned)
        .collect();
    let pairs: Vec<String> = words.chunks(2).map(|pair| pair.join(" ")).collect();
    let numbered = |form: fn(usize, &str) -> String, between: &str| {
        let all: Vec<String> = pairs
            .iter()
            .enumerate()
            .map(|(at, pair)| form(at, pair))
            .collect();
        all.join(between)
    };
    vec![
        format!(
            "{{{}}}",
            numbered(|at, pair| format!("\"part{at}\": \"{pair}\""), ", ")
        ),
        format!("[{}]", numbered(|_, pair| format!("\"{pair}\""), ", ")),
        numbered(|at, pair| format!("step{at}: {pair}"), "\n"),
        numbered(|_, pair| format!("<td>{pair}</td>"), ""),
        format!("| {} |", numbered(|_, pair| pair.to_owned(), " | ")),
        numbered(
            |at, pair| format!("{{\"id\": {at}, \"text\": \"{pair}\"}}"),
            "\n",
        ),
        numbered(|_, pair| format!("<item>{pair}</item>"), "\n"),
    ]
}

fn nested(text: &str) -> Vec<String> {
    let mut all = vec![
        base64(base64(text.as_bytes()).as_bytes()),
        each(base64(text.as_bytes()).as_bytes(), "", |byte| {
            format!("{byte:02x}")
        }),
        percent(&base64(text.as_bytes())),
        percent(&percent(text)),
        base64(percent(text).as_bytes()),
        base64(among_letters(text, "\u{200b}").as_bytes()),
        format!("<!-- {} -->", base64(text.as_bytes())),
        base64(format!("<!-- {text} -->").as_bytes()),
        text.chars()
            .map(|c| format!("&amp;#x{:x};", c as u32))
            .collect(),
        base64(each(text.as_bytes(), "", |byte| format!("{byte:02x}")).as_bytes()),
        format!("\u{1b}[8m{}\u{1b}[0m", base64(text.as_bytes())),
        base64(base64(base64(text.as_bytes()).as_bytes()).as_bytes()),
    ];
    if is_latin(text) {
        all.push(base64(rot13(text).as_bytes()));
        all.push(base64(reversed(text).as_bytes()));
        all.push(reversed(&base64(text.as_bytes())));
        all.push(percent(&rot13(text)));
    }
    all
}
