//! The Gemini CLI.

use serde_json::json;
use workforce_model_imitation::{Api, ErrorKind, Program};

use crate::agent::{Agent, Ended};
use crate::script::{USAGE, refusing, reporting};

fn run(agent: &Agent, more: &[&str], prompt: &str) -> Ended {
    let usual = [
        "-o",
        "stream-json",
        "--yolo",
        "--skip-trust",
        "-m",
        "gemini-2.5-pro",
    ];
    agent.run(&[&usual, more].concat(), prompt)
}

#[test]
fn it_runs_a_command_and_is_resumed_with_what_was_said() {
    let Some(agent) = Agent::new(Program::Gemini) else {
        return;
    };
    agent.imitation.set_script(reporting(&agent.imitation));

    let ended = run(&agent, &[], "Do the task.");

    ended.assert_succeeded();
    let result = ended.event("result");
    assert_eq!(result["status"], "success", "{result}");
    let stats = &result["stats"];
    assert_eq!(stats["input_tokens"], json!(USAGE.input + USAGE.cached));
    assert_eq!(stats["cached"], json!(USAGE.cached));
    assert_eq!(
        stats["output_tokens"],
        json!(USAGE.output - USAGE.reasoning)
    );
    assert_eq!(ended.reports(), ["done"]);
    let mut calls = ended.requests.iter().filter_map(|it| it.call.as_ref());
    assert!(calls.all(|it| it.api == Api::Gemini));

    let started = ended.event("init");
    let session = started["session_id"].as_str().unwrap();
    let ended = run(&agent, &["--resume", session], "Second task.");

    ended.assert_succeeded();
    assert_eq!(ended.prompts(), ["Do the task.", "Second task."]);
    assert_eq!(ended.reports(), ["done", "done"]);
}

#[test]
fn a_bad_key_is_told() {
    let Some(agent) = Agent::new(Program::Gemini) else {
        return;
    };
    let agent = agent.with("GEMINI_API_KEY", "invalid");

    let ended = run(&agent, &[], "Do the task.");

    // The HTTP status 400, as far as it fits.
    assert_eq!(ended.status.code(), Some(144), "{}", ended.stderr);
    assert_eq!(ended.event("result")["status"], "error");
}

#[test]
fn a_rate_limit_is_told() {
    let Some(agent) = Agent::new(Program::Gemini) else {
        return;
    };
    let settings = agent.home().join(".gemini/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    let mut impatient: serde_json::Value = serde_json::from_str(&text).unwrap();
    impatient["general"]["maxAttempts"] = json!(1);
    std::fs::write(&settings, impatient.to_string()).unwrap();
    agent.imitation.set_script(refusing(ErrorKind::RateLimit));

    let ended = run(&agent, &[], "Do the task.");

    // The HTTP status 429, as far as it fits.
    assert_eq!(ended.status.code(), Some(173), "{}", ended.stderr);
    assert_eq!(ended.event("result")["status"], "error");
}
