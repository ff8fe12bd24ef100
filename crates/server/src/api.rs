//! `workforce api`: one call of the REST interface, for scripts of agents,
//! which need no other HTTP client then.

use std::io::{Read, Write};
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use crate::board_token::ServiceArgs;
use crate::client::Client;
use crate::logging;

/// Flags of `workforce api`.
#[derive(Args, Debug)]
pub(crate) struct ApiArgs {
    #[command(flatten)]
    service: ServiceArgs,

    /// The credential to present; the board's when unsaid. Give it as the
    /// variable: arguments are seen by every process of the machine.
    #[arg(long, env = "WORKFORCE_API_KEY", hide_env_values = true)]
    key: Option<String>,

    /// Print only the value at this JSON pointer of the answer, such as `/id`,
    /// texts without quotes.
    #[arg(long, value_name = "POINTER")]
    get: Option<String>,

    /// GET, POST, PUT, PATCH or DELETE.
    method: String,

    /// The path, such as `/api/agents/me`.
    path: String,

    /// The JSON to send; `-` reads it from standard input.
    body: Option<String>,
}

/// Exit code for an answer that is no success.
const REFUSED: u8 = 1;
/// Exit code when there is no answer.
const UNREACHABLE: u8 = 2;

/// Makes the call. Prints the answer; the exit code is 0 for a success, 1 for
/// any other answer, 2 when there is none.
pub(crate) fn run(args: &ApiArgs) -> ExitCode {
    match call(args) {
        Ok(code) => code,
        Err(error) => {
            logging::say(&format!("workforce api: {error:#}"));
            ExitCode::from(UNREACHABLE)
        }
    }
}

fn call(args: &ApiArgs) -> anyhow::Result<ExitCode> {
    let mut body = args.body.clone().unwrap_or_default();
    if body == "-" {
        body.clear();
        std::io::stdin().read_to_string(&mut body)?;
    }
    let client = match args.key.clone().filter(|key| !key.is_empty()) {
        Some(key) => Client::new(&args.service.url, Some(key)),
        None => args.service.board()?,
    };
    let method = args.method.to_ascii_uppercase();
    let answer = client.send(&method, &args.path, &body)?;
    if !(200..300).contains(&answer.status) {
        let (path, status) = (&args.path, answer.status);
        let hint = if path.starts_with("/api/") {
            ""
        } else {
            "; paths begin with /api/"
        };
        logging::say(&format!(
            "workforce api: {method} {path} answered {status}{hint}"
        ));
        writeln!(std::io::stdout(), "{}", answer.body)?;
        return Ok(ExitCode::from(REFUSED));
    }
    let text = match &args.get {
        None => answer.body,
        Some(pointer) => {
            let json: Value = serde_json::from_str(&answer.body)?;
            match json.pointer(pointer) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Null) | None => String::new(),
                Some(value) => value.to_string(),
            }
        }
    };
    writeln!(std::io::stdout(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}
