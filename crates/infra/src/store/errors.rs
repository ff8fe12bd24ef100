//! How a failure of a database reaches the port.

use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind, Error};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::port::StoreError;

/// Unique constraints that only a lost race breaks, since the rules check before they write.
/// PostgreSQL reports them by name, SQLite by columns. The loser runs again and then sees what
/// the winner wrote.
const RACES: [(&str, &str); 12] = [
    (
        "approvals_one_actionable",
        "approvals.company_id, approvals.type, approvals.primary_issue_id",
    ),
    (
        "agents_company_id_url_key_key",
        "agents.company_id, agents.url_key",
    ),
    (
        "projects_company_id_url_key_key",
        "projects.company_id, projects.url_key",
    ),
    (
        "labels_company_id_name_key_key",
        "labels.company_id, labels.name_key",
    ),
    (
        "assets_company_id_sha256_key",
        "assets.company_id, assets.sha256",
    ),
    (
        "secrets_company_id_name_key",
        "secrets.company_id, secrets.name",
    ),
    ("companies_issue_prefix_key", "companies.issue_prefix"),
    ("wakes_one_pending", "wakes.agent_id, wakes.coalesce_key"),
    (
        "idempotency_keys_pkey",
        "idempotency_keys.idem_scope, idempotency_keys.idem_key",
    ),
    (
        "cost_events_by_key",
        "cost_events.company_id, cost_events.agent_id, cost_events.idempotency_key",
    ),
    (
        "execution_workspaces_company_id_project_workspace_id_ticket_key",
        "execution_workspaces.company_id, execution_workspaces.project_workspace_id, \
         execution_workspaces.ticket_key",
    ),
    (
        "execution_workspaces_one_branch",
        "execution_workspaces.company_id, execution_workspaces.project_workspace_id, \
         execution_workspaces.branch",
    ),
];

/// Messages of lost races that carry no kind of their own: deadlock and lock timeout on
/// PostgreSQL, a busy or locked database and a reference that a trigger broke on SQLite.
const CONTENTION: [&str; 7] = [
    "deadlock detected",
    "due to lock timeout",
    "could not serialize access",
    "database is locked",
    "database table is locked",
    "database schema is locked",
    "FOREIGN KEY constraint failed",
];

/// Messages of a disk without room. That of PostgreSQL is the end of its error 53100, since the
/// client library does not pass the number on.
const FULL: [&str; 4] = [
    "database or disk is full",
    "No space left on device",
    "Disk quota exceeded",
    ": wrote only ",
];

/// A message that SQLite has for many causes. One of them is a disk without room, on which it
/// could not make its files longer.
#[cfg(feature = "sqlite")]
const SQLITE_IO: &str = "disk I/O error";

/// Whether a failure may be a disk without room although it does not say so.
#[cfg(feature = "sqlite")]
pub(crate) fn may_be_full(error: &dyn core::error::Error) -> bool {
    with_causes(error).contains(SQLITE_IO)
}

/// The failure of a statement as the port tells it.
pub(crate) fn failed(error: Error) -> StoreError {
    match error {
        Error::DatabaseError(kind, ref information) => match kind {
            DatabaseErrorKind::SerializationFailure => StoreError::Contended,
            DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand => {
                StoreError::Unavailable(Box::new(error))
            }
            // Before they write, the rules check what they refer to, and who refers to what they
            // delete. So the other end came or went meanwhile, and the next run sees that.
            DatabaseErrorKind::ForeignKeyViolation | DatabaseErrorKind::RestrictViolation => {
                tracing::debug!(
                    reference = broken(&**information),
                    "a transaction lost a race"
                );
                StoreError::Contended
            }
            DatabaseErrorKind::UniqueViolation
            | DatabaseErrorKind::NotNullViolation
            | DatabaseErrorKind::CheckViolation
            | DatabaseErrorKind::ExclusionViolation => {
                let constraint = broken(&**information);
                if RACES
                    .iter()
                    .any(|(name, columns)| [*name, *columns].contains(&constraint))
                {
                    StoreError::Contended
                } else {
                    StoreError::Constraint {
                        constraint: constraint.to_owned(),
                    }
                }
            }
            _ if CONTENTION
                .iter()
                .any(|it| information.message().contains(it)) =>
            {
                StoreError::Contended
            }
            _ if FULL.iter().any(|it| information.message().contains(it)) => {
                StoreError::Full(Box::new(error))
            }
            _ => StoreError::Failed(Box::new(error)),
        },
        // What may be missing is asked for as optional. Anything else was there when it was chosen,
        // so somebody deleted it meanwhile, and the next run sees that.
        Error::NotFound => StoreError::Contended,
        Error::DeserializationError(cause) => Corrupt::new("record", with_causes(&*cause)).into(),
        other => StoreError::Failed(Box::new(other)),
    }
}

/// The constraint that refused a statement, as far as the database names it.
fn broken(information: &dyn DatabaseErrorInformation) -> &str {
    let message = information.message();
    information
        .constraint_name()
        .or_else(|| message.split_once("failed: ").map(|(_, columns)| columns))
        .unwrap_or(message)
}

/// The outermost tells the column, the innermost what is wrong with its value.
fn with_causes(error: &dyn core::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(kind: DatabaseErrorKind, message: &str) -> StoreError {
        failed(Error::DatabaseError(kind, Box::new(message.to_owned())))
    }

    #[test]
    fn lost_races_may_be_run_again() {
        for (kind, message) in [
            (DatabaseErrorKind::SerializationFailure, "any"),
            (DatabaseErrorKind::Unknown, "deadlock detected"),
            (
                DatabaseErrorKind::Unknown,
                "canceling statement due to lock timeout",
            ),
            (DatabaseErrorKind::Unknown, "database is locked"),
            (
                DatabaseErrorKind::UniqueViolation,
                "UNIQUE constraint failed: agents.company_id, agents.url_key",
            ),
            (
                DatabaseErrorKind::ForeignKeyViolation,
                "FOREIGN KEY constraint failed",
            ),
            (DatabaseErrorKind::Unknown, "FOREIGN KEY constraint failed"),
            (DatabaseErrorKind::RestrictViolation, "any"),
        ] {
            assert!(
                matches!(database(kind, message), StoreError::Contended),
                "{message}"
            );
        }
    }

    #[test]
    fn a_disk_without_room_is_told_apart() {
        for message in [
            "database or disk is full",
            "could not extend file \"base/5/16403\": No space left on device",
            "could not write to file \"base/pgsql_tmp/pgsql_tmp1.0\": No space left on device",
            "could not extend file \"base/5/1\": wrote only 4096 of 8192 bytes at block 7",
            "could not write block 1 of temporary file: Disk quota exceeded",
        ] {
            let error = database(DatabaseErrorKind::Unknown, message);
            assert!(matches!(error, StoreError::Full(_)), "{message}: {error:?}");
        }
    }

    #[test]
    fn other_constraints_are_told_by_name() {
        let error = database(
            DatabaseErrorKind::UniqueViolation,
            "UNIQUE constraint failed: issues.company_id, issues.number",
        );
        let StoreError::Constraint { constraint } = error else {
            panic!("{error:?}")
        };
        assert_eq!(constraint, "issues.company_id, issues.number");
    }

    #[test]
    fn a_lost_connection_is_no_fault_of_the_statement() {
        for kind in [
            DatabaseErrorKind::ClosedConnection,
            DatabaseErrorKind::UnableToSendCommand,
        ] {
            let error = database(kind, "gone");
            assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_corrupt() {
        let error = failed(Error::DeserializationError("`x` is not a word".into()));
        assert_eq!(
            error.to_string(),
            "stored record breaks a rule: `x` is not a word"
        );
    }
}
