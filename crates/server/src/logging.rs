//! Log lines, written to standard error.
//!
//! Whatever becomes of standard error, no thread of the service waits for it
//! or fails because of it: lines are gathered in memory, up to a bound, and
//! one thread writes them. What it cannot write is counted and forgotten.

use std::io::{self, IsTerminal, Write};
use std::panic::PanicHookInfo;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use nix::errno::Errno;
use tracing_subscriber::EnvFilter;
use workforce_vitals::{LostLines, Vitals};

use crate::config::LogFormat;

/// So many bytes wait to be written at most; what comes beyond is lost.
const MAX_WAITING: usize = 1024 * 1024;
/// A standard error that takes nothing at the moment is tried so often.
const TRY_EVERY: Duration = Duration::from_millis(20);
/// At its end the process waits so long for the last lines to be written.
const FLUSH_BOUND: Duration = Duration::from_secs(1);

/// The lines of this process, once it has begun to log.
static LINES: OnceLock<Arc<Lines>> = OnceLock::new();

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
/// `tracing_subscriber`'s `EnvFilter`; `default` when unset. A panic is a line
/// of the log too.
///
/// # Errors
/// When the thread that writes cannot be started.
pub(crate) fn begin(format: LogFormat, default: &str, vitals: &Vitals) -> anyhow::Result<()> {
    let lines = Arc::new(Lines {
        gathered: Mutex::default(),
        changed: Condvar::new(),
        lost: vitals.lost_lines.clone(),
    });
    // A second call in the same process keeps the first one's choice.
    if LINES.set(Arc::clone(&lines)).is_err() {
        return Ok(());
    }
    let (supervisor, written) = (vitals.supervisor.clone(), Arc::clone(&lines));
    thread::Builder::new()
        .name("log".into())
        .spawn(move || supervisor.keep_thread("log", || false, || written.write()))
        .context("failed to start the thread that writes the log")?;
    let chosen = std::env::var("WORKFORCE_LOG").ok();
    let chosen = chosen.filter(|chosen| !chosen.trim().is_empty());
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter(chosen.as_deref(), default))
        .with_ansi(io::stderr().is_terminal())
        // It would print to standard error, which panics where that is broken.
        .log_internal_errors(false)
        .with_writer(move || Line(Arc::clone(&lines)));
    let _already_begun = match format {
        LogFormat::Text => log.with_target(false).try_init(),
        LogFormat::Json => log.json().with_span_list(false).try_init(),
    };
    // The standard hook waits for standard error.
    std::panic::set_hook(Box::new(tell_panic));
    Ok(())
}

/// Tells whoever started the program, such as why it fails. Without a log the
/// words go straight to standard error, as far as that takes them.
pub(crate) fn say(words: &str) {
    match LINES.get() {
        Some(lines) => {
            lines.push(format!("{words}\n").as_bytes());
            lines.flush();
        }
        None => drop(writeln!(io::stderr(), "{words}")),
    }
}

/// Waits until everything is written, but not for long.
pub(crate) fn flush() {
    if let Some(lines) = LINES.get() {
        lines.flush();
    }
}

fn tell_panic(panic: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let backtrace = std::backtrace::Backtrace::capture();
    let backtrace = (backtrace.status() == std::backtrace::BacktraceStatus::Captured)
        .then(|| tracing::field::display(&backtrace));
    tracing::error!(
        thread = thread.name(),
        location = panic.location().map(tracing::field::display),
        backtrace,
        "panic: {}",
        panic
            .payload_as_str()
            .unwrap_or("without a message that can be shown"),
    );
}

/// Lines on their way to standard error.
struct Lines {
    gathered: Mutex<Gathered>,
    changed: Condvar,
    lost: LostLines,
}

#[derive(Default)]
struct Gathered {
    /// Whole lines.
    waiting: Vec<u8>,
    /// Others are being written.
    writing: bool,
}

impl Lines {
    /// Takes a line. One for which there is no place is lost.
    fn push(&self, line: &[u8]) {
        let mut gathered = self.gathered();
        if gathered.waiting.len() + line.len() > MAX_WAITING {
            self.lost.add(1);
            return;
        }
        gathered.waiting.extend_from_slice(line);
        drop(gathered);
        self.changed.notify_all();
    }

    /// Writes what comes, for ever.
    fn write(&self) {
        let mut reported = 0;
        let mut is_cut = false;
        loop {
            let lines = self.next();
            self.write_out(&lines, &mut is_cut);
            self.gathered().writing = false;
            self.changed.notify_all();
            let lost = self.lost.count();
            if lost > reported && !is_cut {
                tracing::warn!(lost = lost - reported, "lines of the log were lost");
                reported = lost;
            }
        }
    }

    /// Waits for the next lines to write.
    fn next(&self) -> Vec<u8> {
        let nothing = |gathered: &mut Gathered| gathered.waiting.is_empty();
        let waited = self.changed.wait_while(self.gathered(), nothing);
        let mut gathered = waited.unwrap_or_else(PoisonError::into_inner);
        gathered.writing = true;
        std::mem::take(&mut gathered.waiting)
    }

    /// Writes to standard error, not through the standard library: that would
    /// keep its lock while nobody reads.
    fn write_out(&self, mut lines: &[u8], is_cut: &mut bool) {
        if *is_cut && !lines.is_empty() {
            // The rest of a line that was cut must not look like a part of this one.
            *is_cut = nix::unistd::write(io::stderr(), b"\n").is_err();
        }
        while !lines.is_empty() {
            match nix::unistd::write(io::stderr(), lines) {
                Ok(written) => lines = lines.get(written..).unwrap_or_default(),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => thread::sleep(TRY_EVERY),
                Err(_lost) => {
                    let count = lines.split_inclusive(|&byte| byte == b'\n').count();
                    self.lost.add(count as u64);
                    *is_cut = true;
                    return;
                }
            }
        }
    }

    fn flush(&self) {
        let busy = |gathered: &mut Gathered| gathered.writing || !gathered.waiting.is_empty();
        // After the bound the rest is lost.
        drop(
            self.changed
                .wait_timeout_while(self.gathered(), FLUSH_BOUND, busy),
        );
    }

    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes one line from the subscriber.
struct Line(Arc<Lines>);

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.push(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_takes_is_bounded_and_counted() {
        let lines = Lines {
            gathered: Mutex::default(),
            changed: Condvar::new(),
            lost: LostLines::default(),
        };
        let line = vec![b'x'; MAX_WAITING / 4];
        for _ in 0..6 {
            lines.push(&line);
        }
        assert_eq!(lines.gathered().waiting.len(), MAX_WAITING);
        assert_eq!(lines.lost.count(), 2);
        assert_eq!(lines.next().len(), MAX_WAITING);
        lines.push(b"there is a place again\n");
        assert_eq!(lines.next(), b"there is a place again\n");
    }
}
