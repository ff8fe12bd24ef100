//! Instants, as people read them.

use std::fmt::{self, Display};

use askama::filters::HtmlSafe;
use time::OffsetDateTime;
use time::macros::format_description;
use workforce_domain::time::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How long ago an instant was, with the instant itself for whoever wants to know.
pub(crate) struct Ago {
    at: Timestamp,
    now: Timestamp,
}

impl Ago {
    pub(crate) const fn new(at: Timestamp, now: Timestamp) -> Self {
        Self { at, now }
    }
}

impl HtmlSafe for Ago {}

impl Display for Ago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, exact) = (self.at, Exactly(self.at));
        let span = span(self.now.micros() - self.at.micros());
        write!(f, r#"<time datetime="{at}" title="{exact}">{span}</time>"#)
    }
}

/// A span of microseconds in its largest unit.
pub(crate) fn span(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    match seconds {
        ..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => format!("{} h", seconds / HOUR),
        _ => format!("{} d", seconds / DAY),
    }
}

/// An instant in UTC: `Thu 19 Nov 2026, 13:32 UTC`.
pub(crate) struct Exactly(pub(crate) Timestamp);

impl Display for Exactly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = format_description!(
            "[weekday repr:short] [day padding:none] [month repr:short] [year], [hour]:[minute] UTC"
        );
        f.write_str(&formatted(self.0, form))
    }
}

/// The day of an instant in UTC: `Thursday, 19 November`.
pub(crate) fn day(at: Timestamp) -> String {
    formatted(
        at,
        format_description!("[weekday], [day padding:none] [month repr:long]"),
    )
}

/// The month of an instant in UTC: `November`.
pub(crate) fn month(at: Timestamp) -> String {
    formatted(at, format_description!("[month repr:long]"))
}

/// The day of an instant in UTC in little room: `19 Nov`.
pub(crate) fn short_day(at: Timestamp) -> String {
    formatted(
        at,
        format_description!("[day padding:none] [month repr:short]"),
    )
}

/// The same with the day of the week: `Thu 19 Nov`.
pub(crate) fn week_day(at: Timestamp) -> String {
    formatted(
        at,
        format_description!("[weekday repr:short] [day padding:none] [month repr:short]"),
    )
}

/// The date of an instant in UTC: `3 Oct 2026`.
pub(crate) fn date(at: Timestamp) -> String {
    formatted(
        at,
        format_description!("[day padding:none] [month repr:short] [year]"),
    )
}

/// The month of an instant in UTC with its year: `November 2026`.
pub(crate) fn month_of_year(at: Timestamp) -> String {
    formatted(at, format_description!("[month repr:long] [year]"))
}

/// The time of day of an instant in UTC: `13:32`.
pub(crate) fn time_of_day(at: Timestamp) -> String {
    formatted(at, format_description!("[hour]:[minute]"))
}

/// The second of an instant in UTC: `13:32:05`.
pub(crate) fn clock(at: Timestamp) -> String {
    formatted(at, format_description!("[hour]:[minute]:[second]"))
}

fn formatted(at: Timestamp, form: &[time::format_description::BorrowedFormatItem<'_>]) -> String {
    let nanos = i128::from(at.micros()) * 1000;
    // Every instant of the domain is one that can be told.
    OffsetDateTime::from_unix_timestamp_nanos(nanos)
        .ok()
        .and_then(|at| at.format(form).ok())
        .unwrap_or_default()
}
