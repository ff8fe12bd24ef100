//! Addresses of pages.

use workforce_domain::id::{ApprovalId, GoalId, ProjectId, RunId, SecretId};

/// The pages of a company.
#[derive(Clone)]
pub(crate) struct Links {
    base: String,
}

impl Links {
    /// Those of the company whose issues are named with this prefix.
    pub(crate) fn of(prefix: &str) -> Self {
        Self {
            base: format!("/c/{prefix}"),
        }
    }

    pub(crate) fn home(&self) -> &str {
        &self.base
    }

    /// What stands in the navigation under this name; Home under none.
    pub(crate) fn section(&self, name: &str) -> String {
        match name {
            "" => self.base.clone(),
            _ => format!("{}/{name}", self.base),
        }
    }

    pub(crate) fn issues(&self) -> String {
        self.section("issues")
    }

    pub(crate) fn new_issue(&self) -> String {
        self.section("issues/new")
    }

    pub(crate) fn issue(&self, identifier: &str) -> String {
        format!("{}/issues/{identifier}", self.base)
    }

    pub(crate) fn approvals(&self) -> String {
        self.section("approvals")
    }

    pub(crate) fn approval(&self, id: ApprovalId) -> String {
        self.section(&format!("approvals/{id}"))
    }

    pub(crate) fn agents(&self) -> String {
        self.section("agents")
    }

    pub(crate) fn agent(&self, url_key: &str) -> String {
        self.section(&format!("agents/{url_key}"))
    }

    pub(crate) fn runs(&self) -> String {
        self.section("runs")
    }

    pub(crate) fn run(&self, id: RunId) -> String {
        self.section(&format!("runs/{id}"))
    }

    pub(crate) fn search(&self) -> String {
        self.section("search")
    }

    pub(crate) fn stop(&self) -> String {
        self.section("stop")
    }

    pub(crate) fn projects(&self) -> String {
        self.section("projects")
    }

    pub(crate) fn project(&self, id: ProjectId) -> String {
        self.section(&format!("projects/{id}"))
    }

    pub(crate) fn new_project(&self) -> String {
        self.section("projects/new")
    }

    pub(crate) fn workspaces(&self, project: ProjectId) -> String {
        format!("{}/workspaces", self.project(project))
    }

    pub(crate) fn conventions(&self, project: ProjectId) -> String {
        format!("{}/conventions", self.project(project))
    }

    /// The issues of a project.
    pub(crate) fn issues_of_project(&self, project: ProjectId) -> String {
        format!("{}?project={project}", self.issues())
    }

    pub(crate) fn goals(&self) -> String {
        self.section("goals")
    }

    pub(crate) fn goal(&self, id: GoalId) -> String {
        self.section(&format!("goals/{id}"))
    }

    pub(crate) fn costs(&self) -> String {
        self.section("costs")
    }

    pub(crate) fn activity(&self) -> String {
        self.section("activity")
    }

    pub(crate) fn settings(&self) -> String {
        self.section("settings")
    }

    pub(crate) fn new_agent(&self) -> String {
        self.section("agents/new")
    }

    pub(crate) fn secrets(&self) -> String {
        self.section("secrets")
    }

    pub(crate) fn secret(&self, id: SecretId) -> String {
        self.section(&format!("secrets/{id}"))
    }
}
