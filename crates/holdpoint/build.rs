//! Links the program at a fixed address on Linux.
//!
//! The rule packs are tables full of pointers, and the hook is a process per tool call. At an
//! address chosen at every start, the loader would first write each of these pointers anew.

#![allow(
    clippy::print_stdout,
    reason = "this is how a build script talks to cargo"
)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}"));
    // Other C libraries choose their start-up code by this, before they see the flag.
    if target("OS").as_deref() == Ok("linux") && target("ENV").as_deref() == Ok("gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
