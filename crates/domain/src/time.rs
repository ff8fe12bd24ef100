//! Instants, days and the budget month, all in UTC.

use alloc::string::String;
use core::fmt;
use core::ops::Range;
use core::time::Duration;

use ::time::format_description::well_known::Rfc3339;
use ::time::{Date, OffsetDateTime};

/// An instant in UTC, exact to the microsecond, as both databases keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

/// The text is not an instant of RFC 3339 within the years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an instant such as 2026-01-31T12:00:00Z")]
pub struct TimestampError;

impl Timestamp {
    /// The instant so many microseconds after 1970-01-01T00:00:00Z.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// The first instant of the year 1, before which no text reaches.
    const FIRST: Self = Self(-62_135_596_800_000_000);
    /// The last instant of the year 9999, after which no text reaches.
    const LAST: Self = Self(253_402_300_799_999_999);

    /// Reads RFC 3339; a date alone is its first instant in UTC.
    ///
    /// # Errors
    /// When the text is neither, or lies outside the years 1 to 9999 in UTC.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        match OffsetDateTime::parse(text, &Rfc3339) {
            Ok(instant) => Self::from_date_time(instant).within_reach(),
            Err(_) => Self::parse_day(text),
        }
    }

    /// Reads a date such as `2026-01-31`: its first instant in UTC.
    ///
    /// # Errors
    /// When the text is none, or lies outside the years 1 to 9999.
    pub fn parse_day(text: &str) -> Result<Self, TimestampError> {
        let form = ::time::macros::format_description!("[year]-[month]-[day]");
        let day = Date::parse(text, &form).or(Err(TimestampError))?;
        Self::from_date_time(day.midnight().assume_utc()).within_reach()
    }

    fn within_reach(self) -> Result<Self, TimestampError> {
        if (Self::FIRST..=Self::LAST).contains(&self) {
            Ok(self)
        } else {
            Err(TimestampError)
        }
    }

    /// The instant this long after `self`, or the last one that can be
    /// counted.
    pub const fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(whole_micros(duration)))
    }

    /// The instant this long before `self`, or the first one that can be
    /// counted.
    pub const fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(whole_micros(duration)))
    }

    /// How long `self` is after `earlier`; zero when it is not.
    pub const fn since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0);
        Duration::from_micros(if micros < 0 { 0 } else { micros.unsigned_abs() })
    }

    /// The calendar's view; what lies outside the years 1 to 9999 counts as
    /// the nearest instant within.
    fn date_time(self) -> OffsetDateTime {
        let within = self.clamp(Self::FIRST, Self::LAST);
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(within.0) * 1000)
            .unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    fn from_date_time(instant: OffsetDateTime) -> Self {
        let micros = instant.unix_timestamp_nanos().div_euclid(1000);
        Self(i64::try_from(micros).unwrap_or(if micros < 0 { i64::MIN } else { i64::MAX }))
    }
}

/// A duration in microseconds, as many as can be counted.
const fn whole_micros(duration: Duration) -> i64 {
    let micros = duration.as_micros();
    if micros > i64::MAX as u128 {
        i64::MAX
    } else {
        micros as i64
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with milliseconds, or microseconds where there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Rfc3339Text::of(*self).as_str())
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(Rfc3339Text::of(*self).as_str())
    }
}

/// An instant as text. Every answer holds some, so the digits are put in their
/// places without the machinery of a format.
struct Rfc3339Text {
    bytes: [u8; Self::LENGTH],
    length: usize,
}

impl Rfc3339Text {
    const LENGTH: usize = "2026-01-31T12:00:00.000000Z".len();

    fn of(at: Timestamp) -> Self {
        let within = at.0.clamp(Timestamp::FIRST.0, Timestamp::LAST.0);
        let micros = within.rem_euclid(1_000_000);
        let second = OffsetDateTime::from_unix_timestamp(within.div_euclid(1_000_000))
            .unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let mut text = Self {
            bytes: *b"0000-00-00T00:00:00.000000Z",
            length: Self::LENGTH,
        };
        text.put(0..4, i64::from(second.year()));
        text.put(5..7, i64::from(u8::from(second.month())));
        text.put(8..10, i64::from(second.day()));
        text.put(11..13, i64::from(second.hour()));
        text.put(14..16, i64::from(second.minute()));
        text.put(17..19, i64::from(second.second()));
        text.put(20..26, micros);
        if micros % 1000 == 0 {
            text.bytes[23] = b'Z';
            text.length = 24;
        }
        text
    }

    /// Writes a number into these places, from the last one on.
    fn put(&mut self, places: Range<usize>, number: i64) {
        let mut rest = number;
        for byte in self.bytes[places].iter_mut().rev() {
            *byte = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
    }

    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A day in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day(i64);

impl Day {
    /// How long each day is: UTC as databases keep it has no leap seconds.
    pub const LENGTH: Duration = Duration::from_secs(24 * 60 * 60);

    /// The day an instant belongs to.
    pub const fn of(at: Timestamp) -> Self {
        Self(at.0.div_euclid(whole_micros(Self::LENGTH)))
    }

    /// The day with this [`number`](Self::number).
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// How many days after 1970-01-01 it is.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// The first instant of the day, or the nearest one that can be counted.
    pub const fn start(self) -> Timestamp {
        Timestamp(self.0.saturating_mul(whole_micros(Self::LENGTH)))
    }
}

impl fmt::Display for Day {
    /// `2026-11-20`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.start().date_time();
        let month = u8::from(date.month());
        write!(f, "{:04}-{month:02}-{:02}", date.year(), date.day())
    }
}

impl serde::Serialize for Day {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A calendar month in UTC: the window of every budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Month {
    year: i32,
    month: u8,
}

impl Month {
    /// The month an instant belongs to.
    pub fn of(at: Timestamp) -> Self {
        let date = at.date_time().date();
        Self {
            year: date.year(),
            month: u8::from(date.month()),
        }
    }

    /// The first instant of the month; beyond the year 9999 the last one that
    /// can be counted.
    pub fn start(self) -> Timestamp {
        let month = ::time::Month::try_from(self.month).unwrap_or(::time::Month::January);
        Date::from_calendar_date(self.year, month, 1).map_or(Timestamp(i64::MAX), |date| {
            Timestamp::from_date_time(date.midnight().assume_utc())
        })
    }

    /// The first instant after the month.
    pub fn end(self) -> Timestamp {
        self.next().start()
    }

    /// The month after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        if self.month == 12 {
            Self {
                year: self.year + 1,
                month: 1,
            }
        } else {
            Self {
                year: self.year,
                month: self.month + 1,
            }
        }
    }

    /// The month with this [`number`](Self::number); `None` where there is no
    /// such month.
    pub fn from_number(number: i32) -> Option<Self> {
        let month = u8::try_from(number.rem_euclid(100)).ok()?;
        (1..=12).contains(&month).then_some(Self {
            year: number.div_euclid(100),
            month,
        })
    }

    /// The month as a number that sorts: year times 100 plus month, 202611.
    pub const fn number(self) -> i32 {
        self.year * 100 + self.month as i32
    }
}

impl fmt::Display for Month {
    /// `2026-11`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}
