use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::attachment::{Asset, Attachment, AttachmentLimit, ObjectName, Provider};
use workforce_domain::id::{AssetId, CommentId, CompanyId};
use workforce_domain::issue::IssueRef;
use workforce_domain::port::{Failure, ObjectError, ObjectStore, Reads, Tx};
use workforce_domain::text::{FileName, MediaType};

use super::{AttachmentError, activity_details};
use crate::access::{self, Denied, FieldFault};
use crate::activity_log::log_activity;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// Bytes that were received and stored, of which no record tells yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// The id they are kept under.
    pub asset: AssetId,
    /// SHA-256 of them.
    pub sha256: [u8; 32],
    /// How many there are.
    pub byte_size: i64,
    /// What they look like.
    pub content_type: MediaType,
    /// Where they are kept.
    pub provider: Provider,
}

/// Attaches an upload to an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddAttachment {
    /// The bytes.
    pub upload: Upload,
    /// What its uploader called the file.
    pub original_filename: Option<FileName>,
    /// What its uploader said it is.
    pub declared_content_type: Option<MediaType>,
    /// The comment it belongs to.
    pub comment: Option<CommentId>,
}

/// What came of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The attachment.
    pub attachment: Attachment,
    /// False when the company had these bytes already, so that nothing refers
    /// to the ones that were received.
    pub is_new: bool,
}

/// What is known of an upload before any of it is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The company that the bytes will belong to.
    pub company: CompanyId,
    /// The company's own limit of an attachment, if it has one.
    pub limit: Option<AttachmentLimit>,
}

/// Finds out whether a caller may attach something to an issue, before any of
/// it is received.
pub fn admit(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    issue: &IssueRef,
) -> Result<Admission, Failure<AttachmentError>> {
    let company = access::company(reads, ctx, company)?;
    if reads
        .issues()
        .find(company.scope().into(), issue)?
        .is_none()
    {
        return Err(Denied::NotFound("issue").into());
    }
    ctx.require_working_company()?;
    Ok(Admission {
        company: company.id,
        limit: company.attachment_limit,
    })
}

/// What [`add`] refuses with.
pub const ADD: Codes = Codes::of(&[Code::ReferenceNotFound]);

/// Attaches an upload to an issue. Anyone of the company.
pub fn add(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyId,
    issue: &IssueRef,
    command: AddAttachment,
) -> Result<Added, Failure<AttachmentError>> {
    let company = access::company_scope(tx.reads(), ctx, company)?;
    let Some(issue) = tx.issues_mut().lock(company.into(), issue)? else {
        return Err(Denied::NotFound("issue").into());
    };
    ctx.require_working_company()?;
    if let Some(comment) = command.comment {
        let found = tx.comments().find_all(company, &[comment])?;
        if !found.iter().any(|comment| comment.issue == issue.id) {
            let fault = FieldFault::missing("/issueCommentId", "comment on this issue");
            return Err(fault.into());
        }
    }
    let received = Asset {
        id: command.upload.asset,
        company: issue.company,
        sha256: command.upload.sha256,
        byte_size: command.upload.byte_size,
        content_type: command.upload.content_type,
        provider: command.upload.provider,
        created_at: ctx.now,
    };
    let asset = tx.attachments_mut().keep_asset(&received)?;
    let attachment = Attachment {
        id: ctx.id(),
        issue: issue.id,
        comment: command.comment,
        asset,
        original_filename: command.original_filename,
        declared_content_type: command.declared_content_type,
        author: ctx.actor().author(),
        created_at: ctx.now,
    };
    tx.attachments_mut().insert(&attachment)?;
    let action = Action::IssueAttachmentAdded;
    log_activity(tx, ctx, action, &issue, activity_details(&attachment));
    Ok(Added {
        is_new: attachment.asset.id == received.id,
        attachment,
    })
}

/// Puts received bytes in the place of those of `asset`, which are the same, where these are gone
/// or cut short. Says whether it did: otherwise nothing refers to what was received.
///
/// # Errors
/// When the place of the bytes fails; what was received is still there then.
pub fn mend(
    objects: &dyn ObjectStore,
    asset: &Asset,
    received: ObjectName,
) -> Result<bool, ObjectError> {
    let length = objects.length(asset.object())?;
    if length.is_some_and(|length| i64::try_from(length) == Ok(asset.byte_size)) {
        return Ok(false);
    }
    objects.rename(received, asset.object())?;
    Ok(true)
}
