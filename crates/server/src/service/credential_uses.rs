//! When the uses of credentials are written down.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use workforce_domain::port::Store;
use workforce_http::State;

/// How often that is done.
const INTERVAL: Duration = Duration::from_secs(30);

/// Notes the uses now and then.
pub(super) async fn keep_noting(state: Data<State>, store: Arc<dyn Store>) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        note(&state, &store).await;
    }
}

/// Notes the uses that are not yet in the store.
pub(super) async fn note(state: &Data<State>, store: &Arc<dyn Store>) {
    let (state, store) = (state.clone(), Arc::clone(store));
    let flushed =
        tokio::task::spawn_blocking(move || state.credential_uses().flush(store.as_ref())).await;
    match flushed {
        Ok(Ok(_noted)) => {}
        Ok(Err(error)) => tracing::warn!(%error, "failed to note the use of credentials"),
        Err(error) => tracing::warn!(%error, "failed to note the use of credentials"),
    }
}
