//! What servers ask of a guard.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::{Uid, geteuid};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::clocks::Clocks;
use crate::files::GuardFiles;
use crate::protocol::{Description, Ending, FromGuard, RunReport, ToGuard};
use crate::wire::{Receiver, Sender, halves};

/// For how long the last message waits to be taken.
const FAREWELL_BOUND: Duration = Duration::from_secs(5);
/// How often a report is written that the disk did not take.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// The state that every connection of a guard works on.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) clocks: Arc<Clocks>,
    description: Description,
    stop: watch::Sender<Option<Ending>>,
    kill: watch::Sender<bool>,
    report: watch::Sender<Option<Arc<RunReport>>>,
    delivered: watch::Sender<bool>,
    /// Changes whenever the program told what it used.
    used: watch::Sender<()>,
}

impl Control {
    pub(super) fn new(description: Description, clocks: Clocks) -> Self {
        Self {
            clocks: Arc::new(clocks),
            description,
            stop: watch::Sender::new(None),
            kill: watch::Sender::new(false),
            report: watch::Sender::new(None),
            delivered: watch::Sender::new(false),
            used: watch::Sender::new(()),
        }
    }

    /// Tells every server that listens of a use that stands in the events.
    pub(super) fn note_use(&self) {
        self.used.send_replace(());
    }

    /// Waits until a server wants the run to end.
    pub(super) async fn stopped(&self) -> Ending {
        let mut stop = self.stop.subscribe();
        match stop.wait_for(Option::is_some).await {
            Ok(ending) => (*ending).unwrap_or(Ending::Abandoned),
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits until a server wants it to end at once.
    pub(super) async fn killed(&self) {
        let _ = self.kill.subscribe().wait_for(|&kill| kill).await;
    }

    /// Listens to servers that take the run up, until the guard ends.
    pub(super) async fn listen(self: Arc<Self>, listener: UnixListener) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) if is_of_server(&stream) => {
                    tokio::spawn(Arc::clone(&self).serve(stream));
                }
                Ok(_) => {}
                // Only a lack of descriptors or memory, which passes.
                Err(_) => sleep(WRITE_EVERY).await,
            }
        }
    }

    /// Serves one connection to its end.
    pub(super) async fn serve(self: Arc<Self>, stream: UnixStream) {
        let (mut receiver, mut sender) = halves(stream);
        let mut report = self.report.subscribe();
        let farewell = tokio::select! {
            _ = self.obey(&mut receiver, &mut sender) => None,
            report = report.wait_for(Option::is_some) => report.ok().and_then(|it| it.clone()),
        };
        if let Some(report) = farewell {
            let last = FromGuard::Ended(Box::new((*report).clone()));
            if let Ok(Ok(())) = timeout(FAREWELL_BOUND, sender.send(&last)).await {
                self.delivered.send_replace(true);
            }
        }
    }

    async fn obey(&self, receiver: &mut Receiver, sender: &mut Sender) -> io::Result<()> {
        let mut used = self.used.subscribe();
        loop {
            let message = tokio::select! {
                message = receiver.next() => message?,
                Ok(()) = used.changed() => {
                    sender.send(&FromGuard::Used).await?;
                    continue;
                }
            };
            let Some(message) = message else {
                return Ok(());
            };
            match message {
                ToGuard::Describe => {
                    let description = Box::new(self.description.clone());
                    sender.send(&FromGuard::Described(description)).await?;
                }
                ToGuard::Renew { patience } => self.clocks.renew(patience),
                ToGuard::Touch => self.clocks.touch(),
                ToGuard::Stop { reason } => self.stop(Ending::Stopped(reason)),
                ToGuard::Kill => {
                    self.kill.send_replace(true);
                    self.stop(Ending::Abandoned);
                }
                ToGuard::Start(_)
                | ToGuard::Probe { .. }
                | ToGuard::Enter { .. }
                | ToGuard::Survey { .. }
                | ToGuard::Go => {}
            }
        }
    }

    /// The first reason counts.
    fn stop(&self, ending: Ending) {
        self.stop.send_if_modified(|present| {
            let is_first = present.is_none();
            present.get_or_insert(ending);
            is_first
        });
    }

    /// Writes the report down and tells every server that listens. Returns once
    /// the disk or a server has it.
    pub(super) async fn conclude(&self, files: &GuardFiles, report: RunReport) {
        let mut written = files.write_report(&report);
        self.report.send_replace(Some(Arc::new(report.clone())));
        let mut delivered = self.delivered.subscribe();
        while written.is_err() {
            if timeout(WRITE_EVERY, delivered.wait_for(|&is| is))
                .await
                .is_ok()
            {
                return;
            }
            written = files.write_report(&report);
        }
        // Whoever listens is told, but not waited for.
        if self.report.receiver_count() > 0 {
            let _ = timeout(FAREWELL_BOUND, delivered.wait_for(|&is| is)).await;
        }
    }
}

/// Whether the other end is this guard's own user, or root.
fn is_of_server(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| {
        let peer = Uid::from_raw(peer.uid());
        peer == geteuid() || peer.is_root()
    })
}
