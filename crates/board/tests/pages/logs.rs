//! Logs that tests write.

use std::collections::HashMap;
use std::sync::Mutex;

use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::port::{LogError, LogPart, LogSlice, LogStream, RunLogs};
use workforce_domain::time::Timestamp;

/// The logs of runs, in parts of one stream each.
#[derive(Default)]
pub(crate) struct Logs(Mutex<HashMap<RunId, Vec<(LogStream, String)>>>);

impl Logs {
    /// Appends to the log of a run.
    pub(crate) fn write(&self, run: &str, stream: LogStream, text: &str) {
        let mut all = self.0.lock().unwrap();
        let log = all.entry(run.parse().unwrap()).or_default();
        log.push((stream, text.to_owned()));
    }
}

impl RunLogs for Logs {
    fn read(
        &self,
        _company: CompanyId,
        run: RunId,
        offset: u64,
        limit: u64,
    ) -> Result<LogSlice, LogError> {
        let all = self.0.lock().unwrap();
        let log = all.get(&run).map_or(&[][..], Vec::as_slice);
        let (mut parts, mut begin) = (Vec::new(), 0);
        for (stream, text) in log {
            let end = begin + text.len() as u64;
            let from = offset.clamp(begin, end);
            let to = (offset + limit).clamp(begin, end);
            if from < to {
                let bytes = &text.as_bytes()[(from - begin) as usize..(to - begin) as usize];
                parts.push(LogPart {
                    at: Some(Timestamp::from_micros(0)),
                    stream: *stream,
                    offset: from,
                    text: String::from_utf8_lossy(bytes).into_owned(),
                });
            }
            begin = end;
        }
        Ok(LogSlice {
            parts,
            next_offset: (offset + limit).min(begin).max(offset.min(begin)),
            total: begin,
        })
    }

    fn delete(&self, _company: CompanyId) -> Result<(), LogError> {
        Ok(())
    }
}
