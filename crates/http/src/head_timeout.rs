//! How long a new connection may take to send the head of its first request.

use std::any::Any;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

use actix_web::dev::Extensions;
use actix_web::rt;
use tokio::time::sleep;

/// A head takes no longer than so many ticks: five seconds.
const PATIENCE: u32 = 20;
const TICK: Duration = Duration::from_millis(250);

const TOO_LATE: &[u8] = b"HTTP/1.1 408 Request Timeout\r\n\
    content-length: 0\r\nconnection: close\r\n\r\n";

/// A connection from which no request has come yet.
pub(crate) struct Awaited(rt::task::JoinHandle<()>);

impl Awaited {
    /// The head of a request has come.
    pub(crate) fn has_come(&self) {
        self.0.abort();
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Turns a new connection away unless the head of a request comes from it in
/// time. The server's own limit counts from an instant that it looks up twice a
/// second only: after a stop of the process it has passed before it began.
pub(crate) fn watch(connection: &dyn Any, data: &mut Extensions) {
    let Some(stream) = connection.downcast_ref::<rt::net::TcpStream>() else {
        return;
    };
    match stream.as_fd().try_clone_to_owned() {
        Ok(own) => {
            let own = TcpStream::from(own);
            let turning_away = rt::spawn(async move {
                wait().await;
                turn_away(&own);
            });
            data.insert(Awaited(turning_away));
        }
        Err(error) => tracing::debug!(%error, "a connection is not watched"),
    }
}

/// Waits for as long as a client is waited for. A stop of the process, however
/// long, is one tick: what came meanwhile has to be read before it can be late.
async fn wait() {
    for _ in 0..PATIENCE {
        sleep(TICK).await;
    }
}

fn turn_away(mut connection: &TcpStream) {
    // Nothing was answered on it yet, so that there is room; or it is gone.
    let _told_or_gone = connection.write_all(TOO_LATE);
    let _closed_or_gone = connection.shutdown(Shutdown::Both);
}
