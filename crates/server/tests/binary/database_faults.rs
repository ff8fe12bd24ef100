//! PostgreSQL fails while the server lives.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use workforce_testkit::postgres::{
    Proxy, Stop, TestDatabase, migrated_database, own_cluster, shared_cluster_url,
};

use crate::harness::{Server, folder};

/// How many clients write meanwhile.
const CLIENTS: usize = 4;
/// What each of them writes at least before something fails, and again afterwards.
const SOME: usize = 5;

/// A server on a PostgreSQL database, with a company and an agent whose runs end
/// at once.
pub(crate) struct Office {
    pub(crate) server: Server,
    pub(crate) company: String,
    pub(crate) agent: String,
    pub(crate) database: TestDatabase,
    _data: TempDir,
}

impl Office {
    /// Opens on this database.
    pub(crate) fn on(database: TestDatabase) -> Self {
        let url = database.url().to_owned();
        Self::reaching(database, &url)
    }

    /// Opens on this database, which is reached at another URL than its own.
    pub(crate) fn reaching(database: TestDatabase, url: &str) -> Self {
        let data = folder();
        let server = Server::start_with(data.path(), &["--database-url", url], &[]);
        let company = server.post("/api/companies", &json!({ "name": "Acme" }));
        let company = company["id"].as_str().unwrap().to_owned();
        let agent = server.post(
            &format!("/api/companies/{company}/agents"),
            &json!({ "name": "Ada", "role": "engineer", "adapterConfig": { "command": "true" } }),
        );
        Self {
            server,
            agent: agent["id"].as_str().unwrap().to_owned(),
            company,
            database,
            _data: data,
        }
    }

    pub(crate) fn issues(&self) -> String {
        format!("/api/companies/{}/issues", self.company)
    }

    /// The titles of all issues, as the database has them.
    pub(crate) fn titles(&self) -> Vec<String> {
        self.database.texts("SELECT title AS line FROM issues")
    }

    /// Waits until the server is ready, and then that a run is started and ends.
    pub(crate) fn works_again(&self) {
        self.server.wait_until_ready();
        let invoke = format!("/api/agents/{}/heartbeat/invoke", self.agent);
        let run = self.server.post(&invoke, &json!({}));
        let run = format!("/api/heartbeat-runs/{}", run["id"].as_str().unwrap());
        self.server
            .wait_for(&run, |run| run["status"] == "succeeded");
    }
}

/// What clients were told while they wrote issues, by title.
#[derive(Default)]
struct Told {
    made: Mutex<BTreeSet<String>>,
    unknown: Mutex<BTreeSet<String>>,
}

impl Told {
    fn count(&self) -> usize {
        self.made.lock().unwrap().len()
    }

    /// Waits until so many more issues were made.
    fn wait_for_more(&self, more: usize) {
        let before = self.count();
        let begun = std::time::Instant::now();
        while self.count() < before + more {
            assert!(
                begun.elapsed() < crate::harness::PATIENCE,
                "nothing is written"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Writes issues one after the other until it is enough. What was not done is sent again, and
    /// what nobody knows about is not.
    fn write(&self, office: &Office, client: &str, enough: &AtomicBool) {
        for number in 0.. {
            let title = format!("{client} {number}");
            loop {
                if enough.load(Ordering::SeqCst) {
                    return;
                }
                let body = json!({ "title": title });
                let (status, answer) = office.server.send("POST", &office.issues(), None, &body);
                match (status, answer["code"].as_str()) {
                    (201, _) => {
                        self.made.lock().unwrap().insert(title);
                        break;
                    }
                    (503, Some("outcome_unknown")) => {
                        self.unknown.lock().unwrap().insert(title);
                        break;
                    }
                    (503, Some("store_unavailable" | "contended")) => {}
                    _ => panic!("{status} {answer}"),
                }
            }
        }
    }
}

/// Lets clients write while `fault` happens, and looks that they were told the truth. What they
/// write is named after the fault.
fn under_load(office: &Office, named: &str, fault: impl FnOnce(&Told)) {
    let (told, enough) = (Told::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (told, enough) = (&told, &enough);
            scope.spawn(move || told.write(office, &format!("{named} {client}"), enough));
        }
        // However it ends, the clients end.
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            told.wait_for_more(SOME);
            fault(&told);
            told.wait_for_more(SOME);
        }));
        enough.store(true, Ordering::SeqCst);
        if let Err(panic) = ended {
            std::panic::resume_unwind(panic);
        }
    });
    office.works_again();
    let mut titles = office.titles();
    titles.retain(|title| title.starts_with(named));
    let stored: BTreeSet<String> = titles.iter().cloned().collect();
    assert_eq!(stored.len(), titles.len(), "something was made twice");
    let made = told.made.into_inner().unwrap();
    let unknown = told.unknown.into_inner().unwrap();
    let lost: Vec<_> = made.difference(&stored).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    let denied: Vec<_> = stored
        .iter()
        .filter(|title| !made.contains(*title) && !unknown.contains(*title))
        .collect();
    assert!(denied.is_empty(), "told as not made: {denied:?}");
}

pub(crate) fn database() -> Option<TestDatabase> {
    shared_cluster_url().map(|url| migrated_database(&url))
}

#[test]
fn connections_that_are_closed_under_load_are_replaced() {
    let Some(database) = database() else { return };
    let office = Office::on(database);
    under_load(&office, "closed", |told| {
        for _ in 0..8 {
            office.database.close_connections();
            told.wait_for_more(1);
        }
    });
}

#[test]
fn a_database_that_is_restarted_is_found_again() {
    let Some(mut cluster) = own_cluster() else {
        return;
    };
    let database = migrated_database(cluster.url());
    let office = Office::on(database);
    for stop in [Stop::Fast, Stop::Immediate] {
        under_load(&office, &format!("{stop:?}"), |_| {
            cluster.restart(stop).unwrap();
        });
    }
}

#[test]
fn a_database_that_stands_still_is_waited_for() {
    let Some(database) = database() else { return };
    let line = Proxy::to(database.url());
    let office = Office::reaching(database, line.url());
    under_load(&office, "frozen", |_| {
        line.freeze();
        // It is a fault that lasts, not something to wait for.
        thread::sleep(Duration::from_secs(2));
        line.thaw();
    });
}

#[test]
fn readiness_does_not_wait_for_a_database_that_stands_still() {
    let Some(database) = database() else { return };
    let line = Proxy::to(database.url());
    let office = Office::reaching(database, line.url());
    let ready = || {
        let path = "/api/health/ready";
        office.server.send("GET", path, None, &json!(null))
    };
    assert_eq!(ready().0, 200);
    line.freeze();
    let (status, answer) = ready();
    assert_eq!(status, 503, "{answer}");
    assert_eq!(answer["code"], "store_unavailable");
    line.thaw();
    assert_eq!(ready().0, 200);
}
