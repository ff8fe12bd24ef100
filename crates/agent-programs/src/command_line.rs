//! What a program is started with.

use crate::program::AgentProgram;
use crate::session_id::SessionId;
use crate::settings::ProgramSettings;

/// Which session a run works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Session<'a> {
    /// A new one.
    New {
        /// The id it shall have, a UUID that no session had: Claude Code refuses
        /// one that is in use. Only programs whose definition says
        /// [`takes_session_id`](crate::ProgramDefinition::takes_session_id) use
        /// it; the others choose one, and tell it in their output.
        id: Option<&'a SessionId>,
    },
    /// The one with this id, which the program told in an earlier run. Where it
    /// no longer exists, the run fails as
    /// [`SessionUnknown`](crate::FailureClass::SessionUnknown).
    Resume(&'a SessionId),
}

/// Which user the program runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunUser {
    /// Any but root.
    Ordinary,
    /// Root.
    Root,
    /// Root, and the agent's own environment sets `IS_SANDBOX=1`: somebody says
    /// that nothing outside can be harmed.
    RootInSandbox,
}

/// What to start a program with. The prompt goes to its standard input, which is
/// closed after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The arguments after the program's name.
    pub arguments: Vec<String>,
    /// Variables that keep the program quiet and its answers right. A variable
    /// that the agent's own environment sets has the agent's value.
    pub environment: Vec<(&'static str, String)>,
    /// Files that the program needs in its home.
    pub home_files: Vec<HomeFile>,
    /// Whether the program is told to do whatever the model wants, without
    /// asking. Otherwise rules decide: the sandbox of Codex, a list of tools for
    /// Claude Code and Gemini CLI, the program's own for opencode and Cursor. What
    /// `extraArgs` and the agent's own variables change is not known here.
    pub unrestricted: bool,
}

/// A file that a program needs in its home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeFile {
    /// Its path below the home.
    pub path: &'static str,
    /// What it must hold.
    pub content: String,
    /// When it is to be written.
    pub when: HomeFileWhen,
}

/// When a file is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeFileWhen {
    /// When there is none: one that is there belongs to somebody.
    IfAbsent,
}

/// Why a program cannot be started as it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandLineError {
    /// The program refuses to act without asking when it runs as root.
    #[error(
        "Claude Code refuses `dangerouslySkipPermissions` as root: run the server as another \
         user, set it to false, or set IS_SANDBOX=1 for the agent if it runs in a sandbox"
    )]
    RootRefused,
    /// The program takes only a UUID as the id of a new session.
    #[error("the id of a new session must be a UUID")]
    SessionIdNotUuid,
}

/// What to start the program with.
///
/// # Errors
/// When the program would refuse at once.
pub fn command_line(
    program: AgentProgram,
    settings: &ProgramSettings,
    session: Session<'_>,
    user: RunUser,
) -> Result<CommandLine, CommandLineError> {
    let definition = program.definition();
    let takes_id = definition.takes_session_id;
    let session = match session {
        Session::New { id: Some(_) } if !takes_id => Session::New { id: None },
        Session::New { id: Some(id) } if !id.is_uuid() => {
            return Err(CommandLineError::SessionIdNotUuid);
        }
        other => other,
    };
    (definition.arguments)(settings, session, user)
}
