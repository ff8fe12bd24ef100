use workforce_app::Code;

/// What a caller that gets a machine code should do.
#[expect(clippy::too_many_lines, reason = "it is one table")]
pub(super) const fn advice(code: Code) -> &'static str {
    match code {
        Code::InvalidJson => "Correct the field that `details` points at.",
        Code::InvalidRequest => "Correct the parameter or header that `details` points at.",
        Code::InvalidRunId => "Send the run's id in X-Service-Run-Id, or leave the header out.",
        Code::InvalidCursor => {
            "Send the X-Next-Cursor of the preceding page unchanged, or start over without one."
        }
        Code::CredentialMissing => {
            "Send `Authorization: Bearer` with a key, a run token or the board token."
        }
        Code::CredentialInvalid => {
            "Stop using this credential; it is unknown, revoked, or its run has ended."
        }
        Code::AgentInactive => "Stop; the agent is a draft or terminated.",
        Code::RateLimited => "Wait for as many seconds as Retry-After says.",
        Code::AgentRequired => "Ask with an agent's key or run token.",
        Code::BoardRequired => "Ask a person of the board to do this.",
        Code::CompanyForbidden => "Use the id of your own company.",
        Code::Forbidden => "Ask the assignee, a manager or the board.",
        Code::RunMismatch => "Leave X-Service-Run-Id out; a run token names its run by itself.",
        Code::ConsultRun => "Answer with a comment; a run that answers a mention works on nothing.",
        Code::ApprovalRequired => "Ask for the hire instead; the board decides on it.",
        Code::OriginForbidden => "Start the server with the name among its `--allowed-hosts`.",
        Code::RouteNotFound => "See /api/openapi.json for the routes there are.",
        Code::NotFound => "Check the id; what belongs to another company does not exist for you.",
        Code::MethodNotAllowed => "Use a method that the Allow header lists.",
        Code::AttachmentMissing => {
            "Tell the operator: `workforce doctor` names the files that are missing. Upload the \
             file again if you have it."
        }
        Code::EventsExpired => {
            "Read what you need anew, then ask for the events after `details.latestId`."
        }
        Code::BodyTooLarge => "Send less.",
        Code::UpgradeRequired => {
            "Open the path as a WebSocket, or read the same events from \
             GET /api/companies/{companyId}/events."
        }
        Code::UnsupportedCoding => "Send the body as it is, or in a coding of Accept-Encoding.",
        Code::UnsupportedMediaType => "Send multipart/form-data with the file in the field `file`.",
        Code::RangeNotSatisfiable => "Ask for a range within the length that Content-Range tells.",
        Code::CompanyNotActive => "Stop; the board must resume the company first.",
        Code::CompanyNotArchived => "Archive the company first, then delete it.",
        Code::CompanyHasLiveRuns => "Wait until the company's runs have ended, then delete it.",
        Code::CheckoutConflict => {
            "Do not try again; pick another issue. `details.reason` tells why."
        }
        Code::ApprovalPending => {
            "Wait until the board decides on the plan that `details.approvalId` names."
        }
        Code::PlanRequired => {
            "Request the approval `approve_issue_plan` for the issue, and wait until the board approves it."
        }
        Code::ChildrenOpen => "End the parts in `details.children` first.",
        Code::ExecutionInProgress => {
            "Look at `execution` of the approval, and go on when its state is no longer executing."
        }
        Code::WorkspaceUnavailable => {
            "Give the issue's project a workspace with a git repository that the server can read and write."
        }
        Code::SourceRepoDirty => {
            "Commit or put away what `details` names, or approve with `force: true`."
        }
        Code::BaseBranchMissing => {
            "Make the branch, or name another in `defaultBaseBranch` of the workspace."
        }
        Code::BranchInUse => "Name another branch, or free the one that `details` names.",
        Code::TicketInUse => "End the issue that has the ticket, or name another ticket or branch.",
        Code::WorkspaceBusy => "Ask again when the run that `details` names has ended.",
        Code::WorkspaceInUse => "End the ticket that `details` names first.",
        Code::WorkspaceMissing => "Look at the worktree; what was found is in the message.",
        Code::UnsafeFiles => {
            "Remove the files that `details.files` names, have git ignore them, or do as their \
             `reason` says."
        }
        Code::GitCommitFailed => "Bring the worktree in order as the message says, then ask again.",
        Code::SyncConflict => {
            "Merge the base branch into the branch of the ticket, then ask again."
        }
        Code::WorkChanged => {
            "Look at `work` of the approval, which shows it as it is now, then approve again."
        }
        Code::GitPushRejected => {
            "Look at the branch at the remote; what it said is in the message."
        }
        Code::GitRemoteFailed => {
            "Check address, network and credentials of the remote, then ask again."
        }
        Code::GitFailed => "What git said is in the message. Ask again to go on.",
        Code::PrCreateFailed => "What the forge said is in the message. Approve again to go on.",
        Code::NotHolder => "Check the issue out first, or leave it to its holder.",
        Code::AgentPaused => "Wait until the board resumes the agent.",
        Code::AgentTerminated => "Choose another agent; this cannot be undone.",
        Code::AgentPendingApproval => "Wait until the board approves the hire.",
        Code::AgentHasHistory => "Terminate the agent; what it did keeps its name.",
        Code::BudgetExhausted => "Wait for the next month, or ask the board to raise the budget.",
        Code::RunNotLive => "Nothing is left to do for this run.",
        Code::RunNotWaiting => {
            "Only a live run of an HTTP agent is completed, once, and not after it was asked to stop."
        }
        Code::RequestInProgress => {
            "Wait for the answer to the first request with this Idempotency-Key."
        }
        Code::NameTaken => "Choose another name, or use what has it.",
        Code::RevisionConflict => {
            "Read it again, look at what changed, and repeat with its new ETag."
        }
        Code::InstructionsFileConflict => {
            "Read the file again, and write with the sha256 it has now."
        }
        Code::InstructionsUnavailable => {
            "Make the folder or file usable for the server, or choose another."
        }
        Code::DuplicateName => "Choose another name, or change what has this one.",
        Code::SecretInUse => "Change the agents that `details` lists, or say ?force=true.",
        Code::SecretVersionPinned => {
            "Change the agents that `details` lists to another version first."
        }
        Code::KeyRotationInProgress => {
            "Wait until GET /api/secrets/rotate-key says that it is complete."
        }
        Code::KeyRotationUnavailable => "Follow what `detail` says; the operator sets the key.",
        Code::InvalidField => "Correct the field that `details` points at.",
        Code::InvalidTransition => "Choose one of `details.allowed`.",
        Code::ApprovalNotPending => {
            "Read the approval again; `details.status` tells where it stands."
        }
        Code::UnknownField => {
            "Correct the name that `details` points at, or leave it out: nothing reads it."
        }
        Code::FieldNotWritable => "Leave the field out; it changes through actions only.",
        Code::ReferenceNotFound => "Name something that exists in this company.",
        Code::Cycle => "Choose a parent or manager that does not lie below.",
        Code::TooDeep => "Attach it further up.",
        Code::AssigneeRequired => "Check the issue out, or assign somebody in the same call.",
        Code::EnvReserved => "Use another name; workforce sets this variable itself.",
        Code::SecretNotFound => "Name a secret that exists in this company.",
        Code::RollbackInvalid => "Remove what `details` lists, or change the agent by hand.",
        Code::EntryFileProtected => "Make another file the entry file first.",
        Code::SecretRequired => {
            "Make a secret of the value and refer to it; see POST /api/companies/{companyId}/secrets."
        }
        Code::SecretVersionNewest => "Make another version first, or delete the whole secret.",
        Code::IdempotencyKeyReused => "Use a fresh Idempotency-Key for another request.",
        Code::TooManyStreams => {
            "Close streams that you no longer read, use the tickets that you have, or try again \
             after Retry-After seconds."
        }
        Code::ServerStopping => "Try again after Retry-After seconds, perhaps at another server.",
        Code::SecretProviderUnsupported => "Use local_encrypted, env or file.",
        Code::Contended => "Try again after Retry-After seconds.",
        Code::StorageFull => {
            "Try again after Retry-After seconds; the operator has to make room on the disk."
        }
        Code::TaskDown => {
            "Wait as long as Retry-After says; if it stays so, look at the server's log."
        }
        Code::EngineStalled => {
            "Wait as long as Retry-After says; if it stays so, look at the server's log."
        }
        Code::Busy => "Try again after Retry-After seconds.",
        Code::StoreUnavailable => "Try again after Retry-After seconds.",
        Code::OutcomeUnknown => {
            "Look whether the change was made before you send it again; with the Idempotency-Key \
             that it was sent with, repeat it at once."
        }
        Code::Internal => "Report it with its requestId.",
    }
}
