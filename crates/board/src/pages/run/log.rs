//! The log of a run on its page: to be read, or as it was written.

use serde::Deserialize;
use workforce_domain::agent::AdapterType;
use workforce_domain::lifecycle::Lifecycle as _;
use workforce_domain::run::Run;
use workforce_http::door::{LogPiece, Visit};
use workforce_http::problem::Problem;

use crate::html::output::{Output, tail};
use crate::html::size::Size;
use crate::html::transcript::{self, Rows};

/// So much of a log is looked through for what is read of it.
const READ: u64 = 1024 * 1024;
/// A piece of the log as it was written.
const RAW: u64 = 64 * 1024;
/// The heaviest such piece, as markup.
const HEAVIEST: usize = 72 * 1024;
/// Its lines.
const LINES: usize = 5000;

/// Which piece is wanted, as the address says it.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    view: String,
    before: Option<u64>,
}

impl Wanted {
    pub(super) fn of(visit: &Visit) -> Self {
        serde_html_form::from_str(visit.query()).unwrap_or_default()
    }
}

/// What of the log is shown.
pub(super) struct Log {
    pub(super) content: Content,
    pub(super) size: Size,
    /// Where what was written before is shown.
    pub(super) earlier: Option<String>,
    /// Where the end is shown.
    pub(super) end: Option<String>,
    /// Why the log cannot be read here.
    pub(super) note: Option<&'static str>,
    /// Whether more is being written to what is shown.
    pub(super) is_growing: bool,
}

pub(super) enum Content {
    Read(Vec<transcript::Row>),
    Raw(Output),
}

impl Log {
    pub(super) async fn read(
        visit: &Visit,
        run: &Run,
        adapter: AdapterType,
        link: &str,
        wanted: &Wanted,
    ) -> Result<Self, Problem> {
        let is_raw = wanted.view == "raw";
        let bytes = if is_raw { RAW } else { READ };
        let piece = visit.run_log(run, wanted.before, bytes).await?;
        let is_end = piece.end >= piece.total;
        let is_growing = is_end && !run.status.is_terminal();
        let (content, earlier) = if is_raw {
            raw(&piece)
        } else {
            let Rows { rows, earlier } =
                transcript::read(adapter, &piece.parts, piece.begin, is_growing);
            (Content::Read(rows), earlier)
        };
        let (end, before) = if is_raw {
            (format!("{link}?view=raw"), "&")
        } else {
            (link.to_owned(), "?")
        };
        let written = u64::try_from(run.log_bytes).unwrap_or_default();
        Ok(Self {
            content,
            size: Size(piece.total.max(written)),
            earlier: earlier.map(|place| format!("{end}{before}before={place}")),
            end: (!is_end).then_some(end),
            note: piece.note,
            is_growing,
        })
    }

    pub(super) const fn is_raw(&self) -> bool {
        matches!(self.content, Content::Raw(_))
    }
}

/// The end of a piece that fits on the page, and where it begins unless that is the beginning of
/// the log.
fn raw(piece: &LogPiece) -> (Content, Option<u64>) {
    let texts = piece.parts.iter().map(|part| part.text.as_str());
    let text: String = texts.collect();
    let cut = tail(&text, LINES, HEAVIEST);
    let (_, shown) = text.split_at(cut);
    let begin = piece.begin + u64::try_from(cut).unwrap_or_default();
    (
        Content::Raw(Output::new(shown)),
        (begin > 0).then_some(begin),
    )
}
