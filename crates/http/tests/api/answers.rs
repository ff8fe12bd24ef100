//! Notes what the servers of these tests answer, where somebody wants to know: `cargo xtask test`
//! compares it with what each route says that it answers.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Names the folder to note the answers in.
const FOLDER: &str = "WORKFORCE_TEST_ANSWERS";

/// Begins to note the answers of this process, once.
pub(crate) fn note() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        if let Some(folder) = std::env::var_os(FOLDER) {
            tracing::subscriber::set_global_default(Notes::open(Path::new(&folder))).unwrap();
        }
    });
}

/// The line of the log that tells of an answer, as a line of a file: database, method, route,
/// status and code, separated by blanks.
struct Notes {
    database: &'static str,
    file: File,
}

impl Notes {
    fn open(folder: &Path) -> Self {
        // Each test has a process of its own, whose arguments name it.
        let on_postgres = std::env::args().any(|argument| argument.contains("postgres::"));
        let name = std::process::id().to_string();
        Self {
            database: if on_postgres { "postgres" } else { "sqlite" },
            file: OpenOptions::new()
                .create(true)
                .append(true)
                .open(folder.join(name))
                .unwrap(),
        }
    }
}

#[derive(Default)]
struct Answered {
    method: String,
    route: String,
    status: u64,
    code: String,
}

impl Visit for Answered {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "method" => self.method = format!("{value:?}"),
            "code" => self.code = format!("{value:?}"),
            _ => {}
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "route" {
            self.route = value.to_owned();
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "status" {
            self.status = value;
        }
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "workforce_http::middleware"
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::DEBUG)
    }

    fn event(&self, event: &Event<'_>) {
        let mut answered = Answered::default();
        event.record(&mut answered);
        let Answered {
            method,
            route,
            status,
            code,
        } = answered;
        if !route.is_empty() {
            let line = format!("{} {method} {route} {status} {code}\n", self.database);
            (&self.file).write_all(line.as_bytes()).unwrap();
        }
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}
