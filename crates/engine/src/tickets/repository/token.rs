//! With which token a forge is asked, and git speaks to it (docs/tickets.md#tokens).

use serde_json::json;
use workforce_app::secrets::{self, RepositoryToken, Source};
use workforce_domain::actor::CompanyScope;
use workforce_domain::approval::ExecutionStep;
use workforce_domain::port::{StepFailure, StepFault};
use workforce_forges::{Forge, RepositoryAddress, Token};

use crate::secret_resolution::read_outside;
use crate::state::EngineState;
use crate::tickets::fault::failure;

/// The forge of a repository, if pull requests are opened there: with the token of the
/// company for it, else with that of the operator.
///
/// # Errors
/// The token of the company cannot be had. That of the operator does not take its
/// place, since it may reach further.
pub(in crate::tickets) async fn forge_of(
    state: &EngineState,
    company: CompanyScope,
    repository: &RepositoryAddress,
    step: ExecutionStep,
) -> Result<Option<Forge>, StepFailure> {
    let forges = state.config.tickets.forges.as_ref();
    let Some(forge) = forges.and_then(|forges| forges.of(repository)) else {
        return Ok(None);
    };
    let vault = std::sync::Arc::clone(&state.store.ports.vault);
    let (host, path) = (repository.host(), repository.full_name());
    let found = state
        .store
        .read(move |reads| secrets::repository_token(reads, &*vault, company, &host, &path))
        .await
        .map_err(|error| unusable(step, &format!("the store failed: {error}")))?;
    let forge = match found {
        Some(found) => forge.with_token(token(state, found, step).await?),
        None => forge,
    };
    Ok(forge.is_usable().then_some(forge))
}

async fn token(
    state: &EngineState,
    found: RepositoryToken,
    step: ExecutionStep,
) -> Result<Token, StepFailure> {
    let refused = |fault: &str| unusable(step, &format!("the secret `{}`: {fault}", &*found.name));
    let value = match found.source.map_err(refused)? {
        Source::Stored(value) => value,
        Source::Outside(provider, reference) => read_outside(state, provider, reference)
            .await
            .map_err(|error| refused(&error.to_string()))?
            .map_err(|error| refused(&error.to_string()))?,
    };
    Token::parse(&value).ok_or_else(|| refused("its value has characters that no token has"))
}

fn unusable(step: ExecutionStep, reason: &str) -> StepFailure {
    let message = format!("the token of the repository cannot be had: {reason}");
    let fault = match step {
        ExecutionStep::PullRequest => StepFault::PrCreateFailed,
        _ => StepFault::GitRemoteFailed,
    };
    failure(step, fault, message, json!({}))
}
