//! Forges are asked what became of open pull requests
//! (docs/tickets.md#after-the-pull-request).

use std::sync::Arc;

use workforce_app::activity_log::document;
use workforce_app::pull_requests::{self, FailedCheck, Look, LookOutcome, Question};
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, InstanceScope};
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::{ChecksState, PullRequestWatch};
use workforce_domain::port::StoreError;
use workforce_forges::{self as forges, ForgeError, RepositoryAddress, Validators, Watched};

use crate::agenda::Reading;
use crate::state::EngineState;
use crate::tickets::deliver::forge::state_of;
use crate::tickets::repository::token::forge_of;
use crate::tickets::rounds::{Due, LOOKED_AT, Rounds, go_on};

/// So many are asked about side by side, and so many of them at one forge.
const AT_ONCE: usize = 8;
const AT_A_FORGE: usize = 4;

/// Asks until the engine closes.
pub(crate) async fn run(state: Arc<EngineState>) {
    let watches = Watches(Arc::clone(&state));
    go_on(&state, watches).await;
}

struct Watches(Arc<EngineState>);

impl Rounds for Watches {
    type Task = PullRequestWatch;
    const NAME: &'static str = "pull requests";
    const AT_ONCE: usize = AT_ONCE;
    const AT_A_PLACE: usize = AT_A_FORGE;

    async fn due(&mut self) -> Result<Vec<Due<PullRequestWatch>>, StoreError> {
        let now = self.0.store.ports.clock.now();
        let found = self.0.store.read(move |reads| {
            let due = reads
                .pull_request_watches()
                .due(InstanceScope::SYSTEM, now, LOOKED_AT)?;
            let mut found = Vec::new();
            for watch in due {
                let (company, id) = (watch.scope(), watch.workspace);
                let worktree = reads.execution_workspaces().find(company.into(), id)?;
                let address = worktree.and_then(|it| it.repository_url);
                let forge = address.as_deref().and_then(RepositoryAddress::parse);
                found.push(Due {
                    id: id.to_string(),
                    company: watch.company,
                    places: forge.map(|it| it.host()).into_iter().collect(),
                    task: watch,
                });
            }
            Ok(found)
        });
        found.await
    }

    fn take(
        &self,
        watch: PullRequestWatch,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'static {
        let state = Arc::clone(&self.0);
        async move { ask(&state, watch).await }
    }

    fn is_due(&self, reading: &Reading) -> bool {
        reading.has_questions()
    }

    async fn called(&self) {
        self.0.store.notifiers.forges.notified().await;
    }
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
