//! How a row becomes a record again.

use diesel::result::Error;
use serde_json::Value;
use workforce_domain::JsonMap;
use workforce_domain::board::{Author, BoardMember, NoBoardMember};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, UserId};
use workforce_domain::port::StoreError;
use workforce_domain::text::TextError;

use crate::store::columns::IdColumn;

/// The row of one table, as it is read and written.
pub(super) trait Row {
    /// The record it holds.
    type Record;

    /// Bytes of its long columns, by which a page ends early.
    fn weight(&self) -> usize;

    /// The record, through the checks of its type.
    fn restore(self) -> Result<Self::Record, Corrupt>;
}

/// The record of a row, if there is a row.
pub(super) fn one<R: Row>(row: Option<R>) -> Result<Option<R::Record>, StoreError> {
    Ok(row.map(Row::restore).transpose()?)
}

/// The records of rows.
pub(super) fn all<R: Row>(rows: Vec<R>) -> Result<Vec<R::Record>, StoreError> {
    Ok(rows
        .into_iter()
        .map(Row::restore)
        .collect::<Result<_, _>>()?)
}

/// A text that its type must admit.
pub(super) fn admit<T: TryFrom<String, Error = TextError>>(
    kind: &'static str,
    text: String,
) -> Result<T, Corrupt> {
    T::try_from(text).map_err(|error| Corrupt::new(kind, error.to_string()))
}

/// A text that its type must admit, where there is one.
pub(super) fn admit_some<T: TryFrom<String, Error = TextError>>(
    kind: &'static str,
    text: Option<String>,
) -> Result<Option<T>, Corrupt> {
    text.map(|text| admit(kind, text)).transpose()
}

/// The author that a record keeps in three columns: an agent, a person of the
/// board, or whoever else of the board. None of them is workforce itself.
pub(super) fn author(
    kind: &'static str,
    agent: Option<IdColumn<AgentId>>,
    user: Option<IdColumn<UserId>>,
    board: Option<&str>,
) -> Result<Author, Corrupt> {
    match (agent, user, board) {
        (None, None, None) => Ok(Author::System),
        (Some(agent), None, None) => Ok(Author::Agent(agent.0)),
        (None, Some(user), None) => Ok(Author::Board(BoardMember::User(user.0))),
        (None, None, Some(board)) => board
            .parse()
            .map(Author::Board)
            .map_err(|error: NoBoardMember| Corrupt::new(kind, error.to_string())),
        _ => Err(Corrupt::new(kind, "it has two authors")),
    }
}

/// The third of these columns, for whoever of the board has no account.
pub(super) fn author_board(author: Author) -> Option<String> {
    author
        .board()
        .filter(|member| member.user().is_none())
        .map(|member| member.to_string())
}

/// The length of a text that may be missing.
pub(super) fn length(text: Option<&String>) -> usize {
    text.map_or(0, String::len)
}

/// About how many bytes a document takes in an answer.
pub(super) fn document_length(document: &JsonMap) -> usize {
    document
        .iter()
        .map(|(key, value)| key.len() + value_length(value))
        .sum()
}

fn value_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(values) => values.iter().map(|value| value_length(value) + 1).sum(),
        Value::Object(object) => document_length(object) + 2,
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

/// A statement on a locked record has to meet exactly that record.
pub(super) fn exactly_one(rows: usize) -> Result<(), StoreError> {
    if rows == 1 {
        Ok(())
    } else {
        // Nobody else can have deleted what is locked.
        Err(StoreError::Failed(Error::NotFound.into()))
    }
}

/// Restricts `$query` on `$table` to `$scope` and hands it to `$run`. A foreign
/// record is missing, whether it is read or locked.
macro_rules! in_scope {
    ($scope:expr, $table:ident, $query:expr, |$scoped:ident| $run:expr) => {
        match $scope.company() {
            None => {
                let $scoped = $query;
                $run
            }
            Some(company) => {
                let $scoped = $query.filter($table::company_id.eq(IdColumn(company)));
                $run
            }
        }
    };
}
pub(super) use in_scope;

/// Loads what `$statement` finds for the records whose `$column` holds one of `$ids`, given the
/// condition for that. For one id alone, which is the usual case, the statement is found prepared
/// by its place.
macro_rules! load_by_ids {
    ($conn:expr, $column:expr, $ids:expr, |$has_id:ident| $statement:expr) => {
        match $ids {
            [id] => {
                let $has_id = $column.eq(IdColumn(*id));
                $crate::store::cached::cached_here!($statement).load($conn)
            }
            ids => {
                let $has_id = $crate::store::stable::one_of($column, ids.iter().copied());
                $crate::store::cached::cached($statement).load($conn)
            }
        }
    };
}
pub(super) use load_by_ids;
