//! An issue as callers see it.

use serde::Serialize;
use workforce_domain::Document;
use workforce_domain::id::{LabelId, RunId};
use workforce_domain::issue::{Issue, Lease};
use workforce_domain::label::IssueLabel;
use workforce_domain::time::Timestamp;

use crate::masking::masked;

/// An issue with its labels, and who works on it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Issue))]
#[serde(rename_all = "camelCase")]
pub struct IssueView {
    /// The issue itself.
    #[serde(flatten)]
    pub issue: Issue,
    /// Adapter settings for this issue alone.
    assignee_adapter_overrides: Option<Document>,
    /// Its labels, by name.
    pub labels: Vec<IssueLabel>,
    /// The ids of its labels, in the same order.
    label_ids: Vec<LabelId>,
    /// The run that holds it.
    checkout_run_id: Option<RunId>,
    /// Since when somebody holds it.
    checked_out_at: Option<Timestamp>,
    /// Who holds it.
    pub lease: Option<Lease>,
    /// Always `null`: workforce has no workflow sessions.
    active_workflow_session_id: Option<RunId>,
    /// The same instant as `startedAt`.
    #[serde(rename = "started_at")]
    started_at_alias: Option<Timestamp>,
    /// The same instant as `completedAt`.
    #[serde(rename = "completed_at")]
    completed_at_alias: Option<Timestamp>,
}

impl IssueView {
    /// An issue with its labels and the lease of whoever holds it now. Secret
    /// values that stand in plain in its adapter settings are hidden.
    pub(crate) fn new(issue: Issue, labels: Vec<IssueLabel>, lease: Option<Lease>) -> Self {
        let progress = &issue.progress;
        Self {
            assignee_adapter_overrides: issue.assignee_adapter_overrides.clone().map(masked),
            label_ids: labels.iter().map(|label| label.id).collect(),
            labels,
            checkout_run_id: lease.as_ref().and_then(|lease| lease.holder.run()),
            checked_out_at: lease.as_ref().and(progress.last_started_at()),
            lease,
            active_workflow_session_id: None,
            started_at_alias: progress.started_at(),
            completed_at_alias: progress.completed_at(),
            issue,
        }
    }
}
