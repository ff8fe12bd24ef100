//! What waits for a person, as a row.

use workforce_app::Context;
use workforce_app::attention::Need;
use workforce_domain::agent::Agent;
use workforce_domain::issue::{IssueStatus, StuckReason};

use super::approval::{Names, icon, subject};
use super::money::Dollars;
use super::people::Staff;
use super::status::why_stuck;
use super::when::Ago;
use crate::form::Filled;
use crate::links::Links;

/// Something that waits for a person.
pub(crate) struct Row {
    pub(crate) icon: &'static str,
    /// The colour of who ends it.
    pub(crate) class: &'static str,
    pub(crate) what: String,
    pub(crate) why: String,
    pub(crate) since: Ago,
    pub(crate) link: String,
    /// The word of the link.
    pub(crate) act: &'static str,
    /// The agent whose limit can be raised here.
    pub(crate) raised: Option<Raised>,
}

/// The limit of an agent, to be raised.
pub(crate) struct Raised {
    pub(crate) agent: String,
    /// What is offered, as it stands in a field.
    pub(crate) offer: String,
}

impl Raised {
    /// The id of the field: what is wrong with a refused one leads there.
    pub(crate) fn field(&self, form: &Filled) -> String {
        if form.is("agent", &self.agent) {
            "budgetMonthlyCents".to_owned()
        } else {
            format!("limit-{}", self.agent)
        }
    }
}

impl Row {
    pub(crate) fn new(
        ctx: &Context<'_>,
        links: &Links,
        staff: &Staff,
        names: &Names,
        need: &Need,
    ) -> Self {
        let since = Ago::new(need.since(), ctx.now);
        match need {
            Need::BudgetStop(agent) => Self {
                icon: "wallet",
                class: "p-you",
                what: format!("{} is stopped: its budget is used up", agent.name),
                why: match agent.budget.limit() {
                    Some(limit) => format!(
                        "The limit is {} a month. It goes on with a higher one, or with next month.",
                        Dollars(limit)
                    ),
                    None => "It goes on with next month.".to_owned(),
                },
                since,
                link: links.agent(&agent.url_key),
                act: "Open",
                raised: raised(agent),
            },
            Need::Decision(approval) => Self {
                icon: icon(approval.kind),
                class: "p-you",
                what: subject(approval, names),
                why: asked(staff, approval),
                since,
                link: links.approval(approval.id),
                act: "Review",
                raised: None,
            },
            Need::Issue(issue) => {
                let (icon, why, act) = match issue.status() {
                    IssueStatus::InReview => {
                        ("eye", "Waits for your review: no agent does it.", "Review")
                    }
                    _ => ("hand", "Is assigned to the board.", "Open"),
                };
                Self {
                    icon,
                    class: "p-you",
                    what: format!("{} {}", issue.identifier, issue.title),
                    why: why.to_owned(),
                    since,
                    link: links.issue(&issue.identifier),
                    act,
                    raised: None,
                }
            }
            Need::Failing(agent) => Self {
                icon: "repeat",
                class: "p-bad",
                what: failed(agent),
                why: match agent.backoff_until {
                    Some(until) if until > ctx.now => {
                        format!(
                            "It tries again in {}.",
                            super::when::span(until.micros() - ctx.now.micros())
                        )
                    }
                    _ => "Its next run shows whether it is over.".to_owned(),
                },
                since,
                link: links.agent(&agent.url_key),
                act: "Open",
                raised: None,
            },
            Need::Stuck(stuck) => Self {
                icon: "octagon-x",
                class: "p-bad",
                what: format!("{} {}", stuck.identifier, stuck.title),
                why: format!("{}.", why_stuck(stuck.reason)),
                since,
                link: links.issue(&stuck.identifier),
                act: match stuck.reason {
                    StuckReason::Unassigned => "Assign",
                    _ => "Open",
                },
                raised: None,
            },
        }
    }
}

/// Half as much again, in whole dollars.
fn raised(agent: &Agent) -> Option<Raised> {
    let cents = agent.budget.cents();
    (cents > 0).then(|| Raised {
        agent: agent.id.to_string(),
        offer: (cents.saturating_mul(3) / 200 + 1).to_string(),
    })
}

fn failed(agent: &Agent) -> String {
    match agent.consecutive_failures {
        1 => format!("{} failed in its last run", agent.name),
        times => format!("{} failed {times} times in a row", agent.name),
    }
}

fn asked(staff: &Staff, approval: &workforce_domain::approval::Approval) -> String {
    let mut words = match staff.author(approval.requested_by) {
        Some(who) => format!("{} asks", who.name),
        None => "workforce asks".to_owned(),
    };
    if approval.resubmit_count > 0 {
        words.push_str(", again after a change");
    }
    match approval.attention.len() {
        0 => {}
        1 => words.push_str(", one thing to look at twice"),
        several => words.push_str(&format!(", {several} things to look at twice")),
    }
    words.push('.');
    words
}
