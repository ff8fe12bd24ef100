//! Statements that stay prepared on their connection.
//!
//! Diesel keeps a statement prepared when it can tell that its text never varies, and takes
//! every `UPDATE`, every upsert and every handwritten statement for one that may vary. Those are
//! prepared anew for each execution, which on PostgreSQL is one more round trip while rows are
//! locked.

use diesel::QueryResult;
use diesel::RunQueryDsl;
use diesel::backend::Backend;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};

/// A statement that stays prepared; see [`cached`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cached<Q>(Q);

/// Keeps `statement` prepared on the connection that runs it. Only for statements whose text is
/// the same for all values: nothing is ever dropped from what a connection keeps.
///
/// The outermost part of a statement has to be wrapped; what is wrapped within another is as if
/// it were not.
pub(crate) const fn cached<Q>(statement: Q) -> Cached<Q> {
    Cached(statement)
}

impl<Q: Query> Query for Cached<Q> {
    type SqlType = Q::SqlType;
}

impl<Q, Conn> RunQueryDsl<Conn> for Cached<Q> {}

/// Without an id of its type a statement is found again by its text, so that two that differ
/// are never taken for each other.
impl<Q> QueryId for Cached<Q> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q, DB> QueryFragment<DB> for Cached<Q>
where
    DB: Backend,
    Q: QueryFragment<DB>,
{
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        self.0.walk_ast(pass)
    }

    fn is_safe_to_cache_prepared(&self, _backend: &DB) -> QueryResult<bool> {
        Ok(true)
    }
}
