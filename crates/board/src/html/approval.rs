//! What an approval asks for, in words.

use std::collections::HashMap;

use serde_json::Value;
use workforce_app::issues::IssueView;
use workforce_domain::approval::{Approval, ApprovalType};
use workforce_domain::id::IssueId;
use workforce_domain::money::Cents;
use workforce_domain::{Document, JsonMap};

use super::markdown::Prose;
use super::money::Dollars;
use super::output::Output;
use super::people::Staff;

/// The longest title that is made of a payload.
const LONGEST: usize = 120;

/// What issues are called: the identifier and the title of each.
pub(crate) type Names = HashMap<IssueId, (String, String)>;

/// What these issues are called.
pub(crate) fn names(issues: &[IssueView]) -> Names {
    let name = |view: &IssueView| {
        let issue = &view.issue;
        (
            issue.id,
            (issue.identifier.clone(), issue.title.to_string()),
        )
    };
    issues.iter().map(name).collect()
}

/// What an approval is about, in one line: what it says itself, or else what its issue is called.
pub(crate) fn subject(approval: &Approval, names: &Names) -> String {
    let kind = kind(approval.kind);
    if let Some(said) = said(approval) {
        return format!("{kind}: {said}");
    }
    let issue = approval.primary_issue.and_then(|id| names.get(&id));
    match issue {
        Some((key, title)) => format!("{kind}: {key} {title}"),
        None => kind.to_owned(),
    }
}

/// The issue whose name tells what an approval is about, since nothing else does.
pub(crate) fn named_by(approval: &Approval) -> Option<IssueId> {
    match said(approval) {
        Some(_) => None,
        None => approval.primary_issue,
    }
}

fn said(approval: &Approval) -> Option<String> {
    let payload = &approval.payload;
    // An agent has a title too.
    let first = match approval.kind {
        ApprovalType::HireAgent => "name",
        _ => "title",
    };
    let said = [first, "title", "name", "question", "summary", "reason"]
        .iter()
        .find_map(|key| text(payload, key))
        .map(|text| {
            text.lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(LONGEST)
        });
    let said: Option<String> = said.map(Iterator::collect);
    said.filter(|said| !said.trim().is_empty())
}

/// What is asked for.
pub(crate) const fn kind(kind: ApprovalType) -> &'static str {
    match kind {
        ApprovalType::HireAgent => "Hire",
        ApprovalType::ApproveCeoStrategy => "Strategy",
        ApprovalType::ApproveIssuePlan => "Plan",
        ApprovalType::ApprovePullRequest => "Pull request",
        ApprovalType::ApprovePushToExistingPr => "Push to a pull request",
        ApprovalType::ApproveCompletion => "Completion",
        ApprovalType::AgentQuestion => "Question",
        ApprovalType::BudgetOverrideRequired => "Go on over the budget",
        ApprovalType::RequestBoardApproval => "Request",
    }
}

/// The picture of what is asked for.
pub(crate) const fn icon(kind: ApprovalType) -> &'static str {
    match kind {
        ApprovalType::ApprovePullRequest | ApprovalType::ApprovePushToExistingPr => {
            "git-pull-request"
        }
        ApprovalType::BudgetOverrideRequired => "wallet",
        _ => "stamp",
    }
}

/// A part of a payload: its name, and what it says.
pub(crate) enum Part {
    /// A text in Markdown.
    Text(String, Prose),
    /// Something short.
    Fact(String, String),
    /// Anything else, as JSON.
    Data(String, Output),
}

/// A text is told as one from this length on.
const LONG: usize = 80;

/// What is shown in another way, and so is no part.
const ELSEWHERE: [&str; 4] = [
    "issueId",
    "issueIds",
    "issueIdentifier",
    "resolvedWorkspaces",
];

/// What stands in the worktree, as it was when the board was asked.
const WORK: &str = "work";

/// The longest data that is shown of a part, in bytes.
const LONGEST_DATA: usize = 8 * 1024;

/// The parts of a payload, short ones first. Where the worktree itself is shown, what it was is
/// not.
pub(crate) fn parts(payload: &Document, staff: &Staff, shows_worktree: bool) -> Vec<Part> {
    let shown = payload.iter().filter(|(name, _)| {
        let name = name.as_str();
        !(ELSEWHERE.contains(&name) || shows_worktree && name == WORK)
    });
    let mut parts: Vec<Part> = shown
        .map(|(name, value)| part(name, value, staff))
        .collect();
    parts.sort_by_key(|part| match part {
        Part::Fact(..) => 0,
        Part::Text(..) => 1,
        Part::Data(..) => 2,
    });
    parts
}

fn part(name: &str, value: &Value, staff: &Staff) -> Part {
    if let Some(cents) = name.strip_suffix("Cents")
        && let Some(amount) = value.as_i64().and_then(|it| Cents::from_cents(it).ok())
    {
        return Part::Fact(words(cents), Dollars(amount).to_string());
    }
    let name = words(name.trim_end_matches("Id"));
    match value {
        Value::String(text) if text.len() >= LONG || text.contains('\n') => {
            Part::Text(name, Prose::new(text))
        }
        Value::String(text) => {
            let agent = text.parse().ok().and_then(|id| staff.known(id));
            Part::Fact(name, agent.map_or_else(|| text.clone(), |who| who.name))
        }
        Value::Null => Part::Fact(name, "none".to_owned()),
        Value::Bool(true) => Part::Fact(name, "yes".to_owned()),
        Value::Bool(false) => Part::Fact(name, "no".to_owned()),
        Value::Number(number) => Part::Fact(name, number.to_string()),
        other => Part::Data(
            name,
            Output::cut(
                &serde_json::to_string_pretty(other).unwrap_or_default(),
                LONGEST_DATA,
            )
            .0,
        ),
    }
}

/// `budgetMonthlyCents` as `budget monthly cents`.
pub(crate) fn words(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

fn text<'a>(payload: &'a JsonMap, key: &str) -> Option<&'a str> {
    payload.get(key)?.as_str()
}
