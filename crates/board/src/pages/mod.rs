//! The pages, each in a file: what it looks for, and what it shows.

mod activity;
mod agent;
mod agent_form;
mod agents;
mod approval;
mod approvals;
mod companies;
mod conventions;
mod costs;
mod goal;
mod goals;
mod home;
mod inbox;
mod issue;
mod issues;
mod labels;
pub(crate) mod login;
mod new_agent;
mod new_issue;
mod new_project;
mod org;
mod project;
mod projects;
mod run;
mod runs;
mod search;
mod secret;
mod secrets;
mod server_settings;
mod settings;
mod show_me;
mod stop;
mod system;
mod workspaces;

pub(crate) use agent_form::{label, program_word};

use actix_web::HttpResponse;
use askama::Template;
use serde_json::Value;
use workforce_app::agents::{self as app_agents, AgentView, ListAgents};
use workforce_app::{Code, Context, Failure, Refusal};
use workforce_domain::id::CompanyId;
use workforce_domain::page::PageRequest;
use workforce_domain::port::Reads;
use workforce_http::door::{Pages, Visit};
use workforce_http::problem::Problem;

use crate::form::{Filled, Form};
use crate::{answer, look};

pub(crate) fn register(pages: Pages) -> Pages {
    let pages = look::register(pages).events("/live/{companyId}");
    let pages = login::register(pages);
    let pages = companies::register(pages);
    let pages = server_settings::register(pages);
    let pages = system::register(pages);
    let pages = home::register(pages);
    let pages = inbox::register(pages);
    let pages = issues::register(pages);
    let pages = new_issue::register(pages);
    let pages = issue::register(pages);
    let pages = approvals::register(pages);
    let pages = approval::register(pages);
    let pages = runs::register(pages);
    let pages = stop::register(search::register(show_me::register(pages)));
    let pages = run::register(pages);
    let pages = agents::register(pages);
    let pages = agent::register(pages);
    let pages = new_agent::register(pages);
    let pages = projects::register(pages);
    let pages = new_project::register(pages);
    let pages = project::register(pages);
    let pages = workspaces::register(pages);
    let pages = conventions::register(pages);
    let pages = goals::register(pages);
    let pages = goal::register(pages);
    let pages = costs::register(pages);
    let pages = activity::register(pages);
    let pages = labels::register(pages);
    let pages = settings::register(pages);
    let pages = secrets::register(pages);
    secret::register(pages)
}

/// Why a page has nothing to show.
#[derive(Debug)]
pub(crate) struct Refused {
    code: Code,
    message: String,
    details: Option<Value>,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

impl Refusal for Refused {
    fn code(&self) -> Code {
        self.code
    }

    fn details(&self) -> Option<Value> {
        self.details.clone()
    }
}

impl Refused {
    /// What a form of ours was refused for.
    pub(crate) fn because(problem: &Problem) -> Failure<Self> {
        Failure::Refused(Self {
            code: problem.code(),
            message: problem.detail().to_owned(),
            details: problem.details().cloned(),
        })
    }

    /// Something that the address names and that is not there.
    pub(crate) fn missing(what: &str) -> Failure<Self> {
        Failure::Refused(Self {
            code: Code::NotFound,
            message: format!("no such {what}"),
            details: None,
        })
    }
}

/// What a look at the store led to.
pub(crate) type Gathered<T> = Result<T, Failure<Refused>>;

/// Makes one refusal of those of all use cases.
pub(crate) trait Told<T> {
    fn told(self) -> Gathered<T>;
}

impl<T, E: Refusal> Told<T> for Result<T, Failure<E>> {
    fn told(self) -> Gathered<T> {
        self.map_err(|failure| {
            failure.map(|refusal| Refused {
                code: refusal.code(),
                message: refusal.to_string(),
                details: refusal.details(),
            })
        })
    }
}

/// The first page of a list, with so many rows.
pub(crate) const fn of<K>(rows: usize) -> PageRequest<K> {
    PageRequest {
        after: None,
        limit: rows,
        max_bytes: PageRequest::<K>::MAX_BYTES,
    }
}

/// All agents of a company; those that are gone too, where somebody may be named who left.
fn everyone(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    include_terminated: bool,
) -> Gathered<Vec<AgentView>> {
    let wanted = ListAgents {
        statuses: Vec::new(),
        include_terminated,
    };
    let page = app_agents::list(reads, ctx, company, &wanted, &PageRequest::first()).told()?;
    Ok(page.items)
}

/// Leads to where a form was meant to lead, or shows its page again with what was typed and why it
/// was refused.
async fn form_answered<P: Template + Send + 'static>(
    visit: &Visit,
    form: Form,
    done: Result<String, Problem>,
    gather: impl Fn(&mut dyn Reads, &Context<'_>, &Filled) -> Gathered<P> + Send + 'static,
) -> HttpResponse {
    led_or_shown(visit, done, async move |problem| {
        let filled = Filled::refused(form, problem, visit);
        visit
            .look(move |reads, ctx| gather(reads, ctx, &filled))
            .await
    })
    .await
}

/// Leads to where a form was meant to lead, or shows the page that says why it was refused.
async fn led_or_shown<P: Template>(
    visit: &Visit,
    done: Result<String, Problem>,
    page: impl AsyncFnOnce(&Problem) -> Result<P, Problem>,
) -> HttpResponse {
    let problem = match done {
        Ok(place) => return answer::lead_to(&place),
        Err(problem) => problem,
    };
    match page(&problem).await {
        Ok(page) => answer::with_status(problem.status(), &page),
        Err(problem) => answer::refused(visit, &problem),
    }
}

/// Looks at the store and shows what was found.
async fn show<P: Template + Send + 'static>(
    visit: &Visit,
    gather: impl Fn(&mut dyn Reads, &Context<'_>) -> Gathered<P> + Send + 'static,
) -> HttpResponse {
    match visit.look(gather).await {
        Ok(page) => answer::page(&page),
        Err(problem) => answer::refused(visit, &problem),
    }
}
