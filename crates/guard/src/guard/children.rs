use std::os::fd::OwnedFd;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::process::{Collected, ProgramEnd, collect};
use crate::protocol::Exit;

/// What the guard knows of the processes of its run. It is the ancestor of all of
/// them: one whose parent ends becomes its child, or that of the first process of
/// their namespace. So when it has no child, none of them is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Family {
    /// How the program itself ended, once it has.
    pub(super) program: Option<Exit>,
    /// Whether nothing of the run is left.
    pub(super) is_gone: bool,
}

/// Waits until nothing of the run is left.
pub(super) async fn gone(family: &mut watch::Receiver<Family>) {
    let _ = family.wait_for(|family| family.is_gone).await;
}

/// Collects the guard's children as they end.
pub(super) struct Reaper {
    program: Option<i32>,
    told: Option<Told>,
    ends: Signal,
    family: watch::Sender<Family>,
}

impl Reaper {
    /// A reaper of the program and of all that it starts.
    ///
    /// # Errors
    ///
    /// The ends of children cannot be waited for.
    pub(super) fn new(program: ProgramEnd) -> std::io::Result<Self> {
        let (program, told) = match program {
            ProgramEnd::Child(pid) => (Some(pid), None),
            ProgramEnd::Told(pipe) => {
                let pipe = pipe::Receiver::from_owned_fd(OwnedFd::from(pipe))?;
                let told = Told {
                    pipe: BufReader::new(pipe),
                    line: Vec::new(),
                };
                (None, Some(told))
            }
        };
        Ok(Self {
            program,
            told,
            ends: signal(SignalKind::child())?,
            family: watch::Sender::new(Family::default()),
        })
    }

    /// Tells of every end.
    pub(super) fn family(&self) -> watch::Receiver<Family> {
        self.family.subscribe()
    }

    /// Collects until none is left.
    pub(super) async fn run(mut self) {
        loop {
            let mut family = self.collect();
            if let (true, Some(told)) = (family.is_gone, self.told.as_mut()) {
                // Whoever tells it is gone, so the pipe is at its end.
                family.program = told.hear().await;
            }
            self.family.send_replace(family);
            if family.is_gone {
                return;
            }
            tokio::select! {
                _ = self.ends.recv() => {}
                exit = hear(&mut self.told) => {
                    self.told = None;
                    self.family.send_modify(|family| family.program = exit);
                }
            }
        }
    }

    /// Collects every child that has ended.
    fn collect(&self) -> Family {
        let mut family = *self.family.borrow();
        loop {
            match collect() {
                Collected::Child(pid, exit) if Some(pid) == self.program => {
                    family.program = Some(exit);
                }
                Collected::Child(..) => {}
                Collected::Nothing => return family,
                Collected::NoChild => {
                    family.is_gone = true;
                    return family;
                }
            }
        }
    }
}

/// Where the first process of a namespace tells how the program ended.
struct Told {
    pipe: BufReader<pipe::Receiver>,
    line: Vec<u8>,
}

impl Told {
    /// How the program ended; nothing when whoever tells it was killed. Loses
    /// nothing when it is dropped before it is done.
    async fn hear(&mut self) -> Option<Exit> {
        self.pipe.read_until(b'\n', &mut self.line).await.ok()?;
        serde_json::from_slice(&self.line).ok()
    }
}

/// Never without somebody to tell it.
async fn hear(told: &mut Option<Told>) -> Option<Exit> {
    match told {
        Some(told) => told.hear().await,
        None => std::future::pending().await,
    }
}
