use alloc::string::String;

use serde::Serialize;

use crate::id::IssueId;
use crate::string_enum;
use crate::text::Title;
use crate::time::Timestamp;

string_enum! {
    /// Why an open issue is stuck: nothing that happens by itself moves it, and nobody was told to.
    pub enum StuckReason {
        /// Nobody has it.
        Unassigned = "unassigned",
        /// Its company is paused or archived.
        CompanyNotActive = "company_not_active",
        /// Its assignee is paused.
        AgentPaused = "agent_paused",
        /// The budget of its assignee, its project or its company is used up.
        BudgetExhausted = "budget_exhausted",
        /// The program of its assignee is not signed in.
        SignInRequired = "sign_in_required",
        /// Its assignee set it to `blocked`, and waits for nothing that is known.
        Blocked = "blocked",
        /// The last run on it failed, and is not tried again.
        RunFailed = "run_failed",
        /// The last run on it succeeded, and neither ended it nor said what it waits for.
        LeftUndone = "left_undone",
        /// No run was ever started for it.
        NotWoken = "not_woken",
    }
}

/// An issue that is stuck.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct StuckIssue {
    /// The issue.
    #[serde(rename = "issueId")]
    pub issue: IssueId,
    /// What it is called by.
    pub identifier: String,
    /// What is to be done.
    pub title: Title,
    /// Why it does not move.
    pub reason: StuckReason,
    /// Since when this was seen.
    pub since: Timestamp,
}
