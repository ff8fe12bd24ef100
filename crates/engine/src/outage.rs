//! A store that is away while a run is to begin: the run waits for it
//! (docs/operations.md#when-something-fails).

use std::time::Duration;

use tokio::time::sleep;
use workforce_domain::port::StoreError;

use crate::live::LiveRun;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Asks the store for a run that has not begun, again and again until it answers or the run is to
/// stop, as it is when its lease ends.
///
/// # Errors
/// What the store failed with last.
pub(crate) async fn until_answered<T, F>(
    live: &LiveRun,
    ask: impl Fn() -> F,
) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut halts = live.halts();
    let mut wait = FIRST_PAUSE;
    loop {
        let error = match ask().await {
            Err(error) if error.may_pass() => error,
            answer => return answer,
        };
        tracing::warn!(%error, cause = ?error, run = %live.run, "a run waits for the store");
        tokio::select! {
            _ = halts.wait_for(Option::is_some) => return Err(error),
            () = sleep(wait) => {}
        }
        wait = (wait * 2).min(LONGEST_PAUSE);
    }
}
