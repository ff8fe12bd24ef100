use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::{AgentCredential, CompanyOwned};
use workforce_domain::id::RunId;
use workforce_domain::port::{Failure, Tx};
use workforce_domain::run::{Completion, CompletionReport, Run, RunStatus};

use super::RunError;
use crate::access::{Denied, FieldFault};
use crate::activity_log::log_activity;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// What [`complete`] refuses with.
pub const COMPLETE: Codes = Codes::of(&[Code::InvalidField, Code::RunNotLive, Code::RunNotWaiting]);

/// Says how a run ended whose agent was called by HTTP and works on
/// (docs/heartbeats.md#callback). The run itself, with its token, or the board. The
/// same said again changes nothing. The first request to stop counts before it.
pub fn complete(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: RunId,
    report: CompletionReport,
) -> Result<Run, Failure<RunError>> {
    let Some(run) = tx.runs().find(ctx.actor().scope(), id)? else {
        return Err(Denied::NotFound("heartbeat run").into());
    };
    if let Some(caller) = ctx.agent() {
        ctx.require_working_company()?;
        if !matches!(caller.credential, AgentCredential::Run { run, .. } if run == id) {
            let message = "a run is completed with its own token, or by the board";
            return Err(Denied::Forbidden(message).into());
        }
    }
    let report = report
        .checked()
        .map_err(|fault| FieldFault::invalid(fault.pointer, fault.message))?;
    let company = run.scope();
    let Some(run) = tx.runs_mut().lock(company.into(), id)? else {
        return Err(Denied::NotFound("heartbeat run").into());
    };
    let status = run.status;
    match tx.runs().completion(company, id)? {
        Some(Completion::Reported(said, _)) if said == report => return Ok(run.into_inner()),
        Some(Completion::Awaited) if status == RunStatus::Running && run.stop_reason.is_none() => {}
        _ if status.is_live() || status == RunStatus::Queued => {
            return Err(Failure::Refused(RunError::NotWaiting { status }));
        }
        _ => return Err(Failure::Refused(RunError::NotLive { status })),
    }
    tx.runs_mut().save_completion(&run, &report, ctx.now)?;
    ctx.signal.raise();
    let details = json!({ "status": report.status, "errorCode": report.error_code });
    log_activity(tx, ctx, Action::HeartbeatCompleted, &*run, details);
    Ok(run.into_inner())
}
