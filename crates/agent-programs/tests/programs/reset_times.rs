//! When a limit resets.

use workforce_agent_programs::{CalendarDay, LocalTime, RetryHint};

/// Sunday, 22 November 2026, 12:00 UTC.
const NOW: i64 = 1_795_348_800;
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

#[track_caller]
fn check_after(text: &str, seconds: u64) {
    assert_eq!(
        RetryHint::find(text),
        Some(RetryHint::After { seconds }),
        "{text}"
    );
}

#[track_caller]
fn check_at(text: &str, unix_seconds: i64) {
    assert_eq!(
        RetryHint::find(text),
        Some(RetryHint::At { unix_seconds }),
        "{text}"
    );
}

fn time(hour: u8, minute: u8) -> LocalTime {
    LocalTime {
        hour,
        minute,
        day: None,
        zone: None,
    }
}

const fn day(month: u8, day: u8, year: Option<u16>) -> Option<CalendarDay> {
    Some(CalendarDay { month, day, year })
}

#[track_caller]
fn check_local(text: &str, expected: LocalTime) {
    assert_eq!(
        RetryHint::find(text),
        Some(RetryHint::LocalTime(expected)),
        "{text}"
    );
}

#[test]
fn instants() {
    check_at("Claude AI usage limit reached|1750000000", 1_750_000_000);
    check_at("usage limit reached|1750000000. Bye", 1_750_000_000);
    check_at("usage limit reached|1750000000123", 1_750_000_000);
}

#[test]
fn durations() {
    check_after("Try again in 3 hours 27 minutes.", 3 * 3_600 + 27 * 60);
    check_after(
        "or try again in 2 days 3 hours 5 minutes.",
        2 * 86_400 + 3 * 3_600 + 5 * 60,
    );
    check_after(
        "try again in 1 day, 2 hours and 3 minutes",
        86_400 + 2 * 3_600 + 180,
    );
    check_after("Please try again in 1s.", 1);
    check_after("Please try again in 20ms.", 1);
    check_after("Please try again in 6m0s.", 360);
    check_after("Try again in less than a minute.", 60);
    check_after("Please retry in 34.07s", 35);
    check_after("Please retry in 34.074824224s.", 35);
    check_after("Suggested retry after 1s.", 1);
    check_after("quota will reset after 3h20m", 3 * 3_600 + 20 * 60);
    check_after(
        "Your quota will reset after 18h31m10s.",
        18 * 3_600 + 31 * 60 + 10,
    );
    check_after("limit resets in 45 min", 45 * 60);
    check_after("retry-after: 600", 600);
    check_after("Retry-After: 600; x", 600);
    check_after("{\"retry_after\": 12.5}", 13);
    check_after("\"retryDelay\": \"34s\"", 34);
    check_after("\\\"retryDelay\\\":\\\"34s\\\"", 34);
}

#[test]
fn times_on_a_clock() {
    let berlin = LocalTime {
        zone: Some("Europe/Berlin".to_owned()),
        ..time(15, 0)
    };
    check_local(
        "You've hit your session limit · resets 3pm (Europe/Berlin)",
        berlin,
    );
    check_local("You've hit your limit · resets 9:30pm", time(21, 30));
    check_local("resets 12:50am (", time(0, 50));
    check_local("resets 12pm", time(12, 0));
    check_local("resets at 3:05 PM.", time(15, 5));
    check_local("try again at 3:05 PM.", time(15, 5));
    check_local("try again at 3:05\u{202f}PM.", time(15, 5));
    check_local("limit resets at 15:00", time(15, 0));
}

#[test]
fn times_of_a_day() {
    let on = |date, hour, minute| LocalTime {
        day: date,
        ..time(hour, minute)
    };
    check_local("resets Oct 12, 3pm", on(day(10, 12, None), 15, 0));
    check_local("Resets Jul 11 at 12pm", on(day(7, 11, None), 12, 0));
    check_local("resets October 2 at 3:30am", on(day(10, 2, None), 3, 30));
    check_local(
        "try again at Oct 12th, 2026 3:05 PM.",
        on(day(10, 12, Some(2026)), 15, 5),
    );
    check_local(
        "try again at Jan 1st, 2027 12:00 AM",
        on(day(1, 1, Some(2027)), 0, 0),
    );
    let zoned = LocalTime {
        zone: Some("America/Los_Angeles".to_owned()),
        ..on(day(10, 12, None), 15, 0)
    };
    check_local(
        "weekly limit · resets Oct 12, 3pm (America/Los_Angeles)",
        zoned,
    );
}

#[test]
fn texts_without_a_time_give_none() {
    for text in [
        "",
        "API Error: Request rejected (429)",
        "Quota exceeded. Check your plan and billing details.",
        "try again later",
        "Please try again in a moment.",
        "retry in 5 attempts",
        "try again in ",
        "resets soon",
        "resets 3",
        "resets 25:00",
        "resets 13pm",
        "resets 0am",
        "resets 3:75pm",
        "resets Oct pm",
        "limit reached|soon",
        "limit reached|12",
        "retry-after: Wed, 21 Oct 2026 07:28:00 GMT",
        "retry-after: 99999999999999999999999",
        "try again in 1.2.3 hours",
    ] {
        assert_eq!(RetryHint::find(text), None, "{text}");
    }
}

#[test]
fn any_text_can_be_searched() {
    for text in [
        "resets ü 3pm",
        "RESETS İ",
        "try again in ½ hour",
        "limit reached|\u{0}",
        "(((",
        "resets at",
    ] {
        assert_eq!(RetryHint::find(text), None, "{text}");
    }
    let long = "resets ".repeat(10_000) + &"9".repeat(10_000);
    assert_eq!(RetryHint::find(&long), None);
}

#[track_caller]
fn resolved(text: &str, offset_hours: i32) -> Option<i64> {
    RetryHint::find(text)
        .unwrap()
        .resolve(NOW, offset_hours * 3_600)
}

#[test]
fn a_duration_counts_from_now() {
    assert_eq!(resolved("retry-after: 600", 5), Some(NOW + 600));
}

#[test]
fn an_instant_may_have_passed() {
    assert_eq!(resolved("limit reached|1750000000", 0), Some(1_750_000_000));
}

#[test]
fn a_time_is_the_next_one_on_the_clock_of_the_server() {
    assert_eq!(resolved("resets 3pm", 0), Some(NOW + 3 * HOUR));
    assert_eq!(resolved("resets 3pm", 1), Some(NOW + 2 * HOUR));
    assert_eq!(
        resolved("resets 3pm (Europe/Berlin)", 1),
        Some(NOW + 2 * HOUR)
    );
    assert_eq!(resolved("resets 3pm (UTC)", 1), Some(NOW + 3 * HOUR));
    assert_eq!(
        resolved("resets 9:30am", 0),
        Some(NOW + 21 * HOUR + HOUR / 2)
    );
    // With 13 hours more it is 1 o'clock of the next day there.
    assert_eq!(resolved("resets 2am", 13), Some(NOW + HOUR));
    assert_eq!(resolved("resets 11pm", -11), Some(NOW + 22 * HOUR));
}

/// It is read a moment after it was printed.
#[test]
fn a_time_that_has_just_passed_is_not_tomorrow() {
    assert_eq!(resolved("resets 11:55am", 0), Some(NOW - 300));
    assert_eq!(resolved("resets 12pm", 0), Some(NOW));
    assert_eq!(resolved("resets 11:45am", 0), Some(NOW + DAY - 900));
}

#[test]
fn a_day_is_the_next_of_its_name() {
    assert_eq!(
        resolved("resets Nov 24, 3pm", 0),
        Some(NOW + 2 * DAY + 3 * HOUR)
    );
    let year_change = RetryHint::find("resets Jan 2, 3pm").unwrap();
    let new_years_eve = NOW + 39 * DAY;
    let expected = NOW + 41 * DAY + 3 * HOUR;
    assert_eq!(year_change.resolve(new_years_eve, 0), Some(expected));
    let with_year = resolved("try again at Nov 24th, 2026 3:00 PM", 0);
    assert_eq!(with_year, Some(NOW + 2 * DAY + 3 * HOUR));
}

#[test]
fn what_lies_months_ahead_was_misread() {
    assert_eq!(resolved("resets Nov 1, 3pm", 0), None);
    assert_eq!(resolved("retry-after: 99999999", 0), None);
    assert_eq!(resolved("limit reached|9999999999", 0), None);
    assert_eq!(resolved("resets Feb 30, 3pm", 0), None);
    assert_eq!(resolved("try again at Nov 24th, 9999 3:00 PM", 0), None);
}

#[test]
fn no_clock_makes_it_overflow() {
    let hints = [
        RetryHint::After { seconds: u64::MAX },
        RetryHint::At {
            unix_seconds: i64::MAX,
        },
        RetryHint::At {
            unix_seconds: i64::MIN,
        },
        RetryHint::LocalTime(time(15, 0)),
        RetryHint::LocalTime(LocalTime {
            day: day(2, 29, None),
            ..time(15, 0)
        }),
    ];
    for hint in hints {
        for now in [i64::MIN, -1, 0, i64::MAX] {
            for offset in [i32::MIN, 0, i32::MAX] {
                let at = hint.resolve(now, offset);
                assert!(at.is_none_or(|at| at <= now.saturating_add(32 * DAY)));
            }
        }
    }
}

#[test]
fn a_hint_has_one_form_when_it_is_stored() {
    let hint = RetryHint::find("resets Oct 12, 3pm (Europe/Berlin)").unwrap();
    let stored = serde_json::to_string(&hint).unwrap();
    let expected = r#"{"kind":"local_time","hour":15,"minute":0,"day":{"month":10,"day":12,"year":null},"zone":"Europe/Berlin"}"#;
    assert_eq!(stored, expected);
    assert_eq!(serde_json::from_str::<RetryHint>(&stored).unwrap(), hint);
    let short = r#"{"kind":"local_time","hour":15,"minute":0}"#;
    let expected = RetryHint::LocalTime(time(15, 0));
    assert_eq!(serde_json::from_str::<RetryHint>(short).unwrap(), expected);
}
