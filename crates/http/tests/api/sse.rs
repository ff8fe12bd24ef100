//! A reader of server-sent events.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use serde_json::Value;
use ureq::http::{HeaderMap, Request};

use crate::described;

/// An open stream.
pub(crate) struct Stream {
    pub(crate) headers: HeaderMap,
    /// What the reader would come back with.
    pub(crate) last_id: Option<String>,
    lines: BufReader<Box<dyn Read + Send + Sync>>,
}

/// A dispatched event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) data: Value,
}

impl Message {
    pub(crate) fn number(&self) -> i64 {
        self.id.parse().unwrap()
    }
}

impl Stream {
    /// Opens the stream at `path`; nothing in these tests keeps it waiting for a minute.
    #[track_caller]
    pub(crate) fn open(base: &str, path: &str, headers: &[(&str, &str)]) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .build();
        let mut request = Request::get(format!("{base}{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = config.new_agent().run(request.body(()).unwrap()).unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{path}");
        let headers = answer.headers().clone();
        described::check("GET", path, 200, &headers, b"");
        assert_eq!(headers["content-type"], "text/event-stream");
        Self {
            headers,
            last_id: None,
            lines: BufReader::new(Box::new(answer.into_body().into_reader())),
        }
    }

    /// The next lines up to an empty one; `None` at the end.
    pub(crate) fn block(&mut self) -> Option<Vec<String>> {
        let mut block = Vec::new();
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                assert!(block.is_empty(), "it ends within an event: {block:?}");
                return None;
            }
            let line = line.trim_end_matches('\n');
            if line.is_empty() {
                return Some(block);
            }
            if let Some(id) = line.strip_prefix("id: ") {
                self.last_id = Some(id.to_owned());
            }
            block.push(line.to_owned());
        }
    }

    /// The next event, past comments; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Message> {
        loop {
            let block = self.block()?;
            let field = |name: &str| block.iter().find_map(|line| line.strip_prefix(name));
            if let Some(data) = field("data: ") {
                return Some(Message {
                    id: field("id: ").unwrap().to_owned(),
                    event: field("event: ").unwrap().to_owned(),
                    data: serde_json::from_str(data).unwrap(),
                });
            }
        }
    }

    /// The next `count` events.
    #[track_caller]
    pub(crate) fn take(&mut self, count: usize) -> Vec<Message> {
        (0..count)
            .map(|seen| self.next().unwrap_or_else(|| panic!("ends after {seen}")))
            .collect()
    }

    /// Reads on until the stream ends.
    pub(crate) fn rest(&mut self) -> Vec<Message> {
        std::iter::from_fn(|| self.next()).collect()
    }
}
