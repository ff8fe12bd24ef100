//! What a server says that cannot do its work, and how it changes its master key.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use workforce_domain::port::{EngineSignal, EventFeed, Reads, Store, StoreError, Tx, Verdict};
use workforce_domain::time::Timestamp;
use workforce_http::Ports;
use workforce_testkit::ports;
use workforce_testkit::store::TestStore;
use workforce_vitals::{StorageArea, Vitals};

use crate::support::{Api, api_tests};
use crate::uploads;

/// An engine that does not look for work.
struct Stalled;

impl EngineSignal for Stalled {
    fn nudge(&self) {}

    fn is_dispatching(&self, _now: Timestamp) -> bool {
        false
    }
}

/// A store that fails like this whatever is asked of it.
struct Failing {
    store: Arc<dyn Store>,
    error: fn() -> StoreError,
}

impl Store for Failing {
    fn run_read(
        &self,
        _body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        Err((self.error)())
    }

    fn run_write(
        &self,
        _body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        Err((self.error)())
    }

    fn feed(&self) -> &dyn EventFeed {
        self.store.feed()
    }
}

fn failing(store: TestStore, error: fn() -> StoreError) -> Api {
    Api::through(store, |ports, _home| Ports {
        store: Arc::new(Failing {
            store: Arc::clone(&ports.store),
            error,
        }),
        ..ports
    })
}

/// A server whose store does not answer.
pub(crate) fn unreachable(store: TestStore) -> Api {
    failing(store, || StoreError::Unavailable("no route to host".into()))
}

/// A server whose store fails.
pub(crate) fn broken(store: TestStore) -> Api {
    failing(store, || StoreError::Failed("disk I/O error".into()))
}

/// A server whose database has no room.
pub(crate) fn full(store: TestStore) -> Api {
    failing(store, || StoreError::Full("no space left".into()))
}

/// A server on a disk with little room.
fn short(store: TestStore) -> Api {
    let vitals = Vitals::new(800);
    vitals.disk_space.see(StorageArea::Data, 799);
    Api::adjusted(store, |state| state.with_vitals(vitals))
}

/// A server with a task that ends again and again.
fn halting(store: TestStore) -> Api {
    let vitals = Vitals::default();
    let supervisor = vitals.supervisor.clone();
    std::thread::spawn(move || supervisor.keep_thread("relay", || false, || ()));
    Api::adjusted(store, |state| state.with_vitals(vitals))
}

/// A server on which every race is lost.
pub(crate) fn crowded(store: TestStore) -> Api {
    failing(store, || StoreError::Contended)
}

fn stalled(store: TestStore) -> Api {
    Api::through(store, |ports, _home| Ports {
        engine: Arc::new(Stalled),
        ..ports
    })
}

/// A server with a master key in a file.
fn with_a_key_file(store: TestStore) -> Api {
    let vault = |home: &Path| ports::vault_in(&home.join("master.key"));
    Api::through(store, |ports, home| Ports {
        vault: vault(home),
        ..ports
    })
}

const READY: &str = "/api/health/ready";

api_tests! {
    fn a_server_without_its_store_lives_and_is_not_ready(api = unreachable) {
        api.get("/api/health").ok(200);
        let answer = api.get(READY);
        answer.problem(503, "store_unavailable");
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert!(!answer.text.contains("no route to host"));
        api.get("/api/companies").problem(503, "store_unavailable");
    }

    fn a_server_with_a_broken_store_is_not_ready(api = broken) {
        api.get(READY).problem(503, "store_unavailable");
        api.get("/api/companies").problem(500, "internal");
    }

    fn a_server_whose_store_is_full_says_so(api = full) {
        for path in [READY, "/api/companies"] {
            let answer = api.get(path);
            let problem = answer.problem(503, "storage_full");
            assert_eq!(problem["retryable"], true);
            assert_eq!(answer.header("retry-after"), Some("6"));
            assert!(!answer.text.contains("no space left"));
        }
    }

    fn a_server_with_little_room_says_so_and_takes_no_uploads(api = short) {
        let problem = api.get(READY).problem(503, "storage_full");
        assert_eq!(
            problem["details"],
            json!({ "place": "data", "freeBytes": 799, "minFreeBytes": 800 })
        );
        let place = uploads::Place::of(api);
        place
            .send(api, &uploads::form(&[uploads::file("a.txt", b"hello")]))
            .problem(503, "storage_full");
        let metrics = api.get("/metrics").text;
        assert!(metrics.contains("workforce_storage_short 1\n"), "{metrics}");
    }

    fn a_server_with_a_task_that_is_down_says_so(api = halting) {
        // It runs for an instant now and then.
        let answer = (0..100)
            .map(|_| api.get(READY))
            .find(|answer| answer.status == 503)
            .unwrap();
        let problem = answer.problem(503, "task_down");
        assert_eq!(problem["details"], json!({ "tasks": ["relay"] }));
        let metrics = api.get("/metrics").text;
        assert!(metrics.contains("workforce_task_restarts_total{task=\"relay\"}"), "{metrics}");
    }

    fn a_server_whose_store_is_crowded_says_so(api = crowded) {
        for path in [READY, "/api/companies"] {
            let problem = api.get(path).problem(503, "contended");
            assert_eq!(problem["retryable"], true);
        }
    }

    fn a_server_whose_engine_stands_still_is_not_ready(api = stalled) {
        api.get(READY).problem(503, "engine_stalled");
        api.get("/api/companies").ok(200);
    }

    fn the_master_key_is_changed_once_at_a_time(api = with_a_key_file) {
        const PATH: &str = "/api/secrets/rotate-key";
        let before = api.get(PATH).ok(200);
        let keyed = [("Idempotency-Key", "change")];
        let begun = api.send("POST", PATH, &keyed, b"").ok(202);
        assert_eq!(begun["formerKeyIds"], json!([before["currentKeyId"]]));
        assert_ne!(begun["currentKeyId"], before["currentKeyId"]);
        // Who lost the answer gets it again, and causes no second change.
        let again = api.send("POST", PATH, &keyed, b"");
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!(again.ok(202), begun);
        api.send("POST", PATH, &keyed, br#"{"onlyServer":true}"#)
            .problem(422, "idempotency_key_reused");
        api.post(PATH, &json!({})).problem(409, "key_rotation_in_progress");
        assert_eq!(api.get(PATH).ok(200)["currentKeyId"], begun["currentKeyId"]);
    }
}
