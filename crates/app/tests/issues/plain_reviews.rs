//! Work that an agent sets in review is looked at by somebody, governed or not
//! (docs/issues.md#reviews).

use serde_json::json;
use workforce_app::issues::CreateIssue;
use workforce_domain::agent::Agent;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{Assignee, Issue, IssueStatus};
use workforce_domain::wake::WakeReason;
use workforce_testkit::on_both_databases;
use workforce_testkit::store::TestStore;
use workforce_testkit::world::{World, done, new_issue, refused};

use crate::deeds::Deeds;

/// A lead, a manager below, and a worker below that.
struct Shop {
    world: World,
    lead: Agent,
    manager: Agent,
    worker: Agent,
}

impl Shop {
    fn on(store: &TestStore) -> Self {
        let world = World::on(store);
        let company = world.company("Shop").id;
        let lead = world.hired(company, "Lead");
        let manager = world.hired_below(&lead, "Manager");
        Self {
            worker: world.hired_below(&manager, "Worker"),
            lead,
            manager,
            world,
        }
    }

    /// An issue by `author` that the worker works on.
    fn work(&self, author: &Agent, parent: Option<&Issue>) -> Issue {
        let command = CreateIssue {
            status: Some(IssueStatus::Todo),
            assignee_agent_id: Some(self.worker.id),
            parent_id: parent.map(|parent| parent.id.into()),
            ..new_issue("Work")
        };
        let author = self.world.agent(author.id);
        let issue = done(author.creates(self.worker.company, &command));
        done(self.world.agent(self.worker.id).checks_out(&issue));
        issue
    }

    fn state(&self, issue: &Issue) -> (IssueStatus, Assignee, Option<AgentId>) {
        let issue = self.world.stored_issue(issue.id);
        (issue.status(), *issue.assignee, issue.implementer)
    }

    fn asks_for_review(&self, issue: &Issue) {
        let worker = self.world.agent(self.worker.id);
        let asked = done(worker.moves(issue, IssueStatus::InReview));
        assert_eq!(asked.rewritten, None);
    }

    #[track_caller]
    fn is_reviewed_by(&self, issue: &Issue, reviewer: &Agent) {
        let expected = (
            IssueStatus::InReview,
            Assignee::Agent(reviewer.id),
            Some(self.worker.id),
        );
        assert_eq!(self.state(issue), expected);
        let mut wakes = self.world.pending_wakes(reviewer);
        wakes.retain(|wake| wake.issue == Some(issue.id));
        assert_eq!(wakes.len(), 1, "{wakes:?}");
        assert_eq!(wakes[0].reasons, [WakeReason::IssueAssigned]);
        assert_eq!(wakes[0].payload.get("review"), Some(&json!(true)));
    }
}

on_both_databases! {
    fn whoever_has_the_parent_reviews(store: &TestStore) {
        let it = Shop::on(store);
        let parent = it.world.todo_for(&it.lead, "Parent");
        let issue = it.work(&it.lead, Some(&parent));
        it.asks_for_review(&issue);
        it.is_reviewed_by(&issue, &it.lead);
        // It may send the work back, and end it.
        let lead = it.world.agent(it.lead.id);
        done(lead.moves(&issue, IssueStatus::InProgress));
        let back = (IssueStatus::InProgress, Assignee::Agent(it.worker.id), Some(it.worker.id));
        assert_eq!(it.state(&issue), back);
        it.asks_for_review(&issue);
        done(lead.moves(&issue, IssueStatus::Done));
        assert_eq!(it.state(&issue).0, IssueStatus::Done);
    }

    fn without_a_parent_the_manager_reviews(store: &TestStore) {
        let it = Shop::on(store);
        let issue = it.work(&it.lead, None);
        it.asks_for_review(&issue);
        it.is_reviewed_by(&issue, &it.manager);
        // The worker cannot end its own work now.
        refused(it.world.agent(it.worker.id).moves(&issue, IssueStatus::Done));
        it.is_reviewed_by(&issue, &it.manager);
    }

    fn its_own_parent_gives_no_reviewer(store: &TestStore) {
        let it = Shop::on(store);
        let parent = it.world.todo_for(&it.worker, "Parent");
        let issue = it.work(&it.worker, Some(&parent));
        it.asks_for_review(&issue);
        it.is_reviewed_by(&issue, &it.manager);
    }

    fn at_the_top_the_board_reviews(store: &TestStore) {
        let it = Shop::on(store);
        let issue = it.world.todo_for(&it.lead, "Of the board");
        let lead = it.world.agent(it.lead.id);
        done(lead.checks_out(&issue));
        done(lead.moves(&issue, IssueStatus::InReview));
        let (status, assignee, implementer) = it.state(&issue);
        assert_eq!((status, implementer), (IssueStatus::InReview, Some(it.lead.id)));
        assert!(matches!(assignee, Assignee::Board(_)), "{assignee:?}");
    }

    fn work_that_is_done_needs_no_review(store: &TestStore) {
        let it = Shop::on(store);
        let issue = it.work(&it.lead, None);
        let asked = done(it.world.agent(it.worker.id).moves(&issue, IssueStatus::Done));
        assert_eq!((asked.rewritten, it.state(&issue).0), (None, IssueStatus::Done));
    }
}
