use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::{Agent, AgentState};
use workforce_domain::id::{AgentId, RevisionId};
use workforce_domain::money::Budget;
use workforce_domain::port::{Failure, Reads, StoreError, Tx};
use workforce_domain::revision::{AgentConfig, RevisionSide, RevisionSource};
use workforce_domain::time::Month;

use super::adapter_config::ENV;
use super::env_bindings::reference_faults;
use super::revisions::{self, ConfigChange, RevisionView, config_of, keep};
use super::{
    AgentDetail, AgentError, adapter_config, check_manager, detail, instructions,
    lock_with_company, require_revision,
};
use crate::access::{FieldFault, check_document};
use crate::activity_log::log_activity_with;
use crate::approval_records;
use crate::budgets;
use crate::changes::Changes;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// An agent that was rolled back.
#[derive(Clone, Debug, PartialEq)]
pub struct RolledBack {
    /// The agent as it is now.
    pub agent: AgentDetail,
    /// The revision that the rollback made.
    pub revision: RevisionView,
}

/// What [`rollback`] refuses with.
pub const ROLLBACK: Codes = Codes::with(
    &[Code::RevisionConflict, Code::RollbackInvalid],
    &[approval_records::DRAFT_EDITED],
);

/// Gives an agent the configuration it had after a revision. What belongs to
/// its life (whether it is paused, what it spent) stays. Board only. With
/// `if_match`, only when the agent's last revision is one of these.
///
/// The configuration passes the same rules as a change. A folder of external
/// instructions is looked at when it is used.
pub fn rollback(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AgentId,
    revision: RevisionId,
    if_match: Option<&[i32]>,
) -> Result<RolledBack, Failure<AgentError>> {
    let mut agent = lock_with_company(tx, ctx, id)?;
    ctx.require_board()?;
    let target = revisions::find(tx.reads(), &agent, revision)?;
    require_revision(tx.reads(), &agent, if_match)?;
    let wanted = revisions::open(ctx, &target, RevisionSide::After, &target.after)?;
    let mut reasons = faults(tx.reads(), &agent, &wanted)?;
    if reasons.is_empty() {
        reasons = reference_faults(tx, agent.scope(), ENV, &wanted.adapter_config)?;
    }
    if !reasons.is_empty() {
        return Err(Failure::Refused(AgentError::RollbackInvalid { reasons }));
    }
    let before = config_of(tx.reads(), &agent)?;
    let had = agent.budget;
    wanted.restore(&mut agent);
    agent.end_backoff();
    let after = AgentConfig::of(&agent, wanted.instructions);
    // What the budget does about it has an activity of its own.
    let changes = instructions::moved(Changes::of(&mut agent), &before, &after);
    if after != before {
        agent.updated_at = ctx.now;
        if agent.budget != had {
            let basis = budgets::basis_of(tx.reads(), agent.scope())?;
            budgets::enforce_agent(tx, ctx, &mut agent, basis, Month::of(ctx.now))?;
        }
        tx.agents_mut().save(&agent)?;
        if after.instructions != before.instructions {
            tx.instructions_mut()
                .set_pointer(&agent, &after.instructions, ctx.now)?;
        }
    }
    let change = ConfigChange {
        source: RevisionSource::Rollback,
        before: Some(&before),
        after: &after,
        rolled_back_from: Some(revision),
    };
    let scope = agent.scope();
    let kept = keep(tx, ctx, scope, id, &change)?
        .ok_or_else(|| StoreError::Failed("a rollback is always kept".into()))?;
    if agent.lifecycle.state() == AgentState::PendingApproval && after != before {
        approval_records::draft_edited(tx, ctx, &agent, &kept.revision.changed_keys)
            .map_err(|failure| failure.map(AgentError::from))?;
    }
    let details = json!({
        "revisionId": kept.revision.id,
        "revision": kept.revision.n,
        "rolledBackFromRevisionId": revision,
        "rolledBackFrom": target.n,
    });
    let action = Action::AgentConfigRolledBack;
    log_activity_with(tx, ctx, action, &agent, details, changes);
    Ok(RolledBack {
        agent: detail(tx.reads(), ctx, agent.into_inner())?,
        revision: kept,
    })
}

/// Why a configuration of the past cannot be that of today.
fn faults(
    reads: &mut dyn Reads,
    agent: &Agent,
    wanted: &AgentConfig,
) -> Result<Vec<FieldFault>, Failure<AgentError>> {
    let scope = agent.scope();
    let mut faults = Vec::new();
    if let Some(manager) = wanted.reports_to {
        match check_manager(reads, scope, Some(agent.id), manager) {
            Ok(()) => {}
            Err(Failure::Refused(AgentError::Field(fault))) => faults.push(fault),
            Err(Failure::Refused(cycle @ AgentError::Cycle)) => {
                faults.push(FieldFault::coded(
                    Code::Cycle,
                    "/reportsTo",
                    cycle.to_string(),
                ));
            }
            Err(other) => return Err(other),
        }
    }
    if let Err(fault) = Budget::from_cents(wanted.budget_monthly_cents) {
        faults.push(FieldFault::invalid(
            "/budgetMonthlyCents",
            fault.to_string(),
        ));
    }
    let checks = [
        adapter_config::check_adapter(wanted.adapter_type, &wanted.adapter_config),
        adapter_config::check_runtime(&wanted.runtime_config),
        check_document(&wanted.metadata, "/metadata", adapter_config::MAX_BYTES),
    ];
    faults.extend(checks.into_iter().filter_map(Result::err));
    Ok(faults)
}
