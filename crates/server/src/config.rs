//! What the service is told when it starts: flags, each also as a variable.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use workforce_infra::store::DatabaseUrl;

/// Flags of `workforce serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServeArgs {
    /// Address to listen on.
    #[arg(long, env = "WORKFORCE_LISTEN", default_value = "127.0.0.1:3100")]
    pub(crate) listen: SocketAddr,

    /// Folder for the database, the logs of runs and the master key.
    #[arg(long, env = "WORKFORCE_DATA_DIR", default_value = "./data")]
    pub(crate) data_dir: PathBuf,

    /// `sqlite:PATH` or `postgres://...`; SQLite in the data folder when unsaid.
    #[arg(long, env = "WORKFORCE_DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,

    /// How callers prove who they are.
    #[arg(
        long,
        env = "WORKFORCE_AUTH",
        value_enum,
        default_value = "local_trusted"
    )]
    pub(crate) auth: AuthMode,

    /// Seconds that live runs get to end when the service is stopped.
    #[arg(long, env = "WORKFORCE_DRAIN_SEC", default_value_t = 30)]
    pub(crate) drain_sec: u64,

    /// Runs that may be live at once on this server; the number of cores, at
    /// most 8, when unsaid.
    #[arg(long, env = "WORKFORCE_MAX_CONCURRENT_RUNS")]
    pub(crate) max_concurrent_runs: Option<u16>,

    /// More variables of the server's environment that agents may see,
    /// separated by commas.
    #[arg(long, env = "WORKFORCE_AGENT_ENV", value_delimiter = ',')]
    pub(crate) agent_env: Vec<String>,

    /// Host names beside the loopback ones that requests may be sent to.
    #[arg(long, env = "WORKFORCE_ALLOWED_HOSTS", value_delimiter = ',')]
    pub(crate) allowed_hosts: Vec<String>,

    /// How log lines look.
    #[arg(long, env = "WORKFORCE_LOG_FORMAT", value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
}

/// How callers prove who they are (contract section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum AuthMode {
    /// A request without a credential is the board; loopback addresses only.
    LocalTrusted,
    /// The board presents a token.
    Token,
    /// People of the board sign in.
    Users,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl ServeArgs {
    /// The address, when it may be listened on in this mode.
    ///
    /// # Errors
    /// Without credentials only loopback addresses are safe.
    pub(crate) fn checked_listen(&self) -> anyhow::Result<SocketAddr> {
        match self.auth {
            AuthMode::LocalTrusted if !self.listen.ip().is_loopback() => bail!(
                "refusing to listen on {}: in local_trusted mode a request without a credential \
                 is the board, so only a loopback address such as 127.0.0.1 is safe",
                self.listen
            ),
            AuthMode::LocalTrusted => Ok(self.listen),
            AuthMode::Token | AuthMode::Users => bail!(
                "this version knows --auth local_trusted only; token and users are not built yet"
            ),
        }
    }

    /// Where records are kept.
    ///
    /// # Errors
    /// When the URL names no known kind of database.
    pub(crate) fn database(&self) -> anyhow::Result<DatabaseUrl> {
        match &self.database_url {
            Some(url) => url.parse().context("--database-url"),
            None => Ok(DatabaseUrl::sqlite(self.data_dir.join("workforce.db"))),
        }
    }

    /// How long live runs get to end.
    pub(crate) const fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_sec)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        serve: ServeArgs,
    }

    fn parse(flags: &[&str]) -> ServeArgs {
        Line::parse_from(std::iter::once(&"workforce").chain(flags)).serve
    }

    #[test]
    fn only_loopback_is_trusted() {
        assert!(parse(&["--listen", "127.0.0.1:0"]).checked_listen().is_ok());
        assert!(parse(&["--listen", "[::1]:0"]).checked_listen().is_ok());
        assert!(
            parse(&["--listen", "0.0.0.0:3100"])
                .checked_listen()
                .is_err()
        );
        assert!(parse(&["--auth", "token"]).checked_listen().is_err());
    }

    #[test]
    fn the_database_lies_in_the_data_folder_unless_named() {
        let inside = parse(&["--data-dir", "/srv/workforce"]).database().unwrap();
        assert_eq!(
            inside.sqlite_path().unwrap().to_str(),
            Some("/srv/workforce/workforce.db")
        );
        assert!(parse(&["--database-url", "mysql://x"]).database().is_err());
        assert!(
            parse(&["--database-url", "postgres://u@localhost/d"])
                .database()
                .is_ok()
        );
    }
}
