//! A company with an agent and an issue, and what they can be in the midst of.

use serde_json::json;
use uuid::Uuid;
use workforce_app::activity_log::document;
use workforce_app::agents::{self, CreateAgent, UpdateAgent};
use workforce_app::approvals::{self, Decide, HireAgent, SubmitApproval, execution};
use workforce_app::companies::{self, CreateCompany, UpdateCompany};
use workforce_app::issues::{self, CheckOut, UpdateIssue};
use workforce_app::{Context, Failure, projects, runs};
use workforce_domain::Document;
use workforce_domain::agent::Agent;
use workforce_domain::approval::ApprovalType;
use workforce_domain::change::{Change, Replace};
use workforce_domain::company::Company;
use workforce_domain::id::{ApprovalId, Id};
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::money::Budget;
use workforce_domain::port::Tx;
use workforce_domain::run::Run;
use workforce_testkit::world::{
    World, done, new_agent, new_company, new_project, new_workspace, no_change,
};

/// What something is in the midst of when two writes meet, in the order in which it came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Agent and company may spend one cent a month.
    Limited,
    /// The issue is part of the other one, which the other agent has under an approved plan.
    Governed,
    /// The issue belongs to a project with a repository, in which tickets get worktrees.
    Housed,
    /// The agent has the issue.
    Assigned,
    /// It works on it by a key.
    CheckedOut,
    /// It works on it in a run.
    Running,
    /// The other agent is to review its work.
    Reviewed,
    /// It was asked for by hand.
    Invoked,
    /// The board is to decide on a plan for the issue.
    Planned,
    /// It asked for another plan.
    InRevision,
    /// It approved, and a server takes the steps.
    Begun,
    /// The board is to decide on somebody below the agent.
    Proposed,
    /// The issue has ended.
    Ended,
    /// The agent is paused.
    AgentPaused,
    /// Its company is.
    CompanyPaused,
    /// Its company is archived.
    Archived,
}

/// What two writes are about.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) company: Company,
    pub(crate) agent: Agent,
    pub(crate) other: Agent,
    pub(crate) issue: Issue,
    pub(crate) other_issue: Issue,
    pub(crate) plan: Option<ApprovalId>,
    pub(crate) hire: Option<ApprovalId>,
    pub(crate) run: Option<Run>,
    is_housed: bool,
}

impl Scene {
    /// A new company, brought to these stages.
    pub(crate) fn new(world: &World, stages: &[Stage]) -> Self {
        let company = world.company_with(&CreateCompany {
            require_board_approval_for_new_agents: Some(true),
            ..new_company("Acme")
        });
        let agent = world.hired(company.id, "Ada");
        let other = world.hired(company.id, "Bob");
        let issue = world.todo(company.id, "Build it");
        let other_issue = world.todo(company.id, "Sell it");
        let mut scene = Self {
            company,
            agent,
            other,
            issue,
            other_issue,
            plan: None,
            hire: None,
            run: None,
            is_housed: false,
        };
        let mut stages = stages.to_vec();
        stages.sort_unstable();
        stages.dedup();
        for stage in stages {
            scene.reach(world, stage);
        }
        scene
    }

    /// The copy of this scene with a mark, see `copies.sql`.
    pub(crate) fn marked(&self, mark: &str) -> Self {
        let mut copy = self.clone();
        copy.company.id = marked(mark, self.company.id);
        copy.plan = self.plan.map(|plan| marked(mark, plan));
        copy.hire = self.hire.map(|hire| marked(mark, hire));
        for agent in [&mut copy.agent, &mut copy.other] {
            agent.id = marked(mark, agent.id);
            agent.company = copy.company.id;
        }
        for issue in [&mut copy.issue, &mut copy.other_issue] {
            issue.id = marked(mark, issue.id);
            issue.company = copy.company.id;
        }
        if let Some(run) = &mut copy.run {
            run.id = marked(mark, run.id);
            run.wake = marked(mark, run.wake);
            run.issue = run.issue.map(|issue| marked(mark, issue));
            run.agent = copy.agent.id;
            run.company = copy.company.id;
        }
        copy
    }

    /// Of two stages that exclude each other the later one is left out.
    fn reach(&mut self, world: &World, stage: Stage) {
        match stage {
            Stage::Limited => self.limit(world),
            Stage::Governed => self.govern(world),
            Stage::Reviewed => {
                let agent = world.agent(self.agent.id);
                drop(agent.write(|tx, ctx| self.go(tx, ctx, IssueStatus::Done)));
            }
            Stage::Assigned => {
                try_as_board(world, |tx, ctx| self.assign(tx, ctx));
            }
            Stage::CheckedOut => {
                let command = CheckOut {
                    agent: None,
                    expected: None,
                };
                let issue = self.issue.id.into();
                drop(
                    world
                        .agent(self.agent.id)
                        .write(|tx, ctx| issues::check_out(tx, ctx, &issue, command.clone())),
                );
            }
            Stage::Running => {
                try_as_board(world, |tx, ctx| self.assign(tx, ctx));
                self.run = world.start_next().map(|started| started.run);
            }
            Stage::Invoked => {
                try_as_board(world, |tx, ctx| {
                    runs::invoke(tx, ctx, self.agent.id, Document::new())
                });
            }
            Stage::Planned => {
                let filed = try_as_board(world, |tx, ctx| {
                    approvals::submit(tx, ctx, self.company.id, self.plan_of())
                });
                self.plan = filed.map(|filed| filed.view.approval.id);
            }
            Stage::Housed => self.house(world),
            Stage::InRevision => {
                if let Some(plan) = self.plan {
                    try_as_board(world, |tx, ctx| {
                        approvals::request_revision(tx, ctx, plan, Decide::default())
                    });
                }
            }
            Stage::Begun => {
                if let Some(plan) = self.plan {
                    try_as_board(world, |tx, ctx| {
                        execution::begin(tx, ctx, plan, Decide::default())
                    });
                }
            }
            Stage::Proposed => {
                let hired = try_as_board(world, |tx, ctx| self.propose(tx, ctx));
                self.hire = hired
                    .and_then(|hired| hired.approval)
                    .map(|view| view.approval.id);
            }
            Stage::Ended => {
                try_as_board(world, |tx, ctx| self.go(tx, ctx, IssueStatus::Done));
            }
            Stage::AgentPaused => {
                try_as_board(world, |tx, ctx| agents::pause(tx, ctx, self.agent.id));
            }
            Stage::CompanyPaused => {
                try_as_board(world, |tx, ctx| companies::pause(tx, ctx, self.company.id));
            }
            Stage::Archived => {
                try_as_board(world, |tx, ctx| {
                    companies::archive(tx, ctx, self.company.id)
                });
            }
        }
    }

    fn limit(&self, world: &World) {
        let budget = Budget::from_cents(1);
        let agent = UpdateAgent {
            budget: budget.ok(),
            ..UpdateAgent::default()
        };
        let company = UpdateCompany {
            budget_monthly_cents: budget.map_or(Replace::Keep, Replace::Set),
            ..UpdateCompany::default()
        };
        let board = world.board();
        done(board.write(|tx, ctx| agents::update(tx, ctx, self.agent.id, agent.clone())));
        done(board.write(|tx, ctx| companies::update(tx, ctx, self.company.id, company.clone())));
    }

    /// Gives the issue to a project with a repository.
    fn house(&mut self, world: &World) {
        let board = world.board();
        let company = self.company.id;
        let project =
            done(board.write(|tx, ctx| projects::create(tx, ctx, company, new_project("Shop"))));
        let project = project.project.id;
        done(board.write(|tx, ctx| {
            let workspace = new_workspace("/srv/shop");
            projects::create_workspace(tx, ctx, project, workspace)
        }));
        let command = UpdateIssue {
            project_id: Change::Set(project),
            ..no_change()
        };
        let issue = self.issue.id.into();
        done(board.write(|tx, ctx| issues::update(tx, ctx, &issue, command.clone())));
        self.is_housed = true;
    }

    /// The other issue is in the backlog, so that nobody is woken for it.
    fn govern(&self, world: &World) {
        let whole = UpdateIssue {
            status: Replace::Set(IssueStatus::Backlog),
            assignee_agent_id: Change::Set(self.other.id),
            ..no_change()
        };
        let part = UpdateIssue {
            parent_id: Change::Set(self.other_issue.id.into()),
            ..no_change()
        };
        let plan = SubmitApproval {
            payload: Some(document(
                json!({ "issueId": self.other_issue.id, "plan": "all" }),
            )),
            requested_by_agent_id: None,
            ..self.plan_of()
        };
        let plainly = Decide::default();
        let board = world.board();
        let (issue, other) = (self.issue.id.into(), self.other_issue.id.into());
        done(board.write(|tx, ctx| issues::update(tx, ctx, &other, whole.clone())));
        done(board.write(|tx, ctx| issues::update(tx, ctx, &issue, part.clone())));
        let filed =
            board.write(|tx, ctx| approvals::submit(tx, ctx, self.company.id, plan.clone()));
        let plan = done(filed).view.approval.id;
        done(board.write(|tx, ctx| approvals::approve(tx, ctx, plan, plainly.clone())));
    }

    /// Gives the issue to the agent.
    pub(crate) fn assign(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
    ) -> Result<issues::UpdatedIssue, Failure<issues::IssueError>> {
        let command = UpdateIssue {
            assignee_agent_id: Change::Set(self.agent.id),
            ..no_change()
        };
        issues::update(tx, ctx, &self.issue.id.into(), command)
    }

    /// Moves the issue.
    pub(crate) fn go(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        status: IssueStatus,
    ) -> Result<issues::UpdatedIssue, Failure<issues::IssueError>> {
        let command = UpdateIssue {
            status: Replace::Set(status),
            ..no_change()
        };
        issues::update(tx, ctx, &self.issue.id.into(), command)
    }

    /// A plan for the issue, for which the agent asks.
    pub(crate) fn plan_of(&self) -> SubmitApproval {
        let mut payload = json!({ "issueId": self.issue.id, "plan": "first this" });
        if self.is_housed {
            payload["workspace"] = json!({ "ticketKey": "ABC-1" });
        }
        SubmitApproval {
            kind: ApprovalType::ApproveIssuePlan,
            requested_by_agent_id: Some(self.agent.id),
            payload: Some(document(payload)),
            issue_ids: Some(Vec::new()),
            work: Vec::new(),
        }
    }

    /// Proposes somebody who is to report to the agent.
    pub(crate) fn propose(
        &self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
    ) -> Result<approvals::Hired, Failure<approvals::ApprovalError>> {
        let command = HireAgent {
            agent: CreateAgent {
                reports_to: Some(self.agent.id),
                ..new_agent("Cleo")
            },
            source_issues: Vec::new(),
        };
        approvals::hire(tx, ctx, self.company.id, command)
    }
}

fn marked<I: Id>(mark: &str, id: I) -> I {
    let text = id.into().to_string();
    let text = format!("{mark}{}", &text[mark.len()..]);
    I::from(Uuid::parse_str(&text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// What the board comes to, unless it is refused.
fn try_as_board<T, E: std::fmt::Debug>(
    world: &World,
    body: impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<E>>,
) -> Option<T> {
    match world.board().write(body) {
        Ok(value) => Some(value),
        Err(Failure::Refused(_)) => None,
        Err(Failure::Store(error)) => panic!("{error:?}"),
    }
}
