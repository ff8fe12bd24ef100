//! Ports that tests look into.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use workforce_app::approvals::{ApprovalError, execution};
use workforce_app::tickets::{PlannedWorkspace, planned};
use workforce_app::{Caller, Context, Failure, Signal};
use workforce_domain::actor::{Actor, CompanyScope};
use workforce_domain::adapter_check::{AdapterCheck, CheckName, CheckStatus, CheckedProgram};
use workforce_domain::approval::ExecutionStep;
use workforce_domain::execution_workspace::{
    ChangedFile, CommitFacts, DiffRequest, FileStatus, WorktreeDiff, WorktreeState,
};
use workforce_domain::id::{ApprovalId, CompanyId, ExecutionWorkspaceId, IssueId, RunId};
use workforce_domain::port::{
    AdapterCheckError, AdapterCheckFuture, AdapterChecks, AdapterToCheck, CarryOutError,
    CarryOutFuture, DeliveryFuture, DeliveryOutcome, EngineSignal, ForgeDelivery, ForgeWebhooks,
    GovernedWork, LogError, LogPart, LogSlice, LogStream, Preflight, PreflightFuture, RunLogs,
    StepFailure, StepFault, Store, StoreError, Tx, WorktreeFuture,
};
use workforce_domain::time::Timestamp;
use workforce_testkit::ports;

/// Counts how often the engine was told.
#[derive(Default)]
pub(crate) struct Signals(AtomicUsize);

impl Signals {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl EngineSignal for Signals {
    fn nudge(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Finds nothing wrong with any adapter, and shows what it was asked about.
#[derive(Default)]
pub(crate) struct FitAdapters {
    asked: Mutex<Vec<AdapterToCheck>>,
    is_busy: AtomicBool,
}

impl FitAdapters {
    /// What was asked about, oldest first.
    pub(crate) fn asked(&self) -> Vec<AdapterToCheck> {
        self.asked.lock().unwrap().clone()
    }

    /// From now on there is no place for checks.
    pub(crate) fn fill(&self) {
        self.is_busy.store(true, Ordering::SeqCst);
    }
}

impl AdapterChecks for FitAdapters {
    fn check(&self, adapter: AdapterToCheck) -> AdapterCheckFuture<'_> {
        Box::pin(async move {
            if self.is_busy.load(Ordering::SeqCst) {
                return Err(AdapterCheckError::Busy);
            }
            let mut check = AdapterCheck::new(adapter.adapter_type);
            check.add(CheckName::Program, CheckStatus::Ok, "it is there");
            check.program = Some(CheckedProgram {
                path: "/usr/bin/program".into(),
                version: None,
                tested_version: None,
            });
            self.asked.lock().unwrap().push(adapter);
            Ok(check)
        })
    }
}

/// Takes the steps of approvals without git: each is taken at once, or fails as it is told.
pub(crate) struct Steps {
    store: Arc<dyn Store>,
    failures: Mutex<VecDeque<StepFailure>>,
    stops: AtomicBool,
}

impl Steps {
    pub(super) fn on(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            failures: Mutex::default(),
            stops: AtomicBool::default(),
        }
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
            ids: &*ids,
            tokens: &*tokens,
            vault: &*vault,
            prices: &ports::prices(),
            strict_secrets: false,
            signal: &signal,
        };
        let written = self.store.write(|tx| body(tx, &ctx));
        written.map_err(|failure| match failure {
            Failure::Store(error) => CarryOutError::Store(error),
            Failure::Refused(refused) => panic!("{refused}"),
        })
    }
}

impl GovernedWork for Steps {
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

    fn sync(&self, _company: CompanyScope, _issue: IssueId) -> CarryOutFuture<'_> {
        Box::pin(async move { self.next() })
    }

    fn carry_out(&self, company: CompanyScope, approval: ApprovalId) -> CarryOutFuture<'_> {
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
            self.write(by, |tx, ctx| {
                execution::complete(tx, ctx, approval, attempt)
            })?;
            Ok(())
        })
    }
}

/// Takes every message with the signature [`Webhooks::SIGNATURE`].
#[derive(Default)]
pub(crate) struct Webhooks {
    is_off: AtomicBool,
    is_broken: AtomicBool,
    taken: Mutex<Vec<ForgeDelivery>>,
}

impl Webhooks {
    pub(crate) const SIGNATURE: &str = "sha256=0123";

    /// From now on nobody signs messages.
    pub(crate) fn switch_off(&self) {
        self.is_off.store(true, Ordering::SeqCst);
    }

    /// From now on its store does not answer.
    pub(crate) fn break_store(&self) {
        self.is_broken.store(true, Ordering::SeqCst);
    }

    /// What was taken, oldest first.
    pub(crate) fn taken(&self) -> Vec<ForgeDelivery> {
        self.taken.lock().unwrap().clone()
    }
}

impl ForgeWebhooks for Webhooks {
    fn is_configured(&self) -> bool {
        !self.is_off.load(Ordering::SeqCst)
    }

    fn take(&self, delivery: ForgeDelivery) -> DeliveryFuture<'_> {
        Box::pin(async move {
            if self.is_broken.load(Ordering::SeqCst) {
                return Err(StoreError::Unavailable("it is away".into()));
            }
            if delivery.signature != Self::SIGNATURE {
                return Ok(DeliveryOutcome::Forged);
            }
            self.taken.lock().unwrap().push(delivery);
            Ok(DeliveryOutcome::Taken)
        })
    }
}

/// Every run wrote the digits over and over, this many bytes: the first ten by
/// workforce and at an instant that nobody noted, then ten to standard output, one
/// second after 1970 began, ten to standard error, two seconds after, and so on.
pub(crate) struct Digits(AtomicUsize);

impl Digits {
    pub(super) fn new(length: usize) -> Self {
        Self(AtomicUsize::new(length))
    }

    /// From now on the logs are this long here.
    pub(crate) fn resize(&self, length: usize) {
        self.0.store(length, Ordering::SeqCst);
    }

    /// How long each of them is.
    pub(crate) fn length(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl RunLogs for Digits {
    fn read(
        &self,
        _company: CompanyId,
        _run: RunId,
        offset: u64,
        limit: u64,
    ) -> Result<LogSlice, LogError> {
        let total = self.length() as u64;
        let (start, end) = (offset.min(total), offset.saturating_add(limit).min(total));
        let mut parts = Vec::new();
        let mut begin = start;
        while begin < end {
            let ten = begin / 10;
            let until = end.min((ten + 1) * 10);
            parts.push(LogPart {
                at: (ten > 0).then(|| Timestamp::from_micros(ten as i64 * 1_000_000)),
                stream: [LogStream::System, LogStream::Stdout, LogStream::Stderr][ten as usize % 3],
                offset: begin,
                text: "0123456789"[begin as usize % 10..][..(until - begin) as usize].to_owned(),
            });
            begin = until;
        }
        Ok(LogSlice {
            parts,
            next_offset: end.max(offset),
            total,
        })
    }

    fn delete(&self, _company: CompanyId) -> Result<(), LogError> {
        self.resize(0);
        Ok(())
    }
}
