use std::sync::Arc;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::http::header::ContentDisposition;
use futures_util::StreamExt;
use workforce_app::Code;
use workforce_app::attachments::{AddAttachment, Upload};
use workforce_domain::attachment::{ObjectName, harmless_filename};
use workforce_domain::id::CommentId;
use workforce_domain::text::{FileName, MediaType};

use super::sink::Sink;
use crate::problem::Problem;
use crate::state::State;

/// The field of the file.
const FILE: &str = "file";
/// The field that names a comment.
const COMMENT: &str = "issueCommentId";
/// More parts than any form has.
const MAX_PARTS: usize = 100;
/// A field that names something is at most so long.
const MAX_TEXT: usize = 256;

/// A multipart body that was read, its file not yet whole.
pub(crate) struct Form {
    state: Arc<State>,
    name: ObjectName,
    /// The most bytes that a file may have.
    max: u64,
    file: Option<File>,
    comment: Option<CommentId>,
}

/// The file of a form.
struct File {
    sink: Sink,
    /// Whether it came in the field of that name. A file of another field gives
    /// way to one that did.
    is_named_file: bool,
    original_filename: Option<FileName>,
    declared_content_type: Option<MediaType>,
}

impl Form {
    /// Reads a body to its end, and its file into the object `name`.
    pub(super) async fn read(
        state: &Arc<State>,
        mut multipart: Multipart,
        name: ObjectName,
        max: u64,
    ) -> Result<Self, Problem> {
        let mut form = Self {
            state: Arc::clone(state),
            name,
            max,
            file: None,
            comment: None,
        };
        let mut parts = 0;
        while let Some(part) = multipart.next().await {
            let part = part.map_err(malformed)?;
            parts += 1;
            if parts > MAX_PARTS {
                return Err(fault("", &format!("has more than {MAX_PARTS} parts")));
            }
            form.take(part).await?;
        }
        Ok(form)
    }

    /// Takes one part; what nobody asked for is passed over.
    async fn take(&mut self, part: Field) -> Result<(), Problem> {
        let field = part.name().unwrap_or_default();
        let filename = part.content_disposition().and_then(sent_filename);
        let is_named_file = field == FILE;
        if field == COMMENT && filename.is_none() {
            self.comment = comment(part).await?;
        } else if is_named_file || filename.is_some() {
            match &self.file {
                Some(file) if file.is_named_file && is_named_file => {
                    return Err(fault("/file", "must be there once"));
                }
                Some(_) if !is_named_file => {}
                _ => {
                    // What was begun for a part of another name is given up first.
                    self.file = None;
                    let file = self.file(part, filename.as_deref()).await?;
                    self.file = Some(File {
                        is_named_file,
                        ..file
                    });
                }
            }
        }
        Ok(())
    }

    /// Streams a file into the object.
    async fn file(&self, mut part: Field, filename: Option<&str>) -> Result<File, Problem> {
        let declared = part.content_type().map(|kind| kind.essence_str());
        let declared_content_type = declared.and_then(|kind| MediaType::parse(kind).ok());
        let mut sink = Sink::open(&self.state, self.name).await?;
        while let Some(chunk) = part.next().await {
            let chunk = chunk.map_err(malformed)?;
            if sink.byte_size() + chunk.len() as u64 > self.max {
                return Err(Problem::too_large("an attachment", self.max));
            }
            sink = sink.take(&chunk).await?;
        }
        Ok(File {
            sink,
            is_named_file: false,
            original_filename: filename.and_then(harmless_filename),
            declared_content_type,
        })
    }

    /// Makes the file whole: its object is durable when this returns, and on
    /// an error there is none.
    ///
    /// # Errors
    /// `invalid_request` without a file, `invalid_field` for an empty one.
    pub(crate) async fn finish(self) -> Result<AddAttachment, Problem> {
        let file = self.file.ok_or_else(|| fault("/file", "is required"))?;
        if file.sink.byte_size() == 0 {
            return Err(Problem::at(
                Code::InvalidField,
                "/file",
                "must not be empty",
            ));
        }
        let stored = file.sink.finish().await?;
        Ok(AddAttachment {
            upload: Upload {
                asset: self.name.asset,
                sha256: stored.sha256,
                byte_size: i64::try_from(stored.byte_size).unwrap_or(i64::MAX),
                content_type: stored.content_type,
                provider: self.state.ports.objects.provider(),
            },
            original_filename: file.original_filename,
            declared_content_type: file.declared_content_type,
            comment: self.comment,
        })
    }
}

/// The name a part gives its file; the extended form of RFC 5987 wins.
fn sent_filename(disposition: &ContentDisposition) -> Option<String> {
    let extended = disposition
        .get_filename_ext()
        .map(|name| String::from_utf8_lossy(&name.value).into_owned());
    extended.or_else(|| disposition.get_filename().map(str::to_owned))
}

/// The comment that a field names; an empty field names none.
async fn comment(mut part: Field) -> Result<Option<CommentId>, Problem> {
    let pointer = format!("/{COMMENT}");
    let not_an_id = || fault(&pointer, "must be the id of a comment");
    let mut text = Vec::new();
    while let Some(chunk) = part.next().await {
        let chunk = chunk.map_err(malformed)?;
        if text.len() + chunk.len() > MAX_TEXT {
            return Err(not_an_id());
        }
        text.extend_from_slice(&chunk);
    }
    let text = String::from_utf8(text).map_err(|_not_text| not_an_id())?;
    match text.trim() {
        "" => Ok(None),
        id => id.parse().map(Some).map_err(|_malformed| not_an_id()),
    }
}

fn fault(pointer: &str, message: &str) -> Problem {
    Problem::at(Code::InvalidRequest, pointer, message)
}

/// A body that is not what multipart bodies are. What was sent is not quoted.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is the function given to map_err"
)]
fn malformed(error: MultipartError) -> Problem {
    let message = match error {
        MultipartError::BoundaryMissing => "has no boundary, or its parts are not separated by it",
        MultipartError::Incomplete => "ended within a part",
        MultipartError::Payload(_) => "has a part whose head is too long",
        _ => "has a part whose head is malformed",
    };
    fault("", &format!("the multipart body {message}"))
}
