use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::attachment::{Attachment, ObjectName};
use workforce_domain::id::AttachmentId;
use workforce_domain::issue::Issue;
use workforce_domain::port::{Failure, Tx};

use super::{AttachmentError, activity_details};
use crate::access::Denied;
use crate::activity_log::log_activity;
use crate::context::Context;

/// What became of a removed attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The bytes that nothing refers to any more, to be deleted after the
    /// commit.
    pub unshown: Option<ObjectName>,
}

/// Takes an attachment from its issue. Its uploader, the assignee of the issue
/// and the board (docs/endpoints.md#rules).
pub fn remove(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: AttachmentId,
) -> Result<Removed, Failure<AttachmentError>> {
    let missing = || Denied::NotFound("attachment");
    let scope = ctx.actor().scope();
    let found = tx.attachments().find(scope, id)?.ok_or_else(missing)?;
    // The issue first: locks are taken in one order.
    let company = found.scope().into();
    let issue = tx.issues_mut().lock(company, &found.issue.into())?;
    let issue = issue.ok_or_else(missing)?;
    let attachment = tx.attachments_mut().lock(company, id)?;
    let attachment = attachment.ok_or_else(missing)?;
    ctx.require_working_company()?;
    require_right(ctx, &issue, &attachment)?;
    let action = Action::IssueAttachmentRemoved;
    log_activity(tx, ctx, action, &issue, activity_details(&attachment));
    let unshown = tx.attachments_mut().delete(attachment)?;
    Ok(Removed { unshown })
}

fn require_right(
    ctx: &Context<'_>,
    issue: &Issue,
    attachment: &Attachment,
) -> Result<(), Failure<AttachmentError>> {
    let Some(agent) = ctx.actor().agent_id() else {
        return Ok(());
    };
    if attachment.author.agent() == Some(agent) || issue.assignee.agent() == Some(agent) {
        return Ok(());
    }
    Err(Denied::Forbidden(
        "only its uploader, the assignee of the issue and the board may remove an attachment",
    )
    .into())
}
