//! The imitation as a test sees it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{self, Runtime};
use tokio::sync::oneshot;

use crate::log::LoggedRequest;
use crate::playing::Stage;
use crate::script::Script;
use crate::server::serve;

/// A stand-in for the APIs of models, on a port of 127.0.0.1.
///
/// It runs in a thread of its own and ends when this value is dropped, with every connection.
#[derive(Debug)]
pub struct ModelImitation {
    address: SocketAddr,
    stage: Arc<Stage>,
    /// The thread ends when this is gone.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelImitation {
    /// Starts it on a free port.
    ///
    /// # Errors
    ///
    /// When it cannot listen or the system gives it no thread.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_at(0, script)
    }

    /// Starts it on `port`; 0 is a free one.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start), and when the port is taken.
    pub fn start_at(port: u16, script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let stage = Arc::new(Stage::new(script));
        let (stop, stopped) = oneshot::channel();
        let own = Arc::clone(&stage);
        let thread = thread::Builder::new()
            .name("model-imitation".to_owned())
            .spawn(move || run(&runtime, listener, own, stopped))?;
        Ok(Self {
            address,
            stage,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where it listens, as `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A URL that takes anything, for scripted commands: a request to it is in the log with its
    /// body, and its path ends in `name`.
    #[must_use]
    pub fn sink_url(&self, name: &str) -> String {
        format!("{}/imitation/sink/{name}", self.url())
    }

    /// Every request so far, in the order in which they came. Those to the imitation itself, such
    /// as for its log, are left out.
    #[must_use]
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.stage.requests()
    }

    /// Waits until `holds` says so of the requests so far, and tells whether it did within
    /// `patience`.
    #[must_use]
    pub fn wait_for(
        &self,
        patience: Duration,
        holds: impl FnMut(&[LoggedRequest]) -> bool,
    ) -> bool {
        self.stage.wait_for(patience, holds)
    }

    /// Plays `script` from now on. Failures that are to end begin to count anew.
    pub fn set_script(&self, script: Script) {
        self.stage.set_script(script);
    }

    /// Forgets the requests so far. Failures that are to end begin to count anew.
    pub fn forget(&self) {
        self.stage.forget();
    }
}

fn run(
    runtime: &Runtime,
    listener: TcpListener,
    stage: Arc<Stage>,
    stopped: oneshot::Receiver<()>,
) {
    runtime.block_on(async {
        match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => serve(listener, stage, stopped).await,
            Err(error) => eprintln!("the model imitation cannot listen: {error}"),
        }
    });
}

impl Drop for ModelImitation {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            eprintln!("the thread of the model imitation panicked");
        }
    }
}
