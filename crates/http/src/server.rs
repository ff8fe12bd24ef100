//! The listening server.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::middleware::{Compress, from_fn};
use actix_web::web::{Data, Payload, ServiceConfig};
use actix_web::{App, HttpRequest, HttpServer, web};

use crate::documentation;
use crate::head_timeout;
use crate::middleware::surround;
use crate::router::Router;
use crate::routes;
use crate::state::State;

/// How many threads serve, and how the server stops.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that talk to clients.
    pub workers: usize,
    /// Connections to the store. As many threads at most read in the line of a store in this
    /// process; and in all workers together there are as many for what does not stand in a line.
    /// Where writes stand in a line, there are half as many again for what waits for the writer or
    /// for files. Elsewhere these would only wait for a connection, and to wake one of them for
    /// each that is given back costs more than what it does in between.
    pub store_connections: usize,
    /// For how long a graceful stop waits for requests that are being served.
    pub drain: Duration,
}

/// Starts to serve on `listener`. The server runs when the result is awaited;
/// its [`handle`](Server::handle) stops it. Signals are the caller's.
///
/// # Errors
/// When the listener cannot be used.
///
/// # Panics
/// Outside of a tokio runtime.
pub fn serve(state: Data<State>, listener: TcpListener, options: Options) -> io::Result<Server> {
    // Not the workers' own threads: a slow place of attachments must not keep
    // requests from the store.
    let runtime = tokio::runtime::Handle::current();
    state.transfers.threads.run_on(runtime.clone());
    // Nor does a line end with the worker that began to serve it.
    state.write_lane.threads.run_on(runtime.clone());
    state.read_lane.run_on(runtime, options.store_connections);
    let router = routes::all().into_router(state.clone().into_inner());
    let router = Arc::new(router);
    let threads = match state.ports.store.has_one_writer() {
        true => (options.store_connections * 3).div_ceil(2),
        false => options.store_connections,
    };
    let blocking_threads = threads.div_ceil(options.workers);
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

/// Puts every route, and what describes them, into an application.
fn configure(config: &mut ServiceConfig, state: Data<State>, router: Arc<Router>) {
    config
        .app_data(state)
        .configure(documentation::configure)
        .default_service(web::to(move |head: HttpRequest, payload: Payload| {
            let router = Arc::clone(&router);
            async move { router.serve(head, payload).await }
        }));
}
