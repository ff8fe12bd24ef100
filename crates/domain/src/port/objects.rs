use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use crate::attachment::{ObjectName, Provider};
use crate::time::Timestamp;

/// Why bytes cannot be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// Nothing is kept under this name.
    #[error("nothing is kept as {0}")]
    Missing(ObjectName),
    /// The place has no room for more bytes.
    #[error("the object store is full")]
    Full(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// The place cannot be reached or does not do what it is asked.
    #[error("the object store failed")]
    Failed(#[source] Box<dyn core::error::Error + Send + Sync>),
}

/// Looks at some objects, and says whether it has seen enough.
pub type ObjectVisitor<'a> = dyn FnMut(&[ObjectName]) -> ControlFlow<()> + 'a;

/// Keeps the bytes of attachments.
///
/// Every method may wait for a disk or a network, so it is called on a thread
/// that may, and never within a transaction. Nothing of an object is seen
/// before it is whole and durable.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait ObjectStore: Send + Sync {
    /// The kind of place this is.
    fn provider(&self) -> Provider;

    /// Begins to write an object.
    fn create(&self, name: ObjectName) -> Result<Box<dyn ObjectWriter>, ObjectError>;

    /// At most `length` bytes from `offset` on: fewer only at the end.
    ///
    /// # Errors
    /// [`ObjectError::Missing`], and when the place fails.
    fn read(&self, name: ObjectName, offset: u64, length: usize) -> Result<Vec<u8>, ObjectError>;

    /// How many bytes an object has; `None` when it is not there.
    fn length(&self, name: ObjectName) -> Result<Option<u64>, ObjectError>;

    /// Gives an object another name, in the place of whatever has it.
    ///
    /// # Errors
    /// [`ObjectError::Missing`], and when the place fails.
    fn rename(&self, from: ObjectName, to: ObjectName) -> Result<(), ObjectError>;

    /// Deletes an object. One that is not there is deleted already.
    fn delete(&self, name: ObjectName) -> Result<(), ObjectError>;

    /// Shows `visit` every object that was written before an instant, some at
    /// a time, until it has seen enough. What workforce did not put there is
    /// left out.
    fn each_before<'a>(
        &self,
        before: Timestamp,
        visit: &'a mut ObjectVisitor<'a>,
    ) -> Result<(), ObjectError>;

    /// Removes what writers left behind that came to no end and wrote nothing
    /// since an instant. Says how many there were.
    fn discard_unfinished(&self, before: Timestamp) -> Result<usize, ObjectError>;
}

/// An object that is being written. One that is dropped unfinished leaves
/// nothing behind.
#[cfg_attr(feature = "mocks", mockall::automock)]
pub trait ObjectWriter: Send {
    /// Adds bytes at the end.
    ///
    /// # Errors
    /// When the place fails; then nothing more may be written.
    fn write(&mut self, bytes: &[u8]) -> Result<(), ObjectError>;

    /// Makes the object whole and durable, and lets it be seen.
    ///
    /// # Errors
    /// When the place fails; then there is no object.
    fn finish(self: Box<Self>) -> Result<(), ObjectError>;
}
