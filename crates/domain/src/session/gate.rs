//! Accounts of which a provider wants to hear nothing for a while.

use core::time::Duration;

use serde::Serialize;

use super::FailureClass;
use crate::id::{CompanyId, RunId};
use crate::text::AccountKey;
use crate::time::Timestamp;

/// Until when the provider of a model refuses an account: a run that used the
/// account was told so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProviderGate {
    /// The company whose agents use the account.
    #[serde(skip)]
    pub company: CompanyId,
    /// What tells the account from others of the company; never a credential.
    pub account: AccountKey,
    /// The first instant at which it makes sense to ask again.
    pub blocked_until: Timestamp,
    /// Why the provider refuses.
    pub reason: FailureClass,
    /// When a run was told so.
    pub noted_at: Timestamp,
    /// That run.
    #[serde(rename = "runId")]
    pub run: Option<RunId>,
}

/// The wait where the provider names none; each further one doubles it.
const FIRST: Duration = Duration::from_secs(30);
/// The longest wait of that kind.
const LONGEST: Duration = Duration::from_secs(30 * 60);
/// A refusal so long after the last wait begins anew.
const MEMORY: Duration = Duration::from_secs(30 * 60);
/// No provider refuses an account for longer; what says so was misread.
const LONGEST_TOLD: Duration = Duration::from_secs(32 * 24 * 60 * 60);

impl ProviderGate {
    /// So long after its end a gate still makes the next one longer, and is
    /// kept for that.
    pub const MEMORY: Duration = MEMORY;

    /// Until when an account is to be left alone that was refused `now`: as
    /// long as the provider told, else twice as long as the last time.
    pub fn end(previous: Option<&Self>, told: Option<Timestamp>, now: Timestamp) -> Timestamp {
        if let Some(told) = told.filter(|told| *told > now) {
            return told.min(now.plus(LONGEST_TOLD));
        }
        let recent = previous.filter(|gate| gate.blocked_until.plus(MEMORY) > now);
        let Some(gate) = recent else {
            return now.plus(FIRST);
        };
        // Another run was refused by the same limit.
        if gate.blocked_until > now {
            return gate.blocked_until;
        }
        let last = gate.blocked_until.since(gate.noted_at);
        now.plus(last.saturating_mul(2).clamp(FIRST, LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn gate(noted: i64, until: i64) -> ProviderGate {
        ProviderGate {
            company: Uuid::nil().into(),
            account: AccountKey::parse("x").expect("a key"),
            blocked_until: at(until),
            reason: FailureClass::ProviderLimit,
            noted_at: at(noted),
            run: None,
        }
    }

    #[test]
    fn what_the_provider_tells_counts() {
        let long = gate(0, 100_000);
        assert_eq!(
            ProviderGate::end(Some(&long), Some(at(500)), at(10)),
            at(500)
        );
        let misread = ProviderGate::end(None, Some(at(i64::from(u32::MAX))), at(0));
        assert_eq!(misread, at(0).plus(LONGEST_TOLD));
        // A clock that is behind tells a past that has not come.
        assert_eq!(ProviderGate::end(None, Some(at(9)), at(10)), at(40));
    }

    #[test]
    fn without_a_word_the_wait_doubles_from_half_a_minute_to_half_an_hour() {
        let (mut last, mut now, mut waits) = (None, 0, [0; 9]);
        for wait in &mut waits {
            let end = ProviderGate::end(last.as_ref(), None, at(now));
            *wait = end.since(at(now)).as_secs();
            let until = end.micros() / 1_000_000;
            last = Some(gate(now, until));
            now = until + 5;
        }
        assert_eq!(waits, [30, 60, 120, 240, 480, 960, 1800, 1800, 1800]);
    }

    #[test]
    fn runs_refused_at_once_do_not_lengthen_the_wait() {
        let first = gate(0, 30);
        assert_eq!(ProviderGate::end(Some(&first), None, at(1)), at(30));
    }

    #[test]
    fn after_a_quiet_while_the_wait_begins_anew() {
        let old = gate(0, 1800);
        let much_later = at(1800 + 1800);
        assert_eq!(
            ProviderGate::end(Some(&old), None, much_later),
            much_later.plus(FIRST)
        );
    }
}
