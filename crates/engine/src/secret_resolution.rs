//! Puts the values of secrets in the place of references, at a run's start.

use std::sync::Arc;

use serde_json::{Value, json};
use workforce_app::agents;
use workforce_app::secrets::{self, Found, Source, Unresolved};
use workforce_domain::Document;
use workforce_domain::port::{Failure, MintedToken, StoreError};
use workforce_domain::run::Run;
use workforce_domain::secret::references;

use crate::external_secrets;
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
    run: &Run,
    mut config: Document,
) -> Result<(Document, Vec<String>), ResolutionError> {
    let found = kept(state, run, &config).await?;
    let mut values = Vec::new();
    for found in found {
        let value = match found.source {
            Source::Stored(value) => value,
            Source::Outside(provider, reference) => {
                let engine = state.config.clone();
                let read = tokio::task::spawn_blocking(move || {
                    external_secrets::read(&engine, provider, &reference)
                });
                match read.await {
                    Ok(Ok(value)) => value,
                    Ok(Err(error)) => return Err(Unresolved::new(found.variable, &error).into()),
                    Err(error) => return Err(StoreError::Failed(error.into()).into()),
                }
            }
        };
        if let Some(Value::Object(env)) = config.get_mut("env") {
            let binding = json!({ "type": "plain", "value": &value });
            env.insert(found.variable, binding);
        }
        values.push(value);
    }
    Ok((config, values))
}

/// What the store knows of the references.
async fn kept(
    state: &Arc<EngineState>,
    run: &Run,
    config: &Document,
) -> Result<Vec<Found>, ResolutionError> {
    if !names_secrets(config) {
        return Ok(Vec::new());
    }
    let (run, config) = (run.clone(), config.clone());
    let found = state.store.write(move |tx, ctx| {
        match secrets::resolve(tx, ctx, &run, &config) {
            Ok(found) => Ok(Ok(found)),
            // Nothing was written down.
            Err(Failure::Refused(unresolved)) => Ok(Err(unresolved)),
            Err(Failure::Store(error)) => Err(Failure::Store(error)),
        }
    });
    Ok(found.await??)
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
    let inline = agents::sensitive_inline_values(config);
    values
        .into_iter()
        .chain([token.token.clone()])
        .chain(inline.map(str::to_owned))
        .collect()
}
