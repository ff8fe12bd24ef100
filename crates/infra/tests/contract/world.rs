//! What the tests fill a store with.

use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering};

use diesel::{Connection, PgConnection, RunQueryDsl, SqliteConnection, sql_query};
use uuid::Uuid;
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, CompanyScope, InstanceScope, Scope};
use workforce_domain::agent::{AdapterType, Agent, AgentLifecycle};
use workforce_domain::company::{Company, CompanyLifecycle, CompanyStatus};
use workforce_domain::goal::{Goal, GoalLevel, GoalStatus};
use workforce_domain::id::{AgentId, CompanyId, InstanceId};
use workforce_domain::issue::{
    Assignment, Author, Holder, Issue, IssueStatus, Lease, Priority, Progress,
};
use workforce_domain::money::Budget;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{
    ClaimRequest, ClaimedRun, EmployedAgent, Failure, Locked, NewLease, Reads, Shared, Store,
    StoreError, Tx,
};
use workforce_domain::project::{Project, ProjectStatus};
use workforce_domain::run::{Run, RunKind, RunStatus, WakeStatus};
use workforce_domain::text::{Name, Role, Title};
use workforce_domain::time::Timestamp;
use workforce_domain::wake::{Wake, WakeReason, WakeSource};
use workforce_testkit::store::TestStore;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A number that no other call got.
pub(crate) fn number() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// An id that no other call got; later ones are greater.
pub(crate) fn id<I: From<Uuid>>() -> I {
    Uuid::from_u128((0x0190_u128 << 112) | u128::from(number())).into()
}

/// The present of the tests.
pub(crate) fn now() -> Timestamp {
    Timestamp::parse("2026-11-20T12:00:00Z").unwrap()
}

/// So many seconds after [`now`].
pub(crate) fn later(seconds: u64) -> Timestamp {
    now().plus(Duration::from_secs(seconds))
}

/// Runs `body` in a writing transaction.
pub(crate) fn try_write<T>(
    store: &dyn Store,
    mut body: impl FnMut(&mut dyn Tx) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    store
        .write(|tx| body(tx).map_err(Failure::<core::convert::Infallible>::Store))
        .map_err(|failure| match failure {
            Failure::Store(error) => error,
            Failure::Refused(never) => match never {},
        })
}

/// Runs `body` in a writing transaction that must succeed.
#[track_caller]
pub(crate) fn write<T>(
    store: &dyn Store,
    body: impl FnMut(&mut dyn Tx) -> Result<T, StoreError>,
) -> T {
    try_write(store, body).unwrap()
}

/// Runs `body` in a reading transaction that must succeed.
#[track_caller]
pub(crate) fn read<T>(
    store: &dyn Store,
    mut body: impl FnMut(&mut dyn Reads) -> Result<T, StoreError>,
) -> T {
    store
        .read(|reads| body(reads).map_err(Failure::<core::convert::Infallible>::Store))
        .unwrap()
}

/// Runs a statement past the store.
#[track_caller]
pub(crate) fn execute(store: &TestStore, statement: &str) {
    let target = store.connection();
    if target.starts_with("postgres") {
        let mut connection = PgConnection::establish(target).unwrap();
        sql_query(statement).execute(&mut connection).unwrap();
    } else {
        let mut connection = SqliteConnection::establish(target).unwrap();
        sql_query("PRAGMA busy_timeout = 5000")
            .execute(&mut connection)
            .unwrap();
        sql_query(statement).execute(&mut connection).unwrap();
    }
}

/// An instant as a statement for [`execute`] spells it.
pub(crate) fn literal(store: &TestStore, at: Timestamp) -> String {
    if store.connection().starts_with("postgres") {
        format!("'{at}'")
    } else {
        at.micros().to_string()
    }
}

/// An agent's heartbeat configuration with this cap.
pub(crate) fn heartbeat(max_concurrent_runs: i32) -> Document {
    let text = format!(r#"{{"heartbeat":{{"maxConcurrentRuns":{max_concurrent_runs}}}}}"#);
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn company() -> Company {
    let number = number();
    Company {
        id: id(),
        name: Name::new("Acme").unwrap(),
        description: None,
        lifecycle: CompanyLifecycle::ACTIVE,
        budget: Budget::UNLIMITED,
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
        name: Name::new("Ada").unwrap(),
        url_key: format!("ada-{}", number()),
        role: Role::new("engineer").unwrap(),
        title: None,
        icon: None,
        capabilities: None,
        reports_to: None,
        lifecycle: AgentLifecycle::ENABLED,
        consecutive_failures: 0,
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
        title: Title::new("Grow").unwrap(),
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
        name: Name::new("Site").unwrap(),
        url_key: format!("site-{}", number()),
        description: None,
        status: ProjectStatus::Backlog,
        lead_agent: None,
        target_date: None,
        color: None,
        review_required: false,
        archived_at: None,
        created_at: now(),
        updated_at: now(),
    }
}

pub(crate) fn issue(company: &Company) -> Issue {
    let number = i64::try_from(number()).unwrap();
    Issue {
        id: id(),
        company: company.id,
        number,
        identifier: format!("{}-{number}", company.issue_prefix),
        project: None,
        goal: None,
        parent: None,
        title: Title::new("Do it").unwrap(),
        description: None,
        progress: Progress::begin(IssueStatus::Todo, now()),
        priority: Priority::Medium,
        assignee: Assignment::NOBODY,
        created_by: Author::default(),
        billing_code: None,
        ticket_key: None,
        request_depth: 0,
        delegation: None,
        assignee_adapter_overrides: None,
        execution_workspace: None,
        hidden_at: None,
        created_at: now(),
        updated_at: now(),
    }
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
        started_at: None,
        finished_at: None,
        created_at: now(),
        updated_at: now(),
    };
    (wake, run)
}

/// Queues a wake of an agent that may be woken.
pub(crate) fn queue(tx: &mut dyn Tx, wake: &Wake, run: &Run) -> Result<(), StoreError> {
    let agent = tx
        .runs_mut()
        .share_wakeability(wake.scope(), wake.agent)?
        .expect("it may be woken");
    tx.runs_mut().queue(agent, wake, run)
}

/// Locks an agent.
pub(crate) fn lock_agent(tx: &mut dyn Tx, agent: &Agent) -> Result<Locked<Agent>, StoreError> {
    let held = tx.agents_mut().lock(Scope::SYSTEM, agent.id)?;
    Ok(held.expect("it exists"))
}

/// Locks an issue.
pub(crate) fn lock_issue(tx: &mut dyn Tx, issue: &Issue) -> Result<Locked<Issue>, StoreError> {
    let held = tx.issues_mut().lock(Scope::SYSTEM, &issue.id.into())?;
    Ok(held.expect("it exists"))
}

/// Holds an agent that can be given work.
pub(crate) fn share_employed(
    tx: &mut dyn Tx,
    company: CompanyScope,
    agent: AgentId,
) -> Result<EmployedAgent, StoreError> {
    let shared = tx.agents_mut().share(company, agent)?;
    Ok(shared.and_then(Shared::employed).expect("it is employed"))
}

/// A company with one agent and one issue.
pub(crate) struct World<'s> {
    pub(crate) store: &'s TestStore,
    pub(crate) company: Company,
    pub(crate) agent: Agent,
    pub(crate) issue: Issue,
}

impl<'s> World<'s> {
    #[track_caller]
    pub(crate) fn new(store: &'s TestStore) -> Self {
        let company = company();
        let agent = agent(&company);
        let issue = issue(&company);
        write(&**store, |tx| {
            tx.companies_mut().insert(company.clone())?;
            tx.agents_mut().insert(agent.clone())?;
            tx.issues_mut().insert(issue.clone())?;
            Ok(())
        });
        Self {
            store,
            company,
            agent,
            issue,
        }
    }

    pub(crate) fn scope(&self) -> CompanyScope {
        self.company.scope()
    }

    #[track_caller]
    pub(crate) fn write<T>(&self, body: impl FnMut(&mut dyn Tx) -> Result<T, StoreError>) -> T {
        write(&**self.store, body)
    }

    #[track_caller]
    pub(crate) fn read<T>(&self, body: impl FnMut(&mut dyn Reads) -> Result<T, StoreError>) -> T {
        read(&**self.store, body)
    }

    /// Another agent of the company.
    #[track_caller]
    pub(crate) fn hire(&self) -> Agent {
        let agent = agent(&self.company);
        self.write(|tx| tx.agents_mut().insert(agent.clone()));
        agent
    }

    /// Another issue of the company.
    #[track_caller]
    pub(crate) fn open(&self) -> Issue {
        let issue = issue(&self.company);
        self.write(|tx| tx.issues_mut().insert(issue.clone()).map(drop));
        issue
    }

    /// Queues a wake.
    #[track_caller]
    pub(crate) fn queue(&self, agent: &Agent, issue: Option<&Issue>) -> (Wake, Run) {
        let (wake, run) = wake(agent, issue);
        self.write(|tx| queue(tx, &wake, &run));
        (wake, run)
    }

    /// Puts a lease on an issue that lasts from `at` on.
    #[track_caller]
    pub(crate) fn take_lease(&self, issue: &Issue, holder: Holder, at: Timestamp) -> Lease {
        self.write(|tx| {
            let agent = share_employed(tx, self.scope(), holder.agent())?;
            let held = lock_issue(tx, issue)?;
            let run = match holder.run() {
                Some(run) => tx.runs_mut().lock(Scope::SYSTEM, run)?,
                None => None,
            };
            let lease = NewLease::of(&held, &agent, run.and_then(|run| run.live()), at);
            assert_eq!(lease.lease().holder, holder);
            tx.issues_mut().take_lease(&held, lease)
        })
    }

    #[track_caller]
    pub(crate) fn change_company(&self, change: impl Fn(&mut Company)) {
        self.write(|tx| {
            let mut held = tx
                .companies_mut()
                .lock(Scope::SYSTEM, self.company.id)?
                .expect("it exists");
            change(&mut held);
            tx.companies_mut().save(&held)
        });
    }

    #[track_caller]
    pub(crate) fn change_agent(&self, agent: &Agent, change: impl Fn(&mut Agent)) {
        self.write(|tx| {
            let mut held = lock_agent(tx, agent)?;
            change(&mut held);
            tx.agents_mut().save(&held)
        });
    }

    #[track_caller]
    pub(crate) fn change_issue(&self, issue: &Issue, change: impl Fn(&mut Issue)) {
        self.write(|tx| {
            let mut held = lock_issue(tx, issue)?;
            change(&mut held);
            tx.issues_mut().save(&held)
        });
    }

    #[track_caller]
    pub(crate) fn run(&self, run: &Run) -> Run {
        self.read(|reads| reads.runs().find(Scope::SYSTEM, run.id))
            .expect("it exists")
    }

    /// Ends a running run and the lease it holds.
    #[track_caller]
    pub(crate) fn finish(&self, run: &Run) {
        self.write(|tx| {
            let mut held = tx
                .runs_mut()
                .lock(Scope::SYSTEM, run.id)?
                .expect("it exists");
            end(&mut held);
            tx.runs_mut().save(&held)?;
            tx.issues_mut().end_leases_of_run(&held)
        });
    }
}

/// Makes a running run a succeeded one.
pub(crate) fn end(run: &mut Run) {
    run.status = RunStatus::Succeeded;
    run.token_digest = None;
    run.instance = None;
    run.lease_expires_at = None;
    run.finished_at = Some(later(60));
    run.updated_at = later(60);
}

/// A claim by a server of the tests.
pub(crate) fn request(instance: InstanceId) -> ClaimRequest {
    let mut token_digest = [0; 32];
    token_digest[..8].copy_from_slice(&number().to_be_bytes());
    ClaimRequest {
        instance,
        now: later(1),
        lease_until: later(61),
        token_digest,
        instance_cap: 100,
    }
}

#[track_caller]
pub(crate) fn claim(store: &TestStore) -> Option<ClaimedRun> {
    let request = request(id());
    write(&**store, |tx| {
        tx.engine_mut().claim(InstanceScope::SYSTEM, &request)
    })
}

/// Puts a company away, so that its wakes concern no later claim.
#[track_caller]
pub(crate) fn archive(store: &TestStore, company: CompanyId) {
    write(&**store, |tx| {
        let mut held = tx
            .companies_mut()
            .lock(Scope::SYSTEM, company)?
            .expect("it exists");
        held.lifecycle = held.lifecycle.go(CompanyStatus::Archived, now()).unwrap();
        tx.companies_mut().save(&held)
    });
}

/// Reads a list to its end in pages of `limit`.
#[track_caller]
pub(crate) fn walk<T, K>(
    limit: usize,
    mut list: impl FnMut(&PageRequest<K>) -> Page<T, K>,
) -> Vec<T> {
    let mut request = PageRequest {
        after: None,
        limit,
        max_bytes: usize::MAX,
    };
    let mut all = Vec::new();
    loop {
        let page = list(&request);
        assert!(
            page.items.len() <= limit,
            "a page of {} in pages of {limit}",
            page.items.len()
        );
        assert!(
            page.next.is_none() || !page.items.is_empty(),
            "an empty page cannot lead to another"
        );
        all.extend(page.items);
        match page.next {
            Some(next) => request.after = Some(next),
            None => return all,
        }
    }
}
