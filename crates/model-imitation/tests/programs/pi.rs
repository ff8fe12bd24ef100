//! pi. It ends with 0 whatever happens.

use serde_json::{Value, json};
use workforce_model_imitation::{Api, ErrorKind, Program};

use crate::agent::{Agent, Ended};
use crate::script::{USAGE, refusing, reporting};

fn run(agent: &Agent, more: &[&str], prompt: &str) -> Ended {
    let own = agent.imitation.arguments_for(Program::Pi);
    let mut arguments = vec!["-p", "--mode", "json"];
    arguments.extend(own.iter().map(String::as_str));
    arguments.extend(more);
    agent.run(&arguments, prompt)
}

/// What the model said, message by message.
fn messages(ended: &Ended) -> Vec<Value> {
    let ends = ended.events().into_iter();
    let ends = ends.filter(|event| event["type"] == "message_end");
    let messages = ends.map(|mut event| event["message"].take());
    messages.filter(|it| it["role"] == "assistant").collect()
}

#[test]
fn it_runs_a_command_and_is_resumed_with_what_was_said() {
    let Some(agent) = Agent::new(Program::Pi) else {
        return;
    };
    agent.imitation.set_script(reporting(&agent.imitation));

    let ended = run(&agent, &[], "Do the task.");

    ended.assert_succeeded();
    let said = messages(&ended);
    let output = |it: &Value| it["usage"]["output"].as_u64().unwrap();
    assert_eq!(said.iter().map(output).sum::<u64>(), USAGE.output);
    assert_eq!(said.last().unwrap()["stopReason"], "stop");
    assert_eq!(ended.reports(), ["done"]);
    let mut calls = ended.requests.iter().filter_map(|it| it.call.as_ref());
    assert!(calls.all(|it| it.api == Api::Chat));

    let session = ended.event("session");
    let ended = run(
        &agent,
        &["--session", session["id"].as_str().unwrap()],
        "Second task.",
    );

    ended.assert_succeeded();
    assert_eq!(ended.prompts(), ["Do the task.", "Second task."]);
    assert_eq!(ended.reports(), ["done", "done"]);
}

#[test]
fn a_bad_key_is_told() {
    let Some(agent) = Agent::new(Program::Pi) else {
        return;
    };
    let agent = agent.with("IMITATION_KEY", "invalid");

    let ended = run(&agent, &[], "Do the task.");

    let said = messages(&ended);
    assert_eq!(said.last().unwrap()["stopReason"], json!("error"));
    assert_eq!(ended.statuses(), [401]);
}

#[test]
fn an_empty_account_is_told() {
    let Some(agent) = Agent::new(Program::Pi) else {
        return;
    };
    agent.imitation.set_script(refusing(ErrorKind::Quota));

    let ended = run(&agent, &[], "Do the task.");

    let said = messages(&ended);
    let message = said.last().unwrap()["errorMessage"].as_str().unwrap();
    assert!(message.starts_with("429"), "{message}");
}
