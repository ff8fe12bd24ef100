//! Requests of the board and of agents.

use serde_json::Value;

use super::scene::{Member, Scene};
use crate::client::Sender;

impl Scene<'_> {
    /// Sends a request of the board, or of a member; `None` when there is no answer.
    pub(super) fn try_send(
        &self,
        method: &str,
        path: &str,
        member: Option<&Member>,
        body: &Value,
    ) -> Option<(u16, Value)> {
        let token = member.map(|member| member.key.as_str());
        let sender = Sender {
            token,
            ..Sender::default()
        };
        let client = self.server().client();
        client.send(method, path, sender, body).ok()
    }

    /// The same for what is answered.
    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        member: Option<&Member>,
        body: &Value,
    ) -> (u16, Value) {
        let answer = self.try_send(method, path, member, body);
        answer.unwrap_or_else(|| panic!("{method} {path} is not answered:\n{}", self.logs()))
    }

    /// What must succeed.
    #[track_caller]
    pub(super) fn ask(
        &self,
        method: &str,
        path: &str,
        member: Option<&Member>,
        body: &Value,
    ) -> Value {
        let (status, answer) = self.send(method, path, member, body);
        assert!(
            (200..300).contains(&status),
            "{method} {path}: {status} {answer}"
        );
        answer
    }

    /// What must succeed as the board.
    #[track_caller]
    pub(super) fn post(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", path, None, body)
    }

    /// What must be there.
    #[track_caller]
    pub(super) fn get(&self, path: &str) -> Value {
        self.ask("GET", path, None, &Value::Null)
    }
}
