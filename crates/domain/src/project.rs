//! Projects, and their workspaces: the directories and repositories that their work is done in.

use serde::Serialize;

use alloc::string::String;

use crate::Document;
use crate::actor::company_owned;
use crate::fields;
use crate::id::{AgentId, CompanyId, GoalId, ProjectId, WorkspaceId};
use crate::money::Budget;
use crate::string_enum;
use crate::text::{Description, Label, Location, Name, Title};
use crate::time::{Timestamp, TimestampError};

string_enum! {
    /// Where a project stands; any value may follow any other.
    pub enum ProjectStatus {
        /// Not planned yet; the default.
        Backlog = "backlog",
        /// Planned.
        Planned = "planned",
        /// Being worked on.
        InProgress = "in_progress",
        /// Finished.
        Completed = "completed",
        /// Given up.
        Cancelled = "cancelled",
    }
}

string_enum! {
    /// Whether the board must agree to how the work of a project is done.
    pub enum ProjectGovernance {
        /// Only where a plan or a worktree governs an issue; the default.
        None = "none",
        /// Every issue is governed and needs an approved plan.
        Required = "required",
    }
}

/// A project: what is delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ProjectRecord))]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// Unique id.
    pub id: ProjectId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// Its name.
    pub name: Name,
    /// Short name within the company, unique there.
    pub url_key: String,
    /// What it delivers.
    pub description: Option<Description>,
    /// Where it stands.
    pub status: ProjectStatus,
    /// The agent that leads it.
    #[serde(rename = "leadAgentId")]
    pub lead_agent: Option<AgentId>,
    /// When it is to be finished.
    pub target_date: Option<TargetDate>,
    /// Colour of its badge.
    pub color: Option<Label>,
    /// Whether every issue must be reviewed before it is done.
    pub review_required: bool,
    /// Whether agents need an approved plan for its issues.
    pub governance: ProjectGovernance,
    /// Whether its tickets need a repository with a remote, so that none ends with a
    /// branch on the server alone.
    pub remote_required: bool,
    /// Monthly limit on what is spent on its issues.
    #[serde(rename = "budgetMonthlyCents")]
    pub budget: Budget,
    /// Limit on what is spent on its issues in all.
    #[serde(rename = "budgetTotalCents")]
    pub total_budget: Budget,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

company_owned!(Project, company);

/// When something is to be finished: on a day, or at an instant. It is told as it
/// was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetDate {
    at: Timestamp,
    is_day: bool,
}

impl TargetDate {
    /// On the day that begins at `at` in UTC.
    pub const fn day(at: Timestamp) -> Self {
        Self { at, is_day: true }
    }

    /// At an instant.
    pub const fn instant(at: Timestamp) -> Self {
        Self { at, is_day: false }
    }

    /// The instant, the first one of a day.
    pub const fn at(self) -> Timestamp {
        self.at
    }

    /// True for a whole day.
    pub const fn is_day(self) -> bool {
        self.is_day
    }

    /// Reads a date, or an instant of RFC 3339.
    ///
    /// # Errors
    /// When the text is neither.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        match Timestamp::parse_day(text) {
            Ok(first) => Ok(Self::day(first)),
            Err(_) => Timestamp::parse(text).map(Self::instant),
        }
    }
}

impl core::fmt::Display for TargetDate {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        const DATE: usize = "2026-01-31".len();
        if self.is_day {
            let first = alloc::format!("{}", self.at);
            f.write_str(first.get(..DATE).unwrap_or(&first))
        } else {
            self.at.fmt(f)
        }
    }
}

impl Serialize for TargetDate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for TargetDate {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// A goal as a project's answer shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct GoalLink {
    /// The goal.
    pub id: GoalId,
    /// Its title.
    pub title: Title,
}

/// Where a workspace's files are: at least one of a directory and a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspaceSource {
    /// A directory on this machine.
    Directory {
        /// Its path.
        cwd: Location,
        /// The repository it came from.
        repo_url: Option<Location>,
    },
    /// A repository without a directory of its own.
    Repository {
        /// Its address.
        repo_url: Location,
    },
}

impl WorkspaceSource {
    /// The source with these parts; `None` when both are missing.
    pub fn from_parts(cwd: Option<Location>, repo_url: Option<Location>) -> Option<Self> {
        match (cwd, repo_url) {
            (Some(cwd), repo_url) => Some(Self::Directory { cwd, repo_url }),
            (None, Some(repo_url)) => Some(Self::Repository { repo_url }),
            (None, None) => None,
        }
    }

    /// The directory, if any.
    pub const fn cwd(&self) -> Option<&Location> {
        match self {
            Self::Directory { cwd, .. } => Some(cwd),
            Self::Repository { .. } => None,
        }
    }

    /// The repository, if any.
    pub const fn repo_url(&self) -> Option<&Location> {
        match self {
            Self::Directory { repo_url, .. } => repo_url.as_ref(),
            Self::Repository { repo_url } => Some(repo_url),
        }
    }

    /// A name for a workspace that was given none: the last part of its
    /// directory or repository.
    pub fn default_name(&self) -> Option<Name> {
        let place = self.cwd().or(self.repo_url())?;
        let last = place.trim_end_matches('/').rsplit(['/', ':']).next()?;
        Name::parse(last.strip_suffix(".git").unwrap_or(last)).ok()
    }
}

/// A workspace: a directory or repository that a project works in.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Workspace {
    /// Unique id.
    pub id: WorkspaceId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// Its project.
    #[serde(rename = "projectId")]
    pub project: ProjectId,
    /// Its name.
    pub name: Name,
    /// Where its files are.
    #[serde(flatten, serialize_with = "fields::show::<_, fields::LocatedAt, _>")]
    #[cfg_attr(feature = "openapi", schema(value_type = fields::LocatedAt))]
    pub source: WorkspaceSource,
    /// Branch or ref to start from.
    pub repo_ref: Option<Label>,
    /// The branch that work is merged into.
    pub default_base_branch: Option<Label>,
    /// Whether runs of the project start in it; exactly one workspace is.
    pub is_primary: bool,
    /// Anything the board keeps with it.
    pub metadata: Document,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

company_owned!(Workspace, company);
