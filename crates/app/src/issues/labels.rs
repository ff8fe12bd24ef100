//! The labels of issues.

use std::collections::{HashMap, HashSet};

use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::{IssueId, LabelId};
use workforce_domain::issue::Issue;
use workforce_domain::label::{IssueLabel, MAX_ISSUE_LABELS};
use workforce_domain::port::{Failure, Locked, Reads, StoreError, Tx};

use super::IssueError;
use crate::access::FieldFault;
use crate::changes::{Changes, Shown};

/// The labels of issues, per issue by name, in one query.
#[derive(Debug, Default)]
pub(super) struct LabelsOf(HashMap<IssueId, Vec<IssueLabel>>);

impl LabelsOf {
    /// Reads the labels of `issues`.
    pub(super) fn read(
        reads: &mut dyn Reads,
        scope: CompanyScope,
        issues: &[IssueId],
    ) -> Result<Self, StoreError> {
        let mut labels: HashMap<IssueId, Vec<IssueLabel>> = HashMap::new();
        if !issues.is_empty() {
            for (issue, label) in reads.labels().of_issues(scope, issues)? {
                labels.entry(issue).or_default().push(label);
            }
        }
        Ok(Self(labels))
    }

    /// Takes out the labels of one issue.
    pub(super) fn take(&mut self, issue: IssueId) -> Vec<IssueLabel> {
        self.0.remove(&issue).unwrap_or_default()
    }
}

/// The labels of one issue, by name.
pub(super) fn of(reads: &mut dyn Reads, issue: &Issue) -> Result<Vec<IssueLabel>, StoreError> {
    Ok(LabelsOf::read(reads, issue.scope(), &[issue.id])?.take(issue.id))
}

/// The asked labels, each once; refuses what is no label of the company.
pub(super) fn known(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    mut asked: Vec<LabelId>,
) -> Result<Vec<LabelId>, Failure<IssueError>> {
    if asked.len() > MAX_ISSUE_LABELS {
        let fault = FieldFault::invalid("/labelIds", format!("at most {MAX_ISSUE_LABELS} labels"));
        return Err(fault.into());
    }
    if asked.is_empty() {
        return Ok(asked);
    }
    let found: HashSet<LabelId> = reads
        .labels()
        .find_all(scope, &asked)?
        .into_iter()
        .map(|label| label.id)
        .collect();
    if let Some(index) = asked.iter().position(|label| !found.contains(label)) {
        let fault = FieldFault::missing(format!("/labelIds/{index}"), "label");
        return Err(fault.into());
    }
    let mut seen = HashSet::new();
    asked.retain(|label| seen.insert(*label));
    Ok(asked)
}

/// Gives an issue these labels in place of those it has, and tells what changed.
pub(super) fn replace(
    tx: &mut dyn Tx,
    issue: &Locked<Issue>,
    asked: Vec<LabelId>,
) -> Result<Changes, Failure<IssueError>> {
    let labels = known(tx.reads(), issue.scope(), asked)?;
    let present = ids(tx.reads(), issue)?;
    if present.len() == labels.len() && labels.iter().all(|label| present.contains(label)) {
        return Ok(Changes::none());
    }
    tx.labels_mut().set_for_issue(issue, &labels)?;
    let (from, to) = (Shown::plain(present), Shown::plain(ids(tx.reads(), issue)?));
    Ok(Changes::none().and_field("labelIds", &from, &to))
}

/// The ids of an issue's labels, by name.
fn ids(reads: &mut dyn Reads, issue: &Issue) -> Result<Vec<LabelId>, StoreError> {
    let labels = of(reads, issue)?;
    Ok(labels.into_iter().map(|label| label.id).collect())
}
