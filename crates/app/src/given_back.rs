//! What becomes of the issues of somebody who is there no more
//! (docs/lifecycles.md#agents, docs/access.md#callers).

use serde_json::Value;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyScope;
use workforce_domain::board::BoardMember;
use workforce_domain::issue::{Assignee, Assignment, Author, Comment};
use workforce_domain::port::{StoreError, Tx};
use workforce_domain::text::CommentBody;

use crate::activity_log::log_change;
use crate::context::Context;

/// Somebody who does no more work.
pub(crate) struct Leaver<'a> {
    pub(crate) who: Assignee,
    /// What happened, as the beginning of a sentence.
    pub(crate) told: &'a str,
    /// The same for the activity.
    pub(crate) details: &'a Value,
    /// Who takes over the reviews, if anybody does.
    pub(crate) heir: Option<BoardMember>,
}

/// Releases the open issues of somebody who leaves, with a comment that says why. Work that is
/// handed in waits for the heir.
pub(crate) fn give_back(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyScope,
    leaver: &Leaver<'_>,
) -> Result<(), StoreError> {
    let told = |what: &str| CommentBody::parse(&format!("{}; {what}.", leaver.told)).ok();
    let (free, to_board) = (
        told("the issue is free again"),
        told("its review is for the board"),
    );
    for mut issue in tx.issues_mut().lock_open_of(company, leaver.who)? {
        let heir = leaver.heir.filter(|_| issue.is_under_review());
        let body = if heir.is_some() { &to_board } else { &free };
        issue.progress = issue.progress.release(ctx.now);
        issue.assignee = heir.map_or(Assignment::NOBODY, Assignment::to_board);
        issue.settle_review();
        issue.updated_at = ctx.now;
        tx.issues_mut().end_lease(&issue)?;
        tx.issues_mut().save(&issue)?;
        if let Some(body) = body.clone() {
            tx.comments_mut().insert(&Comment {
                id: ctx.id(),
                company: issue.company,
                issue: issue.id,
                author: Author::default(),
                run: None,
                body,
                mentions: Vec::new(),
                review: None,
                position: None,
                created_at: ctx.now,
            })?;
        }
        let (system, details) = (ctx.as_system(), leaver.details.clone());
        log_change(tx, &system, Action::IssueReleased, &mut issue, details);
    }
    Ok(())
}
