//! Records as the tests make them.

use workforce_domain::Document;
use workforce_domain::agent::{AdapterType, Agent, AgentLifecycle};
use workforce_domain::budget::BudgetBasis;
use workforce_domain::company::{Company, CompanyLifecycle};
use workforce_domain::goal::{Goal, GoalLevel, GoalStatus};
use workforce_domain::issue::{Author, Issue, IssueStatus, NewIssue};
use workforce_domain::money::Budget;
use workforce_domain::project::{Project, ProjectGovernance, ProjectStatus};
use workforce_domain::run::{Run, RunKind, RunStatus, WakeStatus};
use workforce_domain::text::{Name, Role, Title};
use workforce_domain::wake::{Wake, WakeReason, WakeSource};

use super::{id, now, number};

/// An agent's heartbeat configuration with this cap.
pub(crate) fn heartbeat(max_concurrent_runs: i32) -> Document {
    let text = format!(r#"{{"heartbeat":{{"maxConcurrentRuns":{max_concurrent_runs}}}}}"#);
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn company() -> Company {
    let number = number();
    Company {
        id: id(),
        name: Name::parse("Acme").unwrap(),
        description: None,
        lifecycle: CompanyLifecycle::ACTIVE,
        budget: Budget::UNLIMITED,
        budget_basis: BudgetBasis::Actual,
        issue_prefix: format!("C{number}"),
        require_board_approval_for_new_agents: false,
        review_required: false,
        max_concurrent_runs: Company::DEFAULT_MAX_CONCURRENT_RUNS,
        attachment_limit: None,
        locale: None,
        brand_color: None,
        created_at: now(),
        updated_at: now(),
    }
}

pub(crate) fn agent(company: &Company) -> Agent {
    Agent {
        id: id(),
        company: company.id,
        name: Name::parse("Ada").unwrap(),
        url_key: format!("ada-{}", number()),
        role: Role::parse("engineer").unwrap(),
        title: None,
        icon: None,
        capabilities: None,
        reports_to: None,
        lifecycle: AgentLifecycle::ENABLED,
        consecutive_failures: 0,
        backoff_until: None,
        adapter_type: AdapterType::Process,
        adapter_config: Document::new(),
        runtime_config: Document::new(),
        can_create_agents: false,
        metadata: Document::new(),
        budget: Budget::UNLIMITED,
        budget_override: None,
        last_heartbeat_at: None,
        created_at: now(),
        updated_at: now(),
    }
}

pub(crate) fn goal(company: &Company) -> Goal {
    Goal {
        id: id(),
        company: company.id,
        title: Title::parse("Grow").unwrap(),
        description: None,
        level: GoalLevel::Task,
        status: GoalStatus::Planned,
        parent: None,
        owner_agent: None,
        created_at: now(),
        updated_at: now(),
    }
}

pub(crate) fn project(company: &Company) -> Project {
    Project {
        id: id(),
        company: company.id,
        name: Name::parse("Site").unwrap(),
        url_key: format!("site-{}", number()),
        description: None,
        status: ProjectStatus::Backlog,
        lead_agent: None,
        target_date: None,
        color: None,
        review_required: false,
        governance: ProjectGovernance::None,
        remote_required: false,
        budget: Budget::UNLIMITED,
        total_budget: Budget::UNLIMITED,
        archived_at: None,
        created_at: now(),
        updated_at: now(),
    }
}

pub(crate) fn issue(company: &Company) -> Issue {
    let number = i64::try_from(number()).unwrap();
    Issue::new(NewIssue {
        id: id(),
        company: company.id,
        prefix: &company.issue_prefix,
        number,
        title: Title::parse("Do it").unwrap(),
        status: IssueStatus::Todo,
        created_by: Author::default(),
        now: now(),
    })
}

/// A wake with the queued run that will answer it.
pub(crate) fn wake(agent: &Agent, issue: Option<&Issue>) -> (Wake, Run) {
    let (wake_id, run_id) = (id(), id());
    let kind = if issue.is_some() {
        RunKind::Execution
    } else {
        RunKind::General
    };
    let wake = Wake {
        id: wake_id,
        company: agent.company,
        agent: agent.id,
        issue: issue.map(|issue| issue.id),
        kind,
        status: WakeStatus::Pending,
        source: WakeSource::Assignment,
        reasons: vec![WakeReason::IssueAssigned],
        comments: Vec::new(),
        payload: Document::new(),
        count: 1,
        not_before: now(),
        run: run_id,
        requested_by: None,
        by_board: false,
        work: issue.map(|_| WakeReason::IssueAssigned),
        created_at: now(),
        updated_at: now(),
    };
    let run = Run {
        id: run_id,
        company: agent.company,
        agent: agent.id,
        issue: wake.issue,
        kind,
        status: RunStatus::Queued,
        source: WakeSource::Assignment,
        reason: WakeReason::IssueAssigned,
        wake: wake_id,
        fence: 0,
        token_digest: None,
        instance: None,
        lease_expires_at: None,
        stop_requested_at: None,
        stop_reason: None,
        exit_code: None,
        signal: None,
        error_code: None,
        error: None,
        log_bytes: 0,
        log_tail: None,
        containment: None,
        session: None,
        session_resumed: None,
        prompt_sha256: None,
        prompt_bytes: None,
        result_text: None,
        retry_at: None,
        started_at: None,
        finished_at: None,
        created_at: now(),
        updated_at: now(),
    };
    (wake, run)
}
