use super::{
    MockActivity, MockAgents, MockApprovals, MockAttachments, MockBoardSessions, MockBoardTokens,
    MockComments, MockCompanies, MockCredentials, MockEngine, MockExecutionWorkspaces, MockGoals,
    MockIdempotency, MockInstructions, MockIssues, MockJournal, MockLabels, MockLedger,
    MockProjects, MockPullRequestWatches, MockRevisions, MockRuns, MockSealed, MockSecrets,
    MockSessions, MockStreamTickets,
};
use crate::port::{
    ActivityReads, AgentReads, AgentWrites, ApprovalReads, ApprovalWrites, AttachmentReads,
    AttachmentWrites, BoardSessionReads, BoardSessionWrites, BoardTokenReads, BoardTokenWrites,
    CommentReads, CommentWrites, CompanyReads, CompanyWrites, CredentialReads, CredentialWrites,
    EngineReads, EngineWrites, ExecutionWorkspaceReads, ExecutionWorkspaceWrites, GoalReads,
    GoalWrites, IdempotencyWrites, InstructionReads, InstructionWrites, IssueReads, IssueWrites,
    Journal, LabelReads, LabelWrites, LedgerReads, LedgerWrites, ProjectReads, ProjectWrites,
    PullRequestWatchReads, PullRequestWatchWrites, Reads, RevisionReads, RevisionWrites, RunReads,
    RunWrites, SealedReads, SealedWrites, SecretReads, SecretWrites, SessionReads, SessionWrites,
    StreamTicketReads, StreamTicketWrites, Tx,
};

/// One line for each aggregate that is both read and written.
macro_rules! transaction_of {
    ($($(#[$doc:meta])* $reads:ident, $writes:ident: $mock:ident as $Reads:ident + $Writes:ident;)*) => {
        /// A transaction whose aggregates are mocks. What reads an aggregate and what writes it
        /// meet the same mock.
        #[derive(Default)]
        pub struct MockTx {
            $($(#[$doc])* pub $reads: $mock,)*
            /// What happened.
            pub activity: MockActivity,
            /// Answers kept for repeated requests.
            pub idempotency: MockIdempotency,
            /// What happens in this transaction.
            pub journal: MockJournal,
        }

        impl Reads for MockTx {
            $(fn $reads(&mut self) -> &mut dyn $Reads {
                &mut self.$reads
            })*

            fn activity(&mut self) -> &mut dyn ActivityReads {
                &mut self.activity
            }
        }

        impl Tx for MockTx {
            $(fn $writes(&mut self) -> &mut dyn $Writes {
                &mut self.$reads
            })*

            fn idempotency(&mut self) -> &mut dyn IdempotencyWrites {
                &mut self.idempotency
            }

            fn journal(&mut self) -> &mut dyn Journal {
                &mut self.journal
            }

            fn reads(&mut self) -> &mut dyn Reads {
                self
            }
        }
    };
}

transaction_of! {
    /// Companies.
    companies, companies_mut: MockCompanies as CompanyReads + CompanyWrites;
    /// Agents.
    agents, agents_mut: MockAgents as AgentReads + AgentWrites;
    /// Revisions of the configuration of agents.
    revisions, revisions_mut: MockRevisions as RevisionReads + RevisionWrites;
    /// Instructions of agents.
    instructions, instructions_mut: MockInstructions as InstructionReads + InstructionWrites;
    /// Keys and run tokens.
    credentials, credentials_mut: MockCredentials as CredentialReads + CredentialWrites;
    /// Tokens of the board.
    board_tokens, board_tokens_mut: MockBoardTokens as BoardTokenReads + BoardTokenWrites;
    /// Sessions of the board.
    board_sessions, board_sessions_mut:
        MockBoardSessions as BoardSessionReads + BoardSessionWrites;
    /// Tickets for streams of events.
    stream_tickets, stream_tickets_mut: MockStreamTickets as StreamTicketReads + StreamTicketWrites;
    /// Goals.
    goals, goals_mut: MockGoals as GoalReads + GoalWrites;
    /// Projects and workspaces.
    projects, projects_mut: MockProjects as ProjectReads + ProjectWrites;
    /// Issues and their leases.
    issues, issues_mut: MockIssues as IssueReads + IssueWrites;
    /// Labels of issues.
    labels, labels_mut: MockLabels as LabelReads + LabelWrites;
    /// Comments on issues.
    comments, comments_mut: MockComments as CommentReads + CommentWrites;
    /// Files attached to issues.
    attachments, attachments_mut: MockAttachments as AttachmentReads + AttachmentWrites;
    /// Approvals.
    approvals, approvals_mut: MockApprovals as ApprovalReads + ApprovalWrites;
    /// The worktrees of governed tickets.
    execution_workspaces, execution_workspaces_mut:
        MockExecutionWorkspaces as ExecutionWorkspaceReads + ExecutionWorkspaceWrites;
    /// The watches of their open pull requests.
    pull_request_watches, pull_request_watches_mut:
        MockPullRequestWatches as PullRequestWatchReads + PullRequestWatchWrites;
    /// Runs and wakes.
    runs, runs_mut: MockRuns as RunReads + RunWrites;
    /// Sessions of agents, and what keeps their accounts waiting.
    sessions, sessions_mut: MockSessions as SessionReads + SessionWrites;
    /// Secrets and who uses them.
    secrets, secrets_mut: MockSecrets as SecretReads + SecretWrites;
    /// Everything that the vault sealed.
    sealed, sealed_mut: MockSealed as SealedReads + SealedWrites;
    /// Costs and what they add up to.
    ledger, ledger_mut: MockLedger as LedgerReads + LedgerWrites;
    /// What only the engine looks for and does.
    engine, engine_mut: MockEngine as EngineReads + EngineWrites;
}
