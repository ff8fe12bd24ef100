//! Parts of statements whose text is the same for all values, so that the statement stays
//! prepared. Those of Diesel for a written condition and, on SQLite, for one of several ids keep
//! it from being so.

use core::marker::PhantomData;

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping};
use diesel::expression::{TypedExpressionType, is_aggregate};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Bool, SingleValue};
use workforce_domain::id::Id;

use crate::store::columns::IdColumn;

/// A condition or a value as it is written; see [`fixed`].
#[derive(Clone, Debug)]
pub(crate) struct Fixed<ST> {
    text: String,
    kind: PhantomData<ST>,
}

/// A part of a statement as it is written. The text must not depend on values: nothing is ever
/// dropped from what a connection keeps prepared.
pub(crate) fn fixed<ST>(text: impl Into<String>) -> Fixed<ST> {
    Fixed {
        text: text.into(),
        kind: PhantomData,
    }
}

impl<ST: TypedExpressionType> Expression for Fixed<ST> {
    type SqlType = ST;
}

impl<ST, DB: Backend> QueryFragment<DB> for Fixed<ST> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(&self.text);
        Ok(())
    }
}

impl<ST> QueryId for Fixed<ST> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<QS, ST> SelectableExpression<QS> for Fixed<ST> where Self: Expression {}

impl<QS, ST> AppearsOnTable<QS> for Fixed<ST> where Self: Expression {}

impl<ST, GB> ValidGrouping<GB> for Fixed<ST> {
    type IsAggregate = is_aggregate::Never;
}

/// A column that holds one of several ids; see [`one_of`].
#[derive(Clone, Debug)]
pub(crate) struct OneOf<C, I: Id, const FEW: bool = false> {
    column: C,
    ids: Vec<IdColumn<I>>,
}

/// That `column` holds one of `ids`. The last one stands there as often as it takes for their
/// number to be a power of two, so that SQLite, which has a place in the text for each, keeps few
/// statements.
pub(crate) fn one_of<C, I: Id>(column: C, ids: impl IntoIterator<Item = I>) -> OneOf<C, I> {
    let ids = ids.into_iter().map(IdColumn).collect();
    OneOf { column, ids }.filled(usize::next_power_of_two)
}

/// Some ids, but no more than [`Few::MOST`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Few<'a, I>(&'a [I]);

impl<'a, I> Few<'a, I> {
    /// More than there are on a page, unless a longer one is asked for.
    const MOST: usize = 64;

    /// All of these, some at a time.
    pub(crate) fn each_of(ids: &'a [I]) -> impl Iterator<Item = Self> {
        ids.chunks(Self::MOST).map(Self)
    }

    /// The only one.
    pub(crate) const fn only(self) -> Option<&'a I> {
        match self.0 {
            [id] => Some(id),
            _ => None,
        }
    }
}

/// That `column` holds one of `ids`. Since it has the same text for any number of them, Diesel
/// finds the statement prepared without writing it.
pub(crate) fn one_of_few<C, I: Id>(column: C, ids: Few<'_, I>) -> OneOf<C, I, true> {
    let ids = ids.0.iter().copied().map(IdColumn).collect();
    OneOf { column, ids }.filled(|_count| Few::<I>::MOST)
}

impl<C, I: Id, const FEW: bool> OneOf<C, I, FEW> {
    fn filled(mut self, to: impl FnOnce(usize) -> usize) -> Self {
        if let Some(last) = self.ids.last().copied() {
            self.ids.resize(to(self.ids.len()), last);
        }
        self
    }
}

impl<C: Expression, I: Id, const FEW: bool> Expression for OneOf<C, I, FEW>
where
    C::SqlType: SingleValue,
{
    type SqlType = Bool;
}

#[cfg(feature = "sqlite")]
impl<C, I: Id, const FEW: bool> QueryFragment<diesel::sqlite::Sqlite> for OneOf<C, I, FEW>
where
    C: QueryFragment<diesel::sqlite::Sqlite>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, diesel::sqlite::Sqlite>) -> QueryResult<()> {
        use crate::store::columns::Key;

        self.column.walk_ast(out.reborrow())?;
        out.push_sql(" IN (");
        for (before, id) in self.ids.iter().enumerate() {
            out.push_sql(if before == 0 { "" } else { ", " });
            out.push_bind_param::<Key, _>(id)?;
        }
        out.push_sql(")");
        Ok(())
    }
}

#[cfg(feature = "postgres")]
impl<C, I: Id, const FEW: bool> QueryFragment<diesel::pg::Pg> for OneOf<C, I, FEW>
where
    C: QueryFragment<diesel::pg::Pg>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, diesel::pg::Pg>) -> QueryResult<()> {
        use crate::store::columns::Key;
        use diesel::sql_types::Array;

        self.column.walk_ast(out.reborrow())?;
        out.push_sql(" = ANY(");
        out.push_bind_param::<Array<Key>, _>(&self.ids)?;
        out.push_sql(")");
        Ok(())
    }
}

impl<C: QueryId, I: Id, const FEW: bool> QueryId for OneOf<C, I, FEW> {
    type QueryId = OneOf<C::QueryId, I, FEW>;

    const HAS_STATIC_QUERY_ID: bool = FEW && C::HAS_STATIC_QUERY_ID;
}

impl<QS, C: SelectableExpression<QS>, I: Id, const FEW: bool> SelectableExpression<QS>
    for OneOf<C, I, FEW>
where
    Self: Expression + AppearsOnTable<QS>,
{
}

impl<QS, C: AppearsOnTable<QS>, I: Id, const FEW: bool> AppearsOnTable<QS> for OneOf<C, I, FEW> where
    Self: Expression
{
}

impl<C: ValidGrouping<GB>, I: Id, const FEW: bool, GB> ValidGrouping<GB> for OneOf<C, I, FEW> {
    type IsAggregate = C::IsAggregate;
}
