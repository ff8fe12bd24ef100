use serde::Serialize;

use std::collections::{HashMap, HashSet};

use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::goal::Goal;
use workforce_domain::id::{CompanyId, GoalId, IssueId, ProjectId};
use workforce_domain::issue::{Issue, IssueRef, Lease};
use workforce_domain::mention::mentioned_projects;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{Failure, IssueCursor, IssueFilter, Reads, SearchCursor, StoreError};
use workforce_domain::search::SearchQuery;

use super::labels::LabelsOf;
use super::{IssueError, IssueView, labels};
use crate::access::{self, Denied};
use crate::context::Context;
use crate::projects::{self, ProjectView};
use crate::tickets::AdvanceView;

/// A parent of an issue with its own project and goal.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = IssueAncestor))]
#[serde(rename_all = "camelCase")]
pub struct ParentView {
    /// The parent; who holds it is not told.
    #[serde(flatten)]
    pub view: IssueView,
    /// Its project.
    pub project: Option<ProjectView>,
    /// Its goal.
    pub goal: Option<Goal>,
}

/// One issue with everything around it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct IssueDetail {
    /// The issue and who holds it.
    #[serde(flatten)]
    pub view: IssueView,
    /// Its project.
    pub project: Option<ProjectView>,
    /// Its goal.
    pub goal: Option<Goal>,
    /// Its parents, nearest first.
    pub ancestors: Vec<ParentView>,
    /// The projects that its title and description link to, in that order.
    pub mentioned_projects: Vec<ProjectView>,
    /// What the issue's ticket waits for until the board is asked; `null` unless its
    /// work has come to its end.
    pub advance: Option<AdvanceView>,
}

/// What issues of a company are called: identifier and title of each of `ids`. Anyone of the
/// company.
pub fn titles(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    ids: &[IssueId],
) -> Result<HashMap<IssueId, (String, String)>, Failure<IssueError>> {
    let company = access::company_scope(reads, ctx, company)?;
    let found = reads.issues().find_all(company, ids)?.into_iter();
    Ok(found
        .map(|issue| (issue.id, (issue.identifier, issue.title.to_string())))
        .collect())
}

/// One issue with its project, goal and parents.
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
) -> Result<IssueDetail, Failure<IssueError>> {
    let Some(issue) = reads.issues().find(ctx.actor().scope(), issue)? else {
        return Err(Denied::NotFound("issue").into());
    };
    let scope = issue.scope();
    let lease = live_lease(reads, ctx, scope, issue.id)?;
    let parents = match issue.parent {
        Some(_) => reads.issues().ancestors(scope, issue.id)?,
        None => Vec::new(),
    };
    let mentioned = mentioned(&issue);
    let around = std::iter::once(&issue).chain(&parents);
    let places = Places::around(reads, scope, around, &mentioned)?;
    let ids: Vec<IssueId> = std::iter::once(&issue)
        .chain(&parents)
        .map(|issue| issue.id)
        .collect();
    let mut labels = LabelsOf::read(reads, scope, &ids)?;
    let ancestors = parents
        .into_iter()
        .map(|parent| ParentView {
            project: places.project(parent.project),
            goal: places.goal(parent.goal),
            view: {
                let labels = labels.take(parent.id);
                IssueView::new(parent, labels, None)
            },
        })
        .collect();
    let own_labels = labels.take(issue.id);
    let advance = reads.execution_workspaces().advance(scope, issue.id)?;
    Ok(IssueDetail {
        project: places.project(issue.project),
        goal: places.goal(issue.goal),
        mentioned_projects: mentioned
            .into_iter()
            .filter_map(|project| places.project(Some(project)))
            .collect(),
        ancestors,
        view: IssueView::new(issue, own_labels, lease),
        advance: advance.map(AdvanceView::from),
    })
}

/// The projects that an issue's own text links to.
fn mentioned(issue: &Issue) -> Vec<ProjectId> {
    let mut mentioned = mentioned_projects(&issue.title);
    if let Some(description) = &issue.description {
        mentioned.extend(mentioned_projects(description));
    }
    let mut seen = HashSet::new();
    mentioned.retain(|project| seen.insert(*project));
    mentioned
}

/// An issue with its labels and with its lease, if somebody holds it now.
pub(super) fn view(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: Issue,
) -> Result<IssueView, StoreError> {
    let lease = live_lease(reads, ctx, issue.scope(), issue.id)?;
    let labels = labels::of(reads, &issue)?;
    Ok(IssueView::new(issue, labels, lease))
}

/// An issue that nobody holds, with its labels.
pub(super) fn free(reads: &mut dyn Reads, issue: Issue) -> Result<IssueView, StoreError> {
    let labels = labels::of(reads, &issue)?;
    Ok(IssueView::new(issue, labels, None))
}

pub(super) fn live_lease(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    scope: CompanyScope,
    issue: IssueId,
) -> Result<Option<Lease>, StoreError> {
    let lease = reads.issues().lease(scope, issue)?;
    Ok(lease.filter(|lease| lease.is_live(ctx.now)))
}

/// The projects and goals around some issues.
struct Places {
    projects: HashMap<ProjectId, ProjectView>,
    goals: HashMap<GoalId, Goal>,
}

impl Places {
    fn around<'a>(
        reads: &mut dyn Reads,
        scope: CompanyScope,
        issues: impl Iterator<Item = &'a Issue> + Clone,
        mentioned: &[ProjectId],
    ) -> Result<Self, StoreError> {
        let mut project_ids: Vec<ProjectId> = issues.clone().filter_map(|i| i.project).collect();
        project_ids.extend(mentioned);
        let mut goal_ids: Vec<GoalId> = issues.filter_map(|issue| issue.goal).collect();
        project_ids.sort_unstable();
        project_ids.dedup();
        goal_ids.sort_unstable();
        goal_ids.dedup();
        let projects = if project_ids.is_empty() {
            Vec::new()
        } else {
            let found = reads.projects().find_all(scope, &project_ids)?;
            projects::views(reads, scope, found)?
        };
        let goals = if goal_ids.is_empty() {
            Vec::new()
        } else {
            reads.goals().find_all(scope, &goal_ids)?
        };
        Ok(Self {
            projects: projects
                .into_iter()
                .map(|view| (view.project.id, view))
                .collect(),
            goals: goals.into_iter().map(|goal| (goal.id, goal)).collect(),
        })
    }

    fn project(&self, id: Option<ProjectId>) -> Option<ProjectView> {
        id.and_then(|id| self.projects.get(&id).cloned())
    }

    fn goal(&self, id: Option<GoalId>) -> Option<Goal> {
        id.and_then(|id| self.goals.get(&id).cloned())
    }
}

/// Issues of a company: most urgent first, then the latest changed.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    filter: &IssueFilter,
    page: &PageRequest<IssueCursor>,
) -> Result<Page<IssueView, IssueCursor>, Failure<IssueError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let page = reads.issues().list(scope, filter, page)?;
    Ok(views(reads, ctx, scope, page)?)
}

/// Issues of a company that have every word of a query: by where they have
/// them, then as in [`list`].
pub fn search(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    query: &SearchQuery,
    filter: &IssueFilter,
    page: &PageRequest<SearchCursor>,
) -> Result<Page<IssueView, SearchCursor>, Failure<IssueError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let page = reads.issues().search(scope, query, filter, page)?;
    Ok(views(reads, ctx, scope, page)?)
}

/// The id of the issue that a list asks for; `None` when there is no such
/// issue in the caller's reach.
pub fn id_of(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    issue: &IssueRef,
) -> Result<Option<IssueId>, StoreError> {
    let found = reads.issues().find(ctx.actor().scope(), issue)?;
    Ok(found.map(|issue| issue.id))
}

/// The rows of a page with their leases and labels.
fn views<K>(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    scope: CompanyScope,
    page: Page<Issue, K>,
) -> Result<Page<IssueView, K>, StoreError> {
    let Page { items, next } = page;
    let items = with_leases(reads, ctx, scope, items)?;
    Ok(Page { items, next })
}

/// Issues of a company, each with who holds it, in the same order.
pub(crate) fn with_leases(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    scope: CompanyScope,
    issues: Vec<Issue>,
) -> Result<Vec<IssueView>, StoreError> {
    if issues.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<IssueId> = issues.iter().map(|issue| issue.id).collect();
    let mut leases: HashMap<IssueId, Lease> = reads
        .issues()
        .leases(scope, &ids)?
        .into_iter()
        .filter(|lease| lease.is_live(ctx.now))
        .map(|lease| (lease.issue, lease))
        .collect();
    let mut labels = LabelsOf::read(reads, scope, &ids)?;
    Ok(issues
        .into_iter()
        .map(|issue| {
            let (labels, lease) = (labels.take(issue.id), leases.remove(&issue.id));
            IssueView::new(issue, labels, lease)
        })
        .collect())
}
