//! What the address of the issues says: which of them, and how they are shown.

use serde::Deserialize;
use workforce_app::agents::AgentView;
use workforce_app::{Context, goals, labels, projects};
use workforce_domain::id::CompanyId;
use workforce_domain::issue::{IssueStatus, Priority};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{AssigneeFilter, IssueCursor, IssueFilter, Reads};
use workforce_domain::string_enum::StringEnum as _;

use super::super::{Gathered, Told as _};
use super::{GROUPS, OPEN};
use crate::cursor;
use crate::html::status::{of_priority, word};

/// What the address says, as it stands there. What it says of nothing known is as if it were not
/// there.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Filter {
    /// Words to search for.
    pub(super) q: String,
    /// One status; `all`, or `open` when it is empty.
    status: String,
    priority: String,
    /// The short name of an agent, `nobody` or `me`.
    assignee: String,
    /// Ids.
    project: String,
    goal: String,
    label: String,
    /// `columns`, or the list.
    pub(super) view: String,
    /// `assignee`, or by status.
    pub(super) group: String,
    /// Whether the filter is open.
    pub(super) choose: String,
    /// After which issue the list goes on.
    after: String,
}

/// The choice that narrows nothing down.
const ANY: (&str, &str) = ("", "Any");

/// A part of the filter that is in force: in words, with the address without it.
pub(super) struct InForce {
    pub(super) words: String,
    pub(super) without: String,
}

/// Something that can be chosen.
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) word: String,
    pub(super) is_chosen: bool,
}

/// A part of the filter with what it offers.
pub(super) struct Select {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) choices: Vec<Choice>,
}

impl Filter {
    pub(super) fn of(query: &str) -> Self {
        serde_html_form::from_str(query).unwrap_or_default()
    }

    fn pairs(&self) -> [(&'static str, &str); 9] {
        [
            ("q", &self.q),
            ("status", &self.status),
            ("priority", &self.priority),
            ("assignee", &self.assignee),
            ("project", &self.project),
            ("goal", &self.goal),
            ("label", &self.label),
            ("view", &self.view),
            ("group", &self.group),
        ]
    }

    /// The address of the same issues with one thing changed. It begins anew.
    pub(super) fn with(&self, path: &str, name: &str, value: &str) -> String {
        let kept = self.pairs().into_iter().filter(|(its, _)| *its != name);
        let all = kept.chain([(name, value)]).filter(|(_, it)| !it.is_empty());
        let query = serde_html_form::to_string(all.collect::<Vec<_>>()).unwrap_or_default();
        match &query[..] {
            "" => path.to_owned(),
            query => format!("{path}?{query}"),
        }
    }

    /// What stands in the address apart from what the form of the filter asks for.
    pub(super) fn kept(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let kept = self.pairs().into_iter();
        kept.filter(|(name, value)| matches!(*name, "view" | "group") && !value.is_empty())
    }

    pub(super) fn is_columns(&self) -> bool {
        self.view == "columns"
    }

    /// The one status that is asked for.
    pub(super) fn one_status(&self) -> Option<IssueStatus> {
        IssueStatus::parse(&self.status)
    }

    /// The same issues as a list.
    pub(super) fn without_columns(self) -> Self {
        Self {
            view: String::new(),
            ..self
        }
    }

    /// The statuses that are asked for; none for all.
    pub(super) fn statuses(&self) -> Vec<IssueStatus> {
        match self.one_status() {
            Some(status) => vec![status],
            None if self.status == "all" => Vec::new(),
            None => OPEN.to_vec(),
        }
    }

    /// What the store is asked for.
    pub(super) fn wanted(&self, ctx: &Context<'_>, agents: &[AgentView]) -> IssueFilter {
        IssueFilter {
            statuses: self.statuses(),
            priorities: Priority::parse(&self.priority).into_iter().collect(),
            assignee: self.assignee(ctx, agents),
            project: self.project.parse().ok(),
            goal: self.goal.parse().ok(),
            labels: self.label.parse().into_iter().collect(),
            ..IssueFilter::default()
        }
    }

    fn assignee(&self, ctx: &Context<'_>, agents: &[AgentView]) -> Option<AssigneeFilter> {
        match &self.assignee[..] {
            "" => None,
            "nobody" => Some(AssigneeFilter::Nobody),
            "me" => ctx.actor().board().map(AssigneeFilter::Board),
            key => {
                let mut found = agents.iter().filter(|view| view.agent.url_key == key);
                found
                    .next()
                    .map(|view| AssigneeFilter::Agent(view.agent.id))
            }
        }
    }

    /// Where the list goes on.
    pub(super) fn after(&self) -> Option<IssueCursor> {
        cursor::place(&self.after)
    }

    /// The address of what follows.
    pub(super) fn older(&self, path: &str, next: Option<&IssueCursor>) -> Option<String> {
        Some(self.with(path, "after", &cursor::mark(next?)))
    }

    /// What can be chosen, of the whole company.
    pub(super) fn selects(
        &self,
        reads: &mut dyn Reads,
        ctx: &Context<'_>,
        company: CompanyId,
        agents: &[AgentView],
    ) -> Gathered<Vec<Select>> {
        let projects = projects::list_bare(reads, ctx, company, &PageRequest::first()).told()?;
        let goals = goals::list(reads, ctx, company, &PageRequest::first()).told()?;
        let labels = labels::list(reads, ctx, company, &PageRequest::first()).told()?;
        let owned = |(value, word): (&str, &str)| (value.to_owned(), word.to_owned());
        let statuses = [("", "Open"), ("all", "All")].into_iter();
        let statuses = statuses.chain(GROUPS.iter().map(|it| (it.as_str(), word(*it))));
        let priorities = Priority::ALL.iter();
        let priorities = priorities.map(|it| (it.as_str(), of_priority(*it)));
        let people = [ANY, ("nobody", "Nobody"), ("me", "You")].into_iter();
        let agents = agents.iter().map(|it| &it.agent);
        let agents = agents.map(|it| (it.url_key.clone(), it.name.to_string()));
        let projects = projects.items.iter();
        let projects = projects.map(|it| (it.id.to_string(), it.name.to_string()));
        let goals = goals.items.iter();
        let goals = goals.map(|it| (it.id.to_string(), it.title.to_string()));
        let labels = labels.items.iter();
        let labels = labels.map(|it| (it.id.to_string(), it.name.to_string()));
        let any = || core::iter::once(owned(ANY));
        Ok(vec![
            select("status", "Status", &self.status, statuses.map(owned)),
            select(
                "priority",
                "Priority",
                &self.priority,
                any().chain(priorities.map(owned)),
            ),
            select(
                "assignee",
                "Assignee",
                &self.assignee,
                people.map(owned).chain(agents),
            ),
            select("project", "Project", &self.project, any().chain(projects)),
            select("goal", "Goal", &self.goal, any().chain(goals)),
            select("label", "Label", &self.label, any().chain(labels)),
        ])
    }

    /// What is in force, in words.
    pub(super) fn in_force(
        &self,
        path: &str,
        agents: &[AgentView],
        selects: &[Select],
    ) -> Vec<InForce> {
        let named = |name: &str, value: &str| {
            let found = selects.iter().find(|select| select.name == name)?;
            let found = found.choices.iter().find(|choice| choice.value == value)?;
            Some(found.word.clone())
        };
        let parts = [
            ("q", "Words", Some(self.q.clone())),
            (
                "status",
                "Status",
                match &self.status[..] {
                    "all" => Some("all".to_owned()),
                    it => IssueStatus::parse(it).map(|it| word(it).to_lowercase()),
                },
            ),
            (
                "priority",
                "Priority",
                Priority::parse(&self.priority).map(|it| of_priority(it).to_lowercase()),
            ),
            (
                "assignee",
                "Assignee",
                agents
                    .iter()
                    .find(|it| it.agent.url_key == self.assignee)
                    .map(|it| it.agent.name.to_string())
                    .or_else(|| Some(self.assignee.clone())),
            ),
            ("project", "Project", named("project", &self.project)),
            ("goal", "Goal", named("goal", &self.goal)),
            ("label", "Label", named("label", &self.label)),
        ];
        let shown = parts.into_iter().filter_map(|(name, label, value)| {
            let value = value.filter(|value| !value.is_empty())?;
            Some(InForce {
                words: format!("{label}: {value}"),
                without: self.with(path, name, ""),
            })
        });
        shown.collect()
    }

    /// Whether the names of what can be chosen are needed.
    pub(super) fn needs_names(&self) -> bool {
        !self.choose.is_empty()
            || [&self.project, &self.goal, &self.label]
                .iter()
                .any(|it| !it.is_empty())
    }
}

fn select(
    name: &'static str,
    label: &'static str,
    chosen: &str,
    choices: impl Iterator<Item = (String, String)>,
) -> Select {
    let choices = choices.map(|(value, word)| Choice {
        is_chosen: value == chosen,
        value,
        word,
    });
    Select {
        name,
        label,
        choices: choices.collect(),
    }
}
