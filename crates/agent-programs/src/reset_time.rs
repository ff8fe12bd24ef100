//! When a limit resets, read from what programs print about it.
//!
//! They print an instant (`usage limit reached|1750000000`), a duration
//! (`try again in 3 hours 27 minutes`) or a time on a clock (`resets 3pm
//! (Europe/Berlin)`). A [`RetryHint`] keeps what was said; [`RetryHint::resolve`]
//! makes an instant of it.

mod calendar;
mod reading;

use serde::{Deserialize, Serialize};

use calendar::{DAY, civil_from_days, days_from_civil};

/// When another attempt makes sense.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RetryHint {
    /// So much later than the text was printed.
    After {
        /// Whole seconds, rounded up.
        seconds: u64,
    },
    /// At an instant.
    At {
        /// Seconds since 1970 in UTC.
        unix_seconds: i64,
    },
    /// At a time on a clock.
    LocalTime(LocalTime),
}

/// A time on a clock, of a day or of the next day that has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalTime {
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// The day, where the text tells it.
    #[serde(default)]
    pub day: Option<CalendarDay>,
    /// The name of the time zone, where the text tells it.
    #[serde(default)]
    pub zone: Option<String>,
}

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalendarDay {
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// The year, where the text tells it.
    #[serde(default)]
    pub year: Option<u16>,
}

/// Limits last a month at most; a hint beyond that was misread.
const LONGEST_WAIT: i64 = 32 * DAY;

/// A clock time that passed so little ago is the one that was meant: the text
/// was printed before it is read.
const JUST_PASSED: i64 = 600;

impl RetryHint {
    /// Finds when another attempt makes sense in what a program printed.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        reading::find(text)
    }

    /// The instant in seconds since 1970, or `None` when the hint lies more than
    /// a month ahead, which no limit does. It may lie in the past.
    ///
    /// `server_offset_seconds` is what the server's clock is ahead of UTC. It
    /// stands in for every zone except UTC: a program prints times of the zone
    /// that it was started in, which is the server's, and the names of zones
    /// mean nothing without the tables of the system.
    #[must_use]
    pub fn resolve(&self, now_unix: i64, server_offset_seconds: i32) -> Option<i64> {
        let at = match self {
            Self::After { seconds } => now_unix.checked_add(i64::try_from(*seconds).ok()?)?,
            Self::At { unix_seconds } => *unix_seconds,
            Self::LocalTime(time) => time.resolve(now_unix, i64::from(server_offset_seconds))?,
        };
        (at <= now_unix.checked_add(LONGEST_WAIT)?).then_some(at)
    }
}

impl LocalTime {
    fn resolve(&self, now_unix: i64, server_offset: i64) -> Option<i64> {
        let offset = match self.zone.as_deref() {
            Some("UTC" | "GMT" | "Z" | "Etc/UTC" | "Etc/GMT") => 0,
            _ => server_offset,
        };
        let today = now_unix.checked_add(offset)?.div_euclid(DAY);
        let time_of_day = i64::from(self.hour) * 3_600 + i64::from(self.minute) * 60;
        let instant = |days: i64| days.checked_mul(DAY)?.checked_add(time_of_day - offset);
        let is_ahead = |at: &i64| *at >= now_unix.saturating_sub(JUST_PASSED);
        let Some(day) = self.day else {
            return [today, today + 1]
                .into_iter()
                .filter_map(instant)
                .find(is_ahead);
        };
        let (this_year, ..) = civil_from_days(today);
        let date = |year: i64| instant(days_from_civil(year, day.month, day.day)?);
        match day.year {
            Some(year) => date(i64::from(year)),
            None => [this_year, this_year + 1]
                .into_iter()
                .filter_map(date)
                .find(is_ahead),
        }
    }
}
