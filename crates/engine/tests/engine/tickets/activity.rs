//! What was told of a ticket.

use workforce_app::activity;
use workforce_domain::activity::{Action, Activity};
use workforce_domain::page::PageRequest;
use workforce_domain::string_enum::StringEnum;

use super::site::Site;
use crate::support::eventually;

/// What tells that a step was taken.
const TRAIL: [Action; 4] = [
    Action::WorktreeCreated,
    Action::WorktreeCommitted,
    Action::WorktreePushed,
    Action::PullRequestOpened,
];

impl Site {
    /// What was told of the ticket, oldest first, as `noun.verb` that begins so; without the trail
    /// of its steps.
    pub(crate) fn told(&self, begin: &str) -> Vec<Activity> {
        let mut told = self.activity();
        told.retain(|it| it.action.as_str().starts_with(begin) && !TRAIL.contains(&it.action));
        told
    }

    /// The trail of the steps of the ticket, oldest first.
    pub(crate) fn trail(&self) -> Vec<Activity> {
        let mut trail = self.activity();
        trail.retain(|it| TRAIL.contains(&it.action));
        trail
    }

    fn activity(&self) -> Vec<Activity> {
        let id = self.issue;
        let page = self
            .house
            .act(|tx, ctx| activity::of_issue(tx.reads(), ctx, &id.into(), &PageRequest::first()));
        page.items.into_iter().rev().collect()
    }

    pub(crate) fn actions(&self, begin: &str) -> Vec<String> {
        let told = self.told(begin).into_iter();
        told.map(|it| it.action.to_string()).collect()
    }

    pub(crate) async fn wait_for(&self, action: &str, count: usize) -> Vec<Activity> {
        eventually(action, || {
            Some(self.told(action)).filter(|told| told.len() >= count)
        })
        .await
    }
}
