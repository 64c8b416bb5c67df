//! The functions of Node, Deno and Bun. Names stand without `Sync` and `.promises`, which the
//! look-up takes off.

use super::CallEffect::*;
use super::{Depth, FIRST, Parameter, Row, SECOND};
use crate::code::Unfollowed;
use crate::code::constants as c;

const RECURSIVE: Depth = Depth::If("recursive");

pub(super) static ROWS: &[Row] = &[
    Row {
        names: "fs.rmdir fs.rm Deno.remove",
        acts: &[Delete(FIRST, RECURSIVE)],
    },
    Row {
        names: "fs.unlink",
        acts: &[Delete(FIRST, Depth::One)],
    },
    // fs-extra, rimraf, del.
    Row {
        names: "fs.remove fs.emptyDir rimraf rimraf.rimraf rimraf.sync del del.deleteAsync",
        acts: &[Delete(FIRST, Depth::Tree)],
    },
    Row {
        names: "?#unlinkSync ?#rmSync ?#rmdirSync ?#unlink ?#rmdir",
        acts: &[Delete(SECOND, RECURSIVE)],
    },
    Row {
        names: "fs.writeFile fs.createWriteStream fs.truncate fs.mkdir fs.mkdtemp fs.outputFile \
                fs.writeJson fs.outputJson fs.ensureDir Deno.writeTextFile Deno.writeFile Deno.create Deno.mkdir \
                Deno.truncate Bun.write",
        acts: &[Write(FIRST)],
    },
    Row {
        names: "?#writeFile ?#writeFileSync ?#createWriteStream",
        acts: &[Write(SECOND)],
    },
    Row {
        names: "fs.appendFile",
        acts: &[Append(FIRST)],
    },
    Row {
        names: "?#appendFile ?#appendFileSync",
        acts: &[Append(SECOND)],
    },
    Row {
        names: "fs.readFile fs.createReadStream fs.readdir fs.readlink fs.readJson Deno.readTextFile Deno.readFile \
                Deno.readDir Bun.file",
        acts: &[Read(FIRST)],
    },
    Row {
        names: "fs.open",
        acts: &[Open(FIRST, SECOND)],
    },
    Row {
        names: "Deno.open",
        acts: &[Write(FIRST)],
    },
    Row {
        names: "fs.chmod fs.chown fs.lchmod fs.lchown fs.utimes Deno.chmod Deno.chown",
        acts: &[ChangeMode(FIRST)],
    },
    Row {
        names: "fs.rename fs.move Deno.rename",
        acts: &[Rename(FIRST, SECOND)],
    },
    Row {
        names: "fs.cp fs.copyFile fs.copy Deno.copyFile",
        acts: &[Read(FIRST), Write(SECOND)],
    },
    Row {
        names: "fs.symlink fs.link Deno.symlink Deno.link",
        acts: &[Link(FIRST, SECOND)],
    },
    // Programs.
    Row {
        names: "child_process.exec Bun.$ $ zx.$ bun.$ shelljs.exec",
        acts: &[Shell(FIRST)],
    },
    Row {
        names: "execa execa.execa execa.command",
        acts: &[StartLine],
    },
    Row {
        names: "?#execSync",
        acts: &[Shell(SECOND)],
    },
    // A regular expression has a method of this name, too.
    Row {
        names: "?#exec",
        acts: &[ShellIfKnown(SECOND)],
    },
    Row {
        names: "child_process.spawn child_process.execFile cross-spawn Deno.Command Bun.spawn",
        acts: &[StartList(FIRST, SECOND)],
    },
    Row {
        names: "?#spawnSync ?#execFileSync ?#spawn ?#execFile",
        acts: &[StartList(SECOND, Parameter(2, ""))],
    },
    Row {
        names: "child_process.fork",
        acts: &[StartList(FIRST, SECOND)],
    },
    Row {
        names: "Deno.run",
        acts: &[Start],
    },
    Row {
        names: "Worker worker_threads.Worker",
        acts: &[Eval(FIRST)],
    },
    // Network.
    Row {
        names: "fetch http.get https.get http.request https.request http2.connect axios axios.get axios.post \
                axios.put axios.delete axios.patch axios.request got got.get got.post node-fetch undici.fetch \
                undici.request WebSocket EventSource",
        acts: &[Connect(FIRST)],
    },
    Row {
        names: "net.connect net.createConnection tls.connect Deno.connect",
        acts: &[Connect(Parameter(0, ""))],
    },
    // Code and names made at run time.
    Row {
        names: "eval vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script vm.compileFunction",
        acts: &[Eval(FIRST)],
    },
    Row {
        names: "Function",
        acts: &[EvalAll(0)],
    },
    Row {
        names: "?#constructor ?#_compile",
        acts: &[EvalAll(1)],
    },
    Row {
        names: "require import module.createRequire",
        acts: &[Import(FIRST)],
    },
    Row {
        names: "?#require ?#_load",
        acts: &[Import(SECOND)],
    },
    Row {
        names: "process.binding ?#_linkedBinding ?#dlopen process._linkedBinding process.dlopen Deno.dlopen Bun.FFI WebAssembly.instantiate",
        acts: &[Opaque(Unfollowed::Native)],
    },
    // Values.
    Row {
        names: "path.resolve path.posix.resolve",
        acts: &[Pure(c::path_joined)],
    },
    Row {
        names: "path.join path.posix.join",
        acts: &[Pure(c::path_appended)],
    },
    Row {
        names: "path.dirname path.posix.dirname",
        acts: &[Pure(c::parent)],
    },
    Row {
        names: "os.tmpdir",
        acts: &[Pure(c::temporary)],
    },
    Row {
        names: "URL url.URL",
        acts: &[Pure(c::address)],
    },
    Row {
        names: "__toESM __importStar __importDefault _interopRequireDefault _interopRequireWildcard \
                url.fileURLToPath fileURLToPath String String.raw util.promisify promisify path.normalize decodeURIComponent unescape Object.freeze",
        acts: &[Pure(c::first)],
    },
    Row {
        names: "process.cwd Deno.cwd",
        acts: &[WorkingDirectory(None)],
    },
    Row {
        names: "String.fromCharCode String.fromCodePoint",
        acts: &[Pure(c::characters)],
    },
    Row {
        names: "Buffer.from",
        acts: &[Pure(buffer)],
    },
    Row {
        names: "atob",
        acts: &[Pure(c::base64)],
    },
];

/// `Buffer.from([114, 109])` or `Buffer.from("cm0=", "base64")`.
fn buffer(args: &[crate::code::values::Value]) -> crate::code::values::Value {
    match args {
        [crate::code::values::Value::List(_)] => c::characters(args),
        _ => c::decoded(args),
    }
}
