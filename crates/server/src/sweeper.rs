//! Takes away bytes of attachments that nothing refers to, now and then.

use std::sync::Arc;
use std::time::Duration;

use workforce_app::attachments::{Swept, sweep};
use workforce_domain::port::{Clock, ObjectStore, Store};

/// The first sweep comes soon after the start, when the rest has settled.
const FIRST: Duration = Duration::from_secs(60);

/// Sweeps until it is dropped. Errors are logged; the next turn tries again.
pub(crate) async fn run(
    every: Duration,
    store: Arc<dyn Store>,
    objects: Arc<dyn ObjectStore>,
    clock: Arc<dyn Clock>,
) {
    let mut pause = FIRST.min(every);
    loop {
        tokio::time::sleep(pause).await;
        pause = every;
        let (store, objects, now) = (Arc::clone(&store), Arc::clone(&objects), clock.now());
        let swept = tokio::task::spawn_blocking(move || sweep(&*store, &*objects, now)).await;
        match swept {
            Ok(Ok(swept)) if swept == Swept::default() => {}
            Ok(Ok(swept)) => tracing::info!(
                assets = swept.assets,
                orphans = swept.orphans,
                unfinished = swept.unfinished,
                "took away bytes that nothing refers to"
            ),
            Ok(Err(error)) => {
                tracing::warn!(%error, cause = ?error, "bytes that nothing refers to are still there");
            }
            Err(error) => tracing::error!(%error, "the sweep of attachments ended"),
        }
    }
}
