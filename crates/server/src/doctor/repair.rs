//! Puts right what was found. Every repair may be made again, and loses nothing.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use workforce_app::{Caller, Context as UseContext, Signal, runs};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::cost::PriceTable;
use workforce_domain::port::{Clock, Ids};
use workforce_domain::run::{RunEnd, RunErrorCode, RunOutcome};
use workforce_folders::remove_folder;
use workforce_guard::{GuardFiles, leftovers};
use workforce_infra::clock::SystemClock;
use workforce_infra::data_folder::MASTER_KEY;
use workforce_infra::ids::UuidV7Ids;
use workforce_infra::store::{self, Inspection, OpenOptions};
use workforce_infra::tokens::RandomTokens;

use super::Site;
use super::finding::{Finding, Repair};
use super::runs::stuck;
use crate::master_key;

/// Repairs what can be repaired; says in a line each what was done or why not.
pub(super) fn all(site: &Site<'_>, findings: &[Finding]) -> Vec<String> {
    let repairs = findings
        .iter()
        .filter_map(|finding| Some((finding.check, finding.repair.as_ref()?)));
    repairs
        .map(|(check, repair)| match one(site, repair) {
            Ok(done) => format!("{check}: {done}"),
            Err(error) => format!("{check}: nothing: {error:#}"),
        })
        .collect()
}

fn one(site: &Site<'_>, repair: &Repair) -> anyhow::Result<String> {
    match repair {
        Repair::Mode(path, mode) => {
            set_permissions(path, Permissions::from_mode(*mode))?;
            Ok(format!("{} has mode {mode:04o}", path.display()))
        }
        Repair::SpendTotals => {
            let totals = store::repair(&site.database, store::Repair::SpendTotals)?;
            Ok(format!("{totals} totals are the sums of their costs"))
        }
        Repair::Leases => {
            let leases = store::repair(&site.database, store::Repair::Leases)?;
            Ok(format!(
                "{leases} leases of runs that do not run were taken back"
            ))
        }
        Repair::StuckRuns => end_stuck_runs(site),
        Repair::Process(run, identity, folder) => {
            let files = GuardFiles::of(folder.as_deref().unwrap_or(Path::new("")).join("guard"));
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let is_gone = runtime.block_on(leftovers::end_by_force(*identity, *run, &files));
            ensure!(is_gone, "what is left of run {run} cannot be killed");
            Ok(format!("what was left of run {run} was killed"))
        }
        Repair::Folders(folders) => {
            for folder in folders {
                remove_folder(folder).with_context(|| folder.display().to_string())?;
            }
            Ok(format!("{} folders of runs were removed", folders.len()))
        }
    }
}

/// Ends runs whose server is gone, as the next server would.
fn end_stuck_runs(site: &Site<'_>) -> anyhow::Result<String> {
    let mut inspection = Inspection::open(&site.database)?;
    ensure!(
        !site.is_served,
        "a server uses {}, and ends them itself; its log says what keeps it",
        site.data_dir.display()
    );
    ensure!(
        inspection.state()?.schema.pending.is_empty(),
        "the tables are older than this version: start the server instead"
    );
    let stuck = stuck(&mut inspection)?;
    drop(inspection);
    let left = leftovers::marked()?;
    if let Some(run) = stuck
        .iter()
        .find(|run| left.iter().any(|it| it.0 == run.id))
    {
        bail!(
            "processes of run {} are still there: start the server instead",
            run.id
        );
    }
    let file = site.data_dir.join(MASTER_KEY);
    let vault = master_key::existing_vault(&file)?.context("there is no master key")?;
    let store = store::open(&site.database, &OpenOptions::default())?;
    let ids = UuidV7Ids::new(SystemClock);
    let mut ended = 0;
    for run in stuck {
        let context = UseContext {
            caller: &Caller::SYSTEM,
            now: SystemClock.now(),
            server: ids.next().into(),
            ids: &ids,
            tokens: &RandomTokens,
            vault: &vault,
            prices: &PriceTable::EMPTY,
            strict_secrets: false,
            signal: &Signal::default(),
            company: None,
        };
        let end = RunEnd::without_exit(
            RunOutcome::Lost(RunErrorCode::LeaseExpired),
            "the server of the run did not renew its lease",
        );
        let ending = store.write(|tx| {
            runs::finish(
                tx,
                &context,
                run.scope(),
                run.id,
                run.fence,
                end.clone(),
                None,
            )
        })?;
        ended += usize::from(ending.is_some());
    }
    Ok(format!(
        "{ended} runs ended as lost, and their work is queued again"
    ))
}
