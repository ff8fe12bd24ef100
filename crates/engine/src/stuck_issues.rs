//! Looks over the open issues of companies in which something changed, and notes which of them are
//! stuck (docs/issues.md#stuck-issues).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use workforce_app::issues;
use workforce_domain::actor::{CompanyScope, InstanceScope};
use workforce_domain::id::{CompanyId, IssueId};
use workforce_domain::port::StoreError;

use crate::state::EngineState;

/// How often companies are looked at in which something changed.
const EVERY: Duration = Duration::from_secs(30);
/// Months end without a change: each company is looked at after so many turns in any case.
const TURNS: u32 = 10;
/// So many issues are looked at in one transaction.
const LOOKED_AT: usize = 1000;
/// The pause after each of them, so that other readers have their turn.
const PAUSE: Duration = Duration::from_millis(50);

/// What is known of a company.
struct Looked {
    /// What its changes counted when it was looked at.
    count: i64,
    /// How many turns ago that was.
    turns: u32,
}

/// Does so until the engine closes. Begins when what dead servers left is cleared away.
pub(crate) async fn run(state: Arc<EngineState>) {
    if state
        .closing
        .run_until_cancelled(state.recovered.cancelled())
        .await
        .is_none()
    {
        return;
    }
    let mut looked = HashMap::new();
    loop {
        if let Err(error) = look(&state, &mut looked).await {
            tracing::error!(%error, cause = ?error, "stuck issues are not looked for");
        }
        let every = EVERY.min(state.config.poll_every * 2);
        let pause = state.closing.run_until_cancelled(tokio::time::sleep(every));
        if pause.await.is_none() {
            return;
        }
    }
}

async fn look(
    state: &EngineState,
    looked: &mut HashMap<CompanyId, Looked>,
) -> Result<(), StoreError> {
    let now = state.store.ports.clock.now();
    let counts = state
        .store
        .read(move |reads| reads.engine().change_counts(InstanceScope::SYSTEM, now))
        .await?;
    let present: HashSet<CompanyId> = counts.iter().map(|(it, _)| it.company()).collect();
    looked.retain(|company, _| present.contains(company));
    for (company, count) in counts {
        if state.closing.is_cancelled() {
            return Ok(());
        }
        if let Some(last) = looked.get_mut(&company.company())
            && last.count == count
            && last.turns < TURNS
        {
            last.turns += 1;
            continue;
        }
        look_at(state, company).await?;
        looked.insert(company.company(), Looked { count, turns: 0 });
    }
    Ok(())
}

async fn look_at(state: &EngineState, company: CompanyScope) -> Result<(), StoreError> {
    let wrong = state
        .store
        .read(move |reads| reads.engine().wrongly_stuck(company, LOOKED_AT))
        .await?;
    note(state, company, wrong).await?;
    let mut after = None;
    while !state.closing.is_cancelled() {
        let now = state.store.ports.clock.now();
        let changes = state
            .store
            .read(move |reads| reads.engine().to_note_stuck(company, now, after, LOOKED_AT))
            .await?;
        note(state, company, changes.issues).await?;
        match changes.next {
            Some(next) => after = Some(next),
            None => break,
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

async fn note(
    state: &EngineState,
    company: CompanyScope,
    issues: Vec<IssueId>,
) -> Result<(), StoreError> {
    for issue in issues {
        state
            .store
            .write(move |tx, ctx| issues::note_stuck(tx, ctx, company, issue))
            .await?;
    }
    Ok(())
}
