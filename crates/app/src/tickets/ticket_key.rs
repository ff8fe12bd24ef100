//! The key of a ticket and its branch (docs/tickets.md#ticket-and-branch).

use workforce_domain::approval::{
    ALLOWED_PREFIXES, check_work_branch, is_ticket_key, may_name_ticket,
};
use workforce_domain::issue::Issue;

/// How a line of a description names the ticket.
const LINE: &str = "ticket:";

/// What parts a text into words that may be keys or branches.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.')))
}

/// The ticket of an issue: its own key, what its costs are booked on, the line
/// `ticket: ABC-1` of its description, the first word like that in its title or
/// description, and else its identifier.
pub(super) fn of_issue(issue: &Issue) -> String {
    let own = issue
        .ticket_key
        .as_deref()
        .filter(|key| may_name_ticket(key));
    let billed = issue
        .billing_code
        .as_deref()
        .filter(|code| may_name_ticket(code));
    let description = issue.description.as_deref().unwrap_or_default();
    let in_line = || {
        description.lines().find_map(|line| {
            let line = line.trim_start();
            let (start, rest) = line.split_at_checked(LINE.len())?;
            let key = rest.trim();
            (start.eq_ignore_ascii_case(LINE) && may_name_ticket(key)).then_some(key)
        })
    };
    let in_text = |text| words(text).find(|word| is_ticket_key(word));
    own.or(billed)
        .or_else(in_line)
        .or_else(|| in_text(&issue.title))
        .or_else(|| in_text(description))
        .unwrap_or(&issue.identifier)
        .to_owned()
}

/// The branch of a ticket: the first one that the description of its issue names,
/// and else one named after the ticket.
pub(super) fn branch(issue: &Issue, ticket_key: &str) -> String {
    let description = issue.description.as_deref().unwrap_or_default();
    let named = words(description)
        .map(|word| word.trim_end_matches('.'))
        .find(|word| check_work_branch(word).is_ok());
    match named {
        Some(branch) => branch.to_owned(),
        None => format!("{}{ticket_key}", ALLOWED_PREFIXES[0]),
    }
}
