//! `workforce restore`.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, bail, ensure};
use clap::Args;
use workforce_domain::time::Timestamp;
use workforce_folders::remove_folder;
use workforce_infra::data_folder::{DataFolder, MARKER};
use workforce_infra::store::{
    DatabaseUrl, Inspection, fill_if_empty, is_served, knows_migration, take_over,
};
use workforce_infra::vault::FileVault;

use super::files;
use super::make::sealing_key;
use super::manifest::{DatabaseKind, FileEntry, Manifest};
use super::postgres_programs::PostgresProgram;
use super::{ATTACHMENTS, MASTER_KEY, POSTGRES, RUNS, SQLITE};
use crate::master_key;

/// Holds what is not whole yet, in the data folder.
const STAGING: &str = ".restoring";
/// A new disk has this folder.
const LOST_AND_FOUND: &str = "lost+found";

/// Flags of `workforce restore`.
#[derive(Args, Debug)]
pub(crate) struct RestoreArgs {
    /// The folder that `workforce backup` made, or the file of a snapshot.
    backup: PathBuf,

    /// The data folder to fill, new or empty.
    #[arg(long, env = "WORKFORCE_DATA_DIR", default_value = "./data")]
    data_dir: PathBuf,

    /// The empty PostgreSQL database to fill, `postgres://...`; a backup of
    /// SQLite goes into the data folder.
    #[arg(long, env = "WORKFORCE_DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,

    /// The file with the master key, when the backup has none; without it the
    /// key has to be put in place before the first start.
    #[arg(long)]
    master_key: Option<PathBuf>,

    /// The program `pg_restore`, for a PostgreSQL database.
    #[arg(long, default_value = "pg_restore")]
    pg_restore: PathBuf,
}

/// Fills an empty data folder and database.
pub(crate) fn run(args: &RestoreArgs) -> anyhow::Result<()> {
    let is_snapshot = args.backup.is_file();
    let manifest = match is_snapshot {
        true => of_snapshot(&args.backup)?,
        false => Manifest::read(&args.backup)?,
    };
    let database = target_database(args, &manifest)?;
    ensure!(
        knows_migration(&database, &manifest.schema_version),
        "the backup was made by a newer version ({}, migration {}): restore it with that version",
        manifest.workforce_version,
        manifest.schema_version
    );
    let key = given_key(args, &manifest)?;
    let path_of = |file: &FileEntry| match is_snapshot {
        true => args.backup.clone(),
        false => args.backup.join(&file.path),
    };
    check_content(&manifest, path_of)?;
    let staging = Staging::make(&args.data_dir, &database)?;
    for file in &manifest.files {
        let to = staging.folder.join(&file.path);
        if file.path == POSTGRES {
            continue;
        }
        files::make_folder(&files::split(&to)?.0)?;
        let content = files::copy(&path_of(file), &to)?;
        ensure!(file.is(&content), "{} changed meanwhile", file.path);
    }
    if let Some(key) = key {
        files::copy(&key, &staging.folder.join(MASTER_KEY))?;
    }
    match manifest.database {
        DatabaseKind::Sqlite => {
            let restored = DatabaseUrl::sqlite(staging.folder.join(SQLITE));
            let damages = Inspection::open(&restored)?.damages(1)?;
            ensure!(damages.is_empty(), "the database is damaged: {damages:?}");
            take_over(&restored, manifest.attachments.are_included)?;
        }
        DatabaseKind::Postgres => fill(args, &database, manifest.attachments.are_included)?,
    }
    staging.install()?;
    tell(args, &manifest)
}

/// What a snapshot would say of itself.
fn of_snapshot(file: &Path) -> anyhow::Result<Manifest> {
    let unread = || format!("{} is neither a backup nor a snapshot", file.display());
    for suffix in [".lock", "-wal"] {
        let mut beside = file.as_os_str().to_owned();
        beside.push(suffix);
        // What was written last is not in the file.
        ensure!(
            !Path::new(&beside).exists(),
            "{} is the database of a server and no copy of it: make one with workforce backup",
            file.display()
        );
    }
    let mut inspection = Inspection::open(&DatabaseUrl::sqlite(file)).with_context(unread)?;
    let state = inspection.state().with_context(unread)?;
    let key = sealing_key(&mut inspection).with_context(unread)?;
    let content = files::content(file).with_context(unread)?;
    let mut manifest = Manifest::of(DatabaseKind::Sqlite, state, key);
    manifest.files = vec![FileEntry::new(SQLITE.to_owned(), content)];
    let made = file.metadata()?.modified()?.duration_since(UNIX_EPOCH)?;
    let micros = i64::try_from(made.as_micros())?;
    manifest.made_at = Timestamp::from_micros(micros).to_string();
    manifest.attachments.place = "the folder of the original".to_owned();
    if let Some(key) = &mut manifest.master_key {
        key.source = "the original".to_owned();
    }
    Ok(manifest)
}

/// The database to fill.
fn target_database(args: &RestoreArgs, manifest: &Manifest) -> anyhow::Result<DatabaseUrl> {
    let given: Option<DatabaseUrl> = match &args.database_url {
        Some(url) => Some(url.parse().context("--database-url")?),
        None => None,
    };
    match (manifest.database, given) {
        (DatabaseKind::Sqlite, None) => Ok(DatabaseUrl::sqlite(args.data_dir.join(SQLITE))),
        (DatabaseKind::Sqlite, Some(_)) => bail!(
            "the backup is of a SQLite database, which goes into the data folder: leave out \
             --database-url"
        ),
        (DatabaseKind::Postgres, Some(url)) if url.sqlite_path().is_none() => Ok(url),
        (DatabaseKind::Postgres, _) => bail!(
            "the backup is of a PostgreSQL database: name an empty one with --database-url \
             postgres://..."
        ),
    }
}

/// The file with the master key to put in place. A key that is given is the right one.
fn given_key(args: &RestoreArgs, manifest: &Manifest) -> anyhow::Result<Option<PathBuf>> {
    let Some(key) = &manifest.master_key else {
        return Ok(None);
    };
    let (vault, file) = match &args.master_key {
        Some(file) => {
            ensure!(file.try_exists()?, "there is no {}", file.display());
            (Some(FileVault::open(file)?), Some(file.clone()))
        }
        None if master_key::given_lines().is_some() => {
            (master_key::existing_vault(Path::new(MASTER_KEY))?, None)
        }
        None => (None, None),
    };
    if let Some(vault) = vault {
        ensure!(
            master_key::ids(&vault).contains(&key.id),
            "the given master key (id {}) is not the one that the backup was sealed with (id {}, \
             of {})",
            master_key::ids(&vault).join(", "),
            key.id,
            key.source
        );
    }
    Ok(file.filter(|_| !key.is_included))
}

/// Compares every file with the manifest before anything is written.
fn check_content(
    manifest: &Manifest,
    path_of: impl Fn(&FileEntry) -> PathBuf,
) -> anyhow::Result<()> {
    for file in &manifest.files {
        let path = path_of(file);
        let content =
            files::content(&path).with_context(|| format!("failed to read {}", path.display()))?;
        ensure!(
            file.bytes == content.bytes,
            "{} has {} bytes and had {} when the backup was made",
            path.display(),
            content.bytes,
            file.bytes
        );
        ensure!(
            file.is(&content),
            "{} was changed since the backup was made",
            path.display()
        );
    }
    Ok(())
}

/// Fills the PostgreSQL database, all of it or nothing.
fn fill(args: &RestoreArgs, database: &DatabaseUrl, attachments_moved: bool) -> anyhow::Result<()> {
    let dump = args.backup.join(POSTGRES);
    let dump = dump.to_str().context("the path is not valid UTF-8")?;
    let pg_restore = PostgresProgram::find(&args.pg_restore, database, "")?;
    let filled = fill_if_empty(database, || {
        pg_restore.run(&[
            "--single-transaction",
            "--exit-on-error",
            "--no-owner",
            "--no-privileges",
            "--no-password",
            // It wants to be told a database. Which one, its environment says.
            "--dbname",
            "application_name=workforce-restore",
            dump,
        ])
    })?;
    filled.context("the database is not empty: name an empty one")??;
    Ok(take_over(database, attachments_moved)?)
}

/// A folder in the data folder, whose content goes there when it is whole.
struct Staging {
    folder: PathBuf,
    data_dir: PathBuf,
    /// Keeps a second restore away.
    _lock: File,
}

impl Staging {
    fn make(data_dir: &Path, database: &DatabaseUrl) -> anyhow::Result<Self> {
        files::make_folder(data_dir)?;
        ensure!(
            !is_served(data_dir, database)?,
            "a server uses the data folder {}: name a new or empty one",
            data_dir.display()
        );
        let data_dir = data_dir.canonicalize()?;
        let lock = File::open(&data_dir)?;
        ensure!(
            lock.try_lock().is_ok(),
            "another restore fills {}",
            data_dir.display()
        );
        let folder = data_dir.join(STAGING);
        for entry in std::fs::read_dir(&data_dir)? {
            let name = entry?.file_name();
            ensure!(
                name == STAGING || name == LOST_AND_FOUND,
                "the data folder {} is not empty (it has {}): name a new or empty one",
                data_dir.display(),
                name.display()
            );
        }
        // What a restore left that was cut short: we have the lock, so nobody else needs it.
        let is_ours = match folder.symlink_metadata() {
            Ok(found) => found.is_dir() && folder.join(MARKER).is_file(),
            Err(_) => true,
        };
        ensure!(
            is_ours,
            "no restore made {}: move it away",
            folder.display()
        );
        remove_folder(&folder)?;
        // It goes where the rest goes: a folder without a database is taken for somebody else's.
        DataFolder::claim(&folder)?;
        Ok(Self {
            folder,
            data_dir,
            _lock: lock,
        })
    }

    /// Puts everything in its place, the database last: without it the folder is none of a
    /// server's.
    fn install(self) -> anyhow::Result<()> {
        files::sync_folders(&self.folder)?;
        let mut installed = Vec::new();
        for name in [MARKER, ATTACHMENTS, RUNS, MASTER_KEY, SQLITE] {
            let (from, to) = (self.folder.join(name), self.data_dir.join(name));
            if !from.exists() {
                continue;
            }
            if let Err(error) = put(&from, &to) {
                for (from, to) in installed.into_iter().rev() {
                    // Back to where it is removed from.
                    let _: io::Result<()> = std::fs::rename(to, from);
                }
                return Err(error).with_context(|| format!("failed to make {}", to.display()));
            }
            installed.push((from, to));
        }
        files::sync(&self.data_dir)?;
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // When it stays, the next restore removes it.
        let _: io::Result<()> = remove_folder(&self.folder);
    }
}

/// Moves a file or folder to a name that nothing has.
fn put(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        // This replaces nothing but an empty folder.
        return std::fs::rename(from, to);
    }
    // Unlike a rename, a link never replaces what another process made meanwhile.
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

fn tell(args: &RestoreArgs, manifest: &Manifest) -> anyhow::Result<()> {
    let mut out = io::stdout();
    let data_dir = args.data_dir.display();
    writeln!(
        out,
        "restored {} as it was on {}",
        args.backup.display(),
        manifest.made_at
    )?;
    if !manifest.attachments.are_included {
        writeln!(
            out,
            "attachments are not in it: let the server use {} (--attachments-url), or a copy of it",
            manifest.attachments.place
        )?;
    }
    match &manifest.master_key {
        Some(key) if !key.is_included && !args.data_dir.join(MASTER_KEY).exists() => writeln!(
            out,
            "before the first start put the master key (id {}, of {}) into {data_dir}/{MASTER_KEY} \
             with mode 0600, or into {}",
            key.id,
            key.source,
            master_key::CURRENT
        )?,
        _ => {}
    }
    Ok(())
}
