//! Exact amounts.

use proptest::prelude::*;
use workforce_domain::money::{Budget, Cents, MoneyError};

fn parse(text: &str) -> Result<String, MoneyError> {
    Cents::parse(text).map(|amount| amount.to_string())
}

#[track_caller]
fn reads(text: &str, printed: &str) {
    assert_eq!(parse(text).as_deref(), Ok(printed), "{text}");
}

#[track_caller]
fn refuses(text: &str, error: MoneyError) {
    assert_eq!(parse(text), Err(error), "{text}");
}

#[test]
fn a_thousand_times_three_tenths_is_three_hundred() {
    let third: Cents = "0.3".parse().unwrap();
    let sum = (0..1000).try_fold(Cents::ZERO, |sum, _| sum.checked_add(third));
    assert_eq!(sum.map(String::from).as_deref(), Some("300"));
}

#[test]
fn amounts_are_read_exactly() {
    reads("0", "0");
    reads("-0", "0");
    reads("-0.000e99", "0");
    reads("300", "300");
    reads("300.000", "300");
    reads("0.3", "0.3");
    reads("0.000001", "0.000001");
    reads("1e-6", "0.000001");
    reads("1E2", "100");
    reads("1e+2", "100");
    reads("12.34e1", "123.4");
    reads("1000000e-6", "1");
    reads("100000000000000000000e-20", "1");
    reads("0.00000000000000000001e20", "1");
    reads("9007199254740.993001", "9007199254740.993001");
    reads("9223372036854.775807", "9223372036854.775807");
    reads("0e99999999999999999999", "0");
    reads("0.0000000000", "0");
}

#[test]
fn what_is_too_fine_is_refused_and_not_rounded() {
    refuses("0.0000001", MoneyError::TooFine);
    refuses("1e-7", MoneyError::TooFine);
    refuses("1.0000000000000000000000001", MoneyError::TooFine);
    refuses("1e-400", MoneyError::TooFine);
    refuses("1e-99999999999999999999", MoneyError::TooFine);
}

#[test]
fn what_is_too_large_is_refused_and_not_rounded() {
    refuses("9223372036854.775808", MoneyError::TooLarge);
    refuses("9007199254740993.000001", MoneyError::TooLarge);
    refuses("1e400", MoneyError::TooLarge);
    refuses("1e99999999999999999999", MoneyError::TooLarge);
    refuses("123456789012345678901234567890", MoneyError::TooLarge);
}

#[test]
fn what_is_below_zero_is_refused() {
    refuses("-1", MoneyError::Negative);
    refuses("-0.000001", MoneyError::Negative);
    refuses("-1e400", MoneyError::Negative);
}

#[test]
fn what_is_no_json_number_is_refused() {
    for text in [
        "", "-", "+1", ".5", "1.", "01", "-01", "1e", "1e+", "1e+-5", "1e++5", "e5", "1_000", " 1",
        "1 ", "1,5", "0x10", "NaN", "Infinity", "1.2.3", "1e2e3", "1e2.5", "--1", "٣", "1\0",
    ] {
        refuses(text, MoneyError::NotANumber);
    }
}

#[test]
fn budgets_are_whole_cents() {
    let budget = |text| Budget::parse(text).map(Budget::cents);
    assert_eq!(budget("5.0"), Ok(5));
    assert_eq!(budget("5e2"), Ok(500));
    assert_eq!(budget("0"), Ok(0));
    assert_eq!(budget("0.5"), Err(MoneyError::NotWhole));
    assert_eq!(budget("0.00000001"), Err(MoneyError::NotWhole));
    assert_eq!(budget("-1"), Err(MoneyError::Negative));
    assert_eq!(budget("9223372036854"), Ok(Budget::MAX_CENTS));
    assert_eq!(budget("9223372036855"), Err(MoneyError::TooLarge));
    assert_eq!(Budget::from_cents(-1), Err(MoneyError::Negative));
    assert_eq!(Budget::from_cents(i64::MAX), Err(MoneyError::TooLarge));
    assert_eq!(Budget::UNLIMITED.limit(), None);
}

#[test]
fn sums_and_differences_keep_their_bounds() {
    let most = Cents::from_micros(i64::MAX);
    assert_eq!(most.checked_add(Cents::from_micros(1)), None);
    assert_eq!(Cents::ZERO.saturating_sub(most), Cents::ZERO);
    assert_eq!(Cents::from_cents(i64::MAX), Err(MoneyError::TooLarge));
    assert_eq!(Cents::from_micros(-300_000).to_string(), "-0.3");
    assert_eq!(
        Cents::from_micros(i64::MIN).to_string(),
        "-9223372036854.775808"
    );
}

/// The decimal digits of a number with `fraction` decimals.
fn decimal(digits: &str, fraction: usize) -> String {
    let padded = format!("{digits:0>width$}", width = fraction + 1);
    let (whole, decimals) = padded.split_at(padded.len() - fraction);
    if decimals.is_empty() {
        whole.into()
    } else {
        format!("{whole}.{decimals}")
    }
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(micros in 0_i64..=i64::MAX) {
        let amount = Cents::from_micros(micros);
        prop_assert_eq!(Cents::parse(&amount.to_string()), Ok(amount));
    }

    #[test]
    fn the_exponent_only_moves_the_point(micros in 0_i64..=i64::MAX, fraction in 0_usize..40) {
        let exponent = i64::try_from(fraction).unwrap() - 6;
        let text = format!("{}e{exponent}", decimal(&micros.to_string(), fraction));
        prop_assert_eq!(Cents::parse(&text), Ok(Cents::from_micros(micros)), "{}", text);
    }

    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,40}") {
        let _ = Cents::parse(&text);
        let _ = Budget::parse(&text);
    }

    #[test]
    fn no_number_makes_it_panic(text in "-?[0-9]{0,40}(\\.[0-9]{0,40})?([eE][+-]?[0-9]{0,25})?") {
        if let Ok(amount) = Cents::parse(&text) {
            prop_assert!(amount >= Cents::ZERO);
            prop_assert_eq!(Cents::parse(&amount.to_string()), Ok(amount));
        }
    }
}
