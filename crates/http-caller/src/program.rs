use std::io::{self, Read, Write};
use std::process::ExitCode;

use workforce_agent_programs::SelfReport;

use crate::answer::{Verdict, not_called};
use crate::call::Call;
use crate::exchange;

/// The argument with which the program of guards becomes this one.
pub const SUBCOMMAND: &str = "http-call";

/// Makes the one call that stands on the standard input, in a process that was
/// started for nothing else by a guard. Does not return once the agent has accepted
/// its work: then the process waits to be ended.
#[must_use]
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads on.
        Err(_) => ExitCode::FAILURE,
    }
}

fn run() -> io::Result<()> {
    let verdict = match read_call() {
        Ok(call) => exchange::make(call, &mut io::stdout().lock())?,
        Err(error) => {
            let reason = format!("there is no call to make: {error}");
            Verdict::Ended(Box::new(not_called(&reason)))
        }
    };
    match verdict {
        Verdict::Ended(conclusion) => tell(&SelfReport::Ended(conclusion)),
        Verdict::Accepted => {
            writeln!(io::stdout(), "[accepted; waiting for the callback]")?;
            tell(&SelfReport::Waiting)?;
            wait()
        }
    }
}

fn read_call() -> io::Result<Call> {
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn tell(report: &SelfReport) -> io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    io::stderr().lock().write_all(&line)
}

/// Waits for the signal that ends the process.
fn wait() -> ! {
    loop {
        std::thread::park();
    }
}
