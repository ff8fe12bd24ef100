//! The fields of the form, which of them a program has, and how each becomes a value.

use workforce_domain::agent::AdapterType;
use workforce_domain::agent::AdapterType::{
    ClaudeLocal, CodexLocal, Cursor, GeminiLocal, Http, OpencodeLocal, PiLocal, Process,
};
use workforce_domain::string_enum::StringEnum as _;

/// What one types or chooses.
#[derive(Clone, Copy)]
pub(super) enum Input {
    Line,
    Area,
    Number,
    /// One text in each line.
    Lines,
    /// A name and a value in each line.
    Headers,
    Json,
    /// One of these words, each with its value.
    Choice(&'static [(&'static str, &'static str)]),
}

/// A field of the form.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    /// What it means; what it means to leave it empty.
    pub(super) hint: &'static str,
    pub(super) input: Input,
    of: &'static [AdapterType],
}

const LOCAL: &[AdapterType] = &[
    ClaudeLocal,
    CodexLocal,
    GeminiLocal,
    OpencodeLocal,
    Cursor,
    PiLocal,
    Process,
];
const PROGRAMS: &[AdapterType] = &[
    ClaudeLocal,
    CodexLocal,
    GeminiLocal,
    OpencodeLocal,
    Cursor,
    PiLocal,
];
const UNATTENDED: &[AdapterType] = &[ClaudeLocal, GeminiLocal, OpencodeLocal, Cursor, PiLocal];
const PROMPTED: &[AdapterType] = &[
    ClaudeLocal,
    CodexLocal,
    GeminiLocal,
    OpencodeLocal,
    Cursor,
    PiLocal,
    Http,
];
const CLAUDE: &[AdapterType] = &[ClaudeLocal];
const CODEX: &[AdapterType] = &[CodexLocal];
const PROCESS: &[AdapterType] = &[Process];
const HTTP: &[AdapterType] = &[Http];
const ALL: &[AdapterType] = AdapterType::ALL;

const YES_OR_NO: Input = Input::Choice(&[("true", "Yes"), ("false", "No")]);

const fn field(
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    input: Input,
    of: &'static [AdapterType],
) -> Field {
    Field {
        name,
        label,
        hint,
        input,
        of,
    }
}

/// What the program is.
const PROGRAM: &[Field] = &[
    field(
        "adapterConfig/command",
        "Command",
        "The program, found in PATH, or a path. For an agent program only where it is not found by its own name.",
        Input::Line,
        LOCAL,
    ),
    field(
        "adapterConfig/shell",
        "A shell reads the command",
        "Empty means no.",
        YES_OR_NO,
        PROCESS,
    ),
    field(
        "adapterConfig/args",
        "Arguments",
        "One in each line; no shell reads them.",
        Input::Lines,
        PROCESS,
    ),
    field(
        "adapterConfig/stdin",
        "What it reads",
        "Its standard input. Empty means nothing.",
        Input::Area,
        PROCESS,
    ),
    field(
        "adapterConfig/model",
        "Model",
        "Empty means the program's own choice.",
        Input::Line,
        PROGRAMS,
    ),
    field(
        "adapterConfig/cwd",
        "Working folder",
        "An absolute path. Empty means the folder of the issue's project, else one of its own.",
        Input::Line,
        LOCAL,
    ),
    field(
        "adapterConfig/url",
        "Address",
        "Where the agent is: http:// or https://, without credentials.",
        Input::Line,
        HTTP,
    ),
    field(
        "adapterConfig/method",
        "Method",
        "Empty means POST.",
        Input::Choice(&[("POST", "POST"), ("PUT", "PUT"), ("PATCH", "PATCH")]),
        HTTP,
    ),
    field(
        "adapterConfig/headers",
        "Headers",
        "One in each line, as Authorization: Bearer {{env.TOKEN}}. A name in braces stands for a variable below.",
        Input::Headers,
        HTTP,
    ),
    field(
        "adapterConfig/payloadTemplate",
        "What the body begins with",
        "A JSON object. Empty means nothing.",
        Input::Json,
        HTTP,
    ),
    field(
        "adapterConfig/promptTemplate",
        "Its own task",
        "At the end of each prompt. Empty means none.",
        Input::Area,
        PROMPTED,
    ),
    field(
        "adapterConfig/extraArgs",
        "Further arguments",
        "One in each line.",
        Input::Lines,
        PROGRAMS,
    ),
    field(
        "adapterConfig/dangerouslySkipPermissions",
        "Acts without asking",
        "Empty means yes: nobody is there to answer.",
        YES_OR_NO,
        UNATTENDED,
    ),
    field(
        "adapterConfig/dangerouslyBypassApprovalsAndSandbox",
        "Acts without asking and without its sandbox",
        "Empty means yes: workforce keeps it apart already.",
        YES_OR_NO,
        CODEX,
    ),
    field(
        "adapterConfig/effort",
        "Effort",
        "How hard it thinks. Empty means the program's own choice.",
        Input::Line,
        CLAUDE,
    ),
    field(
        "adapterConfig/modelReasoningEffort",
        "Effort",
        "How hard it thinks. Empty means the program's own choice.",
        Input::Line,
        CODEX,
    ),
    field(
        "adapterConfig/chrome",
        "May use a browser",
        "Empty means no.",
        YES_OR_NO,
        CLAUDE,
    ),
    field(
        "adapterConfig/search",
        "Searches the web",
        "Empty means no.",
        YES_OR_NO,
        CODEX,
    ),
    field(
        "adapterConfig/maxTurnsPerRun",
        "Turns of a run",
        "When it gives up. Empty means no limit.",
        Input::Number,
        CLAUDE,
    ),
    field(
        "adapterConfig/billingType",
        "Billed by",
        "Empty means that it is told from how the program is signed in.",
        Input::Choice(&[("api", "Use"), ("subscription", "Subscription")]),
        PROGRAMS,
    ),
];

/// What bounds a run.
const LIMITS: &[Field] = &[
    field(
        "adapterConfig/timeoutSec",
        "Longest run, in seconds",
        "0 means no limit, empty 4 hours.",
        Input::Number,
        ALL,
    ),
    field(
        "adapterConfig/idleTimeoutSec",
        "Longest silence, in seconds",
        "0 means no limit, empty 20 minutes.",
        Input::Number,
        ALL,
    ),
    field(
        "adapterConfig/graceSec",
        "Time to stop, in seconds",
        "Before it is killed. Empty means 20 seconds.",
        Input::Number,
        LOCAL,
    ),
    field(
        "adapterConfig/maxMemoryMb",
        "Memory, in MB",
        "Empty means no limit.",
        Input::Number,
        LOCAL,
    ),
    field(
        "adapterConfig/maxProcesses",
        "Processes",
        "Empty means no limit.",
        Input::Number,
        LOCAL,
    ),
    field(
        "adapterConfig/maxFileSizeMb",
        "Longest file, in MB",
        "Empty means no limit.",
        Input::Number,
        LOCAL,
    ),
];

/// When it runs.
const TIMER: &[Field] = &[
    field(
        "runtimeConfig/heartbeat/intervalSec",
        "Timer, in seconds",
        "How often it looks for work; at least 30. Empty or 0 means no timer.",
        Input::Number,
        ALL,
    ),
    field(
        "runtimeConfig/heartbeat/enabled",
        "The timer is on",
        "Empty means yes.",
        YES_OR_NO,
        ALL,
    ),
    field(
        "runtimeConfig/heartbeat/wakeOnDemand",
        "Issues and mentions wake it",
        "Empty means yes.",
        YES_OR_NO,
        ALL,
    ),
    field(
        "runtimeConfig/heartbeat/alwaysRun",
        "The timer wakes it with nothing to do",
        "Empty means yes for a ceo and no for others.",
        YES_OR_NO,
        ALL,
    ),
    field(
        "runtimeConfig/heartbeat/maxConcurrentRuns",
        "Runs at once",
        "1 to 10. Empty means 1.",
        Input::Number,
        ALL,
    ),
];

/// All fields that depend on the program, in parts.
pub(super) const PARTS: [(&str, &[Field]); 3] = [
    ("Program", PROGRAM),
    ("Limits of a run", LIMITS),
    ("When it runs", TIMER),
];

impl Field {
    pub(super) fn is_of(&self, adapter: AdapterType) -> bool {
        self.of.contains(&adapter)
    }
}

/// What a field is called on the page.
pub(crate) fn label(name: &str) -> Option<&'static str> {
    let all = PARTS.iter().flat_map(|(_, fields)| fields.iter());
    let mut found = all.filter(|field| field.name == name);
    found.next().map(|field| field.label)
}
