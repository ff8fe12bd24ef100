//! Forms as the commands that the interface reads from the same body.

use serde::de::DeserializeOwned;
use serde_json::Value;
use workforce_app::Code;
use workforce_app::agents::instructions::PutFile;
use workforce_app::agents::{CheckAdapter, CreateAgent, UpdateAgent};
use workforce_app::secrets::CreateSecret;
use workforce_domain::instructions::BundlePath;

use crate::body;
use crate::problem::Problem;
use crate::routes::{
    CheckAdapterBody, CreateAgentBody, CreateSecretBody, PutFileBody, UpdateAgentBody, instructions,
};

/// A command that the interface would read from this body.
///
/// # Errors
/// `invalid_json` with a pointer to the fault.
pub fn command<T: DeserializeOwned>(body: &Value) -> Result<T, Problem> {
    body::parse(body.to_string().as_bytes())
}

/// The agent that the interface would read from this body.
///
/// # Errors
/// `invalid_json` and `invalid_field` with a pointer to the fault.
pub fn new_agent(body: &Value) -> Result<CreateAgent, Problem> {
    command::<CreateAgentBody>(body)?.command()
}

/// The change of an agent that the interface would read from this body.
///
/// # Errors
/// `invalid_json` and `invalid_field` with a pointer to the fault.
pub fn changed_agent(body: &Value) -> Result<UpdateAgent, Problem> {
    command::<UpdateAgentBody>(body)?.command()
}

/// The configuration to check that the interface would read from this body.
///
/// # Errors
/// `invalid_json` and `invalid_field` with a pointer to the fault.
pub fn change_of_adapter(body: &Value) -> Result<CheckAdapter, Problem> {
    command::<CheckAdapterBody>(body)?.command()
}

/// The secret that the interface would read from this body.
///
/// # Errors
/// `invalid_json` and `secret_provider_unsupported` with a pointer to the fault.
pub fn new_secret(body: &Value) -> Result<CreateSecret, Problem> {
    command::<CreateSecretBody>(body)?.command()
}

/// The file of instructions that the interface would read from this body.
///
/// # Errors
/// `invalid_json` and `invalid_field` with a pointer to the fault.
pub fn file_to_put(body: &Value) -> Result<PutFile, Problem> {
    command::<PutFileBody>(body)?.command()
}

/// A path within a bundle of instructions.
///
/// # Errors
/// `invalid_field` at `path`.
pub fn bundle_path(text: &str) -> Result<BundlePath, Problem> {
    instructions::path(text, "/path")
}

/// A fault at one field of a form, by its pointer.
pub fn fault(code: Code, pointer: &str, message: &str) -> Problem {
    Problem::at(code, pointer, message)
}
