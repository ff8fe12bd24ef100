use data_encoding::HEXLOWER;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_domain::attachment::{Attachment, Disposition, delivery};

/// A file attached to an issue.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Attachment)]
pub(super) struct AttachmentBody {
    #[serde(flatten)]
    attachment: Attachment,
    /// SHA-256 of its bytes, in hexadecimal digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    sha256: String,
    /// Whether a browser shows or saves it.
    disposition: Disposition,
    /// Where its content is.
    content_path: String,
}

impl From<Attachment> for AttachmentBody {
    fn from(attachment: Attachment) -> Self {
        Self {
            sha256: HEXLOWER.encode(&attachment.asset.sha256),
            disposition: delivery(&attachment.asset.content_type).disposition,
            content_path: format!("/api/attachments/{}/content", attachment.id),
            attachment,
        }
    }
}
