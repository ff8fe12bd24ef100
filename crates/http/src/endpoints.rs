//! The one way to register a route. It takes the access rule, the machine codes
//! of the use case, the handler and the description of the operation together,
//! so that none can be missing.

use std::cell::LazyCell;
use std::future::Future;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{HttpMessage, HttpResponse};
use futures_util::future::LocalBoxFuture;
use utoipa::__dev::{SchemaReferences, Tags};
use utoipa::openapi::path::{HttpMethod, Operation, ParameterIn};
use utoipa::openapi::{RefOr, Schema};
use workforce_app::Codes;

use crate::access_rules::Access;
use crate::body::incoming::receive;
use crate::door::Pages;
use crate::request_context::{Request, RequestContext};
use crate::request_id::RequestId;
use crate::router::{Route, Routed, Router};
use crate::state::State;
use crate::streamed_request::StreamedRequest;

/// A registered route.
pub(crate) struct Endpoint {
    pub(crate) path: String,
    pub(crate) method: HttpMethod,
    pub(crate) access: Access,
    /// What it does, for documentation: made when it is first asked for, since
    /// a server that answers requests has no need of it.
    pub(crate) operation: LazyCell<Operation>,
    pub(crate) refuses: Codes,
    /// Whether its body is read, as JSON, before the handler is called.
    pub(crate) reads_body: bool,
    pub(crate) handler: Handler,
}

/// Serves the requests of a route.
pub(crate) type Handler =
    Box<dyn Fn(Arc<State>, Routed) -> LocalBoxFuture<'static, HttpResponse> + Send + Sync>;

impl Endpoint {
    /// True when the description names a parameter of the query or a header.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.operation
            .parameters
            .iter()
            .flatten()
            .any(|parameter| match parameter {
                RefOr::T(it) => it.name == name && it.parameter_in != ParameterIn::Path,
                RefOr::Ref(_) => false,
            })
    }
}

/// The routes of a server.
#[derive(Default)]
pub struct Endpoints {
    endpoints: Vec<Endpoint>,
    schemas: Vec<fn(&mut NamedSchemas)>,
}

/// Schemas of bodies, by name.
pub(crate) type NamedSchemas = Vec<(String, RefOr<Schema>)>;

impl Endpoints {
    /// No routes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a handler that reads the body of its requests as a stream, or
    /// answers with one. Nothing of the body is read before the handler asks
    /// for it, and the limits and the time of JSON bodies do not hold: the
    /// handler sets its own. See [`Self::add`] for the rest.
    #[must_use]
    pub(crate) fn add_streaming<P, F, A>(
        self,
        _description: P,
        access: Access,
        refuses: Codes,
        handler: F,
    ) -> Self
    where
        P: utoipa::Path + SchemaReferences + for<'t> Tags<'t>,
        F: Fn(RequestContext, StreamedRequest) -> A + Copy + Send + Sync + 'static,
        A: Future<Output = HttpResponse> + 'static,
    {
        self.with::<P>(access, refuses, false, || {
            Box::new(move |state, routed| {
                let Routed {
                    head,
                    payload,
                    parameters,
                } = routed;
                let rqctx = RequestContext {
                    state,
                    request: Request::capture(&head, parameters),
                    access,
                    room: None,
                };
                Box::pin(handler(rqctx, StreamedRequest { head, payload }))
            })
        })
    }

    /// Registers a handler under the path and methods of its description,
    /// which `#[utoipa::path]` makes beside it. `refuses` names the codes of
    /// its use case; those that follow from the shape of the route ([`crate::registry::COMMON`])
    /// go without saying. A server with debug assertions panics at any other.
    #[must_use]
    pub(crate) fn add<P, F, A>(
        self,
        _description: P,
        access: Access,
        refuses: Codes,
        handler: F,
    ) -> Self
    where
        P: utoipa::Path + SchemaReferences + for<'t> Tags<'t>,
        F: Fn(RequestContext) -> A + Copy + Send + Sync + 'static,
        A: Future<Output = HttpResponse> + 'static,
    {
        self.with::<P>(access, refuses, true, || {
            Box::new(move |state, routed| {
                Box::pin(async move {
                    let Routed {
                        head,
                        payload,
                        parameters,
                    } = routed;
                    let rqctx = RequestContext {
                        state,
                        request: Request::capture(&head, parameters),
                        access,
                        room: None,
                    };
                    let kept = head.clone();
                    match receive(rqctx, StreamedRequest { head, payload }, "a JSON body").await {
                        Ok((rqctx, _slot)) => handler(rqctx).await,
                        Err(problem) => problem.answer(&RequestId::of(&kept.extensions())),
                    }
                })
            })
        })
    }

    /// Adds an endpoint for each method of a description.
    fn with<P>(
        mut self,
        access: Access,
        refuses: Codes,
        reads_body: bool,
        handler: impl Fn() -> Handler,
    ) -> Self
    where
        P: utoipa::Path + SchemaReferences + for<'t> Tags<'t>,
    {
        self.schemas.push(P::schemas);
        for method in P::methods() {
            self.endpoints.push(Endpoint {
                path: P::path(),
                handler: handler(),
                method,
                access,
                operation: LazyCell::new(operation::<P>),
                refuses,
                reads_body,
            });
        }
        self
    }

    pub(crate) fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The schemas that the descriptions refer to; some more than once.
    pub fn schemas(&self) -> NamedSchemas {
        let mut schemas = NamedSchemas::new();
        for add in &self.schemas {
            add(&mut schemas);
        }
        schemas
    }

    /// What finds the handlers of these routes and of pages.
    pub(crate) fn into_router(self, pages: Pages, state: Arc<State>) -> Router {
        let routes = self.endpoints.into_iter().map(|endpoint| Route {
            path: endpoint.path,
            method: name(&endpoint.method),
            handler: endpoint.handler,
        });
        let (of_pages, refused) = pages.into_routes();
        Router::new(routes.chain(of_pages), refused, state)
    }
}

/// What an operation does, with the resource it belongs to.
fn operation<P: utoipa::Path + for<'t> Tags<'t>>() -> Operation {
    let tags = <P as Tags<'static>>::tags();
    let mut operation = P::operation();
    operation.tags = Some(tags.into_iter().map(str::to_owned).collect());
    operation
}

pub(crate) const fn name(method: &HttpMethod) -> Method {
    match method {
        HttpMethod::Get => Method::GET,
        HttpMethod::Post => Method::POST,
        HttpMethod::Put => Method::PUT,
        HttpMethod::Delete => Method::DELETE,
        HttpMethod::Options => Method::OPTIONS,
        HttpMethod::Head => Method::HEAD,
        HttpMethod::Patch => Method::PATCH,
        HttpMethod::Trace => Method::TRACE,
    }
}
