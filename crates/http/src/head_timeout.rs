//! How long a connection may take to send the head of a request.

use std::any::Any;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::Extensions;
use actix_web::rt;
use actix_web::web::Bytes;
use tokio::time::sleep;

/// The first head takes no longer than so many ticks: five seconds.
const PATIENCE: u32 = 20;
const TICK: Duration = Duration::from_millis(250);
/// A later one comes within so many of these after the last answer: in 20 to 25 seconds. A
/// connection from which nothing at all comes is closed by the server after five.
const LATER_PATIENCE: u32 = 5;
const LATER_TICK: Duration = Duration::from_secs(5);

const TOO_LATE: &[u8] = b"HTTP/1.1 408 Request Timeout\r\n\
    content-length: 0\r\nconnection: close\r\n\r\n";

/// A connection that is watched until it is gone.
pub(crate) struct Watched {
    requests: Arc<Requests>,
    watch: rt::task::JoinHandle<()>,
}

/// What came from a connection.
#[derive(Default)]
struct Requests {
    /// So many, wrapping.
    count: AtomicU32,
    /// So many of them are not answered yet.
    open: AtomicU32,
}

/// A request whose answer is not complete, until dropped.
pub(crate) struct Served(Arc<Requests>);

impl Watched {
    /// The head of a request has come.
    pub(crate) fn has_come(&self) -> Served {
        let requests = &self.requests;
        requests.open.fetch_add(1, Ordering::Relaxed);
        requests.count.fetch_add(1, Ordering::Relaxed);
        Served(Arc::clone(requests))
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of an answer, during which no further head is waited for.
pub(crate) struct Answer {
    pub(crate) body: BoxBody,
    pub(crate) served: Option<Served>,
}

impl MessageBody for Answer {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(cx)
    }

    fn try_into_bytes(self) -> Result<Bytes, Self> {
        let Self { body, served } = self;
        body.try_into_bytes().map_err(|body| Self { body, served })
    }
}

/// Turns a connection away unless the head of a request comes from it in time. The server's own
/// limit is for the first one only, and counts from an instant that it looks up twice a second:
/// after a stop of the process it has passed before it began.
pub(crate) fn watch(connection: &dyn Any, data: &mut Extensions) {
    let Some(stream) = connection.downcast_ref::<rt::net::TcpStream>() else {
        return;
    };
    match stream.as_fd().try_clone_to_owned() {
        Ok(own) => {
            let own = TcpStream::from(own);
            let requests = Arc::<Requests>::default();
            let watched = Arc::clone(&requests);
            let watch = rt::spawn(async move {
                if first_has_come(&watched).await {
                    last_is_answered(&watched).await;
                } else {
                    tell_too_late(&own);
                }
                let _closed_or_gone = own.shutdown(Shutdown::Both);
            });
            data.insert(Watched { requests, watch });
        }
        Err(error) => tracing::debug!(%error, "a connection is not watched"),
    }
}

/// Waits for as long as a client is waited for. A stop of the process, however long, is one tick:
/// what came meanwhile has to be read before it can be late.
async fn first_has_come(requests: &Requests) -> bool {
    for _tick in 0..PATIENCE {
        sleep(TICK).await;
        if requests.count.load(Ordering::Relaxed) > 0 {
            return true;
        }
    }
    false
}

/// Waits until no request has come for too long after the last one was answered.
async fn last_is_answered(requests: &Requests) {
    let mut ticks = 0;
    let mut last = requests.count.load(Ordering::Relaxed);
    while ticks < LATER_PATIENCE {
        sleep(LATER_TICK).await;
        let count = requests.count.load(Ordering::Relaxed);
        let is_late = count == last && requests.open.load(Ordering::Relaxed) == 0;
        ticks = if is_late { ticks + 1 } else { 0 };
        last = count;
    }
}

/// Nothing was answered on the connection yet, so that there is room; or it is gone.
fn tell_too_late(mut connection: &TcpStream) {
    let _told_or_gone = connection.write_all(TOO_LATE);
}
