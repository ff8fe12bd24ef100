//! Real agent programs, whose model is an imitation.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use workforce_app::{costs, issues};
use workforce_domain::agent::AdapterType;
use workforce_domain::cost::{CostEvent, CostSource, TokenUse};
use workforce_domain::id::{AgentId, IssueId, RunId};
use workforce_domain::lifecycle::Lifecycle;
use workforce_domain::money::Cents;
use workforce_domain::page::PageRequest;
use workforce_domain::run::{Run, RunErrorCode, RunStatus};
use workforce_domain::text::CommentBody;
use workforce_domain::wake::WakeReason;
use workforce_model_imitation::{
    ErrorKind, Failure, Kind, LoggedRequest, ModelImitation, Program, Reply, Rule, Script, Usage,
    installed_for_test,
};

use crate::support::House;

/// A program that works for a company.
struct Site {
    house: House,
    imitation: ModelImitation,
    program: Program,
    config: Value,
}

impl Site {
    /// `None` where the program is not installed.
    fn new(program: Program) -> Option<Self> {
        let executable = installed_for_test(program)?;
        let house = House::new();
        let imitation = ModelImitation::start(Script::new()).expect("an imitation");
        let home = house.path("home");
        std::fs::create_dir(&home).expect("a home");
        imitation
            .write_settings_for(program, &home)
            .expect("settings");
        let mut env: Map<String, Value> = imitation
            .environment_for(program)
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        env.insert("HOME".into(), json!(home));
        env.insert("IS_SANDBOX".into(), "1".into());
        env.insert("PATH".into(), path_with(&executable).into());
        let config = json!({
            "command": executable,
            "model": model(program),
            "extraArgs": imitation.arguments_for(program),
            "env": env,
            "timeoutSec": 90,
        });
        Some(Self {
            house,
            imitation,
            program,
            config,
        })
    }

    /// Runs an agent about an issue to the end.
    async fn run(&self) -> Run {
        let engine = self.house.start();
        self.assign();
        let run = self.ended().await.remove(0);
        engine.shutdown().await;
        run
    }

    /// Gives an agent an issue to work on.
    fn assign(&self) -> (AgentId, IssueId) {
        let agent = self.house.hire_with(self.config.clone(), |command| {
            command.adapter_type = Some(match self.program {
                Program::Codex => AdapterType::CodexLocal,
                _ => AdapterType::ClaudeLocal,
            });
        });
        let issue = self.house.assign(agent, |issue| {
            let text = workforce_domain::text::Description::new("Paint it blue.");
            issue.description = Some(text.expect("a text"));
        });
        (agent, issue)
    }

    /// All runs, once they have ended, oldest first.
    async fn ended(&self) -> Vec<Run> {
        self.house.all_ended_within(Duration::from_secs(100)).await
    }

    /// The oldest run, once it has ended. Another may be queued by then.
    async fn first_ended(&self) -> Run {
        let begun = Instant::now();
        loop {
            let oldest = self.house.runs(&[]).pop().expect("a run");
            if oldest.status.is_terminal() {
                return oldest;
            }
            assert!(begun.elapsed() < Duration::from_secs(100), "{oldest:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// What the imitation was asked as the model.
    fn calls(&self) -> Vec<LoggedRequest> {
        let mut requests = self.imitation.requests();
        requests.retain(|request| request.call.is_some());
        requests
    }
}

fn model(program: Program) -> &'static str {
    match program {
        Program::Codex => "gpt-5",
        _ => "claude-sonnet-4-5",
    }
}

fn path_with(executable: &Path) -> String {
    let folder = executable.parent().expect("a folder").display();
    format!("{folder}:{}", std::env::var("PATH").expect("a path"))
}

async fn works(program: Program) {
    let Some(site) = Site::new(program) else {
        return;
    };
    let sink = site.imitation.sink_url("done");
    site.imitation.set_script(Script::from(
        Rule::new()
            .then(Reply::shell(format!(
                "curl -s {sink} -d \"$WORKFORCE_TASK_IDENTIFIER\""
            )))
            .then(Reply::text("It is blue now.")),
    ));
    let run = site.run().await;
    let log = site.house.log(run.id);
    assert_eq!(
        (run.status, run.error.as_deref()),
        (RunStatus::Succeeded, None),
        "{log}"
    );
    assert_eq!(run.result_text.as_deref(), Some("It is blue now."));
    assert!(
        run.session.is_some() && run.prompt_sha256.is_some(),
        "{run:?}"
    );
    let requests = site.imitation.requests();
    let done = requests.iter().find(|request| request.kind == Kind::Sink);
    let done = done.and_then(|done| done.body.clone());
    let done = done.expect("its command ran");
    let calls = site.calls();
    let call = calls
        .last()
        .and_then(|call| call.call.as_ref())
        .expect("a call");
    let prompt = call.prompts.first().expect("a prompt");
    for told in ["Ada", "Acme", "Build it", "Paint it blue.", "workforce.md"] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert!(
        log.contains("[prompt: ") && log.contains("Paint it blue."),
        "{log}"
    );
    assert!(prompt.contains(&done) && !done.is_empty(), "{done}");
}

async fn fails(program: Program, kind: ErrorKind) -> Option<Run> {
    let mut site = Site::new(program)?;
    site.config["env"]["CLAUDE_CODE_MAX_RETRIES"] = "0".into();
    site.imitation
        .set_script(Script::from(Rule::new().then(Failure::of(kind))));
    let engine = site.house.start();
    site.assign();
    let run = site.first_ended().await;
    engine.shutdown().await;
    assert_eq!(run.status, RunStatus::Failed);
    Some(run)
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_works_on_an_issue() {
    works(Program::Claude).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_works_on_an_issue() {
    works(Program::Codex).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn why_a_program_failed_is_told_by_its_class() {
    for (program, kind, code) in [
        (Program::Claude, ErrorKind::Auth, RunErrorCode::AuthRequired),
        (
            Program::Claude,
            ErrorKind::RateLimit,
            RunErrorCode::ProviderLimit,
        ),
        (
            Program::Claude,
            ErrorKind::Context,
            RunErrorCode::ContextTooLong,
        ),
        (
            Program::Codex,
            ErrorKind::RateLimit,
            RunErrorCode::ProviderLimit,
        ),
        (
            Program::Codex,
            ErrorKind::Quota,
            RunErrorCode::ProviderLimit,
        ),
    ] {
        if let Some(run) = fails(program, kind).await {
            assert_eq!(
                run.error_code,
                Some(code),
                "{program:?} {kind:?}: {:?}",
                run.error
            );
        }
    }
}

/// Two runs about an issue, the second for a comment of the board.
async fn comes_back(site: &Site) -> Vec<Run> {
    let usage = |fresh, output| Usage {
        input: fresh,
        cached: 800,
        cache_write: 0,
        output,
        reasoning: 0,
    };
    site.imitation.set_script(Script::from(
        Rule::new()
            .then(Reply::shell("true").usage(usage(1200, 40)))
            .then(Reply::text("Done so far.").usage(usage(300, 25))),
    ));
    let engine = site.house.start();
    let (_, issue) = site.assign();
    site.ended().await;
    site.house.act(|tx, ctx| {
        let command = issues::AddComment {
            body: CommentBody::new("And green at the top.").expect("a text"),
            reopen: None,
            interrupt: None,
        };
        issues::add_comment(tx, ctx, &issue.into(), command)
    });
    let runs = site.ended().await;
    engine.shutdown().await;
    runs
}

fn costs_of(site: &Site, run: RunId) -> Vec<CostEvent> {
    let page = site
        .house
        .act(|tx, ctx| costs::list(tx.reads(), ctx, site.house.company, &PageRequest::first()));
    let mut events = page.items;
    events.retain(|event| event.run == Some(run));
    events
}

async fn goes_on(program: Program) -> Option<(Site, Vec<Run>)> {
    let site = Site::new(program)?;
    let runs = comes_back(&site).await;
    assert_eq!(runs.len(), 2, "{runs:?}");
    for run in &runs {
        assert_eq!(
            run.status,
            RunStatus::Succeeded,
            "{}",
            site.house.log(run.id)
        );
    }
    assert_eq!(runs[0].session, runs[1].session);
    let resumed: Vec<_> = runs.iter().map(|run| run.session_resumed).collect();
    assert_eq!(resumed, [Some(false), Some(true)]);
    let calls = site.calls();
    let last = calls
        .last()
        .and_then(|call| call.call.as_ref())
        .expect("a call");
    assert_eq!(last.prompts.len(), 2, "the model sees the earlier prompt");
    assert!(last.prompts[0].contains("Paint it blue."));
    assert!(last.prompts[1].contains("And green at the top."));
    // Each run is booked once, and for what it used itself.
    for run in &runs {
        let events = costs_of(&site, run.id);
        let expected = TokenUse {
            input: 1500,
            cached_input: 1600,
            cache_write: 0,
            output: 65,
        };
        let booked: Vec<_> = events
            .iter()
            .map(|event| (event.tokens, event.source, event.issue, event.counted))
            .collect();
        assert_eq!(booked, [(expected, CostSource::Metered, run.issue, true)]);
    }
    Some((site, runs))
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_goes_on_with_its_session_and_costs_what_it_says() {
    let Some((site, runs)) = goes_on(Program::Claude).await else {
        return;
    };
    // Its last figure is that of the whole session.
    let log = site.house.log(runs[1].id);
    let result = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|event| event["type"] == "result")
        .expect("a result");
    let dollars = result["total_cost_usd"].to_string();
    let spent: Cents = runs
        .iter()
        .flat_map(|run| costs_of(&site, run.id))
        .map(|event| event.cost)
        .fold(Cents::ZERO, |sum, cost| {
            sum.checked_add(cost).expect("a sum")
        });
    let told: f64 = dollars.parse().expect("a number");
    assert_eq!(spent.micros(), (told * 1e8).round() as i64, "{dollars}");
    assert!(spent > Cents::ZERO);
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_goes_on_with_its_session_and_counts_no_turn_twice() {
    goes_on(Program::Codex).await;
}

/// Of two runs the first is refused for a while.
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
    let [second, first] = &runs[..] else {
        panic!("two runs: {runs:?}");
    };
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
