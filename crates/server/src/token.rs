//! `workforce token`: the board's tokens, made, listed and revoked on the
//! running service.

use std::io::Write;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::board_token::ServiceArgs;
use crate::logging;

/// Flags of `workforce token`.
#[derive(Args, Debug)]
pub(crate) struct TokenArgs {
    #[command(flatten)]
    service: ServiceArgs,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a token and print its value, which is shown this once.
    Create {
        /// What it is for.
        #[arg(long, default_value = "default")]
        name: String,
    },
    /// List the tokens that were made, without their values.
    List,
    /// Revoke a token.
    Revoke {
        /// Its id, as the list shows it.
        id: String,
    },
}

/// Does what the command says.
pub(crate) fn run(args: &TokenArgs) -> anyhow::Result<()> {
    const PATH: &str = "/api/board-tokens";
    let board = args.service.board()?;
    let mut out = std::io::stdout();
    match &args.command {
        Command::Create { name } => {
            let made = board.call("POST", PATH, &json!({ "name": name }))?;
            writeln!(out, "{}", text(&made, "token"))?;
            let id = text(&made, "id");
            logging::say(&format!("made {id}: keep it, it is not shown again"));
        }
        Command::List => {
            let tokens = board.get(PATH)?;
            for token in tokens.as_array().into_iter().flatten() {
                let state = match &token["revokedAt"] {
                    Value::String(at) => format!("revoked {at}"),
                    _ => "valid".to_owned(),
                };
                writeln!(
                    out,
                    "{}  {}  {state}  last used {}  {}",
                    text(token, "id"),
                    text(token, "prefix"),
                    token["lastUsedAt"].as_str().unwrap_or("never"),
                    text(token, "name"),
                )?;
            }
        }
        Command::Revoke { id } => {
            anyhow::ensure!(
                id.bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'),
                "`{id}` is no id of a token"
            );
            let revoked = board.call("DELETE", &format!("{PATH}/{id}"), &Value::Null)?;
            writeln!(out, "revoked {}", text(&revoked, "id"))?;
        }
    }
    Ok(())
}

fn text<'a>(record: &'a Value, field: &str) -> &'a str {
    record[field].as_str().unwrap_or_default()
}
