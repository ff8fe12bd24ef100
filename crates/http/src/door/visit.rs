//! Somebody who looks at a page.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::http::header::{self, HeaderName};
use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use workforce_app::{Code, Context, Failure, Refusal};
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::ApprovalId;
use workforce_domain::port::{AgreedWork, CarryOutError, Reads, Tx};
use workforce_domain::time::Timestamp;

use crate::access_rules::Access;
use crate::body::incoming::receive;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::{Request, RequestContext};
use crate::request_id::RequestId;
use crate::router::{PathParameters, Routed};
use crate::state::{Ports, State};
use crate::streamed_request::StreamedRequest;

/// Somebody who looks at a page, or sends its form. Cheap to clone.
#[derive(Clone)]
pub struct Visit(Rc<Visitor>);

struct Visitor {
    state: Arc<State>,
    head: HttpRequest,
    parameters: PathParameters,
    access: Access,
    form: Bytes,
}

impl Visit {
    pub(super) fn begin(
        state: Arc<State>,
        routed: Routed,
        access: Access,
    ) -> (Self, StreamedRequest) {
        let Routed {
            head,
            payload,
            parameters,
        } = routed;
        let visitor = Visitor {
            state,
            head: head.clone(),
            parameters,
            access,
            form: Bytes::new(),
        };
        (Self(Rc::new(visitor)), StreamedRequest { head, payload })
    }

    /// A visit to a place that is not there.
    pub(crate) fn nowhere(state: Arc<State>, head: HttpRequest) -> Self {
        Self(Rc::new(Visitor {
            state,
            head,
            parameters: PathParameters::default(),
            access: Access::Public,
            form: Bytes::new(),
        }))
    }

    /// The same with the form that was sent.
    pub(super) async fn with_form(
        self,
        connection: StreamedRequest,
    ) -> Result<Self, (Self, Problem)> {
        if !self.comes_from_here() {
            return Err((self, Self::from_elsewhere()));
        }
        match receive(self.request_context(None), connection, "a form").await {
            Ok((rqctx, _slot)) => Ok(Self(Rc::new(Visitor {
                state: Arc::clone(&self.0.state),
                head: self.0.head.clone(),
                parameters: self.0.parameters.clone(),
                access: self.0.access,
                form: rqctx.request.body,
            }))),
            Err(problem) => Err((self, problem)),
        }
    }

    pub(super) fn from_elsewhere() -> Problem {
        let detail = "a form is taken from pages of this server only";
        Problem::new(Code::OriginForbidden, detail)
    }

    /// Whether a page of this server sends the form. Where the browser does not say so, its origin
    /// does.
    pub(super) fn comes_from_here(&self) -> bool {
        let header = |name| text(&self.0.head, name);
        match header(HeaderName::from_static("sec-fetch-site")) {
            Some(site) => site == "same-origin",
            None => {
                let origin = header(header::ORIGIN).and_then(|it| it.split_once("://"));
                let host = header(header::HOST);
                origin.is_some_and(|(_scheme, origin)| Some(origin) == host)
            }
        }
    }

    pub(super) fn state(&self) -> &Arc<State> {
        &self.0.state
    }

    pub(super) fn head(&self) -> &HttpRequest {
        &self.0.head
    }

    pub(super) fn request_context(&self, key: Option<&str>) -> RequestContext {
        let visitor = &*self.0;
        let request = Request::capture(&visitor.head, visitor.parameters.clone());
        let mut request = request.with_session(self.session());
        request.body = visitor.form.clone();
        RequestContext {
            state: Arc::clone(&visitor.state),
            request: match key {
                Some(key) => request.with_key(key),
                None => request,
            },
            access: visitor.access,
            room: None,
        }
    }

    pub(super) fn ports(&self) -> &Ports {
        &self.0.state.ports
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        self.0.head.path()
    }

    /// The query, as it was sent.
    pub fn query(&self) -> &str {
        self.0.head.query_string()
    }

    /// A part of the path; empty when the path has none of this name.
    pub fn parameter(&self, name: &str) -> &str {
        self.0.parameters.get(name).unwrap_or_default()
    }

    /// What was sent with a form.
    pub fn form(&self) -> &[u8] {
        &self.0.form
    }

    /// A header; `None` when it is missing or no text.
    pub fn header(&self, name: &'static str) -> Option<&str> {
        text(&self.0.head, HeaderName::from_static(name))
    }

    /// A cookie, as it was sent.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let cookies = self.0.head.headers().get_all(header::COOKIE);
        let texts = cookies.filter_map(|value| value.to_str().ok());
        texts
            .flat_map(|text| text.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .find_map(|(its, value)| (its == name).then_some(value))
    }

    /// The present instant.
    pub fn now(&self) -> Timestamp {
        self.0.state.ports.clock.now()
    }

    /// A new text that no form had before.
    pub fn new_key(&self) -> String {
        self.0.state.ports.ids.next().to_string()
    }

    /// What the log calls this request.
    pub fn request_id(&self) -> String {
        RequestId::of(&self.0.head.extensions())
    }

    /// Looks at the store, as whoever visits, in one transaction.
    ///
    /// # Errors
    /// Who asks may not, what `act` refuses, or the store failed.
    pub async fn look<T, E>(
        &self,
        act: impl Fn(&mut dyn Reads, &Context<'_>) -> Result<T, Failure<E>> + Send + 'static,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        E: Refusal,
    {
        let looked = self
            .request_context(None)
            .look(|_request| Ok(()), move |reads, ctx, ()| act(reads, ctx));
        let found = looked.await.map(|(_rqctx, found)| found);
        found.inspect_err(|problem| self.note(problem))
    }

    /// Does what the form asks for, in one transaction, and tells `answer` of it. The same form,
    /// sent again with the same `key`, does nothing more and is told the same.
    ///
    /// # Errors
    /// Who asks may not, what `act` refuses, or the store failed.
    pub async fn act<I, T, E, B>(
        &self,
        key: Option<&str>,
        input: I,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
        answer: impl Fn(T) -> B + Send + 'static,
    ) -> Result<B, Problem>
    where
        I: Send + 'static,
        E: Refusal,
        B: Serialize + DeserializeOwned + Send + 'static,
    {
        let reply = move |value| Reply::ok(answer(value));
        self.done(key, input, act, reply).await
    }

    /// The same where the form or what is told carries a credential: what is kept of them for a
    /// repetition is sealed.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub async fn act_sealed<I, T, E, B>(
        &self,
        key: Option<&str>,
        input: I,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
        answer: impl Fn(T) -> B + Send + 'static,
    ) -> Result<B, Problem>
    where
        I: Send + 'static,
        E: Refusal,
        B: Serialize + DeserializeOwned + Send + 'static,
    {
        let reply = move |value| Reply::ok(answer(value)).sealed();
        self.done(key, input, act, reply).await
    }

    async fn done<I, T, E, B>(
        &self,
        key: Option<&str>,
        input: I,
        act: impl Fn(&mut dyn Tx, &Context<'_>, &I) -> Result<T, Failure<E>> + Send + 'static,
        reply: impl Fn(T) -> Reply<B> + Send + 'static,
    ) -> Result<B, Problem>
    where
        I: Send + 'static,
        E: Refusal,
        B: Serialize + DeserializeOwned + Send + 'static,
    {
        let context = self.request_context(key);
        let done = context.act(move |_request| Ok(input), act, reply);
        done.await.inspect_err(|problem| self.note(problem))
    }

    /// Does outside of the store what an approval asks for there, once that was begun.
    ///
    /// # Errors
    /// The step that failed.
    pub async fn carry_out(
        &self,
        company: CompanyScope,
        approval: ApprovalId,
        agreed: AgreedWork,
    ) -> Result<(), Problem> {
        let governed = &self.0.state.ports.governed;
        match governed.carry_out(company, approval, agreed).await {
            // Another attempt did it, which the page tells then.
            Ok(_) | Err(CarryOutError::Overtaken) => Ok(()),
            Err(error) => Err(Problem::not_carried_out(error)),
        }
        .inspect_err(|problem| self.note(problem))
    }

    /// Tells the log of a fault of the server.
    pub(super) fn note(&self, problem: &Problem) {
        if let Some(cause) = problem.cause() {
            let (request_id, code) = (self.request_id(), problem.code());
            tracing::error!(request_id, %code, %cause, "a request failed");
        }
    }
}

pub(super) fn text(head: &HttpRequest, name: HeaderName) -> Option<&str> {
    head.headers().get(name)?.to_str().ok()
}
