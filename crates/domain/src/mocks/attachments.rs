//! Mocks of `port/attachments.rs`.

use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, InstanceScope, Scope};
use crate::attachment::{Asset, Attachment, ObjectName};
use crate::id::{AttachmentId, IssueId};
use crate::page::{Page, PageRequest};
use crate::port::{AttachmentCursor, AttachmentReads, AttachmentWrites, Locked, StoreError};

mock! {
    pub Attachments {}

    impl AttachmentReads for Attachments {
        fn find(
            &mut self,
            scope: Scope,
            id: AttachmentId,
        ) -> Result<Option<Attachment>, StoreError>;
        fn list(
            &mut self,
            company: CompanyScope,
            issue: IssueId,
            page: &PageRequest<AttachmentCursor>,
        ) -> Result<Page<Attachment, AttachmentCursor>, StoreError>;
        fn assets_among(
            &mut self,
            scope: InstanceScope,
            objects: &[ObjectName],
        ) -> Result<Vec<ObjectName>, StoreError>;
    }

    impl AttachmentWrites for Attachments {
        fn keep_asset(&mut self, asset: &Asset) -> Result<Asset, StoreError>;
        fn insert(&mut self, attachment: &Attachment) -> Result<(), StoreError>;
        fn lock(
            &mut self,
            scope: Scope,
            id: AttachmentId,
        ) -> Result<Option<Locked<Attachment>>, StoreError>;
        fn delete(
            &mut self,
            attachment: Locked<Attachment>,
        ) -> Result<Option<ObjectName>, StoreError>;
        fn delete_unattached(
            &mut self,
            scope: InstanceScope,
            limit: usize,
        ) -> Result<Vec<ObjectName>, StoreError>;
    }
}
