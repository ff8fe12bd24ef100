//! Receives a file as a stream (docs/issues.md#attachments): nothing is held
//! whole in memory, and what is not to be kept is not stored.

mod form;
mod pace;
mod sink;
mod sniff;

use std::sync::Arc;

use actix_multipart::Multipart;
use actix_web::http::header;
use serde::{Deserialize, Serialize};
use workforce_app::attachments::AddAttachment;
use workforce_app::{Code, Codes};
use workforce_domain::attachment::{AttachmentLimit, ObjectName, harmless_filename};
use workforce_domain::id::CommentId;
use workforce_domain::text::MediaType;

use crate::problem::Problem;
use crate::request_context::Request;
use crate::state::State;
use crate::streamed_request::StreamedRequest;
pub(crate) use form::Form;

/// What a body may have beside its file: the other fields, and what separates
/// them.
const BESIDE_FILE: u64 = 1024 * 1024;

/// What [`receive`] and [`Form::finish`] refuse with.
pub(crate) const RECEIVE: Codes = Codes::of(&[
    Code::BodyTooLarge,
    Code::Busy,
    Code::InvalidField,
    Code::InvalidRequest,
    Code::UnsupportedMediaType,
]);

/// Receives a multipart body and stores its file as `name`, up to the point
/// where [`Form::finish`] makes the object whole. Dropped before, it leaves
/// nothing behind.
///
/// # Errors
/// `unsupported_media_type` for another kind of body, `invalid_request` for
/// one with faults, `body_too_large`, `busy`.
pub(crate) async fn receive(
    state: &Arc<State>,
    connection: StreamedRequest,
    name: ObjectName,
    limit: AttachmentLimit,
    caller: &str,
) -> Result<Form, Problem> {
    let max = limit.bytes().unsigned_abs();
    check_head(&connection, max)?;
    let _slot = state.transfers.uploads.take(caller).await?;
    let StreamedRequest {
        head: request,
        payload,
    } = connection;
    let max_length = max.saturating_add(BESIDE_FILE);
    let (body, abort_reason) = pace::paced(payload, state.body_deadline, max_length);
    let multipart = Multipart::new(request.headers(), body);
    Form::read(state, multipart, name, max)
        .await
        .map_err(|problem| {
            abort_reason
                .cut()
                .map_or(problem, |cut| problem_of(cut, max))
        })
}

/// Refuses what need not be read to be refused.
fn check_head(connection: &StreamedRequest, max: u64) -> Result<(), Problem> {
    let content_type = connection.header(header::CONTENT_TYPE).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("multipart/form-data") {
        return Err(Problem::new(
            Code::UnsupportedMediaType,
            "a file is uploaded as multipart/form-data",
        ));
    }
    let announced = connection.announced_length();
    if announced.is_some_and(|length| length > max.saturating_add(BESIDE_FILE)) {
        return Err(Problem::too_large("an attachment", max));
    }
    Ok(())
}

fn problem_of(cut: pace::Cut, max: u64) -> Problem {
    match cut {
        pace::Cut::TooSlow => {
            Problem::new(Code::InvalidRequest, "the upload did not arrive in time")
        }
        pace::Cut::TooLong => Problem::too_large("an attachment", max),
        pace::Cut::Ended => Problem::new(Code::InvalidRequest, "the upload ended early"),
    }
}

/// What tells one upload from another: the same for a repetition, however the
/// parts of its body were separated.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Description {
    sha256: [u8; 32],
    byte_size: i64,
    original_filename: Option<String>,
    declared_content_type: Option<String>,
    issue_comment_id: Option<CommentId>,
}

/// What was received, as the JSON body that stands for the one that was
/// streamed.
pub(crate) fn description(received: &AddAttachment) -> Result<Vec<u8>, Problem> {
    let description = Description {
        sha256: received.upload.sha256,
        byte_size: received.upload.byte_size,
        original_filename: received.original_filename.as_ref().map(ToString::to_string),
        declared_content_type: received
            .declared_content_type
            .as_ref()
            .map(ToString::to_string),
        issue_comment_id: received.comment,
    };
    serde_json::to_vec(&description).map_err(|error| Problem::internal(&error))
}

/// What was received, with its texts as they stand in the request that
/// describes it: there they were freed of the secrets of the caller's run.
pub(crate) fn described(
    received: AddAttachment,
    request: &Request,
) -> Result<AddAttachment, Problem> {
    let description: Description = request.json()?;
    let name = description.original_filename.as_deref();
    let kind = description.declared_content_type.as_deref();
    Ok(AddAttachment {
        original_filename: name.and_then(harmless_filename),
        declared_content_type: kind.and_then(|kind| MediaType::parse(kind).ok()),
        ..received
    })
}
