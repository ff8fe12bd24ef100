//! Projects and workspaces: make, read, change (docs/workspaces.md#projects).

mod adopt_address;
mod create;
mod delete;
mod read;
mod update;
mod workspaces;

use serde::Serialize;

use std::collections::HashSet;

use serde_json::{Value, json};
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::{AgentId, GoalId, IssueId, ProjectId, WorkspaceId};
use workforce_domain::port::{Failure, Locked, MAX_PROJECT_GOALS, Reads, Tx};
use workforce_domain::project::{GoalLink, Project, Workspace};

pub use adopt_address::{
    AddressChange, AdoptAddress, AdoptedAddress, adopt_address, workspace_to_adopt,
};
pub use create::{CREATE, CreateProject, create};
pub use delete::{DELETE, delete};
pub(crate) use read::views;
pub use read::{ProjectRef, get, list, list_bare, names, workspaces};
pub use update::{UPDATE, UpdateProject, update};
pub use workspaces::{
    CreateWorkspace, UpdateWorkspace, WORKSPACE, create_workspace, delete_workspace,
    update_workspace,
};

use crate::access::{Denied, FieldFault};
use crate::context::Context;
use crate::refusal::{Code, Codes, Refusal};

/// Why a call about projects is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    /// The caller may not, or there is no such project or workspace.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A field's value breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldFault),
    /// A workspace has neither a directory nor a repository.
    #[error("a workspace needs at least one of cwd and repoUrl")]
    NoSource {
        /// Where the workspace stands in the body.
        pointer: &'static str,
    },
    /// A ticket has a worktree of the workspace, and its issue is open.
    #[error("an open ticket has a worktree of this workspace")]
    WorkspaceInUse {
        /// The workspace.
        workspace: WorkspaceId,
        /// The issue of the ticket.
        issue: IssueId,
    },
}

impl Refusal for ProjectError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
            Self::NoSource { .. } => Code::InvalidField,
            Self::WorkspaceInUse { .. } => Code::WorkspaceInUse,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
            Self::WorkspaceInUse { workspace, issue } => {
                Some(json!({ "workspaceId": workspace, "issueId": issue }))
            }
            Self::NoSource { pointer } => Some(json!([
                { "pointer": format!("{pointer}/cwd"), "message": self.to_string() },
                { "pointer": format!("{pointer}/repoUrl"), "message": self.to_string() },
            ])),
        }
    }
}

/// A project with what belongs to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Project))]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    /// The project itself.
    #[serde(flatten)]
    pub project: Project,
    /// The goals it is linked to.
    goal_ids: Vec<GoalId>,
    /// The same goals with their titles.
    pub goals: Vec<GoalLink>,
    /// The first of its goals.
    #[cfg_attr(feature = "openapi", schema(deprecated))]
    goal_id: Option<GoalId>,
    /// Its workspaces, the primary one first.
    pub workspaces: Vec<Workspace>,
    /// The workspace in which its runs start.
    primary_workspace: Option<Workspace>,
}

impl ProjectView {
    /// A project with its goals, and its workspaces, the primary one first.
    fn new(project: Project, goals: Vec<GoalLink>, workspaces: Vec<Workspace>) -> Self {
        Self {
            goal_ids: goals.iter().map(|goal| goal.id).collect(),
            goal_id: goals.first().map(|goal| goal.id),
            goals,
            primary_workspace: workspaces.iter().find(|it| it.is_primary).cloned(),
            workspaces,
            project,
        }
    }
}

fn lock(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ProjectId,
) -> Result<Locked<Project>, Failure<ProjectError>> {
    let Some(project) = tx.projects_mut().lock(ctx.actor().scope(), id)? else {
        return Err(Denied::NotFound("project").into());
    };
    ctx.require_working_company()?;
    Ok(project)
}

/// What the places of a project are refused with.
const PLACES: Codes = Codes::of(&[Code::InvalidField, Code::ReferenceNotFound]);

fn check_goals(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    mut goals: Vec<GoalId>,
) -> Result<Vec<GoalId>, Failure<ProjectError>> {
    if goals.len() > MAX_PROJECT_GOALS {
        let message = format!("at most {MAX_PROJECT_GOALS} goals");
        return Err(FieldFault::invalid("/goalIds", message).into());
    }
    let mut seen = HashSet::new();
    goals.retain(|goal| seen.insert(*goal));
    if goals.is_empty() {
        return Ok(goals);
    }
    let found: HashSet<GoalId> = reads
        .goals()
        .find_all(scope, &goals)?
        .into_iter()
        .map(|goal| goal.id)
        .collect();
    match goals.iter().position(|goal| !found.contains(goal)) {
        Some(index) => {
            let fault = FieldFault::missing(format!("/goalIds/{index}"), "goal");
            Err(fault.into())
        }
        None => Ok(goals),
    }
}

fn check_lead(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    lead: Option<AgentId>,
) -> Result<(), Failure<ProjectError>> {
    let Some(lead) = lead else { return Ok(()) };
    match reads.agents().find(scope.into(), lead)? {
        Some(_) => Ok(()),
        None => Err(FieldFault::missing("/leadAgentId", "agent").into()),
    }
}
