use std::sync::Arc;

use nix::unistd::geteuid;
use workforce_agent_programs::{
    self as agent_programs, AgentProgram, HomeFileWhen, ProgramSettings, RunUser, Session,
    SignInHint, UsageBaseline, command_line,
};
use workforce_app::prompt::{self, PromptFacts};
use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::cost::BillingType;
use workforce_domain::run::RunStart;
use workforce_domain::session::{SessionPlan, SessionWish};
use workforce_domain::string_enum::StringEnum;
use workforce_guard::{HomeFile, JudgedBy, Start};

use super::composed_prompt::{PromptTerms, compose, digest, preamble};
use super::local::{Command, Place, make_place, unusable};
use super::{Adapter, RunFuture};
use crate::execution_result::ExecutionResult;
use crate::guarded_run;
use crate::live::LiveRun;
use crate::outage::until_answered;
use crate::program_run::{ProgramStart, RunMemo};
use crate::run_context::RunContext;
use crate::state::EngineState;

/// Runs an agent by an agent program, which gets a prompt
/// (docs/heartbeats.md#agent-programs).
pub(super) struct AgentProgramAdapter(pub(super) AgentProgram);

impl Adapter for AgentProgramAdapter {
    fn execute<'a>(
        &'a self,
        state: &'a Arc<EngineState>,
        live: &'a Arc<LiveRun>,
        context: &'a RunContext,
    ) -> RunFuture<'a> {
        Box::pin(async move {
            match prepare(self.0, state, live, context).await {
                Ok((start, told)) => guarded_run::execute(state, live, start, told).await,
                Err(ending) => Some(ending),
            }
        })
    }

    fn program(&self) -> Option<AgentProgram> {
        Some(self.0)
    }
}

/// What the guard is to start; an ending before that is the error.
async fn prepare(
    program: AgentProgram,
    state: &EngineState,
    live: &LiveRun,
    context: &RunContext,
) -> Result<(Start, RunStart), ExecutionResult> {
    let settings = ProgramSettings::read(&context.settings).map_err(|fault| unusable(&fault))?;
    let user = user_of(state, &context.settings);
    let fresh = Session::New { id: None };
    // What the place needs does not depend on the session.
    let line = command_line(program, &settings, fresh, user).map_err(|fault| unusable(&fault))?;
    let place = make_place(state, context, &line.environment).await?;
    let directory = place.cwd.to_string_lossy().into_owned();
    let fingerprint = fingerprint(state, context);
    let known = known(state, live, context, &directory, &fingerprint).await?;
    let resumed = known.plan.resumed().cloned();
    let gone_on_with = resumed
        .as_ref()
        .and_then(|session| agent_programs::SessionId::parse(session.as_str()).ok());
    let session = gone_on_with.as_ref().map_or(fresh, Session::Resume);
    let line = command_line(program, &settings, session, user).map_err(|fault| unusable(&fault))?;
    let cwd = place.cwd.to_string_lossy();
    let prompt = compose(
        context,
        &known.facts,
        PromptTerms {
            template: settings.prompt_template.as_deref(),
            cwd: Some(&cwd),
            hand_over: known.hand_over(),
            is_resumed: resumed.is_some(),
        },
    );
    let memo = ProgramStart {
        program,
        adapter_type: context.claimed.agent.adapter_type,
        model: settings.model.clone(),
        directory,
        fingerprint,
        resumed: resumed.clone(),
        is_flat_plan: is_flat_plan(program, &context.settings, &place),
    };
    let memo = RunMemo {
        account: context.account.clone(),
        program: Some(memo),
    };
    let command = Command {
        program: command_of(program, &settings).into(),
        arguments: line.arguments.into_iter().map(Into::into).collect(),
        home_files: line.home_files.into_iter().map(home_file).collect(),
        stdin: Some(match resumed {
            Some(_) => prompt.user.clone(),
            None => prompt.joined(),
        }),
        judged_by: JudgedBy::Output(program),
        resumed: gone_on_with,
        usage_baseline: known.usage_baseline(),
        preamble: preamble(context, &prompt),
        memo: memo.to_memo(),
    };
    let told = RunStart {
        containment: None,
        session_resumed: Some(resumed.is_some()),
        session: resumed,
        prompt: Some(digest(&prompt)),
        may_be_completed: false,
    };
    Ok((place.start(state, live, context, command), told))
}

/// Whether the provider bills a run by a flat plan: what the configuration says, or
/// else how its program is signed in.
fn is_flat_plan(program: AgentProgram, settings: &Document, place: &Place) -> bool {
    let said = settings.get("billingType").and_then(|said| said.as_str());
    if let Some(billing) = said.and_then(BillingType::parse) {
        return billing == BillingType::Subscription;
    }
    let sign_in = &program.definition().signed_in_by;
    match sign_in.look(|name| place.environment.get(name)) {
        // Who has not signed in has a key that only the program knows of.
        SignInHint::File(login) if !login.exists() => false,
        hint => sign_in.is_flat_plan(&hint),
    }
}

/// What the store tells of a run whose program is about to start.
struct Known {
    facts: PromptFacts,
    plan: SessionPlan,
}

impl Known {
    /// What a former session hands over to a new one.
    fn hand_over(&self) -> Option<&str> {
        match &self.plan {
            SessionPlan::Fresh { handover, .. } => handover.as_deref(),
            SessionPlan::Resume(_) => None,
        }
    }

    fn usage_baseline(&self) -> UsageBaseline {
        match &self.plan {
            SessionPlan::Resume(resumed) => {
                serde_json::from_str(&resumed.usage_baseline).unwrap_or(UsageBaseline::UNKNOWN)
            }
            SessionPlan::Fresh { .. } => UsageBaseline::NEW_SESSION,
        }
    }
}

/// The settings that a session cannot change in its midst.
const OF_SESSION: [&str; 9] = [
    "command",
    "model",
    "effort",
    "modelReasoningEffort",
    "chrome",
    "search",
    "extraArgs",
    "dangerouslySkipPermissions",
    "dangerouslyBypassApprovalsAndSandbox",
];

fn fingerprint(state: &EngineState, context: &RunContext) -> String {
    let settings: Vec<_> = OF_SESSION
        .iter()
        .map(|&key| context.settings.get(key))
        .collect();
    let text = serde_json::to_string(&settings).unwrap_or_default();
    let digest = state.store.ports.tokens.digest(&text);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn home_file(file: agent_programs::HomeFile) -> HomeFile {
    // A file that is there stays as it is.
    let HomeFileWhen::IfAbsent = file.when;
    HomeFile {
        path: file.path.into(),
        content: file.content,
    }
}

/// What the program is started by.
pub(crate) fn command_of(program: AgentProgram, settings: &ProgramSettings) -> String {
    let own = settings
        .command
        .clone()
        .filter(|command| !command.is_empty());
    own.unwrap_or_else(|| program.definition().command.to_owned())
}

/// Whether the program runs as root, which some refuse.
pub(crate) fn user_of(state: &EngineState, settings: &Document) -> RunUser {
    let env = settings.get("env").and_then(|env| env.as_object());
    let says = |value: &serde_json::Value| {
        let plain = value.as_str().or_else(|| value.get("value")?.as_str());
        plain == Some("1")
    };
    match env.and_then(|env| env.get("IS_SANDBOX")).is_some_and(says) {
        _ if state.config.containment.run_as.is_some() => RunUser::Ordinary,
        _ if !geteuid().is_root() => RunUser::Ordinary,
        true => RunUser::RootInSandbox,
        false => RunUser::Root,
    }
}

async fn known(
    state: &EngineState,
    live: &LiveRun,
    context: &RunContext,
    directory: &str,
    fingerprint: &str,
) -> Result<Known, ExecutionResult> {
    let look_up = || {
        let claimed = context.claimed.clone();
        let now = state.store.ports.clock.now();
        let (directory, fingerprint) = (directory.to_owned(), fingerprint.to_owned());
        state.store.read(move |reads| {
            let (agent, task) = (&claimed.agent, claimed.run.issue.into());
            let scope = claimed.company.scope();
            let session =
                reads
                    .sessions()
                    .find_session(scope, agent.id, agent.adapter_type, task)?;
            let wish = SessionWish {
                directory: &directory,
                fingerprint: &fingerprint,
                reason: claimed.run.reason,
                is_unknown: false,
            };
            Ok(Known {
                facts: prompt::facts(reads, &claimed, now)?,
                plan: SessionPlan::decide(session.as_ref(), &wish, now),
            })
        })
    };
    let known = until_answered(live, look_up).await;
    known.map_err(|error| ExecutionResult::without_store(live, &error))
}
