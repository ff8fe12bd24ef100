//! What the program of a run told of its use of models.

use workforce_domain::actor::CompanyScope;
use workforce_domain::cost::{CostSource, TokenUse};
use workforce_domain::id::RunId;
use workforce_domain::money::Cents;
use workforce_domain::port::{Failure, Tx};
use workforce_domain::text::Name;

use super::{CostError, ReportCost, record};
use crate::context::Context;

/// The keys of metered costs begin so. Nobody else can use such a key.
pub(super) const KEY_PREFIX: &str = "metered:";

/// What a run used of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeteredUse {
    /// The model provider.
    pub provider: Name,
    /// The model.
    pub model: Name,
    /// Tokens used.
    pub tokens: TokenUse,
    /// What the program says that it cost; nothing for one that does not say.
    pub cost: Cents,
}

/// Records what a run used, once however often it is called, and applies the
/// budgets. Does nothing for a run that is gone.
pub fn meter(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    run: RunId,
    uses: &[MeteredUse],
) -> Result<(), Failure<CostError>> {
    let Some(run) = tx.runs().find(company.into(), run)? else {
        return Ok(());
    };
    for (number, metered) in uses.iter().enumerate() {
        let command = ReportCost {
            agent: run.agent,
            provider: metered.provider.clone(),
            model: metered.model.clone(),
            billing_type: None,
            tokens: metered.tokens,
            cost: metered.cost,
            issue: None,
            project: None,
            goal: None,
            run: Some(run.id),
            billing_code: None,
            occurred_at: None,
            idempotency_key: Some(format!("{KEY_PREFIX}{}:{number}", run.id)),
        };
        record(tx, ctx, company, command, CostSource::Metered)?;
    }
    Ok(())
}
