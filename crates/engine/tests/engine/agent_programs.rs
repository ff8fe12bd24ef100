//! Real agent programs, whose model is an imitation.

mod refusals;
mod site;

use serde_json::Value;
use workforce_app::{costs, issues};
use workforce_domain::cost::{CostEvent, CostSource, TokenUse};
use workforce_domain::id::RunId;
use workforce_domain::money::Cents;
use workforce_domain::page::PageRequest;
use workforce_domain::run::{Run, RunErrorCode, RunStatus};
use workforce_domain::text::CommentBody;
use workforce_domain::wake::WakeReason;
use workforce_model_imitation::{ErrorKind, Failure, Kind, Program, Reply, Rule, Script, Usage};

use self::site::Site;

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

/// The runs about an issue that stays undone: one, one for a comment of the board, and the
/// reminder that follows each.
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
            body: CommentBody::parse("And green at the top.").expect("a text"),
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
    let reasons: Vec<_> = runs.iter().map(|run| run.reason).collect();
    let reminder = WakeReason::IssueLeftUndone;
    let comment = WakeReason::IssueCommented;
    let expected = [WakeReason::IssueAssigned, reminder, comment, reminder];
    assert_eq!(reasons, expected, "{runs:?}");
    for run in &runs {
        assert_eq!(
            run.status,
            RunStatus::Succeeded,
            "{}",
            site.house.log(run.id)
        );
    }
    assert!(runs.iter().all(|run| run.session == runs[0].session));
    let resumed: Vec<_> = runs.iter().map(|run| run.session_resumed).collect();
    assert_eq!(resumed, [false, true, true, true].map(Some));
    let calls = site.calls();
    let last = calls
        .last()
        .and_then(|call| call.call.as_ref())
        .expect("a call");
    assert_eq!(last.prompts.len(), 4, "the model sees the earlier prompts");
    assert!(last.prompts[0].contains("Paint it blue."));
    assert!(last.prompts[2].contains("And green at the top."));
    // Each run is booked once, and for what it used itself.
    for run in &runs {
        let events = costs_of(&site, run.id);
        let expected = TokenUse {
            input: 1500,
            cached_input: 1600,
            cache_write: 0,
            output: 65,
        };
        let sum = |count: fn(&TokenUse) -> i64| -> i64 {
            events.iter().map(|event| count(&event.tokens)).sum()
        };
        let booked = TokenUse {
            input: sum(|it| it.input),
            cached_input: sum(|it| it.cached_input),
            cache_write: sum(|it| it.cache_write),
            output: sum(|it| it.output),
        };
        assert_eq!(booked, expected);
        for event in &events {
            let told = (event.source, event.issue, event.counted);
            assert_eq!(told, (CostSource::Metered, run.issue, true));
        }
    }
    Some((site, runs))
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_goes_on_with_its_session_and_costs_what_it_says() {
    let Some((site, runs)) = goes_on(Program::Claude).await else {
        return;
    };
    // Its last figure is that of the whole session.
    let log = site.house.log(runs.last().expect("a run").id);
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
