//! The listening server.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::middleware::{Compress, from_fn};
use actix_web::web::{Data, Payload, ServiceConfig};
use actix_web::{App, HttpRequest, HttpServer, web};

use crate::documentation;
use crate::door::Pages;
use crate::head_timeout;
use crate::middleware::surround;
use crate::router::Router;
use crate::routes;
use crate::state::State;
use crate::store_lane::Threads;

/// How many threads serve, and how the server stops.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that talk to clients.
    pub workers: usize,
    /// Connections to the store. As many threads at most take to it what stands in a line; and in
    /// all workers together there are as many for what does not, and half as many again for what
    /// waits for the writer or for files.
    pub store_connections: usize,
    /// For how long a graceful stop waits for requests that are being served.
    pub drain: Duration,
}

/// Starts to serve the interface, and `pages` beside it, on `listener`. The server runs when the result is awaited;
/// its [`handle`](Server::handle) stops it. Signals are the caller's.
///
/// # Errors
/// When the listener cannot be used.
///
/// # Panics
/// Outside of a tokio runtime.
pub fn serve(
    state: Data<State>,
    listener: TcpListener,
    options: Options,
    pages: Pages,
) -> io::Result<Server> {
    // Not the workers' own threads: a slow place of attachments must not keep
    // requests from the store.
    let runtime = tokio::runtime::Handle::current();
    state.transfers.threads.run_on(runtime.clone());
    // Nor does a line end with the worker that began to serve it.
    state.write_lane.threads.run_on(runtime.clone());
    let threads = threads_of_lane(&state, options.store_connections.max(1));
    state.store_lane.run_on(runtime, threads);
    let router = routes::all().into_router(pages, state.clone().into_inner());
    let router = Arc::new(router);
    let blocking_threads = (options.store_connections * 3).div_ceil(options.workers * 2);
    let server = HttpServer::new(move || {
        let (state, router) = (state.clone(), Arc::clone(&router));
        App::new()
            .wrap(Compress::default())
            .wrap(from_fn(surround))
            .configure(move |config| configure(config, state, router))
    })
    .client_request_timeout(Duration::ZERO)
    .on_connect(head_timeout::watch)
    .workers(options.workers)
    .worker_max_blocking_threads(blocking_threads)
    .shutdown_timeout(options.drain.as_secs())
    .disable_signals()
    .listen(listener)?;
    Ok(server.run())
}

/// A store in this process works on the thread that asks it. One elsewhere works while that thread
/// waits, and another thread can prepare or end what it asks. There, writes leave a quarter of the
/// connections to reads and to the engine: all may wait for a lock that somebody else holds.
fn threads_of_lane(state: &State, connections: usize) -> Threads {
    let processors = available_parallelism().map_or(1, usize::from);
    let (usual, most) = match state.ports.store.has_one_writer() {
        true => (processors, connections),
        false => (2 * processors, connections - connections / 4),
    };
    Threads {
        usual: usual.min(most),
        most,
    }
}

/// Puts every route, and what describes them, into an application.
fn configure(config: &mut ServiceConfig, state: Data<State>, router: Arc<Router>) {
    config
        .app_data(state)
        .app_data(Data::from(Arc::clone(&router)))
        .configure(documentation::configure)
        .default_service(web::to(move |head: HttpRequest, payload: Payload| {
            let router = Arc::clone(&router);
            async move { router.serve(head, payload).await }
        }));
}
