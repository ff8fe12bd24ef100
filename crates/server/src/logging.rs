//! Log lines, written to standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// Begins to log. `WORKFORCE_LOG` chooses what, in the syntax of
/// `tracing_subscriber`'s `EnvFilter`; `info` when unset.
pub(crate) fn begin(format: LogFormat, default: &str) {
    let filter =
        EnvFilter::try_from_env("WORKFORCE_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // A second call in the same process keeps the first one's choice.
    let _already_begun = match format {
        LogFormat::Text => lines.with_target(false).try_init(),
        LogFormat::Json => lines.json().with_span_list(false).try_init(),
    };
}
