use serde::Serialize;
use workforce_domain::execution_workspace::TicketAdvance;
use workforce_domain::time::Timestamp;

/// A ticket whose work has come to its end, and that is to be brought before the board
/// (docs/tickets.md#when-the-work-is-done).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = TicketAdvance))]
#[serde(rename_all = "camelCase")]
pub struct AdvanceView {
    /// How often that was tried in vain.
    pub attempts: i32,
    /// What was in the way the last time: a stable code.
    pub code: Option<String>,
    /// The same for people, without secrets.
    pub error: Option<String>,
    /// When it is tried next; earlier than now while it is being tried.
    pub next_attempt_at: Timestamp,
    /// Since when the ticket waits for it.
    pub since: Timestamp,
}

impl From<TicketAdvance> for AdvanceView {
    fn from(advance: TicketAdvance) -> Self {
        Self {
            attempts: advance.attempts,
            code: advance.error_code,
            error: advance.error,
            next_attempt_at: advance.not_before,
            since: advance.created_at,
        }
    }
}
