//! Hands out the content of an attachment (docs/issues.md#attachments): as a
//! stream that waits for its reader, whole or in part, under headers that keep
//! it from acting in the name of this server.

mod disposition;
mod range;

use std::ops::Range;
use std::sync::Arc;

use actix_web::body::SizedStream;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use data_encoding::HEXLOWER;
use futures_util::{Stream, StreamExt, stream};
use workforce_app::{Code, Codes};
use workforce_domain::attachment::{Attachment, ObjectName, delivery};
use workforce_domain::port::ObjectError;

use crate::problem::Problem;
use crate::request_context::RequestContext;
use crate::state::State;
use range::Part;

/// So many bytes are read at a time, and held for each reader.
const PIECE: u64 = 512 * 1024;

/// What was served is taken from the reader's own cache for so long; who may
/// read it can change.
const CACHING: &str = "private, max-age=60";

/// Whatever is shown runs no script, loads nothing and belongs to no origin.
const POLICY: &str = "sandbox; default-src 'none'";

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// What [`send`] refuses with.
pub(crate) const SEND: Codes = Codes::of(&[Code::AttachmentMissing, Code::RangeNotSatisfiable]);

/// Answers a request for the content of an attachment.
pub(crate) async fn send(
    rqctx: &RequestContext,
    request: &HttpRequest,
    attachment: &Attachment,
) -> HttpResponse {
    let length = u64::try_from(attachment.asset.byte_size).unwrap_or_default();
    let etag = format!("\"{}\"", HEXLOWER.encode(&attachment.asset.sha256));
    let header = |name| request.headers().get(name)?.to_str().ok();
    let is_known = header(header::IF_NONE_MATCH).is_some_and(|list| range::names(list, &etag));
    if is_known {
        return head(StatusCode::NOT_MODIFIED, attachment, &etag).finish();
    }
    let is_head = request.method() == Method::HEAD;
    // A part of other bytes than the caller has would be of no use to it.
    let is_same = header(header::IF_RANGE).is_none_or(|tag| tag.trim() == etag);
    let wanted = header(header::RANGE).filter(|_range| is_same && !is_head);
    let (status, bytes) = match range::part(wanted, length) {
        Part::Whole => (StatusCode::OK, 0..length),
        Part::Bytes(bytes) => (StatusCode::PARTIAL_CONTENT, bytes),
        Part::Unsatisfiable => return unsatisfiable(rqctx, length),
    };
    let mut response = head(status, attachment, &etag);
    if status == StatusCode::PARTIAL_CONTENT {
        let (first, last) = (bytes.start, bytes.end - 1);
        let range = format!("bytes {first}-{last}/{length}");
        response.insert_header((header::CONTENT_RANGE, range));
    }
    let size = bytes.end - bytes.start;
    if is_head {
        return response.body(SizedStream::new(size, stream::empty::<Batch>()));
    }
    // The first piece is there before the answer begins, so that what cannot
    // be read is told as what it is.
    let content = Content {
        state: Arc::clone(&rqctx.state),
        object: attachment.asset.object(),
        left: bytes,
    };
    match content.next().await {
        Ok((piece, rest)) => {
            let first = stream::once(async { Ok(piece) });
            response.body(SizedStream::new(size, first.chain(rest.pieces())))
        }
        Err(problem) => rqctx.refuse(problem),
    }
}

fn unsatisfiable(rqctx: &RequestContext, length: u64) -> HttpResponse {
    let detail = format!("the content has {length} bytes");
    let mut response = rqctx.refuse(Problem::new(Code::RangeNotSatisfiable, detail));
    if let Ok(range) = HeaderValue::from_str(&format!("bytes */{length}")) {
        response.headers_mut().insert(header::CONTENT_RANGE, range);
    }
    response
}

/// The headers of an answer about a content.
fn head(status: StatusCode, attachment: &Attachment, etag: &str) -> HttpResponseBuilder {
    let delivery = delivery(&attachment.asset.content_type);
    let filename = attachment.original_filename.as_deref();
    let mut response = HttpResponse::build(status);
    response
        .insert_header((header::CONTENT_TYPE, delivery.content_type))
        .insert_header((
            header::CONTENT_DISPOSITION,
            disposition::header(delivery.disposition, filename),
        ))
        .insert_header((header::ETAG, etag))
        .insert_header((header::ACCEPT_RANGES, "bytes"))
        .insert_header((header::CACHE_CONTROL, CACHING))
        .insert_header((header::VARY, "Authorization"))
        .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
        .insert_header((RESOURCE_POLICY, "same-origin"))
        // Ranges and tags are of the bytes themselves.
        .insert_header((header::CONTENT_ENCODING, "identity"));
    response
}

type Batch = Result<Bytes, Box<dyn std::error::Error>>;

/// What is still to be sent of an object.
struct Content {
    state: Arc<State>,
    object: ObjectName,
    left: Range<u64>,
}

impl Content {
    /// The next piece, and what is left after it.
    async fn next(self) -> Result<(Bytes, Self), Problem> {
        let Self {
            state,
            object,
            left,
        } = self;
        let length = PIECE.min(left.end - left.start);
        let objects = Arc::clone(&state.ports.objects);
        let offset = left.start;
        let size = usize::try_from(length).unwrap_or(usize::MAX);
        let read = state
            .transfers
            .run(move || objects.read(object, offset, size));
        // What is cut short is not there either.
        let read = read.await?.and_then(|piece| match piece.len() == size {
            true => Ok(piece),
            false => Err(ObjectError::Missing(object)),
        });
        state.missing_objects.note(object, &read);
        let piece = read?;
        let rest = Self {
            state,
            object,
            left: offset + length..left.end,
        };
        Ok((piece.into(), rest))
    }

    /// What is left, piece by piece, each read when the one before was taken.
    fn pieces(self) -> impl Stream<Item = Batch> + 'static {
        stream::unfold(Some(self), async |content| {
            let content = content.filter(|content| !content.left.is_empty())?;
            match content.next().await {
                Ok((piece, rest)) => Some((Ok(piece), Some(rest))),
                Err(problem) => {
                    // The answer has begun: all that can be done is to break it off.
                    tracing::error!(%problem, "a content broke off");
                    Some((Err(problem.to_string().into()), None))
                }
            }
        })
    }
}
