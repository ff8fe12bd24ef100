//! The goals of a company, each below the one it serves, and the form that makes one.

pub(super) mod tree;

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::agents::AgentView;
use workforce_app::goals::{self, CreateGoal};
use workforce_app::{Context, issues};
use workforce_domain::goal::{Goal, GoalLevel, GoalStatus};
use workforce_domain::id::{CompanyId, GoalId};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Reads, Tx};
use workforce_domain::string_enum::StringEnum as _;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::new_issue::colleagues;
use super::new_project::Choice;
use super::{Gathered, Told as _, everyone, form_answered, show};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::people::{Staff, Who};
use crate::html::progress::Progress;
use crate::html::status::Pill;
use crate::shell::{Asked, Shell};
use tree::{Node, Tree};

const PATH: &str = "/c/{prefix}/goals";

/// So many rows.
const ROWS: usize = 50;

const FIELDS: &[(&str, Kind)] = &[
    ("title", Kind::Text),
    ("description", Kind::Text),
    ("level", Kind::Text),
    ("status", Kind::Text),
    ("parentId", Kind::Text),
    ("ownerAgentId", Kind::Text),
];

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, page)
        .post(PATH, Access::Board, make)
}

/// What the address says of the list.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Query {
    /// How many rows come before the first that is shown.
    skip: usize,
    /// The goal that a new one is to serve.
    below: String,
}

/// What the fields of a goal can be.
pub(super) struct Choices {
    pub(super) statuses: Vec<Choice>,
    pub(super) levels: Vec<Choice>,
    pub(super) owners: Vec<Choice>,
    pub(super) parents: Vec<Choice>,
}

impl Choices {
    /// The choices, of which `without` and what is below it is no parent.
    pub(super) fn of(agents: &[AgentView], tree: &Tree<'_>, without: Option<GoalId>) -> Self {
        let owners = colleagues(agents).into_iter();
        let status = |status: &GoalStatus| choice(status.as_str(), Pill::of_goal(*status).word());
        let level = |level: &GoalLevel| choice(level.as_str(), level_in_words(*level));
        Self {
            statuses: GoalStatus::ALL.iter().map(status).collect(),
            levels: GoalLevel::ALL.iter().map(level).collect(),
            owners: owners
                .map(|agent| (agent.id, format!("{}, {}", agent.name, agent.role)))
                .collect(),
            parents: tree
                .without(without)
                .map(|node| (node.goal.id.to_string(), node.indented()))
                .collect(),
        }
    }
}

fn choice(value: &str, word: &str) -> Choice {
    (value.to_owned(), word.to_owned())
}

pub(super) const fn level_in_words(level: GoalLevel) -> &'static str {
    match level {
        GoalLevel::Company => "The company",
        GoalLevel::Team => "A team",
        GoalLevel::Agent => "An agent",
        GoalLevel::Task => "A piece of work",
    }
}

pub(super) struct Row {
    pub(super) title: String,
    pub(super) link: String,
    /// How far it is indented, at most six steps.
    pub(super) depth: usize,
    pub(super) level: usize,
    pub(super) pill: Pill,
    pub(super) owner: Option<Who>,
    pub(super) progress: Progress,
}

impl Row {
    pub(super) fn of(asked: &Asked, staff: &Staff, node: &Node<'_>) -> Self {
        let goal = node.goal;
        Self {
            title: goal.title.to_string(),
            link: asked.links().goal(goal.id),
            depth: node.depth.min(6),
            level: node.depth + 1,
            pill: Pill::of_goal(goal.status),
            owner: goal.owner_agent.map(|owner| staff.agent(owner)),
            progress: Progress::of(node.tally),
        }
    }
}

#[derive(Template)]
#[template(path = "pages/goals.html")]
struct GoalsPage {
    shell: Shell,
    rows: Vec<Row>,
    is_first: bool,
    next: Option<String>,
    form: Filled,
    choices: Choices,
}

/// All goals, and how far the issues of each have come.
pub(super) fn all(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
) -> Gathered<(Vec<Goal>, tree::Tallies)> {
    let goals = goals::list(reads, ctx, company, &PageRequest::first()).told()?;
    let tallies = issues::count_by_goal(reads, ctx, company).told()?;
    Ok((goals.items, tallies.into_iter().collect()))
}

async fn page(visit: Visit) -> HttpResponse {
    let (asked, form) = (Asked::of(&visit), Filled::blank(&visit));
    let query: Query = serde_html_form::from_str(visit.query()).unwrap_or_default();
    show(&visit, move |reads, ctx| {
        gather(reads, ctx, &asked, &query, &form)
    })
    .await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    query: &Query,
    form: &Filled,
) -> Gathered<GoalsPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let (goals, tallies) = all(reads, ctx, id)?;
    let tree = Tree::of(&goals, &tallies);
    let agents = everyone(reads, ctx, id, true)?;
    let staff = Staff::of(&agents);
    let shown = tree.nodes().iter().skip(query.skip).take(ROWS);
    let after = query.skip.saturating_add(ROWS);
    Ok(GoalsPage {
        rows: shown.map(|node| Row::of(asked, &staff, node)).collect(),
        is_first: query.skip == 0,
        next: (after < goals.len()).then(|| format!("{}?skip={after}", asked.links().goals())),
        form: form.clone().showing(&[
            ("parentId", query.below.clone()),
            ("level", GoalLevel::Task.as_str().to_owned()),
        ]),
        choices: Choices::of(&agents, &tree, None),
        shell: Shell::gather(reads, ctx, asked, &company, "goals")?,
    })
}

async fn make(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = made(&visit, &form).await;
    let (asked, query) = (Asked::of(&visit), Query::default());
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &asked, &query, filled)
    })
    .await
}

async fn made(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let command: CreateGoal = form.command(FIELDS)?;
    let asked = Asked::of(visit);
    let place = asked.links().goals();
    let done = visit.act(
        form.key(),
        (asked, command),
        |tx: &mut dyn Tx, ctx, (asked, command): &(Asked, CreateGoal)| {
            let company = asked.company(tx.reads(), ctx)?.id;
            goals::create(tx, ctx, company, command.clone())
                .told()
                .map(drop)
        },
        move |()| place.clone(),
    );
    done.await
}
