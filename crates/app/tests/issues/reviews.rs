//! The work of agents on parts of governed issues is reviewed (docs/issues.md#reviews).

use serde_json::json;
use workforce_app::agents;
use workforce_app::issues::{CreateIssue, Rewrite, UpdateIssue};
use workforce_domain::agent::Agent;
use workforce_domain::change::{Change, Replace};
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::wake::{Wake, WakeReason};
use workforce_testkit::on_both_databases;
use workforce_testkit::world::{done, new_issue, no_change, refused};

use crate::deeds::{Deeds, from, given_to, to, words};
use crate::ticket::{Ticket, code};

/// What asking for done is answered with.
fn by_agent(reviewer: &Agent) -> Option<Rewrite> {
    Some(Rewrite {
        from: IssueStatus::Done,
        reason: "review_required",
        reviewer_agent_id: Some(reviewer.id),
        reviewer_user_id: None,
        approval_id: None,
    })
}

/// What asking for done is answered with when the board is to look.
fn by_board() -> Option<Rewrite> {
    Some(Rewrite {
        from: IssueStatus::Done,
        reason: "review_required",
        reviewer_agent_id: None,
        reviewer_user_id: Some("local-board".into()),
        approval_id: None,
    })
}

fn with_words(status: IssueStatus, said: &str) -> UpdateIssue {
    UpdateIssue {
        comment: Some(words(said)),
        ..to(status)
    }
}

/// The pending wake of an agent about an issue.
#[track_caller]
fn wake_about(it: &Ticket, agent: &Agent, issue: &Issue) -> Wake {
    let mut wakes = it.world.pending_wakes(agent);
    wakes.retain(|wake| wake.issue == Some(issue.id));
    assert_eq!(wakes.len(), 1, "{wakes:?}");
    wakes.remove(0)
}

/// The board itself has the issue.
fn given_to_board(it: &Ticket, issue: &Issue) {
    let command = UpdateIssue {
        assignee_user_id: Change::Set("local-board".into()),
        ..no_change()
    };
    done(it.world.board().changes(issue, &command));
}

on_both_databases! {
    fn the_end_of_a_part_is_reviewed_by_whoever_has_the_parent(store: &TestStore) {
        let it = Ticket::on(store);
        let part = it.part();
        let updated = it.asks(&part, IssueStatus::Done);
        assert_eq!(updated.rewritten, by_agent(&it.lead));
        assert_eq!(updated.view.lease, None, "the lease ends");
        assert_eq!(updated.view.issue.progress.completed_at(), None);
        let review = (IssueStatus::InReview, Some(it.lead.id), Some(it.worker.id));
        assert_eq!(it.state(&part), review);
        let wake = wake_about(&it, &it.lead, &part);
        assert_eq!(wake.reasons, [WakeReason::IssueAssigned]);
        assert_eq!(wake.payload.get("review"), Some(&json!(true)));
        assert_eq!(wake.payload.get("implementerAgentId"), Some(&json!(it.worker.id)));
        assert!(it.world.pending_wakes(&it.worker).is_empty(), "it is not called for it any more");
    }

    fn asking_for_the_review_is_the_same(store: &TestStore) {
        let it = Ticket::on(store);
        let part = it.part();
        assert_eq!(it.asks(&part, IssueStatus::InReview).rewritten, None);
        let review = (IssueStatus::InReview, Some(it.lead.id), Some(it.worker.id));
        assert_eq!(it.state(&part), review);
        assert_eq!(wake_about(&it, &it.lead, &part).payload.get("review"), Some(&json!(true)));
    }

    fn the_run_that_asked_goes_on(store: &TestStore) {
        let it = Ticket::on(store);
        let part = CreateIssue {
            status: Some(IssueStatus::Todo),
            parent_id: Some(it.top.id.into()),
            assignee_agent_id: Some(it.worker.id),
            ..new_issue("A part")
        };
        let part = it.world.issue_with(it.company.id, &part);
        let own = |run: &workforce_domain::run::Run| run.agent == it.worker.id;
        let started = it.world.start_all().into_iter().find(|it| own(&it.run)).unwrap().run;
        done(it.world.run_of(started.id).checks_out(&part));
        // By a key, outside of the run: it stands for the run that holds the issue.
        it.asks(&part, IssueStatus::Done);
        assert_eq!(it.world.stored_run(started.id).stop_requested_at, None);
        assert_eq!(it.world.stored_lease(&part), None);
        assert!(it.world.finish(&it.world.stored_run(started.id)));
        let review = (IssueStatus::InReview, Some(it.lead.id), Some(it.worker.id));
        assert_eq!(it.state(&part), review);
    }

    fn the_reviewer_ends_it(store: &TestStore) {
        let it = Ticket::on(store);
        let part = it.reviewed();
        let updated = done(it.world.agent(it.lead.id).moves(&part, IssueStatus::Done));
        assert_eq!(updated.rewritten, None);
        assert_eq!(it.state(&part), (IssueStatus::Done, Some(it.lead.id), None));
    }

    fn the_reviewer_sends_it_back(store: &TestStore) {
        let it = Ticket::on(store);
        for status in [IssueStatus::InProgress, IssueStatus::Todo] {
            let part = it.reviewed();
            let lead = it.world.agent(it.lead.id);
            let updated = done(lead.changes(&part, &with_words(status, "Not yet, @Second knows.")));
            assert_eq!(updated.rewritten, None);
            let back = (IssueStatus::InProgress, Some(it.worker.id), Some(it.worker.id));
            assert_eq!(it.state(&part), back);
            let wake = wake_about(&it, &it.worker, &part);
            assert_eq!(wake.reasons, [WakeReason::IssueAssigned]);
            assert_eq!(wake.comments, [updated.comment.unwrap().comment.id], "whoever else is mentioned");
            assert!(it.world.pending_wakes(&it.lead).iter().all(|it| it.issue != Some(part.id)));
            // The next round goes to the same reviewer.
            assert_eq!(it.asks(&part, IssueStatus::Done).rewritten, by_agent(&it.lead));
            done(lead.moves(&part, IssueStatus::Done));
        }
    }

    fn what_was_parked_by_its_reviewer_goes_back_too(store: &TestStore) {
        let it = Ticket::on(store);
        let (part, lead) = (it.reviewed(), it.world.agent(it.lead.id));
        done(lead.moves(&part, IssueStatus::Blocked));
        done(lead.moves(&part, IssueStatus::Todo));
        let back = (IssueStatus::InProgress, Some(it.worker.id), Some(it.worker.id));
        assert_eq!(it.state(&part), back);
    }

    fn what_goes_back_to_nobody_is_free(store: &TestStore) {
        let it = Ticket::on(store);
        let callers = [it.world.agent(it.lead.id), it.world.board()];
        let parts = [it.reviewed(), it.reviewed()];
        done(it.world.board().write(|tx, ctx| agents::terminate(tx, ctx, it.worker.id)));
        for (caller, part) in callers.into_iter().zip(parts) {
            let began = it.now(&part).progress.last_started_at();
            done(caller.moves(&part, IssueStatus::InProgress));
            assert_eq!(it.state(&part), (IssueStatus::Todo, None, None));
            assert_eq!(it.now(&part).progress.last_started_at(), began, "nobody began");
            assert_eq!(it.told(&part, "override"), None);
        }
    }

    fn the_board_reviews_the_parts_of_what_it_has(store: &TestStore) {
        let it = Ticket::on(store);
        given_to_board(&it, &it.top);
        let part = it.part();
        assert_eq!(it.asks(&part, IssueStatus::Done).rewritten, by_board());
        assert_eq!(it.now(&part).assignee.board().map(|it| it.identity()), Some("local-board".into()));
        let board = it.world.board();
        done(board.changes(&part, &with_words(IssueStatus::InProgress, "Again.")));
        let back = (IssueStatus::InProgress, Some(it.worker.id), Some(it.worker.id));
        assert_eq!(it.state(&part), back);
        assert_eq!(wake_about(&it, &it.worker, &part).comments.len(), 1);
        it.asks(&part, IssueStatus::Done);
        done(board.moves(&part, IssueStatus::Todo));
        assert_eq!(it.state(&part), (IssueStatus::Todo, Some(it.worker.id), Some(it.worker.id)));
        done(it.world.agent(it.worker.id).checks_out(&part));
        it.asks(&part, IssueStatus::Done);
        done(board.moves(&part, IssueStatus::Done));
        assert_eq!(it.state(&part), (IssueStatus::Done, None, None));
    }

    fn the_board_names_whom_it_goes_to(store: &TestStore) {
        let it = Ticket::on(store);
        let part = it.reviewed();
        let command = UpdateIssue {
            status: Replace::Set(IssueStatus::InProgress),
            ..given_to(&it.second)
        };
        done(it.world.board().changes(&part, &command));
        assert_eq!(it.state(&part), (IssueStatus::InProgress, Some(it.second.id), None));
        let review = done(it.world.agent(it.second.id).moves(&part, IssueStatus::Done));
        assert_eq!(review.rewritten, by_agent(&it.lead));
    }

    fn whoever_made_a_part_of_its_own_issue_has_it_reviewed_by_the_board(store: &TestStore) {
        let it = Ticket::on(store);
        let part = it.part_of(&it.top, &it.lead);
        let updated = done(it.world.agent(it.lead.id).moves(&part, IssueStatus::Done));
        assert_eq!(updated.rewritten, by_board(), "the board made it");
        assert_eq!(it.now(&part).implementer, Some(it.lead.id));
    }

    fn a_part_that_nobody_else_can_review_is_reviewed_by_itself(store: &TestStore) {
        let it = Ticket::on(store);
        let lead = it.world.agent(it.lead.id);
        let own = CreateIssue {
            parent_id: Some(it.top.id.into()),
            ..new_issue("My part")
        };
        let part = done(lead.creates(it.company.id, &own));
        done(lead.checks_out(&part));
        let updated = done(lead.moves(&part, IssueStatus::InReview));
        assert_eq!(updated.view.issue.assignee.agent(), Some(it.lead.id));
        let updated = done(lead.moves(&part, IssueStatus::Done));
        assert_eq!(updated.rewritten, None);
        assert_eq!(it.state(&part), (IssueStatus::Done, Some(it.lead.id), None));
        assert_eq!(it.told(&part, "selfReview"), Some(json!(true)));
    }

    fn a_company_that_demands_reviews_takes_none_by_oneself(store: &TestStore) {
        let it = Ticket::on(store);
        store.execute("UPDATE companies SET review_required = NOT review_required");
        let lead = it.world.agent(it.lead.id);
        let own = CreateIssue {
            parent_id: Some(it.top.id.into()),
            ..new_issue("My part")
        };
        let part = done(lead.creates(it.company.id, &own));
        done(lead.checks_out(&part));
        done(lead.moves(&part, IssueStatus::Done));
        assert_eq!(it.state(&part), (IssueStatus::InReview, Some(it.lead.id), None));
        // The reviewer of others ends a review there as elsewhere.
        let part = it.reviewed();
        done(lead.moves(&part, IssueStatus::Done));
        assert_eq!(it.now(&part).status(), IssueStatus::Done);
    }

    fn nobody_ends_the_review_of_its_own_work(store: &TestStore) {
        let it = Ticket::on(store);
        let worker = it.world.agent(it.worker.id);
        let own = CreateIssue {
            parent_id: Some(it.top.id.into()),
            ..new_issue("A part that I thought of")
        };
        let part = done(worker.creates(it.company.id, &own));
        done(worker.checks_out(&part));
        it.asks(&part, IssueStatus::Done);
        // It made the issue, so that it may change it.
        let review = (IssueStatus::InReview, Some(it.lead.id), Some(it.worker.id));
        assert_eq!(it.asks(&part, IssueStatus::Done).rewritten, by_agent(&it.lead));
        assert_eq!(it.state(&part), review);
        done(worker.changes(&part, &given_to(&it.worker)));
        assert_eq!(it.state(&part), (IssueStatus::InReview, Some(it.worker.id), None));
        assert_eq!(it.asks(&part, IssueStatus::Done).rewritten, by_agent(&it.lead));
        assert_eq!(it.state(&part), review);
        done(worker.moves(&part, IssueStatus::InProgress));
        let back = (IssueStatus::InProgress, Some(it.worker.id), Some(it.worker.id));
        assert_eq!(it.state(&part), back, "it goes on by itself");
    }

    fn a_reviewer_may_do_the_work_itself(store: &TestStore) {
        let it = Ticket::on(store);
        let lead = it.world.agent(it.lead.id);
        let itself = UpdateIssue {
            status: Replace::Set(IssueStatus::InProgress),
            ..given_to(&it.lead)
        };
        let (one, other) = (it.reviewed(), it.reviewed());
        done(lead.checks_out_with(&one, &from(&[IssueStatus::InReview])));
        done(lead.changes(&other, &itself));
        for part in [one, other] {
            assert_eq!(it.state(&part), (IssueStatus::InProgress, Some(it.lead.id), None));
            assert!(it.world.stored_lease(&part).is_some());
            let updated = done(lead.moves(&part, IssueStatus::Done));
            assert_eq!(updated.rewritten, by_board(), "it is a worker now");
        }
    }

    fn others_move_a_part_as_before(store: &TestStore) {
        let it = Ticket::on(store);
        let part = it.part();
        let outsider = it.world.agent(it.outsider.id);
        assert_eq!(code(&refused(outsider.moves(&part, IssueStatus::Done))), "forbidden");
        let part = it.reviewed();
        assert_eq!(code(&refused(outsider.moves(&part, IssueStatus::Done))), "forbidden");
        let second = it.world.agent(it.second.id);
        assert_eq!(code(&refused(second.moves(&part, IssueStatus::InProgress))), "forbidden");
        let early = it.world.agent(it.lead.id).moves(&part, IssueStatus::Backlog);
        assert_eq!(code(&refused(early)), "invalid_transition");
    }

    fn the_board_ends_a_part_at_any_time(store: &TestStore) {
        let it = Ticket::on(store);
        let (one, other) = (it.part(), it.reviewed());
        for part in [one, other] {
            assert_eq!(done(it.world.board().moves(&part, IssueStatus::Done)).rewritten, None);
            assert_eq!(it.now(&part).implementer, None);
        }
    }

    fn what_cannot_end_yet_is_refused_and_not_reviewed(store: &TestStore) {
        let it = Ticket::on(store);
        let worker = it.world.agent(it.worker.id);
        let part = CreateIssue {
            status: Some(IssueStatus::Todo),
            parent_id: Some(it.top.id.into()),
            assignee_agent_id: Some(it.worker.id),
            ..new_issue("A part")
        };
        let part = it.world.issue_with(it.company.id, &part);
        for status in [IssueStatus::Done, IssueStatus::InReview] {
            assert_eq!(code(&refused(worker.moves(&part, status))), "invalid_transition");
        }
        assert_eq!(it.state(&part), (IssueStatus::Todo, Some(it.worker.id), None));
    }

    fn a_reviewer_that_is_terminated_leaves_the_review_to_others(store: &TestStore) {
        let it = Ticket::on(store);
        let part = it.reviewed();
        done(it.world.board().write(|tx, ctx| agents::terminate(tx, ctx, it.lead.id)));
        assert_eq!(it.state(&part), (IssueStatus::InReview, None, Some(it.worker.id)));
        done(it.world.board().changes(&part, &given_to(&it.second)));
        done(it.world.agent(it.second.id).moves(&part, IssueStatus::Done));
        assert_eq!(it.now(&part).status(), IssueStatus::Done);
    }

    fn the_reviewer_of_the_last_part_does_not_wake_itself(store: &TestStore) {
        let it = Ticket::on(store);
        let called = || {
            let wakes = it.world.pending_wakes(&it.lead);
            wakes.iter().any(|wake| wake.reasons.contains(&WakeReason::ChildrenCompleted))
        };
        let part = it.reviewed();
        done(it.world.agent(it.lead.id).moves(&part, IssueStatus::Done));
        assert!(!called());
        let part = it.reviewed();
        done(it.world.board().moves(&part, IssueStatus::Done));
        assert!(called());
    }
}
