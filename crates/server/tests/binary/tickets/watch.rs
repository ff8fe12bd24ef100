//! A program `git` that stands before the real one: it counts what the server calls, and kills or
//! stops the server at a call.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Calls by others than the server, such as those of git itself, go through.
const PROGRAM: &str = r#"#!/bin/sh
here=${0%/*}
read -r parent < "/proc/$PPID/comm"
[ "$parent" = workforce ] || exec REAL "$@"
printf '%s\n' "$*" >> "$here/arguments"
for argument; do
    case $skip$argument in
        -c) skip=yes ;;
        yes*) skip= ;;
        *) name=$argument; break ;;
    esac
done
echo "$name" >> "$here/calls"
read -r when number < "$here/kill"
case $number in
    *[!0-9]*) [ "$name" = "$number" ] || exec REAL "$@" ;;
    *) [ "$(wc -l < "$here/calls")" -eq "$number" ] || exec REAL "$@" ;;
esac
case $when in
    freeze) echo 'never 0' > "$here/kill"; kill -STOP $PPID; exec REAL "$@" ;;
    before) kill -9 $PPID ;;
    meanwhile) kill -9 $PPID; exec REAL "$@" ;;
    after) REAL "$@"; kill -9 $PPID ;;
esac
exit 1
"#;

/// When the server dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Before a call of git does anything.
    Before,
    /// While it works; it goes on.
    Meanwhile,
    /// After its end, of which the server does not learn.
    After,
}

/// The folder of the program.
#[derive(Clone, Debug)]
pub(super) struct Watch(PathBuf);

impl Watch {
    /// Puts the program into a new folder.
    pub(super) fn place(folder: PathBuf) -> Self {
        fs::create_dir(&folder).unwrap();
        let real = Command::new("sh").args(["-c", "command -v git"]).output();
        let real = String::from_utf8(real.unwrap().stdout).unwrap();
        let program = folder.join("git");
        fs::write(&program, PROGRAM.replace("REAL", real.trim())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let watch = Self(folder);
        watch.kill_nobody();
        watch
    }

    /// What `PATH` must be for a server.
    pub(super) fn path(&self) -> String {
        format!("{}:{}", self.0.display(), std::env::var("PATH").unwrap())
    }

    fn write(&self, name: &str, content: &str) {
        // A call reads it while it is replaced.
        let new = self.0.join("new");
        fs::write(&new, content).unwrap();
        fs::rename(new, self.0.join(name)).unwrap();
    }

    /// Counts from here on, and kills the server at this call, the first of which is 1.
    pub(super) fn kill_at(&self, when: When, number: usize) {
        let word = match when {
            When::Before => "before",
            When::Meanwhile => "meanwhile",
            When::After => "after",
        };
        self.write("calls", "");
        self.write("kill", &format!("{word} {number}\n"));
    }

    /// Stops the server at the next call of this command, which goes on.
    pub(super) fn freeze_at(&self, command: &str) {
        self.write("kill", &format!("freeze {command}\n"));
    }

    /// Lets every call through.
    pub(super) fn kill_nobody(&self) {
        self.write("kill", "never 0\n");
    }

    /// All arguments of all calls.
    pub(super) fn arguments(&self) -> String {
        read(&self.0.join("arguments"))
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
