//! The one mechanism of all lifecycles: a table says what each status may become, and everything
//! else follows from it.

use core::fmt::{Debug, Display};

use crate::string_enum::{Listed, StringEnum};

/// Where something stands, of which a table says what it may become.
pub trait Lifecycle: StringEnum + Eq + Debug + Display {
    /// What stands there, as a refusal names it: `an issue`.
    const SUBJECT: &'static str;

    /// What this status may become: the one transition table. A status never leads to itself.
    fn successors(self) -> &'static [Self];

    /// True when nothing comes after it.
    fn is_terminal(self) -> bool {
        self.successors().is_empty()
    }

    /// The statuses that may become this one: what a conditional update must ask for.
    fn predecessors(self) -> impl Iterator<Item = Self> {
        Self::ALL
            .iter()
            .copied()
            .filter(move |from| from.successors().contains(&self))
    }

    /// This status changed to `to`.
    ///
    /// # Errors
    /// When the table does not lead there; to stay is no step of it.
    fn transition_to(self, to: Self) -> Result<Self, IllegalTransition<Self>> {
        self.transition_within(self.successors(), to)
    }

    /// This status changed to `to`, for those to whom more or less is `allowed` than the table
    /// says.
    ///
    /// # Errors
    /// When `to` is not allowed.
    fn transition_within(
        self,
        allowed: &'static [Self],
        to: Self,
    ) -> Result<Self, IllegalTransition<Self>> {
        if allowed.contains(&to) {
            Ok(to)
        } else {
            Err(IllegalTransition {
                from: self,
                to,
                allowed,
            })
        }
    }
}

/// The lifecycle does not lead from one status to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} cannot go from {from} to {to}; from {from} it can go to {}",
    S::SUBJECT,
    Listed(.allowed)
)]
pub struct IllegalTransition<S: Lifecycle> {
    /// Where it stands.
    pub from: S,
    /// What was asked for.
    pub to: S,
    /// What could have been asked for.
    pub allowed: &'static [S],
}
