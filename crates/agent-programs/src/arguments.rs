//! The arguments of each program.

use crate::command_line::{
    CommandLine, CommandLineError, HomeFile, HomeFileWhen, RunUser, Session,
};
use crate::settings::ProgramSettings;

/// What Claude Code may use where it may not do everything: its tools for work
/// in the directory and on the web.
const CLAUDE_TOOLS: &str = "Bash,Edit,Glob,Grep,NotebookEdit,Read,Task,TodoWrite,WebFetch,\
                            WebSearch,Write";

/// Without the first, usage is only exact in the last line.
const CLAUDE_OUTPUT: &[&str] = &[
    "--include-partial-messages",
    "--output-format",
    "stream-json",
    "--verbose",
];

const GEMINI_SETTINGS: &str = concat!(
    r#"{"security":{"auth":{"selectedType":"gemini-api-key"}},"#,
    r#""general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},"#,
    r#""privacy":{"usageStatisticsEnabled":false}}"#,
);

impl CommandLine {
    fn new(arguments: &[&str]) -> Self {
        let mut line = Self::default();
        line.push(arguments);
        line
    }

    fn push(&mut self, arguments: &[&str]) {
        let owned = arguments.iter().map(|&argument| argument.to_owned());
        self.arguments.extend(owned);
    }

    /// An option with its value, where there is one.
    fn push_option(&mut self, option: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.push(&[option, value]);
        }
    }

    fn set(&mut self, variables: &[(&'static str, &str)]) {
        let owned = variables
            .iter()
            .map(|&(name, value)| (name, value.to_owned()));
        self.environment.extend(owned);
    }
}

pub(crate) fn claude(
    settings: &ProgramSettings,
    session: Session<'_>,
    user: RunUser,
) -> Result<CommandLine, CommandLineError> {
    let asked = settings.dangerously_skip_permissions;
    if user == RunUser::Root && asked == Some(true) {
        return Err(CommandLineError::RootRefused);
    }
    let mut line = CommandLine::new(&["-p"]);
    line.push(CLAUDE_OUTPUT);
    line.unrestricted = asked.unwrap_or(user != RunUser::Root);
    if line.unrestricted {
        line.push(&["--dangerously-skip-permissions"]);
    } else {
        // The list takes every argument up to the next option, so one must follow.
        line.push(&["--allowedTools", CLAUDE_TOOLS]);
        line.push(&["--permission-mode", "dontAsk"]);
    }
    line.push_option("--model", settings.model.as_deref());
    line.push_option("--effort", settings.effort.as_deref());
    let max_turns = settings.max_turns_per_run.map(|turns| turns.to_string());
    line.push_option("--max-turns", max_turns.as_deref());
    if settings.chrome {
        line.push(&["--chrome"]);
    }
    match session {
        Session::New { id: Some(id) } => line.push(&["--session-id", id.as_str()]),
        Session::New { id: None } => {}
        Session::Resume(id) => line.push(&["--resume", id.as_str()]),
    }
    line.arguments.extend_from_slice(&settings.extra_args);
    line.set(&[("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")]);
    Ok(line)
}

pub(crate) fn codex(
    settings: &ProgramSettings,
    session: Session<'_>,
    _user: RunUser,
) -> Result<CommandLine, CommandLineError> {
    let mut line = CommandLine::new(&["exec"]);
    if matches!(session, Session::Resume(_)) {
        line.push(&["resume"]);
    }
    line.push(&["--json"]);
    line.unrestricted = settings
        .dangerously_bypass_approvals_and_sandbox
        .unwrap_or(true);
    if line.unrestricted {
        line.push(&["--dangerously-bypass-approvals-and-sandbox"]);
    } else {
        line.push(&["--skip-git-repo-check"]);
        line.push(&["-c", "sandbox_mode=\"workspace-write\""]);
        // An agent that reaches no network cannot report what it did.
        line.push(&["-c", "sandbox_workspace_write.network_access=true"]);
    }
    line.push_option("-m", settings.model.as_deref());
    // The values of `-c` are TOML; a word never holds a quotation mark.
    if let Some(effort) = &settings.model_reasoning_effort {
        line.push(&["-c", &format!("model_reasoning_effort=\"{effort}\"")]);
    }
    if settings.search {
        line.push(&["-c", "web_search=\"live\""]);
    }
    line.push(&["-c", "analytics.enabled=false"]);
    line.push(&["-c", "check_for_update_on_startup=false"]);
    // Plugins make it start git against the internet.
    line.push(&["--disable", "plugins"]);
    // A login shell replaces PATH, and with it the commands of the agent.
    line.push(&["-c", "allow_login_shell=false"]);
    line.arguments.extend_from_slice(&settings.extra_args);
    if let Session::Resume(id) = session {
        line.push(&[id.as_str()]);
    }
    line.push(&["-"]);
    Ok(line)
}

pub(crate) fn gemini(
    settings: &ProgramSettings,
    session: Session<'_>,
    _user: RunUser,
) -> Result<CommandLine, CommandLineError> {
    let mut line = CommandLine::new(&["-o", "stream-json"]);
    line.unrestricted = settings.dangerously_skip_permissions.unwrap_or(true);
    if line.unrestricted {
        line.push(&["--yolo"]);
    } else {
        // Otherwise the model is not even given a shell. The list takes every
        // argument up to the next option, so one must follow.
        line.push(&["--allowed-tools", "run_shell_command"]);
        line.push(&["--approval-mode", "auto_edit"]);
    }
    line.push(&["--skip-trust"]);
    line.push_option("-m", settings.model.as_deref());
    match session {
        Session::New { id: Some(id) } => line.push(&["--session-id", id.as_str()]),
        Session::New { id: None } => {}
        Session::Resume(id) => line.push(&["--resume", id.as_str()]),
    }
    line.arguments.extend_from_slice(&settings.extra_args);
    // Otherwise it starts itself again, and a signal does not reach the second.
    line.set(&[("GEMINI_CLI_NO_RELAUNCH", "true")]);
    line.home_files.push(HomeFile {
        path: ".gemini/settings.json",
        content: GEMINI_SETTINGS.to_owned(),
        when: HomeFileWhen::IfAbsent,
    });
    Ok(line)
}

pub(crate) fn opencode(
    settings: &ProgramSettings,
    session: Session<'_>,
    _user: RunUser,
) -> Result<CommandLine, CommandLineError> {
    let mut line = CommandLine::new(&["run", "--format", "json"]);
    line.push_option("-m", settings.model.as_deref());
    if let Session::Resume(id) = session {
        line.push(&["--session", id.as_str()]);
    }
    line.arguments.extend_from_slice(&settings.extra_args);
    line.unrestricted = settings.dangerously_skip_permissions.unwrap_or(true);
    let configuration = if line.unrestricted {
        r#"{"autoupdate":false,"share":"disabled","permission":{"*":"allow"}}"#
    } else {
        r#"{"autoupdate":false,"share":"disabled"}"#
    };
    line.set(&[
        ("OPENCODE_CONFIG_CONTENT", configuration),
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_SHARE", "1"),
    ]);
    Ok(line)
}

pub(crate) fn pi(
    settings: &ProgramSettings,
    session: Session<'_>,
    _user: RunUser,
) -> Result<CommandLine, CommandLineError> {
    let mut line = CommandLine::new(&["-p", "--mode", "json"]);
    let model = settings.model.as_deref();
    let parts = model.and_then(|model| model.split_once('/'));
    match parts.filter(|(provider, model)| !provider.is_empty() && !model.starts_with('-')) {
        Some((provider, model)) => line.push(&["--provider", provider, "--model", model]),
        None => line.push_option("--model", model),
    }
    match session {
        Session::New { id: Some(id) } => line.push(&["--session-id", id.as_str()]),
        Session::New { id: None } => {}
        // With `--session-id` an unknown id would silently become a new session.
        Session::Resume(id) => line.push(&["--session", id.as_str()]),
    }
    line.arguments.extend_from_slice(&settings.extra_args);
    line.set(&[
        ("PI_OFFLINE", "1"),
        ("PI_SKIP_VERSION_CHECK", "1"),
        ("PI_TELEMETRY", "0"),
    ]);
    // It never asks.
    line.unrestricted = true;
    Ok(line)
}

pub(crate) fn cursor(
    settings: &ProgramSettings,
    session: Session<'_>,
    _user: RunUser,
) -> Result<CommandLine, CommandLineError> {
    let mut line = CommandLine::new(&["-p", "--output-format", "stream-json"]);
    line.unrestricted = settings.dangerously_skip_permissions.unwrap_or(true);
    if line.unrestricted {
        line.push(&["--force"]);
    }
    line.push_option("--model", settings.model.as_deref());
    if let Session::Resume(id) = session {
        line.push(&["--resume", id.as_str()]);
    }
    line.arguments.extend_from_slice(&settings.extra_args);
    Ok(line)
}
