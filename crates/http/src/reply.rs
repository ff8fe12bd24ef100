use actix_web::http::StatusCode;
use serde::Serialize;
use workforce_domain::page::Page;

use crate::paging;

/// What a served request is answered with.
#[derive(Debug)]
pub(crate) struct Reply<B> {
    pub(crate) status: StatusCode,
    pub(crate) body: B,
    /// After which a list continues.
    pub(crate) next_place: Option<String>,
    /// Names this state of what is answered.
    pub(crate) tag: Option<String>,
    /// Where the next piece of a list of events begins.
    pub(crate) last_event_id: Option<i64>,
    /// Whether the request or the body carries a credential, so that what is
    /// kept of them for a repeated request is sealed.
    pub(crate) secret: bool,
}

impl<B: Serialize> Reply<B> {
    const fn new(status: StatusCode, body: B) -> Self {
        Self {
            status,
            body,
            next_place: None,
            tag: None,
            last_event_id: None,
            secret: false,
        }
    }

    /// 200: what was asked for, or what an action led to.
    pub(crate) const fn ok(body: B) -> Self {
        Self::new(StatusCode::OK, body)
    }

    /// 201: what was made.
    pub(crate) const fn created(body: B) -> Self {
        Self::new(StatusCode::CREATED, body)
    }

    /// The same, but what is kept of the request and the body is sealed.
    #[must_use]
    pub(crate) fn sealed(self) -> Self {
        Self {
            secret: true,
            ..self
        }
    }

    /// 202: what will be done.
    pub(crate) const fn accepted(body: B) -> Self {
        Self::new(StatusCode::ACCEPTED, body)
    }

    /// The same answer under an ETag.
    #[must_use]
    pub(crate) fn tagged(mut self, tag: String) -> Self {
        self.tag = Some(tag);
        self
    }

    /// 201: what was made, with a credential that is shown this once.
    pub(crate) fn credential(body: B) -> Self {
        Self {
            secret: true,
            ..Self::new(StatusCode::CREATED, body)
        }
    }
}

impl<B: Serialize> Reply<Vec<B>> {
    /// 200: a whole list, as a bare array.
    pub(crate) fn all<T: Into<B>>(items: Vec<T>) -> Self {
        Self::ok(items.into_iter().map(Into::into).collect())
    }

    /// 200: one page of a list, as a bare array.
    pub(crate) fn page<T: Into<B>, K: Serialize>(page: Page<T, K>) -> Self {
        let next_place = page.next.as_ref().and_then(paging::place);
        let body = page.items.into_iter().map(Into::into).collect();
        Self {
            next_place,
            ..Self::new(StatusCode::OK, body)
        }
    }
}
