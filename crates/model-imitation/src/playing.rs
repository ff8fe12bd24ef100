//! From a request to its answer.

mod call;

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::call::Named;
use crate::answer::Event;
use crate::api::Api;
use crate::choice::Failures;
use crate::ids::Ids;
use crate::log::{Cut, Kind, LoggedRequest};
use crate::request::Incoming;
use crate::route::Route;
use crate::script::Script;
use crate::step::Pace;

/// What is sent back.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) pace: Pace,
    pub(crate) content: Content,
    /// The number of the request in the log.
    pub(crate) number: usize,
}

/// The body of what is sent back.
#[derive(Debug)]
pub(crate) enum Content {
    Json(Value),
    Events(Vec<Event>),
}

impl Played {
    fn json(status: u16, body: Value) -> Self {
        Self {
            status,
            retry_after: None,
            pace: Pace::default(),
            content: Content::Json(body),
            number: 0,
        }
    }
}

/// The script, the log and the counts, shared by all requests.
#[derive(Debug)]
pub(crate) struct Stage {
    started: Instant,
    ids: Ids,
    memory: Mutex<Memory>,
    /// Tells that the log has changed.
    logged: Condvar,
}

#[derive(Debug)]
struct Memory {
    script: Script,
    failures: Failures,
    requests: Vec<LoggedRequest>,
    /// How many requests came, with those that are forgotten.
    count: usize,
}

impl Stage {
    pub(crate) fn new(script: Script) -> Self {
        let memory = Memory {
            script,
            failures: Failures::default(),
            requests: Vec::new(),
            count: 0,
        };
        Self {
            started: Instant::now(),
            ids: Ids::new(),
            memory: Mutex::new(memory),
            logged: Condvar::new(),
        }
    }

    fn with<T>(&self, action: impl FnOnce(&mut Memory) -> T) -> T {
        // A request that panicked leaves nothing half done behind.
        action(&mut self.memory.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn requests(&self) -> Vec<LoggedRequest> {
        self.with(|memory| memory.requests.clone())
    }

    pub(crate) fn set_script(&self, script: Script) {
        self.with(|memory| {
            memory.script = script;
            memory.failures = Failures::default();
        });
    }

    pub(crate) fn forget(&self) {
        self.with(|memory| {
            memory.failures = Failures::default();
            memory.requests.clear();
        });
    }

    /// Whether the log comes to be as `holds` wants it, within `patience`.
    pub(crate) fn wait_for(
        &self,
        patience: Duration,
        mut holds: impl FnMut(&[LoggedRequest]) -> bool,
    ) -> bool {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let is_waiting = |memory: &mut Memory| !holds(&memory.requests);
        let waited = self.logged.wait_timeout_while(memory, patience, is_waiting);
        let (_memory, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        !timeout.timed_out()
    }

    /// Notes that the answer to a request did not end.
    pub(crate) fn note_cut(&self, number: usize, cut: Cut) {
        self.with(|memory| {
            let mut requests = memory.requests.iter_mut();
            if let Some(request) = requests.find(|it| it.number == number) {
                request.cut = Some(cut);
            }
        });
        self.logged.notify_all();
    }

    /// What `request` is answered with. It is in the log before anything is sent.
    pub(crate) fn play(&self, request: &Incoming) -> Played {
        let mut entry = LoggedRequest {
            number: 0,
            at: self.started.elapsed(),
            kind: Kind::Unknown,
            method: request.method().to_owned(),
            path: request.path().to_owned(),
            headers: request.headers(),
            key: last_letters(request.key(), 4),
            bytes: request.body.len(),
            status: 0,
            call: None,
            body: None,
            cut: None,
        };
        let route = Route::of(request.method(), request.path(), request.is_upgrade());
        let mut played = match self.control(&route, request) {
            Some(played) => return played,
            None => self.answer(&route, request, &mut entry),
        };
        entry.status = played.status;
        self.with(|memory| {
            memory.count += 1;
            entry.number = memory.count;
            played.number = entry.number;
            memory.requests.push(entry);
        });
        self.logged.notify_all();
        played
    }

    /// Does what tests ask of the imitation itself, which is in no log.
    fn control(&self, route: &Route<'_>, request: &Incoming) -> Option<Played> {
        match route {
            Route::Requests => return Some(Played::json(200, json!(self.requests()))),
            Route::Reset => self.forget(),
            Route::SetScript => match serde_json::from_slice(&request.body) {
                Ok(script) => self.set_script(script),
                Err(error) => {
                    return Some(Played::json(400, json!({"error": error.to_string()})));
                }
            },
            _ => return None,
        }
        Some(Played::json(200, json!({"ok": true})))
    }

    fn answer(&self, route: &Route<'_>, request: &Incoming, entry: &mut LoggedRequest) -> Played {
        let tokens = request.body.len() / 4;
        let (kind, status, body) = match route {
            Route::Call(api) => return self.call(*api, None, request, entry),
            Route::NamedModel { model, is_stream } => {
                let named = Named {
                    model,
                    is_stream: *is_stream,
                };
                return self.call(Api::Gemini, Some(named), request, entry);
            }
            Route::Count(api) => (Kind::Count, 200, api.count(tokens)),
            Route::Models => (Kind::Models, 200, self.models()),
            Route::WebSocket => {
                let refused = json!({"error": {"message": "only HTTP is served"}});
                (Kind::WebSocket, 426, refused)
            }
            Route::Sink => {
                entry.body = Some(String::from_utf8_lossy(&request.body).into_owned());
                (Kind::Sink, 200, json!({"ok": true}))
            }
            // Programs ask with HEAD whether anybody is there.
            _ if request.method() == "HEAD" => (Kind::Unknown, 200, Value::Null),
            _ => {
                let message = format!("no such route: {}", request.path());
                let error = json!({"type": "not_found_error", "message": message});
                (Kind::Unknown, 404, json!({"error": error}))
            }
        };
        entry.kind = kind;
        Played::json(status, body)
    }

    fn models(&self) -> Value {
        let names = self.with(|memory| memory.script.models.clone());
        let models = names.iter().map(|it| json!({"id": it, "object": "model"}));
        json!({"object": "list", "data": models.collect::<Value>()})
    }
}

fn last_letters(text: &str, count: usize) -> String {
    let length = text.chars().count();
    text.chars().skip(length.saturating_sub(count)).collect()
}
