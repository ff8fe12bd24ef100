use data_encoding::HEXLOWER;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_domain::actor::ActorKind;
use workforce_domain::attachment::{Attachment, Disposition, Provider, delivery};
use workforce_domain::id::{AgentId, AssetId, AttachmentId, CommentId, CompanyId, IssueId, UserId};
use workforce_domain::text::{FileName, MediaType};
use workforce_domain::time::Timestamp;

/// A file attached to an issue.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Attachment)]
pub(super) struct AttachmentBody {
    /// Unique id.
    id: AttachmentId,
    /// Its company.
    company_id: CompanyId,
    /// The issue.
    issue_id: IssueId,
    /// The comment it belongs to.
    issue_comment_id: Option<CommentId>,
    /// Its bytes; equal within a company for equal bytes.
    asset_id: AssetId,
    /// Where they are kept.
    provider: Provider,
    /// What they look like.
    content_type: MediaType,
    /// What their uploader said they are.
    declared_content_type: Option<MediaType>,
    /// How many there are.
    #[schema(minimum = 1)]
    byte_size: i64,
    /// SHA-256 of them, in hexadecimal digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    sha256: String,
    /// The name its uploader gave it, without folders.
    original_filename: Option<FileName>,
    /// Whether a browser shows or saves it.
    disposition: Disposition,
    /// What kind of actor uploaded it.
    created_by_type: ActorKind,
    /// Who uploaded it: the agent's id, `system`, or of the board
    /// `local-board`, `start-token`, `token:ID` or a user's id.
    created_by_id: String,
    /// The agent that uploaded it.
    created_by_agent_id: Option<AgentId>,
    /// The person that uploaded it.
    created_by_user_id: Option<UserId>,
    /// Where its content is.
    content_path: String,
    /// When it was uploaded.
    created_at: Timestamp,
    /// The same instant: attachments do not change.
    updated_at: Timestamp,
}

impl From<Attachment> for AttachmentBody {
    fn from(attachment: Attachment) -> Self {
        let asset = attachment.asset;
        Self {
            id: attachment.id,
            company_id: asset.company,
            issue_id: attachment.issue,
            issue_comment_id: attachment.comment,
            asset_id: asset.id,
            provider: asset.provider,
            disposition: delivery(&asset.content_type).disposition,
            content_type: asset.content_type,
            declared_content_type: attachment.declared_content_type,
            byte_size: asset.byte_size,
            sha256: HEXLOWER.encode(&asset.sha256),
            original_filename: attachment.original_filename,
            created_by_type: attachment.author.kind(),
            created_by_id: attachment.author.name(),
            created_by_agent_id: attachment.author.agent(),
            created_by_user_id: attachment.author.user(),
            content_path: format!("/api/attachments/{}/content", attachment.id),
            created_at: attachment.created_at,
            updated_at: attachment.created_at,
        }
    }
}
