//! One approval: what it asks for, what deserves a second look, and the decision.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::approvals::{self, ApprovalError, ApprovalView, Decide, execution};
use workforce_app::companies::CompanyView;
use workforce_app::{Context, Failure};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{ApprovalStatus, ApprovalType};
use workforce_domain::id::ApprovalId;
use workforce_domain::port::{Reads, Tx};
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::{Gathered, Refused, Told as _, everyone, form_answered, show};
use crate::form::{Filled, Form, Kind};
use crate::html::approval::{Part, kind, parts, subject};
use crate::html::filters;
use crate::html::people::{Staff, Who};
use crate::html::status::Pill;
use crate::html::when::Ago;
use crate::shell::{Asked, Shell};

const PATH: &str = "/c/{prefix}/approvals/{approval}";

const FIELDS: &[(&str, Kind)] = &[("decisionNote", Kind::Text), ("force", Kind::Ticked)];

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, approval)
        .post(PATH, Access::Board, decide)
}

#[derive(Template)]
#[template(path = "pages/approval.html")]
struct ApprovalPage {
    shell: Shell,
    link: String,
    subject: String,
    kind: &'static str,
    pill: Pill,
    who: Option<Who>,
    asked_at: Ago,
    resubmitted: i32,
    revision: i32,
    parts: Vec<Part>,
    /// Where, and why, something deserves a second look.
    marks: Vec<(String, String)>,
    /// The issues it is about, by what they are called and their address.
    issues: Vec<(String, String)>,
    events: Vec<(String, Ago)>,
    is_open: bool,
    can_force: bool,
    /// What went wrong while it was carried out.
    failed: Option<String>,
    form: Filled,
}

/// The approval that a page is about.
#[derive(Clone)]
struct About {
    asked: Asked,
    id: Option<ApprovalId>,
}

impl About {
    fn of(visit: &Visit) -> Self {
        Self {
            asked: Asked::of(visit),
            id: visit.parameter("approval").parse().ok(),
        }
    }

    /// The company in the address, and the approval if it is one of that.
    fn find(
        &self,
        reads: &mut dyn Reads,
        ctx: &Context<'_>,
    ) -> Gathered<(CompanyView, ApprovalView)> {
        let missing = || Refused::missing("approval");
        let company = self.asked.company(reads, ctx)?;
        let view = approvals::get(reads, ctx, self.id.ok_or_else(missing)?).told()?;
        if view.approval.company == company.company.id {
            Ok((company, view))
        } else {
            Err(missing())
        }
    }
}

async fn approval(visit: Visit) -> HttpResponse {
    let (about, form) = (About::of(&visit), Filled::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &form)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    form: &Filled,
) -> Gathered<ApprovalPage> {
    let asked = &about.asked;
    let (company, view) = about.find(reads, ctx)?;
    let id = company.company.id;
    let approval = &view.approval;
    let agents = everyone(reads, ctx, id, true)?;
    let staff = Staff::of(&agents);
    let linked = approvals::issues(reads, ctx, approval.id).told()?;
    let links = asked.links();
    let failed = view.execution.as_ref().and_then(|it| it.error.clone());
    Ok(ApprovalPage {
        link: links.approval(approval.id),
        subject: subject(approval),
        kind: kind(approval.kind),
        pill: Pill::of_approval(approval.status()),
        who: staff.author(approval.requested_by),
        asked_at: Ago::new(approval.created_at, ctx.now),
        resubmitted: approval.resubmit_count,
        revision: approval.revision,
        parts: parts(&approval.payload),
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
            .map(|event| {
                let words = event.kind.to_string().replace('_', " ");
                (words, Ago::new(event.created_at, ctx.now))
            })
            .collect(),
        is_open: approval.status() == ApprovalStatus::Pending,
        can_force: failed.is_some() && approval.kind == ApprovalType::ApproveIssuePlan,
        failed,
        form: form.clone(),
        shell: Shell::gather(reads, ctx, asked, &company, "approvals")?,
    })
}

/// Approves, rejects, or asks for a change, as the button says.
async fn decide(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = decided(&visit, &form).await;
    let about = About::of(&visit);
    form_answered(&visit, form, done, move |reads, ctx, filled| {
        gather(reads, ctx, &about, filled)
    })
    .await
}

type Decision = fn(
    &mut dyn Tx,
    &Context<'_>,
    ApprovalId,
    Decide,
) -> Result<ApprovalView, Failure<ApprovalError>>;

async fn decided(visit: &Visit, form: &Form) -> Result<String, Problem> {
    // Nothing is decided but what was shown.
    let seen = form.text("revision").parse().ok();
    let command = Decide {
        seen: Some(seen.into_iter().collect()),
        ..form.command(FIELDS)?
    };
    let decision: Decision = match form.text("decision") {
        "reject" => approvals::reject,
        "request_revision" => approvals::request_revision,
        _ => {
            if carried_out(visit, &command).await? {
                return Ok(visit.path().to_owned());
            }
            approvals::approve
        }
    };
    let place = visit.path().to_owned();
    let done = visit.act(
        form.key(),
        (About::of(visit), command),
        move |tx, ctx, (about, command)| {
            let (_company, view) = about.find(tx.reads(), ctx)?;
            decision(tx, ctx, view.approval.id, command.clone())
                .told()
                .map(drop)
        },
        move |()| place.clone(),
    );
    done.await
}

/// Does outside of the store what an approval asks for there, which decides it. Returns whether
/// it asks for anything.
async fn carried_out(visit: &Visit, command: &Decide) -> Result<bool, Problem> {
    let about = About::of(visit);
    let looked = visit.look(move |reads, ctx| {
        let (_company, view) = about.find(reads, ctx)?;
        execution::is_executed(reads, ctx, view.approval.id).told()
    });
    let Some(approval) = looked.await? else {
        return Ok(false);
    };
    let (id, begun) = (approval.id, command.clone());
    let began = visit.act(
        None,
        begun,
        move |tx, ctx, command: &Decide| execution::begin(tx, ctx, id, command.clone()),
        |()| (),
    );
    began.await?;
    let agreed = command.agreed_work();
    visit.carry_out(approval.scope(), id, agreed).await?;
    Ok(true)
}
