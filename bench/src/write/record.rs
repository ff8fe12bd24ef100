//! The end of every write: what happened.

use anyhow::{Result, bail};
use serde_json::{Value as Json, json};

use super::Writer;
use crate::database::Database;
use crate::sql;
use crate::statement::{Document, Instant, Key, Statement, Value};

/// Something that happened, as a write records it.
pub(super) struct Deed<'a> {
    pub(super) action: &'a str,
    pub(super) entity: &'a str,
    pub(super) id: Key,
    pub(super) details: Json,
    /// The events beside `activity.logged`.
    pub(super) event: Option<&'a str>,
    pub(super) at: i64,
}

impl Writer<'_> {
    pub(super) fn record_issue(
        &mut self,
        database: &mut impl Database,
        action: &str,
        id: Key,
        details: Json,
        at: i64,
    ) -> Result<()> {
        let deed = Deed {
            action,
            entity: "issue",
            id,
            details,
            event: Some("issue.updated"),
            at,
        };
        self.record(database, &deed)
    }

    /// The end of every write.
    pub(super) fn record(&mut self, database: &mut impl Database, deed: &Deed<'_>) -> Result<()> {
        let entity_id = deed.id.0.to_string();
        let details = deed.details.to_string();
        let payload = json!({
            "action": deed.action,
            "actorType": "agent",
            "actorId": self.actor,
            "agentId": self.actor,
            "runId": null,
            "entityType": deed.entity,
            "entityId": entity_id,
            "details": deed.details,
        })
        .to_string();
        let events: Vec<&str> = deed.event.into_iter().chain(["activity.logged"]).collect();
        database.record(&Record {
            company: Value::Key(self.company),
            events: &events,
            payload: Value::Document(Document(&payload)),
            at: deed.at,
            activity: [
                Value::Key(self.random.key(deed.at)),
                Value::Key(self.company),
                Value::Text("agent"),
                Value::Text(&self.actor),
                Value::Key(self.agent),
                Value::Text(deed.action),
                Value::Text(deed.entity),
                Value::Text(&entity_id),
                Value::Document(Document(&details)),
            ],
        })
    }
}

/// The rows that a write ends with.
pub(crate) struct Record<'a> {
    company: Value<'a>,
    /// The kinds of the events.
    events: &'a [&'a str],
    /// That of each event.
    payload: Value<'a>,
    /// In microseconds.
    at: i64,
    /// All of the activity but its instant, which comes last.
    activity: [Value<'a>; 9],
}

impl Record<'_> {
    /// The numbers of the events, the activity, and the events.
    pub(crate) fn write_in_steps(&self, database: &mut impl Database) -> Result<()> {
        let at = Value::Instant(Instant(self.at));
        let count = self.events.len() as i64;
        let last = database.count(sql::NEXT_EVENT_NUMBERS, &self.counters())?;
        let activity: Vec<_> = self.activity.iter().chain([&at]).cloned().collect();
        database.run(Statement::new(sql::INSERT_ACTIVITY, &activity))?;
        for (number, kind) in (last - count + 1..).zip(self.events) {
            let event = [
                self.company.clone(),
                Value::BigInt(number),
                Value::Text(kind),
                self.payload.clone(),
                at.clone(),
            ];
            database.run(Statement::new(sql::INSERT_EVENT, &event))?;
        }
        Ok(())
    }

    /// The same in one statement.
    pub(crate) fn write_at_once(&self, database: &mut impl Database) -> Result<()> {
        let count = self.events.len();
        let at = Value::Instant(Instant(self.at));
        let sql = match count {
            1 => sql::POSTGRES_JOURNAL_OF_ONE,
            2 => sql::POSTGRES_JOURNAL_OF_TWO,
            _ => bail!("there is no statement for {count} events"),
        };
        let mut values = self.counters().to_vec();
        values.extend([self.company.clone(), Value::BigInt(count as i64)]);
        values.extend(self.events.iter().map(|kind| Value::Text(kind)));
        values.extend(vec![self.payload.clone(); count]);
        values.extend(vec![at; count]);
        values.extend_from_slice(&self.activity);
        database.run(Statement::new(sql, &values))
    }

    fn counters(&self) -> [Value<'_>; 4] {
        [
            Value::BigInt(self.events.len() as i64),
            Value::BigInt(self.at),
            Value::BigInt(self.at),
            self.company.clone(),
        ]
    }
}
