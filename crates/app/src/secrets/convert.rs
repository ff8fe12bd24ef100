use serde::Serialize;

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::id::AgentId;
use workforce_domain::port::{Failure, Tx};
use workforce_domain::secret::{Secret, SecretProvider, SecretValue};
use workforce_domain::text::SecretName;

use super::{CREATE, CreateSecret, SecretError, at_fault, create};
use crate::access::Denied;
use crate::activity_log::document;
use crate::agents::{self, UpdateAgent, inline_value};
use crate::context::Context;
use crate::refusal::Codes;

/// An inline value that became a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ConvertedSecret))]
#[serde(rename_all = "camelCase")]
pub struct Converted {
    /// The secret.
    pub secret: Secret,
    /// The agent that refers to it now.
    #[serde(rename = "agentId")]
    pub agent: AgentId,
    /// The variable that does.
    pub variable: String,
}

/// What [`convert`] refuses with; of the agent nothing else changes.
pub const CONVERT: Codes = CREATE;

/// Makes a secret of a value that stands in an agent's configuration in plain,
/// and puts a reference to its newest version in the value's place. The secret
/// has the variable's name unless another is given.
pub fn convert(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    agent: AgentId,
    variable: &str,
    name: Option<SecretName>,
) -> Result<Converted, Failure<SecretError>> {
    ctx.require_board()?;
    let scope = ctx.actor().scope();
    let missing = || Denied::NotFound("agent");
    let found = tx.agents().find(scope, agent)?.ok_or_else(missing)?;
    let company = found.company();
    tx.companies_mut().lock(scope, company)?;
    // Locked to the end, so that the value that goes is the value that is kept.
    let locked = tx.agents_mut().lock(scope, agent)?.ok_or_else(missing)?;
    let value = match binding(&locked.adapter_config, variable) {
        None => return Err(Denied::NotFound("variable of this agent").into()),
        Some(binding) => match inline_value(binding) {
            Some(value) => SecretValue::parse(value),
            None => return at_fault("/name", "this variable refers to a secret already"),
        },
    };
    let value = value.or_else(|fault| at_fault("/value", fault.to_string()))?;
    let name = match name {
        Some(name) => name,
        None => {
            SecretName::parse(variable).or_else(|fault| at_fault("/name", fault.to_string()))?
        }
    };
    let command = CreateSecret {
        name,
        description: None,
        provider: SecretProvider::LocalEncrypted,
        value: Some(value),
        external_ref: None,
        token_for: None,
    };
    let secret = create(tx, ctx, company, command)?;
    let reference = json!({ "type": "secret_ref", "secretId": secret.id, "version": "latest" });
    let env = Document::from_iter([(variable.to_owned(), reference)]);
    let change = UpdateAgent {
        adapter_config: Some(document(json!({ "env": env }))),
        ..UpdateAgent::default()
    };
    agents::update(tx, ctx, agent, change).map_err(|failure| failure.map(SecretError::from))?;
    Ok(Converted {
        secret,
        agent,
        variable: variable.to_owned(),
    })
}

fn binding<'a>(config: &'a Document, variable: &str) -> Option<&'a Value> {
    config.get("env")?.as_object()?.get(variable)
}
