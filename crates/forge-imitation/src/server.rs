//! Speaks HTTP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::request::Request;
use crate::stage::{Answer, Stage};

type Failed = Box<dyn std::error::Error + Send + Sync>;

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
    let service = service_fn(|request| respond(request, Arc::clone(&stage)));
    let connection = http1::Builder::new().serve_connection(TokioIo::new(connection), service);
    // Clients go away as they like, and so does the script.
    let _ = connection.await;
}

/// A failure closes the connection.
async fn respond(
    request: hyper::Request<hyper::body::Incoming>,
    stage: Arc<Stage>,
) -> Result<Response<Full<Bytes>>, Failed> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let request = Request::new(&parts, body);
    let answer = stage.play(&request);
    let answer = answer.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionAborted))?;
    sleep(answer.delay).await;
    Ok(built(answer)?)
}

fn built(answer: Answer) -> hyper::http::Result<Response<Full<Bytes>>> {
    let mut response = Response::builder().status(StatusCode::from_u16(answer.status)?);
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    response.body(Full::from(answer.body))
}
