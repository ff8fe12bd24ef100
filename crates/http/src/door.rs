//! The door through which another crate serves pages beside the interface: the same routes, rights
//! and use cases, with answers of its own.

mod adapter_check;
mod commands;
mod files;
mod instructions;
mod remotes;
mod run_log;
mod session;
mod system;
mod visit;
mod worktree;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::Method;
use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
pub use commands::{
    bundle_path, change_of_adapter, changed_agent, command, fault, file_to_put, new_agent,
    new_secret,
};
use futures_util::future::LocalBoxFuture;

pub use crate::access_rules::Access;
use crate::endpoints::Handler;
use crate::problem::Problem;
use crate::router::{Route, Routed};
use crate::routes;
use crate::state::State;
pub use run_log::LogPiece;
pub use system::System;
pub use visit::Visit;
use visit::text;

/// How a refusal is answered to whoever looks at pages.
pub type Refuse = fn(&Visit, &Problem) -> HttpResponse;

/// Who goes from page to page leaves a stream behind each time, and may have some of them only.
const PAGE_KEEP_ALIVE: Duration = Duration::from_secs(1);

/// What addresses of the interface begin with: there, browsers get what programs get.
const OF_PROGRAMS: [&str; 3] = ["/api/", "/docs", "/metrics"];

/// Pages to be served.
pub struct Pages {
    routes: Vec<Route>,
    refused: Option<Refuse>,
}

impl Pages {
    /// No pages at all.
    pub const NONE: Self = Self {
        routes: Vec::new(),
        refused: None,
    };

    /// No pages yet. `refused` answers for those that there are not.
    pub const fn new(refused: Refuse) -> Self {
        Self {
            routes: Vec::new(),
            refused: Some(refused),
        }
    }

    /// Adds a page, which changes nothing.
    #[must_use]
    pub fn get<F, A>(self, path: &str, access: Access, serve: F) -> Self
    where
        F: Fn(Visit) -> A + Copy + Send + Sync + 'static,
        A: Future<Output = HttpResponse> + 'static,
    {
        self.add(path, Method::GET, move |state, routed| {
            let (visit, _payload) = Visit::begin(state, routed, access);
            Box::pin(serve(visit))
        })
    }

    /// Adds what the form of a page is sent to. Only pages of this server may send it
    /// (docs/board.md#forms).
    #[must_use]
    pub fn post<F, A>(self, path: &str, access: Access, serve: F) -> Self
    where
        F: Fn(Visit) -> A + Copy + Send + Sync + 'static,
        A: Future<Output = HttpResponse> + 'static,
    {
        let refused = self.refused;
        self.add(path, Method::POST, move |state, routed| {
            let (visit, connection) = Visit::begin(state, routed, access);
            Box::pin(async move {
                match visit.with_form(connection).await {
                    Ok(visit) => serve(visit).await,
                    Err((visit, problem)) => match refused {
                        Some(refused) => refused(&visit, &problem),
                        None => problem.answer(&visit.request_id()),
                    },
                }
            })
        })
    }

    /// Adds the stream of what happens in the company that the path names as `companyId`.
    #[must_use]
    pub fn events(self, path: &str) -> Self {
        self.add(path, Method::GET, |state, routed| {
            let (visit, _payload) = Visit::begin(state, routed, Access::Board);
            Box::pin(async move {
                let context = visit.request_context(None);
                let opened = routes::stream_events(context, PAGE_KEEP_ALIVE).await;
                opened.unwrap_or_else(|problem| problem.answer(&visit.request_id()))
            })
        })
    }

    fn add(
        mut self,
        path: &str,
        method: Method,
        handler: impl Fn(Arc<State>, Routed) -> LocalBoxFuture<'static, HttpResponse>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.routes.push(Route {
            path: path.to_owned(),
            method,
            handler: Box::new(handler) as Handler,
        });
        self
    }

    pub(crate) fn into_routes(self) -> (Vec<Route>, Option<Refuse>) {
        (self.routes, self.refused)
    }
}

/// Whether a browser asks for something that could be a page.
pub(crate) fn is_page(head: &HttpRequest) -> bool {
    let accept = text(head, header::ACCEPT).unwrap_or_default();
    accept.contains("text/html") && !OF_PROGRAMS.iter().any(|it| head.path().starts_with(it))
}
