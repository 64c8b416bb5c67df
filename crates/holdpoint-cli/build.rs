//! Links the program so that it starts fast: the hook is a process per tool call.

#![allow(
    clippy::print_stdout,
    reason = "this is how a build script talks to cargo"
)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}"));
    // Other C libraries choose their start-up code by these, before they see the flags.
    if target("OS").as_deref() == Ok("linux") && target("ENV").as_deref() == Ok("gnu") {
        // The rule packs are tables full of pointers. At an address chosen at every start, the
        // loader would first write each of these pointers anew.
        println!("cargo::rustc-link-arg-bins=-no-pie");
        // Unwinding, which only a panic's backtrace uses, from the archive: one shared library
        // less to find, map and initialise. Named here it comes before the standard library's.
        println!("cargo::rustc-link-lib=gcc_eh");
    }
}
