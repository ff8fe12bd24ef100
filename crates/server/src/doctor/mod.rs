//! `workforce doctor`: looks whether everything that a server keeps is in order
//! (docs/upkeep.md#doctor).

mod database;
mod files;
mod finding;
mod programs;
mod repair;
mod runs;
mod worktrees;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use workforce_domain::port::StoreError;
use workforce_infra::data_folder::{DataFolder, RUNS, WORKTREES};
use workforce_infra::objects::Location;
use workforce_infra::store::{DatabaseUrl, Inspection, is_served};

use self::finding::{Finding, Level};
use crate::config::DataArgs;
use crate::logging;

/// The exit code when something is wrong.
const PROBLEMS: u8 = 1;
/// The exit code when not everything could be looked at.
const NOT_LOOKED: u8 = 2;

/// Flags of `workforce doctor`.
#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    data: DataArgs,

    /// Repair what can be repaired without loss, and say what was done.
    #[arg(long)]
    fix: bool,

    /// Write one JSON document instead of lines.
    #[arg(long)]
    json: bool,

    /// Bytes that should be free, as the server is told.
    #[arg(long, env = "WORKFORCE_MIN_FREE_BYTES", default_value_t = 256 * 1024 * 1024)]
    min_free_bytes: u64,

    /// The folder of the worktrees of tickets, as the server is told.
    #[arg(long, env = "WORKFORCE_WORKTREES", value_name = "FOLDER")]
    worktrees: Option<PathBuf>,

    /// The user that agents' programs run as, as the server is told.
    #[arg(long, env = "WORKFORCE_RUN_AS", value_name = "USER")]
    run_as: Option<String>,

    /// The program `pg_dump`, which backups of a PostgreSQL database need.
    #[arg(long, default_value = "pg_dump")]
    pg_dump: PathBuf,
}

/// What is looked at.
struct Site<'a> {
    args: &'a DoctorArgs,
    folder: DataFolder,
    data_dir: PathBuf,
    database: DatabaseUrl,
    attachments: Location,
    /// Whether a server uses it now.
    is_served: bool,
}

impl<'a> Site<'a> {
    fn of(args: &'a DoctorArgs) -> anyhow::Result<Self> {
        let folder = DataFolder::look(&args.data.data_dir)?;
        let data_dir = folder.path().to_owned();
        let database = args.data.database()?;
        Ok(Self {
            args,
            is_served: is_served(&data_dir, &database)?,
            attachments: args.data.attachments(&data_dir),
            folder,
            data_dir,
            database,
        })
    }

    fn worktrees(&self) -> PathBuf {
        let named = self.args.worktrees.clone();
        named.unwrap_or_else(|| self.data_dir.join(WORKTREES))
    }

    fn runs_dir(&self) -> PathBuf {
        self.data_dir.join(RUNS)
    }
}

/// Looks, repairs and tells; 0 when all is well, 1 when it is not, 2 when it
/// could not look.
pub(crate) fn run(args: &DoctorArgs) -> ExitCode {
    match examine(args) {
        Ok(code) => code,
        Err(error) => {
            logging::say(&format!("workforce: {error:#}"));
            ExitCode::from(NOT_LOOKED)
        }
    }
}

fn examine(args: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let site = Site::of(args)?;
    let (mut findings, mut is_complete) = look(&site);
    let mut repaired = Vec::new();
    if args.fix {
        repaired = repair::all(&site, &findings);
        (findings, is_complete) = look(&site);
    }
    tell(args, &findings, &repaired)?;
    let is_well = findings.iter().all(|it| it.level != Level::Problem);
    Ok(match (is_complete, is_well) {
        (false, _) => ExitCode::from(NOT_LOOKED),
        (true, false) => ExitCode::from(PROBLEMS),
        (true, true) => ExitCode::SUCCESS,
    })
}

/// What there is to say, and whether everything could be looked at.
fn look(site: &Site<'_>) -> (Vec<Finding>, bool) {
    let mut findings = Vec::new();
    let opened = Inspection::open(&site.database);
    let looked = opened
        .and_then(|mut inspection| {
            let state = database::look(site, &mut inspection, &mut findings)?;
            files::look_with_database(site, &mut inspection, &mut findings)?;
            runs::look(site, &mut inspection, &mut findings)?;
            worktrees::look(site, &mut inspection, &mut findings)?;
            programs::look(site, &mut inspection, &state, &mut findings)
        })
        .inspect_err(|error| findings.push(database::unreadable(site, error)));
    files::look(site, &mut findings);
    // What is there and cannot be read is a problem like any other.
    let is_reached = !matches!(looked, Err(StoreError::Unavailable(_)));
    (findings, is_reached)
}

fn tell(args: &DoctorArgs, findings: &[Finding], repaired: &[String]) -> io::Result<()> {
    let mut out = io::stdout();
    let count = |level| findings.iter().filter(|it| it.level == level).count();
    let (problems, warnings) = (count(Level::Problem), count(Level::Warning));
    if args.json {
        let told = json!({
            "findings": findings, "repaired": repaired, "problems": problems,
            "warnings": warnings,
        });
        return writeln!(out, "{told}");
    }
    for done in repaired {
        writeln!(out, "repaired {done}")?;
    }
    for finding in findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(out, "{problems} problems, {warnings} warnings")
}
