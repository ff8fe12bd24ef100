//! A real server of the interface of Amazon S3, over HTTP on a port of its own, which keeps its
//! objects in a folder.

use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// The bucket that is there from the start.
pub const BUCKET: &str = "files";
/// What signs requests that it answers.
pub const ACCESS_KEY: &str = "AKIATESTS";
/// And its secret.
pub const SECRET_KEY: &str = "a-secret-of-the-tests";

/// A running server, stopped and emptied when dropped.
#[derive(Debug)]
pub struct S3Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    folder: TempDir,
}

impl S3Server {
    /// Starts a server with an empty bucket.
    ///
    /// # Panics
    /// When it cannot be started: there is no test to run then.
    #[must_use]
    #[track_caller]
    pub fn start() -> Self {
        match Self::try_start() {
            Ok(server) => server,
            Err(error) => panic!("no S3 server: {error}"),
        }
    }

    fn try_start() -> Result<Self, Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join(BUCKET))?;
        let files = FileSystem::new(folder.path()).map_err(|error| format!("{error:?}"))?;
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let service = service.build();
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve(listener, service) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
            folder,
        })
    }

    /// Where it answers.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The folder of its bucket.
    #[must_use]
    pub fn bucket_folder(&self) -> std::path::PathBuf {
        self.folder.path().join(BUCKET)
    }
}

async fn serve(listener: TcpListener, service: S3Service) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
        return;
    };
    while let Ok((stream, _peer)) = listener.accept().await {
        let service = service.clone();
        tokio::spawn(async move {
            let connections = Builder::new(TokioExecutor::new());
            // A client that hangs up is no failure of a test.
            drop(
                connections
                    .serve_connection(TokioIo::new(stream), service)
                    .await,
            );
        });
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            if ended.is_err() && !std::thread::panicking() {
                panic!("the S3 server panicked");
            }
        }
    }
}
