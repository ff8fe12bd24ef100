//! Claude Code.

use serde_json::json;
use workforce_model_imitation::{Api, ErrorKind, Program, Reply, Rule};

use crate::agent::{Agent, Ended};
use crate::script::{USAGE, refusing, reporting};

fn agent() -> Option<Agent> {
    // It refuses to run all commands as root elsewhere.
    let agent = Agent::new(Program::Claude)?.with("IS_SANDBOX", "1");
    Some(agent.with("CLAUDE_CODE_MAX_RETRIES", "1"))
}

fn run(agent: &Agent, more: &[&str], prompt: &str) -> Ended {
    let usual = [
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--dangerously-skip-permissions",
        "--model",
        "claude-sonnet-4-5",
    ];
    agent.run(&[&usual, more].concat(), prompt)
}

#[test]
fn it_runs_a_command_and_is_resumed_with_what_was_said() {
    let Some(agent) = agent() else { return };
    agent.imitation.set_script(reporting(&agent.imitation));

    let ended = run(&agent, &[], "Do the task.");

    ended.assert_succeeded();
    let result = ended.event("result");
    assert_eq!(result["is_error"], false, "{result}");
    assert_eq!(result["result"], r#"Turn 1 of Do the task.: {"ok":true}"#);
    assert_eq!(result["usage"]["input_tokens"], json!(USAGE.input));
    assert_eq!(
        result["usage"]["cache_read_input_tokens"],
        json!(USAGE.cached)
    );
    assert_eq!(result["usage"]["output_tokens"], json!(USAGE.output));
    assert_eq!(ended.reports(), ["done"]);
    let calls: Vec<_> = ended
        .requests
        .iter()
        .filter_map(|it| it.call.as_ref())
        .collect();
    assert!(
        calls
            .iter()
            .all(|it| it.api == Api::Anthropic && it.is_stream)
    );
    assert_eq!(calls[0].shell_tool.as_deref(), Some("Bash"));

    let session = result["session_id"].as_str().unwrap();
    let ended = run(&agent, &["--resume", session], "Second task.");

    ended.assert_succeeded();
    assert_eq!(ended.prompts(), ["Do the task.", "Second task."]);
    assert_eq!(ended.reports(), ["done", "done"]);
}

#[test]
fn it_makes_calls_at_once_and_one_after_the_other() {
    let Some(agent) = agent() else { return };
    let steps = Rule::new()
        .then(Reply::shells(["echo one", "echo two"]).thinking("I think."))
        .then(Reply::shell("echo three"))
        .then(Reply::text("{result}"));

    let ended = run(&agent, &[], &format!("Do it.\n{}", steps.as_line()));

    ended.assert_succeeded();
    assert_eq!(ended.event("result")["result"], "three");
    assert_eq!(ended.statuses(), [200, 200, 200]);
}

#[test]
fn a_bad_key_is_told() {
    let Some(agent) = agent() else { return };
    let agent = agent.with("ANTHROPIC_API_KEY", "sk-ant-invalid");

    let ended = run(&agent, &[], "Do the task.");

    assert_eq!(ended.status.code(), Some(1));
    let result = ended.event("result");
    assert_eq!(result["is_error"], true, "{result}");
    assert_eq!(result["api_error_status"], 401, "{result}");
    assert_eq!(ended.statuses(), [401, 401]);
}

#[test]
fn a_rate_limit_is_told() {
    let Some(agent) = agent() else { return };
    agent.imitation.set_script(refusing(ErrorKind::RateLimit));

    let ended = run(&agent, &[], "Do the task.");

    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(ended.event("system")["error"], "rate_limit");
    assert_eq!(ended.event("result")["api_error_status"], 429);
    assert_eq!(ended.statuses(), [429, 429]);
}
