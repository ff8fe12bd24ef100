use std::sync::Arc;

use serde_json::Value;
use workforce_agent_programs::UsageBaseline;
use workforce_domain::run::RunStart;
use workforce_guard::{JudgedBy, Start};

use super::local::{Command, make_place, unusable};
use super::settings::ProcessSettings;
use super::{Adapter, RunFuture};
use crate::execution_result::ExecutionResult;
use crate::guarded_run;
use crate::live::LiveRun;
use crate::run_context::RunContext;
use crate::state::EngineState;

/// Runs an agent as a local program (docs/heartbeats.md#process-adapter).
pub(super) struct ProcessAdapter;

impl Adapter for ProcessAdapter {
    fn execute<'a>(
        &'a self,
        state: &'a Arc<EngineState>,
        live: &'a Arc<LiveRun>,
        context: &'a RunContext,
    ) -> RunFuture<'a> {
        Box::pin(async move {
            match prepare(state, live, context).await {
                Ok(start) => guarded_run::execute(state, live, start, RunStart::default()).await,
                Err(ending) => Some(ending),
            }
        })
    }
}

/// What the guard is to start; an ending before that is the error.
async fn prepare(
    state: &EngineState,
    live: &LiveRun,
    context: &RunContext,
) -> Result<Start, ExecutionResult> {
    let settings = ProcessSettings::read(&context.settings).map_err(|fault| unusable(&fault))?;
    let place = make_place(state, context, &[]).await?;
    let command = Command {
        program: settings.program.into(),
        arguments: settings.args.into_iter().map(Into::into).collect(),
        home_files: Vec::new(),
        stdin: settings.stdin,
        judged_by: JudgedBy::ExitCode,
        resumed: None,
        usage_baseline: UsageBaseline::NEW_SESSION,
        preamble: String::new(),
        memo: Value::Null,
    };
    Ok(place.start(state, live, context, command))
}
