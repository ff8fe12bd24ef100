use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use workforce_infra::data_folder::{ATTACHMENTS, DATABASE};
use workforce_infra::objects::Location;
use workforce_infra::store::DatabaseUrl;

/// Where a server keeps what it keeps.
#[derive(Args, Clone, Debug)]
pub(crate) struct DataArgs {
    /// Folder for the database, the logs of runs and the master key.
    #[arg(long, env = "WORKFORCE_DATA_DIR", default_value = "./data")]
    pub(crate) data_dir: PathBuf,

    /// `sqlite:PATH` or `postgres://...`; SQLite in the data folder when unsaid.
    #[arg(long, env = "WORKFORCE_DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,

    /// Where attachments are kept: `file:///FOLDER` or `s3://BUCKET/PREFIX`; in
    /// the data folder when unsaid.
    #[arg(long, env = "WORKFORCE_ATTACHMENTS_URL")]
    attachments_url: Option<Location>,
}

impl DataArgs {
    /// Where records are kept.
    ///
    /// # Errors
    /// When the URL names no known kind of database.
    pub(crate) fn database(&self) -> anyhow::Result<DatabaseUrl> {
        match &self.database_url {
            Some(url) => url.parse().context("--database-url"),
            None => Ok(DatabaseUrl::sqlite(self.data_dir.join(DATABASE))),
        }
    }

    /// Where attachments are kept, with this data folder.
    pub(crate) fn attachments(&self, data_dir: &Path) -> Location {
        let given = self.attachments_url.clone();
        given.unwrap_or_else(|| Location::Folder(data_dir.join(ATTACHMENTS)))
    }
}
