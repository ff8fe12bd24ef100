//! The instant that a program named for another attempt
//! (docs/heartbeats.md#provider-limits).

use jiff::tz::TimeZone;
use workforce_agent_programs::RetryHint;
use workforce_domain::time::Timestamp;

const MICROS_PER_SECOND: i64 = 1_000_000;

/// The instant that a program named.
pub(crate) fn instant_of(hint: &RetryHint, now: Timestamp) -> Option<Timestamp> {
    let seconds = now.micros() / MICROS_PER_SECOND;
    let zone = match hint {
        RetryHint::LocalTime(time) => time.zone.as_deref(),
        RetryHint::After { .. } | RetryHint::At { .. } => Some("UTC"),
    };
    let at = hint.resolve(seconds, offset_of(zone, seconds)?)?;
    Some(Timestamp::from_micros(at.checked_mul(MICROS_PER_SECOND)?))
}

/// What the clocks of a zone are ahead of UTC, in seconds: those of the computer
/// where none is named. `None` for a zone that the computer does not know.
fn offset_of(zone: Option<&str>, now: i64) -> Option<i32> {
    let zone = match zone {
        Some(name) => TimeZone::get(name).ok()?,
        None => TimeZone::system(),
    };
    let now = jiff::Timestamp::from_second(now).ok()?;
    Some(zone.to_offset(now).seconds())
}

#[cfg(test)]
mod tests {
    use workforce_agent_programs::LocalTime;

    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("an instant")
    }

    fn clock(hour: u8, zone: Option<&str>) -> RetryHint {
        RetryHint::LocalTime(LocalTime {
            hour,
            minute: 30,
            day: None,
            zone: zone.map(Into::into),
        })
    }

    #[test]
    fn a_time_of_a_named_zone_is_an_instant() {
        let now = at("2026-07-01T10:00:00Z");
        let utc = instant_of(&clock(15, Some("UTC")), now);
        assert_eq!(utc, Some(at("2026-07-01T15:30:00Z")));
        // Where the computer has no tables of zones, it is none.
        if TimeZone::get("Europe/Berlin").is_ok() {
            let berlin = instant_of(&clock(15, Some("Europe/Berlin")), now);
            assert_eq!(berlin, Some(at("2026-07-01T13:30:00Z")));
        }
        assert_eq!(instant_of(&clock(15, Some("Nowhere/Nothing")), now), None);
    }

    #[test]
    fn a_time_of_no_zone_is_one_of_this_computer() {
        let now = at("2026-07-01T10:00:00Z");
        let told = instant_of(&clock(15, None), now).expect("an instant");
        let offset = offset_of(None, now.micros() / MICROS_PER_SECOND).expect("an offset");
        let local = told.micros() / MICROS_PER_SECOND + i64::from(offset);
        assert_eq!(local.rem_euclid(86_400), 15 * 3_600 + 30 * 60);
        assert!(told > now.minus(std::time::Duration::from_secs(600)));
    }

    #[test]
    fn a_duration_counts_from_the_end_of_the_run() {
        let now = at("2026-07-01T10:00:00Z");
        let hint = RetryHint::After { seconds: 90 };
        assert_eq!(instant_of(&hint, now), Some(at("2026-07-01T10:01:30Z")));
    }
}
