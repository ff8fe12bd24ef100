//! What a caller learns when something was not done: problem documents of RFC
//! 9457 (docs/errors.md).

mod advice;
mod failures;
mod outside;
mod table;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use workforce_app::{Code, Failure, Refusal};
use workforce_vitals::Shortage;

pub use table::{Entry, catalogue, entry};

use crate::body::coding;

/// Whoever found a disk full comes back after so long.
const FULL_FOR: Duration = Duration::from_secs(5);

/// Why a request was not served.
#[derive(Clone, Debug)]
pub struct Problem(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    code: Code,
    detail: String,
    details: Option<Value>,
    allow: Option<String>,
    retry_after: Option<Duration>,
    /// For the log alone.
    cause: Option<String>,
}

/// The body of a problem document.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// Names the kind of problem: `urn:workforce:problem:` and the code.
    #[serde(rename = "type")]
    #[schema(example = "urn:workforce:problem:not_found")]
    kind: String,
    /// The kind of problem in a few words.
    title: &'static str,
    /// The status of the answer.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What went wrong this time, for people.
    detail: String,
    /// The same sentence as `detail`.
    error: String,
    /// The stable machine code.
    code: Code,
    /// Facts that help: an object, or a list of `pointer` and `message`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    details: Option<Value>,
    /// Whether the same request may succeed later without a change of state by
    /// somebody else. Present with 409, 429 and 503.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    retryable: Option<bool>,
    /// The same as the `X-Request-Id` header.
    request_id: String,
}

impl Problem {
    /// A problem of a kind, told by a sentence.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            detail: detail.into(),
            details: None,
            allow: None,
            retry_after: None,
            cause: None,
        }))
    }

    /// A fault at one place of the body (`/name`) or query (`?limit`).
    pub(crate) fn at(code: Code, pointer: &str, message: &str) -> Self {
        let detail = if pointer.is_empty() {
            message.to_owned()
        } else {
            format!("{pointer}: {message}")
        };
        Self::new(code, detail).with(json!([{ "pointer": pointer, "message": message }]))
    }

    /// Something a path names that does not exist.
    pub(crate) fn missing(kind: &str) -> Self {
        Self::new(Code::NotFound, format!("no such {kind}"))
    }

    /// A body above a limit in bytes.
    pub(crate) fn too_large(what: &str, max: u64) -> Self {
        let detail = format!("{what} may have at most {max} bytes");
        Self::new(Code::BodyTooLarge, detail)
    }

    /// A method that a path does not have.
    pub(crate) fn method_not_allowed(allow: &str) -> Self {
        let detail = format!("this path answers to {allow} only");
        let mut problem = Self::new(Code::MethodNotAllowed, detail);
        problem.0.allow = Some(allow.to_owned());
        problem
    }

    /// The methods that the path answers to, as the Allow header lists them; `None` where another
    /// one would be refused as well.
    pub fn allowed_methods(&self) -> Option<&str> {
        self.0.allow.as_deref()
    }

    /// A path that nothing answers at.
    pub(crate) fn no_such_path() -> Self {
        Self::new(Code::RouteNotFound, "this server has no such path")
    }

    /// A caller who has to wait so long before asking again.
    pub(crate) fn rate_limited(wait: Duration) -> Self {
        let mut problem = Self::new(Code::RateLimited, "too many requests; slow down");
        problem.0.retry_after = Some(wait);
        problem
    }

    /// The refusal of a use case.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "it is the function given to Failure::map"
    )]
    pub(crate) fn refused<E: Refusal>(refusal: E) -> Self {
        let problem = Self::new(refusal.code(), refusal.to_string());
        match refusal.details() {
            Some(details) => problem.with(details),
            None => problem,
        }
    }

    /// Where in the body or query the fault is.
    pub(crate) fn pointer(&self) -> Option<&str> {
        self.0.details.as_ref()?.get(0)?.get("pointer")?.as_str()
    }

    /// The same problem with facts that help.
    #[must_use]
    pub(crate) fn with(mut self, details: Value) -> Self {
        self.0.details = Some(details);
        self
    }

    /// The stable machine code.
    pub const fn code(&self) -> Code {
        self.0.code
    }

    /// What went wrong this time, for people.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Facts that help: an object, or a list of `pointer` and `message`.
    pub const fn details(&self) -> Option<&Value> {
        self.0.details.as_ref()
    }

    /// For how many seconds to wait before asking again; rounded up.
    pub fn wait_seconds(&self) -> Option<u64> {
        let wait = self.0.retry_after?;
        Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
    }

    /// What the log is to be told of it, where it is a fault of the server.
    pub(crate) fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    /// The status it is answered with.
    pub const fn status(&self) -> StatusCode {
        entry(self.0.code).status
    }

    /// The answer to the request with this id.
    pub(crate) fn answer(self, request_id: &str) -> HttpResponse {
        let Inner {
            code,
            detail,
            details,
            allow,
            retry_after,
            cause,
        } = *self.0;
        if let Some(cause) = cause {
            tracing::error!(request_id, %code, %cause, "a request failed");
        }
        let entry = entry(code);
        let mut response = HttpResponse::build(entry.status);
        response.content_type("application/problem+json");
        response.insert_header((header::CACHE_CONTROL, "no-store"));
        response.insert_header((header::CONTENT_ENCODING, "identity"));
        if entry.status == StatusCode::UNAUTHORIZED {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        if entry.status == StatusCode::UPGRADE_REQUIRED {
            response.insert_header((header::UPGRADE, "websocket"));
        }
        if code == Code::UnsupportedCoding {
            response.insert_header((header::ACCEPT_ENCODING, coding::ACCEPTED));
        }
        let retryable = match entry.status {
            StatusCode::CONFLICT => Some(false),
            // Sent again as it is, it may be carried out twice.
            _ if code == Code::OutcomeUnknown => Some(false),
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                response.insert_header((header::RETRY_AFTER, "1"));
                Some(true)
            }
            _ => None,
        };
        if let Some(wait) = retry_after {
            // Whole seconds, and never none: a caller that comes back too soon
            // is turned away again.
            let seconds = wait.as_secs().saturating_add(1);
            response.insert_header((header::RETRY_AFTER, seconds));
        }
        if let Some(allow) = allow.and_then(|allow| HeaderValue::from_str(&allow).ok()) {
            response.insert_header((header::ALLOW, allow));
        }
        response.extensions_mut().insert(code);
        response.json(ProblemBody {
            kind: format!("urn:workforce:problem:{code}"),
            title: entry.title,
            status: entry.status.as_u16(),
            error: detail.clone(),
            detail,
            code,
            details,
            retryable,
            request_id: request_id.to_owned(),
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.detail)
    }
}

impl Refusal for Problem {
    fn code(&self) -> Code {
        self.0.code
    }

    fn details(&self) -> Option<Value> {
        self.0.details.clone()
    }
}

impl Problem {
    /// A disk without room. Nobody makes room within a second.
    fn full(detail: impl Into<String>) -> Self {
        let mut problem = Self::new(Code::StorageFull, detail);
        problem.0.retry_after = Some(FULL_FOR);
        problem
    }

    /// Nothing that takes room is begun at the moment.
    pub(crate) fn short(shortage: Shortage) -> Self {
        Self::full(shortage.to_string()).with(json!({
            "place": shortage.place.as_str(),
            "freeBytes": shortage.free_bytes,
            "minFreeBytes": shortage.min_free_bytes,
        }))
    }

    /// A fault of workforce. Its cause goes to the log when it is answered, and
    /// nowhere else.
    pub(crate) fn internal(cause: &dyn Error) -> Self {
        let detail = "workforce failed; the log tells why under this request id";
        Self::new(Code::Internal, detail).because(cause)
    }

    fn because(mut self, error: &dyn Error) -> Self {
        let mut chain = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            chain.push_str(": ");
            chain.push_str(&error.to_string());
            cause = error.source();
        }
        self.0.cause = Some(chain);
        self
    }
}

impl<E: Refusal> From<Failure<E>> for Problem {
    fn from(failure: Failure<E>) -> Self {
        match failure {
            Failure::Refused(refusal) => Self::refused(refusal),
            Failure::Store(error) => error.into(),
        }
    }
}

/// What a transaction of this crate failed with.
pub(crate) fn into_problem(failure: Failure<Problem>) -> Problem {
    match failure {
        Failure::Refused(problem) => problem,
        Failure::Store(error) => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use workforce_domain::port::StoreError;

    use super::*;
    use actix_web::body::to_bytes;

    async fn body_of(problem: Problem) -> (HttpResponse<()>, Value) {
        let (head, body) = problem.answer("r-1").into_parts();
        let bytes = to_bytes(body).await.ok().unwrap();
        (head, serde_json::from_slice(&bytes).unwrap())
    }

    #[actix_web::test]
    async fn a_problem_says_everything_twice_where_clients_look() {
        let (head, body) =
            body_of(Problem::at(Code::InvalidJson, "/name", "must not be empty")).await;
        assert_eq!(
            head.headers().get("content-type").unwrap(),
            "application/problem+json"
        );
        assert_eq!(
            body,
            json!({
                "type": "urn:workforce:problem:invalid_json",
                "title": "Malformed body",
                "status": 400,
                "detail": "/name: must not be empty",
                "error": "/name: must not be empty",
                "code": "invalid_json",
                "details": [{"pointer": "/name", "message": "must not be empty"}],
                "requestId": "r-1",
            })
        );
    }

    #[actix_web::test]
    async fn statuses_bring_their_headers() {
        let (head, _) = body_of(Problem::new(Code::CredentialMissing, "x")).await;
        assert_eq!(head.headers().get("www-authenticate").unwrap(), "Bearer");
        let (head, body) = body_of(Problem::from(StoreError::Contended)).await;
        assert_eq!(head.headers().get("retry-after").unwrap(), "1");
        assert_eq!(
            (body["status"].clone(), body["retryable"].clone()),
            (json!(503), json!(true))
        );
        let full = Problem::from(StoreError::Full("no room".into()));
        let (head, body) = body_of(full).await;
        assert_eq!(
            (head.status().as_u16(), &body["code"]),
            (503, &json!("storage_full"))
        );
        assert_eq!(head.headers().get("retry-after").unwrap(), "6");
        let (_, body) = body_of(Problem::new(Code::CheckoutConflict, "x")).await;
        assert_eq!(body["retryable"], json!(false));
        let lost = StoreError::OutcomeUnknown("the line is cut".into());
        let (head, body) = body_of(Problem::from(lost)).await;
        assert_eq!(head.status(), 503);
        assert_eq!(head.headers().get("retry-after"), None);
        assert_eq!(
            (body["code"].clone(), body["retryable"].clone()),
            (json!("outcome_unknown"), json!(false))
        );
        let (head, _) = body_of(Problem::method_not_allowed("GET, POST")).await;
        assert_eq!(head.headers().get("allow").unwrap(), "GET, POST");
    }

    #[actix_web::test]
    async fn the_cause_of_a_fault_is_not_told() {
        let error = StoreError::Failed("password=hunter2".into());
        let (head, body) = body_of(Problem::from(error)).await;
        assert_eq!(head.status(), 500);
        assert!(!body.to_string().contains("hunter2"));
    }
}
