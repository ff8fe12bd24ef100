//! What the office does when a store, a clock or a source of ids does what real ones seldom do.

use std::error::Error;
use std::time::Duration;

use workforce_domain::budget::Spend;
use workforce_domain::mocks::{MockClock, MockIds, MockTx};
use workforce_domain::port::Spender;

use super::*;
use crate::office::Refusal;

type Outcome = Result<(), Box<dyn Error>>;

fn morning() -> Timestamp {
    Timestamp::from_micros(1_793_610_000_000_000)
}

fn still_clock() -> MockClock {
    let mut clock = MockClock::new();
    clock.expect_now().return_const(morning());
    clock
}

fn board() -> Actor {
    Actor::Board(BoardMember::Local)
}

fn issue(status: IssueStatus) -> Result<Issue, Box<dyn Error>> {
    let mut issue = Papers::new(morning())?.issue;
    issue.progress = Progress::begin(status, morning());
    Ok(issue)
}

fn expect_lock(tx: &mut MockTx, issue: Issue) {
    tx.issues
        .expect_lock()
        .withf(move |_, named| *named == IssueRef::Id(issue.id))
        .return_once(move |_, _| Ok(Some(Locked::assume_locked(issue))));
}

/// An approval that waits for the board, and its issue.
fn expect_approval(tx: &mut MockTx) -> Result<ApprovalId, Box<dyn Error>> {
    let desk = Desk::new(Papers::new(morning())?);
    let issue = desk.papers().issue.id;
    let ids = counted_ids();
    let clock = still_clock();
    let office = Office {
        actor: &board(),
        clock: &clock,
        ids: &ids,
    };
    let id = office.ask_for_completion(&mut desk.transaction(), issue)?;
    let approval = desk.papers().approval.clone().ok_or("none was asked for")?;
    expect_lock(tx, desk.papers().issue.clone());
    let seen = approval.clone();
    tx.approvals
        .expect_find()
        .return_once(move |_, _| Ok(Some(seen)));
    tx.approvals
        .expect_lock()
        .return_once(move |_, _| Ok(Some(Locked::assume_locked(approval))));
    Ok(id)
}

#[test]
fn what_ends_is_saved_and_has_no_lease_any_more() -> Outcome {
    let (clock, ids, mut tx) = (still_clock(), MockIds::new(), MockTx::default());
    let issue = issue(IssueStatus::InReview)?;
    let id = issue.id;
    expect_lock(&mut tx, issue);
    tx.issues
        .expect_save()
        .once()
        .withf(|issue| issue.progress.completed_at() == Some(morning()))
        .returning(|_| Ok(()));
    tx.issues.expect_end_lease().once().returning(|_| Ok(()));
    let office = Office {
        actor: &board(),
        clock: &clock,
        ids: &ids,
    };
    let from = office.move_issue(&mut tx, id, IssueStatus::Done)?;
    assert_eq!(from, IssueStatus::InReview);
    Ok(())
}

#[test]
fn what_the_lifecycle_refuses_is_not_written() -> Outcome {
    let (clock, ids, mut tx) = (still_clock(), MockIds::new(), MockTx::default());
    let issue = issue(IssueStatus::Done)?;
    let id = issue.id;
    // Nothing but the lock is expected.
    expect_lock(&mut tx, issue);
    let office = Office {
        actor: &board(),
        clock: &clock,
        ids: &ids,
    };
    let refused = office.move_issue(&mut tx, id, IssueStatus::InReview);
    assert!(matches!(refused, Err(Failure::Refused(Refusal::Issue(_)))));
    Ok(())
}

#[test]
fn a_decision_that_comes_second_leaves_the_issue_alone() -> Outcome {
    let (clock, ids, mut tx) = (still_clock(), MockIds::new(), MockTx::default());
    let id = expect_approval(&mut tx)?;
    tx.approvals
        .expect_transition()
        .once()
        .withf(|_, from| from == ApprovalStatus::ACTIONABLE)
        .returning(|_, _| Ok(false));
    let office = Office {
        actor: &board(),
        clock: &clock,
        ids: &ids,
    };
    let refused = office.agree(&mut tx, id, BoardMember::Local);
    assert!(matches!(refused, Err(Failure::Refused(Refusal::Overtaken))));
    Ok(())
}

#[test]
fn an_id_that_is_taken_fails_the_whole() -> Outcome {
    let (clock, mut ids, mut tx) = (still_clock(), MockIds::new(), MockTx::default());
    let taken = Uuid::from_u128(7);
    ids.expect_next().once().return_const(taken);
    let issue = issue(IssueStatus::InProgress)?;
    let id = issue.id;
    expect_lock(&mut tx, issue);
    tx.approvals
        .expect_insert()
        .withf(move |approval, _, _| approval.id == taken.into())
        .returning(|_, _, _| {
            Err(StoreError::Constraint {
                constraint: "approvals_pkey".to_owned(),
            })
        });
    let office = Office {
        actor: &board(),
        clock: &clock,
        ids: &ids,
    };
    let failed = office.ask_for_completion(&mut tx, id);
    let constraint = matches!(failed, Err(Failure::Store(StoreError::Constraint { .. })));
    assert!(constraint);
    Ok(())
}

#[test]
fn a_clock_that_jumps_over_the_end_of_a_month_begins_another_budget() -> Outcome {
    let papers = Papers::new(morning())?;
    let (agent, spender) = (papers.agent.id, Spender::Agent(papers.agent.id));
    let tomorrow = morning().plus(Duration::from_secs(40 * 24 * 3600));
    let (months, ids) = ([morning(), tomorrow].map(Month::of), counted_ids());
    let mut clock = MockClock::new();
    for now in [morning(), tomorrow] {
        clock.expect_now().once().return_const(now);
    }
    let mut tx = MockTx::default();
    tx.agents
        .expect_lock()
        .returning(move |_, _| Ok(Some(Locked::assume_locked(papers.agent.clone()))));
    tx.agents.expect_save().once().returning(|_| Ok(()));
    tx.ledger.expect_record().times(2).returning(|_| Ok(()));
    tx.ledger
        .expect_alerts()
        .times(2)
        .returning(|_, _, _| Ok(Vec::new()));
    tx.ledger
        .expect_raise_alert()
        .times(2)
        .withf(move |_, _, month, _, _| *month == months[0])
        .returning(|_, _, _, _, _| Ok(true));
    for (month, actual) in months.into_iter().zip(["100", "1"]) {
        let actual = Cents::parse(actual)?;
        tx.ledger
            .expect_spent()
            .once()
            .withf(move |_, who, when| (*who, *when) == (spender, month))
            .returning(move |_, _, _| {
                Ok(Spend {
                    actual,
                    ..Spend::default()
                })
            });
    }
    let office = Office {
        actor: &board(),
        clock: &clock,
        ids: &ids,
    };
    let bill = Bill {
        agent,
        provider: Name::parse("anthropic")?,
        model: Name::parse("claude-opus-4-5")?,
        cost: Cents::parse("1")?,
    };
    let alerts = office.book(&mut tx, &bill)?;
    assert_eq!(alerts, [Threshold::Soft, Threshold::Hard]);
    assert!(office.book(&mut tx, &bill)?.is_empty());
    Ok(())
}

#[test]
fn a_store_that_is_contended_is_told_as_such() -> Outcome {
    let (clock, ids, mut tx) = (MockClock::new(), MockIds::new(), MockTx::default());
    tx.issues
        .expect_lock()
        .returning(|_, _| Err(StoreError::Contended));
    let office = Office {
        actor: &board(),
        clock: &clock,
        ids: &ids,
    };
    let id = issue(IssueStatus::Todo)?.id;
    let failed = office.move_issue(&mut tx, id, IssueStatus::Done);
    assert!(matches!(failed, Err(Failure::Store(error)) if error.may_pass()));
    Ok(())
}
