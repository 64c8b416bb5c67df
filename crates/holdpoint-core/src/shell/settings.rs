//! Settings that make a program run something other than itself.
//!
//! Promises a yes for every variable and configuration key listed here unless its value is
//! one of a few harmless programs. The lists are data. Most changes of `PATH` are honest: only
//! directories anybody may write to are among what is asked about.

use super::texts::Argument;
use crate::paths::is_within;

/// Variables whose value is a command or code, or names a file of code.
const VARIABLES: &[&str] = &[
    "ANSIBLE_SSH_EXECUTABLE",
    "AWS_PAGER",
    "BASH_ALIASES",
    "BASH_CMDS",
    "BASH_ENV",
    "BASH_LOADABLES_PATH",
    "BAT_PAGER",
    "BROWSER",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTDOC",
    "CCACHE_PREFIX",
    "CCACHE_PREFIX_CPP",
    "COMPILER_PATH",
    "CONFIG_SHELL",
    "CONFIG_SITE",
    "CORECLR_PROFILER_PATH",
    "COR_PROFILER_PATH",
    "CVSEDITOR",
    "CVS_RSH",
    "DELTA_PAGER",
    "DOTNET_STARTUP_HOOKS",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "EDITOR",
    "ENV",
    "EXINIT",
    "FCEDIT",
    "FZF_DEFAULT_COMMAND",
    "GCC_EXEC_PREFIX",
    "GCONV_PATH",
    "GH_BROWSER",
    "GH_EDITOR",
    "GH_PAGER",
    "GIT_ASKPASS",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SHELL_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TEMPLATE_DIR",
    "GLAB_PAGER",
    "GTK_MODULES",
    "HARNESS_PERL",
    "HGEDITOR",
    "HGMERGE",
    "HGRCPATH",
    "KUBECTL_EXTERNAL_DIFF",
    "KUBE_EDITOR",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LESSCLOSE",
    "LESSEDIT",
    "LESSKEY",
    "LESSKEYIN",
    "LESSKEY_CONTENT",
    "LESSOPEN",
    "LUA_INIT",
    "MAKEFILES",
    "MANPAGER",
    "NODE_REPL_EXTERNAL_MODULE",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "P4DIFF",
    "P4EDITOR",
    "P4MERGE",
    "P4PAGER",
    "PAGER",
    "PERL5DB",
    "PERL5OPT",
    "PERL5SHELL",
    "PHPRC",
    "PROMPT_COMMAND",
    "PSQLRC",
    "PSQL_EDITOR",
    "PSQL_PAGER",
    "PYTHONBREAKPOINT",
    "PYTHONSTARTUP",
    "RIPGREP_CONFIG_PATH",
    "RSYNC_CONNECT_PROG",
    "RSYNC_RSH",
    "RUBYOPT",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "R_PROFILE",
    "R_PROFILE_USER",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SSH_PKCS11_HELPER",
    "SSH_SK_HELPER",
    "SSH_SK_PROVIDER",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "SVN_EDITOR",
    "SVN_MERGE",
    "SVN_SSH",
    "SYSTEMD_EDITOR",
    "SYSTEMD_PAGER",
    "TAR_OPTIONS",
    "TEXEDIT",
    "VIMINIT",
    "VISUAL",
    "WGETRC",
    "ZDOTDIR",
];

/// Lists of directories in which code is looked for.
const SEARCHED: &[&str] = &["CLASSPATH", "GEM_PATH", "NODE_PATH", "PATH"];

/// Directories anybody may write to.
const ANYBODYS: [&str; 3] = ["/dev/shm", "/tmp", "/var/tmp"];

/// Directories of libraries that are installed.
const INSTALLED: [&str; 4] = ["/lib", "/lib64", "/opt", "/usr"];

/// Variables whose value is harmless unless it holds one of these texts.
const VARIABLES_WITH: &[(&str, &[&str])] = &[
    ("JAVA_TOOL_OPTIONS", &["agent", "-XX:On"]),
    ("JDK_JAVA_OPTIONS", &["agent", "-XX:On"]),
    ("ANT_OPTS", &["agent", "-XX:On"]),
    ("CARGO_ENCODED_RUSTFLAGS", &["linker="]),
    ("AR", &["./", "/tmp/"]),
    ("CC", &["./", "/tmp/"]),
    ("CXX", &["./", "/tmp/"]),
    ("LD", &["./", "/tmp/"]),
    ("CFLAGS", &["-fplugin", "-wrapper"]),
    ("CGO_CFLAGS", &["-fplugin", "-wrapper"]),
    ("CGO_LDFLAGS", &["-fplugin", "-wrapper", "-plugin"]),
    ("CXXFLAGS", &["-fplugin", "-wrapper"]),
    ("LDFLAGS", &["-fplugin", "-wrapper", "-plugin"]),
    ("CMAKE_CXX_COMPILER_LAUNCHER", &["/", " ", ";"]),
    ("CMAKE_C_COMPILER_LAUNCHER", &["/", " ", ";"]),
    ("ELIXIR_ERL_OPTIONS", &["-eval", "-run", "-s "]),
    ("ERL_AFLAGS", &["-eval", "-run", "-s "]),
    ("ERL_FLAGS", &["-eval", "-run", "-s "]),
    (
        "FZF_DEFAULT_OPTS",
        &["execute", "become", "preview", "reload"],
    ),
    ("GIT_ALLOW_PROTOCOL", &["ext"]),
    ("BORG_PASSCOMMAND", &["/", " "]),
    ("CARGO_HOME", &["/tmp/", "./"]),
    ("GOAUTH", &["/", " "]),
    ("GOCACHEPROG", &["/", " "]),
    ("GOROOT", &["/tmp/", "./"]),
    ("PKG_CONFIG", &["./", "/tmp/", " "]),
    ("TERRAGRUNT_TFPATH", &["/", " "]),
    ("npm_config_git", &["/", " "]),
    ("npm_config_node_gyp", &["/", " "]),
    ("GNUMAKEFLAGS", &["eval", "SHELL", "-f", "-E", "file"]),
    ("GOFLAGS", &["exec", "vettool"]),
    ("GRADLE_OPTS", &["agent", "-XX:On"]),
    ("LESS", &["+!", "!", "+|"]),
    ("MAKEFLAGS", &["eval", "SHELL", "-f", "-E", "file"]),
    ("MAVEN_OPTS", &["agent", "-XX:On"]),
    ("MANOPT", &["-P", "--pager"]),
    ("NPM_CONFIG_SCRIPT_SHELL", &["/", " "]),
    (
        "NODE_OPTIONS",
        &[
            "-r",
            "--import",
            "--loader",
            "--experimental-loader",
            "--eval",
        ],
    ),
    ("PS0", &["$(", "`"]),
    ("PS1", &["$(", "`"]),
    ("PS2", &["$(", "`"]),
    ("PS4", &["$(", "`"]),
    ("RUSTC", &["/", " "]),
    ("RUSTDOC", &["/", " "]),
    ("RUSTFLAGS", &["linker=/", "linker=.", "linker=~"]),
    ("PYTHONWARNINGS", &["antigravity"]),
    ("SHELL", &["./", "/tmp/", " "]),
    ("ZIPOPT", &["-TT", "--unzip-command"]),
    ("_JAVA_OPTIONS", &["agent", "-XX:On"]),
    ("npm_config_script_shell", &["/", " "]),
];

/// Beginnings of variables that carry functions or configuration.
const PREFIXES: &[&str] = &["BASH_FUNC_", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// Keys of git's configuration whose value is a command, lower case, last part only where
/// the middle is free.
const GIT_KEYS: &[&str] = &[
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.hookspath",
    "core.askpass",
    "core.gitproxy",
    "core.alternaterefscommand",
    "sequence.editor",
    "diff.external",
    "credential.helper",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultkeycommand",
    "gpg.x509.program",
    "uploadpack.packobjectshook",
    "gc.recentobjectshook",
    "init.templatedir",
    "include.path",
    "web.browser",
    "help.browser",
    "man.viewer",
    "sendemail.sendmailcmd",
    "sendemail.tocmd",
    "sendemail.cccmd",
    "interactive.difffilter",
    "protocol.ext.allow",
    "ssh.variant",
    "blame.pager",
];

/// Last parts that make a command of any key.
const GIT_ENDINGS: &[&str] = &[
    "cmd",
    "command",
    "textconv",
    "clean",
    "smudge",
    "process",
    "driver",
    "helper",
    "pager",
    "editor",
    "path",
    "update",
    "receivepack",
    "uploadpack",
    "vcs",
    "proxycommand",
];

/// Programs that show, edit or do nothing.
const HARMLESS: &[&str] = &[
    "",
    "/dev/null",
    "0",
    "1",
    ":",
    "bat",
    "cat",
    "ccache",
    "code --wait",
    "delta",
    "ed",
    "emacs",
    "false",
    "less",
    "less -FRX",
    "less -R",
    "more",
    "most",
    "nano",
    "never",
    "nvim",
    "sccache",
    "true",
    "vi",
    "vim",
];

/// Whether a command line is ssh itself, told nothing but which key, port or account to use.
fn is_plain_ssh(line: &str) -> bool {
    let mut words = line.split_whitespace();
    if words.next() != Some("ssh") {
        return false;
    }
    let signs = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./~-".contains(&byte);
    while let Some(word) = words.next() {
        let known = match word {
            "-i" | "-p" | "-l" => words.next().is_some_and(|value| value.bytes().all(signs)),
            "-o" => words.next().is_some_and(is_plain_ssh_option),
            "-v" | "-4" | "-6" | "-q" | "-T" | "-a" | "-x" => true,
            _ => word.strip_prefix("-o").is_some_and(is_plain_ssh_option),
        };
        if !known {
            return false;
        }
    }
    true
}

/// Options of ssh that choose among keys, or say how long to wait.
fn is_plain_ssh_option(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    [
        "BatchMode",
        "ConnectTimeout",
        "IdentitiesOnly",
        "IdentityFile",
        "ServerAliveInterval",
    ]
    .iter()
    .any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether setting a variable to a value makes some program run something else.
pub(super) fn variable_runs(name: &str, value: &Argument) -> bool {
    let harmless = value.known().is_some_and(|text| {
        HARMLESS.contains(&text) || (name == "GIT_SSH_COMMAND" && is_plain_ssh(text))
    });
    if SEARCHED.contains(&name) {
        let mut directories = value.unquoted().split(':');
        return directories.any(|one| ANYBODYS.iter().any(|open| is_within(one, open)));
    }
    if VARIABLES.contains(&name) {
        return !(harmless || name.ends_with("LIBRARY_PATH") && is_installed(value));
    }
    if let Some((_, texts)) = VARIABLES_WITH.iter().find(|(known, _)| *known == name) {
        let text = value.unquoted();
        return value.text.dynamic || texts.iter().any(|bad| text.contains(bad));
    }
    // `CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER`; a bare name is something that is installed.
    let of_target = name.strip_prefix("CARGO_TARGET_").is_some_and(|rest| {
        (rest.ends_with("_RUNNER") || rest.ends_with("_LINKER"))
            && (value.text.dynamic || value.unquoted().contains(['/', ' ']))
    });
    of_target || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a list of directories names only those of what is installed.
fn is_installed(value: &Argument) -> bool {
    let installed = |one: &str| {
        !one.split('/').any(|part| part == "..")
            && INSTALLED.iter().any(|directory| is_within(one, directory))
    };
    value
        .known()
        .is_some_and(|text| text.split(':').all(installed))
}

/// Whether the value of a variable is a command line.
pub(super) fn is_command(name: &str) -> bool {
    let ends = [
        "PAGER", "EDITOR", "_ASKPASS", "_COMMAND", "SSH", "BROWSER", "VISUAL",
    ];
    ends.iter().any(|end| name.ends_with(end)) && VARIABLES.contains(&name)
}

/// Whether a setting of git (`key=value`, or a key with its value apart) runs something.
pub fn git_setting_runs(key: &str, value: Option<&str>) -> bool {
    if value.is_some_and(|value| HARMLESS.contains(&value)) {
        return false;
    }
    let key = key.to_ascii_lowercase();
    if key == "core.sshcommand" && value.is_some_and(is_plain_ssh) {
        return false;
    }
    if GIT_KEYS.contains(&key.as_str()) {
        return true;
    }
    let Some((section, ending)) = key.rsplit_once('.') else {
        return false;
    };
    match section {
        "alias" => value.is_none_or(|value| value.trim_start().starts_with('!')),
        _ if section.starts_with("alias.") || section.starts_with("pager") => true,
        _ => {
            section.contains('.') && GIT_ENDINGS.contains(&ending)
                || GIT_ENDINGS.contains(&ending) && ending != "path" && ending != "update"
        }
    }
}

/// The name and value of a word that assigns, as the arguments of `env` and `export` do.
pub(super) fn assignment(argument: &Argument) -> Option<(String, Argument)> {
    let text = argument.unquoted();
    let (name, _) = text.split_once('=')?;
    let starts = name.starts_with(|letter: char| letter == '_' || letter.is_ascii_alphabetic());
    let named = name
        .chars()
        .all(|letter| letter == '_' || letter.is_ascii_alphanumeric());
    (starts && named).then(|| (name.to_owned(), argument.tail(name.len() + 1)))
}
