//! Processes as the operating system shows them.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use workforce_domain::id::RunId;

/// Whether a process executes: it is there and no zombie.
pub(crate) fn is_live(pid: i32) -> bool {
    fields(pid).is_some_and(|fields| !matches!(fields[0].as_str(), "Z" | "X"))
}

pub(super) fn start_ticks(pid: i32) -> i64 {
    fields(pid).expect("a process")[19]
        .parse()
        .expect("a start time")
}

/// The fields of a process's status from the third on.
fn fields(pid: i32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    Some(rest.split(' ').map(str::to_owned).collect())
}

/// A process that a server which is gone left behind.
pub(crate) struct Stray(Child);

impl Stray {
    pub(crate) fn of(run: RunId) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "it stands for another server's child"
        )]
        let mut command = Command::new("/bin/sleep");
        let child = command
            .arg("300")
            .env("WORKFORCE_RUN_ID", run.to_string())
            .process_group(0)
            .spawn();
        Self(child.expect("a process"))
    }

    pub(crate) fn pid(&self) -> i32 {
        self.0.id().cast_signed()
    }

    pub(crate) fn is_live(&self) -> bool {
        is_live(self.pid())
    }
}

impl Drop for Stray {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The variables in a copy of `/proc/<pid>/environ`, by name.
pub(crate) fn variables(path: &Path) -> BTreeMap<String, String> {
    let bytes = std::fs::read(path).expect("an environment");
    String::from_utf8(bytes)
        .expect("text")
        .split_terminator('\0')
        .filter_map(|variable| variable.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
