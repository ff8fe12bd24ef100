use workforce_app::agents::{self, CreateAgent};
use workforce_app::companies::{self, CreateCompany};
use workforce_app::costs::ReportCost;
use workforce_app::goals::{self, CreateGoal};
use workforce_app::issues::{self, CreateIssue, UpdateIssue};
use workforce_app::projects::{self, CreateProject, CreateWorkspace, ProjectView};
use workforce_domain::Document;
use workforce_domain::agent::Agent;
use workforce_domain::change::Change;
use workforce_domain::company::Company;
use workforce_domain::cost::TokenUse;
use workforce_domain::goal::Goal;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::issue::{Issue, IssueStatus};
use workforce_domain::money::{Budget, Cents};
use workforce_domain::text::{Description, Label, Location, Name, TextError, Title};

use super::{World, done};

#[track_caller]
fn text<T>(read: Result<T, TextError>) -> T {
    read.unwrap_or_else(|error| panic!("{error}"))
}

/// A name.
#[must_use]
#[track_caller]
pub fn name(of: &str) -> Name {
    text(Name::parse(of))
}

/// A title.
#[must_use]
#[track_caller]
pub fn title(of: &str) -> Title {
    text(Title::parse(of))
}

/// A label.
#[must_use]
#[track_caller]
pub fn label(of: &str) -> Label {
    text(Label::parse(of))
}

/// A description.
#[must_use]
#[track_caller]
pub fn description(of: &str) -> Description {
    text(Description::parse(of))
}

/// The name an agent's key has unless it is given another.
#[must_use]
#[track_caller]
pub fn key_name() -> Name {
    name("default")
}

/// A company whose agents may be hired without an approval.
#[must_use]
#[track_caller]
pub fn new_company(called: &str) -> CreateCompany {
    CreateCompany {
        name: name(called),
        description: None,
        budget_monthly_cents: Some(Budget::UNLIMITED),
        budget_basis: None,
        require_board_approval_for_new_agents: Some(false),
        review_required: Some(false),
        attachment_max_bytes: None,
        locale: None,
        brand_color: None,
    }
}

/// An agent of which nothing but the name is said.
#[must_use]
#[track_caller]
pub fn new_agent(called: &str) -> CreateAgent {
    CreateAgent {
        name: name(called),
        allow_same_name: false,
        role: None,
        title: None,
        icon: None,
        capabilities: None,
        reports_to: None,
        adapter_type: None,
        adapter_config: Document::new(),
        runtime_config: Document::new(),
        budget: Change::Keep,
        can_create_agents: None,
        metadata: Document::new(),
    }
}

/// A goal of which nothing but the title is said.
#[must_use]
#[track_caller]
pub fn new_goal(titled: &str) -> CreateGoal {
    CreateGoal {
        title: title(titled),
        description: None,
        level: None,
        status: None,
        parent_id: None,
        owner_agent_id: None,
    }
}

/// A project of which nothing but the name is said.
#[must_use]
#[track_caller]
pub fn new_project(called: &str) -> CreateProject {
    CreateProject {
        goal_id: None,
        name: name(called),
        description: None,
        status: None,
        goal_ids: Some(Vec::new()),
        lead_agent_id: None,
        target_date: None,
        color: None,
        review_required: Some(false),
        governance: None,
        remote_required: None,
        budget_monthly_cents: None,
        budget_total_cents: None,
        workspace: None,
    }
}

/// A workspace in a directory.
#[must_use]
#[track_caller]
pub fn new_workspace(cwd: &str) -> CreateWorkspace {
    CreateWorkspace {
        name: None,
        cwd: Some(text(Location::parse(cwd))),
        repo_url: None,
        repo_ref: None,
        default_base_branch: None,
        is_primary: Some(false),
        metadata: Some(Document::new()),
    }
}

/// An issue of which nothing but the title is said.
#[must_use]
#[track_caller]
pub fn new_issue(titled: &str) -> CreateIssue {
    CreateIssue {
        title: title(titled),
        description: None,
        status: None,
        priority: None,
        assignee_agent_id: None,
        assignee_user_id: None,
        parent_id: None,
        project_id: None,
        goal_id: None,
        billing_code: None,
        ticket_key: None,
        delegation: None,
        assignee_adapter_overrides: None,
        label_ids: Some(Vec::new()),
        execution_workspace_id: None,
        request_key: None,
    }
}

/// A change of an issue that changes nothing, to fill in.
#[must_use]
pub fn no_change() -> UpdateIssue {
    UpdateIssue::default()
}

/// A report that `agent` spent so many cents, such as `0.3`.
#[must_use]
#[track_caller]
pub fn report_of(agent: AgentId, cents: &str) -> ReportCost {
    ReportCost {
        agent,
        provider: name("anthropic"),
        model: name("claude"),
        billing_type: None,
        tokens: TokenUse {
            input: 10,
            output: 5,
            ..TokenUse::default()
        },
        cost: Cents::parse(cents).unwrap_or_else(|error| panic!("{cents}: {error}")),
        estimated: None,
        issue: None,
        project: None,
        goal: None,
        run: None,
        billing_code: None,
        occurred_at: None,
        idempotency_key: None,
    }
}

/// What the board makes through the use cases.
impl World {
    /// A company whose agents may be hired without an approval.
    #[track_caller]
    pub fn company(&self, called: &str) -> Company {
        self.company_with(&new_company(called))
    }

    /// A company.
    #[track_caller]
    pub fn company_with(&self, command: &CreateCompany) -> Company {
        done(
            self.board()
                .write(|tx, ctx| companies::create(tx, ctx, command.clone())),
        )
        .company
    }

    /// An agent.
    #[track_caller]
    pub fn hired(&self, company: CompanyId, called: &str) -> Agent {
        self.hired_with(company, &new_agent(called))
    }

    /// An agent that reports to another.
    #[track_caller]
    pub fn hired_below(&self, manager: &Agent, called: &str) -> Agent {
        let below = CreateAgent {
            reports_to: Some(manager.id),
            ..new_agent(called)
        };
        self.hired_with(manager.company, &below)
    }

    /// An agent.
    #[track_caller]
    pub fn hired_with(&self, company: CompanyId, command: &CreateAgent) -> Agent {
        let board = self.board();
        done(board.write(|tx, ctx| agents::create(tx, ctx, company, command.clone())))
            .view
            .agent
    }

    /// A goal.
    #[track_caller]
    pub fn goal(&self, company: CompanyId, titled: &str) -> Goal {
        let board = self.board();
        done(board.write(|tx, ctx| goals::create(tx, ctx, company, new_goal(titled))))
    }

    /// A project.
    #[track_caller]
    pub fn project_with(&self, company: CompanyId, command: &CreateProject) -> ProjectView {
        let board = self.board();
        done(board.write(|tx, ctx| projects::create(tx, ctx, company, command.clone())))
    }

    /// An issue in todo that is assigned to nobody.
    #[track_caller]
    pub fn todo(&self, company: CompanyId, titled: &str) -> Issue {
        let todo = CreateIssue {
            status: Some(IssueStatus::Todo),
            ..new_issue(titled)
        };
        self.issue_with(company, &todo)
    }

    /// An issue in todo that is assigned to an agent, which is woken for it.
    #[track_caller]
    pub fn todo_for(&self, agent: &Agent, titled: &str) -> Issue {
        let todo = CreateIssue {
            status: Some(IssueStatus::Todo),
            assignee_agent_id: Some(agent.id),
            ..new_issue(titled)
        };
        self.issue_with(agent.company, &todo)
    }

    /// An issue.
    #[track_caller]
    pub fn issue_with(&self, company: CompanyId, command: &CreateIssue) -> Issue {
        let board = self.board();
        done(board.write(|tx, ctx| issues::create(tx, ctx, company, command.clone())))
            .view
            .issue
    }
}
