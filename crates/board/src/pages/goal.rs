//! One goal: what is to be reached, what serves it, and how far that has come.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::goals::{self as app_goals, UpdateGoal};
use workforce_app::{Context, issues};
use workforce_domain::company::Company;
use workforce_domain::goal::Goal;
use workforce_domain::id::GoalId;
use workforce_domain::port::{IssueFilter, Reads, Tx};
use workforce_domain::string_enum::StringEnum as _;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::goals::tree::Tree;
use super::goals::{Choices, Row, all, level_in_words};
use super::{Gathered, Refused, Told as _, everyone, form_answered, of, show};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::markdown::Prose;
use crate::html::people::{Staff, Who};
use crate::html::progress::Progress;
use crate::html::status::Pill;
use crate::html::when::Ago;
use crate::shell::{Asked, Shell};

const PATH: &str = "/c/{prefix}/goals/{goal}";

/// So many of its issues.
const SHOWN: usize = 50;

const CHANGED: &[(&str, Kind)] = &[
    ("title", Kind::Text),
    ("description", Kind::OrNull),
    ("level", Kind::Text),
    ("status", Kind::Text),
    ("parentId", Kind::OrNull),
    ("ownerAgentId", Kind::OrNull),
];

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, page)
        .post(PATH, Access::Board, change)
}

struct Issue {
    pill: Pill,
    key: String,
    title: String,
    link: String,
}

#[derive(Template)]
#[template(path = "pages/goal.html")]
struct GoalPage {
    shell: Shell,
    link: String,
    title: String,
    pill: Pill,
    level: &'static str,
    description: Option<Prose>,
    parent: Option<(String, String)>,
    owner: Option<Who>,
    progress: Progress,
    rows: Vec<Row>,
    issues: Vec<Issue>,
    is_cut: bool,
    all_issues: String,
    made: Ago,
    changed: Ago,
    below: String,
    form: Filled,
    choices: Choices,
}

/// The goal that a page is about.
#[derive(Clone)]
struct About {
    asked: Asked,
    goal: Option<GoalId>,
}

impl About {
    fn of(visit: &Visit) -> Self {
        Self {
            asked: Asked::of(visit),
            goal: visit.parameter("goal").parse().ok(),
        }
    }

    /// The company in the address, and the goal if it is one of that.
    fn find(&self, reads: &mut dyn Reads, ctx: &Context<'_>) -> Gathered<(Company, Goal)> {
        let company = self.asked.company(reads, ctx)?;
        let id = self.goal.ok_or_else(|| Refused::missing("goal"))?;
        let goal = app_goals::get(reads, ctx, id).told()?;
        if goal.company == company.id {
            Ok((company, goal))
        } else {
            Err(Refused::missing("goal"))
        }
    }
}

async fn page(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    form: &Filled,
) -> Gathered<GoalPage> {
    let asked = &about.asked;
    let (company, goal) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let (goals, tallies) = all(reads, ctx, id)?;
    let tree = Tree::of(&goals, &tallies);
    let around = tree.around(goal.id);
    let agents = everyone(reads, ctx, id, true)?;
    let staff = Staff::of(&agents);
    let own = IssueFilter {
        goal: Some(goal.id),
        ..IssueFilter::default()
    };
    let found = issues::list(reads, ctx, id, &own, &of(SHOWN)).told()?;
    let links = asked.links();
    let parent = goal.parent.and_then(|id| tree.around(id));
    let (progress, children) = around
        .map(|(node, below)| (node.tally, below))
        .unwrap_or_default();
    Ok(GoalPage {
        link: links.goal(goal.id),
        title: goal.title.to_string(),
        pill: Pill::of_goal(goal.status),
        level: level_in_words(goal.level),
        description: goal.description.as_ref().map(|text| Prose::new(text)),
        parent: parent.map(|(node, _)| (node.goal.title.to_string(), links.goal(node.goal.id))),
        owner: goal.owner_agent.map(|owner| staff.agent(owner)),
        progress: Progress::of(progress),
        rows: children
            .into_iter()
            .take(SHOWN)
            .map(|node| Row {
                depth: 0,
                level: 1,
                ..Row::of(asked, &staff, node)
            })
            .collect(),
        is_cut: found.next.is_some(),
        all_issues: format!("{}?goal={}", links.issues(), goal.id),
        issues: found
            .items
            .iter()
            .map(|view| Issue {
                pill: Pill::of_issue(view.issue.status()),
                key: view.issue.identifier.clone(),
                title: view.issue.title.to_string(),
                link: links.issue(&view.issue.identifier),
            })
            .collect(),
        made: Ago::new(goal.created_at, ctx.now),
        changed: Ago::new(goal.updated_at, ctx.now),
        below: format!("{}?below={}#new", links.goals(), goal.id),
        form: form.clone().showing(&present(&goal)),
        choices: Choices::of(&agents, &tree, Some(goal.id)),
        shell: Shell::gather(reads, ctx, asked, &company, "goals")?,
    })
}

/// What the fields of the form are now.
fn present(goal: &Goal) -> [(&'static str, String); 6] {
    let text = |text: Option<String>| text.unwrap_or_default();
    let description = goal.description.as_ref().map(ToString::to_string);
    [
        ("title", goal.title.to_string()),
        ("description", text(description)),
        ("level", goal.level.as_str().to_owned()),
        ("status", goal.status.as_str().to_owned()),
        ("parentId", text(goal.parent.map(|id| id.to_string()))),
        (
            "ownerAgentId",
            text(goal.owner_agent.map(|id| id.to_string())),
        ),
    ]
}

async fn change(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = changed(&visit, &form).await;
    let about = About::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &about, filled)
    })
    .await
}

async fn changed(visit: &Visit, form: &Form) -> Result<String, Problem> {
    // Nothing to change is the end of it.
    let command: Option<UpdateGoal> = match form.text("deed") {
        "delete" => None,
        _ => Some(form.command(CHANGED)?),
    };
    let about = About::of(visit);
    let links = about.asked.links();
    let place = match (&command, about.goal) {
        (Some(_), Some(goal)) => links.goal(goal),
        _ => links.goals(),
    };
    let done = visit.act(form.key(), (about, command), carry_out, move |()| {
        place.clone()
    });
    done.await
}

fn carry_out(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    (about, command): &(About, Option<UpdateGoal>),
) -> Gathered<()> {
    let (_, goal) = about.find(tx.reads(), ctx)?;
    match command {
        Some(command) => app_goals::update(tx, ctx, goal.id, command.clone())
            .told()
            .map(drop),
        None => app_goals::delete(tx, ctx, goal.id).told(),
    }
}
