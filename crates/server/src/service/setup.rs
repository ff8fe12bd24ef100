//! What a service needs before it starts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::geteuid;
use workforce_app::authenticate::{AuthMode, AuthPolicy};
use workforce_domain::port::Tokens;
use workforce_engine::ContainmentPlan;
use workforce_infra::objects::Location;
use workforce_infra::start_token::StartToken;
use workforce_vitals::StorageArea;

use crate::board_token;
use crate::config::{self, ServeArgs};

/// For how long a client may take nothing of what is sent to it.
const DEAF_FOR: Duration = Duration::from_secs(90);

/// Where room is looked for. A bucket is somebody else's to watch.
pub(super) fn watched_folders(
    data_dir: &Path,
    attachments: &Location,
) -> Vec<(StorageArea, PathBuf)> {
    let mut folders = vec![(StorageArea::Data, data_dir.to_owned())];
    if let Location::Folder(folder) = attachments {
        folders.push((StorageArea::Attachments, folder.clone()));
    }
    folders
}

/// Says by what runs are contained.
pub(super) fn tell_containment(plan: &ContainmentPlan) {
    if let Some(run_as) = &plan.run_as {
        tracing::info!("agents' programs run as {}", run_as.name);
    }
    match plan.means.names().as_slice() {
        [] => {}
        means => tracing::info!("runs are contained by {}", means.join(", ")),
    }
    if geteuid().is_root() && plan.run_as.is_none() {
        tracing::warn!(
            "agents run as root: name another user with --run-as, or see what they can do in \
             docs/operations.md#agents-as-root"
        );
    }
    if !plan.means.hide_files() && plan.run_as.is_none() {
        tracing::warn!("runs can read the server's files and signal its processes");
    }
}

/// Who may ask, and the token that the board begins with. The variable wins
/// over the file; a file is made where nothing else would let the board in.
pub(super) fn auth_policy(
    args: &ServeArgs,
    data_dir: &Path,
    tokens: &dyn Tokens,
) -> anyhow::Result<AuthPolicy> {
    let (mode, start) = match (args.auth, board_token::given()?) {
        (config::AuthMode::LocalTrusted, Some(given)) => (AuthMode::LocalTrusted, Some(given)),
        (config::AuthMode::LocalTrusted, None) => {
            (AuthMode::LocalTrusted, StartToken::kept(data_dir)?)
        }
        (config::AuthMode::Token, Some(given)) => (AuthMode::Token, Some(given)),
        (config::AuthMode::Token, None) => {
            let token = StartToken::kept_or_made(data_dir, tokens)?;
            (AuthMode::Token, Some(token))
        }
    };
    if start.as_ref().is_some_and(StartToken::is_weak) {
        tracing::warn!("the board's token is so short that it could be guessed");
    }
    Ok(AuthPolicy {
        mode,
        start_token: start.map(|token| tokens.digest(token.reveal())),
    })
}

/// The address under which this machine reaches the server: one that listens
/// everywhere is reached over loopback.
pub(super) fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Connections inherit it from the listener: one whose client takes nothing
/// for so long is closed, however much waits for it. Answers that do not end
/// would be kept for ever otherwise.
pub(super) fn drop_deaf_clients(listener: &TcpListener) {
    let millis = u32::try_from(DEAF_FOR.as_millis()).unwrap_or(u32::MAX);
    if let Err(error) = setsockopt(listener, sockopt::TcpUserTimeout, &millis) {
        tracing::warn!(%error, "clients that take nothing are not dropped");
    }
}
