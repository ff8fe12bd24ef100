//! Asks a server.

use serde_json::{Value, json};
use ureq::http::Request;

use super::{Answer, Api, Fetched, id};
use crate::described;

impl Api {
    /// Sends a request; `headers` are names and values.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let sent = if body.is_empty() {
            self.client.run(request.body(()).unwrap())
        } else {
            self.client.run(request.body(body).unwrap())
        };
        let mut response = sent.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let answer = Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.body_mut().read_to_string().unwrap(),
        };
        let Answer {
            status,
            headers,
            text,
        } = &answer;
        described::check(method, path, *status, headers, text.as_bytes());
        answer
    }

    /// The bytes of an answer.
    pub(crate) fn fetch(&self, path: &str, headers: &[(&str, &str)]) -> Fetched {
        let mut request = Request::get(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = self.client.run(request.body(()).unwrap()).unwrap();
        let fetched = Fetched {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            bytes: response
                .body_mut()
                .with_config()
                .limit(1 << 30)
                .read_to_vec()
                .unwrap(),
        };
        let Fetched {
            status,
            headers,
            bytes,
        } = &fetched;
        described::check("GET", path, *status, headers, bytes);
        fetched
    }

    /// How long the answer is as it travels.
    pub(crate) fn travelled_length(&self, path: &str, headers: &[(&str, &str)]) -> usize {
        let mut request = Request::get(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = self.client.run(request.body(()).unwrap()).unwrap();
        response.body_mut().read_to_vec().unwrap().len()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[], body.to_string().as_bytes())
    }

    pub(crate) fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send("PATCH", path, &[], body.to_string().as_bytes())
    }

    /// The same server as seen with a credential.
    pub(crate) fn bearing<'a>(&'a self, token: &str) -> Bearing<'a> {
        Bearing {
            api: self,
            authorization: format!("Bearer {token}"),
        }
    }

    /// A new company whose agents need no approval.
    pub(crate) fn company(&self, name: &str) -> Value {
        let body = json!({ "name": name, "requireBoardApprovalForNewAgents": false });
        self.post("/api/companies", &body).ok(201)
    }

    /// A new agent of a company.
    pub(crate) fn agent(&self, company: &Value, name: &str) -> Value {
        let path = format!("/api/companies/{}/agents", id(company));
        self.post(&path, &json!({ "name": name, "role": "engineer" }))
            .ok(201)
    }

    /// A key of an agent.
    pub(crate) fn key(&self, agent: &Value) -> String {
        let path = format!("/api/agents/{}/keys", id(agent));
        self.post(&path, &json!({})).ok(201)["key"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// A new issue of a company.
    pub(crate) fn issue(&self, company: &Value, body: &Value) -> Value {
        self.post(&format!("/api/companies/{}/issues", id(company)), body)
            .ok(201)
    }
}

/// A caller with a credential.
pub(crate) struct Bearing<'a> {
    api: &'a Api,
    authorization: String,
}

impl Bearing<'_> {
    pub(crate) fn send(&self, method: &str, path: &str, body: &Value) -> Answer {
        self.send_with(method, path, &[], body)
    }

    pub(crate) fn send_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Answer {
        let mut all = vec![("Authorization", self.authorization.as_str())];
        all.extend_from_slice(headers);
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        self.api.send(method, path, &all, body.as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &Value::Null)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, body)
    }

    pub(crate) fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send("PATCH", path, body)
    }
}
