//! A company at a glance: what needs a person, who works, what is stuck, what it costs.

use std::collections::{HashMap, HashSet};

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::agents::AgentView;
use workforce_app::attention::{self, Need, NeedKind};
use workforce_app::{Context, companies, dashboard, issues, runs};
use workforce_domain::agent::AgentStatus;
use workforce_domain::budget::BudgetBasis;
use workforce_domain::company::PauseReason;
use workforce_domain::dashboard::TaskFigures;
use workforce_domain::id::{AgentId, CompanyId, IssueId};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{Reads, RunFilter};
use workforce_domain::run::{Run, RunStatus};
use workforce_domain::time::Timestamp;
use workforce_http::door::{Access, Pages, Visit};

use super::approvals::names_of_needs;
use super::{Gathered, Told as _, everyone, of, show};
use crate::html::filters;
use crate::html::lane::Lane;
use crate::html::meter::Meter;
use crate::html::need::Row;
use crate::html::people::{Staff, Who};
use crate::html::status::why_stuck;
use crate::html::steps::Steps;
use crate::html::when::{self, Ago};
use crate::links::Links;
use crate::shell::{Asked, Shell};

/// So many runs are drawn in the shift.
const DRAWN: usize = 200;

/// So many rows of what needs a person, and of what is stuck.
const SHOWN: usize = 5;

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/c/{prefix}", Access::Board, home)
}

struct Stuck {
    key: String,
    title: String,
    link: String,
    why: &'static str,
    since: Ago,
}

impl Stuck {
    fn of(need: &Need, links: &Links, now: Timestamp) -> Option<Self> {
        let Need::Stuck(stuck) = need else {
            return None;
        };
        Some(Self {
            key: stuck.identifier.clone(),
            title: stuck.title.to_string(),
            link: links.issue(&stuck.identifier),
            why: why_stuck(stuck.reason),
            since: Ago::new(stuck.since, now),
        })
    }
}

/// An agent in the shift.
struct Worker {
    who: Who,
    /// What it works on, with the link and since when.
    work: Option<(String, String, Ago)>,
    /// Why it does nothing else, and the colour of who ends that.
    idle: (&'static str, &'static str),
    lane: Lane,
    meter: Meter,
}

#[derive(Template)]
#[template(path = "pages/home.html")]
struct HomePage {
    shell: Shell,
    /// The step of the beginning that comes next.
    step: Option<Steps>,
    day: String,
    month: String,
    running: i64,
    agents: i64,
    queued: i64,
    open: i64,
    meter: Meter,
    needs: Vec<Row>,
    stuck_issues: Vec<Stuck>,
    workers: Vec<Worker>,
    hours: Vec<String>,
}

async fn home(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    show(&visit, move |reads, ctx| gather(reads, ctx, &asked)).await
}

fn gather(reads: &mut dyn Reads, ctx: &Context<'_>, asked: &Asked) -> Gathered<HomePage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let shell = Shell::gather(reads, ctx, asked, &company, "")?;
    let id = company.id;
    let spend = companies::get(reads, ctx, id).told()?.spend;
    let figures = dashboard::figures(reads, ctx, id).told()?;
    let agents = everyone(reads, ctx, id, false)?;
    let employed = agents.iter().map(|view| view.agent.clone());
    let needs = attention::list_beside(reads, ctx, id, employed).told()?;
    let live = RunFilter {
        statuses: vec![RunStatus::Running],
        ..RunFilter::default()
    };
    let live = runs::list(reads, ctx, id, &live, &PageRequest::first()).told()?;
    let last = runs::list(reads, ctx, id, &RunFilter::default(), &of(DRAWN)).told()?;
    let shift = Shift::gather(reads, ctx, id, &live.items, &last.items)?;
    let links = asked.links();
    let staff = Staff::of(&agents);
    let names = names_of_needs(reads, ctx, id, &needs)?;
    Ok(HomePage {
        step: next_step(&agents, figures.tasks),
        day: when::day(ctx.now),
        month: when::month(ctx.now),
        running: figures.agents.running,
        agents: i64::try_from(agents.len()).unwrap_or(i64::MAX),
        queued: figures.queue_depth,
        open: figures.tasks.open,
        meter: Meter::new(spend, company.budget, company.budget_basis),
        // What is stuck stands beside it.
        needs: needs
            .iter()
            .filter(|need| need.kind() != NeedKind::Stuck)
            .take(SHOWN)
            .map(|need| Row::new(ctx, &links, &staff, &names, need))
            .collect(),
        stuck_issues: needs
            .iter()
            .filter_map(|need| Stuck::of(need, &links, ctx.now))
            .take(SHOWN)
            .collect(),
        workers: agents
            .iter()
            .map(|view| shift.worker(ctx, &links, view, company.budget_basis))
            .collect(),
        hours: Lane::hours(ctx.now),
        shell,
    })
}

/// A company begins with an agent, and an issue for it.
const fn next_step(agents: &[AgentView], issues: TaskFigures) -> Option<Steps> {
    if agents.is_empty() {
        Some(Steps::AGENT)
    } else if issues.open == 0 && issues.done == 0 {
        Some(Steps::ISSUE)
    } else {
        None
    }
}

/// The runs of the last hours, live ones above all, and what their issues are called.
struct Shift<'a> {
    live: &'a [Run],
    last: &'a [Run],
    titles: HashMap<IssueId, (String, String)>,
}

impl<'a> Shift<'a> {
    fn gather(
        reads: &mut dyn Reads,
        ctx: &Context<'_>,
        company: CompanyId,
        live: &'a [Run],
        last: &'a [Run],
    ) -> Gathered<Self> {
        let about = live.iter().chain(last).filter_map(|run| run.issue);
        let about: Vec<IssueId> = about.collect::<HashSet<_>>().into_iter().collect();
        let titles = issues::titles(reads, ctx, company, &about).told()?;
        Ok(Self { live, last, titles })
    }

    fn issue(&self, run: &Run) -> Option<&(String, String)> {
        self.titles.get(&run.issue?)
    }

    /// What an agent works on, with the link and since when.
    fn work(&self, agent: AgentId, links: &Links, now: Timestamp) -> Option<(String, String, Ago)> {
        let run = self.live.iter().find(|run| run.agent == agent)?;
        let since = Ago::new(run.started_at.unwrap_or(run.created_at), now);
        Some(match self.issue(run) {
            Some((key, title)) => (format!("{key} {title}"), links.issue(key), since),
            None => ("A heartbeat".to_owned(), links.run(run.id), since),
        })
    }

    fn lane(&self, agent: AgentId, now: Timestamp) -> Lane {
        let own = self.last.iter().filter(|run| run.agent == agent);
        let key = |run| self.issue(run).map(|(key, _)| key.as_str());
        Lane::new(own.map(|run| (run, key(run))), now)
    }

    fn worker(
        &self,
        ctx: &Context<'_>,
        links: &Links,
        view: &AgentView,
        basis: BudgetBasis,
    ) -> Worker {
        let agent = view.agent.id;
        Worker {
            who: Who::agent(view),
            idle: idle(view),
            work: self.work(agent, links, ctx.now),
            lane: self.lane(agent, ctx.now),
            meter: Meter::new(view.spend, view.agent.budget, basis),
        }
    }
}

const fn idle(view: &AgentView) -> (&'static str, &'static str) {
    match view.status {
        AgentStatus::PendingApproval => ("Waits for your approval", "c-you"),
        AgentStatus::Terminated => ("Terminated", "dim"),
        AgentStatus::Error => ("Its last runs failed", "c-bad"),
        AgentStatus::Paused => match view.agent.lifecycle.paused() {
            Some(pause) if matches!(pause.reason, PauseReason::Budget) => {
                ("Stopped by its budget", "c-you")
            }
            _ => ("Paused", "dim"),
        },
        AgentStatus::Active | AgentStatus::Idle | AgentStatus::Running => ("Nothing to do", "dim"),
    }
}
