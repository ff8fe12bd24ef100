//! The issues that an approval is linked to.

use serde_json::Value;
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::{Approval, ApprovalType};
use workforce_domain::id::IssueId;
use workforce_domain::issue::{Issue, IssueRef};
use workforce_domain::port::{Failure, Locked, Reads, StoreError, Tx};

use super::error::ApprovalError;
use crate::access::FieldFault;
use crate::approval_records::linked_issues;

/// The issue that a payload names, by id or identifier.
pub(super) fn named_in(
    reads: &mut dyn Reads,
    company: CompanyScope,
    payload: &Document,
) -> Result<Option<Issue>, Failure<ApprovalError>> {
    for key in ["issueId", "issueIdentifier"] {
        let pointer = format!("/payload/{key}");
        match payload.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(name)) => return find(reads, company, name, &pointer).map(Some),
            Some(_) => {
                let fault = FieldFault::invalid(pointer, "must be a string");
                return Err(fault.into());
            }
        }
    }
    Ok(None)
}

/// The issue of a name.
pub(super) fn find(
    reads: &mut dyn Reads,
    company: CompanyScope,
    name: &str,
    pointer: &str,
) -> Result<Issue, Failure<ApprovalError>> {
    let found = match IssueRef::parse(name.trim()) {
        Some(issue) => reads.issues().find(company.into(), &issue)?,
        None => None,
    };
    found.ok_or_else(|| FieldFault::missing(pointer, "issue").into())
}

/// The issues of a new approval: the one that its payload names, then those
/// that the caller lists, each once.
pub(super) fn of_new(
    reads: &mut dyn Reads,
    company: CompanyScope,
    payload: &Document,
    listed: &[String],
) -> Result<Vec<Issue>, Failure<ApprovalError>> {
    if listed.len() > Approval::MAX_ISSUES {
        let message = format!("at most {} issues", Approval::MAX_ISSUES);
        let fault = FieldFault::invalid("/issueIds", message);
        return Err(fault.into());
    }
    let mut issues: Vec<Issue> = named_in(reads, company, payload)?.into_iter().collect();
    for (n, name) in listed.iter().enumerate() {
        let issue = find(reads, company, name, &format!("/issueIds/{n}"))?;
        if issues.iter().all(|known| known.id != issue.id) {
            issues.push(issue);
        }
    }
    Ok(issues)
}

/// Locks issues, younger ones first. A child is younger than its parent, and
/// whoever ends a child locks its parent after it.
pub(super) fn lock(
    tx: &mut dyn Tx,
    company: CompanyScope,
    mut ids: Vec<IssueId>,
) -> Result<Vec<Locked<Issue>>, StoreError> {
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids.dedup();
    let mut issues = Vec::with_capacity(ids.len());
    for id in ids {
        issues.extend(tx.issues_mut().lock(company.into(), &id.into())?);
    }
    Ok(issues)
}

/// Locks the issues that an approval is linked to.
pub(super) fn lock_of(
    tx: &mut dyn Tx,
    approval: &Approval,
) -> Result<Vec<Locked<Issue>>, StoreError> {
    let company = approval.scope();
    let ids = linked_issues::of(tx.reads(), approval)?;
    let issues = lock(tx, company, ids)?;
    // Ending an issue locks its parent, and issues come before the approval.
    if approval.kind.ends_issues() {
        lock(
            tx,
            company,
            issues.iter().filter_map(|it| it.parent).collect(),
        )?;
    }
    Ok(issues)
}

/// Locks what lies below the issue that an approval is about, where the board's
/// agreement ends that as well or gives it a worktree. It comes before the locks on the linked issues.
pub(super) fn lock_parts(
    tx: &mut dyn Tx,
    approval: &Approval,
) -> Result<Vec<Locked<Issue>>, StoreError> {
    match (approval.kind, approval.primary_issue) {
        (
            ApprovalType::ApproveIssuePlan
            | ApprovalType::ApprovePullRequest
            | ApprovalType::ApprovePushToExistingPr,
            Some(issue),
        ) => tx.issues_mut().lock_below(approval.scope(), issue),
        _ => Ok(Vec::new()),
    }
}
