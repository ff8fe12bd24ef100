use std::sync::Arc;

use actix_web::web::BytesMut;
use sha2::{Digest, Sha256};
use workforce_domain::attachment::ObjectName;
use workforce_domain::port::{ObjectError, ObjectWriter};
use workforce_domain::text::MediaType;
use workforce_vitals::StorageArea;

use super::sniff::Sniffer;
use crate::problem::Problem;
use crate::state::State;

/// Bytes are handed to the writer so many at a time.
const GATHERED: usize = 256 * 1024;

/// What was found out about bytes while they were stored.
pub(super) struct Stored {
    pub(super) sha256: [u8; 32],
    pub(super) byte_size: u64,
    pub(super) content_type: MediaType,
}

/// Takes the bytes of a file: each is counted, digested, looked at and written
/// once, on a thread that may wait, while the sender waits too. Dropped
/// unfinished it leaves nothing behind.
pub(super) struct Sink {
    state: Arc<State>,
    work: Work,
    gathered: BytesMut,
    byte_size: u64,
}

/// What travels to the thread and back.
struct Work {
    writer: Box<dyn ObjectWriter>,
    digest: Sha256,
    sniffer: Sniffer,
}

impl Work {
    fn take(&mut self, bytes: &[u8]) -> Result<(), ObjectError> {
        self.digest.update(bytes);
        self.sniffer.see(bytes);
        self.writer.write(bytes)
    }
}

impl Sink {
    /// Begins to store an object.
    pub(super) async fn open(state: &Arc<State>, name: ObjectName) -> Result<Self, Problem> {
        let objects = Arc::clone(&state.ports.objects);
        let created = state.transfers.run(move || objects.create(name)).await?;
        let writer = created.map_err(|error| problem_of(state, error))?;
        Ok(Self {
            state: Arc::clone(state),
            work: Work {
                writer,
                digest: Sha256::new(),
                sniffer: Sniffer::default(),
            },
            gathered: BytesMut::new(),
            byte_size: 0,
        })
    }

    /// How many bytes were taken.
    pub(super) const fn byte_size(&self) -> u64 {
        self.byte_size
    }

    /// Takes more bytes. Returns when they may be followed by others.
    pub(super) async fn take(mut self, bytes: &[u8]) -> Result<Self, Problem> {
        self.byte_size += bytes.len() as u64;
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= GATHERED {
            self.pass_on().await
        } else {
            Ok(self)
        }
    }

    async fn pass_on(self) -> Result<Self, Problem> {
        let Self {
            state,
            mut work,
            mut gathered,
            byte_size,
        } = self;
        let passed = state.transfers.run(move || {
            work.take(&gathered)?;
            gathered.clear();
            Ok::<_, ObjectError>((work, gathered))
        });
        let (work, gathered) = passed.await?.map_err(|error| problem_of(&state, error))?;
        Ok(Self {
            state,
            work,
            gathered,
            byte_size,
        })
    }

    /// Makes the object whole.
    pub(super) async fn finish(self) -> Result<Stored, Problem> {
        let Self {
            state,
            mut work,
            gathered,
            byte_size,
        } = self;
        let finished = state.transfers.run(move || {
            work.take(&gathered)?;
            work.writer.finish()?;
            Ok::<_, ObjectError>((work.digest, work.sniffer))
        });
        let (digest, sniffer) = finished.await?.map_err(|error| problem_of(&state, error))?;
        Ok(Stored {
            sha256: digest.finalize().into(),
            byte_size,
            content_type: sniffer.conclude(),
        })
    }
}

/// A failure of the place of bytes. One for lack of room keeps further uploads
/// away for a while.
fn problem_of(state: &State, error: ObjectError) -> Problem {
    if matches!(error, ObjectError::Full(_)) {
        state.vitals.disk_space.note_full(StorageArea::Attachments);
    }
    error.into()
}
