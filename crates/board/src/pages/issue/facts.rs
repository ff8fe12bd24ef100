//! What can be chosen for an issue.

use workforce_app::issues::IssueDetail;
use workforce_app::{Context, goals, labels, projects};
use workforce_domain::id::CompanyId;
use workforce_domain::issue::{IssueStatus, Priority};
use workforce_domain::lifecycle::Lifecycle as _;
use workforce_domain::port::Reads;
use workforce_domain::string_enum::StringEnum as _;

use crate::html::status::{of_priority, word};
use crate::pages::{Gathered, Told as _, of};

/// So many projects, goals and labels are offered.
const OFFERED: usize = 200;

/// A value that can be chosen, with its word.
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) word: String,
    pub(super) is_chosen: bool,
}

/// The choices of the form with the facts of an issue.
pub(super) struct Choices {
    pub(super) statuses: Vec<Choice>,
    pub(super) priorities: Vec<Choice>,
    pub(super) projects: Vec<Choice>,
    pub(super) goals: Vec<Choice>,
    pub(super) labels: Vec<Choice>,
}

impl Choices {
    /// What is called how, by id.
    pub(super) fn names(&self) -> impl Iterator<Item = (String, String)> {
        let all = [&self.projects, &self.goals, &self.labels];
        let each = all.into_iter().flatten();
        each.map(|choice| (choice.value.to_string(), choice.word.to_string()))
    }

    pub(super) fn gather(
        reads: &mut dyn Reads,
        ctx: &Context<'_>,
        company: CompanyId,
        detail: &IssueDetail,
    ) -> Gathered<Self> {
        let issue = &detail.view.issue;
        let projects = projects::list_bare(reads, ctx, company, &of(OFFERED)).told()?;
        let goals = goals::list(reads, ctx, company, &of(OFFERED)).told()?;
        let labels = labels::list(reads, ctx, company, &of(OFFERED)).told()?;
        let project = |project: &workforce_domain::project::Project| Choice {
            value: project.id.to_string(),
            word: project.name.to_string(),
            is_chosen: issue.project == Some(project.id),
        };
        let goal = |goal: &workforce_domain::goal::Goal| Choice {
            value: goal.id.to_string(),
            word: goal.title.to_string(),
            is_chosen: issue.goal == Some(goal.id),
        };
        let label = |label: &workforce_domain::label::IssueLabel| Choice {
            value: label.id.to_string(),
            word: label.name.to_string(),
            is_chosen: detail.view.labels.iter().any(|it| it.id == label.id),
        };
        Ok(Self {
            statuses: statuses(issue.status()),
            priorities: Priority::ALL
                .iter()
                .map(|priority| Choice {
                    value: priority.to_string(),
                    word: of_priority(*priority).to_owned(),
                    is_chosen: *priority == issue.priority,
                })
                .collect(),
            projects: projects.items.iter().map(project).collect(),
            goals: goals.items.iter().map(goal).collect(),
            labels: labels.items.iter().map(label).collect(),
        })
    }
}

/// The present status and those that may follow.
fn statuses(present: IssueStatus) -> Vec<Choice> {
    let may = IssueStatus::ALL
        .iter()
        .filter(|status| **status == present || present.successors().contains(status));
    may.map(|status| Choice {
        value: status.to_string(),
        word: word(*status).to_owned(),
        is_chosen: *status == present,
    })
    .collect()
}
