//! What is said of a store or a place of attachments that failed.

use workforce_app::Code;
use workforce_domain::port::{ObjectError, StoreError};

use super::Problem;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Contended => Self::new(
                Code::Contended,
                "too many requests change the same thing; try again",
            ),
            StoreError::Unavailable(_) => {
                let detail = "the store cannot be reached; try again";
                Self::new(Code::StoreUnavailable, detail).because(&error)
            }
            StoreError::Full(_) => Self::full("the disk of the database is full").because(&error),
            StoreError::OutcomeUnknown(_) => {
                let detail = "the store was lost while it committed, so that the change may have \
                              been made or not; look, or repeat the request with its \
                              Idempotency-Key";
                Self::new(Code::OutcomeUnknown, detail).because(&error)
            }
            StoreError::Constraint { .. } | StoreError::Corrupt(_) | StoreError::Failed(_) => {
                Self::internal(&error)
            }
        }
    }
}

impl From<ObjectError> for Problem {
    fn from(error: ObjectError) -> Self {
        match error {
            ObjectError::Missing(_) => {
                let detail = "the bytes of the attachment are not where this server keeps them";
                Self::new(Code::AttachmentMissing, detail).because(&error)
            }
            ObjectError::Full(_) => {
                Self::full("the disk of the attachments is full").because(&error)
            }
            ObjectError::Failed(_) => {
                let detail = "the place where attachments are kept does not answer; try again";
                Self::new(Code::StoreUnavailable, detail).because(&error)
            }
        }
    }
}
