//! One run: what became of it, what it was told, what it said and did.

mod log;

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::{Context, issues, runs};
use workforce_domain::Document;
use workforce_domain::activity::Activity;
use workforce_domain::agent::AdapterType;
use workforce_domain::id::RunId;
use workforce_domain::lifecycle::Lifecycle as _;
use workforce_domain::port::{Reads, Tx};
use workforce_domain::run::{Run, RunErrorCode, RunStatus};
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use self::log::{Content, Log, Wanted};
use super::runs::{Row, rows, took};
use super::{Gathered, Refused, Told as _, everyone, of};
use crate::answer;
use crate::form::{Filled, Form};
use crate::html::deed::{Deed, cost_of_run};
use crate::html::filters;
use crate::html::money::Dollars;
use crate::html::people::Staff;
use crate::html::size::Size;
use crate::html::transcript::Kind;
use crate::html::when::Ago;
use crate::shell::{Asked, Shell};

/// So many deeds of a run are told.
const DEEDS: usize = 50;

const PATH: &str = "/c/{prefix}/runs/{run}";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, run)
        .post(PATH, Access::Board, act)
        .get(&format!("{PATH}/log"), Access::Board, download)
}

#[derive(Template)]
#[template(path = "pages/run.html")]
struct RunPage {
    shell: Shell,
    found: Found,
    log: Log,
    form: Filled,
}

/// What the store tells of a run.
struct Found {
    link: String,
    verdict: String,
    row: Row,
    adapter: AdapterType,
    run: Run,
    agent_link: String,
    cost: Option<Dollars>,
    queued: Ago,
    ended: Option<Ago>,
    deeds: Vec<(Deed, Ago)>,
    is_live: bool,
}

impl Found {
    /// How its program ended, in words.
    fn exit(&self) -> Option<String> {
        let code = self.run.exit_code.map(|code| code.to_string());
        code.or_else(|| Some(format!("signal {}", self.run.signal?)))
    }

    fn prompt(&self) -> Option<Size> {
        self.run
            .prompt_bytes
            .map(|bytes| Size(bytes.unsigned_abs().into()))
    }

    fn contained(&self) -> Option<String> {
        let words = self.run.containment.as_ref()?;
        Some(words.replace(',', ", ").replace('_', " "))
    }

    const fn session(&self) -> Option<&'static str> {
        match self.run.session_resumed {
            Some(true) => Some("went on with an earlier one"),
            Some(false) => Some("a new one"),
            None => None,
        }
    }
}

/// The run that a page is about.
#[derive(Clone)]
struct About {
    asked: Asked,
    id: Option<RunId>,
}

impl About {
    fn of(visit: &Visit) -> Self {
        Self {
            asked: Asked::of(visit),
            id: visit.parameter("run").parse().ok(),
        }
    }

    /// The run, if it is one of the company in the address.
    fn run(&self, reads: &mut dyn Reads, ctx: &Context<'_>) -> Gathered<Run> {
        let company = self.asked.company(reads, ctx)?;
        let id = self.id.ok_or_else(|| Refused::missing("heartbeat run"))?;
        let run = runs::get_with_log(reads, ctx, id).told()?;
        if run.company == company.id {
            Ok(run)
        } else {
            Err(Refused::missing("heartbeat run"))
        }
    }
}

async fn run(visit: Visit) -> HttpResponse {
    match page(&visit, Filled::blank(&visit)).await {
        Ok(page) => answer::page(&page),
        Err(problem) => answer::refused(&visit, &problem),
    }
}

async fn page(visit: &Visit, form: Filled) -> Result<RunPage, Problem> {
    let about = About::of(visit);
    let look = visit.look(move |reads, ctx| gather(reads, ctx, &about));
    let (shell, found) = look.await?;
    let wanted = Wanted::of(visit);
    let log = Log::read(visit, &found.run, found.adapter, &found.link, &wanted).await?;
    Ok(RunPage {
        shell,
        found,
        log,
        form,
    })
}

fn gather(reads: &mut dyn Reads, ctx: &Context<'_>, about: &About) -> Gathered<(Shell, Found)> {
    let asked = &about.asked;
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let run = about.run(reads, ctx)?;
    let agents = everyone(reads, ctx, company.id, true)?;
    let staff = Staff::of(&agents);
    let links = asked.links();
    let all = rows(reads, ctx, &links, &staff, std::slice::from_ref(&run))?;
    let mut all = all.into_iter();
    let row = all
        .next()
        .ok_or_else(|| Refused::missing("heartbeat run"))?;
    let agent = agents.iter().find(|view| view.agent.id == run.agent);
    let events = runs::events(reads, ctx, run.id, &of(DEEDS)).told()?;
    let names = staff.names();
    let deed = |it: &Activity| {
        (
            Deed::of(it, &staff, &names),
            Ago::new(it.created_at, ctx.now),
        )
    };
    let shell = Shell::gather(reads, ctx, asked, &company, "runs")?;
    let found = Found {
        link: links.run(run.id),
        verdict: verdict(&run, &row, &took(&run, ctx.now)),
        row,
        adapter: agent.map_or(AdapterType::Process, |view| view.agent.adapter_type),
        agent_link: agent.map_or_else(String::new, |view| links.agent(&view.agent.url_key)),
        cost: cost_of_run(&events.items),
        queued: Ago::new(run.created_at, ctx.now),
        ended: run.finished_at.map(|at| Ago::new(at, ctx.now)),
        deeds: events.items.iter().map(deed).collect(),
        is_live: !run.status.is_terminal(),
        run,
    };
    Ok((shell, found))
}

/// What became of a run, as a headline.
fn verdict(run: &Run, row: &Row, took: &str) -> String {
    let name = &row.who.name;
    match (run.status, run.error_code) {
        (RunStatus::Queued, _) => format!("{name} is to start"),
        (RunStatus::Running, _) if run.stop_requested_at.is_some() => {
            format!("{name} is being stopped")
        }
        (RunStatus::Running, _) => format!("{name} has been at work for {took}"),
        (RunStatus::Succeeded, _) => format!("{name} succeeded after {took}"),
        (_, Some(RunErrorCode::BudgetExhausted)) => {
            format!("Stopped: a budget of {name} was used up")
        }
        (RunStatus::Failed, _) if took.is_empty() => format!("{name} could not start"),
        (RunStatus::Failed, _) => format!("{name} failed after {took}"),
        (RunStatus::TimedOut, _) => format!("{name} ran out of time after {took}"),
        (RunStatus::Cancelled, _) => format!("{name} was stopped"),
    }
}

/// The whole log, to be saved.
async fn download(visit: Visit) -> HttpResponse {
    let about = About::of(&visit);
    match visit.look(move |reads, ctx| about.run(reads, ctx)).await {
        Ok(run) => visit.send_run_log(run),
        Err(problem) => answer::refused(&visit, &problem),
    }
}

async fn act(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let problem = match acted(&visit, &form).await {
        Ok(place) => return answer::lead_to(&place),
        Err(problem) => problem,
    };
    match page(&visit, Filled::refused(form, &problem, &visit)).await {
        Ok(page) => answer::with_status(problem.status(), &page),
        Err(problem) => answer::refused(&visit, &problem),
    }
}

/// Stops the run, or asks for another one of the same agent about the same issue. Leads to the
/// run that there is then.
async fn acted(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let about = About::of(visit);
    let links = about.asked.links();
    let is_again = form.text("deed") == "again";
    let done = visit.act(
        form.key(),
        about,
        move |tx, ctx, about: &About| {
            let run = about.run(tx.reads(), ctx)?;
            if is_again {
                again(tx, ctx, &run)
            } else {
                runs::cancel(tx, ctx, run.id).told()
            }
        },
        move |run: Run| links.run(run.id),
    );
    done.await
}

fn again(tx: &mut dyn Tx, ctx: &Context<'_>, run: &Run) -> Gathered<Run> {
    if let Some(id) = run.issue {
        let found = issues::get(tx.reads(), ctx, &id.into()).told()?;
        let issue = found.view.issue;
        // Somebody else may have it by now.
        if issue.assignee.agent() == Some(run.agent)
            && let Some(asked) = runs::invoke_about(tx, ctx, &issue).told()?
        {
            return Ok(asked.run);
        }
    }
    let asked = runs::invoke(tx, ctx, run.agent, Document::new()).told()?;
    Ok(asked.run)
}
