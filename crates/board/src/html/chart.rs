//! What a month spends, as a picture: the sum of its days against the limit.

mod scale;

use askama::Template;
use askama::filters::HtmlSafe;
use workforce_domain::budget::Forecast;
use workforce_domain::money::Cents;
use workforce_domain::time::{Day, Month, Timestamp};

use super::money::Dollars;
use super::when;
use scale::{Frame, NARROW, Tenths, WIDE};

/// A month with what was spent on each of its days.
pub(crate) struct Burn<'a> {
    pub(crate) month: Month,
    /// What was spent on each day that has begun, from the first of the month.
    pub(crate) days: &'a [Cents],
    pub(crate) limit: Option<Cents>,
    /// What is to be expected; `None` for a month that is over.
    pub(crate) forecast: Option<&'a Forecast>,
    pub(crate) now: Timestamp,
}

/// The picture of a month, drawn for a wide place and for a narrow one, of which the page shows
/// that which fits.
#[derive(Template)]
#[template(path = "parts/chart.html")]
pub(crate) struct Chart {
    label: String,
    drawings: [Drawing; 2],
}

impl HtmlSafe for Chart {}

/// One of the two pictures. Everything but the texts is geometry.
struct Drawing {
    frame: Frame,
    /// Horizontal lines of the scale, each with its amount.
    lines: Vec<(Tenths, String)>,
    /// Days under the scale.
    days: Vec<(Tenths, String)>,
    spent: String,
    area: String,
    /// The last point, and its amount.
    last: (Tenths, Tenths, String),
    is_last_at_end: bool,
    is_over: bool,
    limits: Option<Limits>,
    expected: Option<Expected>,
}

/// The lines of the limit, and of 80 % of it.
struct Limits {
    full: Tenths,
    alert: Tenths,
    /// What the line of 80 % says; empty where there is no room for it.
    alert_word: String,
}

/// The way that the sum is expected to take.
struct Expected {
    line: String,
    band: String,
    /// Where the limit is used up.
    out: Option<(Tenths, Tenths, String)>,
}

impl Chart {
    /// The picture; `None` when nothing was spent, and there is no limit to show.
    pub(crate) fn new(burn: &Burn<'_>) -> Option<Self> {
        let spent = sum(burn.days);
        if spent == Cents::ZERO && burn.limit.is_none() {
            return None;
        }
        let month = when::month(burn.month.start());
        let of_limit = burn
            .limit
            .map_or_else(String::new, |limit| format!(" of {}", Dollars(limit)));
        Some(Self {
            label: format!("Spend of {month}: {}{of_limit}", Dollars(spent)),
            drawings: [WIDE, NARROW].map(|frame| draw(burn, frame)),
        })
    }
}

/// The sum of amounts, or the largest that can be counted.
pub(crate) fn sum(amounts: &[Cents]) -> Cents {
    let add = |sum: Cents, more: &Cents| sum.checked_add(*more);
    let total = amounts.iter().try_fold(Cents::ZERO, add);
    total.unwrap_or(Cents::from_micros(i64::MAX))
}

/// How many days a month has.
pub(crate) const fn length(first: Day, after: Day) -> i64 {
    after.number() - first.number()
}

fn draw(burn: &Burn<'_>, frame: Frame) -> Drawing {
    let (start, end) = (burn.month.start(), burn.month.end());
    let spent = sum(burn.days);
    let ends = Ends::of(burn, spent);
    let top = [
        Some(spent),
        burn.limit,
        ends.as_ref().map(|ends| ends.likely),
    ];
    let highest = top.into_iter().flatten().max().unwrap_or(spent);
    let scale = scale::Scale::new(frame, start, end, highest);
    let now = burn.now.min(end).max(start);
    let points = points(burn, &scale, now);
    let spent_line = scale::path(&points);
    let (last_x, last_y) = points.last().copied().unwrap_or(scale.origin());
    let limits = burn.limit.map(|limit| {
        let alert = Cents::from_micros(limit.micros() / 5 * 4);
        let (full, low) = (scale.y(limit), scale.y(alert));
        Limits {
            full,
            alert: low,
            alert_word: if low.is_apart(full, 12) {
                format!("80 % {}", Dollars(alert))
            } else {
                String::new()
            },
        }
    });
    let date = Day::of(start).number();
    let days = frame
        .days
        .iter()
        .filter(|day| **day <= length(Day::of(start), Day::of(end)));
    Drawing {
        lines: scale.lines(burn.limit),
        days: days
            .map(|day| {
                let at = Day::from_number(date + day - 1).start();
                (scale.x(at), when::short_day(at))
            })
            .collect(),
        area: format!(
            "{spent_line}V{bottom}H{}Z",
            scale.origin().0,
            bottom = scale.origin().1
        ),
        spent: spent_line,
        last: (last_x, last_y, Dollars(spent).to_string()),
        is_last_at_end: last_x.is_beyond(frame.middle()),
        is_over: burn.limit.is_some_and(|limit| spent >= limit),
        limits,
        expected: ends.map(|ends| expected(burn, &scale, (last_x, last_y), spent, &ends)),
        frame,
    }
}

/// The sums at the end of each day; today's is that of now.
fn points(burn: &Burn<'_>, scale: &scale::Scale, now: Timestamp) -> Vec<(Tenths, Tenths)> {
    let first = Day::of(burn.month.start()).number();
    let mut sum = Cents::ZERO;
    let mut points = vec![scale.origin()];
    for (day, spend) in (first..).zip(burn.days) {
        sum = sum.checked_add(*spend).unwrap_or(sum);
        let at = Day::from_number(day + 1).start().min(now);
        points.push((scale.x(at), scale.y(sum)));
    }
    points
}

/// What is spent by the end of the month: as likely as not, at the most and at the least.
struct Ends {
    likely: Cents,
    most: Cents,
    least: Cents,
}

impl Ends {
    fn of(burn: &Burn<'_>, spent: Cents) -> Option<Self> {
        let forecast = burn.forecast?;
        let (rate, spread) = (forecast.rate?, forecast.spread?);
        let left = burn.month.end().since(burn.now).as_micros();
        // In quarters, of which 1.25 times the spread is a whole number.
        let (rate, spread) = (
            4 * i128::from(rate.micros()),
            5 * i128::from(spread.micros()),
        );
        let after = |quarters: i128| {
            let left = i128::try_from(left).unwrap_or_default();
            let more = quarters.max(0) * left / Day::LENGTH.as_micros().cast_signed() / 4;
            let sum = i128::from(spent.micros()) + more;
            Cents::from_micros(i64::try_from(sum).unwrap_or(i64::MAX))
        };
        Some(Self {
            likely: after(rate),
            most: after(rate + spread),
            least: after(rate - spread),
        })
    }
}

fn expected(
    burn: &Burn<'_>,
    scale: &scale::Scale,
    from: (Tenths, Tenths),
    spent: Cents,
    ends: &Ends,
) -> Expected {
    let ray = |amount| scale.ray(burn.now, spent, amount);
    let (most, least) = (ray(ends.most), ray(ends.least));
    let corner = scale.corner();
    let band = if most.1 == corner.1 && least.1 != corner.1 {
        scale::path(&[from, most, corner, least])
    } else {
        scale::path(&[from, most, least])
    };
    let out = burn.forecast.and_then(|forecast| forecast.runs_out_at);
    let out = out.zip(burn.limit).map(|(at, limit)| {
        let (x, y) = (scale.x(at), scale.y(limit));
        // The amount of today may stand there already.
        let is_free = y.is_apart(from.1, 26) || x.is_apart(from.0, 170);
        let word = if is_free {
            format!("used up {}", when::week_day(at))
        } else {
            String::new()
        };
        (x, y, word)
    });
    Expected {
        line: scale::path(&[from, ray(ends.likely)]),
        band: format!("{band}Z"),
        out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cents(dollars: &[i64]) -> Vec<Cents> {
        let each = dollars
            .iter()
            .map(|it| Cents::from_cents(it * 100).unwrap());
        each.collect()
    }

    #[test]
    fn the_sum_ends_where_the_limit_is_when_it_is_used_up() {
        let month = Month::from_number(202_611).unwrap();
        let days = cents(&[10; 30]);
        let limit = Cents::from_cents(30_000).unwrap();
        let burn = Burn {
            month,
            days: &days,
            limit: Some(limit),
            forecast: None,
            now: month.end(),
        };
        let chart = Chart::new(&burn).unwrap();
        assert_eq!(chart.label, "Spend of November: $300 of $300");
        for drawing in &chart.drawings {
            let limits = drawing.limits.as_ref().unwrap();
            assert_eq!(drawing.last.1, limits.full);
            assert_eq!(drawing.last.0, drawing.frame.right());
            assert!(drawing.is_over);
        }
    }

    #[test]
    fn nothing_spent_without_a_limit_is_no_picture() {
        let month = Month::from_number(202_611).unwrap();
        let days = cents(&[0; 3]);
        let burn = |limit| Burn {
            month,
            days: &days,
            limit,
            forecast: None,
            now: month.start(),
        };
        assert!(Chart::new(&burn(None)).is_none());
        assert!(Chart::new(&burn(Some(Cents::from_cents(1).unwrap()))).is_some());
    }
}
