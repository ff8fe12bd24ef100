//! Reading live events: from a number on, without gaps
//! (docs/events.md#resuming).

use serde_json::{Value, json};
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::CompanyId;
use workforce_domain::port::{EventSpan, Failure, NumberedEvent, Reads};

use crate::access::{self, Denied};
use crate::context::Context;
use crate::refusal::{Code, Codes, Refusal};

/// Why events are not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// The caller may not, or there is no such company.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The events after that number are not kept any more, or the number was
    /// never given out.
    #[error(
        "the events after {after} are not kept: the oldest is {}, the latest {}",
        span.oldest, span.latest
    )]
    Expired {
        /// The number that was named.
        after: i64,
        /// What is kept.
        span: EventSpan,
    },
}

impl Refusal for EventError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Expired { .. } => Code::EventsExpired,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Expired { after, span } => Some(json!({
                "after": after,
                "oldestId": span.oldest,
                "latestId": span.latest,
            })),
        }
    }
}

/// Where the reading of a company's events begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The company, as the caller may read it.
    pub company: CompanyScope,
    /// Events with a higher number follow.
    pub after: i64,
    /// What is kept.
    pub span: EventSpan,
    /// The number that was named, when what follows it is not kept any more:
    /// the reader must look at everything anew.
    pub lost: Option<i64>,
}

/// Finds where to begin: after the number that the caller has seen, with what
/// comes next when it names none, and with the oldest event that is kept when
/// it names zero.
///
/// # Errors
/// [`EventError::Denied`]
pub fn open(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    after: Option<i64>,
) -> Result<Opening, Failure<EventError>> {
    let company = access::company_scope(reads, ctx, company)?;
    let span = reads.activity().event_span(company)?;
    let (after, lost) = match after {
        None => (span.latest, None),
        Some(0) => (span.oldest - 1, None),
        Some(after) if span.follows(after) => (after, None),
        Some(after) => (span.oldest - 1, Some(after)),
    };
    Ok(Opening {
        company,
        after,
        span,
        lost,
    })
}

/// Which events are kept, for whoever may still read.
///
/// # Errors
/// [`EventError::Denied`]
pub fn span(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
) -> Result<EventSpan, Failure<EventError>> {
    let company = access::company_scope(reads, ctx, company)?;
    Ok(reads.activity().event_span(company)?)
}

/// A piece of a company's events.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    /// The events, in order.
    pub events: Vec<NumberedEvent>,
    /// Where the next piece begins.
    pub next_after: i64,
    /// True when there is more already.
    pub more: bool,
}

/// What [`page`] refuses with.
pub const PAGE: Codes = Codes::of(&[Code::EventsExpired]);

/// A piece of a company's events, for callers that ask again and again. One
/// that names no number begins with the oldest event that is kept.
pub fn page(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    after: Option<i64>,
    limit: usize,
) -> Result<EventPage, Failure<EventError>> {
    let opening = open(reads, ctx, company, Some(after.unwrap_or(0)))?;
    if let Some(after) = opening.lost {
        let span = opening.span;
        return Err(Failure::Refused(EventError::Expired { after, span }));
    }
    let events = reads
        .activity()
        .events(opening.company, opening.after, limit)?;
    let next_after = events.last().map_or(opening.after, |last| last.sequence);
    Ok(EventPage {
        more: next_after < opening.span.latest,
        next_after,
        events,
    })
}
