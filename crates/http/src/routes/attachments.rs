use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_web::HttpResponse;
use tracing::Instrument;
use utoipa::ToSchema;
use workforce_app::{Codes, attachments};
use workforce_domain::attachment::{Asset, ObjectName};
use workforce_domain::id::{AssetId, CommentId};
use workforce_domain::port::AttachmentCursor;

mod bodies;

use super::{Done, issue_ref};
use crate::access_rules::Access;
use crate::download;
use crate::endpoints::Endpoints;
use crate::paging::Paging;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{RequestContext, caller_name};
use crate::state::State;
use crate::streamed_request::StreamedRequest;
use crate::upload;
use bodies::AttachmentBody;

const TAG: &str = "Attachments";

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add_streaming(
            __path_add,
            Access::Anyone,
            Codes::with(&[], &[upload::RECEIVE, attachments::ADD]),
            add,
        )
        .add(__path_list, Access::Anyone, Codes::NONE, list)
        .add(__path_get, Access::Anyone, Codes::NONE, get)
        .add_streaming(__path_content, Access::Anyone, download::SEND, content)
        .add(__path_remove, Access::Uploader, Codes::NONE, remove)
}

/// A file and what it belongs to.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a form that is read as a stream")]
#[schema(rename_all = "camelCase")]
struct UploadForm {
    /// The file. Without a field of this name the first part with a file name
    /// counts.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// The comment on the issue that the file belongs to.
    #[schema(value_type = Option<CommentId>, nullable = false)]
    issue_comment_id: Option<String>,
}

/// Attaches a file to an issue.
///
/// The caller is told what stands against it before the body is read.
#[utoipa::path(post, path = "/api/companies/{companyId}/issues/{issueId}/attachments",
    tag = TAG, operation_id = "addAttachment",
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 201, description = "The attachment.", body = AttachmentBody)))]
pub(crate) async fn add(rqctx: RequestContext, connection: StreamedRequest) -> HttpResponse {
    let admitted = rqctx
        .preflight(
            |rq| Ok((rq.id("companyId")?, issue_ref(rq)?)),
            |reads, ctx, (company, issue)| {
                let admission = attachments::admit(reads, ctx, *company, issue)?;
                Ok((admission, ctx.id::<AssetId>(), caller_name(ctx.actor())))
            },
        )
        .await;
    let (rqctx, (admission, asset, caller)) = match admitted {
        Ok(admitted) => admitted,
        Err(answer) => return answer,
    };
    let object = ObjectName {
        company: admission.company,
        asset,
    };
    let state = &rqctx.state;
    if let Some(shortage) = state.vitals.disk_space.shortage() {
        return rqctx.refuse(Problem::short(shortage));
    }
    let limit = admission.limit.unwrap_or(state.transfers.limits.attachment);
    let form = match upload::receive(state, connection, object, limit, &caller).await {
        Ok(form) => form,
        Err(problem) => return rqctx.refuse(problem),
    };
    // From here on it goes to its end even when the caller hangs up: bytes that
    // may be written down must not be deleted, and others must.
    let request_id = rqctx.request.request_id.clone();
    let kept = actix_web::rt::spawn(keep(rqctx, object, form).in_current_span());
    kept.await
        .unwrap_or_else(|panicked| Problem::internal(&panicked).answer(&request_id))
}

/// Makes what was received whole and writes it down, and deletes its bytes when
/// nothing refers to them then.
async fn keep(rqctx: RequestContext, object: ObjectName, form: upload::Form) -> HttpResponse {
    let received = match form.finish().await {
        Ok(received) => received,
        Err(problem) => return rqctx.refuse(problem),
    };
    let state = Arc::clone(&rqctx.state);
    let rqctx = match upload::description(&received) {
        Ok(description) => rqctx.describing(description),
        Err(problem) => return rqctx.refuse(problem),
    };
    let request_id = rqctx.request.request_id.clone();
    // What the transaction came to, once it went to its end.
    let outcome = Arc::new(Mutex::new(None));
    let decided = Arc::clone(&outcome);
    let answer = rqctx
        .write(
            move |rq| {
                let received = upload::described(received, rq)?;
                Ok((rq.id("companyId")?, issue_ref(rq)?, received))
            },
            move |tx, ctx, (company, issue, received)| {
                let added = attachments::add(tx, ctx, *company, issue, received.clone())?;
                *lock(&decided) = Some(added.clone());
                Ok(added.attachment)
            },
            |attachment| Reply::created(AttachmentBody::from(attachment)),
        )
        .await;
    let added = lock(&outcome).take();
    let (answer, is_kept) = match added {
        // A commit whose outcome is not known is left to the sweep.
        Some(_) if answer.status().is_server_error() => (answer, true),
        Some(added) if answer.status().is_success() && added.is_new => (answer, true),
        Some(added) if answer.status().is_success() => {
            match mend(&state, added.attachment.asset, object).await {
                Ok(is_mended) => (answer, is_mended),
                Err(problem) => (problem.answer(&request_id), false),
            }
        }
        Some(_) | None => (answer, false),
    };
    if !is_kept {
        delete(&state, object).await;
    }
    answer
}

/// Uses the bytes that were received where the company had the same, and lost them.
async fn mend(state: &State, asset: Asset, received: ObjectName) -> Result<bool, Problem> {
    let (objects, mended) = (Arc::clone(&state.ports.objects), asset.object());
    let outcome = state
        .transfers
        .run(move || attachments::mend(&*objects, &asset, received));
    let is_mended = outcome.await??;
    if is_mended {
        tracing::warn!(object = %mended, "bytes that were missing were received again");
        state.missing_objects.note(mended, &Ok(()));
    }
    Ok(is_mended)
}

/// Deletes bytes that nothing refers to. What fails is left to the sweep.
async fn delete(state: &State, object: ObjectName) {
    let objects = Arc::clone(&state.ports.objects);
    let deleted = state.transfers.run(move || objects.delete(object)).await;
    if let Err(problem) = deleted.and_then(|outcome| outcome.map_err(Problem::from)) {
        tracing::warn!(%object, %problem, "bytes that nothing refers to are left to the sweep");
    }
}

/// Attachments of an issue, newest first.
#[utoipa::path(get, path = "/api/issues/{issueId}/attachments", tag = TAG,
    operation_id = "listAttachments",
    params(
        Paging,
    ),
    responses((status = 200, description = "The attachments.", body = Vec<AttachmentBody>)))]
async fn list(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| Ok((issue_ref(rq)?, rq.page::<AttachmentCursor>()?)),
            |reads, ctx, (issue, page)| attachments::list(reads, ctx, issue, page),
            Reply::<Vec<AttachmentBody>>::page,
        )
        .await
}

/// One attachment.
#[utoipa::path(get, path = "/api/attachments/{attachmentId}", tag = TAG,
    operation_id = "getAttachment",
    responses((status = 200, description = "The attachment.", body = AttachmentBody)))]
async fn get(rqctx: RequestContext) -> HttpResponse {
    rqctx
        .read(
            |rq| rq.id("attachmentId"),
            |reads, ctx, id| attachments::get(reads, ctx, *id),
            |attachment| Reply::ok(AttachmentBody::from(attachment)),
        )
        .await
}

/// The content of an attachment.
///
/// Pictures (PNG, JPEG, GIF, WebP), PDF and plain text are shown inline,
/// everything else is for saving. `ETag` is the SHA-256 of the content.
#[utoipa::path(get, path = "/api/attachments/{attachmentId}/content", tag = TAG,
    operation_id = "getAttachmentContent",
    params(
        ("Range" = Option<String>, Header, description = "One range of bytes."),
        ("If-Range" = Option<String>, Header,
            description = "The range counts only for the content with this `ETag`."),
        ("If-None-Match" = Option<String>, Header,
            description = "Contents that are there already, by `ETag`."),
    ),
    responses(
        (status = 200, description = "The content.", content_type = "*/*", body = Vec<u8>),
        (status = 206, description = "The range of it.", content_type = "*/*", body = Vec<u8>),
        (status = 304, description = "It is there already."),
    ))]
async fn content(rqctx: RequestContext, connection: StreamedRequest) -> HttpResponse {
    let found = rqctx
        .preflight(
            |rq| rq.id("attachmentId"),
            |reads, ctx, id| attachments::get(reads, ctx, *id),
        )
        .await;
    match found {
        Ok((rqctx, attachment)) => download::send(&rqctx, &connection.head, &attachment).await,
        Err(answer) => answer,
    }
}

/// Takes an attachment from its issue.
#[utoipa::path(delete, path = "/api/attachments/{attachmentId}", tag = TAG,
    operation_id = "deleteAttachment",
    responses((status = 200, description = "It is gone.", body = Done)))]
pub(crate) async fn remove(rqctx: RequestContext) -> HttpResponse {
    // As above: what was begun goes to its end.
    let request_id = rqctx.request.request_id.clone();
    let removed = actix_web::rt::spawn(remove_wholly(rqctx).in_current_span());
    removed
        .await
        .unwrap_or_else(|panicked| Problem::internal(&panicked).answer(&request_id))
}

async fn remove_wholly(rqctx: RequestContext) -> HttpResponse {
    let state = Arc::clone(&rqctx.state);
    let unshown = Arc::new(Mutex::new(None));
    let found = Arc::clone(&unshown);
    let answer = rqctx
        .write(
            |rq| rq.id("attachmentId"),
            move |tx, ctx, id| {
                let removed = attachments::remove(tx, ctx, *id)?;
                *lock(&found) = removed.unshown;
                Ok(())
            },
            |()| Reply::ok(Done::OK),
        )
        .await;
    let unshown = lock(&unshown).take();
    if answer.status().is_success()
        && let Some(object) = unshown
    {
        delete(&state, object).await;
    }
    answer
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
