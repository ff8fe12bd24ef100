//! The runs of an agent on a line of time, whose right end is now.

use askama::Template;
use askama::filters::HtmlSafe;
use workforce_domain::run::{Run, RunStatus};
use workforce_domain::time::Timestamp;

use super::status::Pill;
use super::when::{span, time_of_day};

/// How far back a line goes, in microseconds.
const WINDOW: i64 = 12 * 60 * 60 * 1_000_000;
/// How wide the picture is, in its own units.
const WIDTH: i64 = 720;
/// The narrowest bar that can be seen.
const NARROWEST: i64 = 4;

/// The runs of one agent.
#[derive(Template)]
#[template(path = "parts/lane.html")]
pub(crate) struct Lane {
    bars: Vec<Bar>,
}

impl HtmlSafe for Lane {}

struct Bar {
    x: i64,
    width: i64,
    class: &'static str,
    title: String,
}

impl Lane {
    /// The lines are four, at every third hour.
    const GRID: [i64; 5] = [0, 180, 360, 540, 719];

    /// The runs of the window, each with the key of its issue.
    pub(crate) fn new<'a>(
        runs: impl Iterator<Item = (&'a Run, Option<&'a str>)>,
        now: Timestamp,
    ) -> Self {
        Self {
            bars: runs
                .filter_map(|(run, key)| Bar::of(run, key, now))
                .collect(),
        }
    }

    /// What stands above the lines.
    pub(crate) fn hours(now: Timestamp) -> Vec<String> {
        let quarter = WINDOW / 4;
        let before = (1..=4)
            .rev()
            .map(|quarters| now.micros() - quarters * quarter);
        let hours = before.map(|at| time_of_day(Timestamp::from_micros(at)));
        hours.chain(["now".to_owned()]).collect()
    }
}

impl Bar {
    /// The bar of a run; `None` for one that never began, or ended before the window.
    fn of(run: &Run, key: Option<&str>, now: Timestamp) -> Option<Self> {
        let began = run.started_at?.micros();
        let ended = run.finished_at.unwrap_or(now).micros();
        let left = now.micros() - WINDOW;
        if ended < left {
            return None;
        }
        let place = |at: i64| (at.max(left) - left) * WIDTH / WINDOW;
        let width = (place(ended) - place(began)).max(NARROWEST);
        let words = Pill::of_run(run.status).word().to_lowercase();
        Some(Self {
            x: place(began).min(WIDTH - width),
            width,
            class: class(run.status),
            title: format!(
                "{}: {words}, {}",
                key.unwrap_or("A heartbeat"),
                span(ended - began)
            ),
        })
    }
}

const fn class(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "b-live",
        RunStatus::Failed | RunStatus::TimedOut => "b-bad",
        RunStatus::Queued | RunStatus::Succeeded | RunStatus::Cancelled => "b-ok",
    }
}
