//! One transaction as the ports see it.

use diesel::prelude::*;
use diesel::{insert_into, update};
use uuid::Uuid;
use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity, Event, EventKind};
use workforce_domain::actor::ActorKind;
use workforce_domain::id::{ActivityId, AgentId, CompanyId, RunId};
use workforce_domain::port::{
    ActivityReads, AgentReads, AgentWrites, ApprovalReads, ApprovalWrites, AttachmentReads,
    AttachmentWrites, BoardTokenReads, BoardTokenWrites, CommentReads, CommentWrites, CompanyReads,
    CompanyWrites, CredentialReads, CredentialWrites, EngineReads, EngineWrites, GoalReads,
    GoalWrites, IdempotencyWrites, InstructionReads, InstructionWrites, IssueReads, IssueWrites,
    Journal, LabelReads, LabelWrites, LedgerReads, LedgerWrites, Lock, ProjectReads, ProjectWrites,
    Reads, RevisionReads, RevisionWrites, RunReads, RunWrites, SealedReads, SealedWrites,
    SecretReads, SecretWrites, StoreError, StreamTicketReads, StreamTicketWrites, Tx,
};

use super::{Connection, TransactionNumber, transaction_number};
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, WordColumn};
use crate::store::errors::failed;
use crate::store::lock_order::LockOrder;
use crate::store::schema::{activity, company_counters, events};

/// Rows in one statement; stays below every limit on bound values.
const BATCH: usize = 500;

/// So few rows are inserted one by one: that statement stays prepared, while one for several
/// rows is prepared each time, which costs as much as a second row.
const FEW: usize = 2;

/// Inserts rows of one table.
macro_rules! insert_rows {
    ($table:expr, $rows:expr, $conn:expr) => {
        if $rows.len() <= FEW {
            for row in &$rows {
                insert_into($table)
                    .values(row)
                    .execute($conn)
                    .map_err(failed)?;
            }
        } else {
            for batch in $rows.chunks(BATCH) {
                insert_into($table)
                    .values(batch)
                    .execute($conn)
                    .map_err(failed)?;
            }
        }
    };
}

/// A transaction on one connection, and what it has to tell when it ends.
pub(crate) struct Transaction<'c> {
    /// Where statements run.
    pub(crate) conn: &'c mut Connection,
    order: LockOrder,
    activity: Vec<Activity>,
    events: Vec<Event>,
    /// Companies whose listeners are to look although nothing is written for
    /// them to read.
    vanished: Vec<CompanyId>,
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
        }
    }

    /// Writes the gathered activity and numbers the gathered events. Comes last, because the
    /// counter of a company is locked from here to the commit: numbers become visible in order
    /// and without gaps. Answers whose listeners are to be told after the commit, and the
    /// transaction's number where it came to light by the way.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) fn write_journal(
        &mut self,
    ) -> Result<(Vec<CompanyId>, Option<TransactionNumber>), StoreError> {
        for event in &self.events {
            self.order.note(Lock::Counters, event.company);
        }
        let rows: Vec<_> = self.activity.iter().map(ActivityRow::of).collect();
        insert_rows!(activity::table, rows, self.conn);
        let mut told = core::mem::take(&mut self.vanished);
        // Sorted, so that two transactions take the counters of several companies in one order.
        self.events.sort_by_key(|event| event.company);
        let mut number = None;
        for of_company in self
            .events
            .chunk_by(|one, other| one.company == other.company)
        {
            number = write_events(self.conn, of_company)?.or(number);
            told.extend(of_company.first().map(|event| event.company));
        }
        self.activity.clear();
        self.events.clear();
        Ok((told, number))
    }

    /// Notes that something is about to be locked, in the order that holds for all.
    pub(super) fn locks(&mut self, lock: Lock, id: impl Into<Uuid>) {
        self.order.note(lock, id);
    }

    /// Notes that a company was removed, so that those who listen to it find out.
    pub(super) fn note_vanished(&mut self, company: CompanyId) {
        self.vanished.push(company);
    }
}

/// Numbers the events of one company and inserts them. The transaction's own number costs no
/// round trip here, so that it is asked for as well.
fn write_events(
    conn: &mut Connection,
    of_company: &[Event],
) -> Result<Option<TransactionNumber>, StoreError> {
    let Some(first) = of_company.first() else {
        return Ok(None);
    };
    let count = update(company_counters::table.find(IdColumn(first.company)))
        .set(
            company_counters::event_sequence
                .eq(company_counters::event_sequence + of_company.len() as i64),
        )
        .returning((company_counters::event_sequence, transaction_number()));
    // A company has its counters as long as it is there: it was deleted meanwhile.
    let (last_number, number): (i64, TransactionNumber) = cached(count)
        .get_result(conn)
        .optional()
        .map_err(failed)?
        .ok_or(StoreError::Contended)?;
    let first_number = last_number - of_company.len() as i64 + 1;
    let rows: Vec<_> = (first_number..)
        .zip(of_company)
        .map(|(number, event)| EventRow {
            company_id: IdColumn(event.company),
            seq: number,
            type_: WordColumn(event.kind),
            payload: JsonColumn(&event.payload),
            created_at: InstantColumn(event.created_at),
        })
        .collect();
    insert_rows!(events::table, rows, conn);
    Ok(Some(number))
}

#[derive(Insertable)]
#[diesel(table_name = activity, treat_none_as_default_value = false)]
struct ActivityRow<'a> {
    id: IdColumn<ActivityId>,
    company_id: IdColumn<CompanyId>,
    actor_type: WordColumn<ActorKind>,
    actor_id: &'a str,
    agent_id: Option<IdColumn<AgentId>>,
    run_id: Option<IdColumn<RunId>>,
    action: WordColumn<Action>,
    entity_type: WordColumn<Entity>,
    entity_id: &'a str,
    details: JsonColumn<&'a Document>,
    created_at: InstantColumn,
}

impl<'a> ActivityRow<'a> {
    fn of(activity: &'a Activity) -> Self {
        Self {
            id: IdColumn(activity.id),
            company_id: IdColumn(activity.company),
            actor_type: WordColumn(activity.actor_kind),
            actor_id: &activity.actor_id,
            agent_id: activity.agent.map(IdColumn),
            run_id: activity.run.map(IdColumn),
            action: WordColumn(activity.action),
            entity_type: WordColumn(activity.entity),
            entity_id: &activity.entity_id,
            details: JsonColumn(&activity.details),
            created_at: InstantColumn(activity.created_at),
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = events, treat_none_as_default_value = false)]
struct EventRow<'a> {
    company_id: IdColumn<CompanyId>,
    seq: i64,
    type_: WordColumn<EventKind>,
    payload: JsonColumn<&'a Document>,
    created_at: InstantColumn,
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

    fn runs(&mut self) -> &mut dyn RunReads {
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

    fn runs_mut(&mut self) -> &mut dyn RunWrites {
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
