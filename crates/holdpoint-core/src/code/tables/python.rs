//! Python's functions. Not listed: what loads a file that stands on the disk (`import`), which is like running a
//! script by its path.

use super::CallEffect::*;
use super::{Depth, FIRST, Parameter, Row, SECOND};
use crate::code::Unfollowed;
use crate::code::constants as c;

const PATH: Parameter = Parameter(0, "path");
const SRC: Parameter = Parameter(0, "src");
const DST: Parameter = Parameter(1, "dst");
const FILE: Parameter = Parameter(0, "file");
const MODE: Parameter = Parameter(1, "mode");
const URL: Parameter = Parameter(0, "url");

pub(super) static ROWS: &[Row] = &[
    Row {
        names: "os.remove os.unlink os.rmdir os.removedirs",
        acts: &[Delete(PATH, Depth::One)],
    },
    Row {
        names: "shutil.rmtree ?#rmtree tempfile.TemporaryDirectory._rmtree setuptools._distutils.dir_util.remove_tree \
                distutils.dir_util.remove_tree",
        acts: &[Delete(PATH, Depth::Tree)],
    },
    // Files by libraries that speak of them as a store's.
    Row {
        names: "fsspec.filesystem fsspec.open_local fs.open_fs fs.osfs.OSFS py.path.local",
        acts: &[Make("Tree", FIRST)],
    },
    Row {
        names: "Tree#rm Tree#delete Tree#rmtree Tree#removetree Tree#removedir Tree#rm_file Tree#removetree",
        acts: &[Delete(SECOND, Depth::Tree)],
    },
    Row {
        names: "Tree#remove",
        acts: &[Delete(FIRST, Depth::Tree)],
    },
    Row {
        names: "send2trash.send2trash",
        acts: &[Delete(FIRST, Depth::Tree)],
    },
    Row {
        names: "Path#unlink Path#rmdir ?#unlink ?#rmdir pathlib.Path.unlink pathlib.Path.rmdir",
        acts: &[Delete(FIRST, Depth::One)],
    },
    Row {
        names: "Path#write_text Path#write_bytes Path#touch Path#mkdir Path#symlink_to Path#hardlink_to \
                ?#write_text ?#write_bytes pathlib.Path.write_text pathlib.Path.write_bytes",
        acts: &[Write(FIRST)],
    },
    Row {
        names: "Path#read_text Path#read_bytes",
        acts: &[Read(FIRST)],
    },
    Row {
        names: "Path#rename Path#replace",
        acts: &[Rename(FIRST, SECOND)],
    },
    Row {
        names: "Path#chmod Path#lchmod ?#chmod",
        acts: &[ChangeMode(FIRST)],
    },
    Row {
        names: "Path#open",
        acts: &[Open(FIRST, MODE)],
    },
    Row {
        names: "?#open",
        acts: &[OpenIfWriting(FIRST, MODE)],
    },
    Row {
        names: "open io.open codecs.open gzip.open bz2.open lzma.open io.FileIO tokenize.open",
        acts: &[Open(FILE, MODE)],
    },
    Row {
        names: "tarfile.open shelve.open dbm.open",
        acts: &[Open(FILE, MODE)],
    },
    Row {
        names: "zipfile.ZipFile",
        acts: &[Open(FILE, MODE)],
    },
    Row {
        names: "os.open",
        acts: &[OpenFlags(PATH, Parameter(1, "flags"))],
    },
    Row {
        names: "os.truncate os.mkdir os.makedirs os.mkfifo os.mknod",
        acts: &[Write(PATH)],
    },
    Row {
        names: "os.symlink os.link",
        acts: &[Link(SRC, DST)],
    },
    Row {
        names: "os.chmod os.chown os.lchown os.lchmod os.utime os.setxattr shutil.chown shutil.copymode shutil.copystat",
        acts: &[ChangeMode(PATH)],
    },
    Row {
        names: "os.rename os.replace os.renames shutil.move",
        acts: &[Rename(SRC, DST)],
    },
    Row {
        names: "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree",
        acts: &[Read(SRC), Write(DST)],
    },
    Row {
        names: "shutil.unpack_archive",
        acts: &[Read(FIRST), Write(Parameter(1, "extract_dir"))],
    },
    Row {
        names: "shutil.make_archive",
        acts: &[Write(FIRST)],
    },
    // Programs.
    Row {
        names: "os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput \
                asyncio.create_subprocess_shell os.startfile subprocess32.getoutput",
        acts: &[Shell(Parameter(0, "cmd"))],
    },
    Row {
        names: "subprocess.run subprocess.call subprocess.check_call subprocess.check_output \
                subprocess.Popen distutils.spawn.spawn setuptools._distutils.spawn.spawn anyio.run_process anyio.open_process \
                trio.run_process trio.lowlevel.open_process",
        acts: &[Start],
    },
    Row {
        names: "asyncio.create_subprocess_exec pexpect.spawn pexpect.run",
        acts: &[Run(0)],
    },
    Row {
        names: "os.execl os.execlp os.execle os.execlpe",
        acts: &[RunNamed(0)],
    },
    Row {
        names: "os.spawnl os.spawnlp os.spawnle os.spawnlpe",
        acts: &[RunNamed(1)],
    },
    Row {
        names: "os.execv os.execvp os.execve os.execvpe os.posix_spawn os.posix_spawnp",
        acts: &[RunVector(FIRST, SECOND)],
    },
    Row {
        names: "os.spawnv os.spawnvp os.spawnve os.spawnvpe",
        acts: &[RunVector(Parameter(1, ""), Parameter(2, ""))],
    },
    Row {
        names: "pty.spawn",
        acts: &[StartOnTerminal(FIRST)],
    },
    Row {
        names: "?#system ?#popen ?#getoutput",
        acts: &[Shell(SECOND)],
    },
    // `session.run("rm", "-rf", "x")` of nox and its like.
    Row {
        names: "?#run ?#sudo ?#local",
        acts: &[RunIfKnown(1)],
    },
    Row {
        names: "?#run_line_magic",
        acts: &[Shell(Parameter(2, "line"))],
    },
    Row {
        names: "?#run_cell_magic",
        acts: &[Shell(Parameter(3, "cell"))],
    },
    Row {
        names: "tempfile.mkdtemp tempfile.mkstemp tempfile.mktemp tempfile.NamedTemporaryFile \
                tempfile.TemporaryDirectory",
        acts: &[Pure(temporary)],
    },
    Row {
        names: "platform.system",
        acts: &[Pure(c::nothing)],
    },
    // It may change what it reads in place.
    Row {
        names: "fileinput.input fileinput.FileInput",
        acts: &[Write(Parameter(0, "files"))],
    },
    // Network.
    Row {
        names: "urllib.request.urlopen urllib.urlopen urllib2.urlopen urllib.request.Request \
                requests.get requests.post requests.put requests.delete requests.patch requests.head \
                requests.options httpx.get httpx.post httpx.put httpx.delete httpx.patch httpx.head \
                websockets.connect wget.download webbrowser.open",
        acts: &[Connect(URL)],
    },
    Row {
        names: "urllib.request.urlretrieve",
        acts: &[Connect(URL), Write(Parameter(1, "filename"))],
    },
    Row {
        names: "requests.request httpx.request httpx.stream",
        acts: &[Connect(Parameter(1, "url"))],
    },
    Row {
        names: "http.client.HTTPConnection http.client.HTTPSConnection ftplib.FTP ftplib.FTP_TLS \
                smtplib.SMTP smtplib.SMTP_SSL telnetlib.Telnet socket.create_connection \
                asyncio.open_connection imaplib.IMAP4_SSL poplib.POP3_SSL",
        acts: &[Connect(Parameter(0, "host"))],
    },
    Row {
        names: "socket.socket requests.Session requests.session httpx.Client httpx.AsyncClient \
                aiohttp.ClientSession paramiko.SSHClient",
        acts: &[Make("Session", Parameter(9, ""))],
    },
    Row {
        names: "Session#connect Session#connect_ex Session#get Session#post Session#put Session#delete \
                Session#patch Session#head Session#ws_connect",
        acts: &[Connect(SECOND)],
    },
    Row {
        names: "Session#sendto",
        acts: &[Connect(Parameter(2, ""))],
    },
    Row {
        names: "Session#request",
        acts: &[Connect(Parameter(2, "url"))],
    },
    // Code and names made at run time.
    Row {
        names: "eval exec ?#exec_module code.interact",
        acts: &[Eval(Parameter(0, "source"))],
    },
    Row {
        names: "compile",
        acts: &[Pure(c::first)],
    },
    Row {
        names: "runpy.run_path execfile",
        acts: &[As("python3 {0}")],
    },
    // What is loaded runs what it says.
    Row {
        names: "pickle.load _pickle.load cPickle.load dill.load cloudpickle.load",
        acts: &[As("python3 -m pickle {file}")],
    },
    Row {
        names: "joblib.load torch.load pandas.read_pickle",
        acts: &[Read(FIRST), As("python3 -m pickle {file}")],
    },
    Row {
        names: "timeit.timeit timeit.repeat timeit.Timer",
        acts: &[
            EvalText(Parameter(0, "stmt")),
            EvalText(Parameter(1, "setup")),
        ],
    },
    Row {
        names: "__import__ importlib.import_module importlib.__import__",
        acts: &[Import(Parameter(0, "name"))],
    },
    Row {
        names: "getattr",
        acts: &[Attribute(FIRST, SECOND)],
    },
    Row {
        names: "operator.attrgetter operator.methodcaller globals",
        acts: &[Opaque(Unfollowed::DynamicName)],
    },
    Row {
        names: "importlib.util.spec_from_file_location importlib.machinery.SourceFileLoader \
                types.FunctionType types.CodeType",
        acts: &[Opaque(Unfollowed::Evaluates)],
    },
    Row {
        names: "ctypes.* cffi.* _ctypes.* pickle.loads marshal.loads dill.loads yaml.unsafe_load \
                cloudpickle.loads jsonpickle.decode _pickle.loads cPickle.loads",
        acts: &[Opaque(Unfollowed::Native)],
    },
    // Values.
    Row {
        names: "pathlib.Path pathlib.PosixPath pathlib.PurePath Path",
        acts: &[MakeJoined("Path")],
    },
    Row {
        names: "os.path.join posixpath.join",
        acts: &[Pure(c::path_joined)],
    },
    Row {
        names: "str bytes bytearray list tuple os.path.expanduser os.path.abspath os.path.normpath os.path.realpath \
                os.fspath os.fsencode textwrap.dedent",
        acts: &[Pure(first_or_characters)],
    },
    Row {
        names: "os.path.expandvars",
        acts: &[Pure(expanded)],
    },
    Row {
        names: "len type isinstance hasattr dir id help",
        acts: &[Pure(c::nothing)],
    },
    Row {
        names: "os.getcwd os.getcwdb",
        acts: &[WorkingDirectory(None)],
    },
    Row {
        names: "pathlib.Path.cwd Path.cwd",
        acts: &[WorkingDirectory(Some("Path"))],
    },
    Row {
        names: "tempfile.gettempdir",
        acts: &[Pure(c::temporary)],
    },
    Row {
        names: "os.path.dirname posixpath.dirname",
        acts: &[Pure(c::parent)],
    },
    Row {
        names: "chr",
        acts: &[Pure(c::characters)],
    },
    Row {
        names: "bytes.fromhex bytearray.fromhex binascii.unhexlify binascii.a2b_hex",
        acts: &[Pure(c::hex)],
    },
    Row {
        names: "base64.b64decode base64.standard_b64decode base64.urlsafe_b64decode base64.decodebytes \
                binascii.a2b_base64",
        acts: &[Pure(c::base64)],
    },
    Row {
        names: "codecs.decode",
        acts: &[Pure(c::decoded)],
    },
    Row {
        names: "shlex.split",
        acts: &[Pure(c::words)],
    },
];

/// What has just been made for a while, as the shell knows `mktemp`: nobody else has anything there.
fn temporary(_: &[crate::code::values::Value]) -> crate::code::values::Value {
    crate::code::values::Value::known("/tmp/tmp.XXXXXXXXXX".to_owned())
}

/// `$HOME` in a path is the home.
fn expanded(args: &[crate::code::values::Value]) -> crate::code::values::Value {
    use crate::code::values::Value;
    match args.first().and_then(Value::text) {
        Some(text) => Value::known(text.replace("${HOME}", "~").replace("$HOME", "~")),
        None => Value::Unknown,
    }
}

/// `str(text)` is the text; `bytes([114, 109])` are the characters.
fn first_or_characters(args: &[crate::code::values::Value]) -> crate::code::values::Value {
    use crate::code::values::Value;
    match args {
        [Value::List(numbers)]
            if numbers
                .iter()
                .all(|value| matches!(value, Value::Number(_))) =>
        {
            c::characters(args)
        }
        _ => c::first(args),
    }
}
