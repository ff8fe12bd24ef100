//! Tables of the documentation, made from the code they describe.

use std::fmt::{Display, Write as _};

use workforce_domain::agent::AgentState;
use workforce_domain::approval::ApprovalStatus;
use workforce_domain::company::CompanyStatus;
use workforce_domain::issue::{IssueStatus, Mover};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::run::{RunStatus, WakeStatus};
use workforce_domain::string_enum::StringEnum;
use workforce_http::registry::{Access, COMMON};
use workforce_http::{problem, routes};

use crate::openapi;

/// The OpenAPI document, as the server serves it.
pub(crate) fn openapi() -> String {
    openapi::printed(&openapi::document())
}

/// Every machine code: its status and what the caller should do.
pub(crate) fn errors() -> String {
    let rows = problem::catalogue().map(|(code, entry)| {
        [
            format!("`{code}`"),
            entry.status.as_u16().to_string(),
            entry.advice.to_owned(),
        ]
    });
    table(["Code", "Status", "What to do"], rows)
}

/// Every route: what it does, its access rule, and the codes of its own.
pub(crate) fn endpoints() -> String {
    let rows = routes::all().list().into_iter().map(|route| {
        [
            route.method.clone(),
            format!("`{}`", route.path),
            openapi::first_sentence(route.summary()).0,
            route.access.as_str().to_owned(),
            listed(&route.refuses),
        ]
    });
    table(["Method", "Path", "What", "Rule", "Own errors"], rows)
}

/// Every answer that a route says it gives, each in a line: method, path, and the status of a
/// success or the code of a refusal of its own.
pub(crate) fn answers() -> String {
    let mut text = String::new();
    for route in routes::all().list() {
        let name = route.name();
        let successes = route.succeeds();
        let successes = successes.iter().map(ToString::to_string);
        let refusals = route.refuses.iter().map(ToString::to_string);
        for answer in successes.chain(refusals) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name} {answer}");
        }
    }
    text
}

/// The access rules.
pub(crate) fn access_rules() -> String {
    let rows = Access::ALL
        .iter()
        .map(|rule| [format!("`{rule}`"), rule.meaning().to_owned()]);
    table(["Rule", "Who may call"], rows)
}

/// The codes that follow from the shape of a route.
pub(crate) fn common_errors() -> String {
    let rows = COMMON
        .iter()
        .map(|common| [common.routes.to_owned(), listed(common.codes)]);
    table(["Routes", "Errors"], rows)
}

fn listed<C: Display>(codes: &[C]) -> String {
    let codes: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
    codes.join(", ")
}

/// The moves of an issue by agents.
pub(crate) fn issue_agents() -> String {
    lifecycle(IssueStatus::successors)
}

/// The moves of an issue by the board.
pub(crate) fn issue_board() -> String {
    lifecycle::<IssueStatus>(|status| status.successors_for(Mover::Board))
}

/// The moves of an approval.
pub(crate) fn approval() -> String {
    lifecycle(ApprovalStatus::successors)
}

/// The moves of a run.
pub(crate) fn run() -> String {
    lifecycle(RunStatus::successors)
}

/// The moves of a wake.
pub(crate) fn wake() -> String {
    lifecycle(WakeStatus::successors)
}

/// The moves of an agent.
pub(crate) fn agent() -> String {
    lifecycle(AgentState::successors)
}

/// The moves of a company.
pub(crate) fn company() -> String {
    lifecycle(CompanyStatus::successors)
}

fn lifecycle<W: StringEnum + Display>(successors: fn(W) -> &'static [W]) -> String {
    let rows = W::ALL.iter().map(|&from| {
        let to: Vec<String> = successors(from)
            .iter()
            .map(|to| format!("`{to}`"))
            .collect();
        [
            format!("`{from}`"),
            if to.is_empty() {
                "nothing".into()
            } else {
                to.join(", ")
            },
        ]
    });
    table(["From", "To"], rows)
}

fn table<const N: usize>(heading: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut text = format!("| {} |\n|{}\n", heading.join(" | "), "---|".repeat(N));
    for row in rows {
        // A row of a table is one line, however long a sentence is.
        let row = row.join(" | ").replace('\n', " ");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {row} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_of_a_route_are_its_successes_and_its_own_refusals() {
        let answers = answers();
        let of_release: Vec<&str> = answers
            .lines()
            .filter_map(|line| line.strip_prefix("POST /api/issues/{issueId}/release "))
            .collect();
        assert_eq!(of_release, ["200", "not_holder"]);
    }
}
