//! The data folder, the database and the master key, which belong together.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use workforce_domain::port::{Clock, ObjectStore, Store, Vault};
use workforce_infra::clock::SystemClock;
use workforce_infra::data_folder::{ATTACHMENTS, DataFolder, SNAPSHOTS};
use workforce_infra::objects::{Difference, Location, Objects, Place};
use workforce_infra::store::{
    self, AttachmentsNote, DatabaseUrl, Inspection, OpenError, OpenOptions, foreign_table,
    is_empty, is_served,
};

use crate::config::ServeArgs;
use crate::master_key;
use crate::snapshots;

/// For how long a server that starts waits until another one has marked their folder.
const MARKED_WITHIN: Duration = Duration::from_secs(1);

/// What a server works with, once it is known to be of one installation.
pub(super) struct Opened {
    /// The path of the data folder, without links.
    pub(super) data_dir: PathBuf,
    pub(super) store: Arc<dyn Store>,
    pub(super) objects: Arc<dyn ObjectStore>,
    /// Where those are.
    pub(super) location: Location,
    /// Keeps servers on copies of the database away from them, for as long as the service runs.
    pub(super) attachments_lock: Option<File>,
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
    let location = args.attachments(folder.path());
    if is_empty(url).unwrap_or(false) {
        if let Some(table) = foreign_table(url)? {
            bail!(
                "the database {url} has the table {table} of another program: name a database \
                 that is workforce's own"
            );
        }
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
    let place = Place::of(&location)?;
    // Whatever lies in the data folder is of this database.
    if location != Location::Folder(folder.path().join(ATTACHMENTS)) {
        // A new database has none.
        let assets = || Inspection::open(url).and_then(|mut it| it.assets());
        place.check_free(&location, || assets().unwrap_or_default())?;
    }
    let options = OpenOptions {
        attachments: Some(AttachmentsNote {
            place: place.note(),
            moves: args.attachments.attachments_moved,
        }),
        ..options
    };
    let store = store::open(url, &options).map_err(|error| unopened(error, url, &folder))?;
    let mut inspection = Inspection::open(url)?;
    let installation = inspection.installation()?;
    let installation = installation.context("the database has no installation")?;
    folder.bind(installation)?;
    let noted = inspection.attachments_note()?.unwrap_or_default();
    let place = settled(place, &noted, &location)?;
    if let Some(elsewhere) = elsewhere(&place, &noted, &location) {
        bail!(elsewhere);
    }
    let objects = Objects::open(&location).with_context(|| format!("attachments in {location}"))?;
    place.mark(&location, installation)?;
    let attachments_lock = match url.sqlite_path() {
        Some(_) => Place::lock(&location)?,
        None => None,
    };
    let vault = master_key::open_vault(folder.path(), &*store)?;
    master_key::check(&*store, &*vault)?;
    Ok(Opened {
        data_dir: folder.path().to_owned(),
        store,
        objects: Arc::new(objects),
        location,
        attachments_lock,
        vault,
    })
}

/// The place once it has its marker: another server that was started at the same time may have
/// noted it, and be about to mark it.
fn settled(mut place: Place, noted: &str, location: &Location) -> anyhow::Result<Place> {
    let begun = Instant::now();
    while place.differs_from(noted) == Some(Difference::Marker) && begun.elapsed() < MARKED_WITHIN {
        thread::sleep(MARKED_WITHIN / 10);
        place = Place::of(location)?;
    }
    Ok(place)
}

/// What to say of a database that cannot be opened.
fn unopened(error: OpenError, url: &DatabaseUrl, folder: &DataFolder) -> anyhow::Error {
    let is_unreadable = matches!(error, OpenError::Connect(_) | OpenError::Migrate(_));
    let error = anyhow::Error::from(error);
    if url.sqlite_path().is_none() || !is_unreadable {
        return error;
    }
    error.context(format!(
        "the database {url} cannot be used: `workforce doctor` says more. If it is damaged, fill \
         a new folder with `workforce restore {} --data-dir NEW_FOLDER`",
        restorable(folder)
    ))
}

/// What the database of a folder can be restored from, as far as is known.
fn restorable(folder: &DataFolder) -> String {
    let snapshot = snapshots::newest(&folder.path().join(SNAPSHOTS));
    snapshot.map_or_else(
        || "BACKUP".to_owned(),
        |newest| newest.display().to_string(),
    )
}

/// What to say of an empty database whose data folder was used with one before; `None` where it
/// was not.
pub(crate) fn gone(folder: &DataFolder, url: &DatabaseUrl) -> Option<String> {
    let traces = folder.traces();
    if traces.is_empty() {
        return None;
    }
    let path = folder.path();
    let source = restorable(folder);
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
    Some(match place.differs_from(noted)? {
        Difference::Address(noted) => format!(
            "the attachments of this database are in {noted}, and {location} is another place: \
             name the same with --attachments-url, which is a folder that all servers of the \
             database reach, or a bucket. If you moved the files to {location}, start once with \
             --attachments-moved"
        ),
        Difference::Marker => format!(
            "{location} is not the folder in which this database keeps attachments: its file \
             workforce.attachments is gone, or another one. Is its disk mounted? If the files are \
             there, start once with --attachments-moved"
        ),
    })
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
