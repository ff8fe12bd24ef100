//! What the connections of a store run, as they run it.

use std::cell::RefCell;
use std::mem;

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};

/// Statements without their values.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Each that ran, in order.
    pub(crate) run: Vec<String>,
    /// Each that was prepared to be kept by its connection.
    pub(crate) kept: Vec<String>,
}

thread_local! {
    /// What this thread ran, while it records.
    static RECORD: RefCell<Option<Record>> = const { RefCell::new(None) };
}

fn record() -> Option<Box<dyn Instrumentation>> {
    Some(Box::new(|event: InstrumentationEvent<'_>| {
        RECORD.with_borrow_mut(|record| match (record, event) {
            (Some(record), InstrumentationEvent::StartQuery { query, .. }) => {
                record.run.push(without_values(&query.to_string()));
            }
            (Some(record), InstrumentationEvent::CacheQuery { sql, .. }) => {
                record.kept.push(without_values(sql));
            }
            _ => {}
        });
    }))
}

fn without_values(statement: &str) -> String {
    let (text, _) = statement.split_once(" -- binds").unwrap_or((statement, ""));
    text.trim().to_owned()
}

/// Listens to every connection that is opened from now on.
pub(crate) fn install() {
    set_default_instrumentation(record).unwrap();
}

/// What `body` runs on this thread.
pub(crate) fn recorded(body: impl FnOnce()) -> Record {
    RECORD.set(Some(Record::default()));
    body();
    RECORD.with_borrow_mut(mem::take).unwrap_or_default()
}
