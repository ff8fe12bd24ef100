//! Watches the free room where the server writes, and says when it gets short:
//! then no run starts and no upload is taken.

use std::sync::Arc;
use std::time::Duration;

use nix::sys::statvfs::statvfs;
use tokio::time::{Instant, sleep};
use workforce_app::disk_alerts::{self, LowDiskSpace};
use workforce_vitals::Shortage;

use crate::config::EngineConfig;
use crate::retention::is_due;
use crate::state::EngineState;

/// How often the disks are checked.
const MEASURE_EVERY: Duration = Duration::from_secs(1);
/// What the store does not take is reported again after so long.
const TRY_EVERY: Duration = Duration::from_secs(10);

/// What was reported last.
#[derive(Default)]
struct Reported {
    is_short: bool,
    /// In the activity of the companies, which tells only of the limit.
    is_low: bool,
    /// When the store did not take that.
    failed_at: Option<Instant>,
}

/// Watches until the engine has ended.
pub(crate) async fn run(state: Arc<EngineState>) {
    let mut reported = Reported::default();
    loop {
        let measured = Arc::clone(&state);
        // A disk that does not answer must not keep this thread.
        if let Err(error) = tokio::task::spawn_blocking(move || measure(&measured.config)).await {
            tracing::error!(%error, "the room on the disks is not looked at");
        }
        reported.report(&state).await;
        let pause = state.abandoning.run_until_cancelled(sleep(MEASURE_EVERY));
        if pause.await.is_none() {
            return;
        }
    }
}

/// Looks how much is free everywhere.
pub(crate) fn measure(config: &EngineConfig) {
    for (place, folder) in &config.watched_folders {
        match statvfs(folder.as_path()) {
            Ok(disk) => {
                let free = disk.blocks_available() * disk.fragment_size();
                config.vitals.disk_space.see(*place, free);
            }
            Err(error) => {
                tracing::debug!(%error, folder = %folder.display(), "the room here is not known");
            }
        }
    }
}

impl Reported {
    /// Reports once that room is short, and once that it is not any more.
    async fn report(&mut self, state: &EngineState) {
        let shortage = state.config.vitals.disk_space.shortage();
        if shortage.is_some() != self.is_short {
            self.is_short = shortage.is_some();
            match &shortage {
                Some(shortage) => tracing::error!(
                    place = shortage.place.as_str(),
                    "no run starts and no upload is taken: {shortage}"
                ),
                None => {
                    tracing::warn!("there is room again: runs start and uploads are taken");
                    state.store.notifiers.nudge();
                }
            }
        }
        let little = shortage.and_then(little_room);
        if shortage.is_some() && little.is_none() {
            // A write has just failed for lack of room; this one would, too.
            return;
        }
        if little.is_some() == self.is_low || !is_due(self.failed_at, TRY_EVERY) {
            return;
        }
        let reported = state.store.write(move |tx, ctx| match little {
            Some(little) => disk_alerts::low(tx, ctx, little),
            None => disk_alerts::recovered(tx, ctx),
        });
        match reported.await {
            Ok(()) => {
                self.is_low = little.is_some();
                self.failed_at = None;
            }
            Err(error) => {
                self.failed_at = Some(Instant::now());
                tracing::warn!(%error, cause = ?error, "companies are not told about the room");
            }
        }
    }
}

fn little_room(shortage: Shortage) -> Option<LowDiskSpace> {
    Some(LowDiskSpace {
        place: shortage.place.as_str(),
        free_bytes: shortage.free_bytes?,
        min_free_bytes: shortage.min_free_bytes,
    })
}
