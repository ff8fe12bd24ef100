//! The limit of a read: a bare actix handler that runs the same statements where the request
//! arrives, and answers with the values that it found. It parses no path by a table, knows no
//! rules, writes no JSON and hands nothing to another thread. What a server does beyond that is
//! what the ratio to it shows.

use std::cell::RefCell;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use actix_web::dev::ServerHandle;
use actix_web::web::{self, Bytes};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use anyhow::{Context as _, Result, anyhow};

use crate::database::Database;
use crate::figure::Figure;
use crate::read::Reader;
use crate::statement::Key;

/// A running server of the limit. It ends when it is dropped.
pub(crate) struct Limit {
    address: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Limit {
    /// Answers the reads of `figure` from the database at `url`, on as many threads as there are
    /// `workers`, each with a connection of its own.
    pub(crate) fn start<D: Database + 'static>(
        url: &str,
        workers: usize,
        figure: Figure,
        reader: Reader,
    ) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let url = url.to_owned();
        let (sender, started) = mpsc::channel();
        let thread = thread::spawn(move || -> Result<()> {
            actix_web::rt::System::new().block_on(async move {
                let server = HttpServer::new(move || {
                    let connection = Connection::<D> {
                        reader: reader.clone(),
                        figure,
                        url: url.clone(),
                        database: RefCell::new(None),
                    };
                    App::new()
                        .app_data(web::Data::new(connection))
                        .default_service(web::to(answer::<D>))
                })
                .workers(workers)
                .disable_signals()
                .listen(listener)?
                .run();
                sender.send(server.handle()).context("nobody waits")?;
                Ok(server.await?)
            })
        });
        let handle = started.recv().context("the limit does not start")?;
        Ok(Self {
            address,
            handle,
            thread: Some(thread),
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // The request to stop is sent when it is made; only its answer is awaited.
        drop(self.handle.stop(false));
        let ended = self.thread.take().map(JoinHandle::join);
        if !matches!(ended, Some(Ok(Ok(())))) {
            eprintln!("the server of a limit ended badly");
        }
    }
}

/// What one worker reads with.
struct Connection<D> {
    reader: Reader,
    figure: Figure,
    url: String,
    /// Opened by the first request.
    database: RefCell<Option<D>>,
}

impl<D: Database> Connection<D> {
    fn answer(&self, asked: Option<Key>) -> Result<Vec<u8>> {
        let mut database = self.database.borrow_mut();
        let database = match &mut *database {
            Some(open) => open,
            none => none.insert(D::open(&self.url)?),
        };
        let mut answer = Vec::with_capacity(1024);
        self.reader
            .read(self.figure, asked, database, &mut answer)?;
        Ok(answer)
    }
}

async fn answer<D: Database + 'static>(
    request: HttpRequest,
    connection: web::Data<Connection<D>>,
) -> HttpResponse {
    let last = request.path().rsplit('/').next().unwrap_or_default();
    match connection.answer(last.parse().ok().map(Key)) {
        Ok(body) => HttpResponse::Ok()
            .content_type("application/json")
            .body(Bytes::from(body)),
        Err(error) => HttpResponse::InternalServerError().body(format!("{:#}", anyhow!(error))),
    }
}
