//! A stand-in for the APIs of models, so that real agent programs run in tests without the
//! internet.
//!
//! A [`ModelImitation`] listens on loopback and plays an agent from a [`Script`]: it lets the
//! program run a shell command, reads the result, answers, and reports the usage that the script
//! chooses. It speaks Messages of Anthropic, Responses and Chat Completions of OpenAI and Generate
//! Content of Google, each streamed or not, as a request asks. It logs every request.
//!
//! ```
//! use workforce_model_imitation::{ModelImitation, Reply, Rule, Script};
//!
//! let rule = Rule::new()
//!     .then(Reply::shell("echo hello"))
//!     .then(Reply::text("It said: {result}"));
//! let imitation = ModelImitation::start(Script::from(rule))?;
//! assert!(imitation.requests().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A prompt may carry its own steps in a line ([`Rule::as_line`]), so that runs at the same time do
//! not disturb each other:
//!
//! ```text
//! #imitate [{"shell": "echo hello"}, {"error": "overloaded", "times": 2}, {"text": "Done."}]
//! ```
//!
//! [`Program`] knows the programs: where the repository's tasks installed them, and what points
//! each at an imitation. It knows no other crate.

mod answer;
mod api;
mod choice;
mod conversation;
mod ids;
mod imitation;
mod log;
mod pattern;
mod playing;
mod program;
mod request;
mod route;
mod script;
mod server;
mod step;
mod step_form;
mod tools;

pub use api::Api;
pub use imitation::ModelImitation;
pub use log::{Cut, Kind, LoggedRequest, Message, ModelCall};
pub use program::{PROGRAMS_VARIABLE, Program, installed, installed_for_test};
pub use script::{Rule, Script};
pub use step::{ErrorKind, Failure, Reply, Step, Usage};

/// What answers are named in every header and body.
const REQUEST_ID: &str = "req_imitation";
