//! A plan that servers carry out step by step, as the store has it.

use std::convert::Infallible;

use serde_json::json;
use workforce_app::activity_log::document;
use workforce_app::approvals::execution::{self, StepRef};
use workforce_app::approvals::{self, ApprovalError, Decide, SubmitApproval};
use workforce_app::issues::{self, UpdateIssue};
use workforce_app::{Failure, projects};
use workforce_domain::actor::CompanyOwned;
use workforce_domain::approval::{
    ApprovalExecution, ApprovalStatus, ApprovalType, ExecutionStep, ExecutionStepRecord,
};
use workforce_domain::change::Change;
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId};
use workforce_domain::lifecycle::Lifecycle;
use workforce_testkit::world::{World, done, new_project, new_workspace, no_change};

use crate::desk::Desk;

/// The steps of a plan, in their order.
pub(crate) const STEPS: [ExecutionStep; 3] = [
    ExecutionStep::Source,
    ExecutionStep::Base,
    ExecutionStep::Worktree,
];

/// What a server believes to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Belief {
    pub(crate) attempt: i32,
    /// The steps that it has taken.
    pub(crate) taken: usize,
    pub(crate) is_in_step: bool,
}

/// A plan with a worktree, and the servers that carry it out.
pub(crate) struct Stage {
    pub(crate) desk: Desk,
    pub(crate) plan: ApprovalId,
    pub(crate) servers: [Option<Belief>; 2],
    /// How often the board was allowed to begin.
    pub(crate) begun: i32,
}

pub(crate) type Answer = Result<(), Failure<ApprovalError>>;

impl Stage {
    pub(crate) fn new() -> Self {
        let desk = Desk::in_world(World::sqlite());
        let (board, company) = (desk.world.board(), desk.company.id);
        let project =
            done(board.write(|tx, ctx| projects::create(tx, ctx, company, new_project("Shop"))));
        let project = project.project.id;
        done(board.write(|tx, ctx| {
            let workspace = new_workspace("/srv/shop");
            projects::create_workspace(tx, ctx, project, workspace)
        }));
        let change = UpdateIssue {
            project_id: Change::Set(project),
            ..no_change()
        };
        let issue = desk.issue.id.into();
        done(board.write(|tx, ctx| issues::update(tx, ctx, &issue, change.clone())));
        let payload = json!({ "issueId": desk.issue.id, "workspace": { "ticketKey": "ABC-1" } });
        let command = SubmitApproval {
            kind: ApprovalType::ApproveIssuePlan,
            requested_by_agent_id: None,
            payload: Some(document(payload)),
            issue_ids: Some(Vec::new()),
            work: Vec::new(),
        };
        let ada = desk.world.agent(desk.ada.id);
        let filed = done(ada.write(|tx, ctx| approvals::submit(tx, ctx, company, command.clone())));
        let plan = filed.view.approval.id;
        Self {
            desk,
            plan,
            servers: [None; 2],
            begun: 0,
        }
    }

    pub(crate) fn status(&self) -> ApprovalStatus {
        self.desk.now(self.plan).approval.status()
    }

    pub(crate) fn execution(&self) -> Option<ApprovalExecution> {
        let (scope, plan) = (self.desk.issue.scope(), self.plan);
        let found: Result<_, Failure<Infallible>> = self
            .desk
            .world
            .store()
            .read(|reads| Ok(reads.approvals().executions(scope, &[plan])?));
        done(found).pop()
    }

    pub(crate) fn steps(&self) -> Vec<ExecutionStepRecord> {
        let (scope, plan) = (self.desk.issue.scope(), self.plan);
        let found: Result<_, Failure<Infallible>> = self
            .desk
            .world
            .store()
            .read(|reads| Ok(reads.approvals().execution_steps(scope, &[plan])?));
        done(found)
    }

    pub(crate) fn worktree(&self) -> ExecutionWorkspaceId {
        let (scope, issue) = (self.desk.issue.scope(), self.desk.issue.id);
        let found: Result<_, Failure<Infallible>> = self
            .desk
            .world
            .store()
            .read(|reads| Ok(reads.execution_workspaces().owned_by(scope, issue)?));
        done(found)[0].id
    }

    /// Whether the steps are still those of this attempt.
    pub(crate) fn is_own(&self, belief: Belief) -> bool {
        self.execution().is_some_and(|it| it.is_of(belief.attempt))
    }

    pub(crate) fn is_live(&self) -> bool {
        let now = self.desk.world.now();
        self.execution().is_some_and(|it| it.is_live(now))
    }

    pub(crate) fn issue_is_open(&self) -> bool {
        let issue = self.desk.world.stored_issue(self.desk.issue.id);
        !issue.status().is_terminal()
    }

    pub(crate) fn step_of(&self, belief: Belief) -> StepRef {
        StepRef {
            company: self.desk.issue.scope(),
            approval: self.plan,
            attempt: belief.attempt,
            workspace: self.worktree(),
            step: STEPS[belief.taken],
        }
    }

    pub(crate) fn begin(&self) -> Answer {
        let (board, plan) = (self.desk.world.board(), self.plan);
        board.write(|tx, ctx| execution::begin(tx, ctx, plan, Decide::default()))
    }
}
