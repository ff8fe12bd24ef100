use alloc::string::String;
use alloc::vec::Vec;

use super::{Locked, StoreError};
use crate::actor::{CompanyScope, Scope};
use crate::conventions::Conventions;
use crate::id::{GoalId, ProjectId, WorkspaceId};
use crate::page::{CreationKey, Page, PageRequest};
use crate::project::{GoalLink, Project, Workspace};

/// The place of a project in a list.
pub type ProjectCursor = CreationKey<ProjectId>;

/// Reads of projects and workspaces.
pub trait ProjectReads {
    /// The project with this id.
    fn find(&mut self, scope: Scope, id: ProjectId) -> Result<Option<Project>, StoreError>;

    /// The project with this short name.
    fn find_by_url_key(
        &mut self,
        company: CompanyScope,
        url_key: &str,
    ) -> Result<Option<Project>, StoreError>;

    /// Those of `ids` that are projects of the company, in no particular order.
    fn find_all(
        &mut self,
        company: CompanyScope,
        ids: &[ProjectId],
    ) -> Result<Vec<Project>, StoreError>;

    /// The projects of a company that have a budget, in no particular order.
    fn with_budgets(&mut self, company: CompanyScope) -> Result<Vec<ProjectId>, StoreError>;

    /// Projects of a company, oldest first.
    fn list(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<ProjectCursor>,
    ) -> Result<Page<Project, ProjectCursor>, StoreError>;

    /// Short names of projects of the company that start with `stem`.
    fn url_keys(&mut self, company: CompanyScope, stem: &str) -> Result<Vec<String>, StoreError>;

    /// The goals that projects are linked to, in the order they were linked.
    fn goals(
        &mut self,
        company: CompanyScope,
        projects: &[ProjectId],
    ) -> Result<Vec<(ProjectId, GoalLink)>, StoreError>;

    /// The workspace with this id.
    fn find_workspace(
        &mut self,
        company: CompanyScope,
        id: WorkspaceId,
    ) -> Result<Option<Workspace>, StoreError>;

    /// Workspaces of a company whose tickets start from this branch unless they say
    /// otherwise.
    fn workspaces_based_on(
        &mut self,
        company: CompanyScope,
        branch: &str,
    ) -> Result<Vec<Workspace>, StoreError>;

    /// The workspaces of projects, per project the primary one first and then
    /// the oldest; at most [`MAX_WORKSPACES`] exist per project.
    fn workspaces(
        &mut self,
        company: CompanyScope,
        projects: &[ProjectId],
    ) -> Result<Vec<Workspace>, StoreError>;

    /// The conventions of a project; `None` when nobody wrote any.
    fn conventions(
        &mut self,
        company: CompanyScope,
        project: ProjectId,
    ) -> Result<Option<Conventions>, StoreError>;
}

/// A project has at most so many workspaces, so that its detail answer stays
/// bounded.
pub const MAX_WORKSPACES: usize = 100;

/// A project is linked to at most so many goals.
pub const MAX_PROJECT_GOALS: usize = 100;

/// Writes of projects and workspaces.
pub trait ProjectWrites {
    /// Locks the short names of a company's projects, so that of several that
    /// are made at once each finds another one free, and tells those that start
    /// with `stem`.
    fn lock_url_keys(
        &mut self,
        company: CompanyScope,
        stem: &str,
    ) -> Result<Vec<String>, StoreError>;

    /// Stores a new project and holds it.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when another took its short name meanwhile.
    fn insert(&mut self, project: Project) -> Result<Locked<Project>, StoreError>;

    /// Locks a project, and with it its goals, workspaces and conventions.
    fn lock(&mut self, scope: Scope, id: ProjectId) -> Result<Option<Locked<Project>>, StoreError>;

    /// Stores a locked project.
    fn save(&mut self, project: &Locked<Project>) -> Result<(), StoreError>;

    /// Deletes a locked project with its workspaces and what was counted for
    /// it. Issues and costs stay without it.
    fn delete(&mut self, project: Locked<Project>) -> Result<(), StoreError>;

    /// Replaces the goals a locked project is linked to.
    fn set_goals(&mut self, project: &Locked<Project>, goals: &[GoalId]) -> Result<(), StoreError>;

    /// Adds a workspace to a locked project. A primary one takes that place
    /// from the present one.
    fn insert_workspace(
        &mut self,
        project: &Locked<Project>,
        workspace: &Workspace,
    ) -> Result<(), StoreError>;

    /// Stores a workspace of a locked project. A primary one takes that place
    /// from the present one.
    fn save_workspace(
        &mut self,
        project: &Locked<Project>,
        workspace: &Workspace,
    ) -> Result<(), StoreError>;

    /// Removes a workspace of a locked project.
    fn delete_workspace(
        &mut self,
        project: &Locked<Project>,
        workspace: WorkspaceId,
    ) -> Result<(), StoreError>;

    /// Stores the conventions of a locked project, in place of any it has.
    fn save_conventions(
        &mut self,
        project: &Locked<Project>,
        conventions: &Conventions,
    ) -> Result<(), StoreError>;
}
