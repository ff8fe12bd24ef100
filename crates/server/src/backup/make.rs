//! `workforce backup`.

use std::collections::HashSet;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use workforce_domain::port::{KeyId, StoreError};
use workforce_infra::data_folder::DataFolder;
use workforce_infra::objects::Location;
use workforce_infra::store::{AssetFile, DatabaseUrl, Inspection, snapshot};
use workforce_infra::vault::key_of;

use super::files;
use super::manifest::{
    Attachments, DatabaseKind, FileEntry, Manifest, NeededKey, is_asset, is_company, is_log,
};
use super::postgres_programs::PostgresProgram;
use super::{ATTACHMENTS, MASTER_KEY, POSTGRES, RUNS, SQLITE};
use crate::config::DataArgs;
use crate::{logging, master_key};

/// Flags of `workforce backup`.
#[derive(Args, Debug)]
pub(crate) struct BackupArgs {
    /// The folder to make. It is there when the backup is whole, and not before.
    backup: PathBuf,

    #[command(flatten)]
    data: DataArgs,

    /// Put the master key into the backup too. Whoever has the backup can open
    /// every secret in it then.
    #[arg(long)]
    with_master_key: bool,

    /// Make the backup although files of attachments are missing.
    #[arg(long)]
    allow_missing: bool,

    /// Put the logs of runs into the backup too.
    #[arg(long)]
    with_logs: bool,

    /// The program `pg_dump`, for a PostgreSQL database; not older than its
    /// server.
    #[arg(long, default_value = "pg_dump")]
    pg_dump: PathBuf,
}

/// A backup that is being made.
struct Making<'a> {
    folder: &'a Path,
    files: Vec<FileEntry>,
    copied: HashSet<(String, String)>,
}

/// Makes a backup.
pub(crate) fn run(args: &BackupArgs) -> anyhow::Result<()> {
    let database = args.data.database()?;
    let folder = DataFolder::look(&args.data.data_dir)?;
    let data_dir = folder.path().to_owned();
    let target = std::path::absolute(&args.backup)?;
    ensure!(
        is_free(&target)?,
        "{} is there already: name a new folder",
        target.display()
    );
    let (parent, name) = files::split(&target)?;
    let work = tempfile::Builder::new()
        .prefix(&format!(".{}.partial-", name.to_string_lossy()))
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(&parent)
        .with_context(|| format!("failed to make a folder in {}", parent.display()))?;
    let mut making = Making {
        folder: work.path(),
        files: Vec::new(),
        copied: HashSet::new(),
    };
    let location = args.data.attachments(&data_dir);
    // Twice: what is deleted meanwhile is there from before, and what is made meanwhile from after.
    making.copy_attachments(&location)?;
    let (manifest, assets) = making.copy_database(&database, &args.pg_dump)?;
    making.copy_attachments(&location)?;
    if matches!(location, Location::Folder(_)) {
        making.check_attachments(&assets, &location, args.allow_missing)?;
    }
    if args.with_logs {
        making.copy_logs(&data_dir.join(RUNS))?;
        // Once more: one that was packed meanwhile had another name.
        making.copy_logs(&data_dir.join(RUNS))?;
    }
    let mut manifest = Manifest {
        attachments: Attachments {
            place: location.to_string(),
            are_included: matches!(location, Location::Folder(_)),
        },
        has_logs: args.with_logs,
        ..manifest
    };
    manifest.master_key = making.needed_key(manifest.master_key, &data_dir, args)?;
    manifest.files = making.files;
    manifest.write(work.path())?;
    files::sync_folders(work.path())?;
    std::fs::rename(work.path(), &target)
        .with_context(|| format!("failed to give the backup its name {}", target.display()))?;
    // It has another name now.
    let _ = work.keep();
    files::sync(&parent)?;
    tell(&manifest, &target)
}

/// Whether a backup can have this name: nothing has it, or an empty folder.
fn is_free(target: &Path) -> anyhow::Result<bool> {
    match std::fs::read_dir(target) {
        Ok(mut content) => Ok(content.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(error).with_context(|| format!("failed to look at {}", target.display())),
    }
}

impl Making<'_> {
    /// Copies the database, and says what is known of it, and which attachments it names.
    fn copy_database(
        &mut self,
        url: &DatabaseUrl,
        pg_dump: &Path,
    ) -> anyhow::Result<(Manifest, Vec<AssetFile>)> {
        let unread = || format!("failed to read the database {url}");
        let (kind, name) = match url.sqlite_path() {
            Some(_) => (DatabaseKind::Sqlite, SQLITE),
            None => (DatabaseKind::Postgres, POSTGRES),
        };
        let copy = self.folder.join(name);
        let mut inspection = match url.sqlite_path() {
            Some(path) => {
                snapshot(path, &copy).with_context(unread)?;
                Inspection::open(&DatabaseUrl::sqlite(&copy))
            }
            None => Inspection::open(url),
        }
        .with_context(unread)?;
        let state = inspection.state().with_context(unread)?;
        if let Some(unknown) = state.schema.unknown.first() {
            bail!(
                "the database was written by a newer version (it has migration {unknown}): make \
                 the backup with that version"
            );
        }
        if kind == DatabaseKind::Postgres {
            dump(&PostgresProgram::find(pg_dump, url, &state.version)?, &copy)?;
        }
        let key = sealing_key(&mut inspection).with_context(unread)?;
        let assets = inspection.assets().with_context(unread)?;
        let content = files::content(&copy).with_context(|| copy.display().to_string())?;
        self.files.push(FileEntry::new(name.to_owned(), content));
        Ok((Manifest::of(kind, state, key), assets))
    }

    /// Refuses a backup without files that its database names, unless they may be missing.
    fn check_attachments(
        &self,
        assets: &[AssetFile],
        location: &Location,
        may_be_missing: bool,
    ) -> anyhow::Result<()> {
        let missing: Vec<_> = assets
            .iter()
            .filter(|asset| !asset.is_in(&self.folder.join(ATTACHMENTS)))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let named: Vec<_> = missing
            .iter()
            .map(|it| format!("\n  {}", it.name))
            .collect();
        let told = format!(
            "{} attachments of the database are not in {location}, or not as long as they were:{}",
            missing.len(),
            named.concat()
        );
        if may_be_missing {
            logging::say(&format!("warning: {told}"));
            return Ok(());
        }
        bail!("{told}\nput them back, or go on without what is missing with --allow-missing");
    }

    /// Copies the attachments that were not copied yet. They never change once they have their
    /// name. Those in a bucket stay there.
    fn copy_attachments(&mut self, location: &Location) -> anyhow::Result<()> {
        match location {
            Location::Folder(folder) => self.copy_all(
                folder,
                ATTACHMENTS,
                files::list(folder, is_company, is_asset)?,
            ),
            Location::Bucket(_) => Ok(()),
        }
    }

    /// Copies the logs of runs. Those of live runs are cut where they end now.
    fn copy_logs(&mut self, folder: &Path) -> anyhow::Result<()> {
        self.copy_all(folder, RUNS, files::list(folder, is_company, is_log)?)
    }

    fn copy_all(
        &mut self,
        from: &Path,
        name: &str,
        found: Vec<(String, String)>,
    ) -> anyhow::Result<()> {
        for (company, file) in found {
            if self.copied.contains(&(company.clone(), file.clone())) {
                continue;
            }
            let path = format!("{name}/{company}/{file}");
            let to = self.folder.join(&path);
            files::make_folder(&files::split(&to)?.0)?;
            match files::copy(&from.join(&company).join(&file), &to) {
                Ok(content) => self.files.push(FileEntry::new(path, content)),
                // It was deleted meanwhile, and so was its row.
                Err(error) if is_gone(&error) => continue,
                Err(error) => return Err(error),
            }
            self.copied.insert((company, file));
        }
        Ok(())
    }

    /// Says which master key the backup needs, and puts it in where that is wanted.
    fn needed_key(
        &mut self,
        key: Option<NeededKey>,
        data_dir: &Path,
        args: &BackupArgs,
    ) -> anyhow::Result<Option<NeededKey>> {
        let file = data_dir.join(MASTER_KEY);
        let given = master_key::given_lines();
        let source = match &given {
            Some(_) => master_key::CURRENT.to_owned(),
            None => file.display().to_string(),
        };
        let Some(key) = key else {
            return Ok(None);
        };
        if args.with_master_key {
            let vault = master_key::existing_vault(&file)?
                .with_context(|| format!("there is no master key in {}", file.display()))?;
            ensure!(
                master_key::ids(&vault).contains(&key.id),
                "the master key of {source} is not the one that the database was sealed with (id \
                 {})",
                key.id
            );
            let copy = self.folder.join(MASTER_KEY);
            match &given {
                Some(lines) => files::write(&copy, |to| to.write_all(lines.as_bytes()))?,
                None => files::copy(&file, &copy).map(drop)?,
            }
            let content = files::content(&copy)?;
            self.files
                .push(FileEntry::new(MASTER_KEY.to_owned(), content));
        }
        Ok(Some(NeededKey {
            is_included: args.with_master_key,
            source,
            ..key
        }))
    }
}

/// The master key that the database is sealed with; `None` when nothing ever was.
pub(super) fn sealing_key(inspection: &mut Inspection) -> Result<Option<KeyId>, StoreError> {
    inspection.read(|reads| {
        let canary = reads.sealed().canary()?;
        let key = canary.map(|canary| key_of(&canary)).transpose();
        key.map_err(|error| StoreError::Failed(Box::new(error)))
    })
}

fn is_gone(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn dump(pg_dump: &PostgresProgram, to: &Path) -> anyhow::Result<()> {
    // Made first, so that nobody else may read it from its first byte on.
    files::create(to).with_context(|| format!("failed to write {}", to.display()))?;
    let file = to.to_str().context("the path is not valid UTF-8")?;
    pg_dump.run(&[
        "--format=custom",
        "--no-owner",
        "--no-privileges",
        "--no-password",
        "--file",
        file,
    ])?;
    Ok(())
}

fn tell(manifest: &Manifest, target: &Path) -> anyhow::Result<()> {
    let mut out = io::stdout();
    let bytes: u64 = manifest.files.iter().map(|file| file.bytes).sum();
    let count = manifest.files.len();
    writeln!(
        out,
        "{} has {count} files of {bytes} bytes",
        target.display()
    )?;
    if !manifest.attachments.are_included {
        writeln!(
            out,
            "attachments are not in it: they stay in {}",
            manifest.attachments.place
        )?;
    }
    match &manifest.master_key {
        Some(key) if key.is_included => writeln!(
            out,
            "the master key is in it: whoever has the backup can open every secret"
        )?,
        Some(key) => writeln!(
            out,
            "the master key is not in it: keep the one of {} (id {}) elsewhere",
            key.source, key.id
        )?,
        None => {}
    }
    Ok(())
}
