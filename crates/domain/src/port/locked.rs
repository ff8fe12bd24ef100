//! What a transaction holds until it ends: records that are locked, and the facts that follow
//! from them. A write asks for the facts that it depends on, so that none of them can change
//! between the look and the commit.

use alloc::boxed::Box;
use core::ops::{Deref, DerefMut};

use uuid::Uuid;

use super::StoreError;
use crate::actor::{CompanyOwned, CompanyScope};
use crate::agent::Agent;
use crate::id::{AgentId, IssueId, RunId};
use crate::issue::{Holder, Issue, Lease};
use crate::run::Run;
use crate::time::Timestamp;

/// A record that was locked in this transaction. Only such a record can be saved, so nothing is
/// written over a change that was not seen.
#[derive(Debug)]
pub struct Locked<T> {
    record: T,
    identity: Uuid,
    /// The record before the changes that no activity tells of yet. Most locked records never
    /// change, so it is copied only when the first change begins.
    former: Option<Box<T>>,
}

impl<T: CompanyOwned> Locked<T> {
    /// Marks a record as locked. For implementations of the port only: they call it with what
    /// they read under a row lock, or what they just inserted. The rules of the repository refuse
    /// it elsewhere.
    pub fn assume_locked(record: T) -> Self {
        let identity = record.identity();
        Self {
            record,
            identity,
            former: None,
        }
    }

    /// The record as it is to be stored.
    ///
    /// # Errors
    /// [`StoreError::Constraint`] when another record was put in the place of the locked one.
    pub fn to_store(&self) -> Result<&T, StoreError> {
        if self.record.identity() == self.identity {
            Ok(&self.record)
        } else {
            Err(StoreError::Constraint {
                constraint: "a locked record stays the same record".into(),
            })
        }
    }

    /// True when the record has changed since it was locked, or since the last
    /// [`take_former`](Self::take_former).
    pub fn is_changed(&self) -> bool
    where
        T: PartialEq,
    {
        let former = self.former.as_deref();
        former.is_some_and(|former| *former != self.record)
    }

    /// Takes the record as it was before the changes that no activity tells of yet; `None` when
    /// none was begun. The next call tells of what changes from now on, so each change is told
    /// once.
    pub fn take_former(&mut self) -> Option<T> {
        self.former.take().map(|former| *former)
    }

    /// Lets go of the right to save.
    pub fn into_inner(self) -> T {
        self.record
    }
}

impl<T> Deref for Locked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.record
    }
}

impl<T: Clone> DerefMut for Locked<T> {
    fn deref_mut(&mut self) -> &mut T {
        if self.former.is_none() {
            self.former = Some(Box::new(self.record.clone()));
        }
        &mut self.record
    }
}

/// A record that stays as it was read until the transaction ends. Others may hold it as well, so
/// it cannot be saved.
#[derive(Debug)]
pub struct Shared<T>(T);

impl<T> Shared<T> {
    /// Marks a record as held by a shared lock. For implementations of the port only; the rules
    /// of the repository refuse it elsewhere.
    pub const fn assume_locked(record: T) -> Self {
        Self(record)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// An agent that is neither a draft nor terminated, and stays so until the transaction ends.
/// Assignments and leases ask for it.
#[derive(Debug)]
pub struct EmployedAgent(Shared<Agent>);

impl Shared<Agent> {
    /// The agent as one that may be given work; `None` for drafts and terminated ones.
    pub fn employed(self) -> Option<EmployedAgent> {
        self.is_employed().then_some(EmployedAgent(self))
    }
}

impl Deref for EmployedAgent {
    type Target = Agent;

    fn deref(&self) -> &Agent {
        &self.0
    }
}

/// A run that was live when it was locked, and cannot end before the transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockedLiveRun {
    run: RunId,
    agent: AgentId,
}

impl LockedLiveRun {
    /// The run.
    pub const fn id(self) -> RunId {
        self.run
    }
}

impl Locked<Run> {
    /// The run as a live one; `None` unless it is running.
    pub fn live(&self) -> Option<LockedLiveRun> {
        self.status.is_live().then_some(LockedLiveRun {
            run: self.id,
            agent: self.agent,
        })
    }
}

/// A lease that may be put on an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLease(Lease);

impl NewLease {
    /// The lease of an agent that acts in a run of its own, or outside of any. A run of another
    /// agent counts for nothing.
    pub fn of(
        issue: &Locked<Issue>,
        agent: &EmployedAgent,
        run: Option<LockedLiveRun>,
        now: Timestamp,
    ) -> Self {
        let run = run
            .filter(|run| run.agent == agent.id)
            .map(LockedLiveRun::id);
        let holder = Holder::of(agent.id, run);
        Self(Lease {
            issue: issue.id,
            company: issue.company,
            holder,
            fence: 0,
            expires_at: holder.expiry(now),
        })
    }

    /// The present lease of a locked issue, to last from `now` on; `None` for the lease of
    /// another issue. Its holder cannot leave before the issue is let go.
    pub fn renewed(issue: &Locked<Issue>, lease: &Lease, now: Timestamp) -> Option<Self> {
        (lease.issue == issue.id).then(|| Self(lease.renewed(now)))
    }

    /// The issue it is for.
    pub const fn issue(&self) -> IssueId {
        self.0.issue
    }

    /// The lease, but for the fencing number, which the store gives.
    pub const fn lease(&self) -> &Lease {
        &self.0
    }
}

/// An employed agent of a company that works: until the transaction ends, neither is the agent
/// terminated nor the company stopped. Wakes and their runs ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeableAgent {
    company: CompanyScope,
    agent: AgentId,
}

impl WakeableAgent {
    /// Marks an agent as one that may be woken. For implementations of the port only; the rules
    /// of the repository refuse it elsewhere.
    pub const fn assume_locked(company: CompanyScope, agent: AgentId) -> Self {
        Self { company, agent }
    }

    /// Its company.
    pub const fn company(self) -> CompanyScope {
        self.company
    }

    /// The agent.
    pub const fn agent(self) -> AgentId {
        self.agent
    }
}
