//! An event as streams and lists show it.

use serde::Serialize;
use utoipa::ToSchema;
use workforce_domain::Document;
use workforce_domain::activity::EventKind;
use workforce_domain::id::CompanyId;
use workforce_domain::port::NumberedEvent;
use workforce_domain::time::Timestamp;

/// Something that happened in a company.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Event)]
pub(crate) struct EventView {
    /// Its number in the company: from 1 on, without gaps.
    id: i64,
    /// The company.
    company_id: CompanyId,
    /// Its kind.
    #[serde(rename = "type")]
    kind: EventKind,
    /// When.
    created_at: Timestamp,
    /// What it tells.
    payload: Document,
}

impl From<NumberedEvent> for EventView {
    fn from(NumberedEvent { sequence, event }: NumberedEvent) -> Self {
        Self {
            id: sequence,
            company_id: event.company,
            kind: event.kind,
            created_at: event.created_at,
            payload: event.payload,
        }
    }
}
