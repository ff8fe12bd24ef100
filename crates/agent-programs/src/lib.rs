//! What workforce knows about the programs that run agents: how each is called,
//! and what its output means.
//!
//! The crate starts no process and reads no file. [`command_line`] makes the
//! arguments that others start a program with, and an [`OutputParser`] reads the
//! bytes that others hand it. A further program is an entry in the table of
//! `program.rs`, a function in `arguments.rs` and a reader in `output/`.
//!
//! workforce's own programs say what became of them in a [`SelfReport`].
//!
//! Every fact about a program was seen in runs of the version that its
//! [`ProgramDefinition`] names; the recorded output in `tests/recorded` holds
//! them. Cursor alone was never run: what stands here is its documentation's.

mod arguments;
mod command_line;
mod event;
mod failure;
mod failure_text;
mod home_path;
mod output;
mod program;
mod reset_time;
mod self_report;
mod session_id;
mod settings;
mod sign_in;
mod text;
mod transcript;
mod usage;
mod usage_files;
mod version;

pub use command_line::{
    CommandLine, CommandLineError, HomeFile, HomeFileWhen, RunUser, Session, command_line,
};
pub use event::ProgramEvent;
pub use failure::{FailureClass, ProgramFailure};
pub use home_path::HomePath;
pub use output::{Conclusion, Outcome, OutputParser, ProgramExit, Stream};
pub use program::{AgentProgram, Package, ProgramDefinition};
pub use reset_time::{CalendarDay, LocalTime, RetryHint};
pub use self_report::{SelfReport, SelfReportReader};
pub use session_id::{InvalidSessionId, SessionId};
pub use settings::{ProgramSettings, SettingsError};
pub use sign_in::{SignIn, SignInHint};
pub use transcript::{Call, Marked, Passage, Reply, Transcript, Usage};
pub use usage::{MicroCents, TokenUsage, UsageBaseline};
pub use usage_files::UsageFiles;
pub use version::version_in;
