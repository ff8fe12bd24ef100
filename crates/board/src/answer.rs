//! What a visit is answered with.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use askama::Template;
use workforce_app::Code;
use workforce_http::door::Visit;
use workforce_http::problem::{Problem, entry};

use crate::html::filters;
use crate::look::Look;
use crate::pages::login;

/// What a page may load and do: nothing but what this server sends. No script of it writes markup
/// without the one policy of `morph.js`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; manifest-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'; object-src 'none'; \
                      require-trusted-types-for 'script'; trusted-types board";

/// What no page needs.
const GRANTED: &str = "accelerometer=(), camera=(), display-capture=(), geolocation=(), \
                       gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()";

/// The headers of every page. With `no-referrer` browsers would send forms without an origin.
const HEADERS: [(&str, &str); 7] = [
    ("content-security-policy", POLICY),
    ("permissions-policy", GRANTED),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// A page.
pub(crate) fn page(template: &impl Template) -> HttpResponse {
    with_status(StatusCode::OK, template)
}

/// A page under another status than 200.
pub(crate) fn with_status(status: StatusCode, template: &impl Template) -> HttpResponse {
    let mut response = HttpResponse::build(status);
    for (name, value) in HEADERS {
        response.insert_header((
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        ));
    }
    // To write into memory cannot fail.
    let text = template.render().unwrap_or_default();
    response.content_type("text/html; charset=utf-8").body(text)
}

/// A file to be saved under a name that needs no quotes.
pub(crate) fn file(name: &str, kind: &str, text: String) -> HttpResponse {
    HttpResponse::Ok()
        .content_type(kind)
        .insert_header((
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .body(text)
}

/// Leads to another page after a form was taken.
pub(crate) fn lead_to(place: &str) -> HttpResponse {
    let mut response = HttpResponse::SeeOther();
    for (name, value) in HEADERS {
        response.insert_header((
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        ));
    }
    response.insert_header((header::LOCATION, place)).finish()
}

/// The same answer with a cookie.
pub(crate) fn with_cookie(mut response: HttpResponse, cookie: &str) -> HttpResponse {
    if let Ok(cookie) = cookie.parse() {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

/// Whoever is to wait is told for how long.
pub(crate) fn with_wait(mut response: HttpResponse, problem: &Problem) -> HttpResponse {
    if let Some(seconds) = problem.wait_seconds() {
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

#[derive(Template)]
#[template(path = "refused.html")]
struct RefusedPage<'a> {
    look: Look,
    status: u16,
    title: &'static str,
    detail: &'a str,
    advice: &'static str,
    code: &'a str,
    request_id: String,
    /// Where to sign in, for whoever did not.
    sign_in: Option<String>,
}

/// The page that says why there is nothing to see. Whoever has yet to sign in is led there.
pub(crate) fn refused(visit: &Visit, problem: &Problem) -> HttpResponse {
    let code = problem.code();
    if code == Code::CredentialMissing && visit.takes_sessions() && visit.wants_page() {
        return lead_to(&login::place_before(visit));
    }
    let entry = entry(code);
    let page = RefusedPage {
        look: Look::of(visit),
        status: entry.status.as_u16(),
        title: entry.title,
        detail: problem.detail(),
        advice: entry.advice,
        code: &code.to_string(),
        request_id: visit.request_id(),
        sign_in: (entry.status == StatusCode::UNAUTHORIZED && visit.takes_sessions())
            .then(|| login::page_before(visit)),
    };
    let mut response = with_wait(with_status(entry.status, &page), problem);
    if let Some(Ok(methods)) = problem.allowed_methods().map(HeaderValue::from_str) {
        response.headers_mut().insert(header::ALLOW, methods);
    }
    response
}

/// The page that says that there is none.
pub(crate) fn no_such_page(visit: &Visit) -> HttpResponse {
    refused(
        visit,
        &Problem::new(Code::NotFound, "there is no such page"),
    )
}
