use diesel::prelude::*;
use workforce_domain::attachment::{Asset, Attachment, Provider};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, AssetId, AttachmentId, CommentId, CompanyId, IssueId, UserId};

use super::row::{Row, admit, admit_some, author, author_board, length};
use crate::store::columns::{DigestColumn, IdColumn, InstantColumn, StringEnumColumn};
use crate::store::schema::{assets, issue_attachments};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = assets, treat_none_as_default_value = false)]
pub(super) struct AssetRow {
    id: IdColumn<AssetId>,
    company_id: IdColumn<CompanyId>,
    sha256: DigestColumn,
    byte_size: i64,
    content_type: String,
    provider: StringEnumColumn<Provider>,
    created_at: InstantColumn,
}

impl Row for AssetRow {
    type Record = Asset;

    fn weight(&self) -> usize {
        0
    }

    fn restore(self) -> Result<Asset, Corrupt> {
        Ok(Asset {
            id: self.id.0,
            company: self.company_id.0,
            sha256: self.sha256.0,
            byte_size: self.byte_size,
            content_type: admit("asset", self.content_type)?,
            provider: self.provider.0,
            created_at: self.created_at.0,
        })
    }
}

impl From<&Asset> for AssetRow {
    fn from(asset: &Asset) -> Self {
        Self {
            id: IdColumn(asset.id),
            company_id: IdColumn(asset.company),
            sha256: DigestColumn(asset.sha256),
            byte_size: asset.byte_size,
            content_type: asset.content_type.to_string(),
            provider: StringEnumColumn(asset.provider),
            created_at: InstantColumn(asset.created_at),
        }
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = issue_attachments, treat_none_as_default_value = false)]
pub(super) struct AttachmentRow {
    id: IdColumn<AttachmentId>,
    company_id: IdColumn<CompanyId>,
    issue_id: IdColumn<IssueId>,
    comment_id: Option<IdColumn<CommentId>>,
    asset_id: IdColumn<AssetId>,
    original_filename: Option<String>,
    declared_content_type: Option<String>,
    created_by_agent_id: Option<IdColumn<AgentId>>,
    created_by_user_id: Option<IdColumn<UserId>>,
    created_by_board: Option<String>,
    created_at: InstantColumn,
}

impl From<&Attachment> for AttachmentRow {
    fn from(attachment: &Attachment) -> Self {
        Self {
            id: IdColumn(attachment.id),
            company_id: IdColumn(attachment.asset.company),
            issue_id: IdColumn(attachment.issue),
            comment_id: attachment.comment.map(IdColumn),
            asset_id: IdColumn(attachment.asset.id),
            original_filename: attachment
                .original_filename
                .as_ref()
                .map(ToString::to_string),
            declared_content_type: attachment
                .declared_content_type
                .as_ref()
                .map(ToString::to_string),
            created_by_agent_id: attachment.author.agent().map(IdColumn),
            created_by_user_id: attachment.author.user().map(IdColumn),
            created_by_board: author_board(attachment.author),
            created_at: InstantColumn(attachment.created_at),
        }
    }
}

/// An attachment beside its asset, as lists and look-ups read them.
impl Row for (AttachmentRow, AssetRow) {
    type Record = Attachment;

    fn weight(&self) -> usize {
        length(self.0.original_filename.as_ref())
    }

    fn restore(self) -> Result<Attachment, Corrupt> {
        const KIND: &str = "attachment";
        let (row, asset) = self;
        Ok(Attachment {
            id: row.id.0,
            issue: row.issue_id.0,
            comment: row.comment_id.map(|id| id.0),
            asset: asset.restore()?,
            original_filename: admit_some(KIND, row.original_filename)?,
            declared_content_type: admit_some(KIND, row.declared_content_type)?,
            author: author(
                KIND,
                row.created_by_agent_id,
                row.created_by_user_id,
                row.created_by_board.as_deref(),
            )?,
            created_at: row.created_at.0,
        })
    }
}
