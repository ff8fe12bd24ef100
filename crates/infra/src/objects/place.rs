//! Where the attachments of an installation are, so that a server that would look elsewhere is
//! told (docs/operations.md#attachments).

use std::path::Path;

use workforce_domain::id::InstallationId;

use super::{Location, OpenObjectsError};
use crate::ids::new_installation;
use crate::private_file;

/// Says whose the attachments in a folder are: the installation, then the place.
const MARKER: &str = "workforce.attachments";
const MARKER_MAX: u64 = 4096;

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
                private_file::replace(&folder.join(MARKER), &lines).map_err(|source| {
                    OpenObjectsError::Folder {
                        folder: folder.clone(),
                        source,
                    }
                })
            }
        }
    }

    /// What a database keeps of it.
    #[must_use]
    pub fn note(&self) -> String {
        format!("{} {}", self.id, self.url)
    }

    /// The address of the place that a note is about, if it is another one.
    #[must_use]
    pub fn differs_from<'a>(&self, note: &'a str) -> Option<&'a str> {
        let (id, url) = note.split_once(' ').unwrap_or((note, note));
        (id != self.id).then_some(url)
    }
}

fn read_marker(folder: &Path) -> Result<Option<(String, String)>, OpenObjectsError> {
    let failed = |source| OpenObjectsError::Folder {
        folder: folder.to_owned(),
        source,
    };
    match private_file::read_public(&folder.join(MARKER), MARKER_MAX) {
        Ok(text) => {
            let mut lines = text.lines().map(str::to_owned);
            match (lines.next(), lines.next()) {
                (Some(owner), Some(id)) => Ok(Some((owner, id))),
                _ => Err(failed(std::io::Error::other(format!(
                    "{MARKER} is damaged"
                )))),
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}
