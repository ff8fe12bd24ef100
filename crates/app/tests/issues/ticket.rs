//! A company with a governed issue and its parts.

use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_app::approvals::{self, Decide, SubmitApproval};
use workforce_app::issues::{CreateIssue, IssueError, UpdatedIssue};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::approval::ApprovalType;
use workforce_domain::company::Company;
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId};
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{ActivityFilter, Reads, StoreError};
use workforce_testkit::store::TestStore;
use workforce_testkit::world::{World, done, new_company, new_issue, new_workspace};

use crate::deeds::Deeds;

/// A lead with two engineers below it and somebody who has nothing to do with them; the lead has a
/// top issue whose plan was approved.
pub(crate) struct Ticket {
    pub(crate) world: World,
    pub(crate) company: Company,
    pub(crate) lead: Agent,
    pub(crate) worker: Agent,
    pub(crate) second: Agent,
    pub(crate) outsider: Agent,
    pub(crate) top: Issue,
}

impl Ticket {
    pub(crate) fn on(store: &TestStore) -> Self {
        let it = Self::without_plan(store);
        it.plan(&it.top);
        it
    }

    /// The same, with nothing that governs the issue.
    pub(crate) fn without_plan(store: &TestStore) -> Self {
        let world = World::on(store);
        let company = world.company_with(&new_company("Acme"));
        let lead = world.hired(company.id, "Lead");
        let worker = world.hired_below(&lead, "Worker");
        let second = world.hired_below(&lead, "Second");
        let outsider = world.hired(company.id, "Outsider");
        let command = CreateIssue {
            status: Some(IssueStatus::InProgress),
            assignee_agent_id: Some(lead.id),
            ..new_issue("The whole")
        };
        let top = world.issue_with(company.id, &command);
        Self {
            world,
            company,
            lead,
            worker,
            second,
            outsider,
            top,
        }
    }

    /// Has the board ask for a plan over an issue.
    pub(crate) fn ask_for_plan(&self, issue: &Issue) -> ApprovalId {
        let command = SubmitApproval {
            kind: ApprovalType::ApproveIssuePlan,
            requested_by_agent_id: None,
            payload: Some(document(
                json!({ "issueId": issue.id, "plan": "step by step" }),
            )),
            issue_ids: Some(Vec::new()),
            work: Vec::new(),
        };
        let company = issue.company;
        let board = self.world.board();
        let filed = board.write(|tx, ctx| approvals::submit(tx, ctx, company, command.clone()));
        done(filed).view.approval.id
    }

    /// Gives an issue an approved plan, and leaves it where it stood.
    pub(crate) fn plan(&self, issue: &Issue) {
        let plan = self.ask_for_plan(issue);
        let plainly = Decide::default();
        let board = self.world.board();
        done(board.write(|tx, ctx| approvals::approve(tx, ctx, plan, plainly.clone())));
        if self.now(issue).status() != issue.status() {
            done(board.moves(issue, issue.status()));
        }
    }

    /// A part of an issue that the board made for an agent, which works on it.
    pub(crate) fn part_of(&self, parent: &Issue, worker: &Agent) -> Issue {
        let part = CreateIssue {
            status: Some(IssueStatus::Todo),
            parent_id: Some(parent.id.into()),
            assignee_agent_id: Some(worker.id),
            ..new_issue("A part")
        };
        let part = self.world.issue_with(self.company.id, &part);
        done(self.world.agent(worker.id).checks_out(&part)).issue
    }

    /// A part of the top issue that the worker works on.
    pub(crate) fn part(&self) -> Issue {
        self.part_of(&self.top, &self.worker)
    }

    /// Such a part, which the lead is to review.
    pub(crate) fn reviewed(&self) -> Issue {
        let part = self.part();
        let updated = self.asks(&part, IssueStatus::Done);
        assert_eq!(updated.view.issue.assignee.agent(), Some(self.lead.id));
        updated.view.issue
    }

    /// What the worker gets for asking for a status.
    pub(crate) fn asks(&self, issue: &Issue, status: IssueStatus) -> UpdatedIssue {
        done(self.world.agent(self.worker.id).moves(issue, status))
    }

    /// The issue as it is stored now.
    pub(crate) fn now(&self, issue: &Issue) -> Issue {
        self.world.stored_issue(issue.id)
    }

    /// Who has it, where it stands and whose work it is.
    pub(crate) fn state(&self, issue: &Issue) -> State {
        let issue = self.now(issue);
        let assignee = issue.assignee.agent();
        (issue.status(), assignee, issue.implementer)
    }

    /// The details of the newest activity about an issue that has this field.
    pub(crate) fn told(&self, issue: &Issue, field: &str) -> Option<Value> {
        let filter = ActivityFilter::default();
        let page = PageRequest::first();
        let company = issue.scope();
        let rows = self
            .world
            .system()
            .read::<_, StoreError>(|reads: &mut dyn Reads, _| {
                Ok(reads.activity().list(company, &filter, &page)?.items)
            });
        let id = issue.id.to_string();
        let rows = done(rows).into_iter().filter(|row| row.entity_id == id);
        rows.filter_map(|row| row.details.get(field).cloned())
            .next()
    }
}

/// Status, assignee and implementer of an issue.
pub(crate) type State = (
    IssueStatus,
    Option<workforce_domain::id::AgentId>,
    Option<workforce_domain::id::AgentId>,
);

/// The code of a refusal.
pub(crate) fn code(refusal: &IssueError) -> &'static str {
    use workforce_app::Refusal;
    use workforce_domain::string_enum::StringEnum;
    refusal.code().as_str()
}

/// A worktree of a company, which the ports do not make yet.
pub(crate) fn worktree(store: &TestStore, it: &Ticket) -> ExecutionWorkspaceId {
    use workforce_app::projects;
    use workforce_testkit::world::new_project;
    let project = it.world.project_with(it.company.id, &new_project("Site"));
    let project = project.project.id;
    let place = it
        .world
        .board()
        .write(|tx, ctx| projects::create_workspace(tx, ctx, project, new_workspace("/srv/site")));
    let (place, at) = (done(place).id, store.literal(it.world.now()));
    let (id, company): (ExecutionWorkspaceId, _) = (it.world.id(), it.company.id);
    store.execute(&format!(
        "INSERT INTO execution_workspaces (id, company_id, project_workspace_id, ticket_key, \
         branch, base_branch, path, status, conflict_wakes, created_at, updated_at) \
         VALUES ('{id}', '{company}', '{place}', 'ABC-1', 'feature/x', 'main', '/srv/x', 'ready', 0, {at}, {at})"
    ));
    id
}

/// Gives an issue a worktree of its own.
pub(crate) fn put_into(store: &TestStore, issue: &Issue, worktree: ExecutionWorkspaceId) {
    let id = issue.id;
    store.execute(&format!(
        "UPDATE issues SET execution_workspace_id = '{worktree}' WHERE id = '{id}'"
    ));
}
