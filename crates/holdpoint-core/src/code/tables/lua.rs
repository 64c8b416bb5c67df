//! Lua's functions.

use super::Act::*;
use super::{Depth, FIRST, Row, SECOND};
use crate::code::Unfollowed;
use crate::code::constants as c;

pub(super) static ROWS: &[Row] = &[
    Row {
        names: "os.remove lfs.rmdir",
        acts: &[Delete(FIRST, Depth::One)],
    },
    Row {
        names: "os.rename",
        acts: &[Rename(FIRST, SECOND)],
    },
    Row {
        names: "io.open",
        acts: &[Open(FIRST, SECOND)],
    },
    Row {
        names: "io.lines io.input",
        acts: &[Read(FIRST)],
    },
    Row {
        names: "io.output lfs.mkdir",
        acts: &[Write(FIRST)],
    },
    Row {
        names: "os.execute io.popen vim.fn.system",
        acts: &[Shell(FIRST)],
    },
    Row {
        names: "vim.cmd vim.api.nvim_command vim.fn.execute",
        acts: &[Opaque(Unfollowed::Evaluates)],
    },
    Row {
        names: "vim.fn.delete",
        acts: &[Delete(FIRST, Depth::Tree)],
    },
    Row {
        names: "load loadstring",
        acts: &[Eval(FIRST)],
    },
    Row {
        names: "dofile loadfile",
        acts: &[Pure(c::nothing)],
    },
    Row {
        names: "require",
        acts: &[Import(FIRST)],
    },
    Row {
        names: "rawget",
        acts: &[Attribute(FIRST, SECOND)],
    },
    Row {
        names: "package.loadlib ffi.load ffi.cdef",
        acts: &[Opaque(Unfollowed::Native)],
    },
    Row {
        names: "string.char",
        acts: &[Pure(c::characters)],
    },
    Row {
        names: "string.format",
        acts: &[Pure(c::printed)],
    },
    Row {
        names: "string.reverse",
        acts: &[Pure(c::reversed)],
    },
    Row {
        names: "tostring",
        acts: &[Pure(c::first)],
    },
];
