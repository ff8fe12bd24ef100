//! opencode.

use workforce_model_imitation::{Api, Kind, Program};

use crate::agent::{Agent, Ended};
use crate::script::{USAGE, reporting};

fn run(agent: &Agent, more: &[&str], prompt: &str) -> Ended {
    let own = agent.imitation.arguments_for(Program::Opencode);
    let mut arguments = vec!["run", "--format", "json"];
    arguments.extend(own.iter().map(String::as_str));
    arguments.extend(more);
    agent.run(&arguments, prompt)
}

#[test]
fn it_runs_a_command_and_is_resumed_with_what_was_said() {
    let Some(agent) = Agent::new(Program::Opencode) else {
        return;
    };
    agent.imitation.set_script(reporting(&agent.imitation));

    let ended = run(&agent, &[], "Do the task.");

    ended.assert_succeeded();
    let events = ended.events();
    let finished = events.iter().filter(|event| event["type"] == "step_finish");
    let tokens = finished.map(|event| &event["part"]["tokens"]);
    let read = |it: &serde_json::Value| it["cache"]["read"].as_u64().unwrap();
    assert_eq!(tokens.map(read).sum::<u64>(), USAGE.cached);
    assert_eq!(ended.event("step_finish")["part"]["reason"], "stop");
    assert_eq!(ended.reports(), ["done"]);
    let mut calls = ended.requests.iter().filter_map(|it| it.call.as_ref());
    assert!(calls.all(|it| it.api == Api::Chat));
    // It asks for the title of the session.
    assert!(ended.requests.iter().any(|it| it.kind == Kind::Side));

    let session = events[0]["sessionID"].as_str().unwrap();
    let ended = run(&agent, &["--session", session], "Second task.");

    ended.assert_succeeded();
    assert_eq!(ended.prompts(), ["Do the task.", "Second task."]);
    assert_eq!(ended.reports(), ["done", "done"]);
}

#[test]
fn a_bad_key_is_told() {
    let Some(agent) = Agent::new(Program::Opencode) else {
        return;
    };
    let agent = agent.with("IMITATION_KEY", "invalid");

    let ended = run(&agent, &[], "Do the task.");

    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(ended.event("error")["error"]["data"]["statusCode"], 401);
}
