use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CommentId, CompanyId, IssueId, ReviewId, RunId, UserId};
use workforce_domain::issue::{Comment, Position};
use workforce_domain::page::{CreationKey, Order, Page, PageRequest};
use workforce_domain::port::{CommentCursor, CommentReads, CommentWrites, StoreError};
use workforce_domain::time::Timestamp;

use super::super::LoadingMode;
use super::super::transaction::Transaction;
use super::issue_texts;
use super::page::{fetch_limit, page_of};
use super::row::{Row, admit, all, author, author_board};
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn};
use crate::store::errors::failed;
use crate::store::schema::issue_comments;
use crate::store::stable::one_of;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = issue_comments, treat_none_as_default_value = false)]
struct CommentRow {
    id: IdColumn<CommentId>,
    company_id: IdColumn<CompanyId>,
    issue_id: IdColumn<IssueId>,
    author_agent_id: Option<IdColumn<AgentId>>,
    author_user_id: Option<IdColumn<UserId>>,
    run_id: Option<IdColumn<RunId>>,
    body: String,
    mentions: JsonColumn<Vec<AgentId>>,
    created_at: InstantColumn,
    author_board: Option<String>,
    review_id: Option<IdColumn<ReviewId>>,
    position: Option<JsonColumn<Position>>,
}

impl Row for CommentRow {
    type Record = Comment;

    fn weight(&self) -> usize {
        let path = self.position.as_ref().map_or(0, |it| it.0.path.len());
        self.body.len() + path
    }

    fn restore(self) -> Result<Comment, Corrupt> {
        Ok(Comment {
            id: self.id.0,
            company: self.company_id.0,
            issue: self.issue_id.0,
            author: author(
                "comment",
                self.author_agent_id,
                self.author_user_id,
                self.author_board.as_deref(),
            )?,
            run: self.run_id.map(|id| id.0),
            body: admit("comment", self.body)?,
            mentions: self.mentions.0,
            review: self.review_id.map(|id| id.0),
            position: self.position.map(|position| position.0),
            created_at: self.created_at.0,
        })
    }
}

impl From<&Comment> for CommentRow {
    fn from(comment: &Comment) -> Self {
        Self {
            id: IdColumn(comment.id),
            company_id: IdColumn(comment.company),
            issue_id: IdColumn(comment.issue),
            author_agent_id: comment.author.agent().map(IdColumn),
            author_user_id: comment.author.user().map(IdColumn),
            run_id: comment.run.map(IdColumn),
            body: comment.body.to_string(),
            mentions: JsonColumn(comment.mentions.clone()),
            created_at: InstantColumn(comment.created_at),
            author_board: author_board(comment.author),
            review_id: comment.review.map(IdColumn),
            position: comment.position.clone().map(JsonColumn),
        }
    }
}

impl CommentReads for Transaction<'_> {
    fn list(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
        order: Order,
        page: &PageRequest<CommentCursor>,
    ) -> Result<Page<Comment, CommentCursor>, StoreError> {
        let mut query = issue_comments::table
            .filter(issue_comments::company_id.eq(IdColumn(company.company())))
            .filter(issue_comments::issue_id.eq(IdColumn(issue)))
            .select(CommentRow::as_select())
            .limit(fetch_limit(page))
            .into_boxed();
        let after = page.after.map(|key| {
            (
                InstantColumn(Timestamp::from_micros(key.at)),
                IdColumn(key.id),
            )
        });
        query = match order {
            Order::Ascending => query.order((issue_comments::created_at, issue_comments::id)),
            Order::Descending => {
                query.order((issue_comments::created_at.desc(), issue_comments::id.desc()))
            }
        };
        query = match (after, order) {
            (None, _) => query,
            (Some((at, id)), Order::Ascending) => {
                query.filter(issue_comments::created_at.ge(at)).filter(
                    issue_comments::created_at
                        .gt(at)
                        .or(issue_comments::id.gt(id)),
                )
            }
            (Some((at, id)), Order::Descending) => {
                query.filter(issue_comments::created_at.le(at)).filter(
                    issue_comments::created_at
                        .lt(at)
                        .or(issue_comments::id.lt(id)),
                )
            }
        };
        let rows = query
            .load_iter::<CommentRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |comment| CreationKey {
            at: comment.created_at.micros(),
            id: comment.id,
        })
    }

    fn find_all(
        &mut self,
        company: CompanyScope,
        ids: &[CommentId],
    ) -> Result<Vec<Comment>, StoreError> {
        let rows: Vec<CommentRow> = issue_comments::table
            .filter(issue_comments::company_id.eq(IdColumn(company.company())))
            .filter(one_of(issue_comments::id, ids.iter().copied()))
            .order((issue_comments::created_at, issue_comments::id))
            .select(CommentRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }
}

impl CommentWrites for Transaction<'_> {
    fn insert(&mut self, comment: &Comment) -> Result<(), StoreError> {
        diesel::insert_into(issue_comments::table)
            .values(CommentRow::from(comment))
            .execute(self.conn)
            .map_err(failed)?;
        issue_texts::add_comment(self.conn, comment)
    }
}
