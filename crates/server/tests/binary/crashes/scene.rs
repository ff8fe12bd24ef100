//! The servers, and the company that they serve.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::agent::PROGRAM;
use crate::client::Client;
use crate::harness::{PATIENCE, Server, attachments_in, folder, free_address, script};
use crate::linearizability::{MASTER_KEY, id_of, key_of};
use crate::office::Database;

/// A lost lease is over after a minute, and what was lost is tried once more.
const QUIET_AFTER: Duration = Duration::from_secs(200);

/// Never used up, so that runs reserve what they may cost, and none is stopped.
const PLENTY: u64 = 100_000_000;

/// Who is there, and where they are reached.
#[derive(Clone, Debug)]
pub(super) struct Staff {
    pub(super) company: String,
    pub(super) project: String,
    /// Agents that work on issues.
    pub(super) workers: Vec<String>,
    /// An agent that its timer wakes.
    pub(super) timer: String,
    /// Agents that are never started, with a key.
    pub(super) keyed: Vec<(String, String)>,
    pub(super) clients: Vec<Client>,
}

/// A server, or the place of one.
pub(super) struct Place {
    folder: PathBuf,
    /// The same for all who serve here, as that of a service is.
    listen: String,
    server: Option<Server>,
    down_until: Instant,
}

/// All of it.
pub(super) struct Scene {
    // Dropped in this order: servers first.
    pub(super) places: Vec<Place>,
    pub(super) database: Database,
    pub(super) staff: Staff,
    logs: Vec<Arc<Mutex<String>>>,
    home: TempDir,
}

impl Scene {
    pub(super) fn open(database: Database) -> Self {
        let home = folder();
        fs::create_dir(home.path().join("notes")).unwrap();
        let mut logs = Vec::new();
        let places: Vec<Place> = (0..database.servers())
            .map(|number| {
                let mut place = Place {
                    folder: home.path().join(format!("data-{number}")),
                    listen: free_address(),
                    server: None,
                    down_until: Instant::now(),
                };
                fs::create_dir(&place.folder).unwrap();
                place.start(&database, &mut logs).unwrap();
                place
            })
            .collect();
        let staff = hire(&places, &home);
        Self {
            places,
            database,
            staff,
            logs,
            home,
        }
    }

    /// Kills the server of a place, unless it is down; false then.
    pub(super) fn kill_server(&mut self, place: usize, down_for: Duration) -> bool {
        let place = &mut self.places[place];
        let Some(server) = place.server.take() else {
            return false;
        };
        server.signal(Signal::SIGKILL);
        server.leave();
        place.down_until = Instant::now() + down_for;
        true
    }

    /// Starts the servers whose time has come again. One that cannot start, because its database
    /// recovers, is started anew, as a service is.
    pub(super) fn start_due(&mut self) {
        for place in &mut self.places {
            if place.server.is_none() && place.down_until <= Instant::now() {
                let _ = place.start(&self.database, &mut self.logs);
            }
        }
    }

    /// Starts all servers and waits until they can work.
    pub(super) fn start_all(&mut self) {
        let begun = Instant::now();
        while self.places.iter().any(|place| place.server.is_none()) {
            assert!(begun.elapsed() < PATIENCE, "a server does not start");
            for place in &mut self.places {
                place.down_until = Instant::now();
            }
            self.start_due();
        }
        for place in &self.places {
            place.server.as_ref().unwrap().wait_until_ready();
        }
    }

    /// Waits until no run waits or works any more.
    pub(super) fn wait_for_quiet(&self) -> Vec<String> {
        let server = self.server();
        let Staff { company, timer, .. } = &self.staff;
        let no_timer = json!({ "runtimeConfig": { "heartbeat": { "intervalSec": 0 } } });
        server.send("PATCH", &format!("/api/agents/{timer}"), None, &no_timer);
        let live = format!("/api/companies/{company}/live-runs");
        let begun = Instant::now();
        loop {
            // A killed program is a failed run, after which its agent waits.
            for agent in self.staff.workers.iter().chain([timer]) {
                let lift = format!("/api/agents/{agent}/runtime-state/lift-wait");
                server.send("POST", &lift, None, &json!({}));
            }
            let left = server.get(&live);
            let left = left.as_array().unwrap();
            if left.is_empty() {
                return Vec::new();
            }
            if begun.elapsed() > QUIET_AFTER {
                let tell = |run: &Value| format!("it waits or runs for ever: {run}");
                return left.iter().map(tell).collect();
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// One of the servers.
    pub(super) fn server(&self) -> &Server {
        self.places[0].server.as_ref().unwrap()
    }

    /// Where agents' programs wrote notes.
    pub(super) fn notes(&self) -> PathBuf {
        self.home.path().join("notes")
    }

    /// The data folders.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.places.iter().map(|place| &place.folder)
    }

    /// What all servers logged, each in a text.
    pub(super) fn logs(&self) -> Vec<String> {
        let logs = self.logs.iter();
        logs.map(|log| log.lock().unwrap().clone()).collect()
    }

    /// Leaves folders and logs to whoever looks for the cause.
    pub(super) fn keep(self) -> PathBuf {
        let logs = self.logs();
        drop(self.places);
        let home = self.home.keep();
        for (number, log) in logs.iter().enumerate() {
            fs::write(home.join(format!("server-{number}.log")), log).unwrap();
        }
        home
    }
}

impl Place {
    fn start(
        &mut self,
        database: &Database,
        logs: &mut Vec<Arc<Mutex<String>>>,
    ) -> Result<(), String> {
        let (name, place) = attachments_in(self.folder.parent().unwrap());
        let variables = [
            ("WORKFORCE_MASTER_KEY", MASTER_KEY),
            ("WORKFORCE_LISTEN", &self.listen),
            (name, &place),
        ];
        let server = Server::try_start_with(&self.folder, &database.flags(), &variables)?;
        logs.push(server.log());
        self.server = Some(server);
        Ok(())
    }
}

fn hire(places: &[Place], home: &TempDir) -> Staff {
    let server = places[0].server.as_ref().unwrap();
    let company = id_of(&server.post(
        "/api/companies",
        &json!({ "name": "Acme", "maxConcurrentRuns": 6, "budgetMonthlyCents": PLENTY }),
    ));
    let of_company = |what: &str| format!("/api/companies/{company}/{what}");
    let house = json!({ "name": "House", "budgetMonthlyCents": PLENTY });
    let project = id_of(&server.post(&of_company("projects"), &house));
    let program = script(home.path(), "agent.sh", PROGRAM);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let env = json!({ "NOTES": home.path().join("notes") });
    let agent = |name: &str, adapter: &str, config: &Value, heartbeat: &Value| {
        let agent = json!({
            "name": name, "role": "engineer", "adapterType": adapter,
            "budgetMonthlyCents": PLENTY,
            "adapterConfig": config, "runtimeConfig": { "heartbeat": heartbeat },
        });
        id_of(&server.post(&of_company("agents"), &agent))
    };
    let works = json!({ "command": program, "env": env, "graceSec": 2 });
    let workers = ["Ada", "Bob", "Cyd"]
        .map(|name| agent(name, "pi_local", &works, &json!({ "maxConcurrentRuns": 2 })));
    let beats = json!({
        "command": program, "args": ["timer"], "env": env, "graceSec": 2,
    });
    let every = json!({ "intervalSec": 30, "alwaysRun": true });
    let timer = agent("Tim", "process", &beats, &every);
    let keyed = ["Kim", "Lea", "Max"].map(|name| {
        let nothing = json!({ "command": "true" });
        let agent = agent(name, "process", &nothing, &json!({ "wakeOnDemand": false }));
        let key = key_of(server, &agent);
        (agent, key)
    });
    Staff {
        company,
        project,
        workers: workers.to_vec(),
        timer,
        keyed: keyed.to_vec(),
        clients: places
            .iter()
            .map(|place| Client::to(&format!("http://{}", place.listen)))
            .collect(),
    }
}
