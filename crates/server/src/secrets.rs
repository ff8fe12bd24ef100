//! `workforce secrets`: what an operator does with the secrets of a running
//! server.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::board_token::ServiceArgs;
use crate::client::Client;

/// Flags of `workforce secrets`.
#[derive(Args, Debug)]
pub(crate) struct SecretsArgs {
    #[command(subcommand)]
    command: SecretsCommand,
}

#[derive(Debug, Subcommand)]
enum SecretsCommand {
    /// Change the master key of a running server, and wait until everything is
    /// sealed under the new one.
    RotateKey(RotateKeyArgs),
}

#[derive(Args, Debug)]
struct RotateKeyArgs {
    #[command(flatten)]
    service: ServiceArgs,

    /// Says that no other server uses the database, where one could.
    #[arg(long)]
    only_server: bool,

    /// Seconds to wait for the end; 0 does not wait.
    #[arg(long, default_value_t = 600)]
    wait_sec: u64,
}

const PATH: &str = "/api/secrets/rotate-key";
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Runs the command.
pub(crate) fn run(args: &SecretsArgs) -> anyhow::Result<()> {
    match &args.command {
        SecretsCommand::RotateKey(args) => rotate_key(args),
    }
}

fn rotate_key(args: &RotateKeyArgs) -> anyhow::Result<()> {
    let client = args.service.board()?;
    let body = json!({ "onlyServer": args.only_server });
    let mut status = ask(&client, "POST", &body.to_string())?;
    let begun = Instant::now();
    let mut out = std::io::stdout();
    writeln!(out, "new master key {}", text(&status, "currentKeyId"))?;
    while status["complete"] != true {
        if args.wait_sec == 0 {
            writeln!(out, "the server goes on by itself")?;
            return Ok(());
        }
        if begun.elapsed() > Duration::from_secs(args.wait_sec) {
            bail!(
                "{} values are still sealed under the former key; the server goes on by itself",
                status["remaining"]
            );
        }
        std::thread::sleep(LOOK_EVERY);
        status = ask(&client, "GET", "")?;
    }
    writeln!(out, "everything is sealed under it; the former key is gone")?;
    Ok(())
}

fn text<'a>(status: &'a Value, name: &str) -> &'a str {
    status[name].as_str().unwrap_or_default()
}

fn ask(client: &Client, method: &str, body: &str) -> anyhow::Result<Value> {
    let answer = client.send(method, PATH, body)?;
    let json: Value = serde_json::from_str(&answer.body)
        .with_context(|| format!("{method} {PATH} answered {}", answer.status))?;
    if !(200..300).contains(&answer.status) {
        bail!("{}", text(&json, "detail"));
    }
    Ok(json)
}
