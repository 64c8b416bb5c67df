//! Whether code opens a connection of its own: the one thing a shell handed to another machine needs besides
//! the shell.
//!
//! Names count where they stand as code, not in texts; a text counts where it is a whole name of a
//! module (`require("net")`) or of a file that is a connection (awk's `/inet/tcp/…`).

use super::Language;
use super::tokens::{Kind, Literal, Piece, Tree};

/// Whether a language's code opens a connection by hand.
pub(super) fn opens(language: Language, trees: &[Tree<'_>]) -> bool {
    let mut seen = Seen::default();
    seen.list(language, trees);
    match language {
        Language::Python => seen.module && seen.connects,
        Language::JavaScript | Language::Lua => seen.module && (seen.connects || seen.socket),
        Language::Ruby | Language::Perl | Language::Php => seen.socket,
        Language::Awk => seen.file,
        Language::Vim | Language::PowerShell => false,
    }
}

#[derive(Default)]
struct Seen {
    /// A module whose purpose are connections.
    module: bool,
    /// A kind of connection.
    socket: bool,
    /// A function that connects.
    connects: bool,
    /// A file that is a connection.
    file: bool,
}

impl Seen {
    fn list(&mut self, language: Language, trees: &[Tree<'_>]) {
        for tree in trees {
            match &tree.kind {
                Kind::Word(word) => self.name(language, word),
                Kind::Text(literal) => self.text(language, literal),
                Kind::Group(_, inside) | Kind::Regex(inside) => self.list(language, inside),
                Kind::Shell(_) | Kind::Number(_) | Kind::Words(_) | Kind::Sign(_) | Kind::End => {}
            }
        }
    }

    fn name(&mut self, language: Language, word: &str) {
        match language {
            Language::Python => self.module |= word == "socket",
            Language::Php => {
                self.socket |= matches!(
                    word,
                    "fsockopen" | "pfsockopen" | "stream_socket_client" | "socket_connect"
                );
            }
            Language::Perl => self.socket |= word == "socket" || word.contains("Socket"),
            Language::Ruby => self.socket |= word.contains("Socket"),
            Language::Lua => self.module |= word == "socket",
            Language::JavaScript | Language::Awk | Language::Vim | Language::PowerShell => {}
        }
        self.socket |= word == "Socket";
        self.connects |= matches!(
            word.rsplit('.').next(),
            Some("connect" | "connect_ex" | "create_connection" | "createConnection" | "tcp")
        );
    }

    fn text(&mut self, language: Language, literal: &Literal<'_>) {
        for piece in &literal.pieces {
            match piece {
                Piece::Hole(inside) => self.list(language, inside),
                Piece::Text(text) => {
                    let text = text.as_str();
                    self.module |= matches!(language, Language::JavaScript | Language::Lua)
                        && matches!(text, "net" | "node:net" | "tls" | "node:tls" | "socket");
                    self.file |= text.starts_with("/inet/")
                        || text.starts_with("/inet4/")
                        || text.starts_with("/inet6/");
                }
            }
        }
    }
}
