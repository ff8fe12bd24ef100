//! What the program of a run tells of its use of models
//! (docs/budgets.md#metering).

use std::convert::Infallible;

use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::cost::{BillingType, CostEvent, CostSource, TokenUse};
use workforce_domain::id::RunId;
use workforce_domain::money::Cents;
use workforce_domain::port::{Failure, MeteredModel, StoreError, Tx};
use workforce_domain::run::Run;
use workforce_domain::text::Name;

use super::{ReportCost, record, runs};
use crate::context::Context;

/// The keys of metered costs begin so. Nobody else can use such a key.
pub(super) const KEY_PREFIX: &str = "metered:";

/// What a run used of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelUse {
    /// The model provider.
    pub provider: Name,
    /// The model.
    pub model: Name,
    /// Tokens used.
    pub tokens: TokenUse,
    /// What the program says that it cost; `None` where it did not say.
    pub cost: Option<Cents>,
}

/// What a run has used as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunUse {
    /// How the provider bills it.
    pub billing: BillingType,
    /// Of each model.
    pub models: Vec<ModelUse>,
}

/// Books what a live run used: the uses with these numbers, from one, each once
/// however often it is called. `tells_cost` says whether the program tells what they
/// cost, maybe later. A run that goes beyond what it reserved and what its budgets
/// have left is asked to stop. Does nothing for a run that has ended.
pub fn meter(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    run: RunId,
    billing: BillingType,
    tells_cost: bool,
    uses: &[(i64, ModelUse)],
) -> Result<(), Failure<Infallible>> {
    let Some(found) = find_to_book(tx, scope, run)?.filter(|run| run.status.is_live()) else {
        return Ok(());
    };
    let Some(mut spend) = tx.ledger().run_spend(scope, run)? else {
        return Ok(());
    };
    let through = spend.booked_through;
    let new = uses.iter().filter(|(number, _)| *number > through);
    for (number, used) in new {
        let by_list = estimate(ctx, used);
        let is_flat = billing == BillingType::Subscription;
        let cost = match used.cost {
            _ if is_flat => None,
            None if tells_cost => None,
            told => told.or(by_list),
        };
        let entry = Entry {
            billing,
            provider: used.provider.clone(),
            model: used.model.clone(),
            tokens: used.tokens,
            cost: cost.unwrap_or_default(),
            by_list,
        };
        let key = format!("{KEY_PREFIX}{run}:{number}");
        if let Some(event) = book(tx, ctx, &found, key, entry)? {
            runs::add(&mut spend, &event);
        }
        if tells_cost && !is_flat {
            let untold = spend.untold.saturating_sub(used.cost.unwrap_or_default());
            let more = by_list.filter(|_| used.cost.is_none()).unwrap_or_default();
            spend.untold = untold.checked_add(more).unwrap_or(untold);
        }
        spend.booked_through = *number;
    }
    if spend.booked_through > through {
        runs::keep(tx, ctx, scope, run, &spend)?;
    }
    Ok(())
}

/// Books what a run that has ended used beside what is booked already, and lets go of
/// what it holds. `used` is what its program told; without it, what it told while it
/// ran counts. May be done again: what is booked is the difference to the ledger. Does
/// nothing for a run that is live.
pub fn settle(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    run: RunId,
    used: Option<&RunUse>,
) -> Result<(), Failure<Infallible>> {
    let Some(found) = find_to_book(tx, scope, run)?.filter(|run| !run.status.is_live()) else {
        return Ok(());
    };
    let booked = tx.ledger().metered(scope, run)?;
    let wanted = match used {
        Some(used) => totals(ctx, used),
        None => booked.iter().map(told_so_far).collect(),
    };
    let mut spend = tx.ledger().run_spend(scope, run)?;
    for (number, total) in wanted.into_iter().enumerate() {
        let is_same = |before: &&MeteredModel| {
            before.provider == total.provider && before.model == total.model
        };
        let before = booked.iter().find(is_same);
        let missing = before.map_or_else(|| total.clone(), |before| missing(&total, before));
        if missing.tokens == TokenUse::default() && missing.cost == Cents::ZERO {
            continue;
        }
        let key = format!("{KEY_PREFIX}{run}:end:{}:{number}", ctx.now.micros());
        if let Some(event) = book(tx, ctx, &found, key, missing)?
            && let Some(spend) = &mut spend
        {
            runs::add(spend, &event);
        }
    }
    if let Some(mut spend) = spend {
        spend.untold = Cents::ZERO;
        tx.ledger_mut()
            .save_run_spend(scope, run, &spend, Cents::ZERO)?;
    }
    Ok(tx.ledger_mut().release(scope, run, ctx.now)?)
}

/// A run, with the lock of its company: nobody else books for it meanwhile.
fn find_to_book(
    tx: &mut dyn Tx,
    scope: CompanyScope,
    run: RunId,
) -> Result<Option<Run>, StoreError> {
    let company = tx.companies_mut().lock(scope.into(), scope.company())?;
    match company {
        Some(_) => tx.runs().find(scope.into(), run),
        None => Ok(None),
    }
}

/// What is to be booked for a model.
#[derive(Clone, Debug)]
struct Entry {
    billing: BillingType,
    provider: Name,
    model: Name,
    tokens: TokenUse,
    cost: Cents,
    by_list: Option<Cents>,
}

/// What each model is to be booked with in the end.
fn totals(ctx: &Context<'_>, used: &RunUse) -> Vec<Entry> {
    // One figure is the program's own opinion on all of the run.
    let is_told = used.models.iter().any(|model| model.cost.is_some());
    let total = |model: &ModelUse| {
        let by_list = estimate(ctx, model);
        let cost = match used.billing {
            BillingType::Subscription => None,
            BillingType::Api if is_told => model.cost,
            BillingType::Api => by_list,
        };
        Entry {
            billing: used.billing,
            provider: model.provider.clone(),
            model: model.model.clone(),
            tokens: model.tokens,
            cost: cost.unwrap_or_default(),
            by_list,
        }
    };
    used.models.iter().map(total).collect()
}

/// The same for a run of which no more is known than what is booked: what its program
/// has not told the cost of cost what it does by list.
fn told_so_far(booked: &MeteredModel) -> Entry {
    let cost = match booked.billing {
        BillingType::Subscription => booked.cost,
        BillingType::Api => booked.cost.max(booked.estimated),
    };
    Entry {
        billing: booked.billing,
        provider: booked.provider.clone(),
        model: booked.model.clone(),
        tokens: booked.tokens,
        cost,
        by_list: Some(booked.estimated),
    }
}

/// What of a total is not booked yet.
fn missing(total: &Entry, before: &MeteredModel) -> Entry {
    let less = |total: i64, before: i64| total.saturating_sub(before).max(0);
    Entry {
        tokens: TokenUse {
            input: less(total.tokens.input, before.tokens.input),
            output: less(total.tokens.output, before.tokens.output),
            cached_input: less(total.tokens.cached_input, before.tokens.cached_input),
            cache_write: less(total.tokens.cache_write, before.tokens.cache_write),
        },
        cost: total.cost.saturating_sub(before.cost),
        by_list: total
            .by_list
            .map(|by_list| by_list.saturating_sub(before.estimated)),
        ..total.clone()
    }
}

/// What a use cost by list: what the program says, or else what the prices say.
fn estimate(ctx: &Context<'_>, used: &ModelUse) -> Option<Cents> {
    used.cost.filter(|cost| *cost > Cents::ZERO).or_else(|| {
        ctx.prices
            .estimate(used.provider.as_str(), used.model.as_str(), &used.tokens)
    })
}

/// Books one use of a run. What is more than anybody can count is left out.
fn book(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    run: &Run,
    key: String,
    entry: Entry,
) -> Result<Option<CostEvent>, Failure<Infallible>> {
    let command = ReportCost {
        agent: run.agent,
        provider: entry.provider,
        model: entry.model,
        billing_type: Some(entry.billing),
        tokens: entry.tokens,
        cost: entry.cost,
        estimated: entry.by_list,
        issue: None,
        project: None,
        goal: None,
        run: Some(run.id),
        billing_code: None,
        occurred_at: None,
        idempotency_key: Some(key),
    };
    match record(tx, ctx, run.scope(), command, CostSource::Metered) {
        Ok(recorded) => Ok(Some(recorded.event).filter(|_| recorded.created)),
        Err(Failure::Store(error)) => Err(Failure::Store(error)),
        Err(Failure::Refused(_)) => Ok(None),
    }
}
