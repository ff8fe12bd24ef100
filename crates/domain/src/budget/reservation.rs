//! What live runs hold of the budgets, so that those that run at once do not spend the same money.

use super::BudgetBasis;
use crate::id::ProjectId;
use crate::money::Cents;

/// A run reserves at least so much: 25 cents.
pub const LEAST_RESERVATION: Cents = Cents::from_micros(25_000_000);

/// So many earlier runs of an agent tell what the next one may cost.
pub const RUNS_LOOKED_AT: usize = 20;

/// What a run is expected to cost by what earlier runs of its agent cost: more than
/// three quarters of them did, and at least [`LEAST_RESERVATION`].
pub fn expected_cost(earlier: &mut [Cents]) -> Cents {
    earlier.sort_unstable();
    let place = (earlier.len() * 3).div_ceil(4).saturating_sub(1);
    let cost = earlier.get(place).copied().unwrap_or_default();
    cost.max(LEAST_RESERVATION)
}

/// What a run reserves at its start: what it is expected to cost, as far as its
/// budgets have that. `left` is what each of them has; `None` without a limit.
pub fn reservation(expected: Cents, left: impl IntoIterator<Item = Option<Cents>>) -> Cents {
    left.into_iter().flatten().fold(expected, Ord::min)
}

/// What a run has used so far, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSpend {
    /// The project of its issue when it was claimed. What it spends counts there, wherever its
    /// issue is moved.
    pub project: Option<ProjectId>,
    /// What it reserved at its start.
    pub reserved: Cents,
    /// What is booked on it.
    pub spent: Cents,
    /// The same by list.
    pub estimated: Cents,
    /// What it used by list and its program tells the cost of later.
    pub untold: Cents,
    /// The number of the last use that is booked.
    pub booked_through: i64,
}

impl RunSpend {
    /// What counts against the budgets already.
    pub const fn booked(&self, basis: BudgetBasis) -> Cents {
        match basis {
            BudgetBasis::Actual => self.spent,
            BudgetBasis::Estimated => self.estimated,
        }
    }

    /// What it used and is not booked yet.
    const fn unbooked(&self, basis: BudgetBasis) -> Cents {
        match basis {
            BudgetBasis::Actual => self.untold,
            BudgetBasis::Estimated => Cents::ZERO,
        }
    }

    /// What it holds beside what is booked: the rest of its reservation, or more
    /// where it used more.
    pub fn held(&self, basis: BudgetBasis) -> Cents {
        let rest = self.reserved.saturating_sub(self.booked(basis));
        rest.max(self.unbooked(basis))
    }

    /// Whether it used more than it reserved, and so needs what its budgets have
    /// left.
    pub fn is_beyond(&self, basis: BudgetBasis) -> bool {
        let used = self.booked(basis).checked_add(self.unbooked(basis));
        used.is_none_or(|used| used > self.reserved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cents(cents: i64) -> Cents {
        Cents::from_cents(cents).unwrap()
    }

    #[test]
    fn three_quarters_of_the_earlier_runs_cost_no_more() {
        assert_eq!(expected_cost(&mut []), cents(25));
        assert_eq!(expected_cost(&mut [cents(3)]), cents(25));
        assert_eq!(expected_cost(&mut [cents(90)]), cents(90));
        let mut four = [cents(400), cents(100), cents(300), cents(200)];
        assert_eq!(expected_cost(&mut four), cents(300));
        let mut twenty: [Cents; 20] = core::array::from_fn(|n| cents(100 * n as i64));
        assert_eq!(expected_cost(&mut twenty), cents(1400));
    }

    #[test]
    fn no_more_is_reserved_than_is_left() {
        let of = |left| reservation(cents(50), left);
        assert_eq!(of([None, None, None]), cents(50));
        assert_eq!(of([Some(cents(70)), None, Some(cents(60))]), cents(50));
        assert_eq!(of([Some(cents(70)), Some(cents(7)), None]), cents(7));
    }

    #[test]
    fn what_is_booked_is_held_no_more_and_what_is_not_told_yet_is() {
        let run = RunSpend {
            project: None,
            reserved: cents(25),
            spent: cents(10),
            estimated: cents(30),
            untold: cents(12),
            booked_through: 3,
        };
        let actual = BudgetBasis::Actual;
        assert_eq!(run.held(actual), cents(15));
        assert!(!run.is_beyond(actual));
        assert_eq!(run.held(BudgetBasis::Estimated), Cents::ZERO);
        assert!(run.is_beyond(BudgetBasis::Estimated));
        let run = RunSpend {
            untold: cents(20),
            ..run
        };
        assert_eq!(run.held(actual), cents(20));
        assert!(run.is_beyond(actual));
    }
}
