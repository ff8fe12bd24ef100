//! Whether the worktrees of tickets are where their records say, and nothing else is.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use workforce_domain::execution_workspace::ExecutionWorkspaceStatus;
use workforce_domain::port::StoreError;
use workforce_domain::string_enum::StringEnum;
use workforce_infra::store::Inspection;

use super::Site;
use super::finding::Finding;

const CHECK: &str = "worktrees";
/// So many folders are named.
const TOLD: usize = 5;
/// The copy of a repository that has no folder of its own lies among the tickets.
const MIRROR: &str = "mirror";

/// Compares the folders with the records. Nothing is repaired: there may be work in a
/// folder, and a branch behind a record.
pub(super) fn look(
    site: &Site<'_>,
    inspection: &mut Inspection,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    let root = site.worktrees();
    let lines = inspection.worktrees()?;
    let records: Vec<(Option<ExecutionWorkspaceStatus>, &str)> = lines
        .iter()
        .filter_map(|line| line.split_once(' '))
        .map(|(status, path)| (ExecutionWorkspaceStatus::parse(status), path))
        .collect();
    let before = findings.len();
    let is = |wanted| move |(status, _): &&(_, &str)| *status == Some(wanted);
    let ready = records.iter().filter(is(ExecutionWorkspaceStatus::Ready));
    let missing: Vec<PathBuf> = ready
        .map(|(_, path)| root.join(path))
        .filter(|path| !path.is_dir())
        .collect();
    if !missing.is_empty() {
        findings.push(Finding::warning(
            CHECK,
            format!(
                "{} worktrees have no folder: {}",
                missing.len(),
                named(&missing)
            ),
            "put the folders back; otherwise the next run makes each again from its branch, and \
             what was not committed is lost",
        ));
    }
    let used: HashSet<PathBuf> = records
        .iter()
        .filter(|record| !is(ExecutionWorkspaceStatus::Removed)(record))
        .map(|(_, path)| root.join(path))
        .collect();
    let unknown: Vec<PathBuf> = folders(&root)
        .into_iter()
        .filter(|folder| !used.contains(folder))
        .collect();
    if !unknown.is_empty() {
        findings.push(Finding::warning(
            CHECK,
            format!(
                "{} folders are of no worktree that is in use: {}",
                unknown.len(),
                named(&unknown)
            ),
            "see whether anybody needs their work; then delete them, and run `git worktree prune` \
             in their repositories",
        ));
    }
    if findings.len() == before {
        let told = format!("all {} folders are where their records say", used.len());
        findings.push(Finding::ok(CHECK, told));
    }
    Ok(())
}

/// What lies in the folders of tickets: `COMPANY/WORKSPACE/TICKET/*`.
fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    for level in 0..4 {
        let inner = found.iter().flat_map(|folder| inner(folder));
        found = inner
            .filter(|path| level != 0 || !is_hidden(path))
            .filter(|path| level != 2 || path.file_name() != Some(OsStr::new(MIRROR)))
            .collect();
    }
    found.sort();
    found
}

/// Where removed worktrees are taken apart.
fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| name.starts_with('.'))
}

/// The folders in a folder; links are none.
fn inner(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

fn named(paths: &[PathBuf]) -> String {
    let shown = paths.iter().take(TOLD);
    let shown: Vec<String> = shown.map(|path| path.display().to_string()).collect();
    shown.join(", ")
}
