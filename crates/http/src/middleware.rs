//! What happens around every request: its id, the host and origin check, the
//! log, the counters and the headers of every answer.

use std::time::{Duration, Instant};

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{self, AcceptEncoding, Encoding, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};
use tracing::Instrument;
use workforce_app::Code;

use crate::head_timeout::{Answer, Watched};
use crate::problem::Problem;
use crate::refusals::assert_described;
use crate::request_id::RequestId;
use crate::router::{RoutePattern, Router};
use crate::routes::HEALTH_PATH;
use crate::state::State;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const VERSION: HeaderName = HeaderName::from_static("x-workforce-version");
/// An answer that takes longer is worth a line in the log.
const SLOW: Duration = Duration::from_secs(1);

/// Surrounds every request.
///
/// # Errors
/// Those of actix for requests that never reached a handler.
pub(crate) async fn surround(
    state: web::Data<State>,
    router: web::Data<Router>,
    mut request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let began = Instant::now();
    let served = request.conn_data::<Watched>().map(Watched::has_come);
    let id = RequestId::choose(request.headers(), || state.ports.ids.next().to_string());
    let span = tracing::debug_span!(
        "request",
        id = %id.0,
        method = %request.method(),
    );
    request.extensions_mut().insert(id.clone());
    forget_impossible_encodings(&mut request);
    let refused = turned_away(&request, &state).or_else(|| too_often(&request, &state));
    let in_span = span.clone();
    let mut response = async move {
        match refused {
            Some(problem) => {
                let head = request.request().clone();
                let answer = router.refuse(head, problem);
                Ok(request.into_response(answer).map_into_right_body())
            }
            None => next
                .call(request)
                .await
                .map(ServiceResponse::map_into_left_body),
        }
    }
    .instrument(in_span)
    .await?;
    let took = began.elapsed();
    let status = response.status();
    let code = response.response().extensions().get::<Code>().copied();
    let request = response.request();
    let route = request.extensions().get::<RoutePattern>().cloned();
    let method = request.method();
    state
        .requests
        .count(method, route.as_ref(), status.as_u16(), took);
    let route = route.as_ref().map(|pattern| &*pattern.0);
    if let Some(code) = code {
        assert_described(method.as_str(), route, code);
    }
    finish(&mut response);
    log(&response, route, code, took);
    Ok(response
        .map_into_boxed_body()
        .map_body(|_head, body| Answer { body, served }))
}

/// Has a request that takes no encoding that there is answered without one. Else the
/// layer that encodes would answer by itself, with no problem document.
fn forget_impossible_encodings(request: &mut ServiceRequest) {
    let possible = [Encoding::identity(), Encoding::gzip(), Encoding::deflate()];
    let accepted = request.get_header::<AcceptEncoding>();
    if accepted.is_some_and(|accepted| accepted.negotiate(possible.iter()).is_none()) {
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
}

/// One line per request: only what failed or took long shows unless somebody
/// debugs.
fn log<B>(response: &ServiceResponse<B>, route: Option<&str>, code: Option<Code>, took: Duration) {
    let request = response.request();
    let status = response.status();
    let slow = took > SLOW;
    if !slow && !status.is_server_error() && !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let request_id = RequestId::of(&request.extensions());
    // Not the path: anything may stand in it.
    let method = request.method();
    let (status_code, millis) = (status.as_u16(), took.as_millis());
    let code = code.map(tracing::field::display);
    if slow || status.is_server_error() {
        tracing::warn!(
            request_id, %method, route, status = status_code, code, millis, slow, "answered"
        );
    } else {
        tracing::debug!(
            request_id, %method, route, status = status_code, code, millis, "answered"
        );
    }
}

/// The host and origin check (docs/access.md#hosts-and-origins).
fn turned_away(request: &ServiceRequest, state: &State) -> Option<Problem> {
    let text = |name: HeaderName| {
        request
            .headers()
            .get(name)
            .map(|v| v.to_str().unwrap_or(""))
    };
    // HTTP/1.1 lets a full URI stand in for the header.
    let authority = request
        .uri()
        .authority()
        .map(actix_web::http::uri::Authority::as_str);
    let host = authority.or_else(|| text(header::HOST));
    if let Some(host) = host
        && !state.hosts.admits_host(host)
    {
        let detail = "the Host header names a host that this server does not answer to";
        return Some(Problem::new(Code::OriginForbidden, detail));
    }
    let changes = !matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    // Browsers keep the answer to a GET from pages of other sites, but not what
    // comes over a WebSocket.
    let upgrades = request.headers().contains_key(header::UPGRADE);
    let origin = text(header::ORIGIN).filter(|_origin| changes || upgrades)?;
    (!state.hosts.admits_origin(origin, host.unwrap_or(""))).then(|| {
        let detail = "pages of this origin may neither change anything here nor open a WebSocket";
        Problem::new(Code::OriginForbidden, detail)
    })
}

/// The rate limit (docs/access.md#rate-limits). A probe of life always gets
/// through.
fn too_often(request: &ServiceRequest, state: &State) -> Option<Problem> {
    let limiter = state
        .limiter
        .as_ref()
        .filter(|_limiter| request.path() != HEALTH_PATH)?;
    let authorization = request.headers().get(header::AUTHORIZATION);
    let authorization = authorization.map(|value| value.to_str().unwrap_or_default());
    let address = request.peer_addr().map(|address| address.ip());
    let taken = limiter.take(authorization, address, Instant::now());
    taken.err().map(Problem::rate_limited)
}

/// The headers of every answer.
fn finish<B>(response: &mut ServiceResponse<B>) {
    let id = RequestId::of(&response.request().extensions());
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(VERSION, HeaderValue::from_static(env!("CARGO_PKG_VERSION")));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    // It kept a small answer from being compressed and says nothing else.
    if headers
        .get(header::CONTENT_ENCODING)
        .is_some_and(|encoding| encoding == "identity")
    {
        headers.remove(header::CONTENT_ENCODING);
    }
}
