use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use workforce_agent_programs::UsageBaseline;
use workforce_app::access::FieldFault;
use workforce_app::agents::HttpConfig;
use workforce_app::prompt;
use workforce_domain::run::{RunErrorCode, RunStart};
use workforce_guard::{ChildEnvironment, JudgedBy, Limits, Start};
use workforce_http_caller::{Call, Method, SUBCOMMAND};

use super::composed_prompt::{PromptTerms, compose, digest, preamble};
use super::local::{Command, make_bare_place, unusable};
use super::settings::{DEFAULT_IDLE, DEFAULT_WALL, env};
use super::{Adapter, RunFuture, http_body};
use crate::execution_result::ExecutionResult;
use crate::guarded_run;
use crate::live::LiveRun;
use crate::outage::until_answered;
use crate::program_run::RunMemo;
use crate::run_context::RunContext;
use crate::state::EngineState;

/// The program of a guard, which also makes calls. A guard names it by what it
/// executes itself: a deploy may have replaced the file.
const PROGRAM: &str = "/proc/self/exe";
/// Between `SIGTERM` and `SIGKILL`. A call has nothing to put in order.
const GRACE: Duration = Duration::from_secs(1);
/// Where the roots of TLS are, if they are not in the usual places.
const ROOTS: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Runs an agent by calling it by HTTP (docs/heartbeats.md#http-adapter). A process
/// of the run makes the call, so that whatever holds for programs holds for it.
pub(super) struct HttpAdapter;

impl Adapter for HttpAdapter {
    fn execute<'a>(
        &'a self,
        state: &'a Arc<EngineState>,
        live: &'a Arc<LiveRun>,
        context: &'a RunContext,
    ) -> RunFuture<'a> {
        Box::pin(async move {
            match prepare(state, live, context).await {
                Ok((start, told)) => guarded_run::execute(state, live, start, told).await,
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
) -> Result<(Start, RunStart), ExecutionResult> {
    let settings = HttpConfig::read(&context.settings).map_err(|fault| misconfigured(&fault))?;
    let Some(url) = settings.url.clone() else {
        return Err(misconfigured(&no_url()));
    };
    let variables = env(&context.settings).map_err(|fault| unusable(&fault))?;
    let headers = settings
        .filled_headers(&variables)
        .map_err(|fault| misconfigured(&fault))?;
    let method = settings.method.as_deref().and_then(Method::parse);
    let look_up = || {
        let (claimed, now) = (context.claimed.clone(), state.store.ports.clock.now());
        state
            .store
            .read(move |reads| prompt::facts(reads, &claimed, now))
    };
    let facts = until_answered(live, look_up)
        .await
        .map_err(|error| ExecutionResult::without_store(live, &error))?;
    let terms = PromptTerms {
        template: settings.prompt_template.as_deref(),
        cwd: None,
        hand_over: None,
        is_resumed: false,
    };
    let prompt = compose(context, &facts, terms);
    let environment = environment(state).map_err(|fault| unusable(&fault))?;
    let place = make_bare_place(state, context, environment, limits(&settings)).await?;
    let body = http_body::body(&state.config, context, settings.payload_template, &prompt);
    let call = Call {
        url,
        method: method.unwrap_or_default(),
        headers,
        body: Value::Object(body),
        allowed: state.config.http_allow.clone(),
    };
    let stdin = serde_json::to_string(&call).map_err(|error| unusable(&error))?;
    let memo = RunMemo {
        account: context.account.clone(),
        program: None,
    };
    let command = Command {
        program: PROGRAM.into(),
        arguments: vec![SUBCOMMAND.into()],
        home_files: Vec::new(),
        stdin: Some(stdin),
        judged_by: JudgedBy::SelfReport,
        resumed: None,
        usage_baseline: UsageBaseline::UNKNOWN,
        preamble: preamble(context, &prompt),
        memo: memo.to_memo(),
    };
    let told = RunStart {
        prompt: Some(digest(&prompt)),
        may_be_completed: true,
        ..RunStart::default()
    };
    Ok((place.start(state, live, context, command), told))
}

/// A run that does not begin, since its configuration cannot be used.
fn misconfigured(fault: &FieldFault) -> ExecutionResult {
    ExecutionResult::failed(RunErrorCode::ConfigInvalid, misconfiguration(fault))
}

/// What is wrong with the configuration, in a sentence.
pub(crate) fn misconfiguration(fault: &FieldFault) -> String {
    let place = fault.pointer.trim_start_matches('/').replace('/', ".");
    format!("{place}: {}", fault.message)
}

/// The fault of a configuration without an address.
pub(crate) fn no_url() -> FieldFault {
    FieldFault::invalid("/adapterConfig/url", "must say where the agent is")
}

fn limits(settings: &HttpConfig) -> Limits {
    let limit = |said: Option<Duration>, default| {
        Some(said.unwrap_or(default)).filter(|limit| !limit.is_zero())
    };
    Limits {
        wall: limit(settings.timeout, DEFAULT_WALL),
        idle: limit(settings.idle_timeout, DEFAULT_IDLE),
        grace: GRACE,
    }
}

/// The proxy variables of the server are not among them: the address that was checked
/// is the one that is called.
fn environment(state: &EngineState) -> Result<ChildEnvironment, workforce_guard::InvalidVariable> {
    let mut environment = ChildEnvironment::empty();
    let of_server = state.config.server_environment.iter();
    for (name, value) in of_server.filter(|(name, _)| ROOTS.iter().any(|root| name == root)) {
        environment.set(name, value)?;
    }
    Ok(environment)
}
