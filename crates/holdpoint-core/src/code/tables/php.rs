//! PHP's functions, in small letters: PHP does not tell them apart.

use super::CallEffect::*;
use super::{Depth, FIRST, Parameter, Row, SECOND};
use crate::code::Unfollowed;
use crate::code::constants as c;

pub(super) static ROWS: &[Row] = &[
    Row {
        names: "unlink rmdir",
        acts: &[Delete(FIRST, Depth::One)],
    },
    Row {
        names: "touch mkdir tempnam ftruncate imagepng imagejpeg",
        acts: &[Write(FIRST)],
    },
    Row {
        names: "file_put_contents",
        acts: &[Write(FIRST)],
    },
    Row {
        names: "symlink link",
        acts: &[Link(FIRST, SECOND)],
    },
    Row {
        names: "file_get_contents file readfile parse_ini_file simplexml_load_file show_source highlight_file",
        acts: &[ConnectIfUrl(FIRST)],
    },
    Row {
        names: "scandir opendir",
        acts: &[Read(FIRST)],
    },
    Row {
        names: "fopen gzopen splfileobject",
        acts: &[Open(FIRST, SECOND)],
    },
    Row {
        names: "chmod chown chgrp lchown lchgrp",
        acts: &[ChangeMode(FIRST)],
    },
    Row {
        names: "rename move_uploaded_file",
        acts: &[Rename(FIRST, SECOND)],
    },
    Row {
        names: "copy",
        acts: &[ConnectIfUrl(FIRST), Write(SECOND)],
    },
    Row {
        names: "exec shell_exec system passthru popen",
        acts: &[Shell(FIRST)],
    },
    Row {
        names: "proc_open",
        acts: &[ShellOrList],
    },
    Row {
        names: "pcntl_exec",
        acts: &[StartList(FIRST, SECOND)],
    },
    Row {
        names: "mail mb_send_mail",
        acts: &[Shell(Parameter(4, ""))],
    },
    Row {
        names: "fsockopen pfsockopen curl_init stream_socket_client ftp_connect ssh2_connect get_headers",
        acts: &[Connect(FIRST)],
    },
    // Models and queries of frameworks; `delete` alone is what tests do with what they made.
    Row {
        names: "?#truncate ?#forcedelete ?#forceDelete",
        acts: &[As("psql -c DELETE·FROM·t")],
    },
    Row {
        names: "eval assert create_function",
        acts: &[EvalText(FIRST)],
    },
    Row {
        names: "include include_once require require_once",
        acts: &[Import(FIRST)],
    },
    Row {
        names: "call_user_func register_shutdown_function",
        acts: &[CallWith(0)],
    },
    Row {
        names: "call_user_func_array array_map forward_static_call set_error_handler set_exception_handler \
                spl_autoload_register ob_start iterator_apply",
        acts: &[Callback(0)],
    },
    Row {
        names: "usort uasort uksort array_filter array_walk array_reduce preg_replace_callback array_walk_recursive",
        acts: &[Callback(1)],
    },
    Row {
        names: "reflectionfunction",
        acts: &[Callback(0)],
    },
    Row {
        names: "dl unserialize ffi.cdef ffi.load",
        acts: &[Opaque(Unfollowed::Native)],
    },
    Row {
        names: "extract parse_str",
        acts: &[Opaque(Unfollowed::DynamicName)],
    },
    Row {
        names: "implode join",
        acts: &[Pure(c::join)],
    },
    Row {
        names: "chr",
        acts: &[Pure(c::characters)],
    },
    Row {
        names: "base64_decode",
        acts: &[Pure(c::base64)],
    },
    Row {
        names: "hex2bin",
        acts: &[Pure(c::hex)],
    },
    Row {
        names: "str_rot13",
        acts: &[Pure(c::rot13)],
    },
    Row {
        names: "strrev",
        acts: &[Pure(c::reversed)],
    },
    Row {
        names: "sprintf",
        acts: &[Pure(c::printed)],
    },
    Row {
        names: "strval realpath escapeshellarg",
        acts: &[Pure(c::first)],
    },
    Row {
        names: "getcwd",
        acts: &[WorkingDirectory(None)],
    },
    Row {
        names: "sys_get_temp_dir",
        acts: &[Pure(c::temporary)],
    },
    Row {
        names: "dirname",
        acts: &[Pure(c::parent)],
    },
    Row {
        names: "pdo mysqli sqlite3 pg_connect mysqli_connect new_mysqli",
        acts: &[Make("sql", Parameter(9, ""))],
    },
    Row {
        names: "sql#exec sql#query sql#prepare sql#multi_query sql#real_query",
        acts: &[Query("psql -c {1}")],
    },
    Row {
        names: "mysqli_query pg_query pg_exec mysql_query mysqli_multi_query sqlite_query",
        acts: &[QueryIfPlain("psql -c {1}")],
    },
    Row {
        names: "posix_kill",
        acts: &[Kill(FIRST, SECOND)],
    },
    Row {
        names: "chdir",
        acts: &[ChangeDirectory(FIRST)],
    },
    Row {
        names: "putenv",
        acts: &[SetVariable(FIRST, Parameter(9, ""))],
    },
    Row {
        names: "fwrite fputs",
        acts: &[Feed(SECOND), Send(Parameter(9, ""))],
    },
    Row {
        names: "curl_setopt curl_setopt_array",
        acts: &[Send(Parameter(9, ""))],
    },
    Row {
        names: "getenv",
        acts: &[Pure(c::variable)],
    },
    Row {
        names: "json_encode http_build_query urlencode rawurlencode base64_encode serialize var_export bin2hex \
                stream_context_create",
        acts: &[Keep],
    },
    Row {
        names: "var_dump printf print_r",
        acts: &[Print(0)],
    },
    Row {
        names: "glob",
        acts: &[Pure(c::found)],
    },
];
