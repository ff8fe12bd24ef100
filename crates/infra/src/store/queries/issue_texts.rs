//! The texts that issues are found by, kept in the transaction that writes
//! them.

use diesel::Connection as _;
use diesel::prelude::*;
use workforce_domain::id::{CommentId, CompanyId, IssueId};
use workforce_domain::issue::{Comment, Issue};
use workforce_domain::port::StoreError;
use workforce_domain::search;

use super::super::Connection;
use super::text_index::{TextIndex, TextOf};
use crate::store::columns::IdColumn;
use crate::store::errors::failed;
use crate::store::schema::{issue_comments, issue_texts, issues};

/// Pending texts that are indexed in one transaction.
const BATCH: i64 = 200;

/// Indexes the texts of a new issue.
pub(super) fn add_issue(conn: &mut Connection, issue: &Issue) -> Result<(), StoreError> {
    let of = TextOf {
        company: issue.company,
        issue: issue.id,
        comment: None,
    };
    conn.add_text(of, &search::issue_terms(issue))
        .map_err(failed)
}

/// Indexes the present texts of an issue.
pub(super) fn replace_issue(conn: &mut Connection, issue: &Issue) -> Result<(), StoreError> {
    diesel::delete(issue_texts::table)
        .filter(issue_texts::company_id.eq(IdColumn(issue.company)))
        .filter(issue_texts::issue_id.eq(IdColumn(issue.id)))
        .filter(issue_texts::comment_id.is_null())
        .execute(conn)
        .map_err(failed)?;
    add_issue(conn, issue)
}

/// Indexes a new comment on an issue.
pub(super) fn add_comment(conn: &mut Connection, comment: &Comment) -> Result<(), StoreError> {
    let of = TextOf {
        company: comment.company,
        issue: comment.issue,
        comment: Some(comment.id),
    };
    let terms = search::comment_terms(comment.company, &comment.body);
    conn.add_text(of, &terms).map_err(failed)
}

/// Indexes every pending text: those from before there was an index, or from
/// before a change of its terms. If it is stopped, the next call goes on with
/// the rest. Returns how many there were.
pub(in crate::store) fn index_pending(conn: &mut Connection) -> QueryResult<usize> {
    let mut indexed = 0;
    loop {
        #[expect(
            clippy::disallowed_methods,
            reason = "the store is being opened, so that there is no port yet"
        )]
        let batch = conn.transaction(index_batch)?;
        if batch == 0 {
            return Ok(indexed);
        }
        indexed += batch;
    }
}

fn index_batch(conn: &mut Connection) -> QueryResult<usize> {
    let pending: Vec<Pending> = issue_texts::table
        .filter(issue_texts::pending.eq(true))
        .select((
            issue_texts::doc,
            issue_texts::company_id,
            issue_texts::issue_id,
            issue_texts::comment_id,
        ))
        .order(issue_texts::doc)
        .limit(BATCH)
        .load(conn)?;
    for (doc, company, issue, comment) in &pending {
        let terms = match comment {
            None => own_terms(conn, company.0, issue.0)?,
            Some(comment) => {
                let body: String = issue_comments::table
                    .find(comment)
                    .select(issue_comments::body)
                    .first(conn)?;
                search::comment_terms(company.0, &body)
            }
        };
        conn.index_pending(*doc, &terms)?;
    }
    Ok(pending.len())
}

type Pending = (
    i64,
    IdColumn<CompanyId>,
    IdColumn<IssueId>,
    Option<IdColumn<CommentId>>,
);

fn own_terms(conn: &mut Connection, company: CompanyId, issue: IssueId) -> QueryResult<String> {
    let (identifier, title, description): (String, String, Option<String>) = issues::table
        .find(IdColumn(issue))
        .select((issues::identifier, issues::title, issues::description))
        .first(conn)?;
    let description = description.as_deref();
    Ok(search::own_terms(company, &identifier, &title, description))
}
