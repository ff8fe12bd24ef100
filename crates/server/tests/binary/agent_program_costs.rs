//! What real agent programs use is booked while they run, and a budget stops them; their
//! model is an imitation.

use serde_json::json;
use workforce_model_imitation::{Program, Reply, Rule, Script, Usage};

use crate::agent_programs::{Workshop, assert_booked, micros};
use crate::office::on_both;

/// The rate of the model makes each call cost 3 dollars with Claude Code and 2 with
/// Codex.
const DEAR: Usage = Usage {
    input: 0,
    cached: 0,
    cache_write: 0,
    output: 200_000,
    reasoning: 0,
};
const COST_WITH_CLAUDE: i64 = 300_000_000;
const COST_WITH_CODEX: i64 = 200_000_000;

/// A run stops at the call that uses up a limit of 9.50 dollars.
fn stops_at_its_budget(program: Program, cost: i64, flags: &[&str]) {
    let Some(shop) = Workshop::open(program, flags) else {
        return;
    };
    let budget = json!({ "budgetMonthlyCents": 950 });
    let agent = format!("/api/agents/{}", shop.agent);
    let (status, answer) = shop.server.send("PATCH", &agent, None, &budget);
    assert_eq!(status, 200, "{answer}");
    let rule = (0..12).fold(Rule::new(), |rule, step| {
        let command = format!("echo step {step} && sleep 2");
        rule.then(Reply::shell(command).usage(DEAR))
    });
    shop.imitation.set_script(Script::from(rule));
    shop.assign();
    let live = shop.server.wait_for(&agent, |agent| {
        micros(&agent["spentMonthlyCents"]) + micros(&agent["reservedCents"]) >= cost
    });
    assert_eq!(live["status"], "running", "{live:#}");
    let runs = shop.ended(1);
    let log = shop.log(&runs[0]);
    assert_eq!(runs[0]["status"], "cancelled", "{:#}\n{log}", runs[0]);
    assert_eq!(runs[0]["errorCode"], "budget_exhausted");
    let agent = shop.server.get(&agent);
    assert_eq!(agent["pauseReason"], "budget", "{agent:#}");
    assert_eq!(
        micros(&agent["spentMonthlyCents"]),
        cost * (950_000_000 / cost + 1),
        "{log}"
    );
    assert_eq!(micros(&agent["reservedCents"]), 0);
}

/// Two calls of Codex are booked while it works on; then it is killed, and its next run
/// goes on with the session, whose own sum lacks the last of them.
fn is_booked_while_it_runs(flags: &[&str]) {
    let Some(shop) = Workshop::open(Program::Codex, flags) else {
        return;
    };
    shop.play(&["echo begun", "sleep 100"], "never");
    let issue = shop.assign();
    let path = format!("/api/companies/{}/cost-events", shop.company);
    let events = shop.server.wait_for(&path, |events| {
        events.as_array().is_some_and(|events| events.len() == 2)
    });
    for event in events.as_array().unwrap() {
        assert_eq!(micros(&event["costCents"]), 171_250, "{event:#}");
        assert_eq!(event["model"], "gpt-5");
    }
    let run = events[0]["runId"].as_str().unwrap();
    let run = format!("/api/heartbeat-runs/{run}");
    assert_eq!(shop.server.get(&run)["status"], "running");
    shop.server.post(&format!("{run}/cancel"), &json!(null));
    let runs = shop.ended(1);
    assert_eq!(runs[0]["status"], "cancelled");
    assert_booked(&shop, Program::Codex, &runs[0], 2);
    assert!(
        !shop.log(&runs[0]).contains("usage file"),
        "{}",
        shop.log(&runs[0])
    );

    shop.play(&["echo again"], "I went on.");
    shop.server.post(
        &format!("/api/issues/{issue}/comments"),
        &json!({ "body": "@Ada, go on, please." }),
    );
    let runs = shop.ended(2);
    let log = shop.log(&runs[1]);
    assert_eq!(runs[1]["status"], "succeeded", "{:#}\n{log}", runs[1]);
    assert_eq!(runs[1]["sessionResumed"], true);
    for run in &runs {
        assert_booked(&shop, Program::Codex, run, 2);
    }
}

on_both! {
    fn claude_code_stops_in_mid_run_at_its_budget(database) {
        stops_at_its_budget(Program::Claude, COST_WITH_CLAUDE, &database.flags());
    }

    fn codex_stops_in_mid_run_at_its_budget(database) {
        stops_at_its_budget(Program::Codex, COST_WITH_CODEX, &database.flags());
    }

    fn codex_is_booked_after_each_call_and_when_it_is_killed(database) {
        is_booked_while_it_runs(&database.flags());
    }
}
