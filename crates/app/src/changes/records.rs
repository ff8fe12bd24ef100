//! The fields of each kind of record.

use workforce_domain::agent::Agent;
use workforce_domain::approval::{Approval, ApprovalType};
use workforce_domain::board::BoardMember;
use workforce_domain::company::Company;
use workforce_domain::conventions::{Compact, Conventions};
use workforce_domain::goal::Goal;
use workforce_domain::issue::{Issue, ProgressRecord};
use workforce_domain::label::IssueLabel;
use workforce_domain::project::{Project, Workspace};
use workforce_domain::secret::{ExternalRef, Secret};

use super::fields::{Field, Recorded, Shown, as_answered};
use crate::conventions::is_stale;

/// Named one by one and not told as it is answered: nothing is changed as often.
impl Recorded for Issue {
    fn fields(&self) -> Vec<Field<'_>> {
        let Self {
            id: _,
            company: _,
            number: _,
            identifier: _,
            project,
            goal,
            parent,
            title,
            description,
            progress,
            priority,
            assignee,
            implementer,
            created_by: _,
            billing_code,
            ticket_key,
            request_depth,
            delegation,
            assignee_adapter_overrides,
            execution_workspace,
            hidden_at,
            created_at: _,
            updated_at: _,
        } = self;
        let ProgressRecord {
            status,
            started_at,
            last_started_at,
            completed_at,
            cancelled_at,
            workflow_epoch,
        } = progress.record();
        vec![
            Field::plain("projectId", project),
            Field::plain("goalId", goal),
            Field::plain("parentId", parent),
            Field::new("title", Shown::Text(Some(title))),
            Field::new("description", Shown::Text(description.as_deref())),
            Field::plain("status", status),
            Field::plain("startedAt", started_at),
            Field::plain("lastStartedAt", last_started_at),
            Field::plain("completedAt", completed_at),
            Field::plain("cancelledAt", cancelled_at),
            Field::plain("workflowEpoch", workflow_epoch),
            Field::plain("priority", priority),
            Field::plain("assigneeAgentId", assignee.agent()),
            Field::plain(
                "assigneeUserId",
                assignee.board().map(BoardMember::identity),
            ),
            Field::plain("implementerAgentId", implementer),
            Field::plain("billingCode", billing_code),
            Field::plain("ticketKey", ticket_key),
            Field::plain("requestDepth", request_depth),
            Field::new("delegation", Shown::Masked(delegation.as_ref())),
            Field::new(
                "assigneeAdapterOverrides",
                Shown::Masked(assignee_adapter_overrides.as_ref()),
            ),
            Field::plain("executionWorkspaceId", execution_workspace),
            Field::plain("hiddenAt", hidden_at),
        ]
    }
}

impl Recorded for Agent {
    fn fields(&self) -> Vec<Field<'_>> {
        let Self {
            id: _,
            company: _,
            name,
            url_key,
            role,
            title,
            icon,
            capabilities,
            reports_to,
            lifecycle,
            // Shows in the status alone.
            consecutive_failures: _,
            // Moves with every run that fails.
            backoff_until: _,
            adapter_type,
            adapter_config,
            runtime_config,
            can_create_agents,
            metadata,
            budget,
            budget_override,
            // Moves with every run, whose end tells it.
            last_heartbeat_at: _,
            created_at: _,
            updated_at: _,
        } = self;
        let pause = lifecycle.paused();
        let permissions = serde_json::json!({ "canCreateAgents": can_create_agents });
        vec![
            Field::plain("name", name),
            Field::plain("urlKey", url_key),
            Field::plain("role", role),
            Field::plain("title", title),
            Field::plain("icon", icon),
            Field::new("capabilities", Shown::Text(capabilities.as_deref())),
            Field::plain("reportsTo", reports_to),
            // Whether it runs is no part of the record, and not looked up for this.
            Field::plain("status", self.status(false)),
            Field::plain("pauseReason", pause.map(|pause| pause.reason)),
            Field::plain("pausedAt", pause.map(|pause| pause.at)),
            Field::plain("adapterType", adapter_type),
            // How an agent is run is not for its peers; the revisions tell it to those it is for.
            Field::new("adapterConfig", Shown::HiddenDocument(adapter_config)),
            Field::new("runtimeConfig", Shown::HiddenDocument(runtime_config)),
            Field::plain("permissions", permissions),
            Field::new("metadata", Shown::Masked(Some(metadata))),
            Field::plain("budgetMonthlyCents", budget.cents()),
            Field::plain(
                "budgetOverrideMonth",
                budget_override.map(|it| it.to_string()),
            ),
        ]
    }
}

impl Recorded for Company {
    fn fields(&self) -> Vec<Field<'_>> {
        as_answered(self, &[])
    }
}

impl Recorded for Project {
    fn fields(&self) -> Vec<Field<'_>> {
        as_answered(self, &[])
    }
}

impl Recorded for Workspace {
    fn fields(&self) -> Vec<Field<'_>> {
        let metadata = Shown::Masked(Some(&self.metadata));
        let mut fields = as_answered(self, &["metadata"]);
        fields.push(Field::new("metadata", metadata));
        fields
    }
}

impl Recorded for Conventions {
    fn fields(&self) -> Vec<Field<'_>> {
        let Self {
            company: _,
            project: _,
            backstory,
            conventions_md,
            extra_references,
            compact,
            updated_at: _,
        } = self;
        let short = compact.as_ref().map(|compact| {
            let Compact {
                text,
                origin,
                // Shows in whether the short form is stale.
                source_hash: _,
            } = compact;
            (text.as_str(), origin.source())
        });
        vec![
            Field::new("backstory", Shown::Text(Some(backstory))),
            Field::new("conventionsMd", Shown::Text(Some(conventions_md))),
            Field::new("compactContext", Shown::Text(short.map(|(text, _)| text))),
            Field::plain("compactSource", short.map(|(_, source)| source)),
            Field::plain("compactStale", is_stale(self)),
            Field::new("extraReferences", Shown::Json(extra_references)),
        ]
    }
}

impl Recorded for Goal {
    fn fields(&self) -> Vec<Field<'_>> {
        as_answered(self, &[])
    }
}

impl Recorded for IssueLabel {
    fn fields(&self) -> Vec<Field<'_>> {
        as_answered(self, &[])
    }
}

/// Secrets are for the board alone: of anything but the number of the newest version nobody else
/// learns more than that it changed.
impl Recorded for Secret {
    fn fields(&self) -> Vec<Field<'_>> {
        let Self {
            id: _,
            company: _,
            name,
            provider: _,
            external_ref,
            description,
            token_for,
            latest_version,
            created_by_agent: _,
            created_by_user: _,
            created_at: _,
            updated_at: _,
        } = self;
        let external_ref = external_ref.as_ref().map(ExternalRef::as_str);
        vec![
            Field::new("name", Shown::HiddenText(Some(name))),
            Field::new("externalRef", Shown::HiddenText(external_ref)),
            Field::new("description", Shown::HiddenText(description.as_deref())),
            Field::new("tokenFor", Shown::HiddenText(token_for.as_deref())),
            Field::plain("latestVersion", latest_version),
        ]
    }
}

impl Recorded for Approval {
    fn fields(&self) -> Vec<Field<'_>> {
        let Self {
            id: _,
            company: _,
            kind,
            state,
            payload,
            attention,
            requested_by: _,
            primary_issue: _,
            resubmit_count,
            revision: _,
            created_at: _,
            updated_at: _,
        } = self;
        let decision = state.decision();
        let note = decision.and_then(|decision| decision.note.as_deref());
        let payload = match kind {
            ApprovalType::HireAgent => Shown::Hire(payload),
            _ => Shown::Payload(payload),
        };
        vec![
            Field::plain("status", state.status()),
            Field::new("payload", payload),
            Field::new("decisionNote", Shown::Text(note)),
            Field::plain("decidedBy", decision.map(|it| it.by.0.to_string())),
            Field::plain("decidedAt", decision.map(|decision| decision.at)),
            Field::plain("resubmitCount", resubmit_count),
            Field::plain("attention", attention),
        ]
    }
}
