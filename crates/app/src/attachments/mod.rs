//! Files attached to issues: add, look at, remove (docs/issues.md#attachments).
//!
//! The bytes themselves lie outside of the store. They are whole and durable
//! before the transaction that writes them down begins, and they are deleted
//! after the one that forgets them has committed; [`sweep`] takes away what a
//! crash leaves between the two.

mod add;
mod remove;
mod sweep;

use serde_json::{Value, json};
use workforce_domain::attachment::Attachment;
use workforce_domain::id::AttachmentId;
use workforce_domain::issue::IssueRef;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{AttachmentCursor, Failure, Reads};

pub use add::{ADD, AddAttachment, Added, Admission, Upload, add, admit, mend};
pub use remove::{Removed, remove};
pub use sweep::{GRACE, SweepError, Swept, sweep};

use crate::access::{Denied, FieldFault};
use crate::context::Context;
use crate::refusal::{Code, Refusal};

/// Why a call about attachments is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachmentError {
    /// The caller may not, or there is no such attachment.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A field's value breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldFault),
}

impl Refusal for AttachmentError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
        }
    }
}

/// One attachment. Anyone of the company.
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: AttachmentId,
) -> Result<Attachment, Failure<AttachmentError>> {
    reads
        .attachments()
        .find(ctx.actor().scope(), id)?
        .ok_or_else(|| Denied::NotFound("attachment").into())
}

/// Attachments of an issue, newest first. Anyone of the company.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
    page: &PageRequest<AttachmentCursor>,
) -> Result<Page<Attachment, AttachmentCursor>, Failure<AttachmentError>> {
    use workforce_domain::actor::CompanyOwned;

    let Some(issue) = reads.issues().find(ctx.actor().scope(), issue)? else {
        return Err(Denied::NotFound("issue").into());
    };
    Ok(reads.attachments().list(issue.scope(), issue.id, page)?)
}

/// An attachment as the activity of its issue tells it.
fn activity_details(attachment: &Attachment) -> Value {
    json!({
        "attachmentId": attachment.id,
        "originalFilename": attachment.original_filename,
        "contentType": attachment.asset.content_type,
        "byteSize": attachment.asset.byte_size,
    })
}
