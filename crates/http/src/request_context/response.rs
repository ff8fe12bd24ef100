//! What is answered, and how it is written.

use std::cell::RefCell;
use std::mem;

use actix_web::http::StatusCode;
use serde::Serialize;

use crate::idempotency::ResponseToStore;
use crate::json;
use crate::problem::Problem;
use crate::reply::Reply;

/// A served request, ready to be sent.
pub(super) struct Response {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
    pub(super) next_place: Option<String>,
    /// The ETag of what is answered.
    pub(super) tag: Option<String>,
    /// The answer is that of an earlier request.
    pub(super) replayed: bool,
    /// The run header named a run that is not the caller's.
    pub(super) ignored_run: bool,
    /// Where the next piece of a list of events begins.
    pub(super) last_event_id: Option<i64>,
    /// The engine has something to do.
    pub(super) signal: bool,
    secret: bool,
}

impl Response {
    pub(super) fn encode<B: Serialize>(
        reply: &Reply<B>,
        ignored_run: bool,
    ) -> Result<Self, Problem> {
        let body = written(&reply.body).map_err(|error| Problem::internal(&error))?;
        Ok(Self {
            status: reply.status,
            body,
            next_place: reply.next_place.clone(),
            tag: reply.tag.clone(),
            replayed: false,
            ignored_run,
            last_event_id: reply.last_event_id,
            signal: false,
            secret: reply.secret,
        })
    }

    /// The answer to an earlier request, for its repetition.
    pub(super) fn replay((status, body): (StatusCode, Vec<u8>), ignored_run: bool) -> Self {
        Self {
            status,
            body,
            next_place: None,
            tag: None,
            replayed: true,
            ignored_run,
            last_event_id: None,
            signal: false,
            secret: true,
        }
    }

    /// What is kept of it for a repetition.
    pub(super) fn kept(&self) -> ResponseToStore<'_> {
        ResponseToStore {
            status: self.status,
            body: &self.body,
            secret: self.secret,
        }
    }
}

/// A write that was served, within its transaction.
pub(super) enum ServedWrite<B> {
    /// Its answer, which is written once others may write.
    Reply {
        reply: Reply<B>,
        ignored_run: bool,
        /// The engine has something to do.
        signal: bool,
    },
    /// The answer as it is kept for a repetition.
    Response(Response),
}

impl<B: Serialize> ServedWrite<B> {
    /// The answer, ready to be sent.
    pub(super) fn response(self) -> Result<Response, Problem> {
        match self {
            Self::Response(response) => Ok(response),
            Self::Reply {
                reply,
                ignored_run,
                signal,
            } => Ok(Response {
                signal,
                ..Response::encode(&reply, ignored_run)?
            }),
        }
    }
}

/// A longer answer is not copied, and takes its draft with it.
const KEPT_DRAFT: usize = 128 * 1024;

thread_local! {
    /// Where an answer grows, which by itself would move each time that it doubles.
    static DRAFT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn written(body: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    DRAFT.with_borrow_mut(|draft| {
        draft.clear();
        json::write(draft, body)?;
        if draft.len() > KEPT_DRAFT {
            return Ok(mem::take(draft));
        }
        Ok(draft.clone())
    })
}
