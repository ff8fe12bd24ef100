use std::collections::HashMap;

use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::{CompanyId, ProjectId};
use workforce_domain::mention::only_alike;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{Failure, ProjectCursor, Reads, StoreError};
use workforce_domain::project::{GoalLink, Project, Workspace};
use workforce_domain::text::Name;

use super::workspaces::MAX_METADATA;
use super::{ProjectError, ProjectView};
use crate::access::{self, Denied};
use crate::context::Context;

/// Projects of a company, oldest first.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    page: &PageRequest<ProjectCursor>,
) -> Result<Page<ProjectView, ProjectCursor>, Failure<ProjectError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let mut items = Vec::new();
    let mut after = page.after;
    let mut weight = 0;
    // What hangs on a project weighs more than the project itself, so that a
    // page is read in pieces until it weighs enough.
    loop {
        let piece = PageRequest {
            after,
            limit: PIECE.min(page.limit - items.len()),
            max_bytes: page.max_bytes,
        };
        let read = reads.projects().list(scope, &piece)?;
        let read_views = views(reads, scope, read.items)?;
        weight += read_views.iter().map(weight_of).sum::<usize>();
        items.extend(read_views);
        after = read.next;
        if after.is_none() || items.len() >= page.limit || weight >= page.max_bytes {
            return Ok(Page { items, next: after });
        }
    }
}

/// The projects of [`list`], without what belongs to them.
pub fn list_bare(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    page: &PageRequest<ProjectCursor>,
) -> Result<Page<Project, ProjectCursor>, Failure<ProjectError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    Ok(reads.projects().list(scope, page)?)
}

/// Projects that are read at a time.
const PIECE: usize = 25;

/// About how many bytes a project takes in an answer.
fn weight_of(view: &ProjectView) -> usize {
    const WORKSPACE: usize = 1024;
    let texts = view.workspaces.iter().map(|workspace| {
        let cwd = workspace.source.cwd().map_or(0, |cwd| cwd.len());
        let url = workspace.source.repo_url().map_or(0, |url| url.len());
        WORKSPACE + cwd + url + MAX_METADATA.min(workspace.metadata.len() * WORKSPACE)
    });
    view.project
        .description
        .as_ref()
        .map_or(0, |text| text.len())
        + texts.sum::<usize>()
}

/// The names of those of `ids` that are projects of the company. Anyone of the company.
pub fn names(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    ids: &[ProjectId],
) -> Result<Vec<(ProjectId, Name)>, Failure<ProjectError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let found = reads.projects().find_all(scope, ids)?.into_iter();
    Ok(found.map(|project| (project.id, project.name)).collect())
}

/// How a caller names a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProjectRef {
    /// By id.
    Id(ProjectId),
    /// By its short name, within a company or within the caller's own.
    UrlKey {
        /// The short name.
        key: String,
        /// The company the caller named.
        company: Option<CompanyId>,
    },
}

/// One project with its goals and workspaces.
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    project: &ProjectRef,
) -> Result<ProjectView, Failure<ProjectError>> {
    let project = match project {
        ProjectRef::Id(id) => find(reads, ctx, *id)?,
        ProjectRef::UrlKey { key, company } => {
            let own = ctx.agent().map(|caller| caller.company);
            let scope = company
                .or(own)
                .and_then(|company| ctx.actor().enter(company));
            let found = match scope {
                Some(scope) => by_url_key(reads, scope, key)?,
                None => None,
            };
            found.ok_or(Denied::NotFound("project"))?
        }
    };
    Ok(view(reads, project)?)
}

/// The workspaces of a project, the primary one first.
pub fn workspaces(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ProjectId,
) -> Result<Vec<Workspace>, Failure<ProjectError>> {
    let project = find(reads, ctx, id)?;
    Ok(reads.projects().workspaces(project.scope(), &[id])?)
}

pub(super) fn find(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ProjectId,
) -> Result<Project, Failure<ProjectError>> {
    reads
        .projects()
        .find(ctx.actor().scope(), id)?
        .ok_or_else(|| Denied::NotFound("project").into())
}

/// One project with what belongs to it.
pub(super) fn view(reads: &mut dyn Reads, project: Project) -> Result<ProjectView, StoreError> {
    let scope = project.scope();
    let (mut goals, mut workspaces) = belongings(reads, scope, &[project.id])?;
    Ok(assemble(project, &mut goals, &mut workspaces))
}

/// Several projects with what belongs to them, in two queries. Projects
/// without anything beside them, such as those around an issue, come out the
/// same way.
pub(crate) fn views(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    projects: Vec<Project>,
) -> Result<Vec<ProjectView>, StoreError> {
    let ids: Vec<ProjectId> = projects.iter().map(|project| project.id).collect();
    let (mut goals, mut workspaces) = belongings(reads, scope, &ids)?;
    Ok(projects
        .into_iter()
        .map(|project| assemble(project, &mut goals, &mut workspaces))
        .collect())
}

type ByProject<T> = HashMap<ProjectId, Vec<T>>;

/// What belongs to projects, in the order of the store.
fn belongings(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    projects: &[ProjectId],
) -> Result<(ByProject<GoalLink>, ByProject<Workspace>), StoreError> {
    let mut goals: ByProject<GoalLink> = HashMap::new();
    for (project, goal) in reads.projects().goals(scope, projects)? {
        goals.entry(project).or_default().push(goal);
    }
    let mut workspaces: ByProject<Workspace> = HashMap::new();
    for workspace in reads.projects().workspaces(scope, projects)? {
        workspaces
            .entry(workspace.project)
            .or_default()
            .push(workspace);
    }
    Ok((goals, workspaces))
}

fn assemble(
    project: Project,
    goals: &mut ByProject<GoalLink>,
    workspaces: &mut ByProject<Workspace>,
) -> ProjectView {
    let goals = goals.remove(&project.id).unwrap_or_default();
    let workspaces = workspaces.remove(&project.id).unwrap_or_default();
    ProjectView::new(project, goals, workspaces)
}

/// The project with a short name, compared as mentions of agents are.
fn by_url_key(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    key: &str,
) -> Result<Option<Project>, StoreError> {
    let found = reads.projects().find_by_url_key(scope, key)?;
    if found.is_some() {
        return Ok(found);
    }
    let all = reads.projects().url_keys(scope, "")?;
    match only_alike(&all, key) {
        Some(key) => reads.projects().find_by_url_key(scope, key),
        None => Ok(None),
    }
}
