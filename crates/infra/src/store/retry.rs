//! The one place where a transaction that lost a race is run again.

use core::time::Duration;
use std::thread::sleep;
use std::time::Instant;

use workforce_domain::port::StoreError;
use workforce_vitals::{DiskSpace, StorageArea};

/// How often a transaction is run at most.
const ATTEMPTS: u32 = 6;
/// None is run again after so long: others wait for the connection of who waits for a lock.
const PATIENCE: Duration = Duration::from_secs(10);
/// The mean pause before the second run; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(4);

/// Runs `transaction` until it does not lose a race, at most [`ATTEMPTS`] times and for
/// [`PATIENCE`]. A failure for lack of room is noted in `disk_space`.
///
/// # Errors
/// What the last run failed with; [`StoreError::Contended`] when every run lost.
pub(super) fn until_settled(
    disk_space: &DiskSpace,
    transaction: impl FnMut() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let settled = settled_within(PATIENCE, transaction);
    note_full(disk_space, &settled);
    settled
}

fn settled_within(
    patience: Duration,
    mut transaction: impl FnMut() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let begun = Instant::now();
    let mut attempt = 1;
    loop {
        let settled = transaction();
        if !matches!(settled, Err(StoreError::Contended)) {
            return settled;
        }
        if attempt == ATTEMPTS || begun.elapsed() >= patience {
            tracing::warn!(attempts = attempt, "a transaction lost a race every time");
            return settled;
        }
        sleep(pause_after(attempt));
        attempt += 1;
    }
}

/// Notes a failure for lack of room.
pub(super) fn note_full(disk_space: &DiskSpace, settled: &Result<(), StoreError>) {
    if let Err(StoreError::Full(_)) = settled {
        disk_space.note_full(StorageArea::Database);
    }
}

/// Between half and one and a half of a pause that doubles, so that two that met do not meet
/// again.
fn pause_after(attempt: u32) -> Duration {
    let mean = FIRST_PAUSE * 2_u32.pow(attempt - 1);
    // Without randomness the mean will do.
    let share = getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX));
    mean.mul_f64(0.5 + share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_race_is_run_again_until_it_is_won() {
        let mut runs = 0;
        let outcome = until_settled(&DiskSpace::default(), || {
            runs += 1;
            if runs < 3 {
                Err(StoreError::Contended)
            } else {
                Ok(())
            }
        });
        assert!(outcome.is_ok());
        assert_eq!(runs, 3);
    }

    #[test]
    fn who_always_loses_is_told_so() {
        let mut runs = 0;
        let outcome = until_settled(&DiskSpace::default(), || {
            runs += 1;
            Err(StoreError::Contended)
        });
        assert!(matches!(outcome, Err(StoreError::Contended)));
        assert_eq!(runs, ATTEMPTS);
    }

    #[test]
    fn who_lost_after_a_long_wait_does_not_wait_again() {
        let mut runs = 0;
        let outcome = settled_within(Duration::ZERO, || {
            runs += 1;
            Err(StoreError::Contended)
        });
        assert!(matches!(outcome, Err(StoreError::Contended)));
        assert_eq!(runs, 1);
    }

    #[test]
    fn any_other_failure_is_final() {
        let mut runs = 0;
        let outcome = until_settled(&DiskSpace::default(), || {
            runs += 1;
            Err(StoreError::Constraint {
                constraint: "c".into(),
            })
        });
        assert!(matches!(outcome, Err(StoreError::Constraint { .. })));
        assert_eq!(runs, 1);
    }

    #[test]
    fn a_store_without_room_is_noted() {
        let disk_space = DiskSpace::default();
        let outcome = until_settled(&disk_space, || Err(StoreError::Full("no room".into())));
        assert!(matches!(outcome, Err(StoreError::Full(_))));
        assert_eq!(
            disk_space.shortage().map(|it| it.place),
            Some(StorageArea::Database)
        );
    }

    #[test]
    fn pauses_grow() {
        for attempt in 1..ATTEMPTS {
            let mean = FIRST_PAUSE * 2_u32.pow(attempt - 1);
            let pause = pause_after(attempt);
            assert!(
                pause >= mean / 2 && pause <= mean + mean / 2,
                "{attempt}: {pause:?}"
            );
        }
    }
}
