//! Refusals: why a use case did not do what it was asked, with a stable code
//! for programs and a sentence for people (docs/errors.md).

use std::collections::BTreeSet;

use serde_json::Value;
use workforce_domain::string_enum;

/// A refusal of a use case.
pub trait Refusal: std::fmt::Display {
    /// The stable machine code.
    fn code(&self) -> Code;

    /// Facts that help the caller: an object, or a list of
    /// `{"pointer", "message"}`.
    fn details(&self) -> Option<Value> {
        None
    }
}

/// The codes that an operation refuses with, as its description names them:
/// its own, and those of the steps it takes. Codes that the route implies are
/// omitted, such as `not_found`, or `board_required` on a route of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codes {
    own: &'static [Code],
    steps: &'static [Self],
}

impl Codes {
    /// None but those that go without saying.
    pub const NONE: Self = Self::of(&[]);

    /// These.
    pub const fn of(own: &'static [Code]) -> Self {
        Self { own, steps: &[] }
    }

    /// These, and those of the steps that are taken.
    pub const fn with(own: &'static [Code], steps: &'static [Self]) -> Self {
        Self { own, steps }
    }

    /// Each of them once.
    pub fn all(self) -> BTreeSet<Code> {
        let mut all: BTreeSet<Code> = self.own.iter().copied().collect();
        all.extend(self.steps.iter().flat_map(|step| step.all()));
        all
    }
}

string_enum! {
    /// The stable machine codes of refusals.
    pub enum Code {
        // What the caller sent has not the right shape.
        /// The body is not JSON, or a field has the wrong type or value.
        InvalidJson = "invalid_json",
        /// A query parameter, path or header has the wrong form.
        InvalidRequest = "invalid_request",
        /// The run header does not hold an id.
        InvalidRunId = "invalid_run_id",
        /// The cursor was not given out for this list.
        InvalidCursor = "invalid_cursor",

        // Who the caller is.
        /// No credential was presented where one is needed.
        CredentialMissing = "credential_missing",
        /// The presented credential is not valid.
        CredentialInvalid = "credential_invalid",
        /// The credential's agent is a draft or terminated.
        AgentInactive = "agent_inactive",
        /// The call is for agents.
        AgentRequired = "agent_required",

        // What the caller may do.
        /// The call is for the board.
        BoardRequired = "board_required",
        /// The caller does not belong to the company in the path.
        CompanyForbidden = "company_forbidden",
        /// The caller may not do this to this object.
        Forbidden = "forbidden",
        /// The run header names another run than the credential's.
        RunMismatch = "run_mismatch",
        /// A run that only answers a mention cannot check out.
        ConsultRun = "consult_run",
        /// New agents need an approval in this company.
        ApprovalRequired = "approval_required",
        /// The request comes from an address or page that is not allowed.
        OriginForbidden = "origin_forbidden",
        /// The caller asks too often.
        RateLimited = "rate_limited",

        // What there is.
        /// No such route.
        RouteNotFound = "route_not_found",
        /// The object does not exist, or not for this caller.
        NotFound = "not_found",
        /// The route exists, with other methods.
        MethodNotAllowed = "method_not_allowed",
        /// The events that were asked for are not kept any more.
        EventsExpired = "events_expired",
        /// The bytes of the attachment are not where this server keeps them.
        AttachmentMissing = "attachment_missing",
        /// The body is too large.
        BodyTooLarge = "body_too_large",
        /// The path speaks another protocol.
        UpgradeRequired = "upgrade_required",
        /// The body is not of the type the route takes.
        UnsupportedMediaType = "unsupported_media_type",
        /// A body that is compressed in another way than those that are taken.
        UnsupportedCoding = "unsupported_coding",
        /// The content has no such range.
        RangeNotSatisfiable = "range_not_satisfiable",

        // Conflicts with another party.
        /// The company is paused or archived.
        CompanyNotActive = "company_not_active",
        /// The company is not archived.
        CompanyNotArchived = "company_not_archived",
        /// Runs of the company have not ended.
        CompanyHasLiveRuns = "company_has_live_runs",
        /// Somebody else has the issue, or it is not in an expected status.
        CheckoutConflict = "checkout_conflict",
        /// A plan over the issue must be decided first.
        ApprovalPending = "approval_pending",
        /// What an approval asks for is being done outside of the store.
        ExecutionInProgress = "execution_in_progress",
        /// The workspace has no repository that can be used.
        WorkspaceUnavailable = "workspace_unavailable",
        /// The source repository is not as a worktree needs it.
        SourceRepoDirty = "source_repo_dirty",
        /// The base branch does not exist.
        BaseBranchMissing = "base_branch_missing",
        /// The branch is checked out elsewhere.
        BranchInUse = "branch_in_use",
        /// Another issue, or another branch, has the worktree of the ticket.
        TicketInUse = "ticket_in_use",
        /// Open issues are worked on in worktrees of the workspace.
        WorkspaceInUse = "workspace_in_use",
        /// A run works in the worktree, or another server with its repository.
        WorkspaceBusy = "workspace_busy",
        /// The worktree is gone, or is not what it was.
        WorkspaceMissing = "workspace_missing",
        /// Files that must not be committed.
        UnsafeFiles = "unsafe_files",
        /// Nothing can be committed.
        GitCommitFailed = "git_commit_failed",
        /// The base branch and the branch of the ticket changed the same.
        SyncConflict = "sync_conflict",
        /// The work is not what the board was shown.
        WorkChanged = "work_changed",
        /// The remote refuses the branch.
        GitPushRejected = "git_push_rejected",
        /// The project demands a plan that the board has approved.
        PlanRequired = "plan_required",
        /// Parts of the issue are still open.
        ChildrenOpen = "children_open",
        /// The caller does not hold the issue.
        NotHolder = "not_holder",
        /// The agent is paused.
        AgentPaused = "agent_paused",
        /// The agent is terminated.
        AgentTerminated = "agent_terminated",
        /// The agent is a draft.
        AgentPendingApproval = "agent_pending_approval",
        /// The agent did or was given something.
        AgentHasHistory = "agent_has_history",
        /// The budget is used up.
        BudgetExhausted = "budget_exhausted",
        /// The run has ended already.
        RunNotLive = "run_not_live",
        /// The run does not wait for its agent to say how it ended.
        RunNotWaiting = "run_not_waiting",
        /// The first request with this key is still running.
        RequestInProgress = "request_in_progress",
        /// Another object of the company has that name.
        NameTaken = "name_taken",

        /// The configuration was changed since the caller saw it.
        RevisionConflict = "revision_conflict",
        /// A file was changed since the caller saw it.
        InstructionsFileConflict = "instructions_file_conflict",
        /// The folder or file of external instructions cannot be used.
        InstructionsUnavailable = "instructions_unavailable",
        /// Something else of the company has this name.
        DuplicateName = "duplicate_name",
        /// Agents refer to the secret.
        SecretInUse = "secret_in_use",
        /// Agents refer to exactly this version of the secret.
        SecretVersionPinned = "secret_version_pinned",
        /// A change of the master key has not ended.
        KeyRotationInProgress = "key_rotation_in_progress",
        /// The server cannot change its master key by itself.
        KeyRotationUnavailable = "key_rotation_unavailable",

        // What the caller means cannot be done.
        /// A field's value breaks a rule.
        InvalidField = "invalid_field",
        /// The lifecycle has no such move.
        InvalidTransition = "invalid_transition",
        /// The approval is decided, or does not wait for a decision.
        ApprovalNotPending = "approval_not_pending",
        /// A field or parameter that nobody reads.
        UnknownField = "unknown_field",
        /// A field that nobody may set.
        FieldNotWritable = "field_not_writable",
        /// A field names something that does not exist in this company.
        ReferenceNotFound = "reference_not_found",
        /// A link would make a cycle.
        Cycle = "cycle",
        /// A tree would become too deep.
        TooDeep = "too_deep",
        /// Work in progress needs somebody who does it.
        AssigneeRequired = "assignee_required",
        /// An environment variable that workforce sets itself.
        EnvReserved = "env_reserved",
        /// A secret that does not exist in this company.
        SecretNotFound = "secret_not_found",
        /// A configuration of the past that is not possible any more.
        RollbackInvalid = "rollback_invalid",
        /// The entry file of an instructions bundle cannot be deleted.
        EntryFileProtected = "entry_file_protected",
        /// A value under a sensitive name has to be a secret.
        SecretRequired = "secret_required",
        /// The newest version of a secret cannot be deleted alone.
        SecretVersionNewest = "secret_version_newest",
        /// The key was used for another request.
        IdempotencyKeyReused = "idempotency_key_reused",

        // How much is asked for.
        /// Too many streams are open, or tickets for them unused.
        TooManyStreams = "too_many_streams",

        // What others do for workforce.
        /// The remote of a repository cannot be reached, or takes no credentials of ours.
        GitRemoteFailed = "git_remote_failed",
        /// git failed.
        GitFailed = "git_failed",
        /// The forge does not open the pull request.
        PrCreateFailed = "pr_create_failed",

        // workforce itself.
        /// The server stops.
        ServerStopping = "server_stopping",
        /// Secrets cannot be kept with this provider.
        SecretProviderUnsupported = "secret_provider_unsupported",
        /// Too many lost races; try again.
        Contended = "contended",
        /// As many such requests as can be served at once are being served.
        Busy = "busy",
        /// The store cannot be reached.
        StoreUnavailable = "store_unavailable",
        /// A disk has no room for what was to be written.
        StorageFull = "storage_full",
        /// A task of the server ended and is about to be started again.
        TaskDown = "task_down",
        /// The store was lost during a commit; nobody knows what became of it.
        OutcomeUnknown = "outcome_unknown",
        /// The engine does not look for work at the moment.
        EngineStalled = "engine_stalled",
        /// A fault of workforce.
        Internal = "internal",
    }
}
