use std::convert::Infallible;
use std::time::Duration;

use workforce_app::runs;
use workforce_app::{Failure, timers};
use workforce_domain::actor::{CompanyOwned, InstanceScope, Scope};
use workforce_domain::agent::Agent;
use workforce_domain::id::{AgentId, IssueId, RunId};
use workforce_domain::issue::{Issue, Lease};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{ClaimRequest, ClaimedRun, RunFilter, TokenKind, Tokens};
use workforce_domain::run::{Run, RunEnd, RunOutcome, RunStatus};
use workforce_domain::time::Timestamp;
use workforce_domain::wake::Wake;

use super::{World, done, there};

/// A run that was claimed, with the token its program would be given.
#[derive(Clone, Debug)]
pub struct StartedRun {
    /// The run.
    pub run: Run,
    /// The wake it answers.
    pub wake: Wake,
    /// The whole credential.
    pub token: String,
}

/// What the engine does, and what is left in the store.
impl World {
    /// Claims the next run that may start, as a server of its own would; `None` when there is
    /// none.
    #[track_caller]
    pub fn start_next(&self) -> Option<StartedRun> {
        let minted = self.tokens().mint(TokenKind::Run);
        let request = ClaimRequest {
            instance: self.id(),
            now: self.now(),
            lease_until: self.now().plus(Duration::from_secs(60)),
            token_digest: minted.digest,
            instance_cap: 100,
        };
        let claimed = done(
            self.system()
                .write(|tx, ctx| runs::start(tx, ctx, &request)),
        )?;
        let ClaimedRun { run, wake, .. } = claimed;
        Some(StartedRun {
            run,
            wake,
            token: minted.token,
        })
    }

    /// Looks at every timer that is due or to be set, as a server that looks at them all the
    /// time: no agent whose timer rested had work until now.
    #[track_caller]
    pub fn check_timers(&self) {
        self.check_timers_since(Some(self.now()));
    }

    /// The same, as a server that knows that until then at most.
    #[track_caller]
    pub fn check_timers_since(&self, clear_at: Option<Timestamp>) {
        let system = self.system();
        let now = self.now();
        let found: Result<_, Failure<Infallible>> = self.store().read(|reads| {
            let scope = InstanceScope::SYSTEM;
            Ok(reads.engine().timers_to_check(scope, now, 100)?)
        });
        for (company, agent) in done(found) {
            done(system.write(|tx, ctx| timers::check(tx, ctx, company, agent, clear_at)));
        }
    }

    /// Starts every run that may start.
    #[track_caller]
    pub fn start_all(&self) -> Vec<StartedRun> {
        std::iter::from_fn(|| self.start_next()).collect()
    }

    /// Ends a run well; false when it had ended.
    #[track_caller]
    pub fn finish(&self, run: &Run) -> bool {
        let end = RunEnd {
            outcome: RunOutcome::Succeeded,
            error: None,
            exit_code: Some(0),
            signal: None,
            log_bytes: 0,
            log_tail: None,
            session: None,
            result_text: None,
            retry_at: None,
        };
        self.finish_as(run, &end)
    }

    /// Ends a run; false when it had ended.
    #[track_caller]
    pub fn finish_as(&self, run: &Run, end: &RunEnd) -> bool {
        let system = self.system();
        let written = done(system.write(|tx, ctx| {
            runs::finish(tx, ctx, run.scope(), run.id, run.fence, end.clone(), None)
        }));
        written.is_some()
    }

    /// The wakes of an agent that nothing has answered yet, oldest first.
    #[track_caller]
    pub fn pending_wakes(&self, agent: &Agent) -> Vec<Wake> {
        let mut wakes: Vec<Wake> = self
            .runs_with(agent, &[RunStatus::Queued])
            .into_iter()
            .map(|run| {
                let company = run.scope();
                let found: Result<_, Failure<Infallible>> = self
                    .store()
                    .read(|reads| Ok(reads.runs().wake_of(company, run.id)?));
                there(done(found), "wake")
            })
            .collect();
        wakes.reverse();
        wakes
    }

    /// The runs of an agent that are live, newest first.
    #[track_caller]
    pub fn live_runs(&self, agent: &Agent) -> Vec<Run> {
        self.runs_with(agent, &[RunStatus::Running])
    }

    #[track_caller]
    fn runs_with(&self, agent: &Agent, statuses: &[RunStatus]) -> Vec<Run> {
        let filter = RunFilter {
            agent: Some(agent.id),
            statuses: statuses.to_vec(),
            ..RunFilter::default()
        };
        let (board, page) = (self.board(), PageRequest::first());
        done(board.read(|reads, ctx| runs::list(reads, ctx, agent.company, &filter, &page))).items
    }

    /// A run as it is stored now.
    #[track_caller]
    pub fn stored_run(&self, id: RunId) -> Run {
        done(self.board().read(|reads, ctx| runs::get(reads, ctx, id)))
    }

    /// An issue as it is stored now.
    #[track_caller]
    pub fn stored_issue(&self, id: IssueId) -> Issue {
        let found: Result<_, Failure<Infallible>> = self
            .store()
            .read(|reads| Ok(reads.issues().find(Scope::SYSTEM, &id.into())?));
        there(done(found), "issue")
    }

    /// The lease on an issue as it is stored now, expired or not.
    #[track_caller]
    pub fn stored_lease(&self, issue: &Issue) -> Option<Lease> {
        let found: Result<_, Failure<Infallible>> = self
            .store()
            .read(|reads| Ok(reads.issues().lease(issue.scope(), issue.id)?));
        done(found)
    }

    /// An agent as it is stored now.
    #[track_caller]
    pub fn stored_agent(&self, id: AgentId) -> Agent {
        let found: Result<_, Failure<Infallible>> = self
            .store()
            .read(|reads| Ok(reads.agents().find(Scope::SYSTEM, id)?));
        there(done(found), "agent")
    }
}
