//! The rules behind the ports: an issue is worked on, the board agrees that it is done, and a
//! budget is used up. `office.rs` is what another program writes; it does not know that the store
//! is a desk of mocks, as in its tests (`tests.rs`).
//!
//! ```text
//! cargo run -p workforce-domain --features mocks --example behind_ports
//! cargo test -p workforce-domain --features mocks --example behind_ports
//! ```
#![expect(clippy::print_stdout, reason = "the example talks to its reader")]

mod desk;
mod office;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use uuid::Uuid;
use workforce_domain::actor::{AgentActor, AgentCredential};
use workforce_domain::mocks::{MockClock, MockIds, MockStore};
use workforce_domain::prelude::*;

use desk::{Desk, Papers};
use office::{Bill, Office};

fn main() -> Result<(), Box<dyn Error>> {
    let morning = Timestamp::parse("2026-11-02T09:00:00Z")?;
    let desk = Desk::new(Papers::new(morning)?);
    let store = MockStore::new(desk.transaction());
    let clock = a_clock_from(morning);
    let ids = counted_ids();
    let (issue, agent) = {
        let papers = desk.papers();
        (papers.issue.id, papers.agent.clone())
    };
    let ada = Actor::Agent(AgentActor {
        company: agent.company,
        agent: agent.id,
        role: agent.role.clone(),
        can_create_agents: agent.can_create_agents,
        credential: AgentCredential::Key {
            key: Uuid::from_u128(4).into(),
            run: None,
        },
    });
    let office = Office {
        actor: &ada,
        clock: &clock,
        ids: &ids,
    };
    let store: &dyn Store = &store;

    println!("An issue:");
    for to in [
        IssueStatus::InReview,
        IssueStatus::Todo,
        IssueStatus::InProgress,
    ] {
        match store.write(|tx| office.move_issue(tx, issue, to)) {
            Ok(from) => println!("  {from} to {to}"),
            Err(Failure::Refused(refusal)) => println!("  refused: {refusal}"),
            Err(failure) => return Err(failure.into()),
        }
    }

    println!("\nAn approval:");
    let approval = store.write(|tx| office.ask_for_completion(tx, issue))?;
    println!("  the board is asked whether the issue is done");
    let board = Actor::Board(BoardMember::Local);
    let office_of_the_board = Office {
        actor: &board,
        ..office
    };
    for _ in 0..2 {
        let member = BoardMember::Local;
        match store.write(|tx| office_of_the_board.agree(tx, approval, member)) {
            Ok(()) => println!("  agreed; the issue is {}", desk.papers().issue.status()),
            Err(Failure::Refused(refusal)) => println!("  refused: {refusal}"),
            Err(failure) => return Err(failure.into()),
        }
    }

    println!("\nA budget of {} cents:", agent.budget.cents());
    for cost in ["40.3", "41", "30"] {
        let bill = Bill {
            agent: agent.id,
            provider: Name::parse("anthropic")?,
            model: Name::parse("claude-opus-4-5")?,
            cost: Cents::parse(cost)?,
        };
        let alerts = store.write(|tx| office.book(tx, &bill))?;
        println!("  {cost} more: {} cents", desk.papers().spent);
        for alert in alerts {
            println!("    alert: {alert}");
        }
    }
    let lifecycle = desk.papers().agent.lifecycle;
    println!("  the agent is {}", lifecycle.state());
    Ok(())
}

/// A clock that goes on by a minute whenever somebody looks at it.
fn a_clock_from(start: Timestamp) -> MockClock {
    let minutes = AtomicU64::new(0);
    let mut clock = MockClock::new();
    clock.expect_now().returning(move || {
        let minute = minutes.fetch_add(1, Ordering::Relaxed);
        start.plus(Duration::from_secs(minute * 60))
    });
    clock
}

fn counted_ids() -> MockIds {
    let next = AtomicU64::new(100);
    let mut ids = MockIds::new();
    ids.expect_next()
        .returning(move || Uuid::from_u128(next.fetch_add(1, Ordering::Relaxed).into()));
    ids
}
