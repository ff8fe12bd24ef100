//! What the board does about an issue.

use actix_web::HttpResponse;
use data_encoding::HEXLOWER;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use workforce_app::issues::{self, AddComment, IssueDetail, UpdateIssue};
use workforce_app::{Code, Context, Failure, approvals, runs};
use workforce_domain::issue::{Issue, IssueRef};
use workforce_domain::port::Tx;
use workforce_http::door::{self, Visit};
use workforce_http::problem::Problem;

use super::{About, Forms, answered};
use crate::form::{Form, Kind};
use crate::pages::{Gathered, Refused, Told as _};

/// The fields of the form with the facts of an issue.
const FACTS: &[(&str, Kind)] = &[
    ("status", Kind::Text),
    ("priority", Kind::Text),
    ("assigneeAgentId", Kind::OrNull),
];

/// Those that are seldom changed, and are sent together.
const MORE: &[(&str, Kind)] = &[
    ("projectId", Kind::OrNull),
    ("goalId", Kind::OrNull),
    ("parentId", Kind::OrNull),
    ("billingCode", Kind::OrNull),
    ("labelIds", Kind::Several),
];

const TEXTS: &[(&str, Kind)] = &[("title", Kind::Text), ("description", Kind::OrNull)];

const SAID: &[(&str, Kind)] = &[
    ("body", Kind::Text),
    ("reopen", Kind::Ticked),
    ("interrupt", Kind::Ticked),
];

/// By what a form knows the texts that it shows.
pub(super) fn seen(issue: &Issue) -> String {
    let texts = json!([issue.title, issue.description]);
    HEXLOWER.encode(&Sha256::digest(texts.to_string())[..8])
}

/// Changes the facts.
pub(super) async fn change(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let has_more = !form.text("more").is_empty();
    let fields = if has_more { MORE } else { FACTS };
    let done = acted(&visit, &form, fields, |tx, ctx, name, _, command| {
        update(tx, ctx, name, command)
    })
    .await;
    answered(&visit, form, done, |filled, blank| match has_more {
        true => Forms {
            more: filled,
            ..blank
        },
        false => Forms {
            facts: filled,
            ..blank
        },
    })
    .await
}

/// Changes the title and the description, unless somebody else did so meanwhile.
pub(super) async fn edit(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let shown = form.text("seen").to_owned();
    let act = move |tx: &mut dyn Tx,
                    ctx: &Context<'_>,
                    name: &IssueRef,
                    detail: &IssueDetail,
                    command: &UpdateIssue| {
        if seen(&detail.view.issue) != shown {
            let message = "somebody changed the title or the description meanwhile";
            return Err(refused(Code::RevisionConflict, message));
        }
        update(tx, ctx, name, command)
    };
    let done = acted(&visit, &form, TEXTS, act).await;
    answered(&visit, form, done, |texts, blank| Forms { texts, ..blank }).await
}

fn update(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    name: &IssueRef,
    command: &UpdateIssue,
) -> Gathered<()> {
    approvals::update_issue(tx, ctx, name, command.clone())
        .told()
        .map(drop)
}

/// Comments on the issue.
pub(super) async fn say(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = acted(
        &visit,
        &form,
        SAID,
        |tx, ctx, name, _, command: &AddComment| {
            issues::add_comment(tx, ctx, name, command.clone())
                .told()
                .map(drop)
        },
    )
    .await;
    answered(&visit, form, done, |comment, blank| Forms {
        comment,
        ..blank
    })
    .await
}

/// Gives the issue back, stops its run, wakes its assignee, or deletes it, as the button says.
pub(super) async fn act(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let done = done(&visit, &form).await;
    answered(&visit, form, done, |deeds, blank| Forms { deeds, ..blank }).await
}

async fn done(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let deed = form.text("deed").to_owned();
    let is_deletion = deed == "delete";
    let typed = form.text("typed").to_owned();
    let issues = About::of(visit).asked.links().issues();
    let done = acted::<Value>(visit, form, &[], move |tx, ctx, name, detail, _| {
        let issue = &detail.view.issue;
        match deed.as_str() {
            "release" => issues::release(tx, ctx, name).told().map(drop),
            "stop" => match detail.view.lease.as_ref().and_then(|it| it.holder.run()) {
                Some(run) => runs::cancel(tx, ctx, run).told().map(drop),
                None => Err(refused(Code::RunNotLive, "no run works on it now")),
            },
            "wake" => match runs::invoke_about(tx, ctx, issue).told()? {
                Some(_) => Ok(()),
                None => Err(refused(
                    Code::AssigneeRequired,
                    "nobody is there to be woken",
                )),
            },
            "delete" if typed == issue.identifier => issues::delete(tx, ctx, name).told(),
            "delete" => Err(fault("/typed", "must be the key of this issue")),
            _ => Err(fault("/deed", "is none of what can be done")),
        }
    });
    let place = done.await?;
    Ok(if is_deletion { issues } else { place })
}

/// Why something cannot be done as things are.
fn refused(code: Code, message: &str) -> Failure<Refused> {
    Refused::because(&Problem::new(code, message))
}

/// Why a field is not as it must be.
fn fault(pointer: &str, message: &str) -> Failure<Refused> {
    Refused::because(&door::fault(Code::InvalidField, pointer, message))
}

/// Does something about the issue, and tells where the page is.
async fn acted<C: DeserializeOwned + Send + 'static>(
    visit: &Visit,
    form: &Form,
    fields: &[(&str, Kind)],
    act: impl Fn(&mut dyn Tx, &Context<'_>, &IssueRef, &IssueDetail, &C) -> Gathered<()>
    + Send
    + 'static,
) -> Result<String, Problem> {
    let command: C = door::command(&form.body(fields)?)?;
    let about = About::of(visit);
    let place = about.asked.links().issue(visit.parameter("issue"));
    let done = visit.act(
        form.key(),
        (about, command),
        move |tx, ctx, (about, command)| {
            let (_company, detail) = about.find(tx.reads(), ctx)?;
            act(tx, ctx, about.issue()?, &detail, command)
        },
        move |()| place.clone(),
    );
    done.await
}
