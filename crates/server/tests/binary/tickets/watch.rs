//! A program `git` that stands before the real one: it counts what the server calls, and kills the
//! server at a call.

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
[ "$(wc -l < "$here/calls")" -eq "$number" ] || exec REAL "$@"
if [ "$when" = before ]; then
    kill -9 $PPID
    exit 1
fi
REAL "$@"
code=$?
kill -9 $PPID
exit $code
"#;

/// Whether the server dies before a call of git does anything, or after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Before,
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
            When::After => "after",
        };
        self.write("calls", "");
        self.write("kill", &format!("{word} {number}\n"));
    }

    /// Lets every call through.
    pub(super) fn kill_nobody(&self) {
        self.write("kill", "never 0\n");
    }

    /// The commands that were called, in their order.
    pub(super) fn calls(&self) -> Vec<String> {
        let calls = read(&self.0.join("calls"));
        calls.lines().map(str::to_owned).collect()
    }

    /// All arguments of all calls.
    pub(super) fn arguments(&self) -> String {
        read(&self.0.join("arguments"))
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
