//! What every page of a company has around it: the navigation with its counts, and the other
//! companies.

use workforce_app::companies;
use workforce_app::{Context, dashboard, events};
use workforce_domain::activity::EventKind;
use workforce_domain::company::Company;
use workforce_domain::dashboard::Badges;
use workforce_domain::port::Reads;
use workforce_domain::string_enum::StringEnum as _;
use workforce_http::door::Visit;

use crate::html::when;
use crate::links::Links;
use crate::look::Look;
use crate::pages::{Gathered, Told as _, of};

/// So many other companies are offered.
const OFFERED: usize = 20;

/// What a page is asked for, free of the connection.
#[derive(Clone)]
pub(crate) struct Asked {
    /// The company, by the prefix of its issues.
    prefix: String,
    look: Look,
    path: String,
    /// Whether a form was sent, which the page answers.
    is_answer: bool,
}

impl Asked {
    pub(crate) fn of(visit: &Visit) -> Self {
        Self {
            prefix: visit.parameter("prefix").to_owned(),
            look: Look::of(visit),
            path: visit.path().to_owned(),
            is_answer: !visit.form().is_empty(),
        }
    }

    /// The company itself.
    pub(crate) fn company(&self, reads: &mut dyn Reads, ctx: &Context<'_>) -> Gathered<Company> {
        companies::by_prefix(reads, ctx, &self.prefix).told()
    }

    /// The pages of the company.
    pub(crate) fn links(&self) -> Links {
        Links::of(&self.prefix)
    }
}

/// The parts of a company: the end of the address, the icon, the word, and the key after `g`.
const PARTS: [(&str, &str, &str, &str); 12] = [
    ("", "house", "Home", "h"),
    ("inbox", "inbox", "Inbox", "i"),
    ("issues", "list-todo", "Issues", "s"),
    ("runs", "terminal", "Runs", "r"),
    ("approvals", "stamp", "Approvals", "a"),
    ("agents", "users", "Agents", "t"),
    ("projects", "folder", "Projects", "p"),
    ("goals", "target", "Goals", "o"),
    ("costs", "wallet", "Costs", "c"),
    ("activity", "history", "Activity", "l"),
    ("secrets", "key-round", "Secrets", ""),
    ("settings", "settings", "Settings", ","),
];

const MAIN: [&str; 4] = ["Home", "Inbox", "Issues", "Approvals"];

/// The keys that pages know, and what they do.
pub(crate) const KEYS: [(&str, &str); 12] = [
    ("?", "Show the keys"),
    ("/", "Search"),
    ("Ctrl K", "Search or jump to anything"),
    ("c", "New issue"),
    ("g", "Then h home, i inbox, s issues, r runs, a approvals"),
    (
        "g",
        "Then t agents, p projects, o goals, c costs, l activity, comma settings",
    ),
    ("j  k", "Next row, row before"),
    ("Enter", "Open the row"),
    ("u", "Up to the list"),
    ("f  b", "Filter of the issues, their columns"),
    ("m", "Move the card"),
    ("Ctrl Enter", "Send the form"),
];

/// A part of the company that the navigation leads to.
pub(crate) struct Part {
    pub(crate) link: String,
    pub(crate) icon: &'static str,
    pub(crate) word: &'static str,
    /// The key that leads there after `g`; empty for none.
    pub(crate) key: &'static str,
    /// How much waits there for a person.
    pub(crate) waiting: i64,
    pub(crate) is_present: bool,
}

impl Part {
    /// Whether the navigation has a line above it.
    pub(crate) fn begins_group(&self) -> bool {
        matches!(self.word, "Agents" | "Secrets")
    }
}

/// What stands around a page of a company.
pub(crate) struct Shell {
    pub(crate) look: Look,
    /// Where the page is, for forms that lead back to it.
    pub(crate) path: String,
    /// Whether the page answers a form. What it shows of that is not in the store, so it is not
    /// fetched anew while it is open.
    pub(crate) is_answer: bool,
    /// The name of the company.
    pub(crate) company: String,
    /// Whether nothing of it may start.
    pub(crate) is_stopped: bool,
    pub(crate) links: Links,
    /// The part of the navigation that the page belongs to.
    pub(crate) section: &'static str,
    /// What waits for a person.
    pub(crate) badges: Badges,
    /// Other companies, by name and address.
    pub(crate) others: Vec<(String, String)>,
    /// The id of the company, for its events.
    pub(crate) id: String,
    /// The last event that the page shows.
    pub(crate) event: i64,
    /// What events there are.
    pub(crate) kinds: String,
    /// The time of day.
    pub(crate) utc: String,
}

impl Shell {
    pub(crate) fn gather(
        reads: &mut dyn Reads,
        ctx: &Context<'_>,
        asked: &Asked,
        company: &Company,
        section: &'static str,
    ) -> Gathered<Self> {
        let id = company.id;
        let all = companies::without_spend(reads, ctx, &[], &of(OFFERED)).told()?;
        let others = all.items.into_iter().filter(|other| other.id != id);
        Ok(Self {
            look: asked.look,
            path: asked.path.clone(),
            is_answer: asked.is_answer,
            company: company.name.to_string(),
            is_stopped: !company.is_active(),
            links: asked.links(),
            section,
            badges: dashboard::badges(reads, ctx, id).told()?,
            others: others
                .map(|other| {
                    let links = Links::of(&other.issue_prefix);
                    (other.name.to_string(), links.home().to_owned())
                })
                .collect(),
            id: id.to_string(),
            event: events::span(reads, ctx, id).told()?.latest,
            kinds: kinds(),
            utc: when::time_of_day(ctx.now),
        })
    }

    /// What the navigation leads to.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let parts = PARTS.iter().map(|(name, icon, word, key)| Part {
            link: self.links.section(name),
            icon,
            word,
            key,
            waiting: match *name {
                "inbox" => self.waiting(),
                "approvals" => self.badges.approvals,
                _ => 0,
            },
            is_present: self.section == *name,
        });
        parts.collect()
    }

    /// What has a place at the bottom of a phone.
    pub(crate) fn main_parts(&self) -> Vec<Part> {
        let mut parts = self.parts();
        parts.retain(|part| MAIN.contains(&part.word));
        parts
    }

    /// How much waits for a person.
    pub(crate) const fn waiting(&self) -> i64 {
        let badges = &self.badges;
        badges.approvals
            + badges.failed_runs
            + badges.budget_stops
            + badges.in_review
            + badges.assigned
            + badges.stuck
    }
}

fn kinds() -> String {
    let kinds: Vec<_> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    kinds.join(" ")
}
