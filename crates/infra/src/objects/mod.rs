//! Where the bytes of attachments are kept: a folder of the server, or a bucket with the
//! interface of Amazon S3 (docs/operations.md#attachments).
//!
//! The client of a bucket is asynchronous; it runs on a small runtime of its own, on which the
//! methods of the port wait. They are called from threads that may wait, never from a task.

mod location;
mod own_files;
mod place;
#[cfg(feature = "s3")]
mod s3;
mod writer;

use core::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore as Client, ObjectStoreExt};
use tokio::runtime::{Builder, Runtime};
use workforce_domain::attachment::{ObjectName, Provider};
use workforce_domain::port::{ObjectError, ObjectStore, ObjectWriter};
use workforce_domain::time::Timestamp;
use workforce_vitals::is_full;

pub use location::{Bucket, Credentials, Location, LocationError};
pub use place::{Difference, Place};
use writer::Writer;

/// Objects are listed so many at a time.
const LISTED: usize = 500;

/// Calls to the place that wait at once.
const THREADS: usize = 16;

/// Why the place of the bytes cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenObjectsError {
    /// The folder cannot be made or used.
    #[error("failed to use the folder {} for attachments", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What went wrong.
        #[source]
        source: std::io::Error,
    },
    /// Another installation keeps its attachments there, and each removes what it does not know.
    #[error(
        "{} holds the attachments of another installation ({owner}): name another folder with \
         --attachments-url",
        .folder.display()
    )]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// Whose it is.
        owner: String,
    },
    /// Somebody else's files are there.
    #[error(
        "{} holds {found} and no attachments of this database: name a new or empty folder with \
         --attachments-url",
        .folder.display()
    )]
    NotOurs {
        /// The folder.
        folder: PathBuf,
        /// A name in it.
        found: String,
    },
    /// A server with a copy of the database uses it.
    #[error(
        "another server keeps its attachments in {}: a copy of its data folder needs a copy of \
         that one as well; name it with --attachments-url",
        .folder.display()
    )]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The client of the place cannot be made.
    #[error("failed to reach the place of attachments")]
    Client(#[source] object_store::Error),
    /// No thread can be started.
    #[error("failed to start the runtime of the place of attachments")]
    Runtime(#[source] std::io::Error),
    /// This program cannot reach such a place.
    #[error("this program was built without the feature `s3`, which attachments in a bucket need")]
    WithoutS3,
}

/// Keeps bytes in one place, each object under `<prefix>/<company>/<asset>`.
pub struct Objects {
    client: Arc<dyn Client>,
    prefix: Path,
    provider: Provider,
    /// The folder without links, when the place is one.
    folder: Option<PathBuf>,
    /// An object is written in parts of this size.
    part: usize,
    /// There from the opening until this value is dropped.
    runtime: Option<Runtime>,
}

impl Objects {
    /// Opens a place; a folder is made when there is none.
    pub fn open(location: &Location) -> Result<Self, OpenObjectsError> {
        let mut objects = match location {
            Location::Folder(folder) => Self::in_folder(folder),
            Location::Bucket(bucket) => Self::in_bucket(bucket),
        }?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(THREADS)
            .thread_name("workforce-objects")
            .enable_all()
            .build()
            .map_err(OpenObjectsError::Runtime)?;
        objects.runtime = Some(runtime);
        Ok(objects)
    }

    fn in_folder(folder: &std::path::Path) -> Result<Self, OpenObjectsError> {
        use std::os::unix::fs::DirBuilderExt;

        /// Bytes go to the disk in pieces of this size.
        const PART: usize = 1024 * 1024;

        let failed = |source| OpenObjectsError::Folder {
            folder: folder.to_owned(),
            source,
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(failed)?;
        let folder = std::fs::canonicalize(folder).map_err(failed)?;
        let client = LocalFileSystem::new_with_prefix(&folder).map_err(OpenObjectsError::Client)?;
        Ok(Self {
            client: Arc::new(client.with_fsync(true)),
            prefix: Path::default(),
            provider: Provider::LocalDisk,
            folder: Some(folder),
            part: PART,
            runtime: None,
        })
    }

    #[cfg(not(feature = "s3"))]
    fn in_bucket(_bucket: &Bucket) -> Result<Self, OpenObjectsError> {
        Err(OpenObjectsError::WithoutS3)
    }

    #[cfg(feature = "s3")]
    fn in_bucket(bucket: &Bucket) -> Result<Self, OpenObjectsError> {
        Ok(Self {
            client: s3::client(bucket).map_err(OpenObjectsError::Client)?,
            prefix: Path::from(bucket.prefix.as_str()),
            provider: Provider::S3,
            folder: None,
            part: s3::PART,
            runtime: None,
        })
    }

    fn path(&self, name: ObjectName) -> Path {
        self.prefix
            .clone()
            .join(name.company.to_string())
            .join(name.asset.to_string())
    }

    /// The name of an object of ours; `None` for what others put there.
    fn name(&self, path: &Path) -> Option<ObjectName> {
        let mut parts = path.prefix_match(&self.prefix)?;
        let (company, asset) = (parts.next()?, parts.next()?);
        let name = ObjectName {
            company: company.as_ref().parse().ok()?,
            asset: asset.as_ref().parse().ok()?,
        };
        (parts.next().is_none() && self.path(name) == *path).then_some(name)
    }

    /// Whether an object lies where this made it, and not behind a link.
    fn is_own(&self, name: ObjectName) -> bool {
        let folder = self.folder.as_ref();
        folder.is_none_or(|folder| own_files::is_there(folder, name).unwrap_or(false))
    }

    /// The runtime, which is there until this value is dropped.
    fn wait<F: Future>(&self, future: F) -> Result<F::Output, ObjectError> {
        match &self.runtime {
            Some(runtime) => Ok(runtime.block_on(future)),
            None => Err(ObjectError::Failed("the place is closed".into())),
        }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Waiting for its threads is not allowed where a task drops the last owner.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl core::fmt::Debug for Objects {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Objects")
            .field("provider", &self.provider)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// A failure of the client as the port tells it.
fn failed(error: object_store::Error) -> ObjectError {
    if is_full(&error) {
        ObjectError::Full(Box::new(error))
    } else {
        ObjectError::Failed(Box::new(error))
    }
}

impl ObjectStore for Objects {
    fn provider(&self) -> Provider {
        self.provider
    }

    fn create(&self, name: ObjectName) -> Result<Box<dyn ObjectWriter>, ObjectError> {
        let runtime = self.runtime.as_ref().map(Runtime::handle);
        let runtime = runtime.ok_or_else(|| ObjectError::Failed("the place is closed".into()))?;
        Ok(Box::new(Writer::new(
            Arc::clone(&self.client),
            runtime.clone(),
            self.path(name),
            self.part,
        )))
    }

    fn read(&self, name: ObjectName, offset: u64, length: usize) -> Result<Vec<u8>, ObjectError> {
        let path = self.path(name);
        let range = offset..offset.saturating_add(length as u64);
        match self.wait(self.client.get_range(&path, range))? {
            Ok(bytes) => Ok(bytes.into()),
            Err(object_store::Error::NotFound { .. }) => Err(ObjectError::Missing(name)),
            // Each place has an error of its own for a range that begins after the end.
            Err(error) => match self.length(name)? {
                Some(length) if length <= offset => Ok(Vec::new()),
                _ => Err(failed(error)),
            },
        }
    }

    fn length(&self, name: ObjectName) -> Result<Option<u64>, ObjectError> {
        let path = self.path(name);
        match self.wait(self.client.head(&path))? {
            Ok(object) => Ok(Some(object.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    fn rename(&self, from: ObjectName, to: ObjectName) -> Result<(), ObjectError> {
        let (source, target) = (self.path(from), self.path(to));
        match self.wait(self.client.rename(&source, &target))? {
            Ok(()) => Ok(()),
            Err(object_store::Error::NotFound { .. }) => Err(ObjectError::Missing(from)),
            Err(error) => Err(failed(error)),
        }
    }

    fn delete(&self, name: ObjectName) -> Result<(), ObjectError> {
        if let Some(folder) = &self.folder {
            return own_files::remove(folder, name)
                .map_err(|error| ObjectError::Failed(Box::new(error)));
        }
        let path = self.path(name);
        match self.wait(self.client.delete(&path))? {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    fn each_before(
        &self,
        before: Timestamp,
        visit: &mut dyn FnMut(&[ObjectName]) -> ControlFlow<()>,
    ) -> Result<(), ObjectError> {
        let mut pages = self.client.list(Some(&self.prefix)).ready_chunks(LISTED);
        // Shown outside of the wait, so that what is done with them may wait as well.
        while let Some(page) = self.wait(pages.next())? {
            let mut found = Vec::with_capacity(page.len());
            for object in page {
                let object = object.map_err(failed)?;
                if object.last_modified.timestamp_micros() < before.micros() {
                    let name = self.name(&object.location);
                    found.extend(name.filter(|&name| self.is_own(name)));
                }
            }
            if !found.is_empty() && visit(&found).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn discard_unfinished(&self, before: Timestamp) -> Result<usize, ObjectError> {
        match &self.folder {
            Some(folder) => own_files::discard_unfinished(folder, before)
                .map_err(|error| ObjectError::Failed(Box::new(error))),
            // A bucket does it by itself, by a rule of its owner.
            None => Ok(0),
        }
    }
}
