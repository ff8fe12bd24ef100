//! What a reader of events asks for.

use workforce_domain::activity::EventKind;
use workforce_domain::id::CompanyId;

use crate::problem::Problem;
use crate::request_context::Request;

/// What is asked for.
#[derive(Clone, Debug)]
pub(super) struct EventParams {
    pub(super) company: CompanyId,
    pub(super) after: Option<i64>,
    /// All when empty.
    pub(super) kinds: Vec<EventKind>,
}

impl EventParams {
    pub(super) fn parse(rq: &Request) -> Result<Self, Problem> {
        let seen = rq.seen("after")?;
        Ok(Self {
            company: rq.id("companyId")?,
            // Bounded where it is read.
            after: seen.map(|number| i64::try_from(number).unwrap_or(i64::MAX)),
            kinds: rq.query()?.words("types")?,
        })
    }

    pub(super) fn has(&self, kind: EventKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}
