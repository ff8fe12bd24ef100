//! What GitHub tells by itself (docs/tickets.md#webhook).

use std::sync::Arc;

use workforce_app::pull_requests::hurry;
use workforce_domain::actor::{CompanyOwned, InstanceScope};
use workforce_domain::execution_workspace::PullRequestTraits;
use workforce_domain::port::{DeliveryOutcome, ForgeDelivery, StoreError};
use workforce_forges::RepositoryAddress;
use workforce_forges::webhook::{parse, verify};

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
    let Some(secret) = &state.config.tickets.webhook_secret else {
        return Ok(DeliveryOutcome::NotConfigured);
    };
    if !verify(secret.bytes(), &delivery.body, &delivery.signature) {
        return Ok(DeliveryOutcome::Forged);
    }
    let Some(event) = parse(&delivery.event, &delivery.body) else {
        return Ok(DeliveryOutcome::Taken);
    };
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
    Ok(DeliveryOutcome::Taken)
}
