//! Reads the forms in which programs print when a limit resets.

use super::{CalendarDay, LocalTime, RetryHint};

/// What stands before a duration. The first two are names of a header or a
/// field, whose bare number is in seconds.
const BEFORE_DURATION: &[(&str, BareNumber)] = &[
    ("retry-after", BareNumber::IsSeconds),
    ("retry_after", BareNumber::IsSeconds),
    ("retry after", BareNumber::HasNoMeaning),
    ("retry in", BareNumber::HasNoMeaning),
    ("retrydelay", BareNumber::HasNoMeaning),
    ("try again in", BareNumber::HasNoMeaning),
    ("reset after", BareNumber::HasNoMeaning),
    ("resets after", BareNumber::HasNoMeaning),
    ("reset in", BareNumber::HasNoMeaning),
    ("resets in", BareNumber::HasNoMeaning),
];

/// What stands before a time on a clock; the longer before its beginning.
const BEFORE_TIME: &[&str] = &[
    "resets at",
    "resets on",
    "resets",
    "reset at",
    "try again at",
];

const UNITS: &[(&str, f64)] = &[
    ("milliseconds", 0.001),
    ("ms", 0.001),
    ("days", 86_400.0),
    ("day", 86_400.0),
    ("d", 86_400.0),
    ("hours", 3_600.0),
    ("hour", 3_600.0),
    ("hrs", 3_600.0),
    ("hr", 3_600.0),
    ("h", 3_600.0),
    ("minutes", 60.0),
    ("minute", 60.0),
    ("mins", 60.0),
    ("min", 60.0),
    ("m", 60.0),
    ("seconds", 1.0),
    ("second", 1.0),
    ("secs", 1.0),
    ("sec", 1.0),
    ("s", 1.0),
];

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum BareNumber {
    IsSeconds,
    HasNoMeaning,
}

pub(super) fn find(text: &str) -> Option<RetryHint> {
    // Keeps the length, so that a place in one is the same place in the other.
    let lower = text.to_ascii_lowercase();
    let duration = || {
        BEFORE_DURATION.iter().find_map(|&(before, bare_number)| {
            let mut places = ends(&lower, before);
            places.find_map(|at| duration(lower.get(at..)?, bare_number))
        })
    };
    let local_time = || {
        BEFORE_TIME.iter().find_map(|before| {
            let mut places = ends(&lower, before);
            places.find_map(|at| local_time(lower.get(at..)?, text.get(at..)?))
        })
    };
    instant(&lower)
        .or_else(duration)
        .or_else(|| local_time().map(RetryHint::LocalTime))
}

/// Where each occurrence ends.
fn ends(text: &str, word: &str) -> impl Iterator<Item = usize> {
    text.match_indices(word).map(|(at, word)| at + word.len())
}

/// `limit reached|1750000000`.
fn instant(lower: &str) -> Option<RetryHint> {
    let (_, after) = lower.split_once("limit reached|")?;
    let mut scan = Scan(after);
    let digits = scan.digits()?;
    let number: i64 = digits.parse().ok()?;
    let unix_seconds = match digits.len() {
        9..=11 => number,
        // Milliseconds.
        12..=14 => number / 1_000,
        _ => return None,
    };
    Some(RetryHint::At { unix_seconds })
}

/// `3 hours 27 minutes`, `3h20m`, `34.07s`, `less than a minute`.
fn duration(text: &str, bare_number: BareNumber) -> Option<RetryHint> {
    let mut scan = Scan(text.trim_start_matches([' ', ':', '"', '=', '\\', '\'']));
    if scan.takes("less than a minute") {
        return Some(RetryHint::After { seconds: 60 });
    }
    let mut sum = 0.0;
    let mut parts = 0;
    while let Some(number) = scan.decimal() {
        scan.blanks();
        let unit = UNITS.iter().find(|(unit, _)| {
            let after = scan.0.strip_prefix(unit);
            after.is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphabetic()))
        });
        match unit {
            Some((unit, seconds)) => {
                scan.takes(unit);
                sum += number * seconds;
            }
            None if parts == 0 && bare_number == BareNumber::IsSeconds => sum = number,
            // The number belongs to the next sentence.
            None => break,
        }
        parts += 1;
        scan.blanks();
        scan.takes(",");
        scan.blanks();
        if scan.takes("and") {
            scan.blanks();
        }
    }
    // Far above any wait that is believed, and exact in a float.
    let is_believable = sum.is_finite() && (0.0..1e12).contains(&sum);
    (parts > 0 && is_believable).then(|| RetryHint::After {
        seconds: whole_seconds(sum),
    })
}

/// Rounds up: a moment too late does less harm than one too early.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the caller bounds the value"
)]
fn whole_seconds(seconds: f64) -> u64 {
    seconds.ceil() as u64
}

/// `3pm (Europe/Berlin)`, `Oct 12, 3pm`, `Oct 12th, 2025 3:05 PM`, `15:00`.
fn local_time(lower: &str, original: &str) -> Option<LocalTime> {
    let mut scan = Scan(lower);
    scan.blanks();
    let day = scan.day();
    scan.takes(",");
    scan.blanks();
    if scan.takes("at") {
        scan.blanks();
    }
    let (hour, minute) = scan.time()?;
    let after = original.get(original.len() - scan.0.len()..)?;
    Some(LocalTime {
        hour,
        minute,
        day,
        zone: zone(after),
    })
}

/// ` (Europe/Berlin)`.
fn zone(after: &str) -> Option<String> {
    let (name, _) = after.trim_start().strip_prefix('(')?.split_once(')')?;
    let is_name = (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"/_+-".contains(&b));
    is_name.then(|| name.to_owned())
}

/// What is still to be read, in lower case.
struct Scan<'a>(&'a str);

impl<'a> Scan<'a> {
    fn blanks(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    }

    fn takes(&mut self, word: &str) -> bool {
        match self.0.strip_prefix(word) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn digits(&mut self) -> Option<&'a str> {
        let end = self
            .0
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at_checked(end)?;
        self.0 = rest;
        (!digits.is_empty()).then_some(digits)
    }

    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.digits()?.parse().ok()
    }

    fn decimal(&mut self) -> Option<f64> {
        let end = self
            .0
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(self.0.len());
        let (number, rest) = self.0.split_at_checked(end)?;
        let number = number.parse().ok()?;
        self.0 = rest;
        Some(number)
    }

    /// `oct 12`, `october 12th, 2025`. Reads nothing when there is no day.
    fn day(&mut self) -> Option<CalendarDay> {
        let before = self.0;
        let day = self.day_or_less();
        if day.is_none() {
            self.0 = before;
        }
        day
    }

    fn day_or_less(&mut self) -> Option<CalendarDay> {
        let end = self.0.find(|c: char| !c.is_ascii_alphabetic())?;
        let (word, rest) = self.0.split_at_checked(end)?;
        let month = MONTHS.iter().position(|month| word.starts_with(month))?;
        self.0 = rest.trim_start_matches('.');
        self.blanks();
        let day = self.number()?;
        for suffix in ["st", "nd", "rd", "th"] {
            self.takes(suffix);
        }
        let before = self.0;
        self.takes(",");
        self.blanks();
        let year = self.digits().filter(|digits| digits.len() == 4);
        if year.is_none() {
            self.0 = before;
        }
        Some(CalendarDay {
            month: u8::try_from(month + 1).ok()?,
            day,
            year: year.and_then(|digits| digits.parse().ok()),
        })
    }

    /// `3pm`, `9:30 pm`, `15:00`.
    fn time(&mut self) -> Option<(u8, u8)> {
        let hour: u8 = self.number()?;
        let minute = if self.takes(":") {
            Some(self.number::<u8>()?)
        } else {
            None
        };
        let before = self.0;
        self.blanks();
        let hour = if self.takes("am") || self.takes("a.m.") {
            (1..=12).contains(&hour).then_some(hour % 12)?
        } else if self.takes("pm") || self.takes("p.m.") {
            (1..=12).contains(&hour).then_some(hour % 12 + 12)?
        } else {
            // A number alone may be anything.
            minute?;
            self.0 = before;
            hour
        };
        let minute = minute.unwrap_or(0);
        (hour < 24 && minute < 60).then_some((hour, minute))
    }
}
