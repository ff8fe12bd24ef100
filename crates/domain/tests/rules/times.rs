//! Instants and months.

use std::time::Duration;

use proptest::prelude::*;
use workforce_domain::time::{Month, Timestamp};

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

#[test]
fn instants_print_in_utc_as_exactly_as_they_are() {
    let printed = |text| at(text).to_string();
    assert_eq!(printed("2026-01-31T12:00:00Z"), "2026-01-31T12:00:00.000Z");
    assert_eq!(
        printed("2026-01-31T12:00:00.5+01:00"),
        "2026-01-31T11:00:00.500Z"
    );
    assert_eq!(
        printed("2026-01-31T12:00:00.000001Z"),
        "2026-01-31T12:00:00.000001Z"
    );
    assert_eq!(
        printed("2026-01-31T12:00:00.123456789Z"),
        "2026-01-31T12:00:00.123456Z"
    );
    assert_eq!(printed("2026-01-31"), "2026-01-31T00:00:00.000Z");
    assert_eq!(
        printed("1969-12-31T23:59:59.999999Z"),
        "1969-12-31T23:59:59.999999Z"
    );
    assert_eq!(printed("0001-01-01T00:00:00Z"), "0001-01-01T00:00:00.000Z");
    assert_eq!(
        printed("9999-12-31T23:59:59.999999Z"),
        "9999-12-31T23:59:59.999999Z"
    );
}

#[test]
fn what_is_no_instant_is_refused() {
    for text in [
        "",
        "now",
        "2026",
        "2026-13-01",
        "2026-02-29",
        "2026-01-31T25:00:00Z",
        "2026-01-31T12:00:00",
        "1700000000",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-10:00",
        "-0001-01-01",
        "+12026-01-01",
    ] {
        assert!(Timestamp::parse(text).is_err(), "{text}");
    }
}

#[test]
fn arithmetic_stops_at_the_ends() {
    let zero = Timestamp::from_micros(0);
    assert_eq!(zero.plus(Duration::MAX).micros(), i64::MAX);
    assert_eq!(
        Timestamp::from_micros(-10).minus(Duration::MAX).micros(),
        i64::MIN
    );
    assert_eq!(zero.since(Timestamp::from_micros(5)), Duration::ZERO);
    assert_eq!(
        Timestamp::from_micros(5).since(zero),
        Duration::from_micros(5)
    );
    assert_eq!(
        Timestamp::from_micros(i64::MAX).to_string(),
        "9999-12-31T23:59:59.999999Z"
    );
    assert_eq!(
        Timestamp::from_micros(i64::MIN).to_string(),
        "0001-01-01T00:00:00.000Z"
    );
}

#[test]
fn a_month_starts_at_midnight_in_utc_and_ends_with_the_next() {
    let month = Month::of(at("2026-11-30T23:59:59.999999Z"));
    assert_eq!(month.to_string(), "2026-11");
    assert_eq!(month.number(), 202_611);
    assert_eq!(month.start(), at("2026-11-01T00:00:00Z"));
    assert_eq!(month.end(), at("2026-12-01T00:00:00Z"));
    assert_eq!(Month::of(at("2026-12-01T00:00:00Z")), month.next());
    assert_eq!(Month::of(at("2026-12-01T00:30:00+01:00")), month);
    assert_eq!(Month::of(at("2026-12-31")).next().to_string(), "2027-01");
    assert_eq!(Month::of(at("2028-02-29")).end(), at("2028-03-01"));
    assert_eq!(Month::of(at("9999-12-31")).end().micros(), i64::MAX);
}

proptest! {
    #[test]
    fn every_instant_lies_in_its_month(micros in any::<i64>()) {
        let instant = Timestamp::from_micros(micros);
        let printed = instant.to_string();
        let again = at(&printed);
        prop_assert_eq!(again.to_string(), printed);
        let month = Month::of(again);
        prop_assert!(month.start() <= again && again < month.end());
        prop_assert_eq!(month.next().start(), month.end());
        prop_assert!(month.number() < month.next().number());
    }

    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,40}") {
        let _ = Timestamp::parse(&text);
    }

    #[test]
    fn what_looks_like_an_instant_reads_back_or_is_refused(
        text in "[0-9]{4}-[0-1][0-9]-[0-3][0-9](T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{1,12})?(Z|[+-][0-2][0-9]:[0-6][0-9]))?"
    ) {
        if let Ok(instant) = Timestamp::parse(&text) {
            prop_assert_eq!(Timestamp::parse(&instant.to_string()), Ok(instant));
        }
    }
}

#[test]
fn a_month_is_found_again_by_its_number() {
    let month = Month::of(at("2026-11-21"));
    assert_eq!(month.number(), 202_611);
    assert_eq!(Month::from_number(202_611), Some(month));
    for number in [202_600, 202_613, 202_699] {
        assert_eq!(Month::from_number(number), None);
    }
}
