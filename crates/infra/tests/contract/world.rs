//! What the tests fill a store with.

mod records;
mod transactions;

use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;
use workforce_domain::actor::{CompanyOwned, CompanyScope, InstanceScope, Scope};
use workforce_domain::agent::Agent;
use workforce_domain::company::{Company, CompanyStatus};
use workforce_domain::id::{CompanyId, InstanceId};
use workforce_domain::issue::{Holder, Issue, Lease};
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{ClaimRequest, ClaimedRun, NewLease, Reads, StoreError, Tx};
use workforce_domain::run::{Run, RunStatus};
use workforce_domain::time::Timestamp;
use workforce_domain::wake::Wake;
use workforce_testkit::store::TestStore;

pub(crate) use self::records::{agent, company, goal, heartbeat, issue, project, wake};
pub(crate) use self::transactions::{
    execute, literal, lock_agent, lock_issue, queue, read, share_employed, try_write, write,
};

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
        held.lifecycle = held
            .lifecycle
            .transition_to(CompanyStatus::Archived, now())
            .unwrap();
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
