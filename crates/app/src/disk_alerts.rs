//! Telling that the disks of a server have little room, and that they have
//! enough again. It concerns every company, so each is told in its activity.

use std::convert::Infallible;

use serde_json::{Value, json};
use workforce_domain::activity::Action;
use workforce_domain::company::CompanyStatus;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Failure, Tx};

use crate::activity_log::log_activity;
use crate::context::Context;

/// Where there is little room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowDiskSpace {
    /// A word for the place, such as `data`.
    pub place: &'static str,
    /// Bytes that are free there.
    pub free_bytes: u64,
    /// Bytes that should be free.
    pub min_free_bytes: u64,
}

/// Tells every company that no run starts and no upload is taken for lack of
/// room.
pub fn low(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    little: LowDiskSpace,
) -> Result<(), Failure<Infallible>> {
    let details = json!({
        "place": little.place,
        "freeBytes": little.free_bytes,
        "minFreeBytes": little.min_free_bytes,
    });
    log_for_every_company(tx, ctx, Action::StorageLow, &details)
}

/// Tells every company that there is room again.
pub fn recovered(tx: &mut dyn Tx, ctx: &Context<'_>) -> Result<(), Failure<Infallible>> {
    log_for_every_company(tx, ctx, Action::StorageRecovered, &json!({}))
}

fn log_for_every_company(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    action: Action,
    details: &Value,
) -> Result<(), Failure<Infallible>> {
    const CONCERNED: [CompanyStatus; 2] = [CompanyStatus::Active, CompanyStatus::Paused];
    let mut page = PageRequest::first();
    loop {
        let companies = tx
            .companies()
            .list(ctx.actor().scope(), &CONCERNED, &page)?;
        for company in companies.items {
            log_activity(tx, ctx, action, &company, details.clone());
        }
        match companies.next {
            Some(next) => page.after = Some(next),
            None => return Ok(()),
        }
    }
}
