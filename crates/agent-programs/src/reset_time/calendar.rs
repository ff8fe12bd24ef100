//! Days of the Gregorian calendar as numbers.

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// Days of 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;

/// Days from 1970-03-01 minus the days to the beginning of the era that starts
/// with 0000-03-01.
const DAYS_TO_EPOCH: i64 = 719_468;

/// The number of a day since 1970-01-01, or `None` when the month has no such
/// day.
pub(super) fn days_from_civil(year: i64, month: u8, day: u8) -> Option<i64> {
    let days = numbered(year, i64::from(month), i64::from(day));
    (civil_from_days(days) == (year, month, day)).then_some(days)
}

/// Years begin in March here, so that a leap day is the last of its year.
fn numbered(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - DAYS_TO_EPOCH
}

/// Year, month and day of a day since 1970-01-01.
pub(super) fn civil_from_days(days: i64) -> (i64, u8, u8) {
    let shifted = days + DAYS_TO_EPOCH;
    let era = shifted.div_euclid(ERA_DAYS);
    let day_of_era = shifted.rem_euclid(ERA_DAYS);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    // Both are small by the arithmetic above.
    (
        year,
        u8::try_from(month).unwrap_or(1),
        u8::try_from(day).unwrap_or(1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days_have_their_numbers() {
        assert_eq!(days_from_civil(1970, 1, 1), Some(0));
        assert_eq!(days_from_civil(2000, 2, 29), Some(11_016));
        assert_eq!(days_from_civil(2026, 11, 22), Some(20_779));
        assert_eq!(days_from_civil(1969, 12, 31), Some(-1));
    }

    #[test]
    fn a_day_that_no_month_has_has_no_number() {
        for (year, month, day) in [(2026, 2, 29), (2026, 4, 31), (2026, 13, 1), (2026, 1, 0)] {
            assert_eq!(days_from_civil(year, month, day), None);
        }
    }

    #[test]
    fn every_day_of_two_centuries_leads_back_to_its_number() {
        for days in -36_500..36_500 {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), Some(days));
        }
    }
}
