//! Perl's functions. `::` stands as a dot.

use super::CallEffect::*;
use super::{Depth, FIRST, Parameter, Row, SECOND};
use crate::code::Unfollowed;
use crate::code::constants as c;

pub(super) static ROWS: &[Row] = &[
    Row {
        names: "unlink POSIX.unlink POSIX.remove",
        acts: &[DeleteAll(0, Depth::One)],
    },
    Row {
        names: "rmdir POSIX.rmdir",
        acts: &[Delete(FIRST, Depth::One)],
    },
    Row {
        names: "rmtree remove_tree File.Path.rmtree File.Path.remove_tree",
        acts: &[DeleteAll(0, Depth::Tree)],
    },
    Row {
        names: "?#remove_tree",
        acts: &[DeleteAll(1, Depth::Tree)],
    },
    Row {
        names: "truncate mkdir mkpath make_path File.Path.make_path File.Path.mkpath",
        acts: &[Write(FIRST)],
    },
    Row {
        names: "symlink link",
        acts: &[Link(FIRST, SECOND)],
    },
    Row {
        names: "write_file File.Slurp.write_file",
        acts: &[Write(FIRST)],
    },
    Row {
        names: "opendir",
        acts: &[Read(SECOND)],
    },
    Row {
        names: "sysopen",
        acts: &[OpenFlags(SECOND, Parameter(2, ""))],
    },
    Row {
        names: "open",
        acts: &[OpenHandle],
    },
    Row {
        names: "IO.File.new",
        acts: &[Open(FIRST, SECOND)],
    },
    Row {
        names: "chmod",
        acts: &[ChangeModeAll(1)],
    },
    Row {
        names: "chown utime",
        acts: &[ChangeModeAll(2)],
    },
    Row {
        names: "rename move File.Copy.move",
        acts: &[Rename(FIRST, SECOND)],
    },
    Row {
        names: "copy File.Copy.copy cp",
        acts: &[Read(FIRST), Write(SECOND)],
    },
    Row {
        names: "system exec",
        acts: &[System(0)],
    },
    Row {
        names: "readpipe",
        acts: &[Shell(FIRST)],
    },
    Row {
        names: "IPC.Open3.open3 open3",
        acts: &[System(3)],
    },
    Row {
        names: "IPC.Open2.open2 open2",
        acts: &[System(2)],
    },
    Row {
        names: "LWP.Simple.get LWP.Simple.getstore getstore IO.Socket.INET.new",
        acts: &[Connect(FIRST)],
    },
    Row {
        names: "LWP.UserAgent.new HTTP.Tiny.new",
        acts: &[Make("Session", Parameter(9, ""))],
    },
    Row {
        names: "Session#get Session#post Session#put Session#delete Session#mirror",
        acts: &[Connect(SECOND)],
    },
    Row {
        names: "eval",
        acts: &[EvalText(FIRST)],
    },
    Row {
        names: "require",
        acts: &[Import(FIRST)],
    },
    Row {
        names: "syscall DynaLoader.dl_load_file Storable.thaw",
        acts: &[Opaque(Unfollowed::Native)],
    },
    Row {
        names: "getcwd cwd Cwd.getcwd Cwd.cwd",
        acts: &[WorkingDirectory(None)],
    },
    Row {
        names: "dirname File.Basename.dirname",
        acts: &[Pure(c::parent)],
    },
    Row {
        names: "abs_path realpath Cwd.abs_path Cwd.realpath",
        acts: &[Pure(c::first)],
    },
    Row {
        names: "join",
        acts: &[Pure(c::join)],
    },
    Row {
        names: "chr",
        acts: &[Pure(c::characters)],
    },
    Row {
        names: "sprintf",
        acts: &[Pure(c::printed)],
    },
    Row {
        names: "pack",
        acts: &[Pure(packed)],
    },
    Row {
        names: "decode_base64 MIME.Base64.decode_base64",
        acts: &[Pure(c::base64)],
    },
    Row {
        names: "lc uc quotemeta",
        acts: &[Pure(c::nothing)],
    },
    Row {
        names: "File.Spec.catfile File.Spec.catdir catfile catdir",
        acts: &[Pure(c::path_joined)],
    },
    Row {
        names: "DBI.connect",
        acts: &[Make("Sql", Parameter(9, ""))],
    },
    Row {
        names: "Sql#do Sql#prepare Sql#selectall_arrayref",
        acts: &[Query("psql -c {1}")],
    },
    Row {
        names: "kill",
        acts: &[Kill(SECOND, FIRST)],
    },
    Row {
        names: "POSIX.kill",
        acts: &[Kill(FIRST, SECOND)],
    },
    Row {
        names: "chdir",
        acts: &[ChangeDirectory(FIRST)],
    },
    Row {
        names: "IPC.Run.run run harness start",
        acts: &[ShellOrList],
    },
    Row {
        names: "Net.FTP.new",
        acts: &[Connect(FIRST), Make("Ftp", FIRST)],
    },
    Row {
        names: "Ftp#put Ftp#append Net.FTP.put",
        acts: &[As("curl -T {1} ftp://a.host/")],
    },
    Row {
        names: "path Path.Tiny.path Path.Class.file Path.Class.dir",
        acts: &[MakeJoined("Path")],
    },
    Row {
        names: "Path#remove_tree",
        acts: &[Delete(FIRST, Depth::Tree)],
    },
    Row {
        names: "Path#remove",
        acts: &[Delete(FIRST, Depth::One)],
    },
    Row {
        names: "Path#slurp Path#slurp_utf8 Path#lines Path#slurp_raw",
        acts: &[Read(FIRST)],
    },
    Row {
        names: "Path#spew Path#spew_utf8 Path#append Path#touch",
        acts: &[Write(FIRST)],
    },
    Row {
        names: "read_file File.Slurp.read_file",
        acts: &[Read(FIRST)],
    },
    Row {
        names: "get getprint head LWP.Simple.getprint LWP.Simple.head",
        acts: &[ConnectIfAddress(FIRST)],
    },
    Row {
        names: "Session#post_form Session#request Session#patch",
        acts: &[Connect(SECOND)],
    },
    Row {
        names: "print say printf warn die",
        acts: &[Print(0)],
    },
    Row {
        names: "encode_json to_json encode_base64 MIME.Base64.encode_base64 uri_escape Dumper Data.Dumper.Dumper",
        acts: &[Keep],
    },
    Row {
        names: "do",
        acts: &[As("perl {0}")],
    },
];

/// `pack("H*", "726d")`
fn packed(args: &[crate::code::values::Value]) -> crate::code::values::Value {
    use crate::code::values::Value;
    let rest = args.get(1..).unwrap_or(&[]);
    match args.first().and_then(Value::text) {
        Some("H*") => c::hex(rest),
        Some("c*" | "C*" | "U*") => c::characters(rest),
        Some(_) | None => Value::Unknown,
    }
}
