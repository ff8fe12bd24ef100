//! A small client of the imitation.

use std::time::Duration;

use serde_json::Value;
use ureq::http::{Request, Response};
use workforce_model_imitation::{ModelImitation, Reply, Rule, Script, Usage};

/// Ends a test that would hang; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const USAGE: Usage = Usage {
    input: 1200,
    cached: 800,
    cache_write: 100,
    output: 40,
    reasoning: 12,
};

/// Thinks, speaks and calls the shell, then answers.
pub(crate) fn working() -> Script {
    let calls = Reply::shell("echo hello")
        .say("I look.")
        .thinking("What is there?")
        .usage(USAGE);
    let answers = Reply::text("Turn {turn} of {prompts}: {result}");
    Rule::new().then(calls).then(answers).into()
}

pub(crate) struct Client {
    pub(crate) imitation: ModelImitation,
    agent: ureq::Agent,
}

impl Client {
    pub(crate) fn of(script: Script) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE));
        Self {
            imitation: ModelImitation::start(script).unwrap(),
            agent: config.build().into(),
        }
    }

    /// A request that must be answered to its end.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Response<String> {
        let url = format!("{}{path}", self.imitation.url());
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.agent.run(request.body(body).unwrap()).unwrap();
        let (parts, mut body) = response.into_parts();
        Response::from_parts(parts, body.read_to_string().unwrap())
    }

    /// A request with a good key and a JSON body.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Response<String> {
        let headers = [
            ("authorization", "Bearer sk-good-0001"),
            ("content-type", "application/json"),
        ];
        self.send("POST", path, &headers, body.to_string().as_bytes())
    }

    /// The answer to such a request, which must be a success.
    #[track_caller]
    pub(crate) fn ask(&self, path: &str, body: &Value) -> Value {
        let response = self.post(path, body);
        assert_eq!(response.status(), 200, "{}", response.body());
        serde_json::from_str(response.body()).unwrap()
    }

    /// The events of a streamed answer: each with its name, where it has one, and its data.
    #[track_caller]
    pub(crate) fn stream(&self, path: &str, body: &Value) -> Vec<(String, String)> {
        let response = self.post(path, body);
        assert_eq!(response.status(), 200, "{}", response.body());
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let events = response.body().split_terminator("\n\n");
        events.map(event).collect()
    }

    /// As [`stream`](Self::stream), where each event is a JSON document with its name as `type`.
    #[track_caller]
    pub(crate) fn typed_stream(&self, path: &str, body: &Value) -> Vec<Value> {
        let events = self.stream(path, body).into_iter();
        let typed = events.map(|(name, data)| {
            let data: Value = serde_json::from_str(&data).unwrap();
            assert_eq!(data["type"], name);
            data
        });
        typed.collect()
    }
}

fn event(text: &str) -> (String, String) {
    let mut name = String::new();
    let mut data = String::new();
    for line in text.lines() {
        match line.split_once(": ").unwrap() {
            ("event", it) => it.clone_into(&mut name),
            ("data", it) => it.clone_into(&mut data),
            _ => panic!("{line}"),
        }
    }
    (name, data)
}

/// The texts at `field` of all `values` that have it, together.
pub(crate) fn joined<'a>(values: impl IntoIterator<Item = &'a Value>, field: &str) -> String {
    let values = values.into_iter();
    values
        .filter_map(|it| it.pointer(field)?.as_str())
        .collect()
}
