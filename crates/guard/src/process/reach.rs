use std::io::{self, PipeReader, PipeWriter, Write};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::ProcessGroup;
use crate::cgroup::Cgroup;
use crate::first_process::TERMINATE;

/// How the guard hears of the end of the program.
pub(crate) enum ProgramEnd {
    /// It is a child of the guard.
    Child(i32),
    /// The first process of its namespace tells it here.
    Told(PipeReader),
}

/// How the guard reaches the processes of its run.
pub(crate) enum Reach {
    /// They are its descendants, to be found one by one.
    Descendants {
        /// What finds them.
        group: ProcessGroup,
        /// The cgroup that they are in, if they are in one.
        cgroup: Option<Cgroup>,
    },
    /// They are in a namespace.
    Namespace {
        /// Its first process.
        first: i32,
        /// Where that takes orders.
        order: PipeWriter,
    },
}

impl Reach {
    /// Asks every process to end (`SIGTERM`).
    pub(crate) fn terminate(&self) -> io::Result<()> {
        match self {
            Self::Descendants { group, .. } => group.terminate(),
            Self::Namespace { order, .. } => (&mut &*order).write_all(&[TERMINATE]),
        }
    }

    /// Ends every process (`SIGKILL`).
    pub(crate) fn kill(&self) -> io::Result<()> {
        match self {
            // What left its cgroup all the same is found after the others are gone.
            Self::Descendants {
                cgroup: Some(cgroup),
                group,
            } if cgroup.is_populated() => cgroup.kill().or_else(|_| group.kill()),
            Self::Descendants { group, .. } => group.kill(),
            Self::Namespace { first, .. } => Ok(kill(Pid::from_raw(*first), Signal::SIGKILL)?),
        }
    }
}
