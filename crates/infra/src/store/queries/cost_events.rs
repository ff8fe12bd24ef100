//! Cost events as rows.

use diesel::prelude::*;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::cost::{BillingType, CostEvent, CostSource, TokenUse};
use workforce_domain::id::{AgentId, CompanyId, CostEventId, GoalId, IssueId, ProjectId, RunId};
use workforce_domain::money::Cents;

use super::row::{Row, admit, admit_some};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::schema::cost_events;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = cost_events, treat_none_as_default_value = false)]
pub(super) struct CostEventRow {
    id: IdColumn<CostEventId>,
    company_id: IdColumn<CompanyId>,
    agent_id: IdColumn<AgentId>,
    issue_id: Option<IdColumn<IssueId>>,
    project_id: Option<IdColumn<ProjectId>>,
    goal_id: Option<IdColumn<GoalId>>,
    run_id: Option<IdColumn<RunId>>,
    billing_code: Option<String>,
    provider: String,
    model: String,
    billing_type: StringEnumColumn<BillingType>,
    input_tokens: i64,
    output_tokens: i64,
    cached_input_tokens: i64,
    cache_write_tokens: i64,
    cost_micros: i64,
    estimated_micros: Option<i64>,
    source: StringEnumColumn<CostSource>,
    counted: bool,
    idempotency_key: Option<String>,
    occurred_at: InstantColumn,
    created_at: InstantColumn,
}

impl Row for CostEventRow {
    type Record = CostEvent;

    fn weight(&self) -> usize {
        self.provider.len() + self.model.len()
    }

    fn restore(self) -> Result<CostEvent, Corrupt> {
        const KIND: &str = "cost event";
        Ok(CostEvent {
            id: self.id.0,
            company: self.company_id.0,
            agent: self.agent_id.0,
            issue: self.issue_id.map(|id| id.0),
            project: self.project_id.map(|id| id.0),
            goal: self.goal_id.map(|id| id.0),
            run: self.run_id.map(|id| id.0),
            billing_code: admit_some(KIND, self.billing_code)?,
            provider: admit(KIND, self.provider)?,
            model: admit(KIND, self.model)?,
            billing_type: self.billing_type.0,
            tokens: TokenUse {
                input: self.input_tokens,
                output: self.output_tokens,
                cached_input: self.cached_input_tokens,
                cache_write: self.cache_write_tokens,
            },
            cost: Cents::from_micros(self.cost_micros),
            estimated: self.estimated_micros.map(Cents::from_micros),
            source: self.source.0,
            counted: self.counted,
            idempotency_key: self.idempotency_key,
            occurred_at: self.occurred_at.0,
            created_at: self.created_at.0,
        })
    }
}

impl From<&CostEvent> for CostEventRow {
    fn from(event: &CostEvent) -> Self {
        Self {
            id: IdColumn(event.id),
            company_id: IdColumn(event.company),
            agent_id: IdColumn(event.agent),
            issue_id: event.issue.map(IdColumn),
            project_id: event.project.map(IdColumn),
            goal_id: event.goal.map(IdColumn),
            run_id: event.run.map(IdColumn),
            billing_code: event.billing_code.as_ref().map(ToString::to_string),
            provider: event.provider.to_string(),
            model: event.model.to_string(),
            billing_type: StringEnumColumn(event.billing_type),
            input_tokens: event.tokens.input,
            output_tokens: event.tokens.output,
            cached_input_tokens: event.tokens.cached_input,
            cache_write_tokens: event.tokens.cache_write,
            cost_micros: event.cost.micros(),
            estimated_micros: event.estimated.map(Cents::micros),
            source: StringEnumColumn(event.source),
            counted: event.counted,
            idempotency_key: event.idempotency_key.clone(),
            occurred_at: InstantColumn(event.occurred_at),
            created_at: InstantColumn(event.created_at),
        }
    }
}
