//! `pg_dump` and `pg_restore`, which the operator brings along.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, bail, ensure};
use workforce_infra::store::DatabaseUrl;

/// A program of PostgreSQL, and the database that it is to work on.
pub(crate) struct PostgresProgram {
    file: PathBuf,
    environment: Vec<(&'static str, String)>,
}

impl PostgresProgram {
    /// The program `file`, looked up in `PATH` when it is a name alone, for the database at `url`
    /// whose server says to be `server`, such as `PostgreSQL 15.4`.
    ///
    /// # Errors
    /// When it is not there, or older than the server.
    pub(crate) fn find(file: &Path, url: &DatabaseUrl, server: &str) -> anyhow::Result<Self> {
        let program = Self {
            file: file.to_owned(),
            environment: url.client_environment()?,
        };
        let told = program.run(&["--version"])?;
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        let (own, other) = (major(&told), major(server));
        let own = own.with_context(|| {
            format!(
                "{} is no program of PostgreSQL: {:?}",
                file.display(),
                told.trim()
            )
        })?;
        ensure!(
            other.is_none_or(|other| other <= own),
            "{} is of PostgreSQL {own}, which is older than the server ({server}): name a newer one",
            file.display()
        );
        Ok(program)
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// When it fails; what it wrote to standard error is told.
    pub(crate) fn run(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        #[expect(
            clippy::disallowed_methods,
            reason = "a tool of the operator, in the operator's terminal; it is no agent"
        )]
        let mut command = Command::new(&self.file);
        for (name, _) in std::env::vars_os() {
            // The master key and the board's token are nothing to it.
            if name.to_string_lossy().starts_with("WORKFORCE_") {
                command.env_remove(name);
            }
        }
        let output = command
            .args(arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .with_context(|| {
                format!(
                    "failed to start {}: install the client programs of PostgreSQL, or say where \
                     it is",
                    self.file.display()
                )
            })?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            bail!("{} failed: {}", self.file.display(), told.trim());
        }
        Ok(output)
    }
}

/// The major version in what a program or a server says of itself.
fn major(told: &str) -> Option<u32> {
    let after = told.split_once("PostgreSQL").map(|(_, after)| after)?;
    let digits = after.trim_start_matches([')', ' ']);
    let end = digits.find(|c: char| !c.is_ascii_digit());
    digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_what_counts() {
        for (told, version) in [
            (
                "pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n",
                Some(15),
            ),
            ("PostgreSQL 16.2", Some(16)),
            ("pg_dump (PostgreSQL) 18beta1", Some(18)),
            ("GNU bash, version 5.2", None),
        ] {
            assert_eq!(major(told), version, "{told}");
        }
    }
}
