//! Speaks HTTP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt as _, Either, Full};
use hyper::body::Bytes;
use hyper::http::response::Builder;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::answer::Event;
use crate::log::Cut;
use crate::playing::{Content, Played, Stage};
use crate::request::Incoming;
use crate::step::Pace;

type Body = Either<Full<Bytes>, Channel<Bytes, io::Error>>;

/// What was sent before a cut is to arrive.
const BEFORE_CUT: Duration = Duration::from_millis(20);

/// Serves until `stop` is gone. What is being sent then is cut.
pub(crate) async fn serve(listener: TcpListener, stage: Arc<Stage>, stop: oneshot::Receiver<()>) {
    let accept_all = async {
        loop {
            match listener.accept().await {
                Ok((connection, _)) => {
                    tokio::spawn(serve_one(connection, Arc::clone(&stage)));
                }
                // Out of files, most likely; they are given back as connections end.
                Err(_) => sleep(Duration::from_millis(10)).await,
            }
        }
    };
    tokio::select! {
        () = accept_all => {}
        _ = stop => {}
    }
}

async fn serve_one(connection: TcpStream, stage: Arc<Stage>) {
    // Events are small, and each is waited for.
    let _ = connection.set_nodelay(true);
    let service = service_fn(|request| respond(request, Arc::clone(&stage)));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(connection), service);
    // Clients go away as they like.
    let _ = connection.await;
}

async fn respond(
    request: Request<hyper::body::Incoming>,
    stage: Arc<Stage>,
) -> Result<Response<Body>, hyper::Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let request = match Incoming::new(parts, body) {
        Ok(request) => request,
        Err(error) => return Ok(plain(Response::builder().status(400), error.to_string())),
    };
    let played = stage.play(&request);
    sleep(played.pace.delay).await;
    Ok(send(played, stage))
}

fn send(played: Played, stage: Arc<Stage>) -> Response<Body> {
    let mut response = Response::builder()
        .status(played.status)
        .header("request-id", crate::REQUEST_ID);
    if let Some(time) = played.retry_after {
        response = response.header("retry-after", time.as_secs());
    }
    match played.content {
        Content::Json(body) => {
            let response = response.header("content-type", "application/json");
            plain(response, body.to_string())
        }
        Content::Events(events) => {
            let (sender, body) = Channel::new(1);
            let number = played.number;
            tokio::spawn(async move {
                if let Err(cut) = send_events(sender, &events, played.pace).await {
                    stage.note_cut(number, cut);
                }
            });
            let response = response
                .header("content-type", "text/event-stream")
                .header("cache-control", "no-cache");
            built(response.body(Either::Right(body)))
        }
    }
}

fn plain(response: Builder, body: String) -> Response<Body> {
    built(response.body(Either::Left(Full::from(body))))
}

/// A status that HTTP does not have is the fault of the script.
fn built(response: hyper::http::Result<Response<Body>>) -> Response<Body> {
    response.unwrap_or_else(|error| {
        let told = format!("the script asks for what HTTP does not allow: {error}");
        let mut response = Response::new(Either::Left(Full::from(told)));
        *response.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}

async fn send_events(
    mut to: Sender<Bytes, io::Error>,
    events: &[Event],
    pace: Pace,
) -> Result<(), Cut> {
    let middle = events.len() / 2;
    for (index, event) in events.iter().enumerate() {
        if index == middle {
            sleep(pace.hang).await;
            if pace.drop {
                sleep(BEFORE_CUT).await;
                to.abort(io::ErrorKind::ConnectionAborted.into());
                return Err(Cut::Dropped);
            }
        }
        let sent = to.send_data(event.to_text().into()).await;
        if sent.is_err() {
            return Err(Cut::ClientGone);
        }
        if !pace.chunk_delay.is_zero() {
            sleep(pace.chunk_delay).await;
        }
    }
    Ok(())
}
