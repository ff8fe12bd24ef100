use actix_web::http::StatusCode;
use workforce_app::Code;
use workforce_domain::string_enum::StringEnum;

use super::advice::advice;

/// How a machine code is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The status of the answer.
    pub status: StatusCode,
    /// The kind of problem in a few words.
    pub title: &'static str,
    /// What the caller should do.
    pub advice: &'static str,
}

/// Every machine code with how it is answered, in the documentation's order.
pub fn catalogue() -> impl Iterator<Item = (Code, Entry)> {
    Code::ALL.iter().map(|&code| (code, entry(code)))
}

/// How a machine code is answered: the one table of statuses (docs/errors.md).
/// 400 is a fault of form, 422 one of meaning, 409 a conflict with another party.
pub const fn entry(code: Code) -> Entry {
<<<<<<< HEAD
    let (status, title, advice) = match code {
        Code::InvalidJson => (
            StatusCode::BAD_REQUEST,
            "Malformed body",
            "Correct the field that `details` points at.",
        ),
        Code::InvalidRequest => (
            StatusCode::BAD_REQUEST,
            "Malformed request",
            "Correct the parameter or header that `details` points at.",
        ),
        Code::InvalidRunId => (
            StatusCode::BAD_REQUEST,
            "Malformed run id",
            "Send the run's id in X-Service-Run-Id, or leave the header out.",
        ),
        Code::InvalidCursor => (
            StatusCode::BAD_REQUEST,
            "Unknown cursor",
            "Send the X-Next-Cursor of the preceding page unchanged, or start over without one.",
        ),
        Code::CredentialMissing => (
            StatusCode::UNAUTHORIZED,
            "Credential missing",
            "Send `Authorization: Bearer` with a key, a run token or the board token.",
        ),
        Code::CredentialInvalid => (
            StatusCode::UNAUTHORIZED,
            "Credential not valid",
            "Stop using this credential; it is unknown, revoked, or its run has ended.",
        ),
        Code::AgentInactive => (
            StatusCode::UNAUTHORIZED,
            "Agent not active",
            "Stop; the agent is a draft or terminated.",
        ),
        Code::RateLimited => (
            StatusCode::TOO_MANY_REQUESTS,
            "Too many requests",
            "Wait for as many seconds as Retry-After says.",
        ),
        Code::AgentRequired => (
            StatusCode::UNAUTHORIZED,
            "Agent credential required",
            "Ask with an agent's key or run token.",
        ),
        Code::BoardRequired => (
            StatusCode::FORBIDDEN,
            "Board only",
            "Ask a person of the board to do this.",
        ),
        Code::CompanyForbidden => (
            StatusCode::FORBIDDEN,
            "Another company",
            "Use the id of your own company.",
        ),
        Code::Forbidden => (
            StatusCode::FORBIDDEN,
            "Not allowed",
            "Ask the assignee, a manager or the board.",
        ),
        Code::RunMismatch => (
            StatusCode::FORBIDDEN,
            "Another run",
            "Leave X-Service-Run-Id out; a run token names its run by itself.",
        ),
        Code::ConsultRun => (
            StatusCode::FORBIDDEN,
            "Consulting run",
            "Answer with a comment; a run that answers a mention works on nothing.",
        ),
        Code::ApprovalRequired => (
            StatusCode::FORBIDDEN,
            "Approval required",
            "Ask for the hire instead; the board decides on it.",
        ),
        Code::OriginForbidden => (
            StatusCode::FORBIDDEN,
            "Host or origin not allowed",
            "Add the name to the allowed hosts of the server.",
        ),
        Code::RouteNotFound => (
            StatusCode::NOT_FOUND,
            "No such route",
            "See /api/openapi.json for the routes there are.",
        ),
        Code::NotFound => (
            StatusCode::NOT_FOUND,
            "Not found",
            "Check the id; what belongs to another company does not exist for you.",
        ),
        Code::MethodNotAllowed => (
            StatusCode::METHOD_NOT_ALLOWED,
            "Method not allowed",
            "Use a method that the Allow header lists.",
        ),
        Code::EventsExpired => (
            StatusCode::GONE,
            "Events expired",
            "Read what you need anew, then ask for the events after `details.latestId`.",
        ),
        Code::BodyTooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "Body too large",
            "Send less.",
        ),
        Code::UpgradeRequired => (
            StatusCode::UPGRADE_REQUIRED,
            "WebSocket required",
            "Open the path as a WebSocket, or read the same events from \
             GET /api/companies/{companyId}/events.",
        ),
        Code::UnsupportedMediaType => (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Wrong content type",
            "Send multipart/form-data with the file in the field `file`.",
        ),
        Code::RangeNotSatisfiable => (
            StatusCode::RANGE_NOT_SATISFIABLE,
            "No such range",
            "Ask for a range within the length that Content-Range tells.",
        ),
        Code::CompanyNotActive => (
            StatusCode::CONFLICT,
            "Company not active",
            "Stop; the board must resume the company first.",
        ),
        Code::CompanyNotArchived => (
            StatusCode::CONFLICT,
            "Company not archived",
            "Archive the company first, then delete it.",
        ),
        Code::CompanyHasLiveRuns => (
            StatusCode::CONFLICT,
            "Runs have not ended",
            "Wait until the company's runs have ended, then delete it.",
        ),
        Code::CheckoutConflict => (
            StatusCode::CONFLICT,
            "Issue not available",
            "Do not try again; pick another issue. `details.reason` tells why.",
        ),
        Code::ApprovalPending => (
            StatusCode::CONFLICT,
            "Approval pending",
            "Wait until the board decides on the plan that `details.approvalId` names.",
        ),
        Code::ExecutionInProgress => (
            StatusCode::CONFLICT,
            "Approval being carried out",
            "Look at `execution` of the approval, and go on when its state is no longer executing.",
        ),
        Code::WorkspaceUnavailable => (
            StatusCode::CONFLICT,
            "Workspace unavailable",
            "Give the issue's project a workspace with a git repository that the server can read.",
        ),
        Code::SourceRepoDirty => (
            StatusCode::CONFLICT,
            "Source repository not clean",
            "Commit or put away what `details` names, or approve with `force: true`.",
        ),
        Code::BaseBranchMissing => (
            StatusCode::CONFLICT,
            "Base branch missing",
            "Make the branch, or name another in `defaultBaseBranch` of the workspace.",
        ),
        Code::BranchInUse => (
            StatusCode::CONFLICT,
            "Branch in use",
            "Name another branch, or free the one that `details` names.",
        ),
        Code::TicketInUse => (
            StatusCode::CONFLICT,
            "Ticket in use",
            "End the issue that has the ticket, or name another ticket or branch.",
        ),
        Code::WorkspaceBusy => (
            StatusCode::CONFLICT,
            "Worktree busy",
            "Approve again when the run that `details` names has ended.",
        ),
        Code::WorkspaceMissing => (
            StatusCode::CONFLICT,
            "Worktree missing",
            "Look at the worktree; what was found is in the message.",
        ),
        Code::UnsafeFiles => (
            StatusCode::CONFLICT,
            "Files that must not be committed",
            "Remove the files that `details.files` names, or have git ignore them.",
        ),
        Code::GitCommitFailed => (
            StatusCode::CONFLICT,
            "Commit failed",
            "Bring the worktree in order as the message says, then approve again.",
        ),
        Code::SyncConflict => (
            StatusCode::CONFLICT,
            "Conflict with the base branch",
            "Merge the base branch into the branch of the ticket, then ask again.",
        ),
        Code::GitPushRejected => (
            StatusCode::CONFLICT,
            "Push rejected",
            "Look at the branch at the remote; what it said is in the message.",
        ),
        Code::GitRemoteFailed => (
            StatusCode::BAD_GATEWAY,
            "Remote failed",
            "Check address, network and credentials of the remote, then approve again.",
        ),
        Code::GitFailed => (
            StatusCode::BAD_GATEWAY,
            "git failed",
            "What git said is in the message. Approve again to go on.",
        ),
        Code::PrCreateFailed => (
            StatusCode::BAD_GATEWAY,
            "Pull request failed",
            "What the forge said is in the message. Approve again to go on.",
        ),
        Code::PlanRequired => (
            StatusCode::CONFLICT,
            "Plan required",
            "Request the approval `approve_issue_plan` for the issue, and wait until the board approves it.",
        ),
        Code::ChildrenOpen => (
            StatusCode::CONFLICT,
            "Parts of the issue are open",
            "End the parts in `details.children` first.",
        ),
        Code::NotHolder => (
            StatusCode::CONFLICT,
            "Issue not held",
            "Check the issue out first, or leave it to its holder.",
        ),
        Code::AgentPaused => (
            StatusCode::CONFLICT,
            "Agent paused",
            "Wait until the board resumes the agent.",
        ),
        Code::AgentTerminated => (
            StatusCode::CONFLICT,
            "Agent terminated",
            "Choose another agent; this cannot be undone.",
        ),
        Code::AgentPendingApproval => (
            StatusCode::CONFLICT,
            "Agent pending approval",
            "Wait until the board approves the hire.",
        ),
        Code::AgentHasHistory => (
            StatusCode::CONFLICT,
            "Agent has a history",
            "Terminate the agent; what it did keeps its name.",
        ),
        Code::BudgetExhausted => (
            StatusCode::CONFLICT,
            "Budget used up",
            "Wait for the next month, or ask the board to raise the budget.",
        ),
        Code::RunNotLive => (
            StatusCode::CONFLICT,
            "Run has ended",
            "Nothing is left to do for this run.",
        ),
        Code::RunNotWaiting => (
            StatusCode::CONFLICT,
            "Run is not to be completed",
            "Only a live run of an HTTP agent is completed, once, and not after it was asked to stop.",
        ),
        Code::RequestInProgress => (
            StatusCode::CONFLICT,
            "First request still running",
            "Wait for the answer to the first request with this Idempotency-Key.",
        ),
        Code::NameTaken => (
            StatusCode::CONFLICT,
            "Name taken",
            "Choose another name, or use what has it.",
        ),
=======
    let (status, title) = match code {
        Code::InvalidJson => (StatusCode::BAD_REQUEST, "Malformed body"),
        Code::InvalidRequest => (StatusCode::BAD_REQUEST, "Malformed request"),
        Code::InvalidRunId => (StatusCode::BAD_REQUEST, "Malformed run id"),
        Code::InvalidCursor => (StatusCode::BAD_REQUEST, "Unknown cursor"),
        Code::CredentialMissing => (StatusCode::UNAUTHORIZED, "Credential missing"),
        Code::CredentialInvalid => (StatusCode::UNAUTHORIZED, "Credential not valid"),
        Code::AgentInactive => (StatusCode::UNAUTHORIZED, "Agent not active"),
        Code::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "Too many requests"),
        Code::AgentRequired => (StatusCode::UNAUTHORIZED, "Agent credential required"),
        Code::BoardRequired => (StatusCode::FORBIDDEN, "Board only"),
        Code::CompanyForbidden => (StatusCode::FORBIDDEN, "Another company"),
        Code::Forbidden => (StatusCode::FORBIDDEN, "Not allowed"),
        Code::RunMismatch => (StatusCode::FORBIDDEN, "Another run"),
        Code::ConsultRun => (StatusCode::FORBIDDEN, "Consulting run"),
        Code::ApprovalRequired => (StatusCode::FORBIDDEN, "Approval required"),
        Code::OriginForbidden => (StatusCode::FORBIDDEN, "Host or origin not allowed"),
        Code::RouteNotFound => (StatusCode::NOT_FOUND, "No such route"),
        Code::NotFound => (StatusCode::NOT_FOUND, "Not found"),
        Code::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "Method not allowed"),
        Code::EventsExpired => (StatusCode::GONE, "Events expired"),
        Code::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "Body too large"),
        Code::UpgradeRequired => (StatusCode::UPGRADE_REQUIRED, "WebSocket required"),
        Code::UnsupportedMediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "Wrong content type"),
        Code::RangeNotSatisfiable => (StatusCode::RANGE_NOT_SATISFIABLE, "No such range"),
        Code::CompanyNotActive => (StatusCode::CONFLICT, "Company not active"),
        Code::CompanyNotArchived => (StatusCode::CONFLICT, "Company not archived"),
        Code::CompanyHasLiveRuns => (StatusCode::CONFLICT, "Runs have not ended"),
        Code::CheckoutConflict => (StatusCode::CONFLICT, "Issue not available"),
        Code::ApprovalPending => (StatusCode::CONFLICT, "Approval pending"),
        Code::PlanRequired => (StatusCode::CONFLICT, "Plan required"),
        Code::ChildrenOpen => (StatusCode::CONFLICT, "Parts of the issue are open"),
        Code::NotHolder => (StatusCode::CONFLICT, "Issue not held"),
        Code::AgentPaused => (StatusCode::CONFLICT, "Agent paused"),
        Code::AgentTerminated => (StatusCode::CONFLICT, "Agent terminated"),
        Code::AgentPendingApproval => (StatusCode::CONFLICT, "Agent pending approval"),
        Code::AgentHasHistory => (StatusCode::CONFLICT, "Agent has a history"),
        Code::BudgetExhausted => (StatusCode::CONFLICT, "Budget used up"),
        Code::RunNotLive => (StatusCode::CONFLICT, "Run has ended"),
        Code::RunNotWaiting => (StatusCode::CONFLICT, "Run is not to be completed"),
        Code::RequestInProgress => (StatusCode::CONFLICT, "First request still running"),
        Code::NameTaken => (StatusCode::CONFLICT, "Name taken"),
>>>>>>> review
        Code::RevisionConflict => (
            StatusCode::PRECONDITION_FAILED,
            "Configuration changed meanwhile",
        ),
        Code::InstructionsFileConflict => (StatusCode::CONFLICT, "File changed meanwhile"),
        Code::InstructionsUnavailable => (StatusCode::CONFLICT, "Instructions out of reach"),
        Code::DuplicateName => (StatusCode::CONFLICT, "Name taken"),
        Code::SecretInUse => (StatusCode::CONFLICT, "Secret in use"),
        Code::SecretVersionPinned => (StatusCode::CONFLICT, "Version in use"),
        Code::KeyRotationInProgress => (StatusCode::CONFLICT, "Rotation going on"),
        Code::KeyRotationUnavailable => (StatusCode::CONFLICT, "Rotation not possible here"),
        Code::InvalidField => (StatusCode::UNPROCESSABLE_ENTITY, "Value breaks a rule"),
        Code::InvalidTransition => (StatusCode::UNPROCESSABLE_ENTITY, "No such transition"),
        Code::ApprovalNotPending => (StatusCode::UNPROCESSABLE_ENTITY, "Approval not pending"),
        Code::FieldNotWritable => (StatusCode::UNPROCESSABLE_ENTITY, "Field not writable"),
        Code::ReferenceNotFound => (StatusCode::UNPROCESSABLE_ENTITY, "Reference not found"),
        Code::Cycle => (StatusCode::UNPROCESSABLE_ENTITY, "Cycle"),
        Code::TooDeep => (StatusCode::UNPROCESSABLE_ENTITY, "Too deep"),
        Code::AssigneeRequired => (StatusCode::UNPROCESSABLE_ENTITY, "Assignee required"),
        Code::EnvReserved => (StatusCode::UNPROCESSABLE_ENTITY, "Variable reserved"),
        Code::SecretNotFound => (StatusCode::UNPROCESSABLE_ENTITY, "Secret not found"),
        Code::RollbackInvalid => (
            StatusCode::UNPROCESSABLE_ENTITY,
            "Configuration not possible any more",
        ),
        Code::EntryFileProtected => (StatusCode::UNPROCESSABLE_ENTITY, "Entry file protected"),
        Code::SecretRequired => (StatusCode::UNPROCESSABLE_ENTITY, "Secret required"),
        Code::SecretVersionNewest => (StatusCode::UNPROCESSABLE_ENTITY, "Newest version"),
        Code::IdempotencyKeyReused => (StatusCode::UNPROCESSABLE_ENTITY, "Idempotency key reused"),
        Code::TooManyStreams => (StatusCode::TOO_MANY_REQUESTS, "Too many streams"),
        Code::ServerStopping => (StatusCode::SERVICE_UNAVAILABLE, "Server stopping"),
        Code::SecretProviderUnsupported => (StatusCode::NOT_IMPLEMENTED, "Provider not supported"),
        Code::Contended => (StatusCode::SERVICE_UNAVAILABLE, "Contended"),
        Code::StorageFull => (StatusCode::SERVICE_UNAVAILABLE, "Storage full"),
        Code::TaskDown => (StatusCode::SERVICE_UNAVAILABLE, "Task down"),
        Code::EngineStalled => (StatusCode::SERVICE_UNAVAILABLE, "Engine stalled"),
        Code::Busy => (StatusCode::SERVICE_UNAVAILABLE, "Busy"),
        Code::StoreUnavailable => (StatusCode::SERVICE_UNAVAILABLE, "Store unavailable"),
        Code::OutcomeUnknown => (StatusCode::SERVICE_UNAVAILABLE, "Outcome unknown"),
        Code::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "Internal fault"),
    };
    Entry {
        status,
        title,
        advice: advice(code),
    }
}
