use alloc::vec::Vec;

use super::{Locked, StoreError};
use crate::actor::{CompanyScope, InstanceScope, Scope};
use crate::attachment::{Asset, Attachment, ObjectName};
use crate::id::{AttachmentId, IssueId};
use crate::page::{CreationKey, Page, PageRequest};

/// The place of an attachment in a list.
pub type AttachmentCursor = CreationKey<AttachmentId>;

/// Reads of attachments.
pub trait AttachmentReads {
    /// One attachment.
    fn find(&mut self, scope: Scope, id: AttachmentId) -> Result<Option<Attachment>, StoreError>;

    /// Attachments of an issue, newest first.
    fn list(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
        page: &PageRequest<AttachmentCursor>,
    ) -> Result<Page<Attachment, AttachmentCursor>, StoreError>;

    /// Those of `objects` that belong to an asset, in no particular order.
    fn assets_among(
        &mut self,
        scope: InstanceScope,
        objects: &[ObjectName],
    ) -> Result<Vec<ObjectName>, StoreError>;
}

/// Writes of attachments.
pub trait AttachmentWrites {
    /// The asset of the company with these bytes, locked against its end:
    /// `asset` itself when the company had none.
    fn keep_asset(&mut self, asset: &Asset) -> Result<Asset, StoreError>;

    /// Stores a new attachment of a kept asset.
    fn insert(&mut self, attachment: &Attachment) -> Result<(), StoreError>;

    /// Locks an attachment.
    fn lock(
        &mut self,
        scope: Scope,
        id: AttachmentId,
    ) -> Result<Option<Locked<Attachment>>, StoreError>;

    /// Deletes a locked attachment, and its asset when nothing else shows it.
    /// Then the name of the bytes is returned: they are to be deleted after
    /// the commit.
    fn delete(&mut self, attachment: Locked<Attachment>) -> Result<Option<ObjectName>, StoreError>;

    /// Deletes at most `limit` assets that no attachment shows any more,
    /// because their issue was deleted. Their bytes are to be deleted after
    /// the commit.
    fn delete_unattached(
        &mut self,
        scope: InstanceScope,
        limit: usize,
    ) -> Result<Vec<ObjectName>, StoreError>;
}
