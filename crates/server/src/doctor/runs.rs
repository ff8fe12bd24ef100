//! Whether anything is left of runs that are over.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use workforce_domain::actor::InstanceScope;
use workforce_domain::id::{CompanyId, InstanceId, RunId};
use workforce_domain::port::{Clock, Ids, StoreError};
use workforce_domain::run::Run;
use workforce_domain::time::Timestamp;
use workforce_engine::run_folders;
use workforce_guard::{ProcessIdentity, leftovers};
use workforce_infra::clock::SystemClock;
use workforce_infra::ids::UuidV7Ids;
use workforce_infra::store::Inspection;

use super::Site;
use super::finding::{Finding, Repair};

/// A server may be away for so long, and take its runs up again afterwards.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// So many runs are looked at.
const LOOKED_AT: usize = 100;
/// What has just ended may still be on its way out.
const PAUSE: Duration = Duration::from_secs(1);

/// Runs that no server holds, although their records say so.
pub(super) fn stuck(inspection: &mut Inspection) -> Result<Vec<Run>, StoreError> {
    let before = SystemClock.now().minus(PATIENCE);
    inspection.read(|reads| {
        reads
            .engine()
            .expired(InstanceScope::SYSTEM, before, LOOKED_AT)
    })
}

/// Looks for all that.
pub(super) fn look(
    site: &Site<'_>,
    inspection: &mut Inspection,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let before = findings.len();
    let stuck = stuck(inspection)?;
    if !stuck.is_empty() {
        let runs: Vec<_> = stuck.iter().map(|run| run.id.to_string()).collect();
        findings.push(
            Finding::problem(
                "stuck-runs",
                format!("no server holds the live runs {}", runs.join(", ")),
                "start the server, which ends them, or run with --fix",
            )
            .fixed_by(Repair::StuckRuns),
        );
    }
    let folders = folders(site);
    findings.extend(orphans(inspection, &folders)?);
    findings.extend(left_folders(inspection, &folders)?);
    if findings.len() == before {
        findings.push(Finding::ok("runs", "nothing is left of runs that are over"));
    }
    Ok(())
}

/// The company and the folder of each run that has one.
type RunFolders = HashMap<RunId, (CompanyId, PathBuf)>;

/// The folders that runs have while they are live.
fn folders(site: &Site<'_>) -> RunFolders {
    let runs_dir = site.runs_dir();
    let path =
        |company: CompanyId, run: RunId| runs_dir.join(company.to_string()).join(run.to_string());
    let runs = run_folders(&runs_dir).into_iter();
    runs.map(|(company, run)| (run, (company, path(company, run))))
        .collect()
}

/// Processes of runs of this installation that are over.
fn orphans(inspection: &mut Inspection, folders: &RunFolders) -> Result<Vec<Finding>, StoreError> {
    // No server has started yet that has this id.
    let nobody = InstanceId::from(UuidV7Ids::new(SystemClock).next());
    let records = inspection.read(|reads| {
        reads
            .engine()
            .processes_elsewhere(InstanceScope::SYSTEM, nobody)
    })?;
    let recorded: HashSet<RunId> = records.iter().map(|record| record.run).collect();
    let mut found = marked();
    // A copy of this database elsewhere has the same runs: what is known of them here decides.
    found.retain(|(run, _)| recorded.contains(run) || folders.contains_key(run));
    let mut over = ended(inspection, found)?;
    if !over.is_empty() {
        std::thread::sleep(PAUSE);
        let still: HashSet<RunId> = marked().into_iter().map(|(run, _)| run).collect();
        over.retain(|(run, _)| still.contains(run));
        over = ended(inspection, over)?;
    }
    let told = |(run, identity): (RunId, ProcessIdentity)| {
        Finding::problem(
            "processes",
            format!(
                "process {} executes for run {run}, which is over",
                identity.pid
            ),
            "run with --fix, which kills what is left of it",
        )
        .fixed_by(Repair::Process(
            run,
            identity,
            folders.get(&run).map(|it| it.1.clone()),
        ))
    };
    Ok(over.into_iter().map(told).collect())
}

/// Those of runs that have ended.
fn ended(
    inspection: &mut Inspection,
    mut found: Vec<(RunId, ProcessIdentity)>,
) -> Result<Vec<(RunId, ProcessIdentity)>, StoreError> {
    let unended: HashSet<String> = inspection.unended_runs()?.into_iter().collect();
    found.retain(|(run, _)| !unended.contains(&run.to_string()));
    Ok(found)
}

fn marked() -> Vec<(RunId, ProcessIdentity)> {
    leftovers::marked().unwrap_or_default()
}

fn left_folders(
    inspection: &mut Inspection,
    folders: &RunFolders,
) -> Result<Option<Finding>, StoreError> {
    let now = SystemClock.now();
    let mut left = Vec::new();
    for (&run, (company, folder)) in folders {
        let company = InstanceScope::SYSTEM.enter(*company);
        let found = inspection.read(|reads| reads.runs().find(company.into(), run))?;
        // One that is of no run somebody else made.
        if found.is_some_and(|run| !run.status.is_live()) && is_old(folder, now) {
            left.push(folder.clone());
        }
    }
    left.sort();
    Ok((!left.is_empty()).then(|| {
        let first = left.first().map(|it| it.display().to_string());
        Finding::warning(
            "run-folders",
            format!(
                "{} folders are of runs that are over, such as {}",
                left.len(),
                first.unwrap_or_default()
            ),
            "run with --fix, which removes them",
        )
        .fixed_by(Repair::Folders(left))
    }))
}

/// Whether nobody made anything there lately.
fn is_old(folder: &std::path::Path, now: Timestamp) -> bool {
    let changed = folder.metadata().and_then(|it| it.modified());
    let since_1970 = changed.map(|at| at.duration_since(std::time::UNIX_EPOCH));
    let Ok(Ok(at)) = since_1970 else {
        return false;
    };
    let limit = u64::try_from(now.minus(PATIENCE).micros()).unwrap_or_default();
    at < Duration::from_micros(limit)
}
