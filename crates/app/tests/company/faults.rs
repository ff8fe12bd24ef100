//! A store that fails in the middle of a use case: the failure is passed on as what it is, and
//! nothing is done or written down after it.

use std::convert::Infallible;
use std::fmt::Debug;
use std::io;

use workforce_app::agents::{self, AgentError};
use workforce_app::goals::{self, GoalError, UpdateGoal};
use workforce_app::{Call, Caller, Failure, Signal, runs};
use workforce_domain::actor::Actor;
use workforce_domain::board::BoardMember;
use workforce_domain::id::CompanyId;
use workforce_domain::port::{
    ActivityReads, AgentReads, AgentWrites, ApprovalReads, ApprovalWrites, AttachmentReads,
    AttachmentWrites, BoardTokenReads, BoardTokenWrites, CommentReads, CommentWrites, CompanyReads,
    CompanyWrites, CredentialReads, CredentialWrites, EngineWrites, GoalReads, GoalWrites, Held,
    IdempotencyWrites, InstructionReads, InstructionWrites, IssueReads, IssueWrites, Journal,
    LabelReads, LabelWrites, LedgerReads, LedgerWrites, MockActivityReads, MockAgentReads,
    MockAgentWrites, MockApprovalReads, MockApprovalWrites, MockAttachmentReads,
    MockAttachmentWrites, MockBoardTokenReads, MockBoardTokenWrites, MockCommentReads,
    MockCommentWrites, MockCompanyReads, MockCompanyWrites, MockCredentialReads,
    MockCredentialWrites, MockEngineWrites, MockGoalReads, MockGoalWrites, MockIdempotencyWrites,
    MockInstructionReads, MockInstructionWrites, MockIssueReads, MockIssueWrites, MockJournal,
    MockLabelReads, MockLabelWrites, MockLedgerReads, MockLedgerWrites, MockProjectReads,
    MockProjectWrites, MockRevisionReads, MockRevisionWrites, MockRunReads, MockRunWrites,
    MockSealedReads, MockSealedWrites, MockSecretReads, MockSecretWrites, MockStreamTicketReads,
    MockStreamTicketWrites, ProjectReads, ProjectWrites, Reads, RevisionReads, RevisionWrites,
    RunReads, RunWrites, SealedReads, SealedWrites, SecretReads, SecretWrites, StoreError,
    StreamTicketReads, StreamTicketWrites, Tx,
};
use workforce_domain::run::RunStatus;
use workforce_testkit::ports;
use workforce_testkit::world::{SettableClock, World, new_agent, title};

use crate::support::{ended, running};

/// A transaction of which every part refuses what a test does not expect.
macro_rules! transaction {
    (reads { $($read:ident: $read_port:ident = $read_mock:ident,)* }
     writes { $($write:ident: $write_port:ident = $write_mock:ident,)* }) => {
        #[derive(Default)]
        struct FaultyTx {
            $($read: $read_mock,)*
            $($write: $write_mock,)*
        }

        impl Reads for FaultyTx {
            $(fn $read(&mut self) -> &mut dyn $read_port { &mut self.$read })*
        }

        impl Tx for FaultyTx {
            $(fn $write(&mut self) -> &mut dyn $write_port { &mut self.$write })*

            fn reads(&mut self) -> &mut dyn Reads {
                self
            }
        }
    };
}

transaction! {
    reads {
        companies: CompanyReads = MockCompanyReads,
        agents: AgentReads = MockAgentReads,
        revisions: RevisionReads = MockRevisionReads,
        instructions: InstructionReads = MockInstructionReads,
        credentials: CredentialReads = MockCredentialReads,
        board_tokens: BoardTokenReads = MockBoardTokenReads,
        stream_tickets: StreamTicketReads = MockStreamTicketReads,
        goals: GoalReads = MockGoalReads,
        projects: ProjectReads = MockProjectReads,
        issues: IssueReads = MockIssueReads,
        labels: LabelReads = MockLabelReads,
        comments: CommentReads = MockCommentReads,
        attachments: AttachmentReads = MockAttachmentReads,
        approvals: ApprovalReads = MockApprovalReads,
        runs: RunReads = MockRunReads,
        secrets: SecretReads = MockSecretReads,
        sealed: SealedReads = MockSealedReads,
        ledger: LedgerReads = MockLedgerReads,
        activity: ActivityReads = MockActivityReads,
    }
    writes {
        companies_mut: CompanyWrites = MockCompanyWrites,
        agents_mut: AgentWrites = MockAgentWrites,
        revisions_mut: RevisionWrites = MockRevisionWrites,
        instructions_mut: InstructionWrites = MockInstructionWrites,
        credentials_mut: CredentialWrites = MockCredentialWrites,
        board_tokens_mut: BoardTokenWrites = MockBoardTokenWrites,
        stream_tickets_mut: StreamTicketWrites = MockStreamTicketWrites,
        goals_mut: GoalWrites = MockGoalWrites,
        projects_mut: ProjectWrites = MockProjectWrites,
        issues_mut: IssueWrites = MockIssueWrites,
        labels_mut: LabelWrites = MockLabelWrites,
        comments_mut: CommentWrites = MockCommentWrites,
        approvals_mut: ApprovalWrites = MockApprovalWrites,
        attachments_mut: AttachmentWrites = MockAttachmentWrites,
        runs_mut: RunWrites = MockRunWrites,
        secrets_mut: SecretWrites = MockSecretWrites,
        sealed_mut: SealedWrites = MockSealedWrites,
        ledger_mut: LedgerWrites = MockLedgerWrites,
        idempotency: IdempotencyWrites = MockIdempotencyWrites,
        journal: Journal = MockJournal,
        engine: EngineWrites = MockEngineWrites,
    }
}

fn unavailable() -> StoreError {
    StoreError::Unavailable(Box::new(io::Error::other("the line is cut")))
}

/// Calls a use case as the board, with a store that is about to fail, and asserts that the
/// engine is not told to look for work.
fn call<T>(body: impl FnOnce(&Call<'_>) -> T) -> T {
    let caller = Caller {
        actor: Actor::Board(BoardMember::Local),
        company_status: None,
    };
    let (ids, tokens, vault) = (ports::ids(), ports::tokens(), ports::vault());
    let signal = Signal::default();
    let outcome = body(&Call {
        caller: &caller,
        now: SettableClock::START,
        ids: &*ids,
        tokens: &*tokens,
        vault: &*vault,
        strict_secrets: false,
        signal: &signal,
    });
    assert!(!signal.is_raised());
    outcome
}

#[track_caller]
fn assert_cut<T: Debug, E: Debug>(outcome: &Result<T, Failure<E>>) {
    assert!(
        matches!(outcome, Err(Failure::Store(StoreError::Unavailable(_)))),
        "{outcome:?}"
    );
}

#[test]
fn hiring_passes_on_that_the_agent_was_not_stored() {
    let world = World::sqlite();
    let company = world.company("Acme");
    let mut tx = FaultyTx::default();
    let id: CompanyId = company.id;
    tx.companies
        .expect_find()
        .times(1)
        .returning(move |_, _| Ok(Some(company.clone())));
    tx.agents_mut
        .expect_lock_url_keys()
        .times(1)
        .returning(|_| Ok(()));
    tx.agents
        .expect_url_keys()
        .times(1)
        .returning(|_, _| Ok(vec!["new".into()]));
    tx.agents_mut
        .expect_insert()
        .times(1)
        .withf(|agent| agent.url_key == "new-2")
        .returning(|_| Err(unavailable()));
    let outcome = call(|call| agents::create(&mut tx, call, id, new_agent("New")));
    assert_cut::<_, AgentError>(&outcome);
}

#[test]
fn a_termination_ends_where_the_store_failed() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    let id = agent.id;
    let mut tx = FaultyTx::default();
    let (seen, held) = (agent.clone(), agent);
    tx.agents
        .expect_find()
        .returning(move |_, _| Ok(Some(seen.clone())));
    tx.companies_mut
        .expect_lock()
        .times(1)
        .returning(|_, _| Ok(None));
    tx.agents_mut
        .expect_lock()
        .times(1)
        .returning(move |_, _| Ok(Some(Held::locked(held.clone()))));
    tx.agents_mut.expect_save().times(1).returning(|_| Ok(()));
    tx.agents_mut
        .expect_move_reports()
        .times(1)
        .returning(|_, _, _, _| Ok(Vec::new()));
    tx.credentials_mut
        .expect_revoke_keys()
        .times(1)
        .returning(|_, _, _| Err(unavailable()));
    assert_cut::<_, AgentError>(&call(|call| agents::terminate(&mut tx, call, id)));
}

#[test]
fn a_lost_race_over_a_goal_is_passed_on_as_one() {
    let world = World::sqlite();
    let goal = world.goal(world.company("Acme").id, "Grow");
    let id = goal.id;
    let mut tx = FaultyTx::default();
    tx.goals_mut
        .expect_lock()
        .times(1)
        .returning(move |_, _| Ok(Some(Held::locked(goal.clone()))));
    tx.goals_mut
        .expect_save()
        .times(1)
        .returning(|_| Err(StoreError::Contended));
    let change = UpdateGoal {
        title: Some(title("Shrink")),
        ..UpdateGoal::default()
    };
    let outcome: Result<_, Failure<GoalError>> =
        call(|call| goals::update(&mut tx, call, id, change));
    assert!(matches!(
        outcome,
        Err(Failure::Store(StoreError::Contended))
    ));
}

#[test]
fn a_run_is_not_finished_when_its_leases_could_not_be_ended() {
    let world = World::sqlite();
    let agent = world.hired(world.company("Acme").id, "Worker");
    let run = running(&world, &agent).run;
    let (id, fence) = (run.id, run.fence);
    let mut tx = FaultyTx::default();
    let (seen, held) = (run.clone(), run);
    tx.runs
        .expect_find()
        .times(1)
        .returning(move |_, _| Ok(Some(seen.clone())));
    tx.agents_mut
        .expect_lock()
        .times(1)
        .returning(move |_, _| Ok(Some(Held::locked(agent.clone()))));
    tx.runs_mut
        .expect_lock()
        .times(1)
        .returning(move |_, _| Ok(Some(Held::locked(held.clone()))));
    tx.runs_mut.expect_save().times(1).returning(|_| Ok(()));
    tx.issues_mut
        .expect_end_leases_of_run()
        .times(1)
        .returning(|_, _| Err(unavailable()));
    let end = ended(RunStatus::Succeeded, None);
    let outcome = call(|call| runs::finish(&mut tx, call, id, fence, end));
    assert_cut::<_, Infallible>(&outcome);
}
