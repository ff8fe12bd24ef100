//! The load: the board, and agents with keys, write while processes are killed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workforce_testkit::random::Random;

use super::notes::{Fate, Kind, Notes};
use super::scene::Staff;
use crate::client::{Sender, was_not_taken};
use crate::histories::{Deed, Histories};
use crate::linearizability::{Contender, id_of, next};

/// So many runs may wait at most: whoever waits long is no load.
const QUEUED: usize = 12;
/// Deeds of each contested issue: few enough that its history is checked soon.
const DEEDS: usize = 40;
/// Shorter than the lease of a key.
const RECENT: Duration = Duration::from_secs(600);
/// For how long what has a key is sent again. No outage is nearly so long.
const STUBBORN: Duration = Duration::from_secs(60);

/// What all clients share.
pub(super) struct Load<'a> {
    staff: &'a Staff,
    notes: &'a Notes,
    histories: &'a Histories,
    seed: u64,
    is_over: AtomicBool,
    numbers: AtomicU64,
    contested: Mutex<(String, usize)>,
}

/// Ends the load when it is dropped.
pub(super) struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// What is to be written, and by whom.
struct Request<'a> {
    kind: Kind,
    path: String,
    body: Value,
    token: Option<&'a str>,
    /// Whether it may be sent again.
    has_key: bool,
}

impl<'a> Load<'a> {
    pub(super) fn new(
        staff: &'a Staff,
        notes: &'a Notes,
        histories: &'a Histories,
        seed: u64,
    ) -> Self {
        Self {
            staff,
            notes,
            histories,
            seed,
            is_over: AtomicBool::new(false),
            numbers: AtomicU64::new(0),
            contested: Mutex::new((String::new(), DEEDS)),
        }
    }

    /// Whose drop ends the load.
    pub(super) const fn end_with_this(&self) -> End<'_> {
        End(&self.is_over)
    }

    pub(super) fn begin<'s>(&'s self, scope: &'s Scope<'s, '_>) {
        let random = |number: u64| Random::new(self.seed.wrapping_mul(100).wrapping_add(number));
        scope.spawn(move || self.repeat(random(1), 300, Self::govern));
        for (number, (agent, key)) in (2..).zip(&self.staff.keyed) {
            scope.spawn(move || {
                self.repeat(random(number), 120, |load, random| {
                    load.report(random, agent, key);
                });
            });
        }
        let callers = self.staff.keyed.iter().map(Some).chain([None]);
        for (number, caller) in (10..).zip(callers) {
            scope.spawn(move || self.contend(random(number), caller));
        }
    }

    fn repeat(&self, mut random: Random, every: u64, act: impl Fn(&Self, &mut Random)) {
        while !self.is_over.load(Ordering::SeqCst) {
            act(self, &mut random);
            thread::sleep(Duration::from_millis(every));
        }
    }

    /// The board hands out work, comments on it and wakes agents.
    fn govern(&self, random: &mut Random) {
        let company = &self.staff.company;
        if self.queued(random) > QUEUED {
            return;
        }
        let worker = random.pick(&self.staff.workers).unwrap();
        let has_key = random.chance(60);
        let (kind, path, body) = match random.below(10) {
            0..4 => (
                Kind::Assignment,
                format!("/api/companies/{company}/issues"),
                json!({
                    "title": "{marker}", "status": "todo", "assigneeAgentId": worker,
                    "projectId": self.staff.project,
                }),
            ),
            4..7 => {
                let Some(issue) = random.pick(&self.notes.assigned()) else {
                    return;
                };
                let path = format!("/api/issues/{issue}/comments");
                (Kind::Comment, path, json!({ "body": "{marker}" }))
            }
            7..9 => (
                Kind::Wake,
                format!("/api/agents/{worker}/heartbeat/invoke"),
                json!({ "payload": { "{marker}": true } }),
            ),
            _ => (
                Kind::Wake,
                format!("/api/agents/{worker}/wakeup"),
                json!({ "reason": "ask", "payload": { "{marker}": true } }),
            ),
        };
        let request = Request {
            kind,
            path,
            body,
            token: None,
            has_key,
        };
        self.write(random, &request);
    }

    /// Runs that wait or work; many when nobody says.
    fn queued(&self, random: &mut Random) -> usize {
        let client = random.pick(&self.staff.clients).unwrap();
        let path = format!("/api/companies/{}/live-runs", self.staff.company);
        match client.send("GET", &path, Sender::default(), &Value::Null) {
            Ok((200, runs)) => runs.as_array().map_or(0, Vec::len),
            _ => QUEUED + 1,
        }
    }

    /// An agent with a key tells what it spent, and makes issues.
    fn report(&self, random: &mut Random, agent: &str, key: &str) {
        let company = &self.staff.company;
        let micros = u32::try_from(random.below(9_000_000)).unwrap() + 10_000;
        let request = match random.below(10) {
            0..7 => Request {
                kind: Kind::Cost,
                path: format!("/api/companies/{company}/cost-events"),
                body: json!({
                    "agentId": agent, "provider": "p", "model": "m",
                    "costCents": f64::from(micros) / 1e6, "idempotencyKey": "{marker}",
                }),
                token: Some(key),
                has_key: true,
            },
            _ => Request {
                kind: Kind::Issue,
                path: format!("/api/companies/{company}/issues"),
                body: json!({ "title": "{marker}", "projectId": self.staff.project }),
                token: Some(key),
                has_key: random.chance(50),
            },
        };
        self.write(random, &request);
    }

    /// Sends a write: what has a key until it is acknowledged, anything else once.
    fn write(&self, random: &mut Random, request: &Request<'_>) {
        let number = self.numbers.fetch_add(1, Ordering::SeqCst);
        let marker = format!("write-{number:06}");
        let body = request.body.to_string().replace("{marker}", &marker);
        let body: Value = serde_json::from_str(&body).unwrap();
        let sender = Sender {
            token: request.token,
            key: request.has_key.then_some(marker.as_str()),
            seen: None,
        };
        self.notes.sent(&marker, request.kind);
        let (begun, mut is_unknown) = (Instant::now(), false);
        loop {
            let client = random.pick(&self.staff.clients).unwrap();
            let outcome = client.send("POST", &request.path, sender, &body);
            let is_final = match &outcome {
                Ok((200..300, answer)) => {
                    let made = answer["id"].as_str();
                    self.notes.answered(&marker, Fate::Acknowledged, made);
                    return;
                }
                Err(error) => {
                    is_unknown |= !was_not_taken(error);
                    false
                }
                Ok((status, answer)) => {
                    let code = answer["code"].as_str().unwrap_or_default();
                    is_unknown |= ["outcome_unknown", "request_in_progress"].contains(&code);
                    let is_final = *status < 500 && code != "request_in_progress";
                    if is_final || *status == 500 {
                        self.notes
                            .fault(format!("{} answered {status} {answer}", request.path));
                    }
                    is_final
                }
            };
            if is_final || !request.has_key || begun.elapsed() > STUBBORN {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
        let fate = if is_unknown {
            Fate::Unknown
        } else {
            Fate::Refused
        };
        self.notes.answered(&marker, fate, None);
    }

    /// An agent with a key, or the board, contends for the issue of the moment.
    fn contend(&self, random: Random, caller: Option<&(String, String)>) {
        let mut contender = Contender {
            clients: self.staff.clients.clone(),
            histories: self.histories,
            random,
        };
        let agent = caller.map(|(agent, _)| agent.as_str());
        let key = caller.map(|(_, key)| key.as_str());
        while !self.is_over.load(Ordering::SeqCst) {
            let pause = match self.contested() {
                Some(issue) => {
                    let deed = next(agent, &mut contender.random);
                    match contender.act(&issue, deed, key) {
                        Some(200..500) => 60,
                        _ => 200,
                    }
                }
                None => 200,
            };
            thread::sleep(Duration::from_millis(pause));
        }
    }

    /// Looks once more at what was contended for, so that what was acknowledged must still hold.
    /// Older issues are left out: the leases of keys end.
    pub(super) fn read_contested(&self) {
        let mut reader = Contender {
            clients: self.staff.clients.clone(),
            histories: self.histories,
            random: Random::new(self.seed),
        };
        for issue in self.histories.issues_since(RECENT) {
            reader.act(&issue, Deed::Read, None);
        }
    }

    /// The contested issue, a new one after so many deeds; `None` when none can be made now.
    fn contested(&self) -> Option<String> {
        let mut contested = self.contested.lock().unwrap();
        if contested.1 >= DEEDS {
            let path = format!("/api/companies/{}/issues", self.staff.company);
            let body = json!({ "title": "contested", "status": "todo" });
            let client = self.staff.clients.first()?;
            let answer = client.send("POST", &path, Sender::default(), &body);
            let (_, issue) = answer.ok().filter(|(status, _)| *status == 201)?;
            *contested = (id_of(&issue), 0);
        }
        contested.1 += 1;
        Some(contested.0.clone())
    }
}
