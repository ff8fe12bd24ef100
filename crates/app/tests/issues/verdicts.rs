//! Reviews with a verdict and remarks on lines, of which each agent hears once
//! (docs/issues.md#reviews-in-one-call).

use serde_json::{Value, json};
use workforce_app::issues::{self, SubmitReview, SubmittedReview};
use workforce_app::mentions::Commented;
use workforce_domain::agent::Agent;
use workforce_domain::id::CommentId;
use workforce_domain::issue::{Comment, Issue, IssueStatus};
use workforce_domain::run::RunKind;
use workforce_domain::wake::{Wake, WakeReason};
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{Acting, done, refused};

use crate::deeds::{Deeds, Outcome};
use crate::ticket::{Ticket, code};

fn reviews(who: Acting<'_>, issue: &Issue, review: Value) -> Outcome<SubmittedReview> {
    let command: SubmitReview = serde_json::from_value(review).unwrap();
    who.write(|tx, ctx| issues::submit_review(tx, ctx, &issue.id.into(), command.clone()))
}

fn remark(line: usize, body: &str) -> Value {
    json!({ "path": "src/lib.rs", "line": line, "body": body })
}

fn ids(comments: &[Commented<Comment>]) -> Vec<CommentId> {
    comments.iter().map(|said| said.comment.id).collect()
}

/// The one wake of an agent that is pending, which is about the issue.
#[track_caller]
fn only_wake(it: &Ticket, agent: &Agent, issue: &Issue) -> Wake {
    let mut wakes = it.world.pending_wakes(agent);
    assert_eq!(wakes.len(), 1, "{wakes:?}");
    assert_eq!(wakes[0].issue, Some(issue.id));
    wakes.remove(0)
}

fn nobody_hears(it: &Ticket, agents: &[&Agent]) {
    for agent in agents {
        assert!(it.world.pending_wakes(agent).is_empty(), "{}", agent.name);
    }
}

/// Lets every agent answer what it was woken for.
fn settle(it: &Ticket) {
    while it
        .world
        .start_next()
        .is_some_and(|started| it.world.finish(&started.run))
    {}
}

/// Work that waits for its reviewer, of whom the wake for that is gone.
fn waiting(it: &Ticket) -> Issue {
    let part = it.reviewed();
    settle(it);
    nobody_hears(it, &[&it.lead, &it.worker, &it.second]);
    part
}

on_both_databases! {
    fn changes_that_are_requested_reach_whoever_did_the_work_as_one_wake(store: &TestStore) {
        let it = Ticket::on(store);
        let part = waiting(&it);
        let remarks: Vec<Value> = (1..=100).map(|line| remark(line, "Why?")).collect();
        let review = json!({
            "verdict": "changes_requested", "body": "Not yet.", "comments": remarks,
        });
        let answer = done(reviews(it.world.agent(it.lead.id), &part, review));
        assert_eq!(answer.issue.view.issue.status(), IssueStatus::InProgress);
        let worker = Some(it.worker.id);
        assert_eq!(it.state(&part), (IssueStatus::InProgress, worker, worker));
        assert_eq!(answer.comments.len(), 101);
        assert_eq!(*answer.comments[0].comment.body, *"Not yet.");
        assert_eq!(answer.comments[0].comment.position, None);
        let lines: Vec<String> = answer.comments.iter()
            .filter_map(|said| said.comment.position.as_ref().map(|it| it.lines()))
            .collect();
        assert_eq!(lines, (1..=100).map(|line: usize| line.to_string()).collect::<Vec<_>>());
        let wake = only_wake(&it, &it.worker, &part);
        assert_eq!(wake.reasons, [WakeReason::IssueAssigned]);
        assert_eq!(wake.kind, RunKind::Execution);
        assert_eq!(wake.comments, ids(&answer.comments));
        assert_eq!(wake.payload.get("verdict"), Some(&json!("changes_requested")));
        nobody_hears(&it, &[&it.lead, &it.second]);
    }

    fn whoever_is_mentioned_is_woken_once_with_what_mentions_it(store: &TestStore) {
        let it = Ticket::on(store);
        let part = waiting(&it);
        let comments = [
            remark(1, "@Second wrote this"), remark(2, "Why?"), remark(3, "@Second and @Worker"),
        ];
        let review = json!({ "verdict": "changes_requested", "comments": comments });
        let said = done(reviews(it.world.agent(it.lead.id), &part, review)).comments;
        let wake = only_wake(&it, &it.second, &part);
        assert_eq!(wake.reasons, [WakeReason::IssueCommentMentioned]);
        assert_eq!((wake.kind, wake.count), (RunKind::Consult, 1));
        assert_eq!(wake.comments, [said[0].comment.id, said[2].comment.id]);
        let wake = only_wake(&it, &it.worker, &part);
        assert_eq!(wake.reasons[0], WakeReason::IssueAssigned);
        assert_eq!(wake.kind, RunKind::Execution);
        assert_eq!(wake.comments, ids(&said), "it hears of all of them");
        nobody_hears(&it, &[&it.lead]);
    }

    fn an_approval_ends_the_work_and_wakes_whoever_is_mentioned(store: &TestStore) {
        let it = Ticket::on(store);
        let part = waiting(&it);
        let review = json!({ "verdict": "approved", "comments": [remark(1, "@Second, nice?")] });
        let answer = done(reviews(it.world.agent(it.lead.id), &part, review));
        assert_eq!(answer.issue.rewritten, None);
        assert_eq!(it.state(&part), (IssueStatus::Done, Some(it.lead.id), None));
        assert_eq!(only_wake(&it, &it.second, &part).comments, ids(&answer.comments));
        nobody_hears(&it, &[&it.lead, &it.worker]);
        let silent = waiting(&it);
        let review = json!({ "verdict": "approved" });
        let answer = done(reviews(it.world.board(), &silent, review));
        assert_eq!(answer.comments, []);
        assert_eq!(it.state(&silent).0, IssueStatus::Done);
        assert_eq!(it.told(&silent, "verdict"), Some(json!("approved")));
    }

    fn an_implementer_does_not_approve_its_own_work(store: &TestStore) {
        let it = Ticket::on(store);
        let part = it.reviewed();
        let before = it.state(&part);
        let review = json!({ "verdict": "approved", "body": "Fine." });
        // It has no say in it unless it made the issue, or manages whoever has it.
        let refusal = refused(reviews(it.world.agent(it.worker.id), &part, review));
        assert_eq!(code(&refusal), "forbidden");
        assert_eq!(it.state(&part), before);
    }

    fn remarks_of_the_reviewer_are_heard_by_whoever_did_the_work(store: &TestStore) {
        let it = Ticket::on(store);
        let part = waiting(&it);
        let before = it.state(&part);
        let review = json!({
            "verdict": "commented", "body": "A question.", "comments": [remark(7, "Why?")],
        });
        let said = done(reviews(it.world.agent(it.lead.id), &part, review)).comments;
        assert_eq!(it.state(&part), before);
        let wake = only_wake(&it, &it.worker, &part);
        assert_eq!(wake.reasons, [WakeReason::IssueCommented]);
        assert_eq!((wake.kind, wake.count), (RunKind::Consult, 1));
        assert_eq!(wake.comments, ids(&said));
        nobody_hears(&it, &[&it.lead, &it.second]);
    }

    fn remarks_of_others_are_heard_by_the_reviewer_too(store: &TestStore) {
        let it = Ticket::on(store);
        let part = waiting(&it);
        let review = json!({ "verdict": "commented", "comments": [remark(7, "Why?")] });
        let said = done(reviews(it.world.agent(it.outsider.id), &part, review)).comments;
        for (agent, kind) in [(&it.lead, RunKind::Execution), (&it.worker, RunKind::Consult)] {
            let wake = only_wake(&it, agent, &part);
            assert_eq!((wake.kind, wake.count), (kind, 1));
            assert_eq!(wake.comments, ids(&said));
        }
        nobody_hears(&it, &[&it.outsider]);
    }

    fn remarks_of_an_agent_that_all_call_others_are_theirs(store: &TestStore) {
        let it = Ticket::on(store);
        let part = waiting(&it);
        let called = json!({ "verdict": "commented", "comments": [remark(7, "@Second?")] });
        done(reviews(it.world.agent(it.outsider.id), &part, called));
        assert_eq!(only_wake(&it, &it.second, &part).count, 1);
        nobody_hears(&it, &[&it.lead, &it.worker]);
        let mixed = [remark(7, "@Second?"), remark(8, "Why?")];
        let mixed = json!({ "verdict": "commented", "comments": mixed });
        let said = done(reviews(it.world.agent(it.outsider.id), &part, mixed)).comments;
        assert_eq!(only_wake(&it, &it.lead, &part).comments, ids(&said));
    }

    fn remarks_on_work_in_progress_wake_its_assignee(store: &TestStore) {
        let it = Ticket::on(store);
        let part = it.part();
        settle(&it);
        let review = json!({ "verdict": "commented", "comments": [remark(7, "Why?")] });
        let said = done(reviews(it.world.agent(it.outsider.id), &part, review)).comments;
        let wake = only_wake(&it, &it.worker, &part);
        assert_eq!(wake.reasons, [WakeReason::IssueCommented]);
        assert_eq!(wake.comments, ids(&said));
        settle(&it);
        done(it.world.board().moves(&part, IssueStatus::Done));
        settle(&it);
        let thanks = json!({ "verdict": "commented", "body": "Thank you." });
        done(reviews(it.world.board(), &part, thanks));
        nobody_hears(&it, &[&it.worker, &it.lead]);
    }

    fn whoever_has_the_issue_asks_nobody_for_changes(store: &TestStore) {
        let it = Ticket::on(store);
        let board = it.world.board();
        // The board put it in review by hand, so that nobody is known to have done the work.
        let part = it.part();
        done(board.moves(&part, IssueStatus::InReview));
        let review = json!({ "verdict": "changes_requested", "body": "Again." });
        let refusal = refused(reviews(it.world.agent(it.worker.id), &part, review.clone()));
        assert_eq!(code(&refusal), "forbidden");
        assert_eq!(it.state(&part).0, IssueStatus::InReview);
        settle(&it);
        let said = done(reviews(it.world.agent(it.lead.id), &part, review)).comments;
        assert_eq!(it.state(&part).0, IssueStatus::InProgress);
        let wake = only_wake(&it, &it.worker, &part);
        assert_eq!(wake.comments, ids(&said));
    }
}
