//! The log of a run, for a page.

use std::io;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{self, Bytes};
use futures_util::stream;
use workforce_domain::port::LogPart;
use workforce_domain::run::Run;

use super::Visit;
use crate::problem::Problem;
use crate::routes;
use crate::state::State;

/// So many bytes are read at a time when the whole log is sent.
const PIECE: u64 = 512 * 1024;

/// A piece of a run's log.
pub struct LogPiece {
    /// What it consists of, in the order of the log.
    pub parts: Vec<LogPart>,
    /// Where it begins, in bytes.
    pub begin: u64,
    /// Where it ends.
    pub end: u64,
    /// How long the log is now.
    pub total: u64,
    /// Why the log cannot be read here, when this server has none of it. The piece is the end
    /// that the run keeps then.
    pub note: Option<&'static str>,
}

impl Visit {
    /// So many bytes of a run's log that end at `before`, or with the log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub async fn run_log(
        &self,
        run: &Run,
        before: Option<u64>,
        bytes: u64,
    ) -> Result<LogPiece, Problem> {
        let (state, run) = (Arc::clone(self.state()), run.clone());
        let read = web::block(move || read(&state, &run, before, bytes)).await;
        let read = read.unwrap_or_else(|panicked| Err(Problem::internal(&panicked)));
        read.inspect_err(|problem| self.note(problem))
    }

    /// The whole log of a run as a text to be saved.
    pub fn send_run_log(&self, run: Run) -> HttpResponse {
        let name = format!("attachment; filename=\"run-{}.log\"", run.id);
        let state = Arc::clone(self.state());
        let pieces = stream::unfold(Some(0), move |offset| {
            let (state, mut run) = (Arc::clone(&state), run.clone());
            async move {
                let offset = offset?;
                let read = web::block(move || routes::log_piece(&state, &mut run, (offset, PIECE)));
                let read = read.await.map_err(io::Error::other);
                let read =
                    read.and_then(|read| read.map_err(|it| io::Error::other(it.to_string())));
                match read {
                    Ok((slice, _end)) => {
                        let text = Bytes::from(slice.content());
                        let next = (slice.next_offset > offset).then_some(slice.next_offset);
                        (!text.is_empty()).then_some((Ok(text), next))
                    }
                    // The answer has begun: all that can be done is to break it off.
                    Err(error) => Some((Err(error), None)),
                }
            }
        });
        HttpResponse::Ok()
            .content_type("text/plain; charset=utf-8")
            .insert_header((header::CONTENT_DISPOSITION, name))
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .insert_header((
                header::CONTENT_SECURITY_POLICY,
                "sandbox; default-src 'none'",
            ))
            .streaming(Box::pin(pieces))
    }
}

fn read(state: &State, run: &Run, before: Option<u64>, bytes: u64) -> Result<LogPiece, Problem> {
    let piece = |offset, limit| routes::log_piece(state, &mut run.clone(), (offset, limit));
    let (found, _end) = piece(0, 1)?;
    let total = found.total;
    let end = before.map_or(total, |before| before.min(total));
    let begin = end.saturating_sub(bytes);
    let (slice, told) = piece(begin, (end - begin).max(1))?;
    let is_empty = total > 0 && begin == end;
    Ok(LogPiece {
        parts: if is_empty { Vec::new() } else { slice.parts },
        begin,
        end,
        total,
        note: told.note,
    })
}
