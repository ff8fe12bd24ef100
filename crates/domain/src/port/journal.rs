use alloc::string::String;
use alloc::vec::Vec;

use super::StoreError;
use crate::activity::{Activity, Entity, Event};
use crate::actor::CompanyScope;
use crate::id::{ActivityId, AgentId, IssueId, RunId};
use crate::page::{CreationKey, Page, PageRequest};

/// The place of an activity row in a list.
pub type ActivityCursor = CreationKey<ActivityId>;

/// Which activity of a company a list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Done by this agent.
    pub agent: Option<AgentId>,
    /// Done to this kind of thing.
    pub entity: Option<Entity>,
    /// Done to this thing.
    pub entity_id: Option<String>,
}

impl ActivityFilter {
    /// What was done to one issue.
    pub fn of_issue(issue: IssueId) -> Self {
        Self {
            agent: None,
            entity: Some(Entity::Issue),
            entity_id: Some(alloc::format!("{issue}")),
        }
    }
}

/// A stored event with its number.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberedEvent {
    /// Its number within the company, without gaps, from 1.
    pub sequence: i64,
    /// The event.
    pub event: Event,
}

/// Which events of a company are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSpan {
    /// The number of the oldest one; one above `latest` when none is kept.
    pub oldest: i64,
    /// The highest number that was given out; zero before the first event.
    pub latest: i64,
}

impl EventSpan {
    /// True when everything that came after the number `after` is kept.
    pub const fn follows(self, after: i64) -> bool {
        after >= self.oldest - 1 && after <= self.latest
    }
}

/// Reads of what happened.
pub trait ActivityReads {
    /// Activity of a company, newest first.
    fn list(
        &mut self,
        company: CompanyScope,
        filter: &ActivityFilter,
        page: &PageRequest<ActivityCursor>,
    ) -> Result<Page<Activity, ActivityCursor>, StoreError>;

    /// What happened to a run and what was done within it, oldest first.
    fn of_run(
        &mut self,
        company: CompanyScope,
        run: RunId,
        page: &PageRequest<ActivityCursor>,
    ) -> Result<Page<Activity, ActivityCursor>, StoreError>;

    /// Events of a company with a number above `after`, in order.
    fn events(
        &mut self,
        company: CompanyScope,
        after: i64,
        limit: usize,
    ) -> Result<Vec<NumberedEvent>, StoreError>;

    /// Which events of a company are kept.
    fn event_span(&mut self, company: CompanyScope) -> Result<EventSpan, StoreError>;
}

/// What happened in this transaction. Rows are gathered and written when the
/// body ends, so that the company's event counter is held only for an instant.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait Journal {
    /// Records an activity.
    fn activity(&mut self, activity: Activity);

    /// Publishes an event; it gets its number when the body ends.
    fn event(&mut self, event: Event);
}
