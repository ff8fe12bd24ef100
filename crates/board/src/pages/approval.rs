//! One approval: what it asks for, what changed of it, what deserves a second look, and the
//! decision.

mod decision;
pub(crate) mod work;

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::approvals::{self, ApprovalError, ApprovalView};
use workforce_app::tickets::{self, WorktreeView};
use workforce_app::{Context, Failure};
use workforce_domain::actor::ActorKind;
use workforce_domain::approval::{Approval, ApprovalEvent, ApprovalStatus, ExecutionStepRecord};
use workforce_domain::company::Company;
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId};
use workforce_domain::issue::IssueRef;
use workforce_domain::page::Order;
use workforce_domain::port::Reads;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use self::work::{Repository, Work};
use super::{Gathered, Refused, Told as _, everyone, led_or_shown, of};
use crate::answer;
use crate::form::{Filled, Form};
use crate::html::approval::{Part, kind, names, parts, subject};
use crate::html::changes::{self, Changed, How};
use crate::html::filters;
use crate::html::markdown::Prose;
use crate::html::people::{Staff, Who};
use crate::html::status::Pill;
use crate::html::when::Ago;
use crate::shell::{Asked, Shell};

const PATH: &str = "/c/{prefix}/approvals/{approval}";

/// So many entries of the history and comments are shown.
const SHOWN: usize = 50;

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, approval)
        .post(PATH, Access::Board, decision::decide)
        .post(&format!("{PATH}/comments"), Access::Board, decision::say)
        .post(
            &format!("{PATH}/resubmit"),
            Access::Board,
            decision::resubmit,
        )
}

/// A comment on an approval.
struct Comment {
    who: Option<Who>,
    text: Prose,
    at: Ago,
}

/// Something that happened to it.
struct Event {
    words: String,
    /// Who did it.
    by: String,
    note: Option<String>,
    at: Ago,
}

#[derive(Template)]
#[template(path = "pages/approval.html")]
struct ApprovalPage {
    shell: Shell,
    found: Found,
    repositories: Vec<Repository>,
    work: Option<Work>,
    forms: Forms,
}

impl ApprovalPage {
    /// Whether a repository is not as it should be, and the board may approve all the same.
    fn can_force(&self) -> bool {
        self.repositories.iter().any(Repository::can_be_forced)
    }
}

/// The forms of the page.
#[derive(Clone)]
struct Forms {
    decision: Filled,
    comment: Filled,
    again: Filled,
}

impl Forms {
    fn blank(visit: &Visit) -> Self {
        Self {
            decision: Filled::blank(visit),
            comment: Filled::blank(visit),
            again: Filled::blank(visit),
        }
    }
}

/// What the store tells of an approval.
struct Found {
    link: String,
    subject: String,
    kind: &'static str,
    pill: Pill,
    who: Option<Who>,
    asked_at: Ago,
    resubmitted: i32,
    revision: i32,
    parts: Vec<Part>,
    /// What changed since it was last submitted.
    changed: Vec<Changed>,
    /// Where, and why, something deserves a second look.
    marks: Vec<(String, String)>,
    /// The issues it is about, by what they are called and their address.
    issues: Vec<(String, String)>,
    events: Vec<Event>,
    comments: Vec<Comment>,
    steps: Vec<ExecutionStepRecord>,
    payload: String,
    is_open: bool,
    is_revised: bool,
    /// What went wrong while it was carried out.
    failed: Option<String>,
    plan: Option<Approval>,
    worktree: Option<WorktreeView>,
}

impl Found {
    /// To whom a note goes.
    fn asker(&self) -> &str {
        self.who.as_ref().map_or("workforce", |who| &who.name)
    }
}

/// The approval that a page is about.
#[derive(Clone)]
struct About {
    asked: Asked,
    id: Option<ApprovalId>,
    /// Another worktree than the first.
    worktree: Option<ExecutionWorkspaceId>,
}

/// Which worktree is wanted, as the address says it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Wanted {
    worktree: String,
}

impl About {
    fn of(visit: &Visit) -> Self {
        let wanted: Wanted = serde_html_form::from_str(visit.query()).unwrap_or_default();
        Self {
            asked: Asked::of(visit),
            id: visit.parameter("approval").parse().ok(),
            worktree: wanted.worktree.parse().ok(),
        }
    }

    /// The company in the address, and the approval if it is one of that.
    fn find(&self, reads: &mut dyn Reads, ctx: &Context<'_>) -> Gathered<(Company, ApprovalView)> {
        let missing = || Refused::missing("approval");
        let company = self.asked.company(reads, ctx)?;
        let view = approvals::get(reads, ctx, self.id.ok_or_else(missing)?).told()?;
        if view.approval.company == company.id {
            Ok((company, view))
        } else {
            Err(missing())
        }
    }
}

async fn approval(visit: Visit) -> HttpResponse {
    match page(&visit, Forms::blank(&visit)).await {
        Ok(page) => answer::page(&page),
        Err(problem) => answer::refused(&visit, &problem),
    }
}

/// Leads back to the page, or shows it with the form that was refused.
async fn answered(
    visit: &Visit,
    form: Form,
    done: Result<String, Problem>,
    place: impl Fn(Filled, Forms) -> Forms,
) -> HttpResponse {
    led_or_shown(visit, done, async |problem| {
        let refused = Filled::refused(form, problem, visit);
        page(visit, place(refused, Forms::blank(visit))).await
    })
    .await
}

async fn page(visit: &Visit, forms: Forms) -> Result<ApprovalPage, Problem> {
    let about = About::of(visit);
    let look = visit.look(move |reads, ctx| gather(reads, ctx, &about));
    let (shell, mut found) = look.await?;
    let repositories = match &found.plan {
        Some(plan) => Repository::all(visit, plan).await?,
        None => Vec::new(),
    };
    let work = match found.worktree.take() {
        Some(view) => {
            let link = format!("{}?worktree={}&", found.link, view.record.id);
            Some(Work::read(visit, view, &link).await)
        }
        None => None,
    };
    Ok(ApprovalPage {
        shell,
        found,
        repositories,
        work,
        forms,
    })
}

fn gather(reads: &mut dyn Reads, ctx: &Context<'_>, about: &About) -> Gathered<(Shell, Found)> {
    let asked = &about.asked;
    let (company, view) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let approval = &view.approval;
    let agents = everyone(reads, ctx, id, true)?;
    let staff = Staff::of(&agents);
    let linked = approvals::issues(reads, ctx, approval.id).told()?;
    let history = approvals::history(reads, ctx, approval.id, &of(SHOWN)).told()?;
    let mut payloads = history.items.iter().filter_map(|it| it.payload.as_ref());
    let (last, before) = (payloads.next_back(), payloads.next_back());
    let said = approvals::comments(reads, ctx, approval.id, Order::Ascending, &of(SHOWN)).told()?;
    let links = asked.links();
    let plan = approvals::undecided_plan(reads, ctx, approval.id).told()?;
    let worktree = match linked.first() {
        Some(issue) if approval.kind.pushes() => {
            let name = IssueRef::from(issue.issue.id);
            worktree(reads, ctx, &name, about.worktree)?
        }
        _ => None,
    };
    let found = Found {
        link: links.approval(approval.id),
        subject: subject(approval, &names(&linked)),
        kind: kind(approval.kind),
        pill: Pill::of_approval(approval.status()),
        who: staff.author(approval.requested_by),
        asked_at: Ago::new(approval.created_at, ctx.now),
        resubmitted: approval.resubmit_count,
        revision: approval.revision,
        parts: parts(&approval.payload, &staff, worktree.is_some()),
        changed: match (before, last) {
            (Some(before), Some(last)) => changes::between(before, last),
            _ => Vec::new(),
        },
        marks: approval
            .attention
            .iter()
            .map(|flag| (flag.pointer.clone(), flag.message.clone()))
            .collect(),
        issues: linked
            .iter()
            .map(|view| {
                let issue = &view.issue;
                let words = format!("{} {}", issue.identifier, issue.title);
                (words, links.issue(&issue.identifier))
            })
            .collect(),
        events: view
            .events
            .iter()
            .map(|event| Event {
                words: event.kind.to_string().replace('_', " "),
                by: actor(event, &staff),
                note: event.note.clone(),
                at: Ago::new(event.created_at, ctx.now),
            })
            .collect(),
        comments: said
            .items
            .iter()
            .map(|comment| Comment {
                who: staff.author(comment.author),
                text: Prose::new(&comment.body),
                at: Ago::new(comment.created_at, ctx.now),
            })
            .collect(),
        payload: serde_json::to_string_pretty(&approval.payload).unwrap_or_default(),
        is_open: approval.status() == ApprovalStatus::Pending,
        is_revised: approval.status() == ApprovalStatus::RevisionRequested,
        failed: view.execution.as_ref().and_then(|it| it.error.clone()),
        steps: view.execution.map(|it| it.steps).unwrap_or_default(),
        plan,
        worktree,
    };
    let shell = Shell::gather(reads, ctx, asked, &company, "approvals")?;
    Ok((shell, found))
}

fn actor(event: &ApprovalEvent, staff: &Staff) -> String {
    let who = match event.actor_kind {
        ActorKind::Agent => event.actor_id.parse().ok().map(|id| staff.agent(id)),
        ActorKind::Board => Some(Who::board()),
        ActorKind::System => None,
    };
    who.map_or_else(|| "workforce".to_owned(), |who| who.name)
}

/// The worktree of an issue; `None` where there is none.
pub(crate) fn worktree(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
    named: Option<ExecutionWorkspaceId>,
) -> Gathered<Option<WorktreeView>> {
    match tickets::worktree::<ApprovalError>(reads, ctx, issue, named) {
        Ok(view) => Ok(Some(view)),
        Err(Failure::Refused(_)) => Ok(None),
        failure @ Err(_) => failure.told().map(Some),
    }
}
