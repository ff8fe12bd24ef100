//! Which words stand in which text of an issue: FTS5 on SQLite, a `tsvector`
//! on PostgreSQL. Neither cuts text into words itself; both are given terms.

#[cfg(feature = "postgres")]
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment};
use diesel::sql_query;
use diesel::sql_types::{BigInt, Nullable, Text};
#[cfg(feature = "sqlite")]
use diesel::sqlite::Sqlite;
use workforce_domain::id::{CommentId, CompanyId, IssueId};
use workforce_domain::search::{Field, Term};

use crate::store::cached::cached_here;
use crate::store::columns::{IdColumn, Key};

/// When more texts than this have the words, only the latest count.
const LATEST: i64 = 5000;
/// The latest of so many texts or more are looked for among the texts of the
/// latest issues, so many of them.
#[cfg(feature = "postgres")]
const MANY: i64 = 20_000;

/// Whose text it is.
#[derive(Clone, Copy)]
pub(super) struct TextOf {
    pub(super) company: CompanyId,
    pub(super) issue: IssueId,
    /// A comment; none for the issue's own text.
    pub(super) comment: Option<CommentId>,
}

/// A connection whose database indexes texts.
pub(super) trait TextIndex {
    /// Adds a text with these terms, separated by spaces.
    fn add_text(&mut self, of: TextOf, terms: &str) -> QueryResult<()>;

    /// Indexes a text that was pending.
    fn index_pending(&mut self, doc: i64, terms: &str) -> QueryResult<()>;

    /// The query, in the language of its index, for texts with all of `terms`, of
    /// which there is at least one.
    fn all_of(terms: &[Term]) -> String;
}

/// The latest texts of a company that have all of some terms: a table with
/// columns `issue_id` and `own`, whether it is the issue's own text.
pub(super) struct Texts {
    company: IdColumn<CompanyId>,
    all_of: String,
}

impl Texts {
    /// The texts that have these terms in a field, of which there is one at
    /// least.
    pub(super) fn with<C: TextIndex>(company: CompanyId, field: Field, terms: &[Term]) -> Self {
        let terms: Vec<Term> = terms
            .iter()
            .map(|term| term.within(company, field))
            .collect();
        Self {
            company: IdColumn(company),
            all_of: C::all_of(&terms),
        }
    }
}

#[cfg(feature = "sqlite")]
impl TextIndex for SqliteConnection {
    fn add_text(&mut self, of: TextOf, terms: &str) -> QueryResult<()> {
        let text = sql_query(
            "INSERT INTO issue_texts (company_id, issue_id, comment_id, pending)
             VALUES ($1, $2, $3, 0)",
        )
        .bind::<Key, _>(IdColumn(of.company))
        .bind::<Key, _>(IdColumn(of.issue))
        .bind::<Nullable<Key>, _>(of.comment.map(IdColumn));
        cached_here!(text).execute(self)?;
        let terms = sql_query(
            "INSERT INTO issue_text_index (rowid, terms) VALUES (last_insert_rowid(), $1)",
        )
        .bind::<Text, _>(terms);
        cached_here!(terms).execute(self).map(drop)
    }

    fn index_pending(&mut self, doc: i64, terms: &str) -> QueryResult<()> {
        let terms = sql_query("INSERT INTO issue_text_index (rowid, terms) VALUES ($1, $2)")
            .bind::<BigInt, _>(doc)
            .bind::<Text, _>(terms);
        cached_here!(terms).execute(self)?;
        let done = sql_query("UPDATE issue_texts SET pending = 0 WHERE doc = $1");
        cached_here!(done.bind::<BigInt, _>(doc))
            .execute(self)
            .map(drop)
    }

    fn all_of(terms: &[Term]) -> String {
        let terms: Vec<String> = terms
            .iter()
            .map(|term| format!("\"{}\"{}", term.text, if term.prefix { " *" } else { "" }))
            .collect();
        terms.join(" AND ")
    }
}

#[cfg(feature = "sqlite")]
impl QueryFragment<Sqlite> for Texts {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        // The order of a CROSS JOIN is kept: the index goes first.
        out.push_sql(
            "(SELECT t.issue_id AS issue_id, t.comment_id IS NULL AS own \
             FROM issue_text_index x CROSS JOIN issue_texts t \
             WHERE x.issue_text_index MATCH ",
        );
        out.push_bind_param::<Text, _>(&self.all_of)?;
        out.push_sql(" AND t.doc = x.rowid AND t.company_id = ");
        out.push_bind_param::<Key, _>(&self.company)?;
        out.push_sql(" ORDER BY x.rowid DESC LIMIT ");
        out.push_bind_param::<BigInt, _>(&LATEST)?;
        out.push_sql(")");
        Ok(())
    }
}

#[cfg(feature = "postgres")]
impl TextIndex for PgConnection {
    fn add_text(&mut self, of: TextOf, terms: &str) -> QueryResult<()> {
        let text = sql_query(
            "INSERT INTO issue_texts (company_id, issue_id, comment_id, pending, terms)
             VALUES ($1, $2, $3, false, array_to_tsvector(string_to_array($4, ' ')))",
        )
        .bind::<Key, _>(IdColumn(of.company))
        .bind::<Key, _>(IdColumn(of.issue))
        .bind::<Nullable<Key>, _>(of.comment.map(IdColumn))
        .bind::<Text, _>(terms);
        cached_here!(text).execute(self).map(drop)
    }

    fn index_pending(&mut self, doc: i64, terms: &str) -> QueryResult<()> {
        let terms = sql_query(
            "UPDATE issue_texts
             SET pending = false, terms = array_to_tsvector(string_to_array($2, ' '))
             WHERE doc = $1",
        )
        .bind::<BigInt, _>(doc)
        .bind::<Text, _>(terms);
        cached_here!(terms).execute(self).map(drop)
    }

    fn all_of(terms: &[Term]) -> String {
        let terms: Vec<String> = terms
            .iter()
            .map(|term| format!("'{}'{}", term.text, if term.prefix { ":*" } else { "" }))
            .collect();
        match terms.as_slice() {
            // PostgreSQL expects a prefix in every fiftieth text, and would rather read all texts
            // from the latest on than look a single one up. Of two it expects less.
            [single] => format!("{single} & {single}"),
            several => several.join(" & "),
        }
    }
}

#[cfg(feature = "postgres")]
impl QueryFragment<Pg> for Texts {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        // An index of this kind hands everything over that it has, and in no order. So it is
        // asked for so many that they can be put in order, and when there are more, the
        // latest texts are read instead.
        out.push_sql(
            "(WITH few AS MATERIALIZED (\
             SELECT t.doc, t.issue_id, t.comment_id FROM issue_texts t WHERE t.terms @@ CAST(",
        );
        out.push_bind_param::<Text, _>(&self.all_of)?;
        out.push_sql(" AS tsquery) AND t.company_id = ");
        out.push_bind_param::<Key, _>(&self.company)?;
        out.push_sql(" LIMIT ");
        out.push_bind_param::<BigInt, _>(&MANY)?;
        out.push_sql(
            ") SELECT issue_id, comment_id IS NULL AS own FROM (\
             SELECT doc, issue_id, comment_id FROM few WHERE (SELECT count(*) FROM few) < ",
        );
        out.push_bind_param::<BigInt, _>(&MANY)?;
        out.push_sql(
            " UNION ALL SELECT doc, issue_id, comment_id FROM (\
             SELECT t.doc, t.issue_id, t.comment_id, t.terms \
             FROM issue_texts t WHERE t.company_id = ",
        );
        out.push_bind_param::<Key, _>(&self.company)?;
        out.push_sql(" ORDER BY t.issue_id DESC LIMIT ");
        out.push_bind_param::<BigInt, _>(&MANY)?;
        out.push_sql(") last_texts WHERE terms @@ CAST(");
        out.push_bind_param::<Text, _>(&self.all_of)?;
        out.push_sql(" AS tsquery) AND (SELECT count(*) FROM few) >= ");
        out.push_bind_param::<BigInt, _>(&MANY)?;
        out.push_sql(") counted ORDER BY doc DESC LIMIT ");
        out.push_bind_param::<BigInt, _>(&LATEST)?;
        out.push_sql(")");
        Ok(())
    }
}
