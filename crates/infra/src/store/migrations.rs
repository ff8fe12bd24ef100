//! The migrations that travel inside the program.

use diesel::Connection;
use diesel::migration::MigrationSource;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use super::OpenError;

/// The versions of the migrations of this program, oldest first.
pub(super) fn known_versions<B: diesel::backend::Backend>(
    known: &EmbeddedMigrations,
) -> diesel::migration::Result<Vec<String>> {
    let mut versions: Vec<String> = MigrationSource::<B>::migrations(known)?
        .iter()
        .map(|migration| migration.name().version().to_string())
        .collect();
    versions.sort_unstable();
    Ok(versions)
}

/// Brings the tables up to date.
pub(super) fn migrate<C>(conn: &mut C, known: EmbeddedMigrations) -> Result<(), OpenError>
where
    C: Connection + MigrationHarness<C::Backend>,
{
    let known_versions = known_versions::<C::Backend>(&known).map_err(OpenError::Migrate)?;
    let applied = conn.applied_migrations().map_err(OpenError::Migrate)?;
    let applied = applied.into_iter().map(|version| version.to_string());
    if let Some(unknown) = { applied }.find(|it| !known_versions.contains(it)) {
        return Err(OpenError::TooNew(unknown));
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
