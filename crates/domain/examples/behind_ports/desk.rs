//! A desk in the place of a store: one issue, one agent, and what is decided and spent. The mocks
//! of a transaction look at it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;
use workforce_domain::Document;
use workforce_domain::agent::AdapterType;
use workforce_domain::budget::Spend;
use workforce_domain::mocks::MockTx;
use workforce_domain::prelude::*;
use workforce_domain::text::{Role, TextError};

/// What lies on the desk.
pub(crate) struct Papers {
    pub(crate) issue: Issue,
    pub(crate) agent: Agent,
    pub(crate) approval: Option<Approval>,
    pub(crate) spent: Cents,
    pub(crate) alerts: Vec<Threshold>,
}

impl Papers {
    /// An issue in progress, and an agent that may spend a dollar a month.
    pub(crate) fn new(now: Timestamp) -> Result<Self, TextError> {
        let company = Uuid::from_u128(1).into();
        let new = NewIssue {
            id: Uuid::from_u128(2).into(),
            company,
            prefix: "ACME",
            number: 1,
            title: Title::parse("Write the report")?,
            status: IssueStatus::InProgress,
            created_by: Author::Board(BoardMember::Local),
            now,
        };
        Ok(Self {
            issue: Issue::new(new),
            agent: agent(company, now)?,
            approval: None,
            spent: Cents::ZERO,
            alerts: Vec::new(),
        })
    }
}

fn agent(company: CompanyId, now: Timestamp) -> Result<Agent, TextError> {
    Ok(Agent {
        id: Uuid::from_u128(3).into(),
        company,
        name: Name::parse("Ada")?,
        url_key: "ada".to_owned(),
        role: Role::parse("engineer")?,
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
        budget: Budget::from_cents(100).unwrap_or(Budget::UNLIMITED),
        budget_override: None,
        last_heartbeat_at: None,
        created_at: now,
        updated_at: now,
    })
}

/// A desk that a transaction and whoever tells the story look at.
#[derive(Clone)]
pub(crate) struct Desk(Arc<Mutex<Papers>>);

impl Desk {
    pub(crate) fn new(papers: Papers) -> Self {
        Self(Arc::new(Mutex::new(papers)))
    }

    pub(crate) fn papers(&self) -> MutexGuard<'_, Papers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A transaction that reads and writes what lies on the desk.
    pub(crate) fn transaction(&self) -> MockTx {
        let mut tx = MockTx::default();
        self.keep_issue(&mut tx);
        self.keep_approval(&mut tx);
        self.keep_ledger(&mut tx);
        tx
    }

    fn keep_issue(&self, tx: &mut MockTx) {
        let desk = self.clone();
        tx.issues
            .expect_lock()
            .returning(move |_, _| Ok(Some(Locked::assume_locked(desk.papers().issue.clone()))));
        let desk = self.clone();
        tx.issues.expect_save().returning(move |issue| {
            desk.papers().issue = issue.to_store()?.clone();
            Ok(())
        });
        tx.issues.expect_end_lease().returning(|_| Ok(()));
    }

    fn keep_approval(&self, tx: &mut MockTx) {
        let desk = self.clone();
        tx.approvals
            .expect_insert()
            .returning(move |approval, _, _| {
                desk.papers().approval = Some(approval.clone());
                Ok(Locked::assume_locked(approval))
            });
        let desk = self.clone();
        tx.approvals
            .expect_find()
            .returning(move |_, _| Ok(desk.papers().approval.clone()));
        let desk = self.clone();
        tx.approvals.expect_lock().returning(move |_, _| {
            let approval = desk.papers().approval.clone();
            Ok(approval.map(Locked::assume_locked))
        });
        let desk = self.clone();
        tx.approvals
            .expect_transition()
            .returning(move |approval, _| {
                desk.papers().approval = Some(approval.to_store()?.clone());
                Ok(true)
            });
    }

    fn keep_ledger(&self, tx: &mut MockTx) {
        let desk = self.clone();
        tx.agents
            .expect_lock()
            .returning(move |_, _| Ok(Some(Locked::assume_locked(desk.papers().agent.clone()))));
        let desk = self.clone();
        tx.agents.expect_save().returning(move |agent| {
            desk.papers().agent = agent.to_store()?.clone();
            Ok(())
        });
        let desk = self.clone();
        tx.ledger.expect_record().returning(move |event| {
            let mut papers = desk.papers();
            let sum = papers.spent.checked_add(event.cost);
            papers.spent = sum.ok_or(StoreError::Contended)?;
            Ok(())
        });
        let desk = self.clone();
        tx.ledger.expect_spent().returning(move |_, _, _| {
            Ok(Spend {
                actual: desk.papers().spent,
                ..Spend::default()
            })
        });
        let desk = self.clone();
        tx.ledger
            .expect_alerts()
            .returning(move |_, _, _| Ok(desk.papers().alerts.clone()));
        let desk = self.clone();
        tx.ledger
            .expect_raise_alert()
            .returning(move |_, _, _, alert, _| {
                desk.papers().alerts.push(alert);
                Ok(true)
            });
    }
}
