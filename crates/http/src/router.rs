//! Which handler a request is for. The paths of all routes are one radix tree,
//! made once and shared by all workers, so that to find a route takes the same
//! time however many there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};
use matchit::InsertError;

use crate::door::{self, Refuse, Visit};
use crate::endpoints::Handler;
use crate::problem::Problem;
use crate::request_id::RequestId;
use crate::state::State;

/// The routes of a server by path.
pub(crate) struct Router {
    tree: matchit::Router<PathRoutes>,
    /// How a browser is told that there is no such page, where there are pages.
    refused: Option<Refuse>,
    state: Arc<State>,
}

/// What serves a method of a path.
pub(crate) struct Route {
    pub(crate) path: String,
    pub(crate) method: Method,
    pub(crate) handler: Handler,
}

/// What there is under one path.
struct PathRoutes {
    pattern: RoutePattern,
    /// The names of the path's parameters, from left to right.
    parameters: Arc<[String]>,
    handlers: Vec<(Method, Handler)>,
    /// The methods, as the header `Allow` lists them.
    allow: String,
}

/// The path of a route as the documentation writes it, as an extension of the
/// requests that it serves.
#[derive(Clone, Debug)]
pub(crate) struct RoutePattern(pub(crate) Arc<str>);

/// A request that has found its route.
pub(crate) struct Routed {
    /// Its head.
    pub(crate) head: HttpRequest,
    /// Its body, of which nothing was read.
    pub(crate) payload: web::Payload,
    /// The parameters in its path.
    pub(crate) parameters: PathParameters,
}

/// The parameters in a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathParameters {
    names: Arc<[String]>,
    values: Vec<String>,
}

impl PathParameters {
    /// Parameters of these names.
    pub(crate) fn of<const N: usize>(parameters: [(&str, String); N]) -> Self {
        let names = parameters.each_ref().map(|(name, _)| (*name).to_owned());
        Self {
            names: Arc::new(names),
            values: parameters.map(|(_, value)| value).into(),
        }
    }

    /// The parameter of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let place = self.names.iter().position(|it| it == name)?;
        self.values.get(place).map(String::as_str)
    }
}

impl Router {
    /// A router of these routes.
    ///
    /// # Panics
    /// When two paths differ in nothing but the names of their parameters.
    pub(crate) fn new(
        routes: impl Iterator<Item = Route>,
        refused: Option<Refuse>,
        state: Arc<State>,
    ) -> Self {
        let mut paths: BTreeMap<String, Vec<(Method, Handler)>> = BTreeMap::new();
        for route in routes {
            let group = paths.entry(route.path).or_default();
            group.push((route.method, route.handler));
        }
        let mut tree = matchit::Router::new();
        for (path, group) in paths {
            let (shape, parameters) = shape_of(&path);
            let routes = PathRoutes {
                pattern: RoutePattern(path.as_str().into()),
                parameters: parameters.into(),
                allow: allowed(&group),
                handlers: group,
            };
            let inserted: Result<(), InsertError> = tree.insert(shape, routes);
            assert!(inserted.is_ok(), "{path}: {inserted:?}");
        }
        Self {
            tree,
            refused,
            state,
        }
    }

    /// Has a request served by the handler of its route.
    pub(crate) async fn serve(&self, head: HttpRequest, payload: web::Payload) -> HttpResponse {
        // As it was sent, but with what needs no escape unescaped.
        let found = self.tree.at(head.match_info().as_str());
        let Ok(found) = found else {
            return self.refuse(head, Problem::no_such_path());
        };
        let routes = found.value;
        let values = found.params.iter().map(|(_name, value)| value.to_owned());
        let parameters = PathParameters {
            names: Arc::clone(&routes.parameters),
            values: values.collect(),
        };
        head.extensions_mut().insert(routes.pattern.clone());
        match routes.handler(head.method()) {
            Some(handler) => {
                let state = Arc::clone(&self.state);
                let routed = Routed {
                    head,
                    payload,
                    parameters,
                };
                handler(state, routed).await
            }
            None => self.refuse(head, Problem::method_not_allowed(&routes.allow)),
        }
    }

    /// Says to a program, or to a browser that asks for a page, why it gets nothing else.
    pub(crate) fn refuse(&self, head: HttpRequest, problem: Problem) -> HttpResponse {
        match self.refused {
            Some(refused) if door::is_page(&head) => {
                let state = Arc::clone(&self.state);
                refused(&Visit::nowhere(state, head), &problem)
            }
            _ => problem.answer(&RequestId::of(&head.extensions())),
        }
    }
}

impl PathRoutes {
    /// What serves this method. Whoever asks for a head is served like one who
    /// asks for all.
    fn handler(&self, method: &Method) -> Option<&Handler> {
        let asked = if method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        let mut handlers = self.handlers.iter();
        handlers
            .find(|(method, _)| method == asked)
            .map(|(_, handler)| handler)
    }
}

/// A path with numbers in the place of the names of its parameters, since the
/// tree wants one name in one place; and the names.
fn shape_of(path: &str) -> (String, Vec<String>) {
    let mut names = Vec::new();
    let segments = path.split('/').map(|segment| {
        let name = segment
            .strip_prefix('{')
            .and_then(|it| it.strip_suffix('}'));
        name.map_or_else(
            || segment.to_owned(),
            |name| {
                names.push(name.to_owned());
                format!("{{{}}}", names.len())
            },
        )
    });
    let shape = segments.collect::<Vec<_>>().join("/");
    (shape, names)
}

fn allowed(group: &[(Method, Handler)]) -> String {
    let mut methods: Vec<_> = group.iter().map(|(method, _)| method).collect();
    if methods.contains(&&Method::GET) {
        methods.push(&Method::HEAD);
    }
    let names: Vec<_> = methods.iter().map(|method| method.as_str()).collect();
    names.join(", ")
}
