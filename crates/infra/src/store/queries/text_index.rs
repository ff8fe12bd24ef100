//! Which words stand in which text of an issue: FTS5 on SQLite, a `tsvector`
//! on PostgreSQL. Neither cuts text into words itself; both are given terms.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use diesel::{QueryableByName, sql_query};
use workforce_domain::id::{CommentId, CompanyId, IssueId};
use workforce_domain::search::Term;

use crate::store::cached::cached;
use crate::store::columns::{IdColumn, Key};

/// Whose text it is.
#[derive(Clone, Copy)]
pub(super) struct TextOf {
    pub(super) company: CompanyId,
    pub(super) issue: IssueId,
    /// A comment; none for the issue's own text.
    pub(super) comment: Option<CommentId>,
}

/// A text that has what was asked for.
#[derive(QueryableByName)]
pub(super) struct FoundText {
    #[diesel(sql_type = Key)]
    pub(super) issue_id: IdColumn<IssueId>,
    /// Whether it is the issue's own text.
    #[diesel(sql_type = Bool)]
    pub(super) own: bool,
}

/// A connection whose database indexes texts.
pub(super) trait TextIndex {
    /// Adds a text with these terms, separated by spaces.
    fn add_text(&mut self, of: TextOf, terms: &str) -> QueryResult<()>;

    /// Indexes a text that was pending.
    fn index_pending(&mut self, doc: i64, terms: &str) -> QueryResult<()>;

    /// The latest texts that have all of `terms`, of which there is one at
    /// least.
    fn texts_with(
        &mut self,
        company: CompanyId,
        terms: &[Term],
        limit: i64,
    ) -> QueryResult<Vec<FoundText>>;
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
        cached(text).execute(self)?;
        let terms = sql_query(
            "INSERT INTO issue_text_index (rowid, terms) VALUES (last_insert_rowid(), $1)",
        )
        .bind::<Text, _>(terms);
        cached(terms).execute(self).map(drop)
    }

    fn index_pending(&mut self, doc: i64, terms: &str) -> QueryResult<()> {
        let terms = sql_query("INSERT INTO issue_text_index (rowid, terms) VALUES ($1, $2)")
            .bind::<BigInt, _>(doc)
            .bind::<Text, _>(terms);
        cached(terms).execute(self)?;
        let done = sql_query("UPDATE issue_texts SET pending = 0 WHERE doc = $1");
        cached(done.bind::<BigInt, _>(doc)).execute(self).map(drop)
    }

    fn texts_with(
        &mut self,
        company: CompanyId,
        terms: &[Term],
        limit: i64,
    ) -> QueryResult<Vec<FoundText>> {
        let terms: Vec<String> = terms
            .iter()
            .map(|term| format!("\"{}\"{}", term.text, if term.prefix { " *" } else { "" }))
            .collect();
        // The order of a CROSS JOIN is kept: the index goes first.
        let query = sql_query(
            "SELECT t.issue_id AS issue_id, t.comment_id IS NULL AS own
             FROM issue_text_index x CROSS JOIN issue_texts t
             WHERE x.issue_text_index MATCH $1 AND t.doc = x.rowid AND t.company_id = $2
             ORDER BY x.rowid DESC LIMIT $3",
        )
        .bind::<Text, _>(terms.join(" AND "))
        .bind::<Key, _>(IdColumn(company))
        .bind::<BigInt, _>(limit);
        cached(query).load(self)
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
        cached(text).execute(self).map(drop)
    }

    fn index_pending(&mut self, doc: i64, terms: &str) -> QueryResult<()> {
        let terms = sql_query(
            "UPDATE issue_texts
             SET pending = false, terms = array_to_tsvector(string_to_array($2, ' '))
             WHERE doc = $1",
        )
        .bind::<BigInt, _>(doc)
        .bind::<Text, _>(terms);
        cached(terms).execute(self).map(drop)
    }

    fn texts_with(
        &mut self,
        company: CompanyId,
        terms: &[Term],
        limit: i64,
    ) -> QueryResult<Vec<FoundText>> {
        let terms: Vec<String> = terms
            .iter()
            .map(|term| format!("'{}'{}", term.text, if term.prefix { ":*" } else { "" }))
            .collect();
        let query = sql_query(
            "SELECT t.issue_id, t.comment_id IS NULL AS own
             FROM issue_texts t
             WHERE t.terms @@ CAST($1 AS tsquery) AND t.company_id = $2
             ORDER BY t.doc DESC LIMIT $3",
        )
        .bind::<Text, _>(terms.join(" & "))
        .bind::<Key, _>(IdColumn(company))
        .bind::<BigInt, _>(limit);
        cached(query).load(self)
    }
}
