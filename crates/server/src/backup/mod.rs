//! `workforce backup` and `workforce restore`: a copy of everything that a server keeps, made
//! while it works, and taken into use elsewhere (docs/upkeep.md#backups).

mod files;
mod make;
mod manifest;
mod postgres_programs;
mod restore;

pub(crate) use make::{BackupArgs, run};
pub(crate) use postgres_programs::PostgresProgram;
pub(crate) use restore::{RestoreArgs, run as restore};

/// The copy of a SQLite database.
const SQLITE: &str = "workforce.db";
/// The dump of a PostgreSQL database.
const POSTGRES: &str = "database.dump";
/// The master keys.
const MASTER_KEY: &str = crate::master_key::FILE_NAME;
/// The folder of attachments.
const ATTACHMENTS: &str = "attachments";
/// The folder of the logs of runs.
const RUNS: &str = "runs";
