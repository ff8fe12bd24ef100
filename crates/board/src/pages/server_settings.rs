//! The settings of the server: who comes in, the master key, how pages look.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use serde::{Deserialize, Serialize};
use workforce_app::secrets::master_key::{self, KeyStatus};
use workforce_app::{Context, Failure, board_sessions, board_tokens};
use workforce_domain::board::{BoardMember, BoardToken};
use workforce_domain::board_session::BoardSession;
use workforce_domain::id::{BoardSessionId, BoardTokenId};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{KeySource, Reads};
use workforce_domain::text::Name;
use workforce_domain::time::Timestamp;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::{Gathered, Refused, Told as _, of};
use crate::answer;
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::when::{Ago, Exactly};
use crate::look::Look;

const SETTINGS: &str = "/settings";
/// So many rows of a list.
const SHOWN: usize = 50;

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(SETTINGS, Access::Board, page)
        .post("/settings/sessions/end-others", Access::Board, end_others)
        .post("/settings/sessions/{sessionId}/end", Access::Board, end)
        .post("/settings/tokens", Access::Board, make_token)
        .post(
            "/settings/tokens/{tokenId}/revoke",
            Access::Board,
            revoke_token,
        )
}

struct SessionRow {
    id: BoardSessionId,
    /// The token that it belongs to.
    token: String,
    made: Ago,
    used: Ago,
    ends: Exactly,
    is_own: bool,
}

struct TokenRow {
    id: BoardTokenId,
    name: String,
    prefix: String,
    made: Ago,
    used: Option<Ago>,
    revoked: Option<Ago>,
}

/// A token just made, which is shown this once.
#[derive(Deserialize, Serialize)]
struct Made {
    name: String,
    value: String,
}

#[derive(Template)]
#[template(path = "pages/server_settings.html")]
struct SettingsPage {
    look: Look,
    path: &'static str,
    /// Whether people sign in.
    has_sessions: bool,
    sessions: Vec<SessionRow>,
    /// Whether there are sessions beside the visitor's own.
    has_others: bool,
    tokens: Vec<TokenRow>,
    /// Whether a list has more rows than are shown.
    is_cut: bool,
    made: Option<Made>,
    form: Filled,
    key: KeyStatus,
    is_key_given: bool,
    version: &'static str,
}

/// What the store tells of all that.
struct Found {
    sessions: Vec<BoardSession>,
    tokens: Vec<BoardToken>,
    is_cut: bool,
    key: KeyStatus,
    now: Timestamp,
}

fn gather(reads: &mut dyn Reads, ctx: &Context<'_>) -> Gathered<Found> {
    let sessions = board_sessions::list(reads, ctx, &of(SHOWN)).told()?;
    let tokens = board_tokens::list(reads, ctx, &PageRequest::first()).told()?;
    let valid = tokens.items.iter().filter(|it| it.revoked_at.is_none());
    Ok(Found {
        is_cut: sessions.next.is_some() || tokens.next.is_some() || valid.count() > SHOWN,
        key: master_key::status(reads, ctx.vault).map_err(Failure::Store)?,
        sessions: sessions.items,
        tokens: tokens.items,
        now: ctx.now,
    })
}

async fn page(visit: Visit) -> HttpResponse {
    let form = Filled::blank(&visit);
    shown(&visit, form, None, StatusCode::OK).await
}

async fn shown(
    visit: &Visit,
    form: Filled,
    made: Option<Made>,
    status: StatusCode,
) -> HttpResponse {
    match visit.look(gather).await {
        Ok(found) => answer::with_status(status, &put_together(visit, form, made, found)),
        Err(problem) => answer::refused(visit, &problem),
    }
}

fn put_together(visit: &Visit, form: Filled, made: Option<Made>, found: Found) -> SettingsPage {
    let now = found.now;
    let sessions = found.sessions.iter().map(|session| SessionRow {
        id: session.id,
        token: token_of(session, &found.tokens),
        made: Ago::new(session.created_at, now),
        used: Ago::new(session.last_used_at, now),
        ends: Exactly(session.expires_at),
        is_own: visit.is_own(session),
    });
    let sessions: Vec<_> = sessions.collect();
    // Those that are valid first, and of both the newest.
    let mut tokens: Vec<_> = found.tokens.iter().collect();
    tokens.sort_by_key(|token| {
        (
            token.revoked_at.is_some(),
            std::cmp::Reverse(token.created_at),
        )
    });
    let tokens = tokens.into_iter().take(SHOWN).map(|token| TokenRow {
        id: token.id,
        name: token.name.to_string(),
        prefix: token.prefix.clone(),
        made: Ago::new(token.created_at, now),
        used: token.last_used_at.map(|at| Ago::new(at, now)),
        revoked: token.revoked_at.map(|at| Ago::new(at, now)),
    });
    SettingsPage {
        look: Look::of(visit),
        path: SETTINGS,
        has_sessions: visit.takes_sessions(),
        has_others: sessions.iter().any(|row| !row.is_own),
        sessions,
        tokens: tokens.collect(),
        is_cut: found.is_cut,
        made,
        form,
        is_key_given: found.key.source == KeySource::Given,
        key: found.key,
        version: env!("CARGO_PKG_VERSION"),
    }
}

/// The name of the token that a session belongs to.
fn token_of(session: &BoardSession, tokens: &[BoardToken]) -> String {
    match session.member {
        BoardMember::StartToken => "the server’s own".to_owned(),
        BoardMember::Token(id) => {
            let token = tokens.iter().find(|token| token.id == id);
            token.map_or_else(|| id.to_string(), |token| token.name.to_string())
        }
        member @ (BoardMember::Local | BoardMember::User(_)) => member.to_string(),
    }
}

async fn end(visit: Visit) -> HttpResponse {
    let ended = match visit.parameter("sessionId").parse::<BoardSessionId>() {
        Ok(id) => {
            let ended = visit.act(
                None,
                id,
                |tx, ctx, id: &BoardSessionId| board_sessions::end(tx, ctx, *id),
                |ended| ended.id,
            );
            ended.await.map(drop)
        }
        Err(_malformed) => return answer::no_such_page(&visit),
    };
    led_back(&visit, ended)
}

async fn end_others(visit: Visit) -> HttpResponse {
    // Found out first: what a browser brings is not known within the transaction.
    let own = visit.look(|reads, ctx| {
        let all = board_sessions::list(reads, ctx, &PageRequest::first()).told()?;
        Ok::<_, Failure<Refused>>(all.items)
    });
    let own = match own.await {
        Ok(all) => all.into_iter().find(|session| visit.is_own(session)),
        Err(problem) => return answer::refused(&visit, &problem),
    };
    let ended = visit.act(
        None,
        own.map(|own| own.id),
        |tx, ctx, own: &Option<BoardSessionId>| {
            board_sessions::end_others(tx, ctx, |session| Some(session.id) == *own)
        },
        |ended| ended,
    );
    let ended = ended.await.map(drop);
    led_back(&visit, ended)
}

async fn make_token(visit: Visit) -> HttpResponse {
    #[derive(Deserialize)]
    struct NewToken {
        name: Name,
    }
    let form = Form::of(&visit);
    let made = match form.command::<NewToken>(&[("name", Kind::Text)]) {
        Ok(NewToken { name }) => {
            let made = visit.act_sealed(
                form.key(),
                name,
                |tx, ctx, name: &Name| board_tokens::create(tx, ctx, name.clone()),
                |made| Made {
                    name: made.kept.name.to_string(),
                    value: made.value,
                },
            );
            made.await
        }
        Err(problem) => Err(problem),
    };
    match made {
        Ok(made) => shown(&visit, Filled::blank(&visit), Some(made), StatusCode::OK).await,
        Err(problem) => {
            let filled = Filled::refused(form, &problem, &visit);
            shown(&visit, filled, None, problem.status()).await
        }
    }
}

async fn revoke_token(visit: Visit) -> HttpResponse {
    let Ok(id) = visit.parameter("tokenId").parse::<BoardTokenId>() else {
        return answer::no_such_page(&visit);
    };
    let revoked = visit.act(
        None,
        id,
        |tx, ctx, id: &BoardTokenId| board_tokens::revoke(tx, ctx, *id),
        |revoked| revoked.id,
    );
    let revoked = revoked.await.map(drop);
    led_back(&visit, revoked)
}

fn led_back(visit: &Visit, done: Result<(), Problem>) -> HttpResponse {
    match done {
        Ok(()) => answer::lead_to(SETTINGS),
        Err(problem) => answer::refused(visit, &problem),
    }
}
