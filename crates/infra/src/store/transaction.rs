//! One transaction as the ports see it.

use std::collections::BTreeSet;

use uuid::Uuid;
use workforce_domain::activity::{Activity, Event};
use workforce_domain::id::CompanyId;
use workforce_domain::port::{
    ActivityReads, AgentReads, AgentWrites, ApprovalReads, ApprovalWrites, AttachmentReads,
    AttachmentWrites, BoardSessionReads, BoardSessionWrites, BoardTokenReads, BoardTokenWrites,
    CommentReads, CommentWrites, CompanyReads, CompanyWrites, CredentialReads, CredentialWrites,
    EngineReads, EngineWrites, ExecutionWorkspaceReads, ExecutionWorkspaceWrites, GoalReads,
    GoalWrites, IdempotencyWrites, InstructionReads, InstructionWrites, IssueReads, IssueWrites,
    Journal, LabelReads, LabelWrites, LedgerReads, LedgerWrites, Lock, ProjectReads, ProjectWrites,
    PullRequestWatchReads, PullRequestWatchWrites, Reads, RevisionReads, RevisionWrites, RunReads,
    RunWrites, SealedReads, SealedWrites, SecretReads, SecretWrites, SessionReads, SessionWrites,
    StoreError, StreamTicketReads, StreamTicketWrites, Tx,
};
use workforce_domain::time::Timestamp;

use super::{Connection, TransactionNumber, journal};
use crate::store::lock_order::LockOrder;

/// A transaction on one connection, and what it has to tell when it ends.
pub(crate) struct Transaction<'c> {
    /// Where statements run.
    pub(crate) conn: &'c mut Connection,
    order: LockOrder,
    activity: Vec<Activity>,
    events: Vec<Event>,
    /// Deleted companies: their listeners are woken although no event is
    /// written for them.
    vanished: Vec<CompanyId>,
    /// The company of the run that was started, and when: it has its next turn after the others.
    dispatched: Option<(CompanyId, Timestamp)>,
}

/// What a transaction has to tell of one company.
pub(super) struct CompanyJournal<'a> {
    pub(super) company: CompanyId,
    pub(super) activity: Vec<&'a Activity>,
    /// In the order of their numbers.
    pub(super) events: Vec<&'a Event>,
    /// When a run was started.
    pub(super) dispatched: Option<Timestamp>,
}

impl CompanyJournal<'_> {
    /// The instant of the latest activity, in microseconds.
    pub(super) fn latest(&self) -> i64 {
        let instants = self.activity.iter().map(|row| row.created_at.micros());
        instants.max().unwrap_or_default()
    }
}

impl<'c> Transaction<'c> {
    /// The transaction that is open on `conn`.
    pub(super) fn on(conn: &'c mut Connection) -> Self {
        Self {
            conn,
            order: LockOrder::default(),
            activity: Vec::new(),
            events: Vec::new(),
            vanished: Vec::new(),
            dispatched: None,
        }
    }

    /// Writes the gathered activity and events of each company, in the order in which they were
    /// gathered. This is the last thing before the commit: it locks the counters of the company
    /// until then, so that numbers and instants become visible in order, and numbers without gaps.
    /// Returns the companies whose listeners are to be woken after the commit, and the
    /// transaction's number if one of these statements returned it.
    pub(super) fn write_journal(
        &mut self,
    ) -> Result<(Vec<CompanyId>, Option<TransactionNumber>), StoreError> {
        let of_activity = self.activity.iter().map(|activity| activity.company);
        let of_events = self.events.iter().map(|event| event.company);
        // Sorted, so that two transactions take the counters of several companies in one order.
        let mut companies: BTreeSet<CompanyId> = of_activity.chain(of_events).collect();
        companies.extend(self.dispatched.map(|(company, _at)| company));
        let mut to_notify = core::mem::take(&mut self.vanished);
        let mut number = None;
        for &company in &companies {
            self.order.note(Lock::Counters, company);
            number = Some(self.write_journal_of(company)?);
        }
        to_notify.extend(companies);
        self.activity.clear();
        self.events.clear();
        self.dispatched = None;
        Ok((to_notify, number))
    }

    fn write_journal_of(&mut self, company: CompanyId) -> Result<TransactionNumber, StoreError> {
        let activity = self.activity.iter().filter(|row| row.company == company);
        let events = self.events.iter().filter(|row| row.company == company);
        let dispatched = self.dispatched.filter(|(of, _at)| *of == company);
        let journal = CompanyJournal {
            company,
            activity: activity.collect(),
            events: events.collect(),
            dispatched: dispatched.map(|(_of, at)| at),
        };
        journal::write(self.conn, &journal)
    }

    /// Notes that something is about to be locked, in the order that holds for all.
    pub(super) fn locks(&mut self, lock: Lock, id: impl Into<Uuid>) {
        self.order.note(lock, id);
    }

    /// Notes that a run of a company was started, which its counters keep.
    pub(super) fn note_dispatch(&mut self, company: CompanyId, at: Timestamp) {
        self.dispatched = Some((company, at));
    }

    /// Notes that a company was removed, so that those who listen to it find out.
    pub(super) fn note_vanished(&mut self, company: CompanyId) {
        self.vanished.push(company);
    }
}

impl Journal for Transaction<'_> {
    fn activity(&mut self, activity: Activity) {
        self.activity.push(activity);
    }

    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
}

impl Reads for Transaction<'_> {
    fn companies(&mut self) -> &mut dyn CompanyReads {
        self
    }

    fn agents(&mut self) -> &mut dyn AgentReads {
        self
    }

    fn revisions(&mut self) -> &mut dyn RevisionReads {
        self
    }

    fn instructions(&mut self) -> &mut dyn InstructionReads {
        self
    }

    fn credentials(&mut self) -> &mut dyn CredentialReads {
        self
    }

    fn board_tokens(&mut self) -> &mut dyn BoardTokenReads {
        self
    }

    fn board_sessions(&mut self) -> &mut dyn BoardSessionReads {
        self
    }

    fn stream_tickets(&mut self) -> &mut dyn StreamTicketReads {
        self
    }

    fn goals(&mut self) -> &mut dyn GoalReads {
        self
    }

    fn projects(&mut self) -> &mut dyn ProjectReads {
        self
    }

    fn issues(&mut self) -> &mut dyn IssueReads {
        self
    }

    fn labels(&mut self) -> &mut dyn LabelReads {
        self
    }

    fn comments(&mut self) -> &mut dyn CommentReads {
        self
    }

    fn attachments(&mut self) -> &mut dyn AttachmentReads {
        self
    }

    fn approvals(&mut self) -> &mut dyn ApprovalReads {
        self
    }

    fn execution_workspaces(&mut self) -> &mut dyn ExecutionWorkspaceReads {
        self
    }

    fn pull_request_watches(&mut self) -> &mut dyn PullRequestWatchReads {
        self
    }

    fn runs(&mut self) -> &mut dyn RunReads {
        self
    }

    fn sessions(&mut self) -> &mut dyn SessionReads {
        self
    }

    fn secrets(&mut self) -> &mut dyn SecretReads {
        self
    }

    fn sealed(&mut self) -> &mut dyn SealedReads {
        self
    }

    fn ledger(&mut self) -> &mut dyn LedgerReads {
        self
    }

    fn activity(&mut self) -> &mut dyn ActivityReads {
        self
    }

    fn engine(&mut self) -> &mut dyn EngineReads {
        self
    }
}

impl Tx for Transaction<'_> {
    fn companies_mut(&mut self) -> &mut dyn CompanyWrites {
        self
    }

    fn agents_mut(&mut self) -> &mut dyn AgentWrites {
        self
    }

    fn revisions_mut(&mut self) -> &mut dyn RevisionWrites {
        self
    }

    fn instructions_mut(&mut self) -> &mut dyn InstructionWrites {
        self
    }

    fn credentials_mut(&mut self) -> &mut dyn CredentialWrites {
        self
    }

    fn board_tokens_mut(&mut self) -> &mut dyn BoardTokenWrites {
        self
    }

    fn board_sessions_mut(&mut self) -> &mut dyn BoardSessionWrites {
        self
    }

    fn stream_tickets_mut(&mut self) -> &mut dyn StreamTicketWrites {
        self
    }

    fn goals_mut(&mut self) -> &mut dyn GoalWrites {
        self
    }

    fn projects_mut(&mut self) -> &mut dyn ProjectWrites {
        self
    }

    fn issues_mut(&mut self) -> &mut dyn IssueWrites {
        self
    }

    fn labels_mut(&mut self) -> &mut dyn LabelWrites {
        self
    }

    fn comments_mut(&mut self) -> &mut dyn CommentWrites {
        self
    }

    fn approvals_mut(&mut self) -> &mut dyn ApprovalWrites {
        self
    }

    fn attachments_mut(&mut self) -> &mut dyn AttachmentWrites {
        self
    }

    fn execution_workspaces_mut(&mut self) -> &mut dyn ExecutionWorkspaceWrites {
        self
    }

    fn pull_request_watches_mut(&mut self) -> &mut dyn PullRequestWatchWrites {
        self
    }

    fn runs_mut(&mut self) -> &mut dyn RunWrites {
        self
    }

    fn sessions_mut(&mut self) -> &mut dyn SessionWrites {
        self
    }

    fn secrets_mut(&mut self) -> &mut dyn SecretWrites {
        self
    }

    fn sealed_mut(&mut self) -> &mut dyn SealedWrites {
        self
    }

    fn ledger_mut(&mut self) -> &mut dyn LedgerWrites {
        self
    }

    fn idempotency(&mut self) -> &mut dyn IdempotencyWrites {
        self
    }

    fn journal(&mut self) -> &mut dyn Journal {
        self
    }

    fn engine_mut(&mut self) -> &mut dyn EngineWrites {
        self
    }

    fn reads(&mut self) -> &mut dyn Reads {
        self
    }
}
