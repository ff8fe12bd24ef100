//! The data folder, the database and the master key, which belong together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use workforce_domain::port::{Clock, Store, Vault};
use workforce_infra::clock::SystemClock;
use workforce_infra::data_folder::{DataFolder, SNAPSHOTS};
use workforce_infra::store::{self, DatabaseUrl, Inspection, OpenOptions, is_empty, is_served};

use crate::master_key;
use crate::snapshots;

/// What a server works with, once it is known to be of one installation.
pub(super) struct Opened {
    /// The path of the data folder, without links.
    pub(super) data_dir: PathBuf,
    pub(super) store: Arc<dyn Store>,
    pub(super) vault: Arc<dyn Vault>,
}

/// Opens the database at `url` with the data folder at `path`. In a new folder both are made.
///
/// # Errors
/// When the folder is somebody else's or another database's, when its database or master key is
/// gone, and when one of them cannot be read. Nothing is made or removed then, but the marker of a
/// new folder.
pub(super) fn open(
    path: &Path,
    url: &DatabaseUrl,
    options: &OpenOptions,
    is_new_wanted: bool,
) -> anyhow::Result<Opened> {
    let mut folder = DataFolder::claim(path)?;
    if is_empty(url).unwrap_or(false) {
        if is_new_wanted {
            set_aside(&mut folder, url)?;
        }
        if let Some(gone) = gone(&folder, url) {
            bail!(gone);
        }
    } else if let Some(installation) = Inspection::open(url)?.installation().unwrap_or(None) {
        // Before the tables of another database are brought up to date.
        folder.check(installation)?;
    }
    let store = store::open(url, options)?;
    let installation = Inspection::open(url)?.installation()?;
    folder.bind(installation.context("the database has no installation")?)?;
    let vault = master_key::open_vault(folder.path(), &*store)?;
    master_key::check(&*store, &*vault)?;
    Ok(Opened {
        data_dir: folder.path().to_owned(),
        store,
        vault,
    })
}

/// What to say of an empty database whose data folder was used with one before; `None` where it
/// was not.
pub(crate) fn gone(folder: &DataFolder, url: &DatabaseUrl) -> Option<String> {
    let traces = folder.traces();
    if traces.is_empty() {
        return None;
    }
    let path = folder.path();
    let snapshot = snapshots::newest(&path.join(SNAPSHOTS));
    let source = snapshot.map_or_else(
        || "BACKUP".to_owned(),
        |newest| newest.display().to_string(),
    );
    Some(format!(
        "the database {url} is gone or empty, and the data folder {} was used with one before (it \
         has {}). Put the database back; or fill a new folder with `workforce restore {source} \
         --data-dir NEW_FOLDER`; or start once with --new-database, which moves what is there into \
         a folder of its own and begins anew. Nothing was changed",
        path.display(),
        traces.join(", "),
    ))
}

fn set_aside(folder: &mut DataFolder, url: &DatabaseUrl) -> anyhow::Result<()> {
    ensure!(
        !is_served(folder.path(), url)?,
        "another server uses the data folder {}",
        folder.path().display()
    );
    let name = format!("former-{}", snapshots::digits(SystemClock.now()));
    if let Some(aside) = folder.set_aside(&name)? {
        tracing::warn!(
            "began a new database; what belonged to the one before is in {}",
            aside.display()
        );
    }
    Ok(())
}
