//! Statements that stay prepared on their connection.
//!
//! Diesel keeps a statement prepared only when it can tell that its text never varies. It cannot
//! for any `UPDATE`, upsert or handwritten statement, and prepares those anew for each execution.
//! On PostgreSQL that is one more round trip while rows are locked.

use core::cell::Cell;

use diesel::backend::Backend;
use diesel::internal::derives::multiconnection::AstPassHelper;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::{QueryResult, RunQueryDsl};

/// A statement that stays prepared; see [`cached`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cached<Q>(Q);

/// Keeps `statement` prepared on the connection that runs it. Only for statements whose text is
/// the same for all values: nothing is ever dropped from what a connection keeps.
pub(crate) const fn cached<Q>(statement: Q) -> Cached<Q> {
    Cached(statement)
}

impl<Q: Query> Query for Cached<Q> {
    type SqlType = Q::SqlType;
}

impl<Q, Conn> RunQueryDsl<Conn> for Cached<Q> {}

/// There is no id of the query's type, so Diesel finds a prepared statement by its text: two that
/// differ are never taken for each other.
impl<Q> QueryId for Cached<Q> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q, DB> QueryFragment<DB> for Cached<Q>
where
    DB: Backend,
    Q: QueryFragment<DB>,
{
    /// Walks the statement to write its text, to gather its values and to show them. Diesel
    /// walks it once more to be told by one of its parts that the text may vary, which is left
    /// out. To answer `is_safe_to_cache_prepared` would not do: references do not pass it on.
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let needed = Cell::new(false);
        let mut pass = pass.cast_database::<DB>(
            |values| {
                needed.set(true);
                values
            },
            |text| {
                needed.set(true);
                text
            },
            |backend| backend,
            |lookup| lookup,
        );
        if needed.get() || pass.debug_binds().is_some() {
            self.0.walk_ast(pass)
        } else {
            Ok(())
        }
    }
}
