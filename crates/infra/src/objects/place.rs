//! Where the attachments of an installation are, so that a server that would look elsewhere is
//! told (docs/operations.md#attachments).

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;

use workforce_domain::id::InstallationId;

use super::{Location, OpenObjectsError};
use crate::data_folder::LOST_AND_FOUND;
use crate::ids::new_installation;
use crate::private_file;
use crate::store::AssetFile;

/// Says whose the attachments in a folder are: the installation, then the place.
const MARKER: &str = "workforce.attachments";
const MARKER_MAX: u64 = 4096;
const DAMAGED: &str = "its file workforce.attachments is damaged: put it back from a backup; or, if \
     the attachments of this database are in the folder, delete it and start once with \
     --attachments-moved";

/// What a database notes of where its attachments are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Tells the place from others: the id in the marker of a folder, wherever that is mounted, or
    /// the address of a bucket.
    id: String,
    /// How the server names it that noted it.
    url: String,
    /// Whose a folder with a marker is.
    owner: Option<String>,
}

impl Place {
    /// The place at `location`. A folder without a marker is like no other place.
    ///
    /// # Errors
    /// When the marker cannot be read.
    pub fn of(location: &Location) -> Result<Self, OpenObjectsError> {
        let url = location.to_string();
        let (owner, id) = match location {
            Location::Folder(folder) => match read_marker(folder)? {
                Some((owner, id)) => (Some(owner), id),
                None => (None, new_installation().to_string()),
            },
            Location::Bucket(bucket) => {
                let endpoint = bucket.endpoint.as_deref().unwrap_or_default();
                (None, format!("{url}@{endpoint}"))
            }
        };
        Ok(Self { id, url, owner })
    }

    /// Checks that a folder without a marker is empty, or that a file of `assets` is in it: what
    /// others put there would be swept away otherwise. They are asked for only where it matters.
    ///
    /// # Errors
    /// [`OpenObjectsError::NotOurs`], or when the folder cannot be read.
    pub fn check_free(
        &self,
        location: &Location,
        assets: impl FnOnce() -> Vec<AssetFile>,
    ) -> Result<(), OpenObjectsError> {
        let (Location::Folder(folder), None) = (location, &self.owner) else {
            return Ok(());
        };
        let names = match fs::read_dir(folder) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(in_folder(folder, source)),
        };
        let names = names.collect::<io::Result<Vec<_>>>();
        let names = names.map_err(|source| in_folder(folder, source))?;
        let found = names.iter().map(fs::DirEntry::file_name).find(|name| {
            // Another server of this database may be about to mark it.
            name != LOST_AND_FOUND && !private_file::is_unfinished(name, MARKER)
        });
        match found {
            Some(found) if !assets().iter().any(|asset| asset.is_in(folder)) => {
                Err(OpenObjectsError::NotOurs {
                    folder: folder.clone(),
                    found: found.to_string_lossy().into_owned(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Takes a folder for this process alone, until the file is dropped: a copy of its database
    /// would remove what it does not know. `None` for a bucket.
    ///
    /// # Errors
    /// [`OpenObjectsError::InUse`], or when the marker cannot be opened.
    pub fn lock(location: &Location) -> Result<Option<File>, OpenObjectsError> {
        let Location::Folder(folder) = location else {
            return Ok(None);
        };
        let marker = File::open(folder.join(MARKER));
        let marker = marker.map_err(|source| in_folder(folder, source))?;
        match marker.try_lock() {
            Ok(()) => Ok(Some(marker)),
            Err(TryLockError::WouldBlock) => Err(OpenObjectsError::InUse {
                folder: folder.clone(),
            }),
            Err(TryLockError::Error(source)) => Err(in_folder(folder, source)),
        }
    }

    /// Checks that a folder is of no other installation than `own`, and says in one without a
    /// marker whose it is.
    ///
    /// # Errors
    /// [`OpenObjectsError::Foreign`], or when the marker cannot be written.
    pub fn mark(&self, location: &Location, own: InstallationId) -> Result<(), OpenObjectsError> {
        let Location::Folder(folder) = location else {
            return Ok(());
        };
        match &self.owner {
            Some(owner) if *owner == own.to_string() => Ok(()),
            Some(owner) => Err(OpenObjectsError::Foreign {
                folder: folder.clone(),
                owner: owner.clone(),
            }),
            None => {
                let lines = format!("{own}\n{}", self.id);
                private_file::replace(&folder.join(MARKER), &lines)
                    .map_err(|source| in_folder(folder, source))
            }
        }
    }

    /// What a database keeps of it.
    #[must_use]
    pub fn note(&self) -> String {
        format!("{} {}", self.id, self.url)
    }

    /// How it differs from the place that a note is about, if it does.
    #[must_use]
    pub fn differs_from<'a>(&self, note: &'a str) -> Option<Difference<'a>> {
        let (id, url) = note.split_once(' ').unwrap_or((note, note));
        (id != self.id).then_some(match url == self.url {
            true => Difference::Marker,
            false => Difference::Address(url),
        })
    }
}

/// How a place differs from the one that a database has noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference<'a> {
    /// The other has this address.
    Address(&'a str),
    /// It has the same address and another marker, or none.
    Marker,
}

fn in_folder(folder: &Path, source: io::Error) -> OpenObjectsError {
    OpenObjectsError::Folder {
        folder: folder.to_owned(),
        source,
    }
}

fn read_marker(folder: &Path) -> Result<Option<(String, String)>, OpenObjectsError> {
    match private_file::read_public(&folder.join(MARKER), MARKER_MAX) {
        Ok(text) => {
            let mut lines = text.lines().map(str::to_owned);
            match (lines.next(), lines.next()) {
                (Some(owner), Some(id)) => Ok(Some((owner, id))),
                _ => Err(in_folder(folder, io::Error::other(DAMAGED))),
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(in_folder(folder, io::Error::other(DAMAGED)))
        }
        Err(error) => Err(in_folder(folder, error)),
    }
}
