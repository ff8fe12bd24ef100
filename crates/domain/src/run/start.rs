//! What a start waits for: a wake becomes a run when every condition holds.

use crate::string_enum;

string_enum! {
    /// A condition of a start, named after what keeps a pending wake waiting
    /// while it does not hold. The claim of a run asks for all of them, and
    /// for nothing else.
    pub enum StartCondition {
        /// The wake is for a later instant.
        NotBefore = "not_before",
        /// The last runs of the agent failed, and nobody of the board asked for
        /// this one.
        AgentBackoff = "agent_backoff",
        /// The provider of its model refuses the agent's account for a while.
        ProviderGate = "provider_gate",
        /// The agent is a draft or gone for good.
        AgentNotEmployed = "agent_not_employed",
        /// The agent is paused, by the board or by its budget.
        AgentPaused = "agent_paused",
        /// The company is paused, archived, or stopped by its budget.
        CompanyNotActive = "company_not_active",
        /// The agent has used up its budget of the month, or its live runs hold the
        /// rest, and the board has not let it go on.
        BudgetAgent = "budget_agent",
        /// The company has used up its budget of the month, or its live runs hold the
        /// rest.
        BudgetCompany = "budget_company",
        /// The project of the issue has used up its budget, or the live runs on its
        /// issues hold the rest.
        BudgetProject = "budget_project",
        /// The server has as many live runs as it may have.
        CapInstance = "cap_instance",
        /// The company has as many live runs as it may have.
        CapCompany = "cap_company",
        /// The agent has as many live runs as it may have.
        CapAgent = "cap_agent",
        /// The issue to work on has ended.
        IssueEnded = "issue_ended",
        /// Another run works on the issue.
        IssueHasLiveRun = "issue_has_live_run",
        /// Another run works in the worktree of the issue's ticket.
        WorkspaceBusy = "workspace_busy",
        /// A run, or another agent, holds the lease of the issue.
        LeaseHeld = "lease_held",
        /// The board has not decided on the plan of the issue, or of one above
        /// it. Whoever is to revise a plan may work on its own issue meanwhile.
        ApprovalPending = "approval_pending",
    }
}
