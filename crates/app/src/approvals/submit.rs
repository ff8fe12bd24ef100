use serde::Deserialize;
use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::actor::CompanyScope;
use workforce_domain::approval::ApprovalType;
use workforce_domain::board::Author;
use workforce_domain::id::{AgentId, CompanyId, IssueId};
use workforce_domain::issue::Issue;
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::port::{Failure, Locked, Reads, Tx};

use super::error::ApprovalError;
use super::hire::HIRE;
use super::insert::{NewApproval, SubmittedApproval, insert};
use super::{execution, hire, issue_effects, links, payload, read, work};
use crate::access::{self, Denied, FieldFault};
use crate::agents;
use crate::approval_records;
use crate::context::Context;
use crate::issues;
use crate::masking::masked;
use crate::refusal::{Code, Codes};
use crate::tickets;

/// Asks the board for an approval.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SubmitApproval {
    /// What the board is asked to agree to.
    #[serde(rename = "type")]
    pub kind: ApprovalType,
    /// For whom the board asks. An agent asks for itself, and may leave it out.
    pub requested_by_agent_id: Option<AgentId>,
    /// What it is about, by its type; at most 64 KiB of JSON. `issueId` names
    /// the issue that it is about in the first place.
    pub payload: Option<Document>,
    /// Further issues, by id or identifier.
    pub issue_ids: Option<Vec<String>>,
    /// What git found of the work that is to be pushed, a row for each worktree.
    #[serde(skip)]
    pub work: Vec<Value>,
}

/// What [`submit`] refuses with, which for a hire includes [`HIRE`].
pub const SUBMIT: Codes = Codes::with(
    &[
        Code::BaseBranchMissing,
        Code::ChildrenOpen,
        Code::Forbidden,
        Code::GitCommitFailed,
        Code::GitFailed,
        Code::GitRemoteFailed,
        Code::SyncConflict,
        Code::UnsafeFiles,
        Code::WorkspaceBusy,
        Code::WorkspaceMissing,
        Code::WorkspaceUnavailable,
    ],
    &[HIRE],
);

/// Asks the board for an approval. Anyone of the company; what governs the
/// movements of issues only who has a stake in them.
pub fn submit(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyId,
    command: SubmitApproval,
) -> Result<SubmittedApproval, Failure<ApprovalError>> {
    let scope = access::company_scope(tx.reads(), ctx, company)?;
    ctx.require_working_company()?;
    let requested_by = requester(tx, ctx, scope, command.requested_by_agent_id)?;
    let payload = command.payload.unwrap_or_default();
    let issue_ids = command.issue_ids.unwrap_or_default();
    payload::check(tx.reads(), scope, command.kind, &payload)?;
    let named = links::of_new(tx.reads(), scope, &payload, &issue_ids)?;
    let ids: Vec<IssueId> = named.into_iter().map(|issue| issue.id).collect();
    let primary = ids.first().copied();
    if command.kind == ApprovalType::HireAgent {
        agents::lock_company(tx, scope)?;
    }
    let mut issues = links::lock(tx, scope, ids.clone())?;
    if command.kind == ApprovalType::HireAgent {
        return hire::submit(tx, ctx, scope, requested_by, payload, &issues);
    }
    if command.kind.governs_issues() {
        check_governed(tx, ctx, scope, command.kind, &issues)?;
    }
    if let Some(primary) = primary {
        let same = tx
            .approvals()
            .undecided_primary_for(scope, command.kind, primary)?;
        if let Some(same) = same {
            let same = work::shown_anew(tx, ctx, same, &command.work)?;
            return Ok(SubmittedApproval {
                view: read::view(tx.reads(), ctx, same)?,
                existing: true,
            });
        }
    }
    if command.kind == ApprovalType::ApproveIssuePlan {
        approval_records::cancel_replaced_plans(tx, ctx, scope, requested_by, &ids)?;
    }
    let ended = issues
        .iter()
        .find(|issue| command.kind.ends_issues() && Some(issue.id) == primary);
    if let Some(ended) = ended {
        if let Some(live) = execution::live_end_of(tx.reads(), ctx, ended)? {
            return Ok(SubmittedApproval {
                view: read::view(tx.reads(), ctx, live)?,
                existing: true,
            });
        }
        approval_records::cancel_replaced_ends(tx, ctx, scope, ended.id, command.kind)?;
    }
    let mut payload = resolved(tx, command.kind, requested_by, &issues, primary, payload)?;
    if command.kind.pushes() {
        work::put(&mut payload, &command.work);
    }
    let new = NewApproval {
        kind: command.kind,
        requested_by,
        payload,
        attention: Vec::new(),
        primary_issue: primary,
    };
    let approval = insert(tx, ctx, scope, new, &issues, None)?;
    issue_effects::block_issues(tx, ctx, &approval, &mut issues, true)?;
    Ok(SubmittedApproval {
        view: read::view(tx.reads(), ctx, approval.into_inner())?,
        existing: false,
    })
}

/// What the payload of a pull request tells of the work: that comes from the server.
const OF_WORK: [&str; 10] = [
    work::WORK,
    "ticketKey",
    "branch",
    "baseBranch",
    "repoUrl",
    "commitSha",
    "pushed",
    "pullRequestUrl",
    "pullRequestNumber",
    "pullRequests",
];

/// The payload as it is stored: without secrets, a plan with the worktrees that it
/// asks for, and a pull request with those of its ticket.
pub(super) fn resolved(
    tx: &mut dyn Tx,
    kind: ApprovalType,
    requested_by: Author,
    issues: &[Locked<Issue>],
    primary: Option<IssueId>,
    payload: Document,
) -> Result<Document, Failure<ApprovalError>> {
    let mut payload = masked(payload);
    let issue = issues.iter().find(|issue| Some(issue.id) == primary);
    if kind.pushes() {
        for key in OF_WORK {
            payload.remove(key);
        }
        if let Some(issue) = issue {
            let brought = tickets::brought_by(tx.reads(), issue)?;
            payload.extend(tickets::shown(brought.first()));
        }
    }
    if kind != ApprovalType::ApproveIssuePlan {
        return Ok(payload);
    }
    payload.remove(tickets::RESOLVED);
    if let Some(issue) = issue {
        let by_board = requested_by.agent().is_none();
        let planned = tickets::resolve::<ApprovalError>(tx.reads(), issue, by_board, &payload)?;
        if !planned.is_empty() {
            payload.insert(tickets::RESOLVED.to_owned(), json!(planned));
        }
    }
    Ok(payload)
}

/// The issue whose work must be brought up to its base branch before this is asked
/// for: that of a pull request, where it has a worktree and all of it is done.
/// Whatever else is wrong is told when it is asked for.
pub fn pushed_issue(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    command: &SubmitApproval,
) -> Result<Option<Issue>, Failure<ApprovalError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    if !command.kind.pushes() {
        return Ok(None);
    }
    ctx.require_working_company()?;
    let payload = command.payload.clone().unwrap_or_default();
    let named = links::of_new(reads, scope, &payload, &[])?;
    let Some(issue) = named.into_iter().next() else {
        return Ok(None);
    };
    if issue.status().is_terminal() {
        return Ok(None);
    }
    issues::require_stake(reads, ctx, scope, &issue, None)
        .and_then(|()| issues::require_children_ended(reads, &issue))
        .map_err(|failure| failure.map(ApprovalError::from))?;
    let brought = tickets::brought_by(reads, &issue)?;
    Ok((!brought.is_empty()).then_some(issue))
}

/// Who asks, as the credential says. The board may ask for any agent of the
/// company.
fn requester(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    named: Option<AgentId>,
) -> Result<Author, Failure<ApprovalError>> {
    let pointer = "/requestedByAgentId";
    if let Some(caller) = ctx.agent() {
        if named.is_some_and(|named| named != caller.agent) {
            return Err(Denied::Forbidden("an agent asks for itself only").into());
        }
        return Ok(Author::Agent(caller.agent));
    }
    let Some(named) = named else {
        return Ok(ctx.actor().author());
    };
    let refused = |fault: FieldFault| Failure::Refused(fault.into());
    match tx.agents().find(scope.into(), named)? {
        None => Err(refused(FieldFault::missing(pointer, "agent"))),
        Some(agent) if !agent.is_employed() => Err(refused(FieldFault::invalid(
            pointer,
            "the agent is a draft or terminated",
        ))),
        Some(agent) => Ok(Author::Agent(agent.id)),
    }
}

/// Why nobody asks for the end of a ticket that may have something to push.
const BROUGHT: &str = "the issue has a worktree: set it to in_review, and the board is asked for \
     its completion where nothing differs from the base branch";

/// An approval that governs issues needs at least one open issue. An agent files
/// it only over issues that it may change.
fn check_governed(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    scope: CompanyScope,
    kind: ApprovalType,
    issues: &[Locked<Issue>],
) -> Result<(), Failure<ApprovalError>> {
    let refused = |message: &str| {
        let fault = FieldFault::invalid("/payload/issueId", message);
        Err(fault.into())
    };
    if issues.is_empty() {
        return refused("name the issue that it is about");
    }
    if issues.iter().all(|issue| issue.status().is_terminal()) {
        return refused("the issue has ended");
    }
    for issue in issues {
        issues::require_stake(tx.reads(), ctx, scope, issue, None)
            .map_err(|failure| failure.map(ApprovalError::from))?;
        if kind == ApprovalType::ApproveCompletion
            && !issue.status().is_terminal()
            && !tickets::brought_by(tx.reads(), issue)?.is_empty()
        {
            return refused(BROUGHT);
        }
        if kind.pushes() && !issue.status().is_terminal() {
            issues::require_children_ended(tx.reads(), issue)
                .map_err(|failure| failure.map(ApprovalError::from))?;
        }
    }
    Ok(())
}
