//! What a run is told (docs/heartbeats.md#prompt).

#![expect(
    clippy::unwrap_used,
    reason = "what tests share are plain functions, not tests themselves"
)]

mod facts;
mod hostile;
mod routes;
mod scene;
mod wakes;
