//! The use cases without a server: another program opens a store in memory, and calls them as the
//! board does.
//!
//! ```text
//! cargo run -p workforce-infra --example in_memory
//! ```
#![expect(clippy::print_stdout, reason = "the example talks to its reader")]

use std::error::Error;

use serde_json::json;
use workforce_app::companies::{self, CreateCompany};
use workforce_app::issues::{self, CreateIssue, UpdateIssue};
use workforce_app::{Caller, Context, Signal, activity};
use workforce_domain::change::Replace;
use workforce_domain::page::PageRequest;
use workforce_domain::port::ActivityFilter;
use workforce_domain::prelude::*;
use workforce_infra::clock::SystemClock;
use workforce_infra::ids::UuidV7Ids;
use workforce_infra::prices;
use workforce_infra::store::MemoryStore;
use workforce_infra::tokens::RandomTokens;
use workforce_infra::vault::FileVault;

fn main() -> Result<(), Box<dyn Error>> {
    let store = MemoryStore::open()?;
    let store: &dyn Store = &*store;

    // What a call has beside its transaction: who makes it, when, and what the rules do not have.
    let board = Caller {
        actor: Actor::Board(BoardMember::Local),
        company_status: None,
    };
    let ids = UuidV7Ids::new(SystemClock);
    let vault = FileVault::from_text(&"5a".repeat(32))?;
    let prices = prices::shipped()?;
    let signal = Signal::default();
    let call = Context {
        caller: &board,
        now: SystemClock.now(),
        server: ids.next().into(),
        ids: &ids,
        tokens: &RandomTokens,
        vault: &vault,
        prices: &prices,
        strict_secrets: false,
        signal: &signal,
        company: None,
    };

    // A body may be run again, so each takes a copy of its command.
    let command: CreateCompany = serde_json::from_value(json!({ "name": "Acme" }))?;
    let company = store.write(|tx| companies::create(tx, &call, command.clone()))?;
    let company = company.company;
    println!("{} has the prefix {}", company.name, company.issue_prefix);

    let command: CreateIssue = serde_json::from_value(json!({ "title": "Write the report" }))?;
    let created = store.write(|tx| issues::create(tx, &call, company.id, command.clone()))?;
    let issue = IssueRef::from(created.view.issue.id);
    for status in [IssueStatus::Todo, IssueStatus::Done, IssueStatus::InReview] {
        let command = UpdateIssue {
            status: Replace::Set(status),
            ..UpdateIssue::default()
        };
        match store.write(|tx| issues::update(tx, &call, &issue, command.clone())) {
            Ok(updated) => {
                let issue = updated.view.issue;
                println!("{} is {}", issue.identifier, issue.status());
            }
            Err(Failure::Refused(refusal)) => println!("refused: {refusal}"),
            Err(failure) => return Err(failure.into()),
        }
    }

    println!("What happened, the latest first:");
    let (all, first_page) = (ActivityFilter::default(), PageRequest::first());
    let happened =
        store.read(|reads| activity::list(reads, &call, company.id, &all, &first_page))?;
    for row in happened.items {
        println!("  {}", row.action);
    }
    Ok(())
}
