//! One agent program and its installation.

use std::fmt;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Output, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::command::{command, display};
use crate::repository::Repository;

/// Without patience: where there is no network, a run of the tests is not to wait for it.
const NPM: &str = "install --no-audit --no-fund --prefer-offline --loglevel=error \
                   --fetch-retries=1 --fetch-retry-mintimeout=1000";

/// An agent program.
#[derive(Debug, PartialEq)]
pub(super) struct Program {
    name: String,
    version: String,
    /// What npm is to install, the program first.
    packages: Vec<String>,
    is_for_every_run: bool,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl Program {
    /// The programs of a list, each a line of name, package, version, `always` or `all`, and what
    /// else is installed with it.
    pub(super) fn listed(list: &str) -> Result<Vec<Self>> {
        let lines = list.lines().filter(|line| !line.starts_with('#'));
        lines.map(Self::of_line).collect()
    }

    fn of_line(line: &str) -> Result<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, package, version, when, with @ ..] = words.as_slice() else {
            bail!("not the line of an agent program: {line}");
        };
        let is_for_every_run = match *when {
            "always" => true,
            "all" => false,
            _ => bail!("`always` or `all` is missing: {line}"),
        };
        let own = format!("{package}@{version}");
        Ok(Self {
            name: (*name).to_owned(),
            version: (*version).to_owned(),
            packages: [own]
                .into_iter()
                .chain(with.iter().map(|it| (*it).to_owned()))
                .collect(),
            is_for_every_run,
        })
    }

    /// Whether every run of the tests is to have it.
    pub(super) fn is_for_every_run(&self) -> bool {
        self.is_for_every_run
    }

    /// Installs it as `<folder>/<name>/<version>`, unless it is there.
    ///
    /// It comes there by a rename of what was tried, so that a folder with its version is complete,
    /// and others may install it at the same time.
    pub(super) fn install(&self, repository: &Repository, folder: &Path) -> Result<()> {
        let parent = folder.join(&self.name);
        let place = parent.join(&self.version);
        if place.is_dir() {
            println!("{self}: {}", place.display());
            return Ok(());
        }
        println!("{self}: installing with npm");
        fs::create_dir_all(&parent).with_context(|| format!("failed to make {parent:?}"))?;
        // Some tests run what is in it as another user.
        let staged = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o755))
            .tempdir_in(&parent)
            .context("failed to make a folder")?;
        self.fetch(repository, staged.path())?;
        self.check(repository, staged.path())?;
        match fs::rename(staged.path(), &place) {
            Ok(()) => {
                // Nothing is left to remove.
                let _ = staged.keep();
            }
            Err(_) if place.is_dir() => {}
            Err(error) => return Err(error).context("failed to move what was installed"),
        }
        println!("{self}: {}", place.display());
        Ok(())
    }

    fn fetch(&self, repository: &Repository, into: &Path) -> Result<()> {
        let mut npm = command(repository, "npm");
        npm.args(NPM.split(' ')).arg("--prefix").arg(into);
        let shown = format!("{} {}", display(&npm), self.packages.join(" "));
        npm.args(&self.packages).stdin(Stdio::null());
        let output = npm
            .output()
            .context("npm cannot be started: install Node.js 20.19 or newer")?;
        if !output.status.success() {
            bail!(
                "`{shown}` failed ({}):\n{}",
                output.status,
                told_by(&output)
            );
        }
        Ok(())
    }

    /// Asks the program for its version: npm chooses an older one, or leaves out what belongs to
    /// it, without a word.
    fn check(&self, repository: &Repository, installed: &Path) -> Result<()> {
        let programs = installed.join("node_modules/.bin");
        let home = tempfile::tempdir().context("failed to make a home")?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [programs.clone()]
            .into_iter()
            .chain(std::env::split_paths(&path));
        let mut program = command(repository, programs.join(&self.name));
        program
            .arg("--version")
            .env("HOME", home.path())
            .env("TMPDIR", home.path())
            .env("PATH", std::env::join_paths(path)?)
            .stdin(Stdio::null());
        let output = program
            .output()
            .context("what npm installed cannot be started")?;
        let told = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || !told.contains(&self.version) {
            bail!(
                "what npm installed is not this version: {told}{}",
                told_by(&output)
            );
        }
        Ok(())
    }
}

/// The beginning of what a program said on standard error.
fn told_by(output: &Output) -> String {
    const LINES: usize = 4;
    let told = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = told
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines[..lines.len().min(LINES)].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_program_and_what_belongs_to_it() {
        let list = "# name\nclaude @a/claude 1.2.3 always\npi pi 4.5.6 all node@22\n";
        let programs = Program::listed(list).unwrap();
        let [claude, pi] = programs.as_slice() else {
            panic!("{programs:?}");
        };
        assert_eq!(claude.packages, ["@a/claude@1.2.3"]);
        assert!(claude.is_for_every_run());
        assert_eq!(pi.packages, ["pi@4.5.6", "node@22"]);
        assert!(!pi.is_for_every_run());
        assert!(Program::listed("pi pi 4.5.6").is_err());
        assert!(Program::listed("pi pi 4.5.6 never").is_err());
    }

    #[test]
    fn what_is_there_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("x/1.0.0")).unwrap();
        let programs = Program::listed("x no-such-package 1.0.0 always").unwrap();
        programs[0]
            .install(&Repository::own(), folder.path())
            .unwrap();
    }
}
