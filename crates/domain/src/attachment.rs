//! Files attached to issues: what is known of them, under which name they are
//! kept, and how they may be shown.

use serde::Serialize;

use alloc::string::String;

use crate::actor::company_owned;
use crate::fields;
use crate::id::{AssetId, AttachmentId, CommentId, CompanyId, IssueId};
use crate::issue::Author;
use crate::number::Count;
use crate::string_enum;
use crate::text::{FileName, MediaType};
use crate::time::Timestamp;

string_enum! {
    /// The kinds of place where contents are kept.
    pub enum Provider {
        /// A folder of the server.
        LocalDisk = "local_disk",
        /// A bucket with the interface of Amazon S3.
        S3 = "s3",
    }
}

string_enum! {
    /// What a browser is told to do with a content.
    pub enum Disposition {
        /// Show it.
        Inline = "inline",
        /// Save it.
        Attachment = "attachment",
    }
}

/// The most bytes that an attachment may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AttachmentLimit(i64);

impl AttachmentLimit {
    /// 25 MiB, where nobody says otherwise.
    pub const DEFAULT: Self = Self(25 * 1024 * 1024);
    /// No limit is higher: 5 GiB.
    pub const MAX: Self = Self(5 * 1024 * 1024 * 1024);

    /// A limit of so many bytes; `None` below 1 or above [`Self::MAX`].
    pub fn from_bytes(bytes: i64) -> Option<Self> {
        (1..=Self::MAX.0).contains(&bytes).then_some(Self(bytes))
    }

    /// How many bytes.
    pub const fn bytes(self) -> i64 {
        self.0
    }
}

impl Serialize for AttachmentLimit {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de> serde::Deserialize<'de> for AttachmentLimit {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Count(bytes) = Count::deserialize(deserializer)?;
        Self::from_bytes(bytes).ok_or_else(|| {
            let max = Self::MAX.0;
            serde::de::Error::custom(format_args!("must be between 1 and {max}"))
        })
    }
}

/// Some bytes that a company keeps. Within a company equal bytes are one
/// asset, however many attachments show them; two companies never share one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Asset {
    /// Its bytes, which are kept under it; equal within a company for equal bytes.
    #[serde(rename = "assetId")]
    pub id: AssetId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// SHA-256 of the bytes.
    #[serde(skip)]
    pub sha256: [u8; 32],
    /// How many bytes there are; never none.
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub byte_size: i64,
    /// What the bytes themselves look like, whatever was said about them.
    pub content_type: MediaType,
    /// Where they are kept.
    pub provider: Provider,
    /// When they were first stored.
    #[serde(skip)]
    pub created_at: Timestamp,
}

impl Asset {
    /// The name its bytes are kept under.
    pub const fn object(&self) -> ObjectName {
        ObjectName {
            company: self.company,
            asset: self.id,
        }
    }
}

/// The name under which bytes are kept. It is made of ids alone, so that
/// nothing a caller writes becomes part of a path, and it is never used twice:
/// what was deleted cannot be asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectName {
    /// The company.
    pub company: CompanyId,
    /// The asset.
    pub asset: AssetId,
}

impl core::fmt::Display for ObjectName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}", self.company, self.asset)
    }
}

/// A file attached to an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = AttachmentRecord))]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// Unique id.
    pub id: AttachmentId,
    /// The issue.
    #[serde(rename = "issueId")]
    pub issue: IssueId,
    /// The comment it belongs to.
    #[serde(rename = "issueCommentId")]
    pub comment: Option<CommentId>,
    /// Its bytes.
    #[serde(flatten)]
    pub asset: Asset,
    /// What its uploader called it, made harmless.
    pub original_filename: Option<FileName>,
    /// What its uploader said it is; a hint that nothing relies on.
    pub declared_content_type: Option<MediaType>,
    /// Who uploaded it.
    #[serde(flatten, serialize_with = "fields::show::<_, fields::CreatedBy, _>")]
    #[cfg_attr(feature = "openapi", schema(value_type = fields::CreatedBy))]
    pub author: Author,
    /// When.
    #[serde(flatten, serialize_with = "fields::show::<_, fields::CreatedOnce, _>")]
    #[cfg_attr(feature = "openapi", schema(value_type = fields::CreatedOnce))]
    pub created_at: Timestamp,
}

company_owned!(Attachment, asset.company);

/// How bytes are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The type they are served with.
    pub content_type: &'a str,
    /// What a browser is told to do with them.
    pub disposition: Disposition,
}

/// How bytes that look like `content_type` are handed out: shown are a few kinds of picture, PDF
/// and plain text, none of which can act in the name of the page's origin. Everything else is saved, and served as what it is only where that names a
/// sound, film or picture.
pub fn delivery(content_type: &MediaType) -> Delivery<'_> {
    let name = content_type.as_str();
    let (content_type, disposition) = match name {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/pdf" => {
            (name, Disposition::Inline)
        }
        MediaType::PLAIN_TEXT => ("text/plain; charset=utf-8", Disposition::Inline),
        _ if is_passive(name) => (name, Disposition::Attachment),
        _ => (MediaType::OPAQUE, Disposition::Attachment),
    };
    Delivery {
        content_type,
        disposition,
    }
}

/// True for the types of media that hold no program.
fn is_passive(name: &str) -> bool {
    let media = ["audio/", "image/", "video/"];
    media.iter().any(|kind| name.starts_with(kind))
        && !name.contains("svg")
        && !name.contains("xml")
}

/// A file name as its sender writes it, made harmless: its last part without
/// any folder, free of characters that steer a terminal or a header or turn
/// the direction of writing, and no longer than a file name may be, with its
/// extension kept. `None` when nothing is left.
pub fn harmless_filename(sent: &str) -> Option<FileName> {
    let last = sent.rsplit(['/', '\\']).next().unwrap_or(sent);
    let kept: String = last.chars().filter(|&c| !is_steering(c)).collect();
    let kept = kept.trim();
    if kept.chars().all(|c| c == '.') {
        return None;
    }
    FileName::parse(&shortened(kept)).ok()
}

/// Control characters, and those that change how what follows is shown.
fn is_steering(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
        )
}

/// The name cut to its longest length, in front of its extension.
fn shortened(name: &str) -> String {
    /// An extension longer than this is part of the name.
    const EXTENSION: usize = 20;

    let end = |at: usize| {
        name.char_indices()
            .nth(at)
            .map_or(name.len(), |(end, _)| end)
    };
    if end(FileName::MAX) == name.len() {
        return name.into();
    }
    let extension = name.rfind('.').map_or("", |dot| &name[dot..]);
    let length = extension.chars().count();
    let extension = if length <= EXTENSION { extension } else { "" };
    let stem = &name[..end(FileName::MAX - extension.chars().count())];
    alloc::format!("{}{extension}", stem.trim_end())
}
