//! What a claim costs, by how many wakes are due.
//!
//! The claim of the release binary begins a program each time, which costs a hundred times as
//! much. So the same transaction is measured by itself: on a store of its own, without the wait
//! for the disk, which is the same for any number of wakes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use serde::{Deserialize, Serialize};
use workforce_app::wakes::{self, WakeRequest};
use workforce_app::{Failure, Refusal, agents, companies, issues};
use workforce_domain::agent::Agent;
use workforce_domain::change::Change;
use workforce_domain::id::AgentId;
use workforce_domain::issue::{IssueStatus, Priority};
use workforce_domain::money::Budget;
use workforce_domain::port::StoreError;
use workforce_domain::run::Run;
use workforce_domain::string_enum::StringEnum as _;
use workforce_domain::wake::{WakeReason, WakeSource};
use workforce_testkit::store::TestStore;
use workforce_testkit::world::{World, new_agent, new_company, new_issue};

use crate::database::Database;
use crate::load::{Measurement, Pace};

/// Companies that have due wakes, whatever their number.
const COMPANIES: usize = 50;
/// Agents of each company.
const AGENTS: usize = 40;
/// How many wakes are due in all, the fewest first.
const DUE: [usize; 2] = [100, 10_000];
/// Runs of each company that are live all the time. They hold issues and money.
const LIVE: usize = 2;

/// What a claim costs on one database.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub(crate) database: String,
    pub(crate) rows: Vec<ClaimRow>,
}

/// What a claim costs with so many due wakes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ClaimRow {
    pub(crate) due: usize,
    pub(crate) claim: Measurement,
}

impl Claims {
    /// The median with the most due wakes, divided by that with the fewest.
    pub(crate) fn growth(&self) -> Option<f64> {
        let (fewest, most) = (self.rows.first()?, self.rows.last()?);
        Some(most.claim.p50_ms / fewest.claim.p50_ms)
    }

    /// The table.
    pub(crate) fn table(&self) -> String {
        let mut text = format!(
            "{}, claims, {COMPANIES} companies, {} agents\n\ndue wakes     per s   p50 ms   p99 ms\n",
            self.database,
            COMPANIES * AGENTS,
        );
        for ClaimRow { due, claim } in &self.rows {
            let Measurement {
                per_second,
                p50_ms,
                p99_ms,
                ..
            } = claim;
            // Writing to a text does not fail.
            let _ = writeln!(text, "{due:>9}{per_second:>10.0}{p50_ms:>9.2}{p99_ms:>9.2}");
        }
        text
    }
}

/// Measures claims on stores of their own, which `open` makes.
pub(crate) fn measure<D: Database>(
    database: &str,
    pace: Pace,
    open: impl Fn() -> Result<TestStore>,
) -> Result<Claims> {
    let rows = DUE
        .iter()
        .map(|due| {
            println!("{database}: claims with {due} due wakes");
            let store = open()?;
            let claim = claims::<D>(&store, pace, *due)?;
            Ok(ClaimRow { due: *due, claim })
        })
        .collect::<Result<_>>()?;
    Ok(Claims {
        database: database.to_owned(),
        rows,
    })
}

/// Every run that is claimed is ended, and its agent woken again, so that as many wakes stay due.
fn claims<D: Database>(store: &TestStore, pace: Pace, due: usize) -> Result<Measurement> {
    let world = World::on(store);
    let agents = staff(&world, due)?;
    D::open(store.connection())?.settle()?;
    for _ in 0..COMPANIES * LIVE {
        world.start_next().context("no wake can be answered")?;
    }
    let (began, mut latencies) = (Instant::now(), Vec::new());
    while began.elapsed() < pace.warm_up + pace.duration {
        world.advance(std::time::Duration::from_millis(1));
        let claiming = Instant::now();
        let started = world.start_next().context("no wake can be answered")?;
        if began.elapsed() > pace.warm_up {
            latencies.push(claiming.elapsed());
        }
        wake_again(&world, &agents, &started.run)?;
    }
    let claiming = latencies.iter().sum();
    Measurement::of(latencies, claiming)
}

/// Companies with agents and due wakes, as many of each agent as of any other, and on top those
/// of the runs that are to be live.
fn staff(world: &World, due: usize) -> Result<BTreeMap<AgentId, Agent>> {
    let mut staff = BTreeMap::new();
    for company in 0..COMPANIES {
        let board = world.board();
        let budget = Budget::from_cents(1_000_000).ok().context("a budget")?;
        let mut command = new_company(&format!("Company {company}"));
        command.budget_monthly_cents = Some(budget);
        let firm = board.write(|tx, ctx| companies::create(tx, ctx, command.clone()));
        let firm = done(firm)?.company.id;
        let hired = board.write(|tx, ctx| {
            (0..AGENTS)
                .map(|agent| {
                    let mut command = new_agent(&format!("Agent {agent}"));
                    command.budget = Change::Set(budget);
                    agents::create(tx, ctx, firm, command).map(|hired| hired.view.agent)
                })
                .collect::<Result<Vec<_>, _>>()
        });
        let hired: Vec<Agent> = done(hired)?;
        let given = board.write(|tx, ctx| {
            (0..due / COMPANIES + LIVE).try_for_each(|turn| {
                let mut command = new_issue("Answer");
                command.status = Some(IssueStatus::Todo);
                command.priority = Priority::ALL.get(turn % Priority::ALL.len()).copied();
                command.assignee_agent_id = hired.get(turn % AGENTS).map(|agent| agent.id);
                issues::create(tx, ctx, firm, command).map(drop)
            })
        });
        done(given)?;
        staff.extend(hired.into_iter().map(|agent| (agent.id, agent)));
    }
    Ok(staff)
}

fn wake_again(world: &World, agents: &BTreeMap<AgentId, Agent>, run: &Run) -> Result<()> {
    world.finish(run);
    let agent = agents.get(&run.agent).context("an agent of ours")?;
    let issue = run.issue.context("it works on an issue")?;
    let (source, reason) = (WakeSource::OnDemand, WakeReason::IssueAssigned);
    let asked = world.board().write(|tx, ctx| {
        let request = WakeRequest::about(agent, issue, source, reason);
        Ok::<_, Failure<StoreError>>(wakes::request(tx, ctx, request)?)
    });
    asked.map(drop).map_err(|failure| anyhow!("{failure:?}"))
}

fn done<T, E: Refusal>(outcome: Result<T, Failure<E>>) -> Result<T> {
    outcome.map_err(|failure| match failure {
        Failure::Refused(refusal) => anyhow!("refused: {}", refusal.code().as_str()),
        Failure::Store(error) => error.into(),
    })
}
