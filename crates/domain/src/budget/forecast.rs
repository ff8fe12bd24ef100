//! When a budget runs out at the pace of the last days.
//! Whole micro-cents and micro-seconds, rounded down; nothing here overflows.

use alloc::vec::Vec;

use serde::Serialize;

use crate::money::Cents;
use crate::string_enum;
use crate::time::{Day, Month, Timestamp};

/// At most so many full days tell the pace.
pub const DAYS_LOOKED_AT: usize = 14;

/// Fewer full days than this tell nothing.
pub const LEAST_DAYS: usize = 3;

/// What a day counts for, yesterday first: 65536 halved every four days, rounded.
const WEIGHTS: [u128; DAYS_LOOKED_AT] = [
    65536, 55109, 46341, 38968, 32768, 27554, 23170, 19484, 16384, 13777, 11585, 9742, 8192, 6889,
];

string_enum! {
    /// What a forecast says.
    pub enum ForecastStatus {
        /// Fewer than three full days have passed since the first cost.
        TooEarly = "too_early",
        /// There is no limit.
        NoLimit = "no_limit",
        /// The limit is expected to last until the month ends.
        NotThisMonth = "not_this_month",
        /// The limit is expected to be used up within the month.
        RunsOut = "runs_out",
        /// The limit is used up already.
        UsedUp = "used_up",
    }
}

string_enum! {
    /// What a limit bounds the spend of.
    pub enum LimitPeriod {
        /// Each calendar month in UTC.
        Month = "month",
        /// All months together.
        Total = "total",
    }
}

/// What was spent on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DaySpend {
    /// The day, in UTC.
    pub date: Day,
    /// What was spent on it.
    #[serde(rename = "spendCents")]
    pub spend: Cents,
}

/// What would have happened this month under another limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// When the spend of the month reached the limit; `null` when it did not.
    pub stopped_at: Option<Timestamp>,
    /// What was spent after that instant.
    #[serde(rename = "spendAfterCents")]
    pub spend_after: Cents,
    /// How many costs were booked after it.
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub events_after: i64,
    /// How many runs they belong to.
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub runs_after: i64,
}

/// How fast money is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The weighted mean of the days.
    pub rate: Cents,
    /// How far they lie from it, as a weighted mean.
    pub spread: Cents,
}

/// What is to be expected of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Forecast {
    /// What it says.
    pub status: ForecastStatus,
    /// What a day costs: the mean of the days, of which recent ones count for more;
    /// `null` when it is too early.
    #[serde(rename = "ratePerDayCents")]
    pub rate: Option<Cents>,
    /// How far the days lie from that rate, in the mean.
    #[serde(rename = "spreadPerDayCents")]
    pub spread: Option<Cents>,
    /// When the limit is used up at that rate; `null` when it lasts until the month ends.
    pub runs_out_at: Option<Timestamp>,
    /// The same for a rate that is higher by 1.25 times the spread.
    pub runs_out_early: Option<Timestamp>,
    /// The same for a rate that is lower by 1.25 times the spread.
    pub runs_out_late: Option<Timestamp>,
    /// What will have been spent when the month ends, if nothing stops it.
    #[serde(rename = "monthEndSpendCents")]
    pub month_end: Option<Cents>,
}

/// The full days before the day of `now` that tell the pace, oldest first: at most
/// [`DAYS_LOOKED_AT`], and none that began before the first cost.
pub fn full_days(first_cost: Timestamp, now: Timestamp) -> Vec<Day> {
    let day = Day::of(first_cost);
    let has_begun = day.start() < first_cost;
    let first_full = day.number() + i64::from(has_begun);
    let today = Day::of(now).number();
    (first_full.max(today - DAYS_LOOKED_AT as i64)..today)
        .map(Day::from_number)
        .collect()
}

impl Pace {
    /// The pace of these days, oldest first, of which the last is yesterday; `None` for
    /// fewer than [`LEAST_DAYS`].
    pub fn of(days: &[Cents]) -> Option<Self> {
        if days.len() < LEAST_DAYS {
            return None;
        }
        let spends = || days.iter().rev().map(|spend| micros(*spend));
        let rate = weighted_mean(spends());
        let spread = weighted_mean(spends().map(|spend| spend.abs_diff(rate)));
        Some(Self {
            rate: cents(rate),
            spread: cents(spread),
        })
    }
}

/// What is to be expected after these full days, oldest first, of which the last is
/// yesterday. `left` of the limit is `None` without one; `spent` is that of the month.
pub fn forecast(days: &[Cents], left: Option<Cents>, spent: Cents, now: Timestamp) -> Forecast {
    let pace = Pace::of(days);
    let end = Month::of(now).end();
    let (rate, spread) = pace.map_or((0, 0), |pace| (micros(pace.rate), micros(pace.spread)));
    // In quarters of a micro-cent, of which 1.25 times the spread is a whole number.
    let quarters = [
        4 * rate,
        4 * rate + 5 * spread,
        (4 * rate).saturating_sub(5 * spread),
    ];
    let [at, early, late] = quarters.map(|quarters| {
        let left = left.filter(|left| *left > Cents::ZERO)?;
        let lasts = (micros(left) * 4 * LENGTH_OF_DAY).checked_div(quarters)?;
        let lasts = i64::try_from(lasts).unwrap_or(i64::MAX);
        let at = Timestamp::from_micros(now.micros().saturating_add(lasts));
        (at < end).then_some(at)
    });
    let status = match (left, pace, at) {
        (Some(left), _, _) if left <= Cents::ZERO => ForecastStatus::UsedUp,
        (_, None, _) => ForecastStatus::TooEarly,
        (None, _, _) => ForecastStatus::NoLimit,
        (Some(_), Some(_), None) => ForecastStatus::NotThisMonth,
        (Some(_), Some(_), Some(_)) => ForecastStatus::RunsOut,
    };
    let still_to_come = rate * end.since(now).as_micros() / LENGTH_OF_DAY;
    Forecast {
        status,
        rate: pace.map(|pace| pace.rate),
        spread: pace.map(|pace| pace.spread),
        runs_out_at: at,
        runs_out_early: early,
        runs_out_late: late,
        month_end: pace.map(|_| cents(micros(spent) + still_to_come)),
    }
}

/// Micro-seconds.
const LENGTH_OF_DAY: u128 = Day::LENGTH.as_micros();

/// The mean of what is told of yesterday, the day before, and so on.
fn weighted_mean(days: impl Iterator<Item = u128>) -> u128 {
    let (mut sum, mut weights) = (0, 0);
    for (spend, weight) in days.zip(WEIGHTS) {
        sum += spend * weight;
        weights += weight;
    }
    sum.checked_div(weights).unwrap_or_default()
}

/// At most 2^63, so that sums of weighted amounts and products with a duration fit.
fn micros(amount: Cents) -> u128 {
    u128::try_from(amount.micros()).unwrap_or_default()
}

/// The amount, or the largest that can be counted.
fn cents(micros: u128) -> Cents {
    Cents::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}
