//! Whether what lies in the data folder is whole, and nobody else's to read.

use std::collections::HashSet;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use nix::sys::statvfs::statvfs;
use workforce_app::secrets::master_key::is_of;
use workforce_domain::port::{Clock, StoreError};
use workforce_infra::clock::SystemClock;
use workforce_infra::data_folder::{HOMES, MASTER_KEY, SNAPSHOTS};
use workforce_infra::objects::{Location, Place};
use workforce_infra::start_token::{FILE_NAME, StartToken};
use workforce_infra::store::{AssetFile, Inspection};

use super::Site;
use super::finding::{Finding, Repair};
use crate::service::opening::elsewhere;
use crate::{master_key, snapshots};

/// The permissions of others than the owner.
const OTHERS: u32 = 0o077;
/// What nobody else may do with the data folder. Runs of another user have to pass through it.
const OTHERS_IN_FOLDER: u32 = 0o066;
/// The permission of others to write.
const WRITING: u32 = 0o022;
/// Snapshots are made every day.
const SNAPSHOT_AGE: Duration = Duration::from_secs(48 * 60 * 60);
/// So many missing files are named.
const TOLD: usize = 5;

/// Looks at the files themselves.
pub(super) fn look(site: &Site<'_>, findings: &mut Vec<Finding>) {
    let before = findings.len();
    findings.extend(exposed(&site.data_dir, OTHERS_IN_FOLDER));
    let mut private = vec![
        site.data_dir.join(MASTER_KEY),
        site.data_dir.join(FILE_NAME),
    ];
    if let Some(database) = site.database.sqlite_path() {
        private.extend(["", "-wal", "-shm"].map(|suffix| {
            let mut file = database.as_os_str().to_owned();
            file.push(suffix);
            file.into()
        }));
    }
    findings.extend(private.iter().filter_map(|file| exposed(file, OTHERS)));
    if findings.len() == before {
        findings.push(Finding::ok(
            "permissions",
            "others read nothing that is private",
        ));
    }
    if let Err(error) = StartToken::kept(&site.data_dir) {
        findings.push(Finding::problem(
            "board-token",
            super::database::causes(&error),
            "make it readable for the server's user alone, or delete it",
        ));
    }
    findings.extend(agents_user(site));
    findings.extend(snapshots(site));
    findings.push(room("data", &site.data_dir, site.args.min_free_bytes));
    if let Location::Folder(folder) = &site.attachments
        && folder.exists()
    {
        findings.push(room("attachments", folder, site.args.min_free_bytes));
    }
}

/// Compares the files with what the database says.
pub(super) fn look_with_database(
    site: &Site<'_>,
    inspection: &mut Inspection,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    findings.push(key(site, inspection)?);
    if let Some(noted) = inspection.attachments_note()?
        && let Ok(place) = Place::of(&site.attachments)
        && let Some(told) = elsewhere(&place, &noted, &site.attachments)
    {
        findings.push(Finding::problem(
            "attachments",
            told,
            "name the same place here as for the server",
        ));
    }
    if let Location::Folder(folder) = &site.attachments {
        findings.push(attachments(folder, &inspection.assets()?));
    }
    findings.extend(homes(site, &inspection.agents()?));
    Ok(())
}

/// A file or folder whose permissions others have a part in that is forbidden.
fn exposed(path: &Path, forbidden: u32) -> Option<Finding> {
    let mode = path.metadata().ok()?.permissions().mode() & 0o7777;
    if mode & forbidden == 0 {
        return None;
    }
    let right = mode & !forbidden;
    let message = format!("{} has mode {mode:04o}: others can use it", path.display());
    let fix = if path.is_symlink() {
        ""
    } else {
        "run with --fix, or "
    };
    let advice = format!("{fix}chmod {right:04o}; what is in it may be known");
    // A folder whose names alone can be read holds nothing that can.
    let is_harmless = path.is_dir() && mode & WRITING == 0;
    let finding = match is_harmless {
        true => Finding::warning("permissions", message, advice),
        false => Finding::problem("permissions", message, advice),
    };
    // What a link leads to is somebody else's to change.
    Some(match path.is_symlink() {
        true => finding,
        false => finding.fixed_by(Repair::Mode(path.to_owned(), right)),
    })
}

/// Whose rights agents have. The data folder is the server's user's.
fn agents_user(site: &Site<'_>) -> Option<Finding> {
    let is_roots = site.data_dir.metadata().ok()?.uid() == 0;
    let named = site.args.run_as.as_deref();
    Some(match named {
        None if is_roots => Finding::warning(
            "agents-user",
            "the data folder is root's: agents that its server starts run as root",
            "start the server with --run-as USER, or as another user; see \
             docs/operations.md#agents-as-root",
        ),
        None => Finding::ok("agents-user", "agents do not run as root"),
        Some(user) => Finding::ok("agents-user", format!("agents run as {user}")),
    })
}

/// Whether the snapshots of a SQLite database go on.
fn snapshots(site: &Site<'_>) -> Option<Finding> {
    let folder = site.data_dir.join(SNAPSHOTS);
    let latest = snapshots::latest(&folder);
    if let Some(failure) = snapshots::failure(&folder) {
        return Some(Finding::warning(
            "snapshots",
            format!("the latest attempt failed: {}", failure.trim()),
            "make room, or copy the database yourself",
        ));
    }
    let latest = latest?;
    let told = format!("the latest is of {latest}");
    if SystemClock.now().since(latest) > SNAPSHOT_AGE {
        return Some(Finding::warning(
            "snapshots",
            told,
            "start the server, or delete those that you do not need",
        ));
    }
    Some(Finding::ok("snapshots", told))
}

fn room(place: &str, folder: &Path, min: u64) -> Finding {
    match statvfs(folder) {
        Ok(disk) => {
            let free = disk.blocks_available() * disk.fragment_size();
            let told = format!("{free} bytes are free for {place}");
            if free < min {
                Finding::problem(
                    "disk",
                    format!("{told}, and {min} should be"),
                    "make room: no run starts and no upload is taken",
                )
            } else {
                Finding::ok("disk", told)
            }
        }
        Err(error) => Finding::warning(
            "disk",
            format!("the room in {} is not known: {error}", folder.display()),
            "look yourself",
        ),
    }
}

/// Whether the master key is there and opens what is sealed.
fn key(site: &Site<'_>, inspection: &mut Inspection) -> Result<Finding, StoreError> {
    let file = site.data_dir.join(MASTER_KEY);
    let advice = "without it no secret can be read: put back the copy that you kept";
    let vault = match master_key::existing_vault(&file) {
        Ok(Some(vault)) => vault,
        Ok(None) => {
            let sealed = inspection.read(|reads| reads.sealed().canary())?;
            return Ok(match sealed {
                Some(_) => Finding::problem(
                    "master-key",
                    format!("there is none, neither in {} nor given", file.display()),
                    advice,
                ),
                None => Finding::ok("master-key", "nothing was ever sealed"),
            });
        }
        Err(error) => {
            return Ok(Finding::problem("master-key", format!("{error:#}"), advice));
        }
    };
    let opens = inspection.read(|reads| is_of(reads, &vault))?;
    Ok(match opens {
        Some(false) => Finding::problem(
            "master-key",
            format!(
                "key {} does not open what the database holds",
                master_key::ids(&vault).join(", ")
            ),
            advice,
        ),
        Some(true) | None => {
            let id = master_key::ids(&vault).join(", ");
            Finding::ok("master-key", format!("key {id} opens what is sealed"))
        }
    })
}

fn attachments(folder: &Path, assets: &[AssetFile]) -> Finding {
    let missing: Vec<_> = assets.iter().filter(|it| !it.is_in(folder)).collect();
    if missing.is_empty() {
        let count = assets.len();
        return Finding::ok("attachments", format!("all {count} files are there"));
    }
    let named: Vec<_> = missing
        .iter()
        .map(|it| it.name.as_str())
        .take(TOLD)
        .collect();
    Finding::problem(
        "attachments",
        format!(
            "{} files are not in {}, or not as long as they were: {}",
            missing.len(),
            folder.display(),
            named.join(", ")
        ),
        "put them back from a backup, attach the same files once more, or delete their attachments",
    )
}

/// Homes of agents that are not there any more.
fn homes(site: &Site<'_>, agents: &[String]) -> Option<Finding> {
    let agents: HashSet<&str> = agents.iter().map(String::as_str).collect();
    let entries = std::fs::read_dir(site.data_dir.join(HOMES)).ok()?;
    let names = entries.flatten().map(|it| it.file_name());
    let left: Vec<String> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| !agents.contains(name.as_str()))
        .collect();
    (!left.is_empty()).then(|| {
        Finding::warning(
            "homes",
            format!(
                "{} folders are of no agent: {}",
                left.len(),
                left.join(", ")
            ),
            format!(
                "see whether anybody needs their work, and delete them in {}",
                site.data_dir.join(HOMES).display()
            ),
        )
    })
}
