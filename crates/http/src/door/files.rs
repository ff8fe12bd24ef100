//! Attachments, by the code of the interface.

use std::future::Future;

use actix_web::HttpResponse;
use actix_web::body::to_bytes_limited;
use actix_web::http::Method;
use serde::Deserialize;
use serde_json::Value;
use workforce_app::Code;
use workforce_domain::attachment::Attachment;
use workforce_domain::id::{AttachmentId, CompanyId};

use super::{Pages, Visit};
use crate::access_rules::Access;
use crate::download;
use crate::problem::Problem;
use crate::request_context::RequestContext;
use crate::router::PathParameters;
use crate::routes;
use crate::streamed_request::StreamedRequest;

/// What is read of a refusal.
const LONGEST_REFUSAL: usize = 256 * 1024;

/// The body of a refusal, as far as a page tells it.
#[derive(Deserialize)]
struct Refusal {
    code: Code,
    detail: String,
    details: Option<Value>,
}

impl Pages {
    /// Adds what a file is sent to. `find` tells the company and the issue that it is for, and
    /// `answer` what became of it.
    #[must_use]
    pub fn upload<F, P, A>(
        self,
        path: &str,
        find: impl Fn(Visit) -> F + Copy + Send + Sync + 'static,
        answer: P,
    ) -> Self
    where
        F: Future<Output = Result<(CompanyId, String), Problem>> + 'static,
        P: Fn(Visit, Result<(), Problem>) -> A + Copy + Send + Sync + 'static,
        A: Future<Output = HttpResponse> + 'static,
    {
        self.add(path, Method::POST, move |state, routed| {
            let (visit, connection) = Visit::begin(state, routed, Access::Board);
            Box::pin(async move {
                let done = if visit.comes_from_here() {
                    match find(visit.clone()).await {
                        Ok(place) => visit.attach(place, connection).await,
                        Err(problem) => Err(problem),
                    }
                } else {
                    Err(Visit::from_elsewhere())
                };
                answer(visit, done).await
            })
        })
    }
}

impl Visit {
    async fn attach(
        &self,
        (company, issue): (CompanyId, String),
        connection: StreamedRequest,
    ) -> Result<(), Problem> {
        let names = [("companyId", company.to_string()), ("issueId", issue)];
        outcome(routes::add_attachment(self.as_named(names), connection).await).await
    }

    /// Takes an attachment from its issue.
    ///
    /// # Errors
    /// Why it is still there.
    pub async fn remove_attachment(&self, id: AttachmentId) -> Result<(), Problem> {
        let names = [("attachmentId", id.to_string())];
        outcome(routes::remove_attachment(self.as_named(names)).await).await
    }

    /// The content of an attachment.
    pub async fn send_attachment(&self, attachment: &Attachment) -> HttpResponse {
        download::send(&self.request_context(None), self.head(), attachment).await
    }

    /// This visit as a request of the interface whose path has these parameters.
    fn as_named<const N: usize>(&self, names: [(&str, String); N]) -> RequestContext {
        let rqctx = self.request_context(None);
        let request = rqctx.request.with_parameters(PathParameters::of(names));
        RequestContext { request, ..rqctx }
    }
}

/// What an answer of the interface says.
async fn outcome(answer: HttpResponse) -> Result<(), Problem> {
    if answer.status().is_success() {
        return Ok(());
    }
    let body = to_bytes_limited(answer.into_body(), LONGEST_REFUSAL).await;
    let bytes = match body {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) | Err(_) => return Err(Problem::new(Code::Internal, "something went wrong")),
    };
    let refusal: Refusal =
        serde_json::from_slice(&bytes).map_err(|error| Problem::internal(&error))?;
    let problem = Problem::new(refusal.code, refusal.detail);
    Err(match refusal.details {
        Some(details) => problem.with(details),
        None => problem,
    })
}
