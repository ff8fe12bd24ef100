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

use workforce_infra::data_folder::{ATTACHMENTS, DATABASE as SQLITE, MASTER_KEY, RUNS};

/// The dump of a PostgreSQL database.
const POSTGRES: &str = "database.dump";
