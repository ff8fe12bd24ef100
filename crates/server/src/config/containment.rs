use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use workforce_engine::{AgentHome, ContainmentMode, ContainmentPlan};
use workforce_guard::RunAs;
use workforce_guard::client::{self, GuardProgram};
use workforce_infra::objects::Location;

use super::{AuthMode, ServeArgs};

/// What runs are kept from (docs/operations.md#containment).
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ContainmentArgs {
    /// How strictly runs are kept from the server's files and processes.
    #[arg(
        long,
        env = "WORKFORCE_CONTAINMENT",
        value_enum,
        default_value = "best-effort"
    )]
    containment: Mode,

    /// With `--containment strict`: more folders that runs may write to, separated
    /// by commas.
    #[arg(long, env = "WORKFORCE_WRITABLE", value_delimiter = ',')]
    writable: Vec<PathBuf>,

    /// Whose home folder agents have; private unless requests without a credential
    /// are the board.
    #[arg(long, env = "WORKFORCE_AGENT_HOME", value_enum)]
    agent_home: Option<Home>,

    /// The user that agents' programs run as, where the server runs as root.
    #[arg(long, env = "WORKFORCE_RUN_AS", value_name = "USER")]
    run_as: Option<String>,
}

/// How strictly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// By the best means that the kernel gives.
    BestEffort,
    /// As `required`, and runs write to their own places only.
    Strict,
    /// The server does not start where the kernel gives no means.
    Required,
    /// Not at all.
    Off,
}

/// Whose home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Home {
    /// That of the server's user.
    Shared,
    /// One of their own, in the data folder.
    Private,
}

impl ServeArgs {
    /// Whose home folder agents have.
    pub(crate) fn agent_home(&self) -> AgentHome {
        match (self.containment.agent_home, self.auth) {
            (Some(Home::Shared), _) | (None, AuthMode::LocalTrusted) => AgentHome::Shared,
            (Some(Home::Private), _) | (None, _) => AgentHome::Private,
        }
    }

    /// What runs are kept from: all files of the server, wherever they lie.
    pub(crate) async fn contain(
        &self,
        guard: &GuardProgram,
        data_dir: &Path,
        attachments: &Location,
    ) -> anyhow::Result<ContainmentPlan> {
        let mode = match self.containment.containment {
            Mode::BestEffort => ContainmentMode::BestEffort,
            Mode::Strict => ContainmentMode::Strict,
            Mode::Required => ContainmentMode::Required,
            Mode::Off => ContainmentMode::Off,
        };
        let mut hidden = vec![data_dir.to_owned()];
        hidden.extend(self.secret_files.clone());
        if let Location::Folder(folder) = attachments {
            hidden.push(folder.clone());
        }
        if let Some(database) = self.data.database()?.sqlite_path() {
            for suffix in ["", "-wal", "-shm"] {
                let mut file = database.as_os_str().to_owned();
                file.push(suffix);
                hidden.push(file.into());
            }
        }
        let hidden = whole(&hidden)?;
        let writable = whole(&self.containment.writable)?;
        let run_as = self.run_as()?;
        if let Some(run_as) = &run_as {
            check_way(guard, run_as, data_dir).await?;
        }
        let plan = ContainmentPlan::make(mode, guard, hidden, writable, run_as).await?;
        plan.open_data_folder(data_dir)
            .with_context(|| data_dir.display().to_string())?;
        Ok(plan)
    }

    /// The account of agents' programs, if it is not the server's.
    ///
    /// # Errors
    /// When programs cannot run as that user.
    pub(crate) fn run_as(&self) -> anyhow::Result<Option<RunAs>> {
        let named = self.containment.run_as.as_deref();
        let found = named.map(RunAs::resolve).transpose();
        found.context("--run-as; see docs/operations.md#another-user")
    }
}

/// The homes of agents, and what runs are told, lie in the data folder.
async fn check_way(guard: &GuardProgram, run_as: &RunAs, data_dir: &Path) -> anyhow::Result<()> {
    let parent = data_dir.parent().unwrap_or(data_dir);
    if let Some(refusal) = client::refusal_to_enter(guard, run_as, parent).await? {
        bail!(
            "--run-as {}: this user cannot enter {}, which the data folder lies in: {refusal}",
            run_as.name,
            parent.display()
        );
    }
    Ok(())
}

/// The paths without links, and without those that lie beneath others.
fn whole(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut whole: Vec<PathBuf> = Vec::new();
    for path in paths {
        match path.canonicalize() {
            Ok(path) => whole.push(path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        }
    }
    whole.sort();
    whole.dedup_by(|later, earlier| later.starts_with(earlier));
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beneath_a_hidden_folder_is_hidden_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["data", "data/attachments", "other"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("other"), root.join("link")).unwrap();
        let paths = ["data/attachments", "link", "data", "missing"].map(|name| root.join(name));
        let expected = ["data", "other"].map(|name| root.join(name));
        assert_eq!(whole(&paths).unwrap(), expected);
    }
}
