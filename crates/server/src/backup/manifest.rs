//! What a backup says of itself.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use workforce_domain::id::{AssetId, CompanyId, Id as _, RunId};
use workforce_domain::port::{Clock, KeyId};
use workforce_guard::LogPart;
use workforce_infra::clock::SystemClock;
use workforce_infra::store::DatabaseState;

use super::files::{self, Content};
use super::{ATTACHMENTS, MASTER_KEY, POSTGRES, RUNS, SQLITE};

const NAME: &str = "manifest.json";
/// The SHA-256 of the manifest.
const CHECK_NAME: &str = "manifest.sha256";
/// The form of backups of this version.
const FORMAT: u32 = 1;
/// No manifest is so long.
const MAX_BYTES: u64 = 1 << 30;

/// What a backup is, and what is in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) format: u32,
    pub(super) workforce_version: String,
    /// The latest migration of the database.
    pub(super) schema_version: String,
    pub(super) database: DatabaseKind,
    /// Such as `PostgreSQL 15.4`.
    pub(super) database_version: String,
    /// RFC 3339.
    pub(super) made_at: String,
    pub(super) master_key: Option<NeededKey>,
    pub(super) attachments: Attachments,
    pub(super) has_logs: bool,
    pub(super) files: Vec<FileEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum DatabaseKind {
    Sqlite,
    Postgres,
}

/// The master key without which nothing sealed can be opened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NeededKey {
    /// Its fingerprint.
    pub(super) id: String,
    /// Whether it is in the backup.
    pub(super) is_included: bool,
    /// Where the server had it from: a file's path or a variable.
    pub(super) source: String,
}

/// Where the bytes of attachments are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attachments {
    /// Where the server keeps them.
    pub(super) place: String,
    /// Whether they are in the backup.
    pub(super) are_included: bool,
}

/// A file of the backup.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileEntry {
    /// Below the folder of the backup.
    pub(super) path: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl FileEntry {
    pub(super) fn new(path: String, content: Content) -> Self {
        Self {
            path,
            bytes: content.bytes,
            sha256: content.sha256,
        }
    }

    /// Whether this is what it should hold.
    pub(super) fn is(&self, content: &Content) -> bool {
        self.bytes == content.bytes && self.sha256 == content.sha256
    }
}

impl Manifest {
    /// That of a backup of this database, without files.
    pub(super) fn of(database: DatabaseKind, state: DatabaseState, key: Option<KeyId>) -> Self {
        Self {
            format: FORMAT,
            workforce_version: env!("CARGO_PKG_VERSION").to_owned(),
            schema_version: state.schema.version().unwrap_or_default().to_owned(),
            database,
            database_version: state.version,
            made_at: SystemClock.now().to_string(),
            master_key: key.map(|id| NeededKey {
                id: id.to_string(),
                is_included: false,
                source: String::new(),
            }),
            attachments: Attachments {
                place: String::new(),
                are_included: false,
            },
            has_logs: false,
            files: Vec::new(),
        }
    }

    /// Writes it into the folder of a backup.
    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_vec_pretty(self)?;
        files::write(&folder.join(NAME), |file| file.write_all(&text))?;
        let sum = HEXLOWER.encode(&Sha256::digest(&text));
        files::write(&folder.join(CHECK_NAME), |file| writeln!(file, "{sum}"))
    }

    /// Reads that of the backup in `folder`.
    ///
    /// # Errors
    /// When it is no backup, is damaged, or names what no backup has.
    pub(super) fn read(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(NAME);
        let content = files::content(&path).with_context(|| {
            format!(
                "{} is not a backup: its {NAME} cannot be read",
                folder.display()
            )
        })?;
        ensure!(content.bytes <= MAX_BYTES, "{} is too long", path.display());
        let sum = std::fs::read_to_string(folder.join(CHECK_NAME))
            .with_context(|| format!("failed to read {}", folder.join(CHECK_NAME).display()))?;
        ensure!(
            sum.trim() == content.sha256,
            "{} was changed since the backup was made",
            path.display()
        );
        let text = std::fs::read(&path)?;
        // Another format is told by its number, whatever else it says.
        let json: serde_json::Value = serde_json::from_slice(&text)
            .with_context(|| format!("{} is not JSON", path.display()))?;
        match json["format"].as_u64() {
            Some(format) if format == u64::from(FORMAT) => {}
            Some(format) => bail!(
                "the backup has the format {format}; this version reads format {FORMAT} alone"
            ),
            None => bail!("{} does not say the format of the backup", path.display()),
        }
        let manifest: Self = serde_json::from_value(json)
            .with_context(|| format!("{} is not a manifest", path.display()))?;
        manifest.check_paths()?;
        Ok(manifest)
    }

    /// The file with the database.
    pub(super) const fn database_file(&self) -> &'static str {
        match self.database {
            DatabaseKind::Sqlite => SQLITE,
            DatabaseKind::Postgres => POSTGRES,
        }
    }

    fn check_paths(&self) -> anyhow::Result<()> {
        let mut seen = BTreeSet::new();
        for file in &self.files {
            ensure!(
                is_known(&file.path),
                "the manifest names the file {:?}, which no backup has",
                file.path
            );
            ensure!(
                seen.insert(&file.path),
                "the manifest names the file {} twice",
                file.path
            );
        }
        for needed in [Some(self.database_file()), self.included_key()] {
            let needed = needed.map(str::to_owned);
            ensure!(
                needed.as_ref().is_none_or(|name| seen.contains(name)),
                "the backup has no {}",
                needed.unwrap_or_default()
            );
        }
        Ok(())
    }

    fn included_key(&self) -> Option<&'static str> {
        let key = self.master_key.as_ref()?;
        key.is_included.then_some(MASTER_KEY)
    }
}

/// Whether backups have files of this name. It leads nowhere else.
fn is_known(path: &str) -> bool {
    let mut parts = path.split('/');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(name), None, None, None) => [SQLITE, POSTGRES, MASTER_KEY].contains(&name),
        (Some(ATTACHMENTS), Some(company), Some(file), None) => {
            is_company(company) && is_asset(file)
        }
        (Some(RUNS), Some(company), Some(file), None) => is_company(company) && is_log(file),
        _ => false,
    }
}

pub(super) fn is_company(name: &str) -> bool {
    CompanyId::of_name(name).is_some()
}

pub(super) fn is_asset(name: &str) -> bool {
    AssetId::of_name(name).is_some()
}

/// The log of a run, or the notes beside it.
pub(super) fn is_log(name: &str) -> bool {
    LogPart::of_name(name).is_some_and(|(run, part)| {
        matches!(part, LogPart::Text | LogPart::Notes | LogPart::Packed)
            && RunId::of_name(run).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_leads_out_of_a_backup() {
        let id = "0190b7a0-0000-7000-8000-000000000000";
        for path in [
            "workforce.db".to_owned(),
            "database.dump".to_owned(),
            "master.key".to_owned(),
            format!("attachments/{id}/{id}"),
            format!("runs/{id}/{id}.log"),
            format!("runs/{id}/{id}.log.times"),
            format!("runs/{id}/{id}.log.z"),
        ] {
            assert!(is_known(&path), "{path}");
        }
        for path in [
            String::new(),
            "../workforce.db".to_owned(),
            "/etc/passwd".to_owned(),
            "workforce.db/".to_owned(),
            "board-token".to_owned(),
            format!("attachments/../{id}"),
            format!("attachments/{id}/.."),
            format!("attachments/{id}/{id}/x"),
            format!("runs/{id}/{id}.log/../../x"),
            format!("runs/{id}/x.log"),
        ] {
            assert!(!is_known(&path), "{path}");
        }
    }
}
