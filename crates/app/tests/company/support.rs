use std::convert::Infallible;

use workforce_app::agents::{self, AgentDetail, AgentError, AgentRef, CreateAgent, UpdateAgent};
use workforce_app::companies::{self, CompanyError, CompanyView, UpdateCompany};
use workforce_app::costs::{self, CostError, ReportCost, ReportedCost};
use workforce_app::issues::{self, CheckOut};
use workforce_app::projects::{self, CreateWorkspace, ProjectError};
use workforce_app::runs::{self, InvokeOutcome, RunError};
use workforce_app::{Failure, activity, budgets};
use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity};
use workforce_domain::actor::{Actor, CompanyScope, InstanceScope, Scope};
use workforce_domain::agent::{Agent, AgentLifecycle};
use workforce_domain::budget::Threshold;
use workforce_domain::change::Replace;
use workforce_domain::company::{Company, PauseReason};
use workforce_domain::cost::CostEvent;
use workforce_domain::id::{AgentId, CompanyId, ProjectId};
use workforce_domain::issue::Issue;
use workforce_domain::money::{Budget, Cents};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{ActivityFilter, Reads, Spender, StoreError, Tx};
use workforce_domain::project::Workspace;
use workforce_domain::run::{Run, RunEnd, RunOutcome};
use workforce_domain::text::Role;
use workforce_domain::time::Month;
use workforce_testkit::world::{Acting, StartedRun, World, done, new_agent, report_of};

pub(crate) fn cents(text: &str) -> Cents {
    Cents::parse(text).unwrap()
}

pub(crate) fn budget(cents: i64) -> Budget {
    Budget::from_cents(cents).unwrap()
}

pub(crate) fn role(text: &str) -> Role {
    Role::parse(text).unwrap()
}

pub(crate) fn scope(company: CompanyId) -> CompanyScope {
    Actor::System.enter(company).unwrap()
}

/// What the store holds.
pub(crate) fn look<T>(
    world: &World,
    mut body: impl FnMut(&mut dyn Reads) -> Result<T, StoreError>,
) -> T {
    let found: Result<T, Failure<Infallible>> = world.store().read(|reads| Ok(body(reads)?));
    found.unwrap()
}

/// Puts into the store what no use case leads to.
pub(crate) fn put(world: &World, mut body: impl FnMut(&mut dyn Tx) -> Result<(), StoreError>) {
    let done: Result<(), Failure<Infallible>> = world.store().write(|tx| Ok(body(tx)?));
    done.unwrap();
}

/// Makes an agent a draft again.
pub(crate) fn make_draft(world: &World, agent: AgentId) {
    world.breaks_on_purpose(&["drafts_wait_for_a_decision"]);
    put(world, |tx| {
        let mut held = tx.agents_mut().lock(Scope::SYSTEM, agent)?.unwrap();
        held.lifecycle = AgentLifecycle::DRAFT;
        tx.agents_mut().save(&held)
    });
}

pub(crate) fn report(
    who: Acting<'_>,
    company: CompanyId,
    command: &ReportCost,
) -> Result<ReportedCost, Failure<CostError>> {
    who.write(|tx, ctx| costs::report(tx, ctx, company, command.clone()))
}

/// The board reports what an agent spent.
#[track_caller]
pub(crate) fn spend(world: &World, agent: &Agent, cents: &str) -> CostEvent {
    done(report(
        world.board(),
        agent.company,
        &report_of(agent.id, cents),
    ))
    .event
}

pub(crate) fn hire(
    who: Acting<'_>,
    company: CompanyId,
    command: &CreateAgent,
) -> Result<AgentDetail, Failure<AgentError>> {
    who.write(|tx, ctx| agents::create(tx, ctx, company, command.clone()))
}

pub(crate) fn below(manager: AgentId) -> CreateAgent {
    CreateAgent {
        reports_to: Some(manager),
        ..new_agent("Below")
    }
}

pub(crate) fn change_agent(
    who: Acting<'_>,
    id: AgentId,
    change: &UpdateAgent,
) -> Result<AgentDetail, Failure<AgentError>> {
    who.write(|tx, ctx| agents::update(tx, ctx, id, change.clone()))
}

pub(crate) fn add_workspace(
    who: Acting<'_>,
    project: ProjectId,
    command: &CreateWorkspace,
) -> Result<Workspace, Failure<ProjectError>> {
    who.write(|tx, ctx| projects::create_workspace(tx, ctx, project, command.clone()))
}

pub(crate) fn change_company(
    who: Acting<'_>,
    id: CompanyId,
    change: &UpdateCompany,
) -> Result<CompanyView, Failure<CompanyError>> {
    who.write(|tx, ctx| companies::update(tx, ctx, id, change.clone()))
}

#[track_caller]
pub(crate) fn limit_agent(world: &World, id: AgentId, cents: i64) -> Agent {
    let change = UpdateAgent {
        budget: Some(budget(cents)),
        ..UpdateAgent::default()
    };
    done(change_agent(world.board(), id, &change)).view.agent
}

#[track_caller]
pub(crate) fn limit_company(world: &World, id: CompanyId, cents: i64) -> Company {
    let change = UpdateCompany {
        budget_monthly_cents: Replace::Set(budget(cents)),
        ..UpdateCompany::default()
    };
    done(change_company(world.board(), id, &change)).company
}

#[track_caller]
pub(crate) fn company_view(world: &World, id: CompanyId) -> CompanyView {
    done(
        world
            .board()
            .read(|reads, ctx| companies::get(reads, ctx, id)),
    )
}

#[track_caller]
pub(crate) fn agent_detail(who: Acting<'_>, id: AgentId) -> AgentDetail {
    done(who.read(|reads, ctx| agents::get(reads, ctx, &AgentRef::Id(id))))
}

/// What an agent spent this month.
#[track_caller]
pub(crate) fn spent(world: &World, agent: &Agent) -> Cents {
    agent_detail(world.board(), agent.id).view.spend.actual
}

pub(crate) fn spent_in(world: &World, company: CompanyId, spender: Spender, month: Month) -> Cents {
    look(world, |reads| {
        reads.ledger().spent(scope(company), spender, month)
    })
    .actual
}

/// The alerts that were noted for a month, the soft one first.
pub(crate) fn alerts(
    world: &World,
    company: CompanyId,
    spender: Spender,
    month: Month,
) -> Vec<Threshold> {
    let mut alerts = look(world, |reads| {
        reads.ledger().alerts(scope(company), spender, month)
    });
    alerts.sort_by_key(|threshold| threshold.percent());
    alerts
}

/// What happened in a company, oldest first.
#[track_caller]
pub(crate) fn happened(world: &World, company: CompanyId) -> Vec<Activity> {
    let filter = ActivityFilter::default();
    let page = PageRequest::first();
    let mut rows = done(
        world
            .board()
            .read(|reads, ctx| activity::list(reads, ctx, company, &filter, &page)),
    )
    .items;
    rows.reverse();
    rows
}

#[track_caller]
pub(crate) fn count(world: &World, company: CompanyId, action: Action) -> usize {
    happened(world, company)
        .iter()
        .filter(|row| row.action == action)
        .count()
}

pub(crate) fn pause(who: Acting<'_>, id: AgentId) -> Result<AgentDetail, Failure<AgentError>> {
    who.write(|tx, ctx| agents::pause(tx, ctx, id))
}

pub(crate) fn resume(who: Acting<'_>, id: AgentId) -> Result<AgentDetail, Failure<AgentError>> {
    who.write(|tx, ctx| agents::resume(tx, ctx, id, false))
}

pub(crate) fn terminate(who: Acting<'_>, id: AgentId) -> Result<AgentDetail, Failure<AgentError>> {
    who.write(|tx, ctx| agents::terminate(tx, ctx, id))
}

pub(crate) fn archive(
    who: Acting<'_>,
    id: CompanyId,
) -> Result<CompanyView, Failure<CompanyError>> {
    who.write(|tx, ctx| companies::archive(tx, ctx, id))
}

pub(crate) fn invoke(who: Acting<'_>, id: AgentId) -> Result<InvokeOutcome, Failure<RunError>> {
    who.write(|tx, ctx| runs::invoke(tx, ctx, id, Document::new()))
}

pub(crate) fn cancel(who: Acting<'_>, run: &Run) -> Result<Run, Failure<RunError>> {
    who.write(|tx, ctx| runs::cancel(tx, ctx, run.id))
}

/// A live run of an agent, asked for by the board.
#[track_caller]
pub(crate) fn running(world: &World, agent: &Agent) -> StartedRun {
    done(invoke(world.board(), agent.id));
    let started = world.start_next().unwrap();
    assert_eq!(started.run.agent, agent.id);
    started
}

/// An issue in progress, and the live run that works on it.
#[track_caller]
pub(crate) fn working(world: &World, agent: &Agent, titled: &str) -> (Issue, StartedRun) {
    let issue = world.todo_for(agent, titled);
    let started = world.start_next().unwrap();
    assert_eq!(started.run.issue, Some(issue.id));
    let take = CheckOut {
        agent: None,
        expected: None,
    };
    let taken = done(
        world
            .run_of(started.run.id)
            .write(|tx, ctx| issues::check_out(tx, ctx, &issue.id.into(), take.clone())),
    );
    (taken.issue, started)
}

pub(crate) fn ended(outcome: RunOutcome) -> RunEnd {
    RunEnd {
        outcome,
        error: None,
        exit_code: None,
        signal: None,
        log_bytes: 0,
        log_tail: None,
        session: None,
        result_text: None,
        retry_at: None,
    }
}

/// What the engine does from time to time: lifts the budget stops of which the budget of the
/// month is not used up.
pub(crate) fn lift_stops(world: &World) {
    lifted(world).unwrap();
}

/// The same, where the store may fail.
pub(crate) fn lifted(world: &World) -> Result<(), Failure<Infallible>> {
    let month = Month::of(world.now());
    let stops = world.store().read(|reads| {
        let scope = InstanceScope::SYSTEM;
        Ok(reads.engine().budget_stops_to_lift(scope, month, 100)?)
    })?;
    for stop in stops {
        world
            .system()
            .write(|tx, ctx| budgets::lift(tx, ctx, stop, month))?;
    }
    Ok(())
}

/// Lets the month end.
pub(crate) fn begin_next_month(world: &World) {
    world.clock().set(world.month().end());
}

pub(crate) const fn pause_reason(agent: &Agent) -> Option<PauseReason> {
    agent.lifecycle.pause_reason()
}
