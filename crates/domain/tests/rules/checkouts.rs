//! The decision on a checkout, and leases.

use std::time::Duration;

use uuid::Uuid;
use workforce_domain::id::{AgentId, ApprovalId, CompanyId, IssueId, RunId};
use workforce_domain::issue::{
    AGENT_LEASE, CheckoutConflict, CheckoutDecision, CheckoutFacts, CheckoutRequest,
    ConflictReason, DEFAULT_EXPECTED, Holder, IssueStatus, Lease, Progress,
};
use workforce_domain::time::Timestamp;

use crate::table::{named, table};

const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

fn agent(number: u128) -> AgentId {
    Uuid::from_u128(number).into()
}

fn run(number: u128) -> RunId {
    Uuid::from_u128(number).into()
}

fn approval() -> ApprovalId {
    Uuid::from_u128(900).into()
}

fn lease(holder: Holder, expires_at: Option<Timestamp>) -> Lease {
    let issue: IssueId = Uuid::from_u128(1).into();
    let company: CompanyId = Uuid::from_u128(2).into();
    Lease {
        issue,
        company,
        holder,
        fence: 1,
        expires_at,
    }
}

#[derive(Clone, Copy)]
enum AssignedTo {
    Nobody,
    Caller,
    OtherAgent,
    Person,
}

#[derive(Clone, Copy)]
enum LeasedTo {
    Nobody,
    Caller,
    OtherRunOfCaller,
    OtherAgent,
    OtherAgentOnceUponATime,
}

impl LeasedTo {
    fn lease(self) -> Option<Lease> {
        let of_run = |agent, run| lease(Holder::Run { agent, run }, None);
        match self {
            Self::Nobody => None,
            Self::Caller => Some(of_run(agent(1), run(1))),
            Self::OtherRunOfCaller => Some(of_run(agent(1), run(2))),
            Self::OtherAgent => Some(of_run(agent(2), run(3))),
            Self::OtherAgentOnceUponATime => Some(lease(Holder::Agent(agent(2)), Some(NOW))),
        }
    }
}

fn decide(
    status: IssueStatus,
    assigned: AssignedTo,
    leased: LeasedTo,
    approval_pending: Option<ApprovalId>,
    expected: &[IssueStatus],
) -> CheckoutDecision {
    let progress = Progress::begin(status, NOW);
    let lease = leased.lease();
    let facts = CheckoutFacts {
        progress: &progress,
        assignee_agent: match assigned {
            AssignedTo::Nobody | AssignedTo::Person => None,
            AssignedTo::Caller => Some(agent(1)),
            AssignedTo::OtherAgent => Some(agent(2)),
        },
        assignee_is_board: matches!(assigned, AssignedTo::Person),
        lease: lease.as_ref(),
        approval_pending,
    };
    facts.decide(CheckoutRequest {
        agent: agent(1),
        run: Some(run(1)),
        expected,
        now: NOW,
    })
}

#[test]
fn every_combination_of_facts() {
    let assigned = [
        ("nobody", AssignedTo::Nobody),
        ("caller", AssignedTo::Caller),
        ("other agent", AssignedTo::OtherAgent),
        ("person", AssignedTo::Person),
    ];
    let leased = [
        ("no lease", LeasedTo::Nobody),
        ("caller's lease", LeasedTo::Caller),
        ("other run's lease", LeasedTo::OtherRunOfCaller),
        ("other agent's lease", LeasedTo::OtherAgent),
        ("expired lease", LeasedTo::OtherAgentOnceUponATime),
    ];
    let mut rows = Vec::new();
    for (pending, approval) in [("", None), (", approval pending", Some(approval()))] {
        for (assignee, assigned) in assigned {
            for (holder, leased) in leased {
                rows.push((
                    format!("{assignee}, {holder}{pending}"),
                    (assigned, leased, approval),
                ));
            }
        }
    }
    let printed = table(
        "",
        &rows,
        &named::<IssueStatus>(),
        |(assigned, leased, approval), at| match decide(
            at,
            assigned,
            leased,
            approval,
            &DEFAULT_EXPECTED,
        ) {
            CheckoutDecision::AlreadyOwned => "OWNED".into(),
            CheckoutDecision::Take { progress } => {
                assert_eq!(progress.status(), IssueStatus::InProgress);
                "TAKE".into()
            }
            CheckoutDecision::Conflict(conflict) => conflict.reason.to_string(),
        },
    );
    insta::assert_snapshot!(printed);
}

#[test]
fn an_owner_need_not_expect_in_progress() {
    let decision = decide(
        IssueStatus::InProgress,
        AssignedTo::Caller,
        LeasedTo::Nobody,
        None,
        &[],
    );
    assert_eq!(decision, CheckoutDecision::AlreadyOwned);
}

#[test]
fn work_in_progress_without_an_owner_must_be_expected() {
    let take = |expected: &[IssueStatus]| {
        decide(
            IssueStatus::InProgress,
            AssignedTo::Nobody,
            LeasedTo::Nobody,
            None,
            expected,
        )
    };
    assert!(matches!(
        take(&[IssueStatus::InProgress]),
        CheckoutDecision::Take { .. }
    ));
    assert!(matches!(
        take(&[IssueStatus::Todo]),
        CheckoutDecision::Conflict(_)
    ));
}

#[test]
fn an_ended_issue_cannot_be_taken_even_if_expected() {
    for status in [IssueStatus::Done, IssueStatus::Cancelled] {
        let decision = decide(
            status,
            AssignedTo::Caller,
            LeasedTo::Nobody,
            None,
            &[status],
        );
        let CheckoutDecision::Conflict(conflict) = decision else {
            panic!("{decision:?}");
        };
        assert_eq!(conflict.reason, ConflictReason::StatusMismatch);
    }
}

#[test]
fn a_conflict_names_the_live_holder() {
    let of = |leased| decide(IssueStatus::Todo, AssignedTo::OtherAgent, leased, None, &[]);
    let expected = CheckoutConflict {
        reason: ConflictReason::OtherAssignee,
        status: IssueStatus::Todo,
        assignee_agent: Some(agent(2)),
        holder_agent: Some(agent(2)),
        holder_run: Some(run(3)),
        holder_live: true,
        approval: None,
    };
    assert_eq!(
        of(LeasedTo::OtherAgent),
        CheckoutDecision::Conflict(expected)
    );
    let nobody_holds = CheckoutConflict {
        holder_agent: None,
        holder_run: None,
        holder_live: false,
        ..expected
    };
    assert_eq!(
        of(LeasedTo::OtherAgentOnceUponATime),
        CheckoutDecision::Conflict(nobody_holds)
    );
    assert_eq!(
        expected.to_string(),
        "the issue cannot be checked out: it is assigned to somebody else"
    );
}

#[test]
fn a_lease_of_a_run_lasts_as_long_as_the_run() {
    let holder = Holder::of(agent(1), Some(run(1)));
    let held = lease(holder, holder.expiry(NOW));
    assert_eq!(held.expires_at, None);
    assert!(held.is_live(NOW.plus(Duration::from_secs(1_000_000))));
    assert!(held.held_by(agent(1), Some(run(1))));
    assert!(!held.held_by(agent(1), Some(run(2))));
    assert!(!held.held_by(agent(1), None));
}

#[test]
fn a_lease_of_an_agent_expires_unless_renewed() {
    let holder = Holder::of(agent(1), None);
    let held = lease(holder, holder.expiry(NOW));
    let microsecond = Duration::from_micros(1);
    assert!(held.is_live(NOW.plus(AGENT_LEASE - microsecond)));
    assert!(!held.is_live(NOW.plus(AGENT_LEASE)));
    assert!(
        held.renewed(NOW.plus(AGENT_LEASE))
            .is_live(NOW.plus(AGENT_LEASE))
    );
    assert!(held.held_by(agent(1), None));
    assert!(!held.held_by(agent(2), None));
    assert!(!held.held_by(agent(1), Some(run(1))));
}
