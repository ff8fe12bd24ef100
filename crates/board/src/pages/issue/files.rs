//! The files of an issue.

use actix_web::HttpResponse;
use workforce_app::{Context, attachments};
use workforce_domain::attachment::Attachment;
use workforce_domain::id::{AttachmentId, CompanyId};
use workforce_domain::port::Reads;
use workforce_http::door::Visit;
use workforce_http::problem::Problem;

use super::{About, Forms, answered};
use crate::answer;
use crate::form::Form;
use crate::html::people::{Staff, Who};
use crate::html::size::Size;
use crate::html::when::Ago;
use crate::pages::{Gathered, Refused, Told as _};

/// The kinds of pictures that are shown.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A file.
pub(super) struct File {
    pub(super) link: String,
    pub(super) name: String,
    pub(super) size: Size,
    pub(super) who: Option<Who>,
    pub(super) at: Ago,
    pub(super) is_picture: bool,
}

impl File {
    pub(super) fn of(file: &Attachment, ctx: &Context<'_>, staff: &Staff, link: &str) -> Self {
        let name = file.original_filename.as_ref();
        Self {
            link: format!("{link}/files/{}", file.id),
            name: name.map_or_else(|| "a file without a name".to_owned(), ToString::to_string),
            size: Size(file.asset.byte_size.unsigned_abs()),
            who: staff.author(file.author),
            at: Ago::new(file.created_at, ctx.now),
            is_picture: PICTURES.contains(&&*file.asset.content_type),
        }
    }
}

/// The issue that a file is sent for.
pub(super) async fn place(visit: Visit) -> Result<(CompanyId, String), Problem> {
    let about = About::of(&visit);
    let look = visit.look(move |reads, ctx| {
        let (company, detail) = about.find(reads, ctx)?;
        Ok::<_, workforce_app::Failure<Refused>>((company.id, detail.view.issue.identifier))
    });
    look.await
}

/// A file was sent.
pub(super) async fn sent(visit: Visit, done: Result<(), Problem>) -> HttpResponse {
    let about = About::of(&visit);
    let link = about.asked.links().issue(visit.parameter("issue"));
    let done = done.map(|()| format!("{link}#files"));
    answered(&visit, Form::default(), done, |files, blank| Forms {
        files,
        ..blank
    })
    .await
}

/// The content of a file.
pub(super) async fn content(visit: Visit) -> HttpResponse {
    match find(&visit).await {
        Ok(file) => visit.send_attachment(&file).await,
        Err(problem) => answer::refused(&visit, &problem),
    }
}

/// Deletes a file.
pub(super) async fn remove(visit: Visit) -> HttpResponse {
    let about = About::of(&visit);
    let link = about.asked.links().issue(visit.parameter("issue"));
    let done = match find(&visit).await {
        Ok(file) => visit.remove_attachment(file.id).await,
        Err(problem) => Err(problem),
    };
    let done = done.map(|()| format!("{link}#files"));
    answered(&visit, Form::of(&visit), done, |files, blank| Forms {
        files,
        ..blank
    })
    .await
}

/// The file in the address, if it is one of the issue there.
async fn find(visit: &Visit) -> Result<Attachment, Problem> {
    let about = About::of(visit);
    let id: Option<AttachmentId> = visit.parameter("file").parse().ok();
    let look = visit.look(move |reads, ctx| found(reads, ctx, &about, id));
    look.await
}

fn found(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    id: Option<AttachmentId>,
) -> Gathered<Attachment> {
    let missing = || Refused::missing("file");
    let (_company, detail) = about.find(reads, ctx)?;
    let file = attachments::get(reads, ctx, id.ok_or_else(missing)?).told()?;
    if file.issue == detail.view.issue.id {
        Ok(file)
    } else {
        Err(missing())
    }
}
