//! One agent, on several pages: where it stands, how it is set up, and what it did.

mod configuration;
mod conflict;
mod costs;
mod deeds;
mod history;
mod instructions;
mod keys;
mod overview;
mod revision;
mod runs;
mod why;

use workforce_app::Context;
use workforce_app::agents::{self, AgentDetail, AgentRef};
use workforce_domain::agent::AgentState;
use workforce_domain::company::Company;
use workforce_domain::id::AgentId;
use workforce_domain::port::Reads;
use workforce_http::door::{Pages, Visit};

use super::{Gathered, Refused, Told as _};
use crate::html::people::Who;
use crate::html::status::Pill;
use crate::links::Links;
use crate::shell::Asked;

pub(super) fn register(pages: Pages) -> Pages {
    let pages = overview::register(pages);
    let pages = configuration::register(pages);
    let pages = instructions::register(pages);
    let pages = runs::register(pages);
    let pages = costs::register(pages);
    let pages = keys::register(pages);
    history::register(pages)
}

/// The agent that a page is about.
#[derive(Clone)]
struct About {
    asked: Asked,
    /// Its short name or id.
    named: String,
}

impl About {
    fn of(visit: &Visit) -> Self {
        Self {
            asked: Asked::of(visit),
            named: visit.parameter("agent").to_owned(),
        }
    }

    /// The company in the address, and the agent if it is one of that.
    fn find(&self, reads: &mut dyn Reads, ctx: &Context<'_>) -> Gathered<(Company, AgentDetail)> {
        let company = self.asked.company(reads, ctx)?;
        let id = company.id;
        let named = match self.named.parse() {
            Ok(agent) => AgentRef::Id(agent),
            Err(_) => AgentRef::UrlKey {
                key: self.named.clone(),
                company: Some(id),
            },
        };
        let detail = agents::get(reads, ctx, &named).told()?;
        if detail.view.agent.company == id {
            Ok((company, detail))
        } else {
            Err(Refused::missing("agent"))
        }
    }

    /// The agent, where nothing else is asked for.
    fn id(&self, reads: &mut dyn Reads, ctx: &Context<'_>) -> Gathered<AgentId> {
        Ok(self.find(reads, ctx)?.1.view.agent.id)
    }
}

/// The parts of an agent: the end of the address, and the word.
const TABS: [(&str, &str); 7] = [
    ("", "Overview"),
    ("configuration", "Configuration"),
    ("instructions", "Instructions"),
    ("runs", "Runs"),
    ("costs", "Costs"),
    ("keys", "Keys"),
    ("history", "History"),
];

struct Tab {
    link: String,
    word: &'static str,
    is_present: bool,
}

/// What stands above every page of an agent.
struct Head {
    link: String,
    who: Who,
    pill: Pill,
    role: String,
    /// Its manager, by name and address.
    manager: Option<(String, String)>,
    is_paused: bool,
    is_employed: bool,
    tabs: Vec<Tab>,
}

impl Head {
    fn of(detail: &AgentDetail, links: &Links, tab: &'static str) -> Self {
        let agent = &detail.view.agent;
        let link = links.agent(&agent.url_key);
        let state = agent.lifecycle.state();
        let manager = detail.chain_of_command.first();
        let who = Who::agent(&detail.view);
        Self {
            pill: Pill::of_employee(&detail.view),
            role: who.role.clone(),
            manager: manager.map(|it| (it.name.to_string(), links.agent(&it.id.to_string()))),
            is_paused: state == AgentState::Paused,
            is_employed: matches!(state, AgentState::Enabled | AgentState::Paused),
            tabs: TABS
                .iter()
                .map(|(name, word)| Tab {
                    link: match *name {
                        "" => link.clone(),
                        name => format!("{link}/{name}"),
                    },
                    word,
                    is_present: *name == tab,
                })
                .collect(),
            who,
            link,
        }
    }

    /// One of its pages.
    fn page(&self, name: &str) -> String {
        format!("{}/{name}", self.link)
    }
}
