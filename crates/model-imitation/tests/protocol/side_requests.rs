//! Calls of the model that are none of the agent's turns.

use serde_json::{Value, json};
use workforce_model_imitation::{Kind, Reply, Rule, Script};

use crate::client::{Client, working};

fn title_request() -> Value {
    json!({"model": "small", "messages": [{"role": "user", "content": "Name it."}]})
}

#[test]
fn what_offers_no_shell_gets_the_side_answer() {
    let client = Client::of(working());

    let answer = client.ask("/v1/messages", &title_request());

    assert_eq!(answer["content"][0]["text"], "ok");
    assert_eq!(answer["usage"]["input_tokens"], 10);
    let requests = client.imitation.requests();
    assert_eq!(requests[0].kind, Kind::Side);
    assert_eq!(requests[0].call.as_ref().unwrap().step, None);
}

#[test]
fn the_side_answer_may_be_chosen_and_a_rule_may_play_for_it() {
    let client = Client::of(Script::new().side(Reply::text("A title")));
    let ask = || client.ask("/v1/messages", &title_request())["content"][0]["text"].clone();
    assert_eq!(ask(), "A title");
    let rule = Rule::new().without_tools().for_model("small");
    client
        .imitation
        .set_script(rule.then(Reply::text("Mine")).into());
    assert_eq!(ask(), "Mine");
}

#[test]
fn a_schema_is_obeyed_in_every_api() {
    let client = Client::of(Script::new());
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}, "n": {"type": "integer"}}});
    let expected = json!({"n": 1, "title": "ok"});
    let prompt = json!([{"role": "user", "content": "Name it.", "parts": [{"text": "Name it."}]}]);
    for (path, asked, place) in [
        (
            "/v1/messages",
            json!({"output_format": {"schema": schema}}),
            "/content/0/text",
        ),
        (
            "/v1/messages",
            json!({"output_config": {"format": {"schema": schema}}}),
            "/content/0/text",
        ),
        (
            "/v1/responses",
            json!({"text": {"format": {"schema": schema}}}),
            "/output/0/content/0/text",
        ),
        (
            "/v1/chat/completions",
            json!({"response_format": {"json_schema": {"schema": schema}}}),
            "/choices/0/message/content",
        ),
    ] {
        let mut body = asked;
        body["messages"] = prompt.clone();
        body["input"] = prompt.clone();
        let answer = client.ask(path, &body);
        let text = answer.pointer(place).unwrap().as_str().unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(text).unwrap(),
            expected,
            "{path}"
        );
    }
    let config = json!({"responseMimeType": "application/json", "responseJsonSchema": schema});
    let body = json!({"contents": prompt, "generationConfig": config});
    let answer = client.ask("/v1beta/models/m:generateContent", &body);
    let parts = answer["candidates"][0]["content"]["parts"]
        .as_array()
        .unwrap();
    let text = crate::client::joined(parts, "/text");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
}
