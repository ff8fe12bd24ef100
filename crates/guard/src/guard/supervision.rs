use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use workforce_agent_programs::{OutputParser, ProgramExit};
use workforce_domain::port::LogStream;

use super::children::{Family, Reaper, gone};
use super::control::Control;
use super::output::{self, Judge, Pumped, Sinks};
use super::usage_file::UsageFile;
use crate::files::GuardFiles;
use crate::launch::Execution;
use crate::log::{OutputScrubber, RunLog};
use crate::process::Reach;
use crate::protocol::{Ending, Exit, JudgedBy, RunReport, Start};

const FIRST_PAUSE: Duration = Duration::from_millis(2);
/// A sweep costs in proportion to the number of processes on the system.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Stays with a program to its end and to that of everything it started.
///
/// What is left is ended when the program ends, a limit is reached or a server
/// says so, each time by `SIGTERM`, the grace period, and `SIGKILL` until nothing
/// is left. Output is read all the while.
pub(super) async fn supervise(
    start: &Start,
    execution: Execution,
    (mut log, usage_file): (RunLog, Option<UsageFile>),
    files: &GuardFiles,
    control: &Arc<Control>,
) -> std::io::Result<RunReport> {
    let Execution {
        streams,
        cgroup,
        reach,
        end: program_end,
    } = execution;
    let reaper = Reaper::new(program_end)?;
    let mut family = reaper.family();
    let reaping = tokio::spawn(reaper.run());
    log.append(LogStream::System, start.preamble.as_bytes());
    let sinks = Sinks {
        log,
        scrubber: OutputScrubber::of(&start.secrets),
        judge: judge(start),
        usage_file,
        events: files.events(),
        control: Arc::clone(control),
    };
    let reach = Arc::new(reach);

    let clocks = &control.clocks;
    let pump = output::pump(streams, start.stdin.clone(), sinks, clocks, family.clone());
    let end = async {
        let ended_by = tokio::select! {
            biased;
            () = program_ended(&mut family) => Ending::Itself,
            ending = control.stopped() => ending,
            ending = clocks.expired() => ending,
        };
        let is_killed = ended_by == Ending::Abandoned;
        let grace = if is_killed {
            Duration::ZERO
        } else {
            start.limits.grace
        };
        end(&reach, grace, control, &mut family).await;
        ended_by
    };
    let (ended_by, pumped) = tokio::join!(end, pump);
    let Pumped {
        log,
        judge,
        mut events,
    } = pumped?;
    let _ = reaping.await;
    let exit = family.borrow().program;
    let conclusion = judge.finish(program_exit(exit), &mut events);
    Ok(RunReport {
        run: start.run,
        fence: start.fence,
        ended_by,
        exit,
        ran_out_of_memory: cgroup.is_some_and(|it| it.cgroup().ran_out_of_memory()),
        conclusion,
        usage: events.into_usage(),
        memo: start.memo.clone(),
        log,
    })
}

fn judge(start: &Start) -> Judge {
    match start.judged_by {
        JudgedBy::ExitCode => Judge::Nothing,
        JudgedBy::Output(program) => {
            Judge::Output(Box::new(OutputParser::new(program, start.usage_baseline)))
        }
        JudgedBy::SelfReport => Judge::SelfReport(Box::default()),
    }
}

fn program_exit(exit: Option<Exit>) -> ProgramExit {
    match exit {
        Some(Exit::Code(code)) => ProgramExit {
            code: Some(code),
            signal: None,
        },
        Some(Exit::Signal(signal)) => ProgramExit {
            code: None,
            signal: Some(signal),
        },
        None => ProgramExit {
            code: None,
            signal: None,
        },
    }
}

async fn program_ended(family: &mut watch::Receiver<Family>) {
    let _ = family
        .wait_for(|family| family.program.is_some() || family.is_gone)
        .await;
}

/// Ends what is left. Returns when nothing is.
async fn end(
    reach: &Arc<Reach>,
    grace: Duration,
    control: &Control,
    family: &mut watch::Receiver<Family>,
) {
    if family.borrow().is_gone {
        return;
    }
    if !grace.is_zero() {
        sweep(reach, Reach::terminate).await;
        tokio::select! {
            _ = timeout(grace, gone(family)) => {}
            () = control.killed() => {}
        }
    }
    let mut pause = FIRST_PAUSE;
    while !family.borrow().is_gone {
        sweep(reach, Reach::kill).await;
        // What the kernel does not let go keeps the guard, and with it the place
        // of the run.
        let _ = timeout(pause, gone(family)).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn sweep(reach: &Arc<Reach>, sweep: fn(&Reach) -> std::io::Result<()>) {
    let reach = Arc::clone(reach);
    // What cannot be signalled now is signalled in the next round.
    let swept = tokio::task::spawn_blocking(move || sweep(&reach)).await;
    if !matches!(swept, Ok(Ok(()))) {
        sleep(FIRST_PAUSE).await;
    }
}
