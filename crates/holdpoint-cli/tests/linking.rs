//! What the program has the system load before its first line runs, read from the program itself.
//!
//! A hook is a process for each tool call, and every shared library costs it a tenth of its time.

#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a program of the wrong form is a test that fails"
)]

use std::ffi::CStr;
use std::fs;

/// The C library itself; what loads it may be named as well.
const ALLOWED: [&str; 2] = ["libc.so.6", "ld-linux"];

/// Of the ELF format: the type of a program header, and two tags of dynamic entries.
const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;

#[test]
fn the_c_library_alone_is_loaded() {
    let program = Program(fs::read(env!("CARGO_BIN_EXE_holdpoint")).unwrap());
    let needed = program.needed();
    assert!(needed.iter().any(|name| name == "libc.so.6"), "{needed:?}");
    let more: Vec<&String> = needed
        .iter()
        .filter(|name| !ALLOWED.iter().any(|allowed| name.starts_with(allowed)))
        .collect();
    assert!(more.is_empty(), "every start of a hook loads {more:?}");
}

/// An ELF file of 64 bits, little end first.
struct Program(Vec<u8>);

impl Program {
    fn number(&self, place: usize, bytes: usize) -> u64 {
        let bytes = &self.0[place..place + bytes];
        bytes
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }

    fn place(&self, place: usize) -> usize {
        self.number(place, 8).try_into().unwrap()
    }

    /// Type, offset in the file, address and length in the file of every segment.
    fn segments(&self) -> Vec<(u64, usize, usize, usize)> {
        let (first, size, count) = (self.place(32), self.number(54, 2), self.number(56, 2));
        (0..count)
            .map(|number| first + usize::try_from(number * size).unwrap())
            .map(|at| {
                (
                    self.number(at, 4),
                    self.place(at + 8),
                    self.place(at + 16),
                    self.place(at + 32),
                )
            })
            .collect()
    }

    /// The names of the shared libraries it needs.
    fn needed(&self) -> Vec<String> {
        assert_eq!(self.0[..6], *b"\x7fELF\x02\x01");
        let segments = self.segments();
        let dynamic = segments.iter().find(|(kind, ..)| *kind == PT_DYNAMIC);
        let (_, start, _, length) = *dynamic.expect("no dynamic section");
        let entries: Vec<(u64, usize)> = (start..start + length)
            .step_by(16)
            .map(|at| (self.number(at, 8), self.place(at + 8)))
            .collect();
        let (_, names) = *entries.iter().find(|(tag, _)| *tag == DT_STRTAB).unwrap();
        // The table's address in memory; where it stands in the file, its segment says.
        let names = segments
            .iter()
            .find(|(kind, _, address, length)| {
                *kind == PT_LOAD && (*address..address + length).contains(&names)
            })
            .map(|(_, offset, address, _)| names - address + offset)
            .unwrap();
        let name = |offset: usize| CStr::from_bytes_until_nul(&self.0[names + offset..]);
        entries
            .iter()
            .filter(|(tag, _)| *tag == DT_NEEDED)
            .map(|(_, offset)| name(*offset).unwrap().to_str().unwrap().to_owned())
            .collect()
    }
}
