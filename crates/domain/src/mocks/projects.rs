//! Mocks of `port/projects.rs`.

use alloc::string::String;
use alloc::vec::Vec;

use mockall::mock;

use crate::actor::{CompanyScope, Scope};
use crate::conventions::Conventions;
use crate::id::{GoalId, ProjectId, WorkspaceId};
use crate::page::{Page, PageRequest};
use crate::port::{Locked, ProjectCursor, ProjectReads, ProjectWrites, StoreError};
use crate::project::{GoalLink, Project, Workspace};

mock! {
    pub Projects {}

    impl ProjectReads for Projects {
        fn find(&mut self, scope: Scope, id: ProjectId) -> Result<Option<Project>, StoreError>;
        fn find_by_url_key(
            &mut self,
            company: CompanyScope,
            url_key: &str,
        ) -> Result<Option<Project>, StoreError>;
        fn find_all(
            &mut self,
            company: CompanyScope,
            ids: &[ProjectId],
        ) -> Result<Vec<Project>, StoreError>;
        fn with_budgets(&mut self, company: CompanyScope) -> Result<Vec<ProjectId>, StoreError>;
        fn list(
            &mut self,
            company: CompanyScope,
            page: &PageRequest<ProjectCursor>,
        ) -> Result<Page<Project, ProjectCursor>, StoreError>;
        fn url_keys(
            &mut self,
            company: CompanyScope,
            stem: &str,
        ) -> Result<Vec<String>, StoreError>;
        fn goals(
            &mut self,
            company: CompanyScope,
            projects: &[ProjectId],
        ) -> Result<Vec<(ProjectId, GoalLink)>, StoreError>;
        fn find_workspace(
            &mut self,
            company: CompanyScope,
            id: WorkspaceId,
        ) -> Result<Option<Workspace>, StoreError>;
        fn workspaces_based_on(
            &mut self,
            company: CompanyScope,
            branch: &str,
        ) -> Result<Vec<Workspace>, StoreError>;
        fn workspaces(
            &mut self,
            company: CompanyScope,
            projects: &[ProjectId],
        ) -> Result<Vec<Workspace>, StoreError>;
        fn conventions(
            &mut self,
            company: CompanyScope,
            project: ProjectId,
        ) -> Result<Option<Conventions>, StoreError>;
    }

    impl ProjectWrites for Projects {
        fn lock_url_keys(
            &mut self,
            company: CompanyScope,
            stem: &str,
        ) -> Result<Vec<String>, StoreError>;
        fn insert(&mut self, project: Project) -> Result<Locked<Project>, StoreError>;
        fn lock(
            &mut self,
            scope: Scope,
            id: ProjectId,
        ) -> Result<Option<Locked<Project>>, StoreError>;
        fn save(&mut self, project: &Locked<Project>) -> Result<(), StoreError>;
        fn delete(&mut self, project: Locked<Project>) -> Result<(), StoreError>;
        fn set_goals(
            &mut self,
            project: &Locked<Project>,
            goals: &[GoalId],
        ) -> Result<(), StoreError>;
        fn insert_workspace(
            &mut self,
            project: &Locked<Project>,
            workspace: &Workspace,
        ) -> Result<(), StoreError>;
        fn save_workspace(
            &mut self,
            project: &Locked<Project>,
            workspace: &Workspace,
        ) -> Result<(), StoreError>;
        fn delete_workspace(
            &mut self,
            project: &Locked<Project>,
            workspace: WorkspaceId,
        ) -> Result<(), StoreError>;
        fn save_conventions(
            &mut self,
            project: &Locked<Project>,
            conventions: &Conventions,
        ) -> Result<(), StoreError>;
    }
}
