//! Forges are asked what became of open pull requests
//! (docs/tickets.md#after-the-pull-request).

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;
use workforce_app::activity_log::document;
use workforce_app::pull_requests::{self, FailedCheck, Look, LookOutcome, Question};
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, InstanceScope};
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::{ChecksState, PullRequestWatch};
use workforce_domain::port::StoreError;
use workforce_forges::{self as forges, ForgeError, RepositoryAddress, Validators, Watched};

use crate::state::EngineState;
use crate::tickets::deliver::forge::state_of;
use crate::tickets::repository::token::forge_of;

/// So many are asked about at a time.
const AT_ONCE: usize = 8;
/// How often due questions are looked for without a nudge.
const EVERY: Duration = Duration::from_secs(1);

/// Asks until the engine closes.
pub(crate) async fn run(state: Arc<EngineState>) {
    while !state.closing.is_cancelled() {
        match ask_due(&state).await {
            Ok(AT_ONCE) => continue,
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "forges are not asked about pull requests"),
        }
        let nudge = state.store.notifiers.forges.notified();
        let nudged = timeout(state.config.poll_every.max(EVERY), nudge);
        let _ = state.closing.run_until_cancelled(nudged).await;
    }
}

/// Asks what is due; how much it was.
async fn ask_due(state: &Arc<EngineState>) -> Result<usize, StoreError> {
    let now = state.store.ports.clock.now();
    let due = state
        .store
        .read(move |reads| {
            reads
                .pull_request_watches()
                .due(InstanceScope::SYSTEM, now, AT_ONCE)
        })
        .await?;
    let found = due.len();
    let mut asking = JoinSet::new();
    for watch in due {
        let state = Arc::clone(state);
        asking.spawn(async move { ask(&state, watch).await });
    }
    while let Some(asked) = asking.join_next().await {
        asked.map_err(|error| StoreError::Failed(error.into()))??;
    }
    Ok(found)
}

async fn ask(state: &Arc<EngineState>, due: PullRequestWatch) -> Result<(), StoreError> {
    let (company, id) = (due.scope(), due.workspace);
    let question = state
        .store
        .write(move |tx, ctx| Ok(pull_requests::claim_question(tx, ctx, company, id)?))
        .await?;
    let Some(question) = question else {
        return Ok(());
    };
    // Another server asks again where this one stops.
    let looked = state.closing.run_until_cancelled(look(state, &question));
    let Some(outcome) = looked.await else {
        return Ok(());
    };
    state
        .store
        .write(move |tx, ctx| {
            Ok(pull_requests::finish_question(
                tx, ctx, &question, &outcome,
            )?)
        })
        .await
}

async fn look(state: &EngineState, question: &Question) -> LookOutcome {
    let worktree = &question.worktree;
    let address = worktree.repository_url.as_deref();
    let repository = address.and_then(RepositoryAddress::parse);
    let forge = match &repository {
        Some(repository) => {
            let step = ExecutionStep::PullRequest;
            let forge = forge_of(state, worktree.scope(), repository, step).await;
            forge.unwrap_or_else(|failure| {
                tracing::warn!(worktree = %worktree.id, "{}", failure.message);
                None
            })
        }
        None => None,
    };
    let number = worktree
        .pull_request
        .as_ref()
        .and_then(|it| u64::try_from(it.number).ok());
    let (Some(repository), Some(forge), Some(number)) = (repository, forge, number) else {
        return LookOutcome::Failed { pause: None };
    };
    let known = validators(&question.watch.validators);
    let asked =
        tokio::task::spawn_blocking(move || forge.state(&repository, number, known.as_ref()));
    match asked.await {
        Ok(Ok(Watched::NotModified)) => LookOutcome::Same,
        Ok(Ok(Watched::Changed(snapshot, now))) => {
            let failed = snapshot.checks.failed.into_iter();
            LookOutcome::Told(Box::new(Look {
                state: state_of(snapshot.pull_request.state),
                head_commit: snapshot.pull_request.head_sha,
                checks: checks_of(snapshot.checks.state),
                failed: failed.map(failed_check).collect(),
                validators: serde_json::to_value(&now).map_or_else(|_| Document::new(), document),
            }))
        }
        Ok(Err(error)) => {
            tracing::warn!(
                worktree = %worktree.id, code = error.code(),
                "a forge does not tell of a pull request: {error}"
            );
            let pause = match error {
                ForgeError::RateLimited { retry_after } => Some(retry_after),
                _ => None,
            };
            LookOutcome::Failed { pause }
        }
        Err(error) => {
            tracing::error!(%error, "a forge was not asked about a pull request");
            LookOutcome::Failed { pause: None }
        }
    }
}

/// What was kept of the last answer; `None` where another version kept something else.
fn validators(kept: &Document) -> Option<Validators> {
    let kept = serde_json::to_value(kept).ok()?;
    serde_json::from_value(kept).ok()
}

fn failed_check(check: forges::FailedCheck) -> FailedCheck {
    FailedCheck {
        name: check.name,
        url: check.url,
    }
}

const fn checks_of(state: forges::ChecksState) -> ChecksState {
    match state {
        forges::ChecksState::None => ChecksState::None,
        forges::ChecksState::Pending => ChecksState::Pending,
        forges::ChecksState::Passed => ChecksState::Passed,
        forges::ChecksState::Failed => ChecksState::Failed,
        forges::ChecksState::Unknown => ChecksState::Unknown,
    }
}
