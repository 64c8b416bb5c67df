//! Lua's functions.

use super::CallEffect::*;
use super::{Depth, FIRST, Row, SECOND};
use crate::code::Unfollowed;
use crate::code::constants as c;

pub(super) static ROWS: &[Row] = &[
    Row {
        names: "os.remove lfs.rmdir os.rm os.tryrm",
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
        names: "os.execute io.popen vim.fn.system os.exec os.run os.runv os.iorun",
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
        names: "require",
        acts: &[Import(FIRST)],
    },
    Row {
        names: "rawget",
        acts: &[Attribute(FIRST, SECOND)],
    },
    Row {
        names: "package.loadlib ffi.*",
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
    Row {
        names: "os.getenv vim.fn.getenv",
        acts: &[Pure(c::variable)],
    },
    Row {
        names: "print io.write vim.print",
        acts: &[Print(0)],
    },
    Row {
        names: "Process#write",
        acts: &[Feed(SECOND)],
    },
    Row {
        names: "vim.loop.fs_unlink vim.uv.fs_unlink vim.loop.fs_rmdir vim.uv.fs_rmdir",
        acts: &[Delete(FIRST, Depth::One)],
    },
    Row {
        names: "vim.loop.spawn vim.uv.spawn vim.system vim.fn.jobstart vim.fn.systemlist",
        acts: &[StartLine],
    },
    Row {
        names: "vim.fn.writefile",
        acts: &[Write(SECOND)],
    },
    Row {
        names: "vim.fn.readfile",
        acts: &[Read(FIRST)],
    },
    Row {
        names: "table.concat",
        acts: &[Pure(concatenated)],
    },
    Row {
        names: "dofile loadfile",
        acts: &[As("lua {0}")],
    },
];

/// `table.concat({"rm", "-rf"}, " ")`
fn concatenated(args: &[crate::code::values::Value]) -> crate::code::values::Value {
    use crate::code::values::Value;
    let separator = args.get(1).cloned().unwrap_or(Value::known(""));
    match args.first() {
        Some(list @ Value::List(_)) => c::join(&[separator, list.clone()]),
        Some(_) | None => Value::Unknown,
    }
}
