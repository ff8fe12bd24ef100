//! Whether an agent could run as it is configured (docs/agents.md#is-it-ready).
//!
//! Each look is taken from where a run would be: a guard, the containment, the user
//! and the environment of a run, in a folder that is removed afterwards.

mod address;
mod local_program;
mod version;

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;
use workforce_domain::adapter_check::{AdapterCheck, CheckName, CheckStatus};
use workforce_domain::agent::AdapterType;
use workforce_domain::port::{AdapterCheckError, AdapterToCheck, StoreError};

use crate::secret_resolution::{self, Preview};
use crate::state::EngineState;

/// So many checks go on at once on a server, so that nobody starts hundreds of
/// programs.
pub(crate) const CHECKS_AT_ONCE: usize = 2;
/// For how long a further one waits.
const PATIENCE: Duration = Duration::from_secs(10);

/// Checks an adapter when there is a place. The check is a task of the engine's own,
/// so that whoever hangs up leaves nothing behind.
pub(crate) async fn admit(
    state: &Arc<EngineState>,
    runtime: &Handle,
    adapter: AdapterToCheck,
) -> Result<AdapterCheck, AdapterCheckError> {
    // Not before what earlier runs left is removed: the folder of a check would go with it.
    let waiting = timeout(PATIENCE, async {
        state.recovered.cancelled().await;
        Arc::clone(&state.checks).acquire_owned().await
    });
    let Ok(Ok(place)) = waiting.await else {
        return Err(AdapterCheckError::Busy);
    };
    if state.closing.is_cancelled() {
        return Err(AdapterCheckError::Busy);
    }
    let state = Arc::clone(state);
    // A shutdown waits for it as for a run.
    let tracker = state.runs.clone();
    let checking = async move {
        let _place = place;
        check(&state, &adapter).await
    };
    let checked = tracker.spawn_on(checking, runtime).await;
    checked.unwrap_or_else(|error| Err(StoreError::Failed(error.into()).into()))
}

async fn check(
    state: &EngineState,
    adapter: &AdapterToCheck,
) -> Result<AdapterCheck, AdapterCheckError> {
    let config = adapter.adapter_config.clone();
    let preview = secret_resolution::preview(state, adapter.company, config).await?;
    let mut check = AdapterCheck::new(adapter.adapter_type);
    check_secrets(&preview, &mut check);
    check_containment(state, &mut check);
    match adapter.adapter_type {
        AdapterType::Http => address::check(state, &preview, &mut check).await,
        _ => local_program::check(state, adapter, &preview, &mut check).await,
    }
    Ok(check)
}

fn check_secrets(preview: &Preview, check: &mut AdapterCheck) {
    let name = CheckName::Secrets;
    for missing in &preview.unresolved {
        check.add(name, CheckStatus::Failed, missing.to_string());
    }
    if preview.unresolved.is_empty() {
        let message = "each secret that it names has a value";
        check.add(name, CheckStatus::Ok, message);
    }
}

fn check_containment(state: &EngineState, check: &mut AdapterCheck) {
    let names = state.config.containment.names();
    if names.is_empty() {
        let message = "runs are kept from nothing; see docs/operations.md#containment";
        check.add(CheckName::Containment, CheckStatus::Warning, message);
    } else {
        let message = format!("runs are contained by {}", names.join(", "));
        check.add(CheckName::Containment, CheckStatus::Ok, message);
    }
}

/// Adds whether the configuration can be used, in the words of a run that fails for it.
fn check_configuration(fault: Option<String>, check: &mut AdapterCheck) {
    let name = CheckName::Configuration;
    match fault {
        Some(fault) => check.add(name, CheckStatus::Failed, fault),
        None => check.add(name, CheckStatus::Ok, "it can be used"),
    }
}
