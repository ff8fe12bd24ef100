//! Costs: recording them, and what they add up to
//! (docs/budgets.md#cost-events).

mod attribution;
mod forecast;
mod metering;
mod runs;
mod summaries;

pub use forecast::{CostForecast, forecast};
pub use metering::{ModelUse, RunUse, meter, settle};
pub use summaries::{
    AgentCost, CostSummary, WindowQuery, by_agent, by_day, by_model, by_project, summary,
};

use serde_json::{Value, json};
use workforce_domain::activity::Action;
use workforce_domain::actor::{AgentCredential, CompanyScope};
use workforce_domain::agent::Agent;
use workforce_domain::budget::{OccurrenceError, check_occurrence, check_reported_by_agent};
use workforce_domain::cost::{BillingType, CostEvent, CostSource, TokenUse};
use workforce_domain::id::{AgentId, CompanyId, GoalId, ProjectId, RunId};
use workforce_domain::issue::IssueRef;
use workforce_domain::money::Cents;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{CostEventCursor, Failure, Reads, Spender, Tx};
use workforce_domain::text::{Label, Name};
use workforce_domain::time::{Month, Timestamp};

use crate::access::{self, Denied, FieldFault};
use crate::activity_log::log_activity;
use crate::budgets;
use crate::context::Context;
use crate::refusal::{Code, Codes, Refusal};

/// Why a call about costs is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CostError {
    /// The caller may not, or there is no such company.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A field's value breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldFault),
    /// The cost cannot have arisen then.
    #[error("occurredAt {0}")]
    Occurrence(OccurrenceError),
    /// The report's own key stands for another report.
    #[error("this idempotencyKey was used for another report")]
    KeyReused,
    /// More than can be counted exactly in one month.
    #[error("costCents is more than a month's total can count exactly")]
    TooLarge,
}

impl Refusal for CostError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
            Self::KeyReused => Code::IdempotencyKeyReused,
            Self::Occurrence(_) | Self::TooLarge => Code::InvalidField,
        }
    }

    fn details(&self) -> Option<Value> {
        let at = |pointer: &str| Some(json!([{ "pointer": pointer, "message": self.to_string() }]));
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
            Self::Occurrence(_) => at("/occurredAt"),
            Self::KeyReused => at("/idempotencyKey"),
            Self::TooLarge => at("/costCents"),
        }
    }
}

/// Reports a cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportCost {
    /// The agent that spent.
    pub agent: AgentId,
    /// The model provider.
    pub provider: Name,
    /// The model.
    pub model: Name,
    /// How the provider bills; by use unless said otherwise.
    pub billing_type: Option<BillingType>,
    /// Tokens used.
    pub tokens: TokenUse,
    /// What it cost.
    pub cost: Cents,
    /// What its tokens cost by list; what they cost when unsaid. The prices count where they
    /// say more.
    pub estimated: Option<Cents>,
    /// The issue worked on; the run's when unsaid.
    pub issue: Option<IssueRef>,
    /// The project; when unsaid, that which the run was claimed in, or the issue's.
    pub project: Option<ProjectId>,
    /// The goal; the issue's when unsaid.
    pub goal: Option<GoalId>,
    /// The run that spent; the caller's own when unsaid.
    pub run: Option<RunId>,
    /// What it is booked on; the issue's code when unsaid.
    pub billing_code: Option<Label>,
    /// When the cost arose; now when unsaid.
    pub occurred_at: Option<Timestamp>,
    /// The caller's own key against double counting.
    pub idempotency_key: Option<String>,
}

/// What a report led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedCost {
    /// The event.
    pub event: CostEvent,
    /// False when the same report was recorded before.
    pub created: bool,
}

/// What [`report`] refuses with.
pub const REPORT: Codes = Codes::of(&[
    Code::IdempotencyKeyReused,
    Code::InvalidField,
    Code::ReferenceNotFound,
]);

/// Records a cost, adds it up and applies the budgets, all in one transaction.
/// The board may report for any agent, an agent for itself, a run for itself;
/// also where the company is stopped, since what was spent then was spent.
pub fn report(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyId,
    command: ReportCost,
) -> Result<ReportedCost, Failure<CostError>> {
    let scope = ctx.actor().enter(company).ok_or(Denied::CompanyForbidden)?;
    let run = attribution::reporting_run(ctx, &command)?;
    let key = command.idempotency_key.as_deref();
    if key.is_some_and(|key| key.starts_with(metering::KEY_PREFIX)) {
        let message = format!("must not begin with {}", metering::KEY_PREFIX);
        return Err(FieldFault::invalid("/idempotencyKey", message).into());
    }
    let recorded = record(
        tx,
        ctx,
        scope,
        ReportCost { run, ..command },
        CostSource::Reported,
    )?;
    if recorded.created && recorded.event.counted {
        runs::count(tx, ctx, &recorded.event)?;
    }
    Ok(recorded)
}

/// Records a cost, once for each key of its own.
fn record(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    command: ReportCost,
    source: CostSource,
) -> Result<ReportedCost, Failure<CostError>> {
    let company = scope.company();
    check_tokens(&command.tokens)?;
    let occurred_at = command.occurred_at.unwrap_or(ctx.now);
    let month = check_occurrence(ctx.now, occurred_at)
        .map_err(|error| Failure::Refused(CostError::Occurrence(error)))?;
    // Both are locked, so that neither budget changes before it is applied.
    let Some(mut locked_company) = tx.companies_mut().lock(scope.into(), company)? else {
        return Err(Denied::NotFound("company").into());
    };
    let Some(mut agent) = tx.agents_mut().lock(scope.into(), command.agent)? else {
        return Err(FieldFault::missing("/agentId", "agent").into());
    };
    if let Some(key) = &command.idempotency_key
        && let Some(event) = tx.ledger().find_by_key(scope, agent.id, key)?
    {
        if !repeats(&command, &event) {
            return Err(Failure::Refused(CostError::KeyReused));
        }
        return Ok(ReportedCost {
            event,
            created: false,
        });
    }
    let attribution = attribution::attribute(tx.reads(), ctx, scope, &command)?;
    if ctx.agent().is_some() {
        let live = attribution.run.as_ref().filter(|run| run.status.is_live());
        check_reported_by_agent(ctx.now, live.and_then(|run| run.started_at), occurred_at)
            .map_err(|error| Failure::Refused(CostError::Occurrence(error)))?;
    }
    let estimated = match source {
        CostSource::Reported => by_list(ctx, &command),
        CostSource::Metered => command.estimated,
    };
    let event = CostEvent {
        id: ctx.id(),
        company,
        agent: agent.id,
        issue: attribution.issue.as_ref().map(|issue| issue.id),
        project: attribution.project,
        goal: command
            .goal
            .or(attribution.issue.as_ref().and_then(|issue| issue.goal)),
        run: attribution.run.map(|run| run.id),
        billing_code: command
            .billing_code
            .or(attribution.issue.and_then(|issue| issue.billing_code)),
        provider: command.provider,
        model: command.model,
        billing_type: command.billing_type.unwrap_or(BillingType::Api),
        tokens: command.tokens,
        cost: command.cost,
        estimated,
        counted: source == CostSource::Metered || !is_metered(ctx, &agent),
        source,
        idempotency_key: command.idempotency_key,
        occurred_at,
        created_at: ctx.now,
    };
    let spend = tx.ledger().spent(scope, Spender::Company, month)?;
    let is_countable = spend.actual.checked_add(event.cost).is_some()
        && spend
            .estimated
            .checked_add(estimated.unwrap_or_default())
            .is_some();
    if !is_countable {
        return Err(Failure::Refused(CostError::TooLarge));
    }
    tx.ledger_mut().record(&event)?;
    let details = json!({
        "agentId": event.agent,
        "provider": event.provider,
        "model": event.model,
        "costCents": event.cost.to_string(),
    });
    // What programs tell in the course of a run is summed up with its end.
    if source == CostSource::Reported {
        log_activity(tx, ctx, Action::CostReported, &event, details);
    }
    // A late report for a past month counts there and stops nobody today.
    if month == Month::of(ctx.now) {
        let (before, company_before) = (agent.lifecycle, locked_company.lifecycle);
        budgets::enforce_agent(tx, ctx, &mut agent, locked_company.budget_basis, month)?;
        budgets::enforce_company(tx, ctx, &mut locked_company, month)?;
        if let Some(project) = event.project {
            budgets::enforce_project(tx, ctx, &locked_company, project, month)?;
        }
        if agent.lifecycle != before {
            tx.agents_mut().save(&agent)?;
        }
        if locked_company.lifecycle != company_before {
            tx.companies_mut().save(&locked_company)?;
        }
    }
    Ok(ReportedCost {
        event,
        created: true,
    })
}

/// What a reported cost was by list: what the report says, or else what it cost, or what the
/// prices say where that is more. `None` for a model without a price that cost nothing.
fn by_list(ctx: &Context<'_>, command: &ReportCost) -> Option<Cents> {
    let billed = Some(command.cost).filter(|cost| *cost > Cents::ZERO);
    let (provider, model) = (command.provider.as_str(), command.model.as_str());
    let by_prices = ctx.prices.estimate(provider, model, &command.tokens);
    command.estimated.or(billed).max(by_prices)
}

/// Whether the use of the reporting run is read from its program's output, so that
/// its own report would count it twice.
fn is_metered(ctx: &Context<'_>, agent: &Agent) -> bool {
    let is_run = ctx
        .agent()
        .is_some_and(|caller| matches!(caller.credential, AgentCredential::Run { .. }));
    is_run && agent.adapter_type.is_metered()
}

/// True when a report tells what was recorded under its key.
fn repeats(command: &ReportCost, event: &CostEvent) -> bool {
    command.cost == event.cost
        && command.tokens == event.tokens
        && command.provider == event.provider
        && command.model == event.model
}

/// More tokens than any call uses; below it no month's sum overflows.
const MAX_TOKENS: i64 = 1_000_000_000_000;

fn check_tokens(tokens: &TokenUse) -> Result<(), FieldFault> {
    let counts = [
        ("/inputTokens", tokens.input),
        ("/outputTokens", tokens.output),
        ("/cachedInputTokens", tokens.cached_input),
        ("/cacheWriteTokens", tokens.cache_write),
    ];
    match counts.into_iter().find(|(_, count)| *count > MAX_TOKENS) {
        Some((pointer, _)) => {
            let message = format!("must be at most {MAX_TOKENS}");
            Err(FieldFault::invalid(pointer, message))
        }
        None => Ok(()),
    }
}

/// Cost events of a company, newest first.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    page: &PageRequest<CostEventCursor>,
) -> Result<Page<CostEvent, CostEventCursor>, Failure<CostError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    Ok(reads.ledger().list(scope, page)?)
}
