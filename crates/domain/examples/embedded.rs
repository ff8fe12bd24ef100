//! The rules without a server: an issue goes through its life and a budget to
//! its stop, with no database, no clock and no network.
//!
//! Whoever embeds the rules brings the time and the ids, keeps the values
//! wherever it likes, and does what the decisions say.
//!
//! ```text
//! cargo run -p workforce-domain --example embedded
//! ```
#![expect(clippy::print_stdout, reason = "the example talks to its reader")]

use std::error::Error;
use std::time::Duration;

use uuid::Uuid;
use workforce_domain::budget::{AgentPause, BudgetUsage, RaisedAlerts, Threshold, decide_agent};
use workforce_domain::id::{AgentId, CompanyId, IssueId, RunId};
use workforce_domain::issue::{
    CheckoutDecision, CheckoutFacts, CheckoutRequest, DEFAULT_EXPECTED, Holder, IssueStatus, Lease,
    Mover, Progress,
};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::mention::{MentionIndex, Mentionable};
use workforce_domain::money::{Budget, Cents};
use workforce_domain::time::{Month, Timestamp};

fn main() -> Result<(), Box<dyn Error>> {
    let morning = Timestamp::parse("2026-11-02T09:00:00Z")?;
    issue_from_backlog_to_done_and_back(morning)?;
    budget_to_its_stop(morning)?;
    comment_that_calls_for_help();
    Ok(())
}

/// What a program keeps of an issue; here in memory.
struct Ticket {
    id: IssueId,
    company: CompanyId,
    progress: Progress,
    assignee: Option<AgentId>,
    lease: Option<Lease>,
}

impl Ticket {
    fn check_out(&mut self, agent: AgentId, run: RunId, now: Timestamp) {
        let facts = CheckoutFacts {
            progress: &self.progress,
            assignee_agent: self.assignee,
            assignee_is_board: false,
            lease: self.lease.as_ref(),
            approval_pending: None,
        };
        let request = CheckoutRequest {
            agent,
            run: Some(run),
            expected: &DEFAULT_EXPECTED,
            now,
        };
        match facts.decide(request) {
            CheckoutDecision::Take { progress } => {
                let holder = Holder::of(agent, Some(run));
                self.lease = Some(Lease {
                    issue: self.id,
                    company: self.company,
                    holder,
                    fence: 1,
                    expires_at: holder.expiry(now),
                });
                self.assignee = Some(agent);
                self.progress = progress;
                println!("{now}  checked out: {}", self.progress.status());
            }
            CheckoutDecision::AlreadyOwned => {
                self.lease = self.lease.as_ref().map(|lease| lease.renewed(now));
                println!("{now}  checked out already");
            }
            CheckoutDecision::Conflict(conflict) => {
                println!("{now}  refused ({}): {conflict}", conflict.reason);
            }
        }
    }

    fn transition_to(&mut self, mover: Mover, to: IssueStatus, now: Timestamp) {
        match self.progress.transition_to(mover, to, now) {
            Ok(moved) => {
                let note = if moved.overridden {
                    ", an override"
                } else {
                    ""
                };
                println!("{now}  {} to {to}{note}", moved.from);
                if to.is_terminal() {
                    self.lease = None;
                }
                self.progress = moved.progress;
            }
            Err(illegal) => println!("{now}  refused: {illegal}"),
        }
    }
}

fn issue_from_backlog_to_done_and_back(morning: Timestamp) -> Result<(), Box<dyn Error>> {
    println!("An issue:");
    let at = |minutes: u64| morning.plus(Duration::from_secs(minutes * 60));
    let (ada, bob) = (
        AgentId::from(Uuid::from_u128(1)),
        AgentId::from(Uuid::from_u128(2)),
    );
    let (first_run, other_run) = (
        RunId::from(Uuid::from_u128(3)),
        RunId::from(Uuid::from_u128(4)),
    );
    let mut ticket = Ticket {
        id: Uuid::from_u128(5).into(),
        company: Uuid::from_u128(6).into(),
        progress: Progress::begin(IssueStatus::Backlog, at(0)),
        assignee: None,
        lease: None,
    };

    // An agent must not skip the work.
    ticket.transition_to(Mover::Agent, IssueStatus::Done, at(1));
    ticket.check_out(ada, first_run, at(2));
    ticket.check_out(ada, first_run, at(3));
    // The issue has one owner, and one run of it at a time.
    ticket.check_out(bob, other_run, at(4));
    ticket.check_out(ada, other_run, at(5));
    ticket.transition_to(Mover::Agent, IssueStatus::InReview, at(6));
    ticket.transition_to(Mover::Agent, IssueStatus::InProgress, at(7));
    ticket.transition_to(Mover::Agent, IssueStatus::Done, at(8));
    // What is done stays done, unless somebody reopens it on purpose.
    ticket.transition_to(Mover::Agent, IssueStatus::InProgress, at(9));
    let reopened = ticket.progress.reopen(IssueStatus::Todo, at(10))?;
    println!("{}  reopened to {}", at(10), reopened.progress.status());

    let record = reopened.progress.record();
    println!("A store keeps: {record:?}");
    assert_eq!(Progress::restore(record)?, reopened.progress);
    Ok(())
}

fn budget_to_its_stop(morning: Timestamp) -> Result<(), Box<dyn Error>> {
    println!("\nA budget of 100 cents in {}:", Month::of(morning));
    let mut usage = BudgetUsage {
        spent: Cents::ZERO,
        budget: Budget::from_cents(100)?,
    };
    let mut raised = RaisedAlerts::default();
    let mut pause = AgentPause::Running;
    for cost in ["40.3", "39.7", "12.5", "30"] {
        let sum = usage.spent.checked_add(Cents::parse(cost)?);
        usage.spent = sum.ok_or("the sum is too large")?;
        let decision = decide_agent(usage, raised, pause);
        println!(
            "{cost} more: {} cents, {} %",
            usage.spent,
            usage.utilization()
        );
        for alert in decision.alerts {
            println!("  alert: {alert}");
            match alert {
                Threshold::Soft => raised.soft = true,
                Threshold::Hard => raised.hard = true,
            }
        }
        if decision.pause {
            println!("  the agent is paused");
            pause = AgentPause::Budget;
        }
    }

    usage.budget = Budget::from_cents(200)?;
    let decision = decide_agent(usage, raised, pause);
    println!(
        "The limit is raised to 200 cents; resume: {}",
        decision.resume
    );
    Ok(())
}

fn comment_that_calls_for_help() {
    println!("\nA comment:");
    let people = [("Code Reviewer", "code-reviewer"), ("Ada", "ada")];
    let index: MentionIndex = people
        .iter()
        .zip(1..)
        .map(|((name, url_key), number)| Mentionable {
            id: Uuid::from_u128(number).into(),
            name: (*name).into(),
            url_key: (*url_key).into(),
        })
        .collect();
    let body = "@code reviewer, please look.\n\n> @Ada wrote this\n\n`@Ada` is only code.";
    for agent in index.mentions(body).agents {
        println!("mentions {agent}");
    }
}
