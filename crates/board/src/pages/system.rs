//! How the server is.

use actix_web::HttpResponse;
use askama::Template;
use workforce_domain::run::StartCondition;
use workforce_http::door::{Access, Pages, System, Visit};
use workforce_http::problem::entry;

use crate::answer;
use crate::html::filters;
use crate::html::when::{Ago, span};
use crate::look::Look;

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/system", Access::Board, page)
}

/// Why the server cannot do its work.
struct Unready {
    detail: String,
    advice: &'static str,
}

/// What goes on in all companies.
struct Work {
    companies: i64,
    live_runs: i64,
    pending_wakes: i64,
    approvals: i64,
    stuck: i64,
    /// What wakes wait for, in words, and how many.
    waiting: Vec<(&'static str, i64)>,
}

#[derive(Template)]
#[template(path = "pages/system.html")]
struct SystemPage {
    look: Look,
    unready: Option<Unready>,
    looked: Option<Ago>,
    work: Option<Work>,
    /// As many runs may be live on this server.
    cap: Option<i64>,
    streams: usize,
    waiting_requests: usize,
    database: &'static str,
    /// Connections in use, and how many there may be.
    connections: Option<(u32, u32)>,
    /// Parts that were started again, and how often.
    restarts: Vec<(&'static str, u64)>,
    uptime: String,
    version: &'static str,
}

async fn page(visit: Visit) -> HttpResponse {
    match visit.system().await {
        Ok(system) => answer::page(&put_together(&visit, &system)),
        Err(problem) => answer::refused(&visit, &problem),
    }
}

fn put_together(visit: &Visit, system: &System) -> SystemPage {
    let uptime = i64::try_from(system.uptime.as_micros()).unwrap_or(i64::MAX);
    let restarted = system.tasks.iter().filter(|(_, restarts)| *restarts > 0);
    SystemPage {
        look: Look::of(visit),
        unready: system.unready.as_ref().map(|problem| Unready {
            detail: problem.detail().to_owned(),
            advice: entry(problem.code()).advice,
        }),
        looked: system.last_look.map(|at| Ago::new(at, visit.now())),
        work: system.figures.as_ref().map(|figures| Work {
            companies: figures.companies,
            live_runs: figures.live_runs,
            pending_wakes: figures.pending_wakes,
            approvals: sum(&figures.waiting_approvals),
            stuck: sum(&figures.stuck_issues),
            waiting: figures
                .queued_wakes
                .iter()
                .map(|(condition, count)| (in_words(*condition), *count))
                .collect(),
        }),
        cap: Some(system.cap).filter(|cap| *cap < i64::MAX),
        streams: system.open_streams,
        waiting_requests: system.waiting_requests,
        database: match system.is_one_file {
            true => "SQLite",
            false => "PostgreSQL",
        },
        connections: system
            .connections
            .map(|pool| (pool.open.saturating_sub(pool.idle), pool.most)),
        restarts: restarted.copied().collect(),
        uptime: span(uptime),
        version: system.version,
    }
}

fn sum<W>(counts: &[(W, i64)]) -> i64 {
    counts.iter().map(|(_, count)| count).sum()
}

/// What a wake waits for.
const fn in_words(condition: Option<StartCondition>) -> &'static str {
    match condition {
        None => "about to start",
        Some(StartCondition::NotBefore) => "for their time",
        Some(StartCondition::AgentBackoff) => "after failures",
        Some(StartCondition::ProviderGate) => "for the provider",
        Some(StartCondition::AgentNotEmployed) => "for approval of the agent",
        Some(StartCondition::AgentPaused) => "for a paused agent",
        Some(StartCondition::CompanyNotActive) => "for a paused company",
        Some(StartCondition::BudgetAgent) => "for the budget of the agent",
        Some(StartCondition::BudgetCompany) => "for the budget of the company",
        Some(StartCondition::BudgetProject) => "for the budget of the project",
        Some(StartCondition::CapInstance) => "for room on the server",
        Some(StartCondition::CapCompany) => "for room in the company",
        Some(StartCondition::CapAgent) => "for the agent’s live run",
        Some(StartCondition::IssueEnded) => "with an ended issue",
        Some(StartCondition::IssueHasLiveRun) => "for another run on the issue",
        Some(StartCondition::WorkspaceBusy) => "for the worktree",
        Some(StartCondition::ApprovalPending) => "for a decision on the plan",
        Some(StartCondition::LeaseHeld) => "for whoever holds the issue",
    }
}
