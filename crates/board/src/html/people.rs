//! Agents and people: agents are squares, people are circles.

use std::collections::HashMap;

use askama::Template;
use askama::filters::HtmlSafe;
use workforce_app::agents::AgentView;
use workforce_domain::agent::{Agent, AgentStatus};
use workforce_domain::board::Author;
use workforce_domain::company::PauseReason;
use workforce_domain::id::AgentId;

use super::change::Names;

/// The square or circle of somebody, with the name.
#[derive(Clone, Template)]
#[template(path = "parts/who.html")]
pub(crate) struct Who {
    initials: String,
    class: String,
    /// The name.
    pub(crate) name: String,
    /// What they do.
    pub(crate) role: String,
}

impl HtmlSafe for Who {}

/// The square of somebody, without the name.
#[derive(Template)]
#[template(
    source = r#"<span class="face {% if is_large %}face-l {% endif %}{{ class }}" aria-hidden="true">{{ initials }}</span>"#,
    ext = "html"
)]
pub(crate) struct Portrait<'a> {
    initials: &'a str,
    class: &'a str,
    is_large: bool,
}

impl HtmlSafe for Portrait<'_> {}

/// Squares have one of so many colours, always the same for one agent.
const COLOURS: u8 = 6;

impl Who {
    /// Somebody of the board.
    pub(crate) fn board() -> Self {
        Self {
            initials: "B".to_owned(),
            class: "face-p h6".to_owned(),
            name: "Board".to_owned(),
            role: String::new(),
        }
    }

    /// The square alone, where the name stands beside it.
    pub(crate) fn square(&self) -> Portrait<'_> {
        Portrait {
            initials: &self.initials,
            class: &self.class,
            is_large: false,
        }
    }

    /// The same, large.
    pub(crate) fn large(&self) -> Portrait<'_> {
        Portrait {
            is_large: true,
            ..self.square()
        }
    }

    fn nobody_known() -> Self {
        Self {
            initials: "?".to_owned(),
            class: "h6".to_owned(),
            name: "Unknown".to_owned(),
            role: String::new(),
        }
    }

    pub(crate) fn agent(view: &AgentView) -> Self {
        Self::of(&view.agent, view.status)
    }

    /// An agent that has this status.
    pub(crate) fn of(agent: &Agent, status: AgentStatus) -> Self {
        let last = agent.id.to_string().bytes().last().unwrap_or_default();
        let colour = last % COLOURS + 1;
        Self {
            initials: initials(&agent.name),
            class: format!("h{colour} {}", ring(agent, status)),
            name: agent.name.to_string(),
            role: role(agent),
        }
    }
}

fn ring(agent: &Agent, status: AgentStatus) -> &'static str {
    let by_budget = agent
        .lifecycle
        .paused()
        .is_some_and(|pause| pause.reason == PauseReason::Budget);
    match status {
        AgentStatus::Running => "is-running",
        AgentStatus::Error => "is-error",
        AgentStatus::PendingApproval => "is-draft",
        AgentStatus::Paused if by_budget => "is-budget",
        AgentStatus::Paused => "is-paused",
        AgentStatus::Active | AgentStatus::Idle | AgentStatus::Terminated => "is-idle",
    }
}

/// The job title, or else the role.
fn role(agent: &Agent) -> String {
    match &agent.title {
        Some(title) => title.to_string(),
        None => agent.role.to_string(),
    }
}

fn initials(name: &str) -> String {
    let words = name.split_whitespace();
    let firsts = words.filter_map(|word| word.chars().find(|c| c.is_alphanumeric()));
    firsts.take(2).flat_map(char::to_uppercase).collect()
}

/// The agents of a company, to be named on a page.
pub(crate) struct Staff(HashMap<AgentId, Who>);

impl Staff {
    pub(crate) fn of(agents: &[AgentView]) -> Self {
        let each = agents.iter().map(|view| (view.agent.id, Who::agent(view)));
        Self(each.collect())
    }

    pub(crate) fn agent(&self, id: AgentId) -> Who {
        self.0.get(&id).cloned().unwrap_or_else(Who::nobody_known)
    }

    /// The agent of this id, if there is one.
    pub(crate) fn known(&self, id: AgentId) -> Option<Who> {
        self.0.get(&id).cloned()
    }

    /// What each is called, by id.
    pub(crate) fn names(&self) -> Names {
        let each = self.0.iter();
        each.map(|(id, who)| (id.to_string(), who.name.clone()))
            .collect()
    }

    /// Whoever wrote or did something; `None` for workforce itself.
    pub(crate) fn author(&self, author: Author) -> Option<Who> {
        match author {
            Author::Agent(id) => Some(self.agent(id)),
            Author::Board(_) => Some(Who::board()),
            Author::System => None,
        }
    }
}
