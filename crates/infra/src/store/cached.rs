//! Statements that stay prepared on their connection.
//!
//! Diesel keeps a statement prepared only when it can tell that its text never varies. It cannot
//! for any `UPDATE`, upsert or handwritten statement, and prepares those anew for each execution.
//! On PostgreSQL that is one more round trip while rows are locked.

use core::cell::Cell;
use core::marker::PhantomData;

use diesel::backend::Backend;
use diesel::internal::derives::multiconnection::AstPassHelper;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::{QueryResult, RunQueryDsl};

/// A statement that stays prepared; see [`cached`] and [`cached_here`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cached<Q, F = ByText>(Q, PhantomData<F>);

/// How a connection finds the statement that it has prepared.
pub(crate) trait Found {
    /// What it is found by, unless by its text.
    type By: 'static;

    /// Whether its text is looked at once only.
    const WITHOUT_TEXT: bool;
}

/// By its text: two that differ are never taken for each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByText;

/// By the place in the source that makes it, which has a closure of its own type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByPlace<P>(PhantomData<P>);

impl Found for ByText {
    type By = ();

    const WITHOUT_TEXT: bool = false;
}

impl<P: 'static> Found for ByPlace<P> {
    type By = P;

    const WITHOUT_TEXT: bool = true;
}

/// Keeps `statement` prepared on the connection that runs it. Only for statements with few texts,
/// which depend on no value: nothing is ever dropped from what a connection keeps.
pub(crate) const fn cached<Q>(statement: Q) -> Cached<Q> {
    Cached(statement, PhantomData)
}

/// Has [`cached_here`] tell its place.
pub(crate) const fn cached_at<Q, P>(statement: Q, _place: &P) -> Cached<Q, ByPlace<P>> {
    Cached(statement, PhantomData)
}

/// Keeps a statement prepared, and finds it without writing its text each time. Only for a place
/// whose statement has one text, which is checked with debug assertions.
macro_rules! cached_here {
    ($statement:expr) => {
        $crate::store::cached::cached_at($statement, &|| ())
    };
}
pub(crate) use cached_here;

impl<Q: Query, F> Query for Cached<Q, F> {
    type SqlType = Q::SqlType;
}

impl<Q, F, Conn> RunQueryDsl<Conn> for Cached<Q, F> {}

impl<Q, F: Found> QueryId for Cached<Q, F> {
    type QueryId = F::By;

    const HAS_STATIC_QUERY_ID: bool = F::WITHOUT_TEXT;
}

impl<Q, F, DB> QueryFragment<DB> for Cached<Q, F>
where
    DB: Backend,
    DB::QueryBuilder: Default,
    Q: QueryFragment<DB>,
    F: Found,
{
    /// Walks the statement to write its text, to gather its values and to show them. Diesel
    /// walks it once more to be told by one of its parts that the text may vary, which is left
    /// out. To answer `is_safe_to_cache_prepared` would not do: references do not pass it on.
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let (has_values, has_text) = (Cell::new(false), Cell::new(false));
        let mut pass = pass.cast_database::<DB>(
            |values| {
                has_values.set(true);
                values
            },
            |text| {
                has_text.set(true);
                text
            },
            |backend| backend,
            |lookup| lookup,
        );
        #[cfg(debug_assertions)]
        if F::WITHOUT_TEXT && has_values.get() {
            one_text::check::<F::By, DB>(&self.0, pass.backend())?;
        }
        if has_values.get() || has_text.get() || pass.debug_binds().is_some() {
            self.0.walk_ast(pass)
        } else {
            Ok(())
        }
    }
}

#[cfg(debug_assertions)]
mod one_text {
    use core::any::TypeId;
    use std::collections::HashMap;
    use std::sync::{LazyLock, Mutex, PoisonError};

    use diesel::query_builder::QueryBuilder;

    use super::{Backend, QueryFragment, QueryResult};

    static TEXTS: LazyLock<Mutex<HashMap<TypeId, String>>> = LazyLock::new(Mutex::default);

    /// Compares the text of a statement with the one that its place had first.
    ///
    /// # Panics
    /// When they differ: a connection would run the first one.
    pub(super) fn check<P: 'static, DB>(
        statement: &impl QueryFragment<DB>,
        backend: &DB,
    ) -> QueryResult<()>
    where
        DB: Backend,
        DB::QueryBuilder: Default,
    {
        let mut text = DB::QueryBuilder::default();
        statement.to_sql(&mut text, backend)?;
        let text = text.finish();
        let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        let first = texts
            .entry(TypeId::of::<P>())
            .or_insert_with(|| text.clone());
        assert_eq!(*first, text, "a statement has another text than before");
        drop(texts);
        Ok(())
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use diesel::prelude::*;
    use diesel::sql_query;
    use diesel::sql_types::Integer;

    #[derive(QueryableByName)]
    struct Sum {
        #[diesel(sql_type = Integer)]
        sum: i32,
    }

    fn sum(conn: &mut SqliteConnection, base: i32, more: i32) -> QueryResult<i32> {
        let text = format!("SELECT {base} + $1 AS sum");
        let sum = cached_here!(sql_query(text).bind::<Integer, _>(more));
        sum.get_result(conn).map(|Sum { sum }| sum)
    }

    #[test]
    fn a_statement_is_found_by_its_place_for_other_values() {
        let mut conn = SqliteConnection::establish(":memory:").unwrap();
        assert_eq!(sum(&mut conn, 1, 2), Ok(3));
        assert_eq!(sum(&mut conn, 1, 4), Ok(5));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "a statement has another text than before")]
    fn a_place_has_one_statement() {
        let mut conn = SqliteConnection::establish(":memory:").unwrap();
        sum(&mut conn, 1, 2).unwrap();
        sum(&mut conn, 2, 2).unwrap();
    }
}
