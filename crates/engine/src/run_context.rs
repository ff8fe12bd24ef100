use std::sync::Arc;

use workforce_app::agents::instructions::{self, RunInstructions};
use workforce_app::conventions::project_layer;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::ProviderAccount;
use workforce_domain::id::{AgentId, CompanyId, RunId};
use workforce_domain::issue::{Comment, Issue};
use workforce_domain::port::{ClaimedRun, MintedToken, Reads, StoreError};
use workforce_domain::project::Workspace;
use workforce_domain::text::AccountKey;
use workforce_domain::{Document, JsonMap};
use workforce_scrub::Patterns;

use crate::config::AgentHome;
use crate::instructions::RunCopy;
use crate::live::LiveRun;
use crate::outage::until_answered;
use crate::secret_resolution::{self, ResolutionError};
use crate::state::EngineState;
use crate::tickets::Place;

/// All that an adapter needs to know about a run.
pub(crate) struct RunContext {
    pub(crate) claimed: ClaimedRun,
    /// The run's credential.
    pub(crate) token: MintedToken,
    /// The issue it is about.
    pub(crate) issue: Option<Issue>,
    /// Where the issue's project is worked on.
    pub(crate) workspace: Option<Workspace>,
    /// The project context for its agent, in Markdown.
    pub(crate) project_layer: Option<String>,
    /// The comments that caused it, oldest first.
    pub(crate) comments: Vec<Comment>,
    /// The adapter's configuration, with the overrides of the issue and the
    /// values of secrets: it must be neither stored nor logged.
    pub(crate) settings: Document,
    /// The account with the provider of its model.
    pub(crate) account: Option<AccountKey>,
    /// The instructions of its agent.
    pub(crate) instructions: RunInstructions,
    /// The worktree of its ticket, in which it works.
    pub(crate) worktree: Option<Place>,
    /// The copy of the instructions that the run reads, once there is one.
    pub(crate) copy: Option<RunCopy>,
    /// The values that the run must not write.
    pub(crate) secrets: Vec<String>,
    /// The same, to be looked for.
    pub(crate) patterns: Patterns,
}

/// Whose a place on this computer is: the names of its folders are made of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occupant {
    pub(crate) company: CompanyId,
    pub(crate) agent: AgentId,
    pub(crate) run: RunId,
}

impl RunContext {
    pub(crate) const fn occupant(&self) -> Occupant {
        let run = &self.claimed.run;
        Occupant {
            company: run.company,
            agent: self.claimed.agent.id,
            run: run.id,
        }
    }
}

/// Gathers what a claimed run needs to know.
pub(crate) async fn prepare(
    state: &Arc<EngineState>,
    live: &LiveRun,
    claimed: ClaimedRun,
    token: MintedToken,
) -> Result<RunContext, ResolutionError> {
    let facts = Arc::new(claimed.clone());
    let look_up = || {
        let facts = Arc::clone(&facts);
        state.store.read(move |reads| look_up(reads, &facts))
    };
    let known = until_answered(live, look_up).await?;
    let settings = settings(
        &claimed.agent.adapter_config,
        claimed.agent.id,
        known.issue.as_ref(),
    );
    // Before the values of secrets stand in the place of their names.
    let account = ProviderAccount::of(claimed.agent.adapter_type, &settings).and_then(|account| {
        let has_private_home = state.config.agent_home == AgentHome::Private;
        account.key(claimed.agent.id, has_private_home)
    });
    let (settings, values) =
        secret_resolution::resolve(state, live, &claimed.run, settings).await?;
    let secrets = secret_resolution::unwritten(&settings, values, &token);
    Ok(RunContext {
        patterns: Patterns::of(secrets.iter().map(String::as_str)),
        secrets,
        claimed,
        token,
        issue: known.issue,
        workspace: known.workspace,
        project_layer: known.project_layer,
        comments: known.comments,
        settings,
        account,
        instructions: known.instructions,
        worktree: None,
        copy: None,
    })
}

/// What the store knows about a run.
struct Known {
    issue: Option<Issue>,
    workspace: Option<Workspace>,
    project_layer: Option<String>,
    comments: Vec<Comment>,
    instructions: RunInstructions,
}

fn look_up(reads: &mut dyn Reads, claimed: &ClaimedRun) -> Result<Known, StoreError> {
    let company = claimed.company.scope();
    let issue = match claimed.run.issue {
        Some(issue) => reads.issues().find(company.into(), &issue.into())?,
        None => None,
    };
    let (workspace, project_layer) = match issue.as_ref().and_then(|issue| issue.project) {
        Some(project) => {
            let workspaces = reads.projects().workspaces(company, &[project])?;
            let primary = workspaces
                .into_iter()
                .find(|workspace| workspace.is_primary);
            let conventions = reads.projects().conventions(company, project)?;
            (primary, conventions.as_ref().and_then(project_layer))
        }
        None => (None, None),
    };
    let comments = match claimed.wake.comments.as_slice() {
        [] => Vec::new(),
        ids => reads.comments().find_all(company, ids)?,
    };
    let instructions = instructions::for_run(reads, &claimed.agent)?;
    Ok(Known {
        issue,
        workspace,
        project_layer,
        comments,
        instructions,
    })
}

/// The agent's configuration with the keys that the issue overrides for its
/// assignee; `env` is overridden variable by variable, and `null` removes.
fn settings(config: &Document, agent: AgentId, issue: Option<&Issue>) -> Document {
    let mut settings = config.clone();
    let overrides = issue
        .filter(|issue| issue.assignee.agent() == Some(agent))
        .and_then(|issue| issue.assignee_adapter_overrides.as_ref())
        .and_then(|overrides| overrides.get("adapterConfig"))
        .and_then(|overrides| overrides.as_object());
    for (key, value) in overrides.into_iter().flatten() {
        match (
            settings.get_mut(key).and_then(|env| env.as_object_mut()),
            value.as_object(),
        ) {
            (Some(env), Some(change)) if key == "env" => {
                change
                    .iter()
                    .for_each(|(name, value)| override_key(env, name, value));
            }
            _ => override_key(&mut settings, key, value),
        }
    }
    settings
}

fn override_key(target: &mut JsonMap, key: &str, value: &serde_json::Value) {
    if value.is_null() {
        target.remove(key);
    } else {
        target.insert(key.to_owned(), value.clone());
    }
}
