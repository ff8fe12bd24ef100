//! `workforce board`: the way to the pages of a running service.

use std::io::Write;
use std::process::{Command as Program, Stdio};

use anyhow::Context;
use clap::{Args, Subcommand};
use serde_json::Value;

use crate::board_token::{self, ServiceArgs, is_this_machine};
use crate::logging;

/// The host name under which a browser on this machine keeps its session from other programs.
const OWN_HOST: &str = "workforce.localhost";

/// Flags of `workforce board`.
#[derive(Args, Debug)]
pub(crate) struct BoardArgs {
    #[command(flatten)]
    service: ServiceArgs,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print a link that signs a browser in once, within 60 seconds.
    Open {
        /// Open it in the browser of this machine too.
        #[arg(long)]
        browser: bool,
    },
}

/// Does what the command says.
pub(crate) fn run(args: &BoardArgs) -> anyhow::Result<()> {
    let Command::Open { browser } = args.command;
    let board = args.service.board()?;
    let health = board.get("/api/health")?;
    let base = args.service.url.trim_end_matches('/');
    let is_open = health["deploymentMode"] == "local_trusted";
    let link = if is_open {
        format!("{base}/")
    } else {
        let made = board.call("POST", "/api/login-links", &Value::Null)?;
        let path = made["path"].as_str().context("the service made no link")?;
        let url = made["url"].as_str().map(str::to_owned);
        url.unwrap_or_else(|| format!("{}{path}", shown(base)))
    };
    writeln!(std::io::stdout(), "{link}")?;
    if !is_open {
        logging::say("it works once, within 60 seconds");
    }
    if browser {
        open(&link)?;
    }
    Ok(())
}

/// The address of a service as a browser asks for it: on this machine under the service's own name.
fn shown(base: &str) -> String {
    let own = || {
        let uri: ureq::http::Uri = base.parse().ok()?;
        let port = uri.port_u16().map(|port| format!(":{port}"));
        (is_this_machine(base) && uri.scheme_str() == Some("http"))
            .then(|| format!("http://{OWN_HOST}{}", port.unwrap_or_default()))
    };
    own().unwrap_or_else(|| base.to_owned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "it opens a browser, and no agent"
)]
fn open(link: &str) -> anyhow::Result<()> {
    let name = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut program = Program::new(name);
    program
        .arg(link)
        .env_remove(board_token::VARIABLE)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let status = program.status().with_context(|| name.to_owned())?;
    anyhow::ensure!(status.success(), "{name} failed: {status}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_on_this_machine_is_sent_to_the_services_own_name() {
        for (base, expected) in [
            ("http://127.0.0.1:3100", "http://workforce.localhost:3100"),
            ("http://localhost", "http://workforce.localhost"),
            ("http://[::1]:80", "http://workforce.localhost:80"),
            ("https://board.example", "https://board.example"),
            ("http://10.1.2.3:3100", "http://10.1.2.3:3100"),
        ] {
            assert_eq!(shown(base), expected);
        }
    }
}
