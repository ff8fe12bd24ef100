//! The agent programs, and what is known of each before it runs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::arguments;
use crate::command_line::{CommandLine, CommandLineError, RunUser, Session};
use crate::failure::FailureClass;
use crate::home_path::HomePath;
use crate::output::{self, ReadOutput};
use crate::settings::ProgramSettings;
use crate::sign_in::SignIn;
use crate::usage_files::UsageFiles;

/// A program that can run an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentProgram {
    /// Claude Code of Anthropic.
    Claude,
    /// Codex of OpenAI.
    Codex,
    /// Gemini CLI of Google.
    Gemini,
    /// opencode.
    Opencode,
    /// pi.
    Pi,
    /// The command line of Cursor. It was never run here: its entry, its
    /// arguments and its reader follow its documentation.
    Cursor,
}

impl AgentProgram {
    /// Every program.
    pub const ALL: [Self; 6] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Pi,
        Self::Cursor,
    ];

    /// What is known of it.
    #[must_use]
    pub fn definition(self) -> &'static ProgramDefinition {
        match self {
            Self::Claude => &CLAUDE,
            Self::Codex => &CODEX,
            Self::Gemini => &GEMINI,
            Self::Opencode => &OPENCODE,
            Self::Pi => &PI,
            Self::Cursor => &CURSOR,
        }
    }
}

impl fmt::Display for AgentProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.definition().name)
    }
}

/// A package of the npm registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name there.
    pub name: &'static str,
    /// The version that was run; name it when installing, since npm may choose
    /// a much older one that suits its Node.
    pub version: &'static str,
}

/// What is known of a program before it runs.
#[derive(Debug)]
pub struct ProgramDefinition {
    /// Its name for people.
    pub name: &'static str,
    /// Its command, looked up in `PATH`.
    pub command: &'static str,
    /// Where it comes from; `None` when it has an installer of its own.
    pub package: Option<Package>,
    /// The arguments that make it print its version and end.
    pub version_arguments: &'static [&'static str],
    /// How somebody signs in, in a sentence.
    pub sign_in: &'static str,
    /// How it is seen that somebody has.
    pub signed_in_by: SignIn,
    /// Whether it tells what its calls cost, by each call or at its end.
    pub tells_cost: bool,
    /// Where it tells what it uses while it runs, when its output does not.
    pub usage_files: Option<UsageFiles>,
    /// Memory in MiB that a run of it took at most, with its own processes and
    /// without those of its commands; `None` when that was not seen.
    pub peak_memory_mib: Option<u32>,
    /// Environment variables that hold a key: their values are secret. Programs
    /// hand them on to the commands of the agent.
    pub key_variables: &'static [&'static str],
    /// The keys of its settings that [`ProgramSettings`] reads.
    pub settings: &'static [&'static str],
    /// Whether a supervisor may choose the id of a new session, a UUID.
    pub takes_session_id: bool,
    /// Whether a session can be resumed from another directory than its own.
    pub resumes_elsewhere: bool,
    /// Exit codes that tell the cause of a failure where no text does.
    pub(crate) exit_codes: &'static [(i32, FailureClass)],
    pub(crate) arguments: Arguments,
    pub(crate) output: fn() -> Box<dyn ReadOutput>,
}

type Arguments =
    fn(&ProgramSettings, Session<'_>, RunUser) -> Result<CommandLine, CommandLineError>;

const VERSION: &[&str] = &["--version"];

static CLAUDE: ProgramDefinition = ProgramDefinition {
    name: "Claude Code",
    command: "claude",
    package: Some(Package {
        name: "@anthropic-ai/claude-code",
        version: "2.1.330",
    }),
    version_arguments: VERSION,
    sign_in: "Set ANTHROPIC_API_KEY for the agent, or run `claude setup-token` and set \
              CLAUDE_CODE_OAUTH_TOKEN.",
    signed_in_by: SignIn {
        keys: CLAUDE_KEYS,
        login: Some(HomePath {
            folder_variable: Some("CLAUDE_CONFIG_DIR"),
            folder: ".claude",
            path: ".credentials.json",
        }),
        elsewhere: &["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX"],
        plan_keys: &["CLAUDE_CODE_OAUTH_TOKEN"],
        login_is_plan: true,
    },
    tells_cost: true,
    usage_files: None,
    peak_memory_mib: Some(230),
    key_variables: CLAUDE_KEYS,
    settings: &[
        "command",
        "extraArgs",
        "model",
        "promptTemplate",
        "effort",
        "chrome",
        "maxTurnsPerRun",
        "dangerouslySkipPermissions",
    ],
    takes_session_id: true,
    resumes_elsewhere: true,
    exit_codes: &[],
    arguments: arguments::claude,
    output: output::claude,
};

static CODEX: ProgramDefinition = ProgramDefinition {
    name: "Codex",
    command: "codex",
    package: Some(Package {
        name: "@openai/codex",
        version: "0.169.0",
    }),
    version_arguments: VERSION,
    sign_in: "Set CODEX_API_KEY for the agent, or run `codex login` with its home.",
    signed_in_by: SignIn {
        // `OPENAI_API_KEY` alone is not used.
        keys: &["CODEX_API_KEY"],
        login: Some(HomePath {
            folder_variable: Some("CODEX_HOME"),
            folder: ".codex",
            path: "auth.json",
        }),
        elsewhere: &[],
        plan_keys: &[],
        login_is_plan: true,
    },
    tells_cost: false,
    usage_files: Some(UsageFiles {
        folder: HomePath {
            folder_variable: Some("CODEX_HOME"),
            folder: ".codex",
            path: "sessions",
        },
        depth: 3,
        prefix: "rollout-",
        suffix: ".jsonl",
    }),
    peak_memory_mib: Some(150),
    key_variables: &["CODEX_API_KEY", "OPENAI_API_KEY"],
    settings: &[
        "command",
        "extraArgs",
        "model",
        "promptTemplate",
        "modelReasoningEffort",
        "search",
        "dangerouslyBypassApprovalsAndSandbox",
    ],
    takes_session_id: false,
    resumes_elsewhere: true,
    exit_codes: &[],
    arguments: arguments::codex,
    output: output::codex,
};

static GEMINI: ProgramDefinition = ProgramDefinition {
    name: "Gemini CLI",
    command: "gemini",
    package: Some(Package {
        name: "@google/gemini-cli",
        version: "0.61.0",
    }),
    version_arguments: VERSION,
    sign_in: "Set GEMINI_API_KEY for the agent, or run `gemini` once with its home and sign in.",
    signed_in_by: SignIn {
        keys: GEMINI_KEYS,
        login: Some(HomePath {
            folder_variable: None,
            folder: ".gemini",
            path: "oauth_creds.json",
        }),
        elsewhere: &["GOOGLE_GENAI_USE_VERTEXAI"],
        plan_keys: &[],
        login_is_plan: true,
    },
    tells_cost: false,
    usage_files: None,
    peak_memory_mib: Some(800),
    key_variables: GEMINI_KEYS,
    settings: GENERAL_SETTINGS,
    takes_session_id: true,
    resumes_elsewhere: false,
    exit_codes: &[(41, FailureClass::AuthRequired)],
    arguments: arguments::gemini,
    output: output::gemini,
};

static OPENCODE: ProgramDefinition = ProgramDefinition {
    name: "opencode",
    command: "opencode",
    package: Some(Package {
        name: "opencode-ai",
        version: "1.18.33",
    }),
    version_arguments: VERSION,
    sign_in: "Set the key variable of the model's provider for the agent, or run \
              `opencode auth login` with its home.",
    signed_in_by: SignIn {
        keys: PROVIDER_KEYS,
        login: Some(HomePath {
            folder_variable: Some("XDG_DATA_HOME"),
            folder: ".local/share",
            path: "opencode/auth.json",
        }),
        elsewhere: &[],
        plan_keys: &[],
        login_is_plan: false,
    },
    tells_cost: true,
    usage_files: None,
    peak_memory_mib: Some(850),
    key_variables: PROVIDER_KEYS,
    settings: GENERAL_SETTINGS,
    takes_session_id: false,
    resumes_elsewhere: false,
    exit_codes: &[],
    arguments: arguments::opencode,
    output: output::opencode,
};

static PI: ProgramDefinition = ProgramDefinition {
    name: "pi",
    command: "pi",
    package: Some(Package {
        name: "@earendil-works/pi-coding-agent",
        version: "1.5.2",
    }),
    version_arguments: VERSION,
    sign_in: "Set the key variable of the model's provider for the agent, or run `pi` once with \
              its home and type `/login`.",
    signed_in_by: SignIn {
        keys: PROVIDER_KEYS,
        login: Some(HomePath {
            folder_variable: None,
            folder: ".pi/agent",
            path: "auth.json",
        }),
        elsewhere: &[],
        plan_keys: &[],
        login_is_plan: false,
    },
    tells_cost: true,
    usage_files: None,
    peak_memory_mib: Some(120),
    key_variables: PROVIDER_KEYS,
    settings: &["command", "extraArgs", "model", "promptTemplate"],
    takes_session_id: true,
    resumes_elsewhere: false,
    exit_codes: &[],
    arguments: arguments::pi,
    output: output::pi,
};

static CURSOR: ProgramDefinition = ProgramDefinition {
    name: "Cursor",
    command: "cursor-agent",
    package: None,
    version_arguments: VERSION,
    sign_in: "Set CURSOR_API_KEY for the agent, or run `cursor-agent login` with its home.",
    signed_in_by: SignIn {
        keys: CURSOR_KEYS,
        login: None,
        elsewhere: &[],
        plan_keys: &["CURSOR_API_KEY"],
        login_is_plan: true,
    },
    tells_cost: false,
    usage_files: None,
    peak_memory_mib: None,
    key_variables: CURSOR_KEYS,
    settings: GENERAL_SETTINGS,
    takes_session_id: false,
    resumes_elsewhere: false,
    exit_codes: &[],
    arguments: arguments::cursor,
    output: output::cursor,
};

/// What programs take that only have a switch for asking before they act.
const GENERAL_SETTINGS: &[&str] = &[
    "command",
    "extraArgs",
    "model",
    "promptTemplate",
    "dangerouslySkipPermissions",
];

const CLAUDE_KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
];

const GEMINI_KEYS: &[&str] = &["GEMINI_API_KEY", "GOOGLE_API_KEY"];

const CURSOR_KEYS: &[&str] = &["CURSOR_API_KEY"];

/// The keys of providers that programs for many of them read.
const PROVIDER_KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENCODE_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
];
