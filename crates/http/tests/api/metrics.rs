//! What a scraper of Prometheus is told, read as it reads it.

mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use openmetrics_parser::OpenMetricsType;
use serde_json::json;
use workforce_app::authenticate::AuthPolicy;
use workforce_domain::port::{EventFeed, Reads, Store, StoreError, Tx, Verdict};
use workforce_http::Ports;
use workforce_testkit::store::TestStore;
use workforce_vitals::{StorageArea, Vitals};

use crate::readiness::unreachable;
use crate::support::{Api, api_tests, closed, id};
use told::{PATH, Told, values};

/// A server of which there is something to tell of every kind.
fn eventful(store: TestStore) -> Api {
    let vitals = Vitals::default();
    vitals.disk_space.see(StorageArea::Data, 7);
    vitals.runs.note_start();
    vitals.runs.note_end("failed", Some("wall_limit"));
    vitals.runs.note_end("succeeded", None);
    let supervisor = vitals.supervisor.clone();
    supervisor.keep_thread("relay", || true, || ());
    Api::adjusted(store, |state| state.with_vitals(vitals))
}

/// The metrics of the table in the documentation, with their types.
fn documented() -> BTreeMap<String, String> {
    const OPERATIONS: &str = include_str!("../../../../docs/operations.md");
    let rows = OPERATIONS.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `workforce_")?.split(" | ");
        let name = format!("workforce_{}", cells.next()?.trim_end_matches('`'));
        Some((name, cells.next()?.to_owned()))
    });
    rows.collect()
}

/// Counts reads, each of which takes so long.
struct Slow {
    store: Arc<dyn Store>,
    takes: Duration,
    reads: Arc<AtomicUsize>,
}

impl Store for Slow {
    fn run_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(self.takes);
        self.store.run_read(body)
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        self.store.run_write(body)
    }

    fn feed(&self) -> &dyn EventFeed {
        self.store.feed()
    }
}

/// A server whose store takes so long for each read, and how often it was read.
fn slowed(store: TestStore, takes: Duration) -> (Api, Arc<AtomicUsize>) {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let api = Api::through(store, move |ports, _home| Ports {
        store: Arc::new(Slow {
            store: Arc::clone(&ports.store),
            takes,
            reads: counted,
        }),
        ..ports
    });
    (api, reads)
}

fn hanging(store: TestStore) -> (Api, Arc<AtomicUsize>) {
    slowed(store, Duration::from_secs(6))
}

fn counting(store: TestStore) -> (Api, Arc<AtomicUsize>) {
    slowed(store, Duration::ZERO)
}

/// A server where every request needs a credential, but that of a scraper.
fn open(store: TestStore) -> Api {
    let nobody = AuthPolicy::token([0; 32]);
    Api::authenticating_and(store, nobody, |state| state.with_open_metrics(true))
}

api_tests! {
    fn every_family_is_as_prometheus_asks_and_as_it_is_documented(api = eventful) {
        let company = api.company("Acme");
        let ada = api.agent(&company, "Ada");
        let cost = json!({ "agentId": id(&ada), "provider": "p", "model": "m", "costCents": 1 });
        api.post(&format!("/api/companies/{}/cost-events", id(&company)), &cost).ok(201);
        let told = Told::by(api);
        let mut found = BTreeMap::new();
        for (name, family) in told.families() {
            assert!(name.starts_with("workforce_"), "{name}");
            let is_plain = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(name.chars().all(is_plain), "{name}");
            for part in ["total", "millis", "ms", "micros", "minutes", "count", "sum", "bucket"] {
                assert!(!name.ends_with(&format!("_{part}")), "{name}");
            }
            for (about, unit) in [("duration", "_seconds"), ("uptime", "_seconds"), ("free", "_bytes")] {
                assert!(!name.contains(about) || name.ends_with(unit), "{name}");
            }
            assert!(family.help.ends_with('.') && family.help.len() > 1, "{name}");
            assert!(family.iter_samples().count() > 0, "{name}");
            let (suffix, kind) = match family.family_type {
                OpenMetricsType::Counter => ("_total", "counter"),
                OpenMetricsType::Gauge => ("", "gauge"),
                OpenMetricsType::Histogram => ("", "histogram"),
                other => panic!("{name} is a {other:?}"),
            };
            found.insert(format!("{name}{suffix}"), kind.to_owned());
        }
        assert_eq!(found, documented());
        assert_eq!(told.value("workforce_runs_started"), 1.0);
        assert_eq!(
            told.family("workforce_runs_finished").get_label_names(),
            ["error_code", "status"]
        );
        assert_eq!(
            told.values("workforce_runs_finished"),
            values(&[("wall_limit,failed", 1.0), (",succeeded", 1.0)])
        );
        assert_eq!(told.values("workforce_task_up"), values(&[("relay", 1.0)]));
        assert_eq!(told.value("workforce_store_up"), 1.0);
        let connections = |which| told.value(&format!("workforce_store_connections_{which}"));
        assert!(connections("idle") <= connections("open"));
        assert!(1.0 <= connections("open") && connections("open") <= connections("max"));
    }

    fn what_goes_on_is_told(api) {
        let (acme, quiet) = (api.company("Acme"), api.company("Quiet"));
        let (ada, ben) = (api.agent(&acme, "Ada"), api.agent(&acme, "Ben"));
        for agent in [&ada, &ben] {
            api.post(&format!("/api/agents/{}/wakeup", id(agent)), &json!({})).ok(202);
        }
        api.post(&format!("/api/agents/{}/pause", id(&ben)), &json!({})).ok(200);
        let at = |part: &str| format!("/api/companies/{}/{part}", id(&acme));
        let cost = json!({ "agentId": id(&ada), "provider": "p", "model": "m", "costCents": 250.75 });
        api.post(&at("cost-events"), &cost).ok(201);
        let question = json!({ "type": "agent_question", "payload": { "question": "Which?" } });
        api.bearing(&api.key(&ada)).post(&at("approvals"), &question).ok(201);
        let issue = api.issue(&acme, &json!({ "title": "Work", "assigneeAgentId": id(&ada) }));
        let checkout = json!({ "agentId": id(&ada) });
        api.bearing(&api.key(&ada)).post(&format!("/api/issues/{}/checkout", id(&issue)), &checkout).ok(200);

        let told = Told::by(api);
        assert_eq!(told.value("workforce_companies"), 2.0);
        assert_eq!(told.value("workforce_live_runs"), 0.0);
        assert_eq!(told.value("workforce_issue_leases"), 1.0);
        let queued = told.present("workforce_queued_wakes");
        assert_eq!(queued.values().sum::<f64>(), told.value("workforce_pending_wakes"));
        assert_eq!(queued["nothing"], 1.0, "{queued:?}");
        assert_eq!(
            told.present("workforce_approvals_waiting"),
            values(&[("agent_question", 1.0)])
        );
        assert_eq!(told.values("workforce_stuck_issues").len(), 9);
        assert_eq!(
            told.values("workforce_company_month_spend_cents"),
            values(&[(id(&acme), 250.0)])
        );
        assert!(!api.get(PATH).text.contains(id(&quiet)));
    }

    fn requests_are_told_by_route_and_not_by_path(api) {
        let company = api.company("Acme");
        api.get(&format!("/api/companies/{}", id(&company))).ok(200);
        api.get(&format!("/api/companies/{}", id(&company))).ok(200);
        api.get("/made/up/1").problem(404, "route_not_found");
        api.get("/made/up/2").problem(404, "route_not_found");
        api.send("MADEUP", "/api/companies", &[], b"").problem(405, "method_not_allowed");
        let told = Told::by(api);
        let durations = told.values("workforce_http_request_duration_seconds");
        assert_eq!(
            told.family("workforce_http_request_duration_seconds").get_label_names(),
            ["method", "route"]
        );
        assert_eq!(durations["GET,/api/companies/{companyId}"], 2.0);
        assert_eq!(durations["GET,unmatched"], 2.0);
        assert_eq!(durations["other,/api/companies"], 1.0);
        let routes: BTreeSet<String> =
            workforce_http::routes::all().list().into_iter().map(|route| route.path).collect();
        for key in durations.keys() {
            let (_, route) = key.split_once(',').unwrap();
            assert!(route == "unmatched" || routes.contains(route), "{route}");
        }
        assert_eq!(told.present("workforce_http_requests")["4xx"], 3.0);
    }

    fn the_metrics_are_for_the_board(api = closed) {
        api.get(PATH).problem(401, "credential_missing");
        api.bearing("x").get(PATH).problem(401, "credential_invalid");
    }

    fn an_agent_is_told_no_metrics(api) {
        let ada = api.agent(&api.company("Acme"), "Ada");
        api.bearing(&api.key(&ada)).get(PATH).problem(403, "board_required");
    }

    fn open_metrics_are_for_everybody(api = open) {
        assert_eq!(Told::by(api).value("workforce_store_up"), 1.0);
        assert_eq!(api.bearing("x").get(PATH).status, 200);
        api.get("/api/companies").problem(401, "credential_missing");
    }

    fn who_asks_for_no_format_is_told_in_plain_text(api) {
        let told = api.get("/metrics");
        assert_eq!(told.header("content-type"), Some("text/plain; charset=utf-8"));
        assert!(told.text.contains("workforce_store_up 1"), "{}", told.text);
    }

    fn without_the_store_the_rest_is_told(api = unreachable) {
        let told = Told::by(api);
        assert_eq!(told.value("workforce_store_up"), 0.0);
        assert!(told.value("workforce_uptime_seconds") > 0.0);
        assert!(!told.families().contains_key("workforce_live_runs"));
    }

    fn a_store_that_stands_still_is_asked_once(server = hanging) {
        let (api, reads) = server;
        for _ in 0..2 {
            let began = Instant::now();
            assert_eq!(Told::by(api).value("workforce_store_up"), 0.0);
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        }
        assert_eq!(reads.load(Ordering::SeqCst), 1);
    }

    fn several_scrapers_ask_the_store_once(server = counting) {
        let (api, reads) = server;
        for _ in 0..3 {
            Told::by(api);
        }
        assert_eq!(reads.load(Ordering::SeqCst), 1);
    }
}
