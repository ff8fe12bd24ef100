//! What `details` of a problem holds, for each code that has any: the description of what the
//! refusals of `workforce_app` and the problems of `workforce_http` tell. The tests of the whole interface
//! compare every problem with it.

use serde_json::{Value, json};
use workforce_app::Code;
use workforce_domain::issue::ConflictReason;
use workforce_domain::string_enum::StringEnum;

use super::walk::reference;

/// The `details` of the problems with one code.
pub(super) struct Details {
    pub(super) schema: Value,
    /// Whether every problem with this code has them.
    pub(super) always: bool,
}

/// The `details` of the problems with this code; `None` where there are never any.
#[expect(clippy::too_many_lines, reason = "it is one table")]
pub(super) fn details(code: Code) -> Option<Details> {
    let always = |schema| {
        Some(Details {
            schema,
            always: true,
        })
    };
    let sometimes = |schema| {
        Some(Details {
            schema,
            always: false,
        })
    };
    match code {
        Code::InvalidJson
        | Code::InvalidField
        | Code::FieldNotWritable
        | Code::ReferenceNotFound
        | Code::Cycle
        | Code::TooDeep
        | Code::AssigneeRequired
        | Code::EnvReserved
        | Code::SecretNotFound
        | Code::SecretRequired
        | Code::DuplicateName
        | Code::UnknownField
        | Code::SecretProviderUnsupported => always(faults()),
        // A request may be broken as a whole, and a key come with another request.
        Code::InvalidRequest
        | Code::InvalidRunId
        | Code::InvalidCursor
        | Code::IdempotencyKeyReused => sometimes(faults()),
        Code::RollbackInvalid => always(json!({
            "type": "array",
            "items": object(&[
                ("pointer", text("The part of the configuration.")),
                ("message", text("Why it is not possible any more.")),
                ("code", reference("schemas", "Code")),
            ]),
        })),
        Code::CheckoutConflict => always(object(&[
            ("issueId", id("The issue.")),
            ("status", reference("schemas", "IssueStatus")),
            (
                "assigneeAgentId",
                id_or_null("The agent it is assigned to."),
            ),
            ("holderAgentId", id_or_null("The agent that holds it.")),
            ("holderRunId", id_or_null("The run that holds it.")),
            ("checkoutRunId", id_or_null("The same as `holderRunId`.")),
            (
                "holderLive",
                json!({ "type": "boolean", "description": "Somebody holds it." }),
            ),
            (
                "approvalId",
                id_or_null("The approval that must be decided first."),
            ),
            (
                "reason",
                words::<ConflictReason>("The first rule that refuses it."),
            ),
        ])),
        Code::ApprovalPending => always(object(&[
            ("approvalId", id("The approval that must be decided first.")),
            (
                "reason",
                json!({ "type": "string", "const": ConflictReason::ApprovalPending }),
            ),
        ])),
        Code::PlanRequired => always(object(&[
            (
                "issueId",
                id("The issue that has no approved plan over it."),
            ),
            ("projectId", id("The project that demands one.")),
        ])),
        Code::ChildrenOpen => always(object(&[
            ("issueId", id("The issue.")),
            (
                "children",
                list_of(object(&[
                    ("id", id("The part.")),
                    ("identifier", text("Its identifier.")),
                    ("status", reference("schemas", "IssueStatus")),
                ])),
            ),
            (
                "total",
                count("How many parts are open; at most 50 are listed."),
            ),
        ])),
        Code::InvalidTransition => always(json!({ "oneOf": [
            object(&[
                ("from", reference("schemas", "IssueStatus")),
                ("to", reference("schemas", "IssueStatus")),
                ("allowed", list_of(reference("schemas", "IssueStatus"))),
            ]),
            decided_approval(),
        ] })),
        Code::ApprovalNotPending => always(json!({ "oneOf": [decided_approval(), failed_step()] })),
        Code::ServerStopping => sometimes(failed_step()),
        Code::ExecutionInProgress => always(object(&[("approvalId", id("The approval."))])),
        Code::WorkspaceUnavailable
        | Code::SourceRepoDirty
        | Code::BaseBranchMissing
        | Code::BranchInUse
        | Code::TicketInUse
        | Code::WorkspaceBusy
        | Code::WorkspaceMissing
        | Code::UnsafeFiles
        | Code::GitCommitFailed
        | Code::SyncConflict
        | Code::WorkChanged
        | Code::GitPushRejected
        | Code::GitRemoteFailed
        | Code::GitFailed
        | Code::PrCreateFailed => always(failed_step()),
        Code::WorkspaceInUse => always(object(&[
            ("workspaceId", id("The workspace.")),
            ("issueId", id("The open issue that has a worktree there.")),
        ])),
        Code::AgentPaused => always(object(&[(
            "pauseReason",
            reference("schemas", "PauseReason"),
        )])),
        Code::CompanyNotActive => {
            always(object(&[("status", reference("schemas", "CompanyStatus"))]))
        }
        Code::RunNotLive | Code::RunNotWaiting => {
            always(object(&[("status", reference("schemas", "RunStatus"))]))
        }
        Code::BudgetExhausted => sometimes(object(&[(
            "utilizationPercent",
            text("The part of the limit that is used, to two decimals."),
        )])),
        Code::RevisionConflict => {
            let number = "The number of the configuration's last revision.";
            always(object(&[("revision", count(number))]))
        }
        Code::EntryFileProtected => always(object(&[("entryFile", text("The entry file."))])),
        Code::NameTaken => {
            let pointer = ("pointer", text("The field with the name."));
            let label = ("labelId", id("The label that has the name."));
            let agent = ("agentId", id("The agent that has the name."));
            always(
                json!({ "oneOf": [object(&[pointer.clone(), label]), object(&[pointer, agent])] }),
            )
        }
        Code::SecretInUse | Code::SecretVersionPinned => {
            let agent = id("An agent that refers to it.");
            always(object(&[("agentIds", list_of(agent))]))
        }
        Code::EventsExpired => always(object(&[
            ("after", count("The number that was asked for.")),
            ("oldestId", count("The oldest event that is kept.")),
            ("latestId", count("The newest event.")),
        ])),
        Code::StorageFull => sometimes(object(&[
            ("place", text("The disk without room.")),
            ("freeBytes", count("Its room.")),
            ("minFreeBytes", count("The room it must have.")),
        ])),
        Code::TaskDown => {
            let task = text("A task that is about to be started again.");
            always(object(&[("tasks", list_of(task))]))
        }
        _ => None,
    }
}

/// The places of a request at fault. A component of its own, [`FAULT`].
fn faults() -> Value {
    list_of(reference("schemas", FAULT))
}

/// The name of the schema of one fault.
pub(super) const FAULT: &str = "FieldFault";

/// The schema of one fault.
pub(super) fn fault() -> Value {
    let pointer = "The place: `/name` in the body, `?limit` in the query, or a header.";
    let mut schema = object(&[
        ("pointer", text(pointer)),
        ("message", text("What is wrong with it.")),
    ]);
    schema["properties"]["didYouMean"] = text("What was probably meant, where that is known.");
    schema["description"] = json!("A place of a request, and what is wrong with it.");
    schema
}

/// Where an approval stands that cannot take a step.
fn decided_approval() -> Value {
    object(&[
        ("approvalId", id("The approval.")),
        ("status", reference("schemas", "ApprovalStatus")),
        ("allowed", list_of(reference("schemas", "ApprovalStatus"))),
    ])
}

/// The step of an execution that failed; more about it depends on the code.
fn failed_step() -> Value {
    let mut step = object(&[("step", reference("schemas", "ExecutionStep"))]);
    step["additionalProperties"] = json!(true);
    step
}

fn object(fields: &[(&str, Value)]) -> Value {
    let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<_, _> = fields
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({ "type": "object", "required": names, "properties": properties })
}

fn list_of(items: impl Into<Value>) -> Value {
    let items = items.into();
    json!({ "type": "array", "items": items })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn count(description: &str) -> Value {
    json!({ "type": "integer", "format": "int64", "description": description })
}

fn id(description: &str) -> Value {
    json!({ "type": "string", "format": "uuid", "description": description })
}

fn id_or_null(description: &str) -> Value {
    json!({ "type": ["string", "null"], "format": "uuid", "description": description })
}

fn words<E: StringEnum>(description: &str) -> Value {
    let words: Vec<_> = E::ALL.iter().map(|word| word.as_str()).collect();
    json!({ "type": "string", "enum": words, "description": description })
}
