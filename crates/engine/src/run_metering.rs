//! Books what a live run uses while it runs (docs/budgets.md#metering).

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use workforce_app::costs::{self, ModelUse, RunUse};
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::port::StoreError;
use workforce_guard::{GuardFiles, ModelUsage, NumberedUse};

use crate::live::LiveRun;
use crate::program_run::{ProgramStart, RunMemo};
use crate::state::EngineState;

/// A program that tells its uses faster has them booked together.
const PAUSE: Duration = Duration::from_millis(100);
/// The pause after a failure of the store.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// Books the uses of one run, in a task of its own.
pub(crate) struct Meter {
    told: Arc<Notify>,
    enough: CancellationToken,
    task: JoinHandle<()>,
}

impl Meter {
    /// Begins to book what the program of a run tells; `None` for one whose program
    /// tells nothing. What was told before is booked at once.
    pub(crate) fn begin(state: &Arc<EngineState>, live: &LiveRun, memo: RunMemo) -> Option<Self> {
        let program = memo.program?;
        let (told, enough) = (Arc::new(Notify::new()), CancellationToken::new());
        told.notify_one();
        let metering = Metering {
            state: Arc::clone(state),
            company: live.scope(),
            run: live.run,
            files: state.config.guard_files(live.company, live.run),
            program: Arc::new(program),
            offset: 0,
        };
        let run = metering.run(Arc::clone(&told), enough.clone());
        Some(Self {
            told,
            enough,
            task: tokio::spawn(run),
        })
    }

    /// Notes that something was told.
    pub(crate) fn note(&self) {
        self.told.notify_one();
    }

    /// Ends it. What is not booked then is booked with the end of the run.
    pub(crate) async fn end(self) {
        self.enough.cancel();
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the metering of a run broke down");
        }
    }
}

struct Metering {
    state: Arc<EngineState>,
    company: CompanyScope,
    run: RunId,
    files: GuardFiles,
    program: Arc<ProgramStart>,
    /// Where the events begin that are not booked.
    offset: u64,
}

impl Metering {
    async fn run(mut self, told: Arc<Notify>, enough: CancellationToken) {
        while enough.run_until_cancelled(told.notified()).await.is_some() {
            let pause = match self.book_new().await {
                Ok(true) => {
                    told.notify_one();
                    PAUSE
                }
                Ok(false) => PAUSE,
                Err(error) => {
                    tracing::error!(%error, cause = ?error, run = %self.run, "what a run uses is not booked yet");
                    told.notify_one();
                    STORE_PAUSE
                }
            };
            if enough.run_until_cancelled(sleep(pause)).await.is_none() {
                return;
            }
        }
    }

    /// Books what is new; true when there may be more.
    async fn book_new(&mut self) -> Result<bool, StoreError> {
        let (uses, next) = read(&self.files, self.offset).await?;
        let program = &self.program;
        let uses: Vec<(i64, ModelUse)> = uses
            .into_iter()
            .filter_map(|used| Some((used.number, program.model_use(&used.usage)?)))
            .collect();
        if !uses.is_empty() {
            let (company, run) = (self.company, self.run);
            let (billing, program) = (program.billing(), program.program);
            let tells_cost = program.definition().tells_cost;
            self.state
                .store
                .write(move |tx, ctx| {
                    costs::meter(tx, ctx, company, run, billing, tells_cost, &uses)
                })
                .await?;
        }
        let has_more = next > self.offset;
        self.offset = next;
        Ok(has_more)
    }
}

async fn read(files: &GuardFiles, offset: u64) -> Result<(Vec<NumberedUse>, u64), StoreError> {
    let files = files.clone();
    let read = tokio::task::spawn_blocking(move || files.uses_from(offset)).await;
    read.map_err(std::io::Error::other)
        .and_then(|read| read)
        .map_err(|error| StoreError::Failed(error.into()))
}

/// What a run used that has lost its guard, as far as its files here tell; `None` when
/// they do not.
pub(crate) async fn use_of_lost(
    state: &EngineState,
    company: CompanyId,
    run: RunId,
) -> Option<RunUse> {
    let files = state.config.guard_files(company, run);
    let of_files = files.clone();
    let memo = tokio::task::spawn_blocking(move || of_files.memo())
        .await
        .ok()??;
    let program = RunMemo::of(memo).program?;
    let mut usage: Vec<ModelUsage> = Vec::new();
    let mut offset = 0;
    loop {
        let (uses, next) = read(&files, offset).await.ok()?;
        for used in uses {
            used.usage.add_to(&mut usage);
        }
        if next == offset {
            break;
        }
        offset = next;
    }
    (!usage.is_empty()).then(|| program.run_use(&usage))
}
