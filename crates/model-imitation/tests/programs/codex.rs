//! Codex.

use serde_json::json;
use workforce_model_imitation::{Api, ErrorKind, Kind, Program, Reply, Rule};

use crate::agent::{Agent, Ended};
use crate::script::{USAGE, refusing, reporting};

fn run(agent: &Agent, model: &str, resumed: Option<&str>, prompt: &str) -> Ended {
    let own = agent.imitation.arguments_for(Program::Codex);
    let mut arguments = vec!["exec"];
    arguments.extend(resumed.map(|_| "resume"));
    arguments.extend(["--json", "--dangerously-bypass-approvals-and-sandbox"]);
    arguments.extend(["-m", model, "-c", "allow_login_shell=false"]);
    arguments.extend(own.iter().map(String::as_str));
    // Less patience than it has by itself.
    arguments.extend(["-c", "model_providers.imitation.stream_max_retries=1"]);
    arguments.extend(resumed);
    arguments.push("-");
    agent.run(&arguments, prompt)
}

const MODEL: &str = "gpt-5.1-codex";

/// A model that gets one tool, which runs scripts.
const SCRIPTING_MODEL: &str = "gpt-6-astra";

fn last_message(ended: &Ended) -> String {
    let events = ended.events();
    let mut items = events.iter().rev().map(|event| &event["item"]);
    let message = items.find(|item| item["type"] == "agent_message");
    message.unwrap()["text"].as_str().unwrap().to_owned()
}

#[test]
fn it_runs_a_command_and_is_resumed_with_what_was_said() {
    let Some(agent) = Agent::new(Program::Codex) else {
        return;
    };
    agent.imitation.set_script(reporting(&agent.imitation));

    let ended = run(&agent, MODEL, None, "Do the task.");

    ended.assert_succeeded();
    assert!(
        last_message(&ended).contains(r#"{"ok":true}"#),
        "{}",
        ended.stdout
    );
    let usage = &ended.event("turn.completed")["usage"];
    assert_eq!(usage["input_tokens"], json!(USAGE.input + USAGE.cached));
    assert_eq!(usage["cached_input_tokens"], json!(USAGE.cached));
    assert_eq!(usage["output_tokens"], json!(USAGE.output));
    assert_eq!(usage["reasoning_output_tokens"], json!(USAGE.reasoning));
    assert_eq!(ended.reports(), ["done"]);
    let calls: Vec<_> = ended
        .requests
        .iter()
        .filter_map(|it| it.call.as_ref())
        .collect();
    assert!(
        calls
            .iter()
            .all(|it| it.api == Api::Responses && it.is_stream)
    );

    let thread = ended.event("thread.started");
    let ended = run(&agent, MODEL, thread["thread_id"].as_str(), "Second task.");

    ended.assert_succeeded();
    assert_eq!(ended.prompts(), ["Do the task.", "Second task."]);
    assert_eq!(ended.reports(), ["done", "done"]);
}

#[test]
fn it_makes_calls_at_once_and_one_after_the_other() {
    let Some(agent) = Agent::new(Program::Codex) else {
        return;
    };
    let steps = Rule::new()
        .then(Reply::shells(["echo one", "echo two"]).thinking("I think."))
        .then(Reply::shell("echo three"))
        .then(Reply::text("It said: {result}"));

    let ended = run(&agent, MODEL, None, &format!("Do it.\n{}", steps.as_line()));

    ended.assert_succeeded();
    assert!(last_message(&ended).contains("three"), "{}", ended.stdout);
    assert_eq!(ended.statuses(), [200, 200, 200]);
}

#[test]
fn a_model_that_writes_scripts_runs_commands_too() {
    let Some(agent) = Agent::new(Program::Codex) else {
        return;
    };
    agent.imitation.set_script(reporting(&agent.imitation));

    let ended = run(&agent, SCRIPTING_MODEL, None, "Do the task.");

    ended.assert_succeeded();
    assert_eq!(ended.reports(), ["done"]);
    let call = ended.requests.iter().find_map(|it| it.call.as_ref());
    assert_eq!(call.unwrap().shell_tool.as_deref(), Some("exec"));
}

#[test]
fn its_own_provider_falls_back_from_web_sockets_to_http() {
    let Some(agent) = Agent::new(Program::Codex) else {
        return;
    };
    let agent = agent.with("CODEX_API_KEY", "any");
    agent.imitation.set_script(reporting(&agent.imitation));
    let url = format!("openai_base_url=\"{}/v1\"", agent.imitation.url());
    let mut arguments = vec![
        "exec",
        "--json",
        "--dangerously-bypass-approvals-and-sandbox",
    ];
    arguments.extend(["-m", "gpt-5.5", "-c", &url, "-c", "analytics.enabled=false"]);
    arguments.extend([
        "-c",
        "check_for_update_on_startup=false",
        "--disable",
        "plugins",
        "-",
    ]);

    let ended = agent.run(&arguments, "Do the task.");

    ended.assert_succeeded();
    assert_eq!(ended.reports(), ["done"]);
    assert!(ended.requests.iter().any(|it| it.kind == Kind::WebSocket));
}

#[test]
fn a_bad_key_is_told() {
    let Some(agent) = Agent::new(Program::Codex) else {
        return;
    };
    let agent = agent.with("IMITATION_KEY", "invalid");

    let ended = run(&agent, MODEL, None, "Do the task.");

    assert_eq!(ended.status.code(), Some(1));
    let failed = ended.event("turn.failed");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("401 Unauthorized"), "{message}");
}

#[test]
fn a_rate_limit_is_told() {
    let Some(agent) = Agent::new(Program::Codex) else {
        return;
    };
    agent.imitation.set_script(refusing(ErrorKind::RateLimit));

    let ended = run(&agent, MODEL, None, "Do the task.");

    assert_eq!(ended.status.code(), Some(1));
    let failed = ended.event("turn.failed");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("429 Too Many Requests"), "{message}");
    assert_eq!(ended.statuses(), [429]);
}

#[test]
fn a_full_context_is_told_within_the_stream() {
    let Some(agent) = Agent::new(Program::Codex) else {
        return;
    };
    agent.imitation.set_script(refusing(ErrorKind::Context));

    let ended = run(&agent, MODEL, None, "Do the task.");

    assert_eq!(ended.status.code(), Some(1));
    let failed = ended.event("turn.failed");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("context window"), "{message}");
}
