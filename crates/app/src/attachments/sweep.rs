use core::convert::Infallible;
use core::ops::ControlFlow;
use core::time::Duration;
use std::collections::HashSet;

use workforce_domain::actor::InstanceScope;
use workforce_domain::attachment::ObjectName;
use workforce_domain::port::{Failure, ObjectError, ObjectStore, Store, StoreError};
use workforce_domain::time::Timestamp;

/// What is younger than this may belong to an upload that is not written down
/// yet.
pub const GRACE: Duration = Duration::from_secs(60 * 60);

/// Assets without an attachment are deleted so many at a time.
const DELETED_AT_ONCE: usize = 100;

/// Why a sweep came to no end.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The store failed.
    #[error("the store failed")]
    Store(#[source] StoreError),
    /// The place of the bytes failed.
    #[error(transparent)]
    Objects(#[from] ObjectError),
}

impl From<Failure<Infallible>> for SweepError {
    fn from(failure: Failure<Infallible>) -> Self {
        match failure {
            Failure::Store(error) => Self::Store(error),
            Failure::Refused(never) => match never {},
        }
    }
}

/// What a sweep took away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Assets that no attachment showed, with their bytes.
    pub assets: usize,
    /// Objects that no asset told of.
    pub orphans: usize,
    /// Uploads that came to no end.
    pub unfinished: usize,
}

/// Takes away bytes that nothing refers to: those of deleted issues and
/// companies, and those that a crash left between being stored and being
/// written down. Several servers may sweep one place at once: a name that has
/// no row an hour after it was stored will never have one.
///
/// # Errors
/// [`SweepError`]; what was taken away until then stays away.
pub fn sweep(
    store: &dyn Store,
    objects: &dyn ObjectStore,
    now: Timestamp,
) -> Result<Swept, SweepError> {
    let mut swept = Swept::default();
    loop {
        let forgotten = store.write(|tx| {
            Ok::<_, Failure<Infallible>>(
                tx.attachments_mut()
                    .delete_unattached(InstanceScope::SYSTEM, DELETED_AT_ONCE)?,
            )
        })?;
        for object in &forgotten {
            objects.delete(*object)?;
        }
        swept.assets += forgotten.len();
        if forgotten.len() < DELETED_AT_ONCE {
            break;
        }
    }
    let before = now.minus(GRACE);
    let mut failure = None;
    objects.each_before(
        before,
        &mut |found| match delete_orphans(store, objects, found) {
            Ok(deleted) => {
                swept.orphans += deleted;
                ControlFlow::Continue(())
            }
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        },
    )?;
    if let Some(error) = failure {
        return Err(error);
    }
    swept.unfinished = objects.discard_unfinished(before)?;
    Ok(swept)
}

fn delete_orphans(
    store: &dyn Store,
    objects: &dyn ObjectStore,
    found: &[ObjectName],
) -> Result<usize, SweepError> {
    let known = store.read(|reads| {
        Ok::<_, Failure<Infallible>>(
            reads
                .attachments()
                .assets_among(InstanceScope::SYSTEM, found)?,
        )
    })?;
    let known: HashSet<ObjectName> = known.into_iter().collect();
    let orphans = found.iter().filter(|object| !known.contains(object));
    let mut deleted = 0;
    for object in orphans {
        objects.delete(*object)?;
        deleted += 1;
    }
    Ok(deleted)
}
