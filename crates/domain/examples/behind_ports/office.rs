//! What another program does with the rules. It reaches a store through the ports alone, and has
//! its clock and its ids from outside.

use workforce_domain::Document;
use workforce_domain::approval::{Decider, Decision};
use workforce_domain::budget::{BudgetBasis, decide_agent};
use workforce_domain::company::PauseReason;
use workforce_domain::cost::{BillingType, CostEvent, CostSource, TokenUse};
use workforce_domain::id::CostEventId;
use workforce_domain::port::Spender;
use workforce_domain::prelude::*;

/// Why the office does not do what it is asked.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("there is no such thing")]
    NotFound,
    #[error("somebody else decided meanwhile")]
    Overtaken,
    #[error(transparent)]
    Issue(#[from] IllegalTransition<IssueStatus>),
    #[error(transparent)]
    Approval(#[from] IllegalTransition<ApprovalStatus>),
    #[error(transparent)]
    Agent(#[from] IllegalTransition<AgentState>),
}

/// What an agent has to pay for.
pub(crate) struct Bill {
    pub(crate) agent: AgentId,
    pub(crate) provider: Name,
    pub(crate) model: Name,
    pub(crate) cost: Cents,
}

/// Whoever acts, with what the rules do not have.
pub(crate) struct Office<'a> {
    pub(crate) actor: &'a Actor,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) ids: &'a dyn Ids,
}

impl Office<'_> {
    /// Moves an issue, and says where it comes from.
    pub(crate) fn move_issue(
        &self,
        tx: &mut dyn Tx,
        id: IssueId,
        to: IssueStatus,
    ) -> Result<IssueStatus, Failure<Refusal>> {
        let issue = tx.issues_mut().lock(self.actor.scope(), &id.into())?;
        let issue = issue.ok_or(Failure::Refused(Refusal::NotFound))?;
        self.advance(tx, issue, to)
    }

    /// Asks the board whether an issue is done.
    pub(crate) fn ask_for_completion(
        &self,
        tx: &mut dyn Tx,
        id: IssueId,
    ) -> Result<ApprovalId, Failure<Refusal>> {
        let issue = tx.issues_mut().lock(self.actor.scope(), &id.into())?;
        let issue = issue.ok_or(Failure::Refused(Refusal::NotFound))?;
        let now = self.clock.now();
        let approval = Approval {
            id: self.ids.next().into(),
            company: issue.company,
            kind: ApprovalType::ApproveCompletion,
            state: ApprovalState::Pending,
            payload: Document::new(),
            attention: Vec::new(),
            requested_by: self.actor.author(),
            primary_issue: Some(issue.id),
            resubmit_count: 0,
            revision: 1,
            created_at: now,
            updated_at: now,
        };
        let approval = tx.approvals_mut().insert(approval, &[issue], None)?;
        Ok(approval.id)
    }

    /// Agrees to what the board is asked, which ends the issue that it is about.
    pub(crate) fn agree(
        &self,
        tx: &mut dyn Tx,
        id: ApprovalId,
        member: BoardMember,
    ) -> Result<(), Failure<Refusal>> {
        let scope = self.actor.scope();
        let seen = tx.approvals().find(scope, id)?;
        let seen = seen.ok_or(Failure::Refused(Refusal::NotFound))?;
        // Issues are locked before approvals.
        let issue = match seen.primary_issue {
            Some(issue) => tx.issues_mut().lock(scope, &issue.into())?,
            None => None,
        };
        let approval = tx.approvals_mut().lock(scope, id)?;
        let mut approval = approval.ok_or(Failure::Refused(Refusal::NotFound))?;
        let decision = Decision {
            by: Decider(member),
            note: None,
            at: self.clock.now(),
        };
        approval.state = approval.state.approve(decision)?;
        let from = ApprovalStatus::ACTIONABLE;
        if !tx.approvals_mut().transition(&approval, from)? {
            return Err(Failure::Refused(Refusal::Overtaken));
        }
        if let Some(issue) = issue.filter(|_| approval.kind.ends_issues()) {
            self.advance(tx, issue, IssueStatus::Done)?;
        }
        Ok(())
    }

    /// Books what an agent costs, and does what its budget asks for then. Says which alerts that
    /// raises.
    pub(crate) fn book(
        &self,
        tx: &mut dyn Tx,
        bill: &Bill,
    ) -> Result<Vec<Threshold>, Failure<Refusal>> {
        let agent = tx.agents_mut().lock(self.actor.scope(), bill.agent)?;
        let mut agent = agent.ok_or(Failure::Refused(Refusal::NotFound))?;
        let now = self.clock.now();
        tx.ledger_mut()
            .record(&cost_event(self.ids.next().into(), &agent, bill, now))?;

        let (company, spender, month) = (agent.scope(), Spender::Agent(agent.id), Month::of(now));
        let spend = tx.ledger().spent(company, spender, month)?;
        let raised = tx.ledger().alerts(company, spender, month)?;
        let usage = BudgetUsage {
            spent: spend.counted(BudgetBasis::Actual),
            budget: agent.budget,
        };
        let raised = RaisedAlerts {
            soft: raised.contains(&Threshold::Soft),
            hard: raised.contains(&Threshold::Hard),
        };
        let decision = decide_agent(usage, raised, agent.lifecycle.into());
        for &alert in &decision.alerts {
            tx.ledger_mut()
                .raise_alert(company, spender, month, alert, now)?;
        }
        if decision.pause {
            agent.lifecycle = agent.lifecycle.pause(PauseReason::Budget, now)?;
            tx.agents_mut().save(&agent)?;
        }
        Ok(decision.alerts)
    }

    fn advance(
        &self,
        tx: &mut dyn Tx,
        mut issue: Locked<Issue>,
        to: IssueStatus,
    ) -> Result<IssueStatus, Failure<Refusal>> {
        let mover = match self.actor {
            Actor::Agent(_) => Mover::Agent,
            Actor::Board(_) | Actor::System => Mover::Board,
        };
        let moved = issue.progress.transition_to(mover, to, self.clock.now())?;
        issue.progress = moved.progress;
        tx.issues_mut().save(&issue)?;
        if to.is_terminal() {
            tx.issues_mut().end_lease(&issue)?;
        }
        Ok(moved.from)
    }
}

fn cost_event(id: CostEventId, agent: &Agent, bill: &Bill, now: Timestamp) -> CostEvent {
    CostEvent {
        id,
        company: agent.company,
        agent: agent.id,
        issue: None,
        project: None,
        goal: None,
        run: None,
        billing_code: None,
        provider: bill.provider.clone(),
        model: bill.model.clone(),
        billing_type: BillingType::Api,
        tokens: TokenUse::default(),
        cost: bill.cost,
        estimated: None,
        source: CostSource::Reported,
        counted: true,
        idempotency_key: None,
        occurred_at: now,
        created_at: now,
    }
}
