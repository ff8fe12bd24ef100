//! A row of the activity, in words.

use std::collections::{BTreeSet, HashMap};
use std::str::FromStr;

use serde_json::Value;
use workforce_app::Context;
use workforce_app::agents::AgentView;
use workforce_app::{goals, issues, projects};
use workforce_domain::activity::{Action, Activity, Entity};
use workforce_domain::id::CompanyId;
use workforce_domain::issue::StuckReason;
use workforce_domain::money::Cents;
use workforce_domain::port::Reads;
use workforce_domain::run::RunStatus;
use workforce_domain::string_enum::StringEnum as _;
use workforce_domain::time::Timestamp;

use crate::html::action::{did, in_words};
use crate::html::change::{Changed, Names, changes, short};
use crate::html::deed::actor;
use crate::html::money::Dollars;
use crate::html::people::{Staff, Who};
use crate::html::status::{Pill, why_stuck};
use crate::html::when::{self, Exactly};
use crate::links::Links;
use crate::pages::{Gathered, Told as _};
use crate::shell::Asked;

/// So many changes of one row.
const SHOWN: usize = 4;

/// What kind of thing something was done to.
pub(super) const fn kind(entity: Entity) -> &'static str {
    match entity {
        Entity::Company => "Company",
        Entity::Agent => "Agents",
        Entity::Goal => "Goals",
        Entity::Project => "Projects",
        Entity::Workspace => "Workspaces",
        Entity::Issue => "Issues",
        Entity::Label => "Labels",
        Entity::Approval => "Approvals",
        Entity::CostEvent => "Costs",
        Entity::HeartbeatRun => "Runs",
        Entity::Secret => "Secrets",
    }
}

/// An activity.
pub(super) struct Row {
    pub(super) at: Timestamp,
    pub(super) exact: Exactly,
    pub(super) time: String,
    /// `None` for workforce itself.
    pub(super) who: Option<Who>,
    pub(super) did: String,
    pub(super) object: String,
    /// Empty where there is no page of it.
    pub(super) link: String,
    /// What else there is to say.
    pub(super) beside: String,
    pub(super) changes: Vec<Changed>,
    /// How many more there are.
    pub(super) more: usize,
    pub(super) run: Option<(String, String)>,
}

/// Who and what rows speak of.
pub(super) struct Known {
    links: Links,
    staff: Staff,
    /// The short names of agents.
    keys: HashMap<String, String>,
    names: Names,
}

impl Known {
    pub(super) fn gather(
        reads: &mut dyn Reads,
        ctx: &Context<'_>,
        asked: &Asked,
        company: CompanyId,
        agents: &[AgentView],
        rows: &[Activity],
    ) -> Gathered<Self> {
        let ids = ids_of(rows);
        let projects = projects::names(reads, ctx, company, &parsed(&ids)).told()?;
        let goals = goals::titles(reads, ctx, company, &parsed(&ids)).told()?;
        let issues = issues::titles(reads, ctx, company, &parsed(&ids)).told()?;
        let mut names = Names::new();
        names.extend(agents.iter().map(|view| {
            let agent = &view.agent;
            (agent.id.to_string(), agent.name.to_string())
        }));
        let projects = projects.into_iter();
        names.extend(projects.map(|(id, name)| (id.to_string(), name.to_string())));
        let goals = goals.into_iter();
        names.extend(goals.map(|(id, title)| (id.to_string(), title.to_string())));
        let issues = issues.into_iter();
        names.extend(issues.map(|(id, (key, title))| (id.to_string(), format!("{key} {title}"))));
        let keys = agents.iter().map(|view| {
            let agent = &view.agent;
            (agent.id.to_string(), agent.url_key.clone())
        });
        Ok(Self {
            links: asked.links(),
            staff: Staff::of(agents),
            keys: keys.collect(),
            names,
        })
    }

    pub(super) fn row(&self, activity: &Activity) -> Row {
        let details = Value::from(activity.details.clone());
        let (object, link) = self.object(activity, &details);
        let mut changes = changes(&activity.details, &self.names);
        let more = changes.len().saturating_sub(SHOWN);
        changes.truncate(SHOWN);
        Row {
            at: activity.created_at,
            exact: Exactly(activity.created_at),
            time: when::time_of_day(activity.created_at),
            who: actor(activity, &self.staff),
            did: did(activity.action),
            object,
            link,
            beside: beside(activity.action, &details),
            changes,
            more,
            run: activity.run.map(|run| {
                let id = run.to_string();
                let end = id.get(id.len().saturating_sub(4)..).unwrap_or_default();
                (format!("run {end}"), self.links.run(run))
            }),
        }
    }

    /// What it was done to: its name, and its page.
    fn object(&self, activity: &Activity, details: &Value) -> (String, String) {
        let id = activity.entity_id.as_str();
        let name = self.names.get(id).cloned();
        let text = |key: &str| details.get(key).and_then(Value::as_str);
        let gone = |what: &str, key: &str| match text(key) {
            Some(name) => short(name),
            None => format!("{what} that is gone"),
        };
        match activity.entity {
            Entity::Company => ("the company".to_owned(), self.links.home().to_owned()),
            Entity::Agent => match self.keys.get(id) {
                Some(key) => (name.unwrap_or_default(), self.links.agent(key)),
                None => (gone("an agent", "name"), String::new()),
            },
            Entity::Goal => match name {
                Some(name) => (name, format!("{}/{id}", self.links.goals())),
                None => (gone("a goal", "title"), String::new()),
            },
            Entity::Project => match name {
                Some(name) => (name, format!("{}/{id}", self.links.projects())),
                None => (gone("a project", "name"), String::new()),
            },
            Entity::Workspace => self.of_project(details),
            Entity::Issue => match (name, text("identifier")) {
                (Some(name), Some(key)) => (name, self.links.issue(key)),
                (None, Some(key)) => (format!("{key}, which is gone"), String::new()),
                (name, None) => (name.unwrap_or_else(|| "an issue".to_owned()), String::new()),
            },
            Entity::Label => (
                format!("the label {}", text("name").map_or_else(String::new, short)),
                self.links.settings(),
            ),
            Entity::Approval => {
                let what = text("type").map_or_else(|| "request".to_owned(), in_words);
                (
                    format!("an approval ({what})"),
                    self.links.section(&format!("approvals/{id}")),
                )
            }
            Entity::CostEvent => {
                let model = text("model").map_or_else(String::new, short);
                (format!("a cost of {model}"), self.links.costs())
            }
            Entity::HeartbeatRun => self.run(id, details),
            Entity::Secret => ("a secret".to_owned(), self.links.section("secrets")),
        }
    }

    /// The project of a workspace.
    fn of_project(&self, details: &Value) -> (String, String) {
        let id = details.get("projectId").and_then(Value::as_str);
        match id.and_then(|id| Some((id, self.names.get(id)?))) {
            Some((id, name)) => (
                name.clone(),
                format!("{}/{id}/workspaces", self.links.projects()),
            ),
            None => ("a project that is gone".to_owned(), String::new()),
        }
    }

    /// A run, by its agent and issue.
    fn run(&self, id: &str, details: &Value) -> (String, String) {
        let named = |key: &str| {
            let id = details.get(key).and_then(Value::as_str)?;
            self.names.get(id)
        };
        let agent = named("agentId").map_or("somebody", String::as_str);
        let about = named("issueId").map_or_else(String::new, |issue| format!(" on {issue}"));
        let link = self.links.section(&format!("runs/{id}"));
        (format!("a run of {agent}{about}"), link)
    }
}

/// The ids that rows speak of, or that their changes refer to.
fn ids_of(rows: &[Activity]) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for row in rows {
        ids.insert(row.entity_id.clone());
        row.details
            .values()
            .for_each(|value| add_ids(value, &mut ids));
    }
    ids
}

fn add_ids(value: &Value, ids: &mut BTreeSet<String>) {
    const LENGTH: usize = "00000000-0000-0000-0000-000000000000".len();
    match value {
        Value::String(text) if text.len() == LENGTH => {
            ids.insert(text.clone());
        }
        Value::Array(all) => all.iter().for_each(|one| add_ids(one, ids)),
        Value::Object(all) => all.values().for_each(|one| add_ids(one, ids)),
        _ => {}
    }
}

/// Those that are ids of a kind.
fn parsed<T: FromStr>(ids: &BTreeSet<String>) -> Vec<T> {
    ids.iter().filter_map(|id| id.parse().ok()).collect()
}

/// What the details say beside the changes.
fn beside(action: Action, details: &Value) -> String {
    let text = |key: &str| details.get(key).and_then(Value::as_str);
    match action {
        Action::HeartbeatFinished | Action::HeartbeatCompleted => {
            let status = text("status").and_then(RunStatus::parse);
            let status = status.map_or_else(String::new, |status| {
                Pill::of_run(status).word().to_lowercase()
            });
            match text("errorCode") {
                Some(code) => format!("{status}: {}", in_words(code)),
                None => status,
            }
        }
        Action::CostReported => {
            let cost = text("costCents").and_then(|cost| Cents::parse(cost).ok());
            // One of nothing may as well be of no known amount.
            let known = cost.filter(|cost| *cost > Cents::ZERO);
            known.map_or_else(String::new, |cost| Dollars(cost).to_string())
        }
        Action::IssueReviewed => text("verdict").map_or_else(String::new, in_words),
        Action::IssueStuck => {
            let reason = text("reason").and_then(StuckReason::parse);
            reason.map_or_else(String::new, |reason| why_stuck(reason).to_lowercase())
        }
        Action::WakeLoopSuspected => text("reason").map_or_else(String::new, in_words),
        _ => String::new(),
    }
}
