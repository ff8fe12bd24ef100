//! What the board does about an approval.

use actix_web::HttpResponse;
use serde::Deserialize;
use serde_json::Value;
use workforce_app::approvals::{self, ApprovalError, ApprovalView, Decide, execution};
use workforce_app::{Code, Context, Failure};
use workforce_domain::actor::CompanyOwned as _;
use workforce_domain::id::ApprovalId;
use workforce_domain::port::Tx;
use workforce_domain::text::CommentBody;
use workforce_http::door::{self, Visit};
use workforce_http::problem::Problem;

use super::{About, Forms, answered};
use crate::form::{Form, Kind};
use crate::pages::{Gathered, Told as _};

const FIELDS: &[(&str, Kind)] = &[("decisionNote", Kind::Text), ("force", Kind::Ticked)];

/// Approves, rejects, asks for a change, or withdraws, as the button says.
pub(super) async fn decide(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = match form.text("decision") {
        "cancel" => {
            acted(&visit, &form, |tx, ctx, id| {
                approvals::cancel(tx, ctx, id).told().map(drop)
            })
            .await
        }
        _ => decided(&visit, &form).await,
    };
    answered(&visit, form, done, |decision, blank| Forms {
        decision,
        ..blank
    })
    .await
}

/// Comments on it.
pub(super) async fn say(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = match form.command::<Said>(&[("body", Kind::Text)]) {
        Ok(said) => {
            acted(&visit, &form, move |tx, ctx, id| {
                let body = said.body.clone();
                approvals::add_comment(tx, ctx, id, body).told().map(drop)
            })
            .await
        }
        Err(problem) => Err(problem),
    };
    answered(&visit, form, done, |comment, blank| Forms {
        comment,
        ..blank
    })
    .await
}

/// A comment.
#[derive(Deserialize)]
struct Said {
    body: CommentBody,
}

/// Sends it again for whoever asked.
pub(super) async fn resubmit(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = resubmitted(&visit, &form).await;
    answered(&visit, form, done, |again, blank| Forms { again, ..blank }).await
}

async fn resubmitted(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let text = form.text("payload");
    let payload = match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Some(fields.into_iter().collect()),
        _ if text.is_empty() => None,
        _ => {
            let message = "must be an object in JSON";
            return Err(door::fault(Code::InvalidField, "/payload", message));
        }
    };
    let about = About::of(visit);
    let looked = visit.look(move |reads, ctx| {
        let (_company, view) = about.find(reads, ctx)?;
        approvals::resubmitted_issue(reads, ctx, view.approval.id).told()
    });
    let work = match looked.await? {
        Some(issue) => visit.work_to_show(issue.scope(), issue.id).await?,
        None => None,
    };
    acted(visit, form, move |tx, ctx, id| {
        let sent = approvals::resubmit(tx, ctx, id, payload.clone(), work.as_deref());
        sent.told().map(drop)
    })
    .await
}

/// Does something about the approval, and tells where the page is.
async fn acted(
    visit: &Visit,
    form: &Form,
    act: impl Fn(&mut dyn Tx, &Context<'_>, ApprovalId) -> Gathered<()> + Send + 'static,
) -> Result<String, Problem> {
    let about = About::of(visit);
    let place = about.asked.links().section("approvals");
    let place = format!("{place}/{}", visit.parameter("approval"));
    let done = visit.act(
        form.key(),
        about,
        move |tx, ctx, about: &About| {
            let (_company, view) = about.find(tx.reads(), ctx)?;
            act(tx, ctx, view.approval.id)
        },
        move |()| place.clone(),
    );
    done.await
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
    acted(visit, form, move |tx, ctx, id| {
        decision(tx, ctx, id, command.clone()).told().map(drop)
    })
    .await
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
