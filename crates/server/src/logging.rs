//! Log lines, written to standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// What says at `ERROR` that a caller sent what is no request, which anybody can
/// at any time. Whoever names it in `WORKFORCE_LOG` hears of it.
const OF_CALLERS: [&str; 3] = [
    "actix_http::h1::dispatcher=off",
    "actix_http::h1::decoder=off",
    "actix_http::ws=off",
];

/// The filter that `chosen` asks for, without what callers could fill the log
/// with.
fn filter(chosen: Option<&str>, default: &str) -> EnvFilter {
    let chosen = chosen.and_then(|chosen| Some((chosen, EnvFilter::try_new(chosen).ok()?)));
    let (text, filter) = chosen.unwrap_or_else(|| (default, EnvFilter::new(default)));
    if text.contains("actix_http") {
        return filter;
    }
    let quiet = OF_CALLERS
        .iter()
        .filter_map(|directive| directive.parse().ok());
    quiet.fold(filter, EnvFilter::add_directive)
}

/// Begins to log. `WORKFORCE_LOG` chooses what, in the syntax of
/// `tracing_subscriber`'s `EnvFilter`; `info` when unset.
pub(crate) fn begin(format: LogFormat, default: &str) {
    let chosen = std::env::var("WORKFORCE_LOG").ok();
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter(chosen.as_deref(), default))
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    // A second call in the same process keeps the first one's choice.
    let _already_begun = match format {
        LogFormat::Text => lines.with_target(false).try_init(),
        LogFormat::Json => lines.json().with_span_list(false).try_init(),
    };
}
