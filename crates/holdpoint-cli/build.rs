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
        order_functions();
    }
}

/// Has what a hook runs stand side by side in the program. The kernel maps a program by pieces of
/// 64 KiB as they are first touched, and a hook's functions would stand in 70 of the 150 there are.
fn order_functions() {
    const SCRIPT: &str = "hot.ld";
    println!("cargo::rerun-if-changed={SCRIPT}");
    // The linkers that Rust uses of its own accord, LLVM's and GNU's, add such a script to what they
    // do anyway. One that somebody chose may not know how.
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let chosen = std::env::var_os("RUSTC_LINKER").is_some()
        || ["linker", "-fuse-ld"]
            .iter()
            .any(|sign| flags.contains(sign));
    let released = std::env::var("PROFILE").as_deref() == Ok("release");
    let directory = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let script = std::path::Path::new(&directory).join(SCRIPT);
    if released && !chosen && script.is_file() {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", script.display());
    }
}
