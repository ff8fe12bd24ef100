//! The end of every write: what happened.

use anyhow::Result;
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

    /// The numbers of the events, the activity, and the events: the end of every write.
    pub(super) fn record(&mut self, database: &mut impl Database, deed: &Deed<'_>) -> Result<()> {
        let entity_id = deed.id.0.to_string();
        let at = Value::Instant(Instant(deed.at));
        let details = deed.details.to_string();
        let activity = [
            Value::Key(self.random.key(deed.at)),
            Value::Key(self.company),
            Value::Text("agent"),
            Value::Text(&self.actor),
            Value::Key(self.agent),
            Value::Text(deed.action),
            Value::Text(deed.entity),
            Value::Text(&entity_id),
            Value::Document(Document(&details)),
            at.clone(),
        ];
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
        let kinds = deed.event.into_iter().chain(["activity.logged"]);
        let count = if deed.event.is_some() { 2 } else { 1 };
        let counter = [
            Value::BigInt(count),
            Value::BigInt(deed.at),
            Value::BigInt(deed.at),
            Value::Key(self.company),
        ];
        let last = database.count(sql::NEXT_EVENT_NUMBERS, &counter)?;
        database.run(Statement::new(sql::INSERT_ACTIVITY, &activity))?;
        for (number, kind) in (last - count + 1..).zip(kinds) {
            let event = [
                Value::Key(self.company),
                Value::BigInt(number),
                Value::Text(kind),
                Value::Document(Document(&payload)),
                at.clone(),
            ];
            database.run(Statement::new(sql::INSERT_EVENT, &event))?;
        }
        Ok(())
    }
}
