//! What every git command is given, whatever the repository, the machine or the
//! user is configured to do.

use std::ffi::OsString;

/// Settings that no repository can change: those of the command line come last.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.editor=false",
    "core.pager=cat",
    "core.askPass=",
    // Both can be written by whoever may write objects, and lie about history.
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.logAllRefUpdates=false",
    "core.alternateRefsCommand=true",
    "credential.helper=",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "push.followTags=false",
    "push.recurseSubmodules=no",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "receive.autogc=false",
    "receive.denyCurrentBranch=refuse",
    "http.followRedirects=false",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.http.allow=always",
    "protocol.ssh.allow=always",
    "protocol.file.allow=always",
    "protocol.ext.allow=never",
    "safe.directory=*",
    "safe.bareRepository=all",
    "advice.detachedHead=false",
    "color.ui=false",
];

/// What keeps hooks from running.
const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// The programs at the other end of a remote on this machine read its settings,
/// not ours: these are given to them.
const AT_LOCAL_REMOTE: &[&str] = &[
    "core.fsmonitor=false",
    "core.alternateRefsCommand=true",
    "receive.denyCurrentBranch=refuse",
    "receive.autogc=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "safe.directory=*",
    "safe.bareRepository=all",
];

/// Variables of the server that git is given.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "TZ",
    "SSH_AUTH_SOCK",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Variables with the same value for every command.
const FIXED: &[(&str, &str)] = &[
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes"),
    ("GIT_SSH_VARIANT", "ssh"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "false"),
    ("GIT_FLUSH", "0"),
    // Files and objects that are larger are read in parts, or not at all.
    ("GIT_ALLOC_LIMIT", "1g"),
];

/// The options before the name of a command.
pub(crate) fn options() -> impl Iterator<Item = OsString> {
    SETTINGS
        .iter()
        .flat_map(|setting| [OsString::from("-c"), OsString::from(setting)])
}

/// The whole environment of a command, without that of a repository.
pub(crate) fn variables() -> Vec<(OsString, OsString)> {
    let inherited = INHERITED
        .iter()
        .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    let fixed = FIXED.iter().map(|(k, v)| (k.into(), v.into()));
    inherited.chain(fixed).collect()
}

/// The settings as variables, with more of them, for a program that runs git itself.
pub(crate) fn settings_as_variables(more: Vec<(String, String)>) -> Vec<(OsString, OsString)> {
    let own = SETTINGS.iter().filter_map(|it| it.split_once('='));
    let own = own.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let mut variables = Vec::new();
    let mut count = 0;
    for (key, value) in own.chain(more) {
        variables.push((format!("GIT_CONFIG_KEY_{count}").into(), key.into()));
        variables.push((format!("GIT_CONFIG_VALUE_{count}").into(), value.into()));
        count += 1;
    }
    variables.push(("GIT_CONFIG_COUNT".into(), count.to_string().into()));
    variables
}

/// The command that serves a remote on this machine, for a shell.
pub(crate) fn local_service(name: &str, with_hooks: bool) -> String {
    let mut command = String::from("git");
    let hooks = (!with_hooks).then_some(&NO_HOOKS);
    for setting in hooks.into_iter().chain(AT_LOCAL_REMOTE) {
        command.push_str(" -c '");
        command.push_str(setting);
        command.push('\'');
    }
    command.push(' ');
    command.push_str(name);
    command
}
