//! When a reported cost may have arisen.

use core::time::Duration;

use crate::time::{Month, Timestamp};

/// A cost may lie so far ahead of the server's clock.
pub const MAX_AHEAD: Duration = Duration::from_secs(5 * 60);

/// A cost may be reported so late.
pub const MAX_AGE: Duration = Duration::from_secs(45 * 24 * 60 * 60);

/// A cost cannot have arisen then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OccurrenceError {
    /// More than [`MAX_AHEAD`] in the future.
    #[error("must not be more than 5 minutes in the future")]
    Future,
    /// More than [`MAX_AGE`] ago.
    #[error("must not be more than 45 days ago")]
    TooOld,
    /// An agent tells of another time than the present.
    #[error(
        "must lie in this month, and in the last 5 minutes or in the live run of the report; \
        the board reports what is past"
    )]
    NotNow,
}

/// The month that a cost which arose at `at` belongs to.
///
/// # Errors
/// When `at` is too far from `now`.
pub fn check_occurrence(now: Timestamp, at: Timestamp) -> Result<Month, OccurrenceError> {
    if at > now.plus(MAX_AHEAD) {
        Err(OccurrenceError::Future)
    } else if at < now.minus(MAX_AGE) {
        Err(OccurrenceError::TooOld)
    } else {
        Ok(Month::of(at))
    }
}

/// Whether an agent may report a cost that arose at `at`: now, as far as clocks differ, or since
/// its live run began, and in the present month. What counts in another month would not be held
/// against the limits of this one.
///
/// # Errors
/// [`OccurrenceError::NotNow`]
pub fn check_reported_by_agent(
    now: Timestamp,
    run_began: Option<Timestamp>,
    at: Timestamp,
) -> Result<(), OccurrenceError> {
    let recent = now.minus(MAX_AHEAD);
    let earliest = run_began.map_or(recent, |began| began.min(recent));
    match at >= earliest && Month::of(at) == Month::of(now) {
        true => Ok(()),
        false => Err(OccurrenceError::NotNow),
    }
}
