//! What the service is told when it starts: flags, each also as a variable.

mod attachments;
mod callees;
mod containment;
mod data;
mod tickets;

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use clap::{Args, ValueEnum};
use workforce_http::{AllowedHosts, RateLimit};
use workforce_infra::instruction_files::default_roots;

use self::attachments::AttachmentArgs;
use self::callees::CalleeArgs;
use self::containment::ContainmentArgs;
pub(crate) use self::data::DataArgs;
use self::tickets::TicketArgs;

/// Requests per second where others than this machine may ask.
const RATE_LIMIT: u32 = 50;

/// Flags of `workforce serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServeArgs {
    /// Address to listen on.
    #[arg(long, env = "WORKFORCE_LISTEN", default_value = "127.0.0.1:3100")]
    pub(crate) listen: SocketAddr,

    /// Where everything is kept.
    #[command(flatten)]
    pub(crate) data: DataArgs,

    /// Begin with a new database where that of the data folder is gone or empty. What belonged to
    /// the old one is moved into a folder `former-...` in the data folder.
    #[arg(long)]
    pub(crate) new_database: bool,

    /// A list of what models cost in the place of the one that comes with workforce.
    #[arg(long, env = "WORKFORCE_PRICES")]
    pub(crate) prices: Option<PathBuf>,

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

    /// Leave live runs to the next start when the service is stopped. After a
    /// crash they are always left to it.
    #[arg(long, env = "WORKFORCE_KEEP_RUNS", num_args = 0..=1, default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub(crate) keep_runs: bool,

    /// What runs are kept from.
    #[command(flatten)]
    pub(crate) containment: ContainmentArgs,

    /// Agents that are called by HTTP.
    #[command(flatten)]
    pub(crate) callees: CalleeArgs,

    /// Governed tickets.
    #[command(flatten)]
    pub(crate) tickets: TicketArgs,

    /// Runs that may be live at once on this server; when unsaid four per core,
    /// at least 8, as far as they fit into the memory at 512 MiB each.
    #[arg(long, env = "WORKFORCE_MAX_CONCURRENT_RUNS")]
    pub(crate) max_concurrent_runs: Option<u16>,

    /// More variables of the server's environment that agents may see,
    /// separated by commas.
    #[arg(long, env = "WORKFORCE_AGENT_ENV", value_delimiter = ',')]
    pub(crate) agent_env: Vec<String>,

    /// Refuse values that stand inline under sensitive names, so that they are
    /// made secrets; on unless requests without a credential are the board.
    #[arg(long, env = "WORKFORCE_STRICT_SECRETS", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) strict_secrets: Option<bool>,

    /// The folder beneath which secrets of the provider `file` may lie; none
    /// when unsaid.
    #[arg(long, env = "WORKFORCE_SECRET_FILES")]
    pub(crate) secret_files: Option<PathBuf>,

    /// Host names beside the loopback ones that requests may be sent to; with
    /// `--auth token` any name when none is given.
    #[arg(long, env = "WORKFORCE_ALLOWED_HOSTS", value_delimiter = ',')]
    pub(crate) allowed_hosts: Vec<String>,

    /// Requests per second of one credential, or of one address without any; 0
    /// for no limit. No limit on loopback addresses and 50 on others when
    /// unsaid.
    #[arg(long, env = "WORKFORCE_RATE_LIMIT")]
    pub(crate) rate_limit: Option<u32>,
    /// Folder beneath which the board may have external instructions; may be
    /// given several times. The home of the server's user when unsaid.
    #[arg(
        long = "instructions-root",
        env = "WORKFORCE_INSTRUCTIONS_ROOTS",
        value_delimiter = ','
    )]
    pub(crate) instructions_roots: Vec<PathBuf>,

    /// Bytes that stay free on the disks of the data folder and of attachments:
    /// below, no run starts and no upload is taken. 0 for no limit.
    #[arg(long, env = "WORKFORCE_MIN_FREE_BYTES", default_value_t = 256 * 1024 * 1024)]
    pub(crate) min_free_bytes: u64,

    #[command(flatten)]
    pub(crate) attachments: AttachmentArgs,

    /// Seconds between snapshots of a SQLite database in the data folder; 0 for
    /// none.
    #[arg(long, env = "WORKFORCE_SNAPSHOTS_SEC", default_value_t = 24 * 60 * 60)]
    pub(crate) snapshots_sec: u64,

    /// Tell anybody the metrics, with `--auth token` too: what the server does, and how much goes on
    /// in which company.
    #[arg(long, env = "WORKFORCE_METRICS_OPEN", num_args = 0..=1, default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub(crate) metrics_open: bool,

    /// Serve the interface alone, without the pages of the board.
    #[arg(long, env = "WORKFORCE_NO_BOARD", num_args = 0..=1, default_missing_value = "true", default_value_t = false, action = clap::ArgAction::Set)]
    pub(crate) no_board: bool,

    /// How log lines look.
    #[arg(long, env = "WORKFORCE_LOG_FORMAT", value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
}

/// How callers prove who they are (docs/access.md#callers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum AuthMode {
    /// A request without a credential is the board; loopback addresses only.
    LocalTrusted,
    /// The board presents a token.
    Token,
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
            AuthMode::LocalTrusted | AuthMode::Token => Ok(self.listen),
        }
    }

    /// The hosts whose requests are answered. Where each request brings a
    /// credential, a page of another site gains nothing by a name that it
    /// points here, so that a list is needed by those only who want one.
    pub(crate) fn hosts(&self) -> AllowedHosts {
        if self.auth == AuthMode::Token && self.allowed_hosts.is_empty() {
            AllowedHosts::any()
        } else {
            AllowedHosts::new(self.allowed_hosts.iter().cloned())
        }
    }

    /// How often one caller may ask.
    pub(crate) fn limit(&self) -> Option<RateLimit> {
        let unsaid = if self.listen.ip().is_loopback() {
            0
        } else {
            RATE_LIMIT
        };
        NonZeroU32::new(self.rate_limit.unwrap_or(unsaid)).map(RateLimit::per_second)
    }

    /// The folders beneath which external instructions may be.
    ///
    /// # Errors
    /// When one that the operator named is not there.
    pub(crate) fn instruction_roots(&self, home: Option<&OsStr>) -> anyhow::Result<Vec<PathBuf>> {
        if self.instructions_roots.is_empty() {
            return Ok(default_roots(home.map(Path::new)));
        }
        self.instructions_roots
            .iter()
            .map(|root| {
                let absolute = std::path::absolute(root)?;
                if !absolute.is_dir() {
                    bail!("--instructions-root {}: no such folder", root.display());
                }
                Ok(absolute)
            })
            .collect()
    }

    /// How often a SQLite database is copied, if ever.
    pub(crate) const fn snapshots_every(&self) -> Option<Duration> {
        match self.snapshots_sec {
            0 => None,
            seconds => Some(Duration::from_secs(seconds)),
        }
    }

    /// Whether values under sensitive names must be secrets
    /// (docs/secrets.md#strict-mode).
    pub(crate) fn strict_secrets(&self) -> bool {
        self.strict_secrets
            .unwrap_or(self.auth != AuthMode::LocalTrusted)
    }

    /// How long live runs get to end.
    pub(crate) const fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_sec)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use workforce_infra::objects::Location;

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
        let open = ["--auth", "token", "--listen", "0.0.0.0:3100"];
        assert!(parse(&open).checked_listen().is_ok());
    }

    #[test]
    fn any_host_is_answered_where_every_request_brings_a_credential() {
        let listed = ["--allowed-hosts", "board.example"];
        assert_eq!(parse(&[]).hosts(), AllowedHosts::new([]));
        assert_eq!(parse(&["--auth", "token"]).hosts(), AllowedHosts::any());
        let both = [&["--auth", "token"][..], &listed[..]].concat();
        let board = AllowedHosts::new(["board.example".to_owned()]);
        assert_eq!(parse(&both).hosts(), board);
        assert_eq!(parse(&listed).hosts(), board);
    }

    #[test]
    fn whoever_is_not_on_this_machine_may_ask_only_so_often() {
        let per_second = |flags: &[&str]| parse(flags).limit().map(|it| it.per_second.get());
        assert_eq!(per_second(&[]), None);
        assert_eq!(per_second(&["--listen", "0.0.0.0:1"]), Some(RATE_LIMIT));
        assert_eq!(per_second(&["--rate-limit", "7"]), Some(7));
        assert_eq!(
            per_second(&["--listen", "0.0.0.0:1", "--rate-limit", "0"]),
            None
        );
    }

    #[test]
    fn secrets_are_strict_where_credentials_are() {
        assert!(!parse(&[]).strict_secrets());
        assert!(parse(&["--auth", "token"]).strict_secrets());
        assert!(parse(&["--strict-secrets"]).strict_secrets());
        assert!(!parse(&["--auth", "token", "--strict-secrets=false"]).strict_secrets());
    }

    #[test]
    fn the_database_lies_in_the_data_folder_unless_named() {
        let inside = parse(&["--data-dir", "/srv/workforce"])
            .data
            .database()
            .unwrap();
        assert_eq!(
            inside.sqlite_path().unwrap().to_str(),
            Some("/srv/workforce/workforce.db")
        );
        assert!(
            parse(&["--database-url", "mysql://x"])
                .data
                .database()
                .is_err()
        );
        assert!(
            parse(&["--database-url", "postgres://u@localhost/d"])
                .data
                .database()
                .is_ok()
        );
    }

    #[test]
    fn attachments_lie_in_the_data_folder_unless_told_otherwise() {
        let data_dir = Path::new("/srv/workforce");
        let inside = parse(&[]).attachments(data_dir);
        assert_eq!(inside.to_string(), "file:///srv/workforce/attachments");
        let bucket = parse(&[
            "--attachments-url",
            "s3://files/work",
            "--attachments-region",
            "eu-west-1",
        ]);
        let Location::Bucket(bucket) = bucket.attachments(data_dir) else {
            panic!("a bucket");
        };
        assert_eq!(
            (bucket.name.as_str(), bucket.region.as_deref()),
            ("files", Some("eu-west-1"))
        );
        assert_eq!(parse(&["--attachments-sweep-sec", "0"]).sweep_every(), None);
        for odd in ["--attachments-url=ftp://x", "--attachment-max-bytes=0"] {
            assert!(Line::try_parse_from(["workforce", odd]).is_err(), "{odd}");
        }
    }
}
