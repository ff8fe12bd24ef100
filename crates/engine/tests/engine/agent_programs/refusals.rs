//! Runs that the provider of their model refuses for a while.

use std::time::Duration;

use workforce_domain::run::{Run, RunErrorCode, RunStatus};
use workforce_domain::wake::WakeReason;
use workforce_model_imitation::{ErrorKind, Failure, Program, Reply, Rule, Script};

use super::site::Site;

/// Of the runs about an issue that stays undone the first is refused for a while.
async fn is_refused(program: Program, wait: Duration) -> Option<(Site, Run)> {
    let mut site = Site::new(program)?;
    site.config["env"]["CLAUDE_CODE_MAX_RETRIES"] = "0".into();
    let refusal = Failure::of(ErrorKind::RateLimit).retry_after(wait);
    site.imitation
        .set_script(Script::from(Rule::new().then(refusal)));
    site.assign();
    let engine = site.house.start();
    let refused = site.first_ended().await;
    assert_eq!(
        refused.error_code,
        Some(RunErrorCode::ProviderLimit),
        "{refused:?}"
    );
    let answer = Reply::text("It is blue now.");
    site.imitation
        .set_script(Script::from(Rule::new().then(answer)));
    if wait < Duration::from_secs(60) {
        site.ended().await;
    }
    engine.shutdown().await;
    Some((site, refused))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_run_is_tried_again_when_the_provider_said() {
    let wait = Duration::from_secs(4);
    let Some((site, refused)) = is_refused(Program::Claude, wait).await else {
        return;
    };
    let runs = site.house.runs(&[]);
    let [reminder, second, first] = &runs[..] else {
        panic!("three runs: {runs:?}");
    };
    assert_eq!(reminder.reason, WakeReason::IssueLeftUndone);
    assert_eq!(first.id, refused.id);
    let opens = refused.retry_at.expect("a time");
    assert!(opens.since(refused.finished_at.expect("an end")) > Duration::from_secs(3));
    assert!(second.started_at.expect("a start") >= opens, "{second:?}");
    assert_eq!(second.reason, WakeReason::ProviderRetry);
    assert_eq!(
        second.status,
        RunStatus::Succeeded,
        "{}",
        site.house.log(second.id)
    );
    assert_eq!(second.issue, refused.issue);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_of_day_that_a_program_names_is_an_instant() {
    let wait = Duration::from_secs(3 * 60 * 60);
    let Some((site, refused)) = is_refused(Program::Codex, wait).await else {
        return;
    };
    let opens = refused.retry_at.expect("a time");
    let told = opens.since(refused.finished_at.expect("an end"));
    // It names the minute.
    let slack = Duration::from_secs(120);
    assert!(
        told > wait.saturating_sub(slack) && told < wait + slack,
        "{told:?}"
    );
    let waiting = site.house.runs(&[RunStatus::Queued]);
    assert_eq!(waiting.len(), 1, "its work is queued again");
}
