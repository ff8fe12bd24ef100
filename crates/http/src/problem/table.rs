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
        Code::AttachmentMissing => (StatusCode::GONE, "Attachment missing"),
        Code::BodyTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "Body too large"),
        Code::UpgradeRequired => (StatusCode::UPGRADE_REQUIRED, "WebSocket required"),
        Code::UnsupportedCoding => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "Unknown coding"),
        Code::UnsupportedMediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "Wrong content type"),
        Code::RangeNotSatisfiable => (StatusCode::RANGE_NOT_SATISFIABLE, "No such range"),
        Code::CompanyNotActive => (StatusCode::CONFLICT, "Company not active"),
        Code::CompanyNotArchived => (StatusCode::CONFLICT, "Company not archived"),
        Code::CompanyHasLiveRuns => (StatusCode::CONFLICT, "Runs have not ended"),
        Code::CheckoutConflict => (StatusCode::CONFLICT, "Issue not available"),
        Code::ApprovalPending => (StatusCode::CONFLICT, "Approval pending"),
        Code::PlanRequired => (StatusCode::CONFLICT, "Plan required"),
        Code::ChildrenOpen => (StatusCode::CONFLICT, "Parts of the issue are open"),
        Code::ExecutionInProgress => (StatusCode::CONFLICT, "Approval being carried out"),
        Code::WorkspaceUnavailable => (StatusCode::CONFLICT, "Workspace unavailable"),
        Code::SourceRepoDirty => (StatusCode::CONFLICT, "Source repository not clean"),
        Code::BaseBranchMissing => (StatusCode::CONFLICT, "Base branch missing"),
        Code::BranchInUse => (StatusCode::CONFLICT, "Branch in use"),
        Code::TicketInUse => (StatusCode::CONFLICT, "Ticket in use"),
        Code::WorkspaceBusy => (StatusCode::CONFLICT, "Worktree busy"),
        Code::WorkspaceInUse => (StatusCode::CONFLICT, "Workspace in use"),
        Code::WorkspaceMissing => (StatusCode::CONFLICT, "Worktree missing"),
        Code::UnsafeFiles => (StatusCode::CONFLICT, "Files that must not be committed"),
        Code::GitCommitFailed => (StatusCode::CONFLICT, "Commit failed"),
        Code::SyncConflict => (StatusCode::CONFLICT, "Conflict with the base branch"),
        Code::WorkChanged => (StatusCode::CONFLICT, "Work changed since it was shown"),
        Code::GitPushRejected => (StatusCode::CONFLICT, "Push rejected"),
        Code::GitRemoteFailed => (StatusCode::BAD_GATEWAY, "Remote failed"),
        Code::GitFailed => (StatusCode::BAD_GATEWAY, "git failed"),
        Code::PrCreateFailed => (StatusCode::BAD_GATEWAY, "Pull request failed"),
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
        Code::RevisionConflict => (StatusCode::PRECONDITION_FAILED, "Changed meanwhile"),
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
        Code::UnknownField => (StatusCode::UNPROCESSABLE_ENTITY, "Unknown field"),
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
