use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinError;
use tokio::time::sleep;
use workforce_domain::port::{ClaimedRun, MintedToken};
use workforce_domain::run::RunErrorCode;
use workforce_guard::client::Guard;
use workforce_guard::leftovers;

use crate::adapter::{Adapter, adapter};
use crate::execution_result::ExecutionResult;
use crate::live::{Halt, LiveRun};
use crate::program_run::RunMemo;
use crate::run_context::{self, RunContext};
use crate::secret_resolution::ResolutionError;
use crate::state::EngineState;
use crate::steps::EndedRun;
use crate::tickets::{NoPlace, place_of};
use crate::{guarded_run, instructions, run_end};

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How often a run that lacks room to begin checks for it.
const ROOM_PAUSE: Duration = Duration::from_millis(500);

/// The place of a run among those that are live on this server. It is free
/// when this is dropped, whatever becomes of the run's task.
pub(crate) struct Slot {
    state: Arc<EngineState>,
    live: Arc<LiveRun>,
}

impl Slot {
    /// Takes a place for a run.
    pub(crate) fn take(state: &Arc<EngineState>, live: &Arc<LiveRun>) -> Self {
        state.live.insert(Arc::clone(live));
        Self {
            state: Arc::clone(state),
            live: Arc::clone(live),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // If the end of the run was not written down, its lease is no longer
        // renewed, so that another server takes it over.
        self.state.live.remove(self.live.run);
        self.state.store.notifiers.nudge();
    }
}

/// Stays with a claimed run until its processes are gone and its end is
/// written down. Only then is its slot free.
pub(crate) async fn run(slot: Slot, claimed: ClaimedRun, token: MintedToken) {
    let Slot { state, live } = &slot;
    // A task of its own, so that the run ends in order whatever happens in it.
    let execution = tokio::spawn(execute(Arc::clone(state), Arc::clone(live), claimed, token));
    let ending = execution
        .await
        .unwrap_or_else(|error| Some(broken_down(live, &error)));
    conclude_in_order(state, live, ending).await;
}

/// Stays with a run that another server began and whose guard was found.
pub(crate) async fn resume(slot: Slot, guard: Guard, memo: RunMemo) {
    let Slot { state, live } = &slot;
    let (of_task, its_live) = (Arc::clone(state), Arc::clone(live));
    let stay = tokio::spawn(async move {
        let mut ending = guarded_run::stay(&of_task, &its_live, guard, memo).await;
        scrub(&mut ending, &its_live);
        ending
    });
    let ending = stay
        .await
        .unwrap_or_else(|error| Some(broken_down(live, &error)));
    conclude_in_order(state, live, ending).await;
}

fn broken_down(live: &LiveRun, error: &JoinError) -> ExecutionResult {
    tracing::error!(%error, run = %live.run, "the task of a run broke down");
    ExecutionResult {
        group_empty: live.process().is_none(),
        ..ExecutionResult::broken("workforce itself failed")
    }
}

/// Nothing for a run that is left to the next start.
async fn conclude_in_order(
    state: &Arc<EngineState>,
    live: &Arc<LiveRun>,
    ending: Option<ExecutionResult>,
) {
    let Some(ending) = ending else {
        return;
    };
    loop {
        let conclusion = conclude(Arc::clone(state), Arc::clone(live), ending.clone());
        let Err(error) = tokio::spawn(conclusion).await else {
            return;
        };
        tracing::error!(%error, run = %live.run, "the end of a run broke down; it is tried again");
        if pause(state, LONGEST_PAUSE).await {
            return;
        }
    }
}

/// Waits until no process of the run is left, then writes its end down.
async fn conclude(state: Arc<EngineState>, live: Arc<LiveRun>, ending: ExecutionResult) {
    if (ending.group_empty || emptied(&state, &live).await) && settle(&state, &live, ending).await {
        // Not before: until its end is written down, the guard's report is needed.
        instructions::remove(&state, live.company, live.run).await;
    }
}

async fn execute(
    state: Arc<EngineState>,
    live: Arc<LiveRun>,
    claimed: ClaimedRun,
    token: MintedToken,
) -> Option<ExecutionResult> {
    let adapter = adapter(claimed.agent.adapter_type);
    match run_context::prepare(&state, &live, claimed, token).await {
        Ok(mut context) => {
            live.note_patterns(context.patterns.clone());
            match place_of(&state, &live, &context.claimed.run).await {
                Ok(place) => context.worktree = place,
                Err(no_place) => return Some(without_place(&live, no_place)),
            }
            let mut ending = attempt(&state, &live, adapter, &mut context).await;
            while ending.as_ref().is_some_and(|ending| ending.lacks_room) {
                ending = match until_room(&state, &live).await {
                    None => {
                        instructions::remove(&state, live.company, live.run).await;
                        attempt(&state, &live, adapter, &mut context).await
                    }
                    Some(halt) => Some(ExecutionResult::halted(halt)),
                };
            }
            scrub(&mut ending, &live);
            ending
        }
        Err(ResolutionError::Unresolved(unresolved)) => {
            let code = RunErrorCode::SecretUnresolved;
            Some(ExecutionResult::failed(code, unresolved.to_string()))
        }
        Err(ResolutionError::Store(error)) => Some(ExecutionResult::without_store(&live, &error)),
    }
}

/// A run that does not begin, since it has no worktree to work in: elsewhere its work
/// would be in the wrong place.
fn without_place(live: &LiveRun, no_place: NoPlace) -> ExecutionResult {
    match no_place {
        NoPlace::Missing(failure) => {
            ExecutionResult::failed(RunErrorCode::WorkspaceMissing, failure.message)
        }
        NoPlace::Store(error) => ExecutionResult::without_store(live, &error),
    }
}

/// What a run ends with shows nothing that it must not write.
fn scrub(ending: &mut Option<ExecutionResult>, live: &LiveRun) {
    if let Some(end) = ending.as_mut().and_then(|ending| ending.end.as_mut()) {
        end.scrub(&live.patterns());
    }
}

/// Lays out what the run needs and executes it.
async fn attempt(
    state: &Arc<EngineState>,
    live: &Arc<LiveRun>,
    adapter: &dyn Adapter,
    context: &mut RunContext,
) -> Option<ExecutionResult> {
    let bundle = context.instructions.clone();
    match instructions::materialize(state, live.company, live.run, bundle).await {
        Ok(copy) => {
            context.copy = Some(copy);
            adapter.execute(state, live, context).await
        }
        Err(ending) => Some(ending),
    }
}

/// Waits until there is room for what the run writes, or until it is stopped.
async fn until_room(state: &EngineState, live: &LiveRun) -> Option<Halt> {
    let mut halts = live.halts();
    while !state.has_room() {
        tokio::select! {
            _ = halts.wait_for(Option::is_some) => return live.halted(),
            () = sleep(ROOM_PAUSE) => {}
        }
    }
    None
}

/// Waits for processes that the kernel does not let go; false when the engine
/// gives up first.
async fn emptied(state: &EngineState, live: &LiveRun) -> bool {
    let Some(process) = live.process() else {
        return true;
    };
    let files = state.config.guard_files(live.company, live.run);
    while !leftovers::end_by_force(process, live.run, &files).await {
        tracing::error!(run = %live.run, "processes of a run are still there; its slot stays taken");
        if pause(state, LONGEST_PAUSE).await {
            return false;
        }
    }
    true
}

/// Pauses; true when the engine gives up meanwhile.
async fn pause(state: &EngineState, time: Duration) -> bool {
    state
        .abandoning
        .run_until_cancelled(sleep(time))
        .await
        .is_none()
}

/// Writes the end of a run down, again and again until the store takes it or
/// the run is another server's; false when it gave up before.
async fn settle(state: &EngineState, live: &LiveRun, ending: ExecutionResult) -> bool {
    live.begin_settling();
    let (mut end, program) = (ending.end, ending.program);
    let had_process = live.process().is_some();
    let mut wait = FIRST_PAUSE;
    loop {
        if live.halted() == Some(Halt::LeaseLost) {
            end = None;
        }
        if end.is_none() && !had_process {
            return true;
        }
        let ended = EndedRun {
            company: live.scope(),
            run: live.run,
            fence: live.fence,
            had_process,
        };
        let written = run_end::write(state, ended, end.clone(), program.clone()).await;
        match written {
            Ok(Some(outcome)) => {
                tracing::info!(run = %live.run, ?outcome, "a run ended");
                return true;
            }
            Ok(None) => {
                tracing::warn!(run = %live.run, "a run that was no longer this server's ended");
                return true;
            }
            Err(error) => {
                tracing::error!(%error, cause = ?error, run = %live.run, "an end is not written down");
            }
        }
        if pause(state, wait).await {
            return false;
        }
        wait = (wait * 2).min(LONGEST_PAUSE);
    }
}
