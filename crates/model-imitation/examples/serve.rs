//! Starts an imitation on a port and keeps it until standard input closes:
//!
//! ```text
//! cargo run -p workforce-model-imitation --example serve -- [PORT [SCRIPT.json]]
//! ```
//!
//! Without a script it plays a small one; a prompt may carry its own steps. What it was asked is at
//! `/imitation/requests`.

#![expect(clippy::print_stdout, reason = "it tells its address")]

use std::error::Error;
use std::io::{self, Read as _};

use workforce_model_imitation::{ModelImitation, Reply, Rule, Script};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().map_or(Ok(0), |port| port.parse())?;
    let script = match arguments.next() {
        Some(path) => serde_json::from_slice(&std::fs::read(path)?)?,
        None => Script::from(
            Rule::new()
                .then(Reply::shell("echo scripted"))
                .then(Reply::text("Finished. It said: {result}")),
        ),
    };
    let imitation = ModelImitation::start_at(port, script)?;
    println!("{}", imitation.url());
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
