//! Signing in and out (docs/board.md#signing-in).

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde::Deserialize;
use workforce_app::{Code, login_links};
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use crate::answer;
use crate::form::Form;
use crate::html::filters;
use crate::look::{self, Look};

const LOGIN: &str = "/login";
const FIRST: &str = "/";

/// What is said of every token that is not taken, whatever is wrong with it.
const REFUSED: &str = "That token was not accepted.";
const LINK_REFUSED: &str =
    "This link was used already, or is older than 60 seconds. Make another one.";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(LOGIN, Access::Public, form)
        .post(LOGIN, Access::Public, sign_in)
        .get(login_links::PAGE, Access::Public, link)
        .post(login_links::PAGE, Access::Public, take_link)
        .post("/logout", Access::Public, sign_out)
}

/// What the page shows.
enum Step {
    /// The form that takes a token, and leads to `next`.
    Token { next: String, fault: Option<String> },
    /// Where else to sign in.
    Elsewhere { place: String, host: String },
    /// A link that is to be used.
    Link {
        key: String,
        fault: Option<&'static str>,
    },
}

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    look: Look,
    step: Step,
}

/// What may stand in the address of the pages.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Asked {
    next: String,
    key: String,
}

impl Asked {
    fn of(visit: &Visit) -> Self {
        serde_html_form::from_str(visit.query()).unwrap_or_default()
    }
}

/// Where whoever has yet to sign in is led from a page.
pub(crate) fn place_before(visit: &Visit) -> String {
    match visit.own_place() {
        // There may be a session there.
        Some(own) => format!("{own}{}", address(visit)),
        None => page_before(visit),
    }
}

/// The page on which to sign in before this one.
pub(crate) fn page_before(visit: &Visit) -> String {
    let next = if visit.wants_page() {
        address(visit)
    } else {
        page_of_form(visit).unwrap_or(FIRST).to_owned()
    };
    let query = serde_html_form::to_string([("next", next)]).unwrap_or_default();
    format!("{LOGIN}?{query}")
}

/// The page of this server that a form was sent from, as the browser tells it.
fn page_of_form(visit: &Visit) -> Option<&str> {
    let (_scheme, page) = visit.header("referer")?.split_once("://")?;
    Some(look::own_path(page.strip_prefix(visit.header("host")?)?))
}

/// The path with its query.
fn address(visit: &Visit) -> String {
    match visit.query() {
        "" => visit.path().to_owned(),
        query => format!("{}?{query}", visit.path()),
    }
}

async fn form(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    let next = look::own_path(&asked.next);
    if !visit.takes_sessions() {
        return answer::lead_to(next);
    }
    match elsewhere(&visit) {
        Some(page) => answer::page(&page),
        None => answer::page(&token_page(&visit, next, None)),
    }
}

async fn sign_in(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let next = look::own_path(form.text("next"));
    if !visit.takes_sessions() {
        return answer::lead_to(next);
    }
    if let Some(page) = elsewhere(&visit) {
        return answer::with_status(StatusCode::MISDIRECTED_REQUEST, &page);
    }
    let problem = match visit.sign_in(form.text("token")).await {
        Ok(session) => return answer::with_cookie(answer::lead_to(next), &session),
        Err(problem) => problem,
    };
    if is_about_who(&problem) {
        let page = token_page(&visit, next, Some(REFUSED.to_owned()));
        return answer::with_status(StatusCode::UNAUTHORIZED, &page);
    }
    match problem.wait_seconds() {
        Some(seconds) if problem.code() == Code::RateLimited => {
            let fault =
                format!("That was wrong too often. Wait {seconds} seconds, then try again.");
            let page = token_page(&visit, next, Some(fault));
            answer::with_wait(answer::with_status(problem.status(), &page), &problem)
        }
        _ => answer::refused(&visit, &problem),
    }
}

async fn link(visit: Visit) -> HttpResponse {
    if !visit.takes_sessions() {
        return answer::lead_to(FIRST);
    }
    if let Some(own) = visit.own_place() {
        return answer::lead_to(&format!("{own}{}", address(&visit)));
    }
    let Asked { key, .. } = Asked::of(&visit);
    answer::page(&link_page(&visit, key, None))
}

async fn take_link(visit: Visit) -> HttpResponse {
    if !visit.takes_sessions() {
        return answer::lead_to(FIRST);
    }
    if let Some(page) = elsewhere(&visit) {
        return answer::with_status(StatusCode::MISDIRECTED_REQUEST, &page);
    }
    let form = Form::of(&visit);
    match visit
        .sign_in_by_link(form.text(login_links::PARAMETER))
        .await
    {
        Ok(session) => answer::with_cookie(answer::lead_to(FIRST), &session),
        Err(problem) if is_about_who(&problem) => {
            let page = link_page(&visit, String::new(), Some(LINK_REFUSED));
            answer::with_status(StatusCode::UNAUTHORIZED, &page)
        }
        Err(problem) => answer::refused(&visit, &problem),
    }
}

async fn sign_out(visit: Visit) -> HttpResponse {
    if !visit.takes_sessions() {
        return answer::lead_to(FIRST);
    }
    match visit.sign_out().await {
        Ok(cookie) => answer::with_cookie(answer::lead_to(LOGIN), &cookie),
        Err(problem) => answer::refused(&visit, &problem),
    }
}

/// Whether something is wrong with the credential, not with the server.
fn is_about_who(problem: &Problem) -> bool {
    let status = problem.status();
    status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN
}

fn token_page(visit: &Visit, next: &str, fault: Option<String>) -> LoginPage {
    LoginPage {
        look: Look::of(visit),
        step: Step::Token {
            next: next.to_owned(),
            fault,
        },
    }
}

fn link_page(visit: &Visit, key: String, fault: Option<&'static str>) -> LoginPage {
    LoginPage {
        look: Look::of(visit),
        step: Step::Link { key, fault },
    }
}

/// The page that leads to the server's own name, where the visit came under another one.
fn elsewhere(visit: &Visit) -> Option<LoginPage> {
    let own = visit.own_place()?;
    let address = if visit.wants_page() {
        address(visit)
    } else {
        LOGIN.to_owned()
    };
    Some(LoginPage {
        look: Look::of(visit),
        step: Step::Elsewhere {
            place: format!("{own}{address}"),
            host: visit.header("host").unwrap_or_default().to_owned(),
        },
    })
}
