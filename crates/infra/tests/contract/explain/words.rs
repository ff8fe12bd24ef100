//! Each word that a statement spells out is one that the domain knows for the column it is
//! compared with, in the table that the statement means.

use workforce_domain::agent::AgentState;
use workforce_domain::approval::{ApprovalStatus, ApprovalType, ExecutionState};
use workforce_domain::budget::{BudgetBasis, BudgetScope};
use workforce_domain::company::{CompanyStatus, PauseReason};
use workforce_domain::cost::{BillingType, CostSource};
use workforce_domain::execution_workspace::ExecutionWorkspaceStatus;
use workforce_domain::issue::{IssueStatus, StuckReason};
use workforce_domain::project::ProjectGovernance;
use workforce_domain::run::{RunErrorCode, RunKind, RunStatus, StartCondition, WakeStatus};
use workforce_domain::string_enum::StringEnum;

fn knows<W: StringEnum>(word: &str) -> bool {
    W::parse(word).is_some()
}

type Column = (&'static str, &'static str, fn(&str) -> bool);

/// The columns whose words statements spell out.
const COLUMNS: [Column; 19] = [
    ("agents", "lifecycle", knows::<AgentState>),
    ("agents", "pause_reason", knows::<PauseReason>),
    ("approval_executions", "state", knows::<ExecutionState>),
    ("approvals", "status", knows::<ApprovalStatus>),
    ("approvals", "type", knows::<ApprovalType>),
    ("companies", "budget_basis", knows::<BudgetBasis>),
    ("companies", "pause_reason", knows::<PauseReason>),
    ("companies", "status", knows::<CompanyStatus>),
    ("cost_events", "billing_type", knows::<BillingType>),
    ("cost_events", "source", knows::<CostSource>),
    (
        "execution_workspaces",
        "status",
        knows::<ExecutionWorkspaceStatus>,
    ),
    ("heartbeat_runs", "error_code", knows::<RunErrorCode>),
    ("heartbeat_runs", "kind", knows::<RunKind>),
    ("heartbeat_runs", "status", knows::<RunStatus>),
    ("issues", "status", knows::<IssueStatus>),
    ("projects", "governance", knows::<ProjectGovernance>),
    ("spend_totals", "scope_type", knows::<BudgetScope>),
    ("wakes", "kind", knows::<RunKind>),
    ("wakes", "status", knows::<WakeStatus>),
];

/// What stands between the parts of a key.
const SEPARATOR: &str = ":";

/// The first word of a statement that is not one of its column.
pub(super) fn unknown(statement: &str) -> Option<String> {
    let mut rest = 0;
    while let Some((before, word, end)) = quoted(statement, rest) {
        rest = end;
        let is_name = word.is_empty()
            || word == SEPARATOR
            || knows::<StartCondition>(word.trim_start())
            || knows::<StuckReason>(word);
        if !is_name && !is_of_its_column(statement, before, word) {
            return Some(word.to_owned());
        }
    }
    None
}

/// The next quoted text from `start` on, with what stands before it and where the rest begins.
fn quoted(statement: &str, start: usize) -> Option<(&str, &str, usize)> {
    let open = start + statement.get(start..)?.find('\'')?;
    let inside = statement.get(open + 1..)?;
    let length = inside.find('\'')?;
    Some((&statement[..open], &inside[..length], open + length + 2))
}

fn is_of_its_column(statement: &str, before: &str, word: &str) -> bool {
    let compared = match before.trim_end().chars().next_back() {
        Some('(' | ',') => before.rsplit_once(" IN (").map(|(compared, _)| compared),
        _ => before.trim_end().strip_suffix(['=', '>']),
    };
    let Some(compared) = compared else {
        return false;
    };
    let compared = compared
        .trim_end_matches(" NOT")
        .trim_end_matches(['<', ' ']);
    let name = compared.rsplit([' ', '(']).next().unwrap_or(compared);
    let Some((row, column)) = name.split_once('.') else {
        return false;
    };
    let meant = tables(statement, row);
    COLUMNS.iter().any(|(table, own, knows)| {
        *own == column && (meant.is_empty() || meant.contains(table)) && knows(word)
    })
}

/// The tables that a statement calls `row`; none for what it selects itself.
fn tables<'a>(statement: &'a str, row: &str) -> Vec<&'a str> {
    let parts: Vec<&str> = statement
        .split(|c: char| c.is_whitespace() || "(),\"`".contains(c))
        .filter(|part| !part.is_empty())
        .collect();
    let mut tables = Vec::new();
    for (index, keyword) in parts.iter().enumerate() {
        let is_named = ["FROM", "JOIN", "UPDATE", "INTO"].contains(keyword);
        if let (true, Some(table)) = (is_named, parts.get(index + 1))
            && (*table == row || parts.get(index + 2) == Some(&row))
        {
            tables.push(*table);
        }
    }
    tables
}

#[test]
fn a_word_is_compared_with_the_column_of_the_table_that_is_meant() {
    for (statement, expected) in [
        ("SELECT 1 FROM wakes w WHERE w.status = 'pending'", None),
        (
            "SELECT 1 FROM wakes w WHERE w.status <> 'pending' AND w.kind = 'x'",
            Some("x"),
        ),
        (
            "SELECT 1 FROM heartbeat_runs w WHERE w.status = 'pending'",
            Some("pending"),
        ),
        (
            "UPDATE `wakes` SET a = 1 WHERE wakes.status = 'pending'",
            None,
        ),
        (
            "SELECT 1 FROM issues i WHERE i.status NOT IN ('done', 'ended')",
            Some("ended"),
        ),
        (
            "SELECT 1 FROM issues i WHERE (i.status IN ('done', 'cancelled'))",
            None,
        ),
        (
            "SELECT 1 FROM (SELECT lifecycle FROM agents) d WHERE d.lifecycle = 'on'",
            Some("on"),
        ),
        ("SELECT CASE WHEN 1 THEN '' ELSE ' cap_agent' END", None),
        (
            "SELECT 1 FROM wakes w WHERE lower(w.status) = 'pending'",
            Some("pending"),
        ),
    ] {
        assert_eq!(unknown(statement).as_deref(), expected, "{statement}");
    }
}
