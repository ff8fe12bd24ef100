//! The migrations that travel inside the program.

use diesel::Connection;
use diesel::migration::MigrationSource;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use super::OpenError;

/// Brings the tables up to date.
pub(super) fn migrate<C>(conn: &mut C, known: EmbeddedMigrations) -> Result<(), OpenError>
where
    C: Connection + MigrationHarness<C::Backend>,
{
    let known_versions: Vec<_> = MigrationSource::<C::Backend>::migrations(&known)
        .map_err(OpenError::Migrate)?
        .iter()
        .map(|migration| migration.name().version().as_owned())
        .collect();
    let applied = conn.applied_migrations().map_err(OpenError::Migrate)?;
    if let Some(unknown) = applied.into_iter().find(|it| !known_versions.contains(it)) {
        return Err(OpenError::TooNew(unknown.to_string()));
    }
    conn.run_pending_migrations(known)
        .map(drop)
        .map_err(OpenError::Migrate)
}

/// Undoes every migration.
pub(super) fn revert<C>(conn: &mut C, known: EmbeddedMigrations) -> Result<(), OpenError>
where
    C: Connection + MigrationHarness<C::Backend>,
{
    conn.revert_all_migrations(known)
        .map(drop)
        .map_err(OpenError::Migrate)
}
