//! The data folder, the database and the master key, which belong together.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use workforce_domain::port::{Clock, ObjectStore, Store, Vault};
use workforce_infra::clock::SystemClock;
use workforce_infra::data_folder::{DataFolder, SNAPSHOTS};
use workforce_infra::objects::{Location, Objects, Place};
use workforce_infra::store::{
    self, AttachmentsNote, DatabaseUrl, Inspection, OpenOptions, is_empty, is_served,
};

use crate::config::ServeArgs;
use crate::master_key;
use crate::snapshots;

/// What a server works with, once it is known to be of one installation.
pub(super) struct Opened {
    /// The path of the data folder, without links.
    pub(super) data_dir: PathBuf,
    pub(super) store: Arc<dyn Store>,
    pub(super) objects: Arc<dyn ObjectStore>,
    /// Where those are.
    pub(super) location: Location,
    pub(super) vault: Arc<dyn Vault>,
}

/// Opens the database at `url` with the data folder and the place of attachments. In a new folder
/// all are made.
///
/// # Errors
/// When the folder is somebody else's or another database's, when its database or master key is
/// gone, when the attachments of the database are elsewhere, and when one of them cannot be read.
/// Nothing is made or removed then, but the marker of a new folder.
pub(super) fn open(
    args: &ServeArgs,
    url: &DatabaseUrl,
    options: OpenOptions,
) -> anyhow::Result<Opened> {
    let mut folder = DataFolder::claim(&args.data.data_dir)?;
    if is_empty(url).unwrap_or(false) {
        if args.new_database {
            set_aside(&mut folder, url)?;
        }
        if let Some(gone) = gone(&folder, url) {
            bail!(gone);
        }
    } else if let Some(installation) = Inspection::open(url)?.installation().unwrap_or(None) {
        // Before the tables of another database are brought up to date.
        folder.check(installation)?;
    }
    let location = args.attachments(folder.path());
    let place = Place::of(&location)?;
    let options = OpenOptions {
        attachments: Some(AttachmentsNote {
            place: place.note(),
            moves: args.attachments.attachments_moved,
        }),
        ..options
    };
    let store = store::open(url, &options)?;
    let mut inspection = Inspection::open(url)?;
    let installation = inspection.installation()?;
    let installation = installation.context("the database has no installation")?;
    folder.bind(installation)?;
    let noted = inspection.attachments_note()?.unwrap_or_default();
    if let Some(elsewhere) = elsewhere(&place, &noted, &location) {
        bail!(elsewhere);
    }
    let objects = Objects::open(&location).with_context(|| format!("attachments in {location}"))?;
    place.mark(&location, installation)?;
    let vault = master_key::open_vault(folder.path(), &*store)?;
    master_key::check(&*store, &*vault)?;
    Ok(Opened {
        data_dir: folder.path().to_owned(),
        store,
        objects: Arc::new(objects),
        location,
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

/// What to say where a server would look for attachments in another place than `noted`.
pub(crate) fn elsewhere(place: &Place, noted: &str, location: &Location) -> Option<String> {
    let noted = place.differs_from(noted)?;
    Some(format!(
        "the attachments of this database are in {noted}, and {location} is another place: name \
         the same with --attachments-url, which is a folder that all servers of the database \
         reach, or a bucket. If you moved the files to {location}, start once with \
         --attachments-moved"
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
