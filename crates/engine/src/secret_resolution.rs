//! Puts the values of secrets in the place of references, at a run's start.

use std::sync::Arc;

use serde_json::{Value, json};
use workforce_app::agents;
use workforce_app::secrets::{self, Found, Source, Unresolved};
use workforce_domain::Document;
use workforce_domain::actor::CompanyScope;
use workforce_domain::port::{Failure, MintedToken, StoreError};
use workforce_domain::run::Run;
use workforce_domain::secret::{ExternalRef, SecretProvider, references};

use crate::external_secrets::{self, ExternalSecretError};
use crate::live::LiveRun;
use crate::outage::until_answered;
use crate::state::EngineState;

/// Why a run cannot have what its configuration names.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolutionError {
    #[error("the store failed before the start")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Unresolved(#[from] Unresolved),
}

/// The configuration with the values of its secrets inline, for the child's
/// environment and for nothing else. Their versions are recorded before.
pub(crate) async fn resolve(
    state: &Arc<EngineState>,
    live: &LiveRun,
    run: &Run,
    mut config: Document,
) -> Result<(Document, Vec<String>), ResolutionError> {
    let found = kept(state, live, run, &config).await?;
    let mut values = Vec::new();
    for found in found {
        let variable = found.variable.clone();
        let value = value_of(state, found).await?;
        bind(&mut config, variable, &value);
        values.push(value);
    }
    Ok((config, values))
}

/// A configuration with the values of its secrets, as far as they are to be had.
pub(crate) struct Preview {
    /// As for a run; variables without a value are left out.
    pub(crate) config: Document,
    /// What must not be shown.
    pub(crate) secrets: Vec<String>,
    /// The variables without a value.
    pub(crate) unresolved: Vec<Unresolved>,
}

/// What a run with this configuration would get. Nothing is recorded.
pub(crate) async fn preview(
    state: &EngineState,
    company: CompanyScope,
    mut config: Document,
) -> Result<Preview, StoreError> {
    let (vault, named) = (Arc::clone(&state.store.ports.vault), config.clone());
    let found = state
        .store
        .read(move |reads| secrets::preview(reads, &*vault, company, &named));
    let (mut values, mut unresolved) = (Vec::new(), Vec::new());
    for found in found.await? {
        let value = match found {
            Ok(found) => {
                let variable = found.variable.clone();
                value_of(state, found).await.map(|value| (variable, value))
            }
            Err(missing) => Err(missing.into()),
        };
        match value {
            Ok((variable, value)) => {
                bind(&mut config, variable, &value);
                values.push(value);
            }
            Err(ResolutionError::Unresolved(missing)) => {
                if let Some(Value::Object(env)) = config.get_mut("env") {
                    env.remove(&missing.variable);
                }
                unresolved.push(missing);
            }
            Err(ResolutionError::Store(error)) => return Err(error),
        }
    }
    Ok(Preview {
        secrets: unshown(&config, values),
        config,
        unresolved,
    })
}

async fn value_of(state: &EngineState, found: Found) -> Result<String, ResolutionError> {
    match found.source {
        Source::Stored(value) => Ok(value),
        Source::Outside(provider, reference) => {
            let read = read_outside(state, provider, reference).await?;
            Ok(read.map_err(|error| Unresolved::new(found.variable, &error))?)
        }
    }
}

/// The value that a provider keeps.
pub(crate) async fn read_outside(
    state: &EngineState,
    provider: SecretProvider,
    reference: ExternalRef,
) -> Result<Result<String, ExternalSecretError>, StoreError> {
    let engine = state.config.clone();
    let read =
        tokio::task::spawn_blocking(move || external_secrets::read(&engine, provider, &reference));
    read.await.map_err(|error| StoreError::Failed(error.into()))
}

fn bind(config: &mut Document, variable: String, value: &str) {
    if let Some(Value::Object(env)) = config.get_mut("env") {
        let binding = json!({ "type": "plain", "value": value });
        env.insert(variable, binding);
    }
}

/// What the store knows of the references.
async fn kept(
    state: &Arc<EngineState>,
    live: &LiveRun,
    run: &Run,
    config: &Document,
) -> Result<Vec<Found>, ResolutionError> {
    if !names_secrets(config) {
        return Ok(Vec::new());
    }
    let resolve = || {
        let (run, config) = (run.clone(), config.clone());
        state.store.write(move |tx, ctx| {
            match secrets::resolve(tx, ctx, &run, &config) {
                Ok(found) => Ok(Ok(found)),
                // Nothing was written down.
                Err(Failure::Refused(unresolved)) => Ok(Err(unresolved)),
                Err(Failure::Store(error)) => Err(Failure::Store(error)),
            }
        })
    };
    Ok(until_answered(live, resolve).await??)
}

/// True also for references that are not whole, which are told then.
fn names_secrets(config: &Document) -> bool {
    let is_reference = |binding: &Value| binding.get("type").is_some_and(|it| it == "secret_ref");
    references(config).next().is_some()
        || config
            .get("env")
            .and_then(Value::as_object)
            .is_some_and(|env| env.values().any(is_reference))
}

/// What a run must not write: its secrets, its credential, and what stands
/// inline under sensitive names, its own key among them.
pub(crate) fn unwritten(
    config: &Document,
    values: Vec<String>,
    token: &MintedToken,
) -> Vec<String> {
    let mut unwritten = unshown(config, values);
    unwritten.push(token.token.clone());
    unwritten
}

/// These values, and what stands inline under sensitive names.
fn unshown(config: &Document, values: Vec<String>) -> Vec<String> {
    let inline = agents::sensitive_inline_values(config);
    values
        .into_iter()
        .chain(inline.map(str::to_owned))
        .collect()
}
