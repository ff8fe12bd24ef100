//! Projects and workspaces: make, read, change (specification section 4,
//! contract section 2.4).

use std::collections::HashSet;

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::activity::{Action, Entity};
use workforce_domain::actor::{CompanyScope, Owned};
use workforce_domain::agent::{first_free, url_key_stem};
use workforce_domain::change::Change;
use workforce_domain::id::{AgentId, CompanyId, GoalId, ProjectId, WorkspaceId};
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{
    Failure, Held, MAX_PROJECT_GOALS, MAX_WORKSPACES, ProjectKey, Reads, StoreError, Tx,
};
use workforce_domain::project::{GoalLink, Project, ProjectStatus, Workspace, WorkspaceSource};
use workforce_domain::text::{Description, Label, Location, Name};
use workforce_domain::time::Timestamp;

use crate::access::{self, Denied, FieldFault, denied};
use crate::call::Call;
use crate::record::{Deed, document, record};
use crate::refusal::{Code, Refusal};

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
}

impl Refusal for ProjectError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
            Self::NoSource { .. } => Code::InvalidField,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
            Self::NoSource { pointer } => Some(json!([
                { "pointer": format!("{pointer}/cwd"), "message": self.to_string() },
                { "pointer": format!("{pointer}/repoUrl"), "message": self.to_string() },
            ])),
        }
    }
}

/// A project with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProjectView {
    /// The project.
    pub project: Project,
    /// The goals it is linked to.
    pub goals: Vec<GoalLink>,
    /// Its workspaces, the primary one first.
    pub workspaces: Vec<Workspace>,
}

/// Fields of a new workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateWorkspace {
    /// Its name; taken from the directory or repository when unsaid.
    pub name: Option<Name>,
    /// Its directory.
    pub cwd: Option<Location>,
    /// Its repository.
    pub repo_url: Option<Location>,
    /// Branch or ref to start from.
    pub repo_ref: Option<Label>,
    /// The branch that work is merged into.
    pub default_base_branch: Option<Label>,
    /// Whether it is to be the primary one; the first always is.
    pub is_primary: bool,
    /// Anything the board wants to keep with it.
    pub metadata: Document,
}

/// Makes a project.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateProject {
    /// Its name.
    pub name: Name,
    /// What it delivers.
    pub description: Option<Description>,
    /// Where it stands; backlog unless said otherwise.
    pub status: Option<ProjectStatus>,
    /// The goals it is linked to.
    pub goals: Vec<GoalId>,
    /// The agent that leads it.
    pub lead_agent: Option<AgentId>,
    /// When it is to be finished.
    pub target_date: Option<Timestamp>,
    /// Colour of its badge.
    pub color: Option<Label>,
    /// Whether every issue must be reviewed.
    pub review_required: bool,
    /// Its first workspace.
    pub workspace: Option<CreateWorkspace>,
}

/// Makes a project, seeded with a workspace if one is given. Anyone of the
/// company; the workspace is for the board, since runs start in it.
///
/// # Errors
/// [`ProjectError`]
pub fn create(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    company: CompanyId,
    command: CreateProject,
) -> Result<ProjectView, Failure<ProjectError>> {
    let scope = access::company_scope(tx.reads(), call, company)?;
    call.require_working_company().map_err(denied)?;
    let goals = check_goals(tx.reads(), scope, command.goals)?;
    check_lead(tx.reads(), scope, command.lead_agent)?;
    let stem = url_key_stem(&command.name);
    let taken = tx.projects().url_keys(scope, &stem)?;
    let project = Project {
        id: call.id(),
        company,
        name: command.name,
        url_key: first_free(&stem, "-", &taken),
        description: command.description,
        status: command.status.unwrap_or(ProjectStatus::Backlog),
        lead_agent: command.lead_agent,
        target_date: command.target_date,
        color: command.color,
        review_required: command.review_required,
        archived_at: None,
        created_at: call.now,
        updated_at: call.now,
    };
    tx.projects_mut().insert(&project)?;
    let project = Held::locked(project);
    if !goals.is_empty() {
        tx.projects_mut().set_goals(&project, &goals)?;
    }
    if let Some(workspace) = command.workspace {
        insert_workspace(tx, call, &project, workspace, 0, "/workspace")?;
    }
    let details = json!({ "name": project.name });
    write_down(
        tx,
        call,
        Action::ProjectCreated,
        (Entity::Project, &project.id),
        &project,
        details,
    );
    Ok(view(tx.reads(), project.into_inner())?)
}

/// Projects of a company, oldest first.
///
/// # Errors
/// [`ProjectError`]
pub fn list(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    company: CompanyId,
    page: &PageRequest<ProjectKey>,
) -> Result<Page<ProjectView, ProjectKey>, Failure<ProjectError>> {
    let scope = access::company_scope(reads, call, company)?;
    let page = reads.projects().list(scope, page)?;
    let next = page.next;
    Ok(Page {
        items: views(reads, scope, page.items)?,
        next,
    })
}

/// One project with its goals and workspaces.
///
/// # Errors
/// [`ProjectError`]
pub fn get(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    id: ProjectId,
) -> Result<ProjectView, Failure<ProjectError>> {
    let project = find(reads, call, id)?;
    Ok(view(reads, project)?)
}

/// Changes a project's fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateProject {
    /// Its name.
    pub name: Option<Name>,
    /// What it delivers.
    pub description: Change<Description>,
    /// Where it stands.
    pub status: Option<ProjectStatus>,
    /// The goals it is linked to, in place of the present ones.
    pub goals: Change<Vec<GoalId>>,
    /// The agent that leads it.
    pub lead_agent: Change<AgentId>,
    /// When it is to be finished.
    pub target_date: Change<Timestamp>,
    /// Colour of its badge.
    pub color: Change<Label>,
    /// Whether every issue must be reviewed; for the board.
    pub review_required: Option<bool>,
    /// When it was archived.
    pub archived_at: Change<Timestamp>,
}

/// Changes a project. Anyone of the company.
///
/// # Errors
/// [`ProjectError`]
pub fn update(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    id: ProjectId,
    command: UpdateProject,
) -> Result<ProjectView, Failure<ProjectError>> {
    let mut project = hold(tx, call, id)?;
    let scope = project.scope();
    let before = Project::clone(&project);
    if command.review_required.is_some() {
        call.require_board().map_err(denied)?;
    }
    check_lead(tx.reads(), scope, command.lead_agent.value().copied())?;
    let goals = match command.goals {
        Change::Keep => None,
        Change::Clear => Some(Vec::new()),
        Change::Set(goals) => Some(check_goals(tx.reads(), scope, goals)?),
    };
    if let Some(name) = command.name {
        project.name = name;
    }
    project.description = command.description.apply(project.description.take());
    project.status = command.status.unwrap_or(project.status);
    project.lead_agent = command.lead_agent.apply(project.lead_agent);
    project.target_date = command.target_date.apply(project.target_date);
    project.color = command.color.apply(project.color.take());
    project.review_required = command.review_required.unwrap_or(project.review_required);
    project.archived_at = command.archived_at.apply(project.archived_at);
    if let Some(goals) = &goals {
        tx.projects_mut().set_goals(&project, goals)?;
    }
    if *project != before || goals.is_some() {
        project.updated_at = call.now;
        tx.projects_mut().save(&project)?;
        let details = json!({ "status": project.status });
        let entity = (Entity::Project, &project.id as &dyn std::fmt::Display);
        write_down(tx, call, Action::ProjectUpdated, entity, &project, details);
    }
    Ok(view(tx.reads(), project.into_inner())?)
}

/// The workspaces of a project, the primary one first.
///
/// # Errors
/// [`ProjectError`]
pub fn workspaces(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    id: ProjectId,
) -> Result<Vec<Workspace>, Failure<ProjectError>> {
    let project = find(reads, call, id)?;
    Ok(reads.projects().workspaces(project.scope(), &[id])?)
}

/// Adds a workspace to a project. Board only, since runs start in it.
///
/// # Errors
/// [`ProjectError`]
pub fn create_workspace(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    id: ProjectId,
    command: CreateWorkspace,
) -> Result<Workspace, Failure<ProjectError>> {
    let project = hold(tx, call, id)?;
    let present = tx.projects().workspaces(project.scope(), &[id])?.len();
    insert_workspace(tx, call, &project, command, present, "")
}

/// Changes a workspace's fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateWorkspace {
    /// Its name.
    pub name: Option<Name>,
    /// Its directory.
    pub cwd: Change<Location>,
    /// Its repository.
    pub repo_url: Change<Location>,
    /// Branch or ref to start from.
    pub repo_ref: Change<Label>,
    /// The branch that work is merged into.
    pub default_base_branch: Change<Label>,
    /// `true` makes it the primary one; the primary one cannot give that up by
    /// itself, another takes it.
    pub is_primary: Option<bool>,
    /// Anything the board wants to keep with it.
    pub metadata: Change<Document>,
}

/// Changes a workspace, which must still have a directory or a repository
/// afterwards. Board only.
///
/// # Errors
/// [`ProjectError`]
pub fn update_workspace(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    project: ProjectId,
    id: WorkspaceId,
    command: UpdateWorkspace,
) -> Result<Workspace, Failure<ProjectError>> {
    let project = hold(tx, call, project)?;
    let mut workspace = held_workspace(tx, call, &project, id)?;
    let cwd = command.cwd.apply(workspace.source.cwd().cloned());
    let repo_url = command.repo_url.apply(workspace.source.repo_url().cloned());
    workspace.source = WorkspaceSource::new(cwd, repo_url)
        .ok_or(Failure::Refused(ProjectError::NoSource { pointer: "" }))?;
    if let Some(name) = command.name {
        workspace.name = name;
    }
    workspace.repo_ref = command.repo_ref.apply(workspace.repo_ref);
    workspace.default_base_branch = command
        .default_base_branch
        .apply(workspace.default_base_branch);
    if command.is_primary == Some(true) {
        workspace.is_primary = true;
    }
    workspace.metadata = match command.metadata {
        Change::Keep => workspace.metadata,
        Change::Clear => Document::new(),
        Change::Set(metadata) => metadata,
    };
    workspace.updated_at = call.now;
    tx.projects_mut().save_workspace(&project, &workspace)?;
    let entity = (Entity::Workspace, &workspace.id as &dyn std::fmt::Display);
    write_down(
        tx,
        call,
        Action::WorkspaceUpdated,
        entity,
        &project,
        json!({}),
    );
    Ok(workspace)
}

/// Removes a workspace; the oldest remaining one takes the primary place.
/// Board only.
///
/// # Errors
/// [`ProjectError`]
pub fn delete_workspace(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    project: ProjectId,
    id: WorkspaceId,
) -> Result<(), Failure<ProjectError>> {
    let project = hold(tx, call, project)?;
    let gone = held_workspace(tx, call, &project, id)?;
    tx.projects_mut().delete_workspace(&project, id)?;
    if gone.is_primary {
        let left = tx.projects().workspaces(project.scope(), &[project.id])?;
        if let Some(mut heir) = left
            .into_iter()
            .min_by_key(|left| (left.created_at, left.id))
        {
            heir.is_primary = true;
            heir.updated_at = call.now;
            tx.projects_mut().save_workspace(&project, &heir)?;
        }
    }
    let entity = (Entity::Workspace, &id as &dyn std::fmt::Display);
    write_down(
        tx,
        call,
        Action::WorkspaceDeleted,
        entity,
        &project,
        json!({}),
    );
    Ok(())
}

fn insert_workspace(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    project: &Held<Project>,
    command: CreateWorkspace,
    present: usize,
    pointer: &'static str,
) -> Result<Workspace, Failure<ProjectError>> {
    call.require_board().map_err(denied)?;
    if present >= MAX_WORKSPACES {
        let fault = FieldFault::invalid(pointer, "the project has as many workspaces as it may");
        return Err(Failure::Refused(fault.into()));
    }
    let source = WorkspaceSource::new(command.cwd, command.repo_url)
        .ok_or(Failure::Refused(ProjectError::NoSource { pointer }))?;
    let name = match command.name.or_else(|| source.default_name()) {
        Some(name) => name,
        None => project.name.clone(),
    };
    let workspace = Workspace {
        id: call.id(),
        company: project.company,
        project: project.id,
        name,
        source,
        repo_ref: command.repo_ref,
        default_base_branch: command.default_base_branch,
        is_primary: command.is_primary || present == 0,
        metadata: command.metadata,
        created_at: call.now,
        updated_at: call.now,
    };
    tx.projects_mut().insert_workspace(project, &workspace)?;
    let entity = (Entity::Workspace, &workspace.id as &dyn std::fmt::Display);
    let details = json!({ "name": workspace.name });
    write_down(tx, call, Action::WorkspaceCreated, entity, project, details);
    Ok(workspace)
}

fn find(
    reads: &mut dyn Reads,
    call: &Call<'_>,
    id: ProjectId,
) -> Result<Project, Failure<ProjectError>> {
    reads
        .projects()
        .find(call.actor().scope(), id)?
        .ok_or_else(|| denied(Denied::NotFound("project")))
}

fn hold(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    id: ProjectId,
) -> Result<Held<Project>, Failure<ProjectError>> {
    let Some(project) = tx.projects_mut().lock(call.actor().scope(), id)? else {
        return Err(denied(Denied::NotFound("project")));
    };
    call.require_working_company().map_err(denied)?;
    Ok(project)
}

fn held_workspace(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    project: &Held<Project>,
    id: WorkspaceId,
) -> Result<Workspace, Failure<ProjectError>> {
    let found = tx
        .projects()
        .workspaces(project.scope(), &[project.id])?
        .into_iter()
        .find(|workspace| workspace.id == id)
        .ok_or_else(|| denied(Denied::NotFound("workspace")))?;
    call.require_board().map_err(denied)?;
    Ok(found)
}

fn check_goals(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    mut goals: Vec<GoalId>,
) -> Result<Vec<GoalId>, Failure<ProjectError>> {
    if goals.len() > MAX_PROJECT_GOALS {
        let message = format!("at most {MAX_PROJECT_GOALS} goals");
        return Err(Failure::Refused(
            FieldFault::invalid("/goalIds", message).into(),
        ));
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
            Err(Failure::Refused(fault.into()))
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
        None => Err(Failure::Refused(
            FieldFault::missing("/leadAgentId", "agent").into(),
        )),
    }
}

fn view(reads: &mut dyn Reads, project: Project) -> Result<ProjectView, StoreError> {
    let scope = project.scope();
    let goals = reads.projects().goals(scope, &[project.id])?;
    let workspaces = reads.projects().workspaces(scope, &[project.id])?;
    Ok(ProjectView {
        project,
        goals: goals.into_iter().map(|(_, goal)| goal).collect(),
        workspaces,
    })
}

/// Several projects with what belongs to them, in three queries. Projects
/// without anything beside them, such as those around an issue, come out the
/// same way.
///
/// # Errors
/// When the store fails.
pub(crate) fn views(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    projects: Vec<Project>,
) -> Result<Vec<ProjectView>, StoreError> {
    let ids: Vec<ProjectId> = projects.iter().map(|project| project.id).collect();
    let goals = reads.projects().goals(scope, &ids)?;
    let workspaces = reads.projects().workspaces(scope, &ids)?;
    Ok(projects
        .into_iter()
        .map(|project| ProjectView {
            goals: goals
                .iter()
                .filter(|(owner, _)| *owner == project.id)
                .map(|(_, goal)| goal.clone())
                .collect(),
            workspaces: workspaces
                .iter()
                .filter(|workspace| workspace.project == project.id)
                .cloned()
                .collect(),
            project,
        })
        .collect())
}

fn write_down(
    tx: &mut dyn Tx,
    call: &Call<'_>,
    action: Action,
    (entity, id): (Entity, &dyn std::fmt::Display),
    project: &Project,
    details: Value,
) {
    let mut details = document(details);
    details.insert("projectId".into(), json!(project.id));
    record(
        tx,
        call,
        Deed {
            company: project.company,
            action,
            entity,
            id,
            details,
        },
    );
}
