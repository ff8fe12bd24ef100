//! The board's credential, as the server and its command line find it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use workforce_infra::start_token::StartToken;

use crate::client::Client;

/// The variable that gives the token.
pub(crate) const VARIABLE: &str = "WORKFORCE_BOARD_TOKEN";

/// True when the operator gave a token.
pub(crate) fn is_given() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty())
}

/// The token that the operator gave; an empty variable is none.
///
/// # Errors
/// When the variable's value cannot be a token. It is not repeated.
pub(crate) fn given() -> anyhow::Result<Option<StartToken>> {
    if !is_given() {
        return Ok(None);
    }
    let text = std::env::var(VARIABLE).unwrap_or_default();
    StartToken::given(&text).map(Some).context(VARIABLE)
}

/// Where a command finds the service and the board's credential.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServiceArgs {
    /// Where the service is.
    #[arg(
        long,
        global = true,
        env = "WORKFORCE_API_URL",
        default_value = "http://127.0.0.1:3100"
    )]
    pub(crate) url: String,

    /// The data folder of the service, for the board's token in it. A token
    /// from a file is sent to this machine only; WORKFORCE_BOARD_TOKEN wins.
    #[arg(
        long,
        global = true,
        env = "WORKFORCE_DATA_DIR",
        default_value = "./data"
    )]
    pub(crate) data_dir: PathBuf,
}

impl ServiceArgs {
    /// A client that calls as the board: with the token of the variable, with
    /// that of the file, or without any, as a local installation allows.
    ///
    /// # Errors
    /// When there is a token that cannot be used.
    pub(crate) fn board(&self) -> anyhow::Result<Client> {
        let token = self.token()?;
        Ok(Client::new(
            &self.url,
            token.map(|token| token.reveal().to_owned()),
        ))
    }

    fn token(&self) -> anyhow::Result<Option<StartToken>> {
        match given()? {
            Some(token) => Ok(Some(token)),
            None if is_this_machine(&self.url) => of_folder(&self.data_dir),
            None => Ok(None),
        }
    }
}

/// The token in the file of a data folder, if there is one.
///
/// # Errors
/// When the file cannot be used.
pub(crate) fn of_folder(folder: &Path) -> anyhow::Result<Option<StartToken>> {
    Ok(StartToken::kept(folder)?)
}

/// True for addresses that no other machine answers to.
pub(crate) fn is_this_machine(url: &str) -> bool {
    let Ok(uri) = url.parse::<ureq::http::Uri>() else {
        return false;
    };
    let host = uri.host().unwrap_or_default();
    host == "localhost"
        || host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_from_a_file_goes_to_this_machine_only() {
        for url in [
            "http://127.0.0.1:3100",
            "http://localhost",
            "http://[::1]:1/x",
        ] {
            assert!(is_this_machine(url), "{url}");
        }
        for url in [
            "http://127.0.0.1.evil.example",
            "http://localhost@evil.example/",
            "https://board.example",
            "nonsense",
            "",
        ] {
            assert!(!is_this_machine(url), "{url}");
        }
    }
}
