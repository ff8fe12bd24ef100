//! Governed work that needs no git.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use workforce_app::approvals::{ApprovalError, Decide, advance, execution};
use workforce_app::tickets::{PlannedWorkspace, planned};
use workforce_app::{Caller, Context, Failure, Signal, approvals};
use workforce_domain::actor::{Actor, CompanyOwned, CompanyScope};
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::{
    ChangedFile, CommitFacts, DiffRequest, ExecutionWorkspace, FileStatus, WorktreeDiff,
    WorktreeState,
};
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId, InstanceId, IssueId, WorkspaceId};
use workforce_domain::port::{
    AgreedWork, CarryOutError, CarryOutFuture, GovernedWork, Preflight, PreflightFuture,
    RemoteAddresses, StepFailure, StepFault, Store, StoreError, Tx, WorktreeFuture,
};
use workforce_testkit::ports;

/// Takes the steps of approvals without git: each is taken at once, or fails as it is told.
pub(crate) struct Steps {
    server: InstanceId,
    store: Arc<dyn Store>,
    failures: Mutex<VecDeque<StepFailure>>,
    stops: AtomicBool,
    overtakers: Mutex<VecDeque<Overtaker>>,
}

/// What another server does with an approval while this one takes its steps.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Overtaker {
    /// It gives the attempt up.
    Nobody,
    /// The board rejects the approval there.
    Rejection,
    /// It begins an attempt of its own.
    Attempt,
    /// It carries the approval out.
    Approval,
}

impl Steps {
    pub(super) fn on(store: Arc<dyn Store>) -> Self {
        Self {
            server: ports::ids().next().into(),
            store,
            failures: Mutex::default(),
            stops: AtomicBool::default(),
            overtakers: Mutex::default(),
        }
    }

    /// The next execution is given up by another server.
    pub(crate) fn overtake_once(&self, by: Overtaker) {
        self.overtakers.lock().unwrap().push_back(by);
    }

    /// Does what another server does; what is left to the first one then.
    fn overtake(&self, order: &execution::Order, by: Overtaker) -> Result<(), CarryOutError> {
        let (id, company) = (order.approval.id, order.approval.scope());
        let attempt = order.execution.attempts;
        self.write(Actor::System, |tx, ctx| {
            let given_up = execution::abandon(tx, ctx, &order.execution);
            given_up.map_err(|error| error.map(|never| match never {}))
        })?;
        let board = || Actor::Board(order.execution.decided_by);
        if let Overtaker::Rejection = by {
            self.write(board(), |tx, ctx| {
                approvals::reject(tx, ctx, id, Decide::default())
            })?;
        }
        if let Overtaker::Attempt | Overtaker::Approval = by {
            self.write(board(), |tx, ctx| {
                execution::begin(tx, ctx, id, Decide::default())
            })?;
        }
        if let Overtaker::Approval = by {
            let next = attempt.saturating_add(1);
            let done = self.write(board(), |tx, ctx| execution::complete(tx, ctx, id, next))?;
            assert!(done.is_some());
        }
        let renewed = self.write(Actor::System, |tx, ctx| {
            Ok(execution::renew(tx, ctx, company, id, attempt)?)
        })?;
        assert!(!renewed, "the attempt goes on");
        let done = self.write(board(), |tx, ctx| execution::complete(tx, ctx, id, attempt))?;
        assert!(done.is_none(), "the attempt ends");
        Err(CarryOutError::Overtaken)
    }

    /// The next execution stops in the midst of a step.
    pub(crate) fn stop_once(&self) {
        self.stops.store(true, Ordering::SeqCst);
    }

    /// The next execution fails like this.
    pub(crate) fn fail(&self, step: ExecutionStep, fault: StepFault, details: &Value) {
        self.failures.lock().unwrap().push_back(StepFailure {
            step,
            fault,
            message: format!("{fault}: it did not work"),
            details: details.as_object().unwrap().clone().into(),
        });
    }

    fn next(&self) -> Result<(), CarryOutError> {
        match self.failures.lock().unwrap().pop_front() {
            Some(failure) => Err(CarryOutError::Step(Box::new(failure))),
            None => Ok(()),
        }
    }

    fn write<T>(
        &self,
        actor: Actor,
        body: impl Fn(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<ApprovalError>>,
    ) -> Result<T, CarryOutError> {
        let caller = Caller {
            actor,
            company_status: None,
        };
        let signal = Signal::default();
        let (ids, tokens, vault) = (ports::ids(), ports::tokens(), ports::vault());
        let ctx = Context {
            caller: &caller,
            now: ports::clock().now(),
            server: self.server,
            ids: &*ids,
            tokens: &*tokens,
            vault: &*vault,
            prices: &ports::prices(),
            strict_secrets: false,
            signal: &signal,
            company: None,
        };
        let written = self.store.write(|tx| body(tx, &ctx));
        written.map_err(|failure| match failure {
            Failure::Store(error) => CarryOutError::Store(error),
            Failure::Refused(refused) => panic!("{refused}"),
        })
    }
}

impl GovernedWork for Steps {
    fn server(&self) -> InstanceId {
        self.server
    }

    fn preflight(&self, company: CompanyScope, approval: ApprovalId) -> PreflightFuture<'_> {
        Box::pin(async move {
            self.store
                .read(|reads| {
                    let found = reads.approvals().find(company.into(), approval)?;
                    let planned = found.as_ref().map(planned).unwrap_or_default();
                    let of = |planned: PlannedWorkspace| Preflight {
                        project_workspace_id: planned.project_workspace_id,
                        ticket_key: planned.ticket_key,
                        branch: planned.branch,
                        base_branch: planned.base_branch,
                        clean: true,
                        branch_ok: true,
                        base_exists: true,
                        changed_paths: Vec::new(),
                        error: None,
                    };
                    Ok::<_, Failure<Infallible>>(planned.into_iter().map(of).collect())
                })
                .map_err(|failure| match failure {
                    Failure::Store(error) => error,
                    Failure::Refused(never) => match never {},
                })
        })
    }

    fn inspect(
        &self,
        _company: CompanyScope,
        _worktree: ExecutionWorkspaceId,
    ) -> WorktreeFuture<'_, WorktreeState> {
        Box::pin(async move {
            self.next()?;
            let commit = CommitFacts {
                commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
                author: "Ada".to_owned(),
                time: 1,
                subject: "Begin".to_owned(),
            };
            Ok(WorktreeState {
                cwd: "/worktrees/abc-1/repo".to_owned(),
                ahead: 1,
                behind: 0,
                last_commit: commit.clone(),
                commits: vec![commit],
                changed_files: vec![ChangedFile {
                    path: "new.txt".to_owned(),
                    status: FileStatus::Added,
                }],
                total_changed_files: 1,
                refused_files: Vec::new(),
            })
        })
    }

    fn diff(
        &self,
        _company: CompanyScope,
        _worktree: ExecutionWorkspaceId,
        request: DiffRequest,
    ) -> WorktreeFuture<'_, WorktreeDiff> {
        Box::pin(async move {
            self.next()?;
            let patch = "+".repeat(300 * 1024);
            Ok(WorktreeDiff {
                merge_base: None,
                head_commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
                includes_uncommitted: !request.committed_only,
                files: Vec::new(),
                patch: patch[..request.patch_bytes.min(patch.len())].to_owned(),
                truncated: request.patch_bytes < patch.len(),
                refused_files: Vec::new(),
            })
        })
    }

    fn addresses(
        &self,
        _company: CompanyScope,
        _workspace: WorkspaceId,
    ) -> WorktreeFuture<'_, Option<RemoteAddresses>> {
        Box::pin(async move {
            self.next()?;
            let address = "https://forge.example/acme/store.git".to_owned();
            Ok(Some(RemoteAddresses {
                named: address.clone(),
                fetch: address.clone(),
                push: address,
            }))
        })
    }

    fn sync(&self, company: CompanyScope, issue: IssueId) -> WorktreeFuture<'_, Vec<Value>> {
        Box::pin(async move {
            self.next()?;
            let worktrees = self.store.read(|reads| {
                let worktrees = advance::worktrees_of(reads, company, issue)?;
                Ok::<_, Failure<Infallible>>(worktrees)
            });
            let worktrees = worktrees.map_err(|failure| match failure {
                Failure::Store(error) => error,
                Failure::Refused(never) => match never {},
            })?;
            let row = |(worktree, _): &(ExecutionWorkspace, _)| json!({ "executionWorkspaceId": worktree.id, "commit": "0123", "commits": 1 });
            Ok(worktrees.iter().map(row).collect())
        })
    }

    fn carry_out(
        &self,
        company: CompanyScope,
        approval: ApprovalId,
        _agreed: AgreedWork,
    ) -> CarryOutFuture<'_> {
        Box::pin(async move {
            let order = self
                .write(Actor::System, |tx, _| {
                    Ok(execution::order(tx.reads(), company, approval)?)
                })?
                .unwrap();
            if self.stops.swap(false, Ordering::SeqCst) {
                let lost = StoreError::Failed("the server stopped".into());
                return Err(CarryOutError::Store(lost));
            }
            if let Some(by) = self.overtakers.lock().unwrap().pop_front() {
                return self.overtake(&order, by);
            }
            let attempt = order.execution.attempts;
            if let Some(failure) = self.failures.lock().unwrap().pop_front() {
                self.write(Actor::System, |tx, ctx| {
                    Ok(execution::fail(
                        tx, ctx, company, approval, attempt, &failure,
                    )?)
                })?;
                return Err(CarryOutError::Step(Box::new(failure)));
            }
            let by = Actor::Board(order.execution.decided_by);
            let done = self.write(by, |tx, ctx| {
                execution::complete(tx, ctx, approval, attempt)
            })?;
            done.map(drop).ok_or(CarryOutError::Overtaken)
        })
    }
}
