//! What forges tell by themselves (docs/tickets.md#webhook).

use std::sync::Arc;

use workforce_app::pull_requests::hurry;
use workforce_domain::actor::{CompanyOwned, InstanceScope};
use workforce_domain::execution_workspace::PullRequestTraits;
use workforce_domain::forge::ForgeKind;
use workforce_domain::port::{DeliveryOutcome, ForgeDelivery, StoreError};
use workforce_forges::RepositoryAddress;
use workforce_forges::webhook::{Event, parse, verify};

use crate::state::EngineState;

/// So many pull requests are looked at because of one message. Others are in their
/// turn.
const AT_ONCE: usize = 200;

/// Takes a message: what it is about is looked at soon, and what it says is not
/// believed.
pub(crate) async fn take(
    state: Arc<EngineState>,
    delivery: ForgeDelivery,
) -> Result<DeliveryOutcome, StoreError> {
    let forge = delivery.forge;
    let Some(secret) = state.config.tickets.webhook_secrets.get(&forge) else {
        return Ok(DeliveryOutcome::NotConfigured);
    };
    if !verify(forge, secret.bytes(), &delivery.body, &delivery.proof) {
        return Ok(DeliveryOutcome::Forged);
    }
    let now = state.store.ports.clock.now();
    let Some(taking) = state.taken_messages.begin(forge, &delivery.body, now) else {
        return Ok(DeliveryOutcome::Repeated);
    };
    let event = parse(forge, &delivery.event, &delivery.body);
    if let Some(event) = event.filter(|event| is_at(&state, forge, &event.repository)) {
        hurry_all(&state, event).await?;
    }
    taking.finish();
    Ok(DeliveryOutcome::Taken)
}

/// Whether the forge that keeps a repository is one of these: who knows the secret of one
/// has no say about the others.
fn is_at(state: &EngineState, forge: ForgeKind, repository: &RepositoryAddress) -> bool {
    let forges = state.config.tickets.forges.as_ref();
    forges.and_then(|forges| forges.kind_of(repository)) == Some(forge)
}

/// Makes the watched pull requests that an event is about due.
async fn hurry_all(state: &EngineState, event: Event) -> Result<(), StoreError> {
    let numbers = event.numbers.iter().copied();
    let traits = PullRequestTraits {
        numbers: numbers.filter_map(|it| i64::try_from(it).ok()).collect(),
        branches: event.head_branches,
        commit: event.head_sha,
    };
    let found = state
        .store
        .read(move |reads| {
            reads
                .pull_request_watches()
                .worktrees_with(InstanceScope::SYSTEM, &traits, AT_ONCE)
        })
        .await?;
    for worktree in found {
        let address = worktree.repository_url.as_deref();
        let repository = address.and_then(RepositoryAddress::parse);
        if !repository.is_some_and(|it| it.is_same(&event.repository)) {
            continue;
        }
        let (company, id) = (worktree.scope(), worktree.id);
        state
            .store
            .write(move |tx, ctx| Ok(hurry(tx, ctx, company, id)?))
            .await?;
    }
    state.store.notifiers.forges.notify_one();
    Ok(())
}
