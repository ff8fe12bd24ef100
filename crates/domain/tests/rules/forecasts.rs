//! When a budget runs out at the pace of the last days.

use proptest::prelude::*;
use workforce_domain::budget::{
    DAYS_LOOKED_AT, Forecast, ForecastStatus, LEAST_DAYS, Pace, forecast, full_days,
};
use workforce_domain::money::Cents;
use workforce_domain::time::{Day, Month, Timestamp};

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn cents(text: &str) -> Cents {
    text.parse().unwrap()
}

/// With these days before noon of 20 November 2026, and so 10.5 days left of the month.
fn at_noon(days: &[&str], left: Option<&str>, spent: &str) -> Forecast {
    let days: Vec<Cents> = days.iter().map(|day| cents(day)).collect();
    forecast(
        &days,
        left.map(cents),
        cents(spent),
        at("2026-11-20T12:00:00Z"),
    )
}

fn outlook(forecast: &Forecast) -> [Option<Timestamp>; 3] {
    [
        forecast.runs_out_early,
        forecast.runs_out_at,
        forecast.runs_out_late,
    ]
}

#[test]
fn a_day_counts_half_as_much_as_the_one_four_days_after_it() {
    // Only one day spent anything; what it counts for is its weight in the sum of 375,499.
    let weights = (0..DAYS_LOOKED_AT).map(|age| {
        let mut days = [Cents::ZERO; DAYS_LOOKED_AT];
        days[DAYS_LOOKED_AT - 1 - age] = Cents::from_micros(375_499);
        Pace::of(&days).unwrap().rate.micros()
    });
    let weights: Vec<i64> = weights.collect();
    assert_eq!(weights[0], 65536);
    for (age, &weight) in weights.iter().enumerate() {
        // The nearest whole number to 65536 · 2^(−age/4), without its root.
        let power = |doubled: i64| u128::from(doubled.unsigned_abs()).pow(4);
        let exact = 1_u128 << (68 - age);
        assert!(power(2 * weight - 1) <= exact, "{age}: {weight}");
        assert!(exact < power(2 * weight + 1), "{age}: {weight}");
    }
}

#[test]
fn the_full_days_since_the_first_cost_are_looked_at() {
    let now = at("2026-11-03T12:00:00Z");
    let days = |first: &str| -> Vec<String> {
        let days = full_days(at(first), now);
        days.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        days("2026-10-31"),
        ["2026-10-31", "2026-11-01", "2026-11-02"]
    );
    assert_eq!(
        days("2026-10-31T00:00:00.000001Z"),
        ["2026-11-01", "2026-11-02"]
    );
    assert!(days("2026-11-02T00:00:01Z").is_empty());
    assert!(days("2026-11-03T12:05:00Z").is_empty());
    let all = days("2020-02-29");
    assert_eq!(all.len(), DAYS_LOOKED_AT);
    assert_eq!(
        (all[0].as_str(), all[13].as_str()),
        ("2026-10-20", "2026-11-02")
    );
}

#[test]
fn recent_days_count_for_more() {
    let rising = at_noon(&["0", "0", "0", "0", "10", "10", "10", "10"], None, "40");
    let falling = at_noon(&["10", "10", "10", "10", "0", "0", "0", "0"], None, "40");
    // Four days count for twice as much as the four before them, but for rounding.
    assert_eq!(rising.rate, Some(cents("6.666688")));
    assert_eq!(falling.rate, Some(cents("3.333311")));
    assert_eq!(rising.spread, Some(cents("4.44443")));
}

#[test]
fn what_is_said_follows_from_the_days_and_what_is_left() {
    let flat = ["10", "10", "10"];
    let status = |days: &[&str], left| at_noon(days, left, "30").status;
    assert_eq!(status(&flat[1..], Some("5")), ForecastStatus::TooEarly);
    assert_eq!(status(&[], None), ForecastStatus::TooEarly);
    assert_eq!(status(&[], Some("0")), ForecastStatus::UsedUp);
    assert_eq!(status(&flat, Some("0")), ForecastStatus::UsedUp);
    assert_eq!(status(&flat, None), ForecastStatus::NoLimit);
    assert_eq!(status(&flat, Some("104.999999")), ForecastStatus::RunsOut);
    assert_eq!(status(&flat, Some("105")), ForecastStatus::NotThisMonth);
    assert_eq!(status(&["0"; 3], Some("5")), ForecastStatus::NotThisMonth);
}

#[test]
fn the_band_is_as_wide_as_the_days_differ() {
    // Without any difference there is one instant.
    let even = at_noon(&["10", "10", "10", "10"], Some("50"), "200");
    assert_eq!(outlook(&even), [Some(at("2026-11-25T12:00:00Z")); 3]);
    assert_eq!(even.month_end, Some(cents("305")));
    let uneven = at_noon(&["18", "2", "18", "2", "18"], Some("30"), "200");
    let [early, expected, late] = outlook(&uneven);
    assert!(early < expected && early.is_some());
    // The days differ so much that they may hardly cost anything.
    assert_eq!(late, None);
    let tight = at_noon(&["18", "2", "18", "2", "18"], Some("130"), "200");
    assert_eq!(tight.status, ForecastStatus::NotThisMonth);
    assert!(tight.runs_out_early.is_some(), "{tight:?}");
}

#[test]
fn without_a_pace_nothing_is_foretold() {
    let early = at_noon(&["10", "10"], Some("5"), "20");
    assert_eq!(outlook(&early), [None; 3]);
    assert_eq!(
        (early.rate, early.spread, early.month_end),
        (None, None, None)
    );
    let unlimited = at_noon(&["10", "10", "10"], None, "30");
    assert_eq!(outlook(&unlimited), [None; 3]);
    assert_eq!(unlimited.month_end, Some(cents("135")));
}

#[test]
fn a_day_begins_at_midnight_in_utc_and_prints_as_a_date() {
    let day = Day::of(at("2026-10-31T23:59:59.999999Z"));
    assert_eq!(day.to_string(), "2026-10-31");
    assert_eq!(day.start(), at("2026-10-31"));
    assert_eq!(Day::from_number(day.number() + 1).to_string(), "2026-11-01");
    let before = Day::of(at("1969-12-31T23:59:59.999999Z"));
    assert_eq!((before.number(), before.start()), (-1, at("1969-12-31")));
    assert_eq!(
        Day::of(Timestamp::from_micros(i64::MAX)).to_string(),
        "9999-12-31"
    );
}

/// Amounts of every size, the largest and those below zero among them.
fn amount() -> impl Strategy<Value = Cents> {
    prop_oneof![
        Just(i64::MAX),
        Just(i64::MIN),
        Just(0),
        0..100_000_000_i64,
        any::<i64>()
    ]
    .prop_map(Cents::from_micros)
}

fn instant() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        Just(i64::MIN),
        Just(i64::MAX),
        1_700_000_000_000_000..1_900_000_000_000_000_i64,
        any::<i64>()
    ]
    .prop_map(Timestamp::from_micros)
}

/// Days with costs of a usual size.
fn usual_days() -> impl Strategy<Value = Vec<Cents>> {
    prop::collection::vec((0..1_000_000_000_i64).prop_map(Cents::from_micros), 3..=14)
}

/// Not foretold means after all that is.
fn when(at: Option<Timestamp>) -> Timestamp {
    at.unwrap_or(Timestamp::from_micros(i64::MAX))
}

proptest! {
    #[test]
    fn constant_spend_is_exact(
        count in LEAST_DAYS..=DAYS_LOOKED_AT,
        micros in 1..=i64::MAX,
        left in 1..=i64::MAX,
        now in instant(),
    ) {
        let day = Cents::from_micros(micros);
        let told = forecast(&vec![day; count], Some(Cents::from_micros(left)), Cents::ZERO, now);
        prop_assert_eq!(told.rate, Some(day));
        prop_assert_eq!(told.spread, Some(Cents::ZERO));
        prop_assert_eq!(outlook(&told), [told.runs_out_at; 3]);
        let lasts = i128::from(left) * 86_400_000_000 / i128::from(micros);
        let at = i128::from(now.micros()) + lasts;
        let end = i128::from(Month::of(now).end().micros());
        let expected = (at < end).then(|| Timestamp::from_micros(at as i64));
        prop_assert_eq!(told.runs_out_at, expected);
    }

    #[test]
    fn a_higher_limit_is_never_earlier(
        days in usual_days(),
        left in 1..20_000_000_000_i64,
        more in 0..20_000_000_000_i64,
        now in instant(),
    ) {
        let told = |left| forecast(&days, Some(Cents::from_micros(left)), Cents::ZERO, now);
        let (low, high) = (told(left), told(left + more));
        for (low, high) in outlook(&low).into_iter().zip(outlook(&high)) {
            prop_assert!(when(low) <= when(high));
        }
        prop_assert_eq!(low.rate, high.rate);
    }

    #[test]
    fn early_comes_before_expected_and_expected_before_late(
        days in usual_days(),
        left in 1..20_000_000_000_i64,
        now in instant(),
    ) {
        let told = forecast(&days, Some(Cents::from_micros(left)), Cents::ZERO, now);
        let [early, expected, late] = outlook(&told).map(when);
        prop_assert!(early <= expected && expected <= late);
        prop_assert!(now <= early);
        let (least, most) = (days.iter().min().copied(), days.iter().max().copied());
        prop_assert!(least <= told.rate && told.rate <= most);
    }

    #[test]
    fn nothing_is_too_much(
        days in prop::collection::vec(amount(), 0..20),
        left in prop::option::of(amount()),
        spent in amount(),
        first in instant(),
        now in instant(),
    ) {
        prop_assert!(full_days(first, now).len() <= DAYS_LOOKED_AT);
        let told = forecast(&days, left, spent, now);
        prop_assert_eq!(told.rate.is_none(), days.len() < LEAST_DAYS);
        prop_assert!(told.rate >= told.rate.map(|_| Cents::ZERO));
    }
}
