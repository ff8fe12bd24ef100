use serde::Deserialize;
use serde_json::json;
use workforce_domain::Document;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::{ProjectId, WorkspaceId};
use workforce_domain::port::{Failure, Locked, MAX_WORKSPACES, Tx};
use workforce_domain::project::{Project, Workspace, WorkspaceSource};
use workforce_domain::text::{Label, Location, Name};

use super::delete::require_no_ticket;
use super::{ProjectError, lock};
use crate::access::{Denied, FieldFault, check_document};
use crate::activity_log::{log_activity, log_activity_with};
use crate::changes::Changes;
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// What is kept with a workspace is at most so long as JSON, since lists of
/// projects carry it.
pub(super) const MAX_METADATA: usize = 16 * 1024;

/// A new workspace; needs at least one of `cwd` and `repoUrl`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateWorkspace {
    /// Its name; taken from the directory or repository when left out.
    pub name: Option<Name>,
    /// Its directory.
    pub cwd: Option<Location>,
    /// Its repository.
    pub repo_url: Option<Location>,
    /// Branch or ref to start from.
    pub repo_ref: Option<Label>,
    /// The branch that work is merged into.
    pub default_base_branch: Option<Label>,
    /// Whether it takes the primary place; the first always does.
    pub is_primary: Option<bool>,
    /// Anything to keep with it.
    pub metadata: Option<Document>,
}

/// What a workspace is refused with, whether it is new or changed.
pub const WORKSPACE: Codes = Codes::of(&[Code::InvalidField]);

/// Adds a workspace to a project. Board only, since runs start in it.
pub fn create_workspace(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ProjectId,
    command: CreateWorkspace,
) -> Result<Workspace, Failure<ProjectError>> {
    let project = lock(tx, ctx, id)?;
    let present = tx.projects().workspaces(project.scope(), &[id])?;
    insert_workspace(tx, ctx, &project, command, &present, "")
}

/// Changes a workspace's fields.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateWorkspace {
    /// Its name.
    #[serde(default)]
    pub name: Replace<Name>,
    /// Its directory.
    #[serde(default)]
    pub cwd: Change<Location>,
    /// Its repository.
    #[serde(default)]
    pub repo_url: Change<Location>,
    /// Branch or ref to start from.
    #[serde(default)]
    pub repo_ref: Change<Label>,
    /// The branch that work is merged into.
    #[serde(default)]
    pub default_base_branch: Change<Label>,
    /// `true` takes the primary place; the primary workspace gives it up only
    /// to another.
    #[serde(default)]
    pub is_primary: Replace<bool>,
    /// Anything to keep with it.
    #[serde(default)]
    pub metadata: Change<Document>,
}

/// Changes a workspace, which must still have a directory or a repository
/// afterwards. Board only.
pub fn update_workspace(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    project: ProjectId,
    id: WorkspaceId,
    command: UpdateWorkspace,
) -> Result<Workspace, Failure<ProjectError>> {
    let project = lock(tx, ctx, project)?;
    let (mut workspace, others) = split_workspaces(tx, ctx, &project, id)?;
    let before = workspace.clone();
    let cwd = command.cwd.apply(workspace.source.cwd().cloned());
    let repo_url = command.repo_url.apply(workspace.source.repo_url().cloned());
    workspace.source = WorkspaceSource::from_parts(cwd, repo_url)
        .ok_or(Failure::Refused(ProjectError::NoSource { pointer: "" }))?;
    if let Replace::Set(name) = command.name {
        workspace.name = name;
    }
    workspace.repo_ref = command.repo_ref.apply(workspace.repo_ref);
    workspace.default_base_branch = command
        .default_base_branch
        .apply(workspace.default_base_branch);
    if command.is_primary == Replace::Set(true) {
        workspace.is_primary = true;
    }
    workspace.metadata = match command.metadata {
        Change::Keep => workspace.metadata,
        Change::Clear => Document::new(),
        Change::Set(metadata) => metadata,
    };
    check(&workspace, "")?;
    workspace.updated_at = ctx.now;
    tx.projects_mut().save_workspace(&project, &workspace)?;
    log_workspace_change(tx, ctx, &before, &workspace);
    log_displaced_workspace(tx, ctx, &workspace, &others);
    Ok(workspace)
}

/// Writes down what changed of a workspace.
fn log_workspace_change(tx: &mut dyn Tx, ctx: &Context<'_>, before: &Workspace, after: &Workspace) {
    let (action, changes) = (Action::WorkspaceUpdated, Changes::between(before, after));
    log_activity_with(tx, ctx, action, after, json!({}), changes);
}

/// The same of the workspace that lost the primary place to this one.
fn log_displaced_workspace(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    primary: &Workspace,
    others: &[Workspace],
) {
    let displaced = others.iter().find(|other| other.is_primary);
    if let Some(before) = displaced.filter(|_| primary.is_primary) {
        let after = Workspace {
            is_primary: false,
            ..before.clone()
        };
        log_workspace_change(tx, ctx, before, &after);
    }
}

/// Removes a workspace; the oldest remaining one takes the primary place.
/// Board only.
pub fn delete_workspace(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    project: ProjectId,
    id: WorkspaceId,
) -> Result<(), Failure<ProjectError>> {
    let project = lock(tx, ctx, project)?;
    let (gone, others) = split_workspaces(tx, ctx, &project, id)?;
    require_no_ticket(tx.reads(), project.scope(), id)?;
    tx.projects_mut().delete_workspace(&project, id)?;
    if gone.is_primary {
        let eldest = others
            .into_iter()
            .min_by_key(|left| (left.created_at, left.id));
        if let Some(former) = eldest {
            let heir = Workspace {
                is_primary: true,
                updated_at: ctx.now,
                ..former.clone()
            };
            tx.projects_mut().save_workspace(&project, &heir)?;
            log_workspace_change(tx, ctx, &former, &heir);
        }
    }
    log_activity(tx, ctx, Action::WorkspaceDeleted, &gone, json!({}));
    Ok(())
}

pub(super) fn insert_workspace(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    project: &Locked<Project>,
    command: CreateWorkspace,
    present: &[Workspace],
    pointer: &'static str,
) -> Result<Workspace, Failure<ProjectError>> {
    ctx.require_board()?;
    if present.len() >= MAX_WORKSPACES {
        let fault = FieldFault::invalid(pointer, "the project has as many workspaces as it may");
        return Err(fault.into());
    }
    let source = WorkspaceSource::from_parts(command.cwd, command.repo_url)
        .ok_or(Failure::Refused(ProjectError::NoSource { pointer }))?;
    let name = match command.name.or_else(|| source.default_name()) {
        Some(name) => name,
        None => project.name.clone(),
    };
    let workspace = Workspace {
        id: ctx.id(),
        company: project.company,
        project: project.id,
        name,
        source,
        repo_ref: command.repo_ref,
        default_base_branch: command.default_base_branch,
        is_primary: command.is_primary.unwrap_or(false) || present.is_empty(),
        metadata: command.metadata.unwrap_or_default(),
        created_at: ctx.now,
        updated_at: ctx.now,
    };
    check(&workspace, pointer)?;
    tx.projects_mut().insert_workspace(project, &workspace)?;
    let details = json!({ "name": workspace.name });
    log_activity(tx, ctx, Action::WorkspaceCreated, &workspace, details);
    log_displaced_workspace(tx, ctx, &workspace, present);
    Ok(workspace)
}

/// A workspace of a locked project, and the others that it has.
pub(super) fn split_workspaces(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    project: &Locked<Project>,
    id: WorkspaceId,
) -> Result<(Workspace, Vec<Workspace>), Failure<ProjectError>> {
    let mut all = tx.projects().workspaces(project.scope(), &[project.id])?;
    let place = all.iter().position(|workspace| workspace.id == id);
    let found = all.remove(place.ok_or(Denied::NotFound("workspace"))?);
    ctx.require_board()?;
    Ok((found, all))
}

/// Refuses metadata that is too long, and what git would take for an option,
/// for a command to run, or for a credential that everybody who sees the
/// project would see.
fn check(workspace: &Workspace, pointer: &str) -> Result<(), FieldFault> {
    check_document(
        &workspace.metadata,
        &format!("{pointer}/metadata"),
        MAX_METADATA,
    )?;
    let refs = [
        ("repoRef", &workspace.repo_ref),
        ("defaultBaseBranch", &workspace.default_base_branch),
    ];
    for (field, name) in refs {
        if name.as_ref().is_some_and(|name| name.starts_with('-')) {
            let message = "a branch or ref does not begin with `-`";
            return Err(FieldFault::invalid(format!("{pointer}/{field}"), message));
        }
    }
    let Some(url) = workspace.source.repo_url() else {
        return Ok(());
    };
    let fault = |message: &str| Err(FieldFault::invalid(format!("{pointer}/repoUrl"), message));
    if url.starts_with('-') {
        return fault("a repository's address does not begin with `-`");
    }
    if url.contains("::") && !url.contains("://") {
        return fault("git's remote helpers are not admitted");
    }
    let authority = url
        .split_once("://")
        .map(|(_, rest)| rest.split('/').next());
    if let Some(Some(authority)) = authority
        && authority
            .rsplit_once('@')
            .is_some_and(|(user, _)| user.contains(':'))
    {
        return fault("leave the password out: whoever sees the project would see it");
    }
    Ok(())
}
