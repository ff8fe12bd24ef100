//! From instants and amounts to places in a picture. Whole numbers alone: a place is counted in
//! tenths of a unit.

use std::fmt::{self, Display, Write as _};

use workforce_domain::money::Cents;
use workforce_domain::time::Timestamp;

use crate::html::money::Dollars;

/// A place or a length in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tenths(i64);

impl Tenths {
    const fn whole(units: i64) -> Self {
        Self(units * 10)
    }

    /// At least so many units away.
    pub(super) const fn is_apart(self, other: Self, units: u64) -> bool {
        self.0.abs_diff(other.0) >= units * 10
    }

    pub(super) const fn is_beyond(self, other: Self) -> bool {
        self.0 > other.0
    }

    /// A place so many units further.
    pub(super) const fn plus(self, units: i64) -> Self {
        Self(self.0 + units * 10)
    }
}

impl Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 10, self.0 % 10)
    }
}

/// The size of a picture, and where in it the days and amounts are.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) class: &'static str,
    pub(super) width: i64,
    pub(super) height: i64,
    right: i64,
    bottom: i64,
    /// The days that are named.
    pub(super) days: &'static [i64],
    /// Whether there is room beside the lines for what they are.
    pub(super) has_margin: bool,
}

const LEFT: i64 = 46;
const TOP: i64 = 14;

pub(super) const WIDE: Frame = Frame {
    class: "wide-c",
    width: 1120,
    height: 250,
    right: 1030,
    bottom: 228,
    days: &[1, 8, 15, 22, 29],
    has_margin: true,
};

pub(super) const NARROW: Frame = Frame {
    class: "narrow-c",
    width: 340,
    height: 210,
    right: 330,
    bottom: 188,
    days: &[1, 10, 20],
    has_margin: false,
};

impl Frame {
    pub(super) const fn left(self) -> Tenths {
        Tenths::whole(LEFT)
    }

    pub(super) const fn right(self) -> Tenths {
        Tenths::whole(self.right)
    }

    pub(super) const fn top(self) -> Tenths {
        Tenths::whole(TOP)
    }

    pub(super) const fn bottom(self) -> Tenths {
        Tenths::whole(self.bottom)
    }

    pub(super) const fn middle(self) -> Tenths {
        Tenths::whole((LEFT + self.right) / 2)
    }
}

/// Where the instants of a month and amounts of money are.
pub(super) struct Scale {
    frame: Frame,
    start: Timestamp,
    end: Timestamp,
    /// The amount at the top.
    top: i128,
}

impl Scale {
    /// A scale with room for `highest`, and a little more.
    pub(super) fn new(frame: Frame, start: Timestamp, end: Timestamp, highest: Cents) -> Self {
        let highest = i128::from(highest.micros()).max(1);
        Self {
            frame,
            start,
            end,
            top: highest + highest / 7 + 1,
        }
    }

    pub(super) fn origin(&self) -> (Tenths, Tenths) {
        (self.frame.left(), self.frame.bottom())
    }

    /// The end of the month, at the top.
    pub(super) fn corner(&self) -> (Tenths, Tenths) {
        (self.frame.right(), self.frame.top())
    }

    pub(super) fn x(&self, at: Timestamp) -> Tenths {
        let (from, to) = (self.frame.left(), self.frame.right());
        let part = i128::from(at.micros()) - i128::from(self.start.micros());
        let whole = i128::from(self.end.micros()) - i128::from(self.start.micros());
        between(from, to, part, whole)
    }

    /// Amounts beyond the top are at the top.
    pub(super) fn y(&self, amount: Cents) -> Tenths {
        let (from, to) = (self.frame.bottom(), self.frame.top());
        between(from, to, i128::from(amount.micros()), self.top)
    }

    /// Where a line from an amount now to another one at the end of the month ends, or leaves the
    /// picture.
    pub(super) fn ray(&self, now: Timestamp, from: Cents, to: Cents) -> (Tenths, Tenths) {
        let (rise, room) = (
            i128::from(to.micros()) - i128::from(from.micros()),
            self.top - i128::from(from.micros()),
        );
        if rise <= room {
            return (self.frame.right(), self.y(to));
        }
        let x = between(self.x(now), self.frame.right(), room, rise);
        (x, self.frame.top())
    }

    /// A few lines at round amounts, without those that would lie on the limit.
    pub(super) fn lines(&self, limit: Option<Cents>) -> Vec<(Tenths, String)> {
        let step = round_step(self.top);
        let amounts = (0..6_i128).map(|line| line * step);
        let shown = amounts.take_while(|amount| *amount < self.top);
        let lines = shown.filter_map(|amount| {
            let amount = Cents::from_micros(i64::try_from(amount).ok()?);
            Some((self.y(amount), amount))
        });
        let limit = limit.map(|limit| (self.y(limit), limit));
        let mut lines: Vec<_> = lines
            .filter(|(y, _)| limit.is_none_or(|(at, _)| y.is_apart(at, 12)))
            .collect();
        lines.extend(limit);
        lines
            .into_iter()
            .map(|(y, amount)| (y, short(amount)))
            .collect()
    }
}

/// Part of the way from one place to another, neither before nor beyond it.
fn between(from: Tenths, to: Tenths, part: i128, whole: i128) -> Tenths {
    let part = part.clamp(0, whole.max(0));
    let way = i128::from(to.0 - from.0) * part;
    let way = way.checked_div(whole).unwrap_or_default();
    Tenths(from.0 + i64::try_from(way).unwrap_or_default())
}

/// A cent in micro-cents.
const CENT: i128 = 1_000_000;

/// A step of 1, 2 or 5 of a power of ten of cents, of which up to five fit.
fn round_step(top: i128) -> i128 {
    let mut power = CENT;
    loop {
        for of in [1, 2, 5] {
            if of * power * 5 >= top {
                return of * power;
            }
        }
        power *= 10;
    }
}

/// An amount in little room: `$12k` for many.
fn short(amount: Cents) -> String {
    const THOUSAND: i64 = 100_000;
    let cents = amount.whole();
    if cents >= 10 * THOUSAND {
        format!("${}k", cents / THOUSAND)
    } else {
        Dollars(amount).to_string()
    }
}

/// A path along points.
pub(super) fn path(points: &[(Tenths, Tenths)]) -> String {
    let mut path = String::new();
    for (place, (x, y)) in points.iter().enumerate() {
        let verb = if place == 0 { 'M' } else { 'L' };
        // To write into memory cannot fail.
        let _ = write!(path, "{verb}{x} {y}");
    }
    path
}
