//! Lists the files of `page/`, so that every one of them is built in and served.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=page");
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    let mut files = Vec::new();
    for entry in fs::read_dir(Path::new(&root).join("page"))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            let name = entry.file_name().into_string();
            let name = name.map_err(|_| io::Error::other("page/ has a name that is not text"))?;
            files.push((name, entry.path()));
        }
    }
    files.sort();
    let mut text = String::from("&[\n");
    for (name, path) in files {
        writeln!(text, "    ({name:?}, include_bytes!({path:?})),").map_err(io::Error::other)?;
    }
    text.push_str("]\n");
    fs::write(Path::new(&out).join("page.rs"), text)
}
