//! What breaks within the engine, and what it is told to wait for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use workforce_app::activity;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{
    ActivityFilter, EventFeed, MintedToken, Reads, Store, StoreError, TokenKind, Tokens, Tx,
    Verdict,
};
use workforce_domain::run::RunStatus;
use workforce_domain::string_enum::StringEnum;
use workforce_engine::{Engine, Ports};
use workforce_testkit::store::postgres_store;
use workforce_vitals::{StorageArea, Supervisor, Vitals};

use crate::support::{House, UNTIL_GO, eventually};

/// Credentials whose making panics the first times.
struct FragileTokens {
    inner: Arc<dyn Tokens>,
    panics: AtomicUsize,
}

impl Tokens for FragileTokens {
    fn mint(&self, kind: TokenKind) -> MintedToken {
        let left = |left: usize| left.checked_sub(1);
        let more = self
            .panics
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left);
        assert!(more.is_err(), "no token can be made");
        self.inner.mint(kind)
    }

    fn digest(&self, token: &str) -> [u8; 32] {
        self.inner.digest(token)
    }
}

/// A store whose writes panic while it is told to.
struct PanickingStore {
    inner: Arc<dyn Store>,
    panics: AtomicBool,
    seen: AtomicUsize,
}

impl Store for PanickingStore {
    fn run_read(
        &self,
        body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        self.inner.run_read(body)
    }

    fn run_write(
        &self,
        body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        if self.panics.load(Ordering::SeqCst) {
            self.seen.fetch_add(1, Ordering::SeqCst);
            panic!("the store is wrong");
        }
        self.inner.run_write(body)
    }

    fn feed(&self) -> &dyn EventFeed {
        self.inner.feed()
    }
}

fn restarts(supervisor: &Supervisor, name: &str) -> u64 {
    let tasks = supervisor.tasks();
    let task = tasks.iter().find(|task| task.name == name);
    task.expect("a task of this name").restarts
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispatcher_that_panics_is_started_again() {
    let house = House::new();
    let config = house.config();
    let supervisor = config.vitals.supervisor.clone();
    let tokens = FragileTokens {
        inner: Arc::clone(&house.ports.tokens),
        panics: AtomicUsize::new(2),
    };
    let ports = Ports {
        tokens: Arc::new(tokens),
        ..house.ports.clone()
    };
    let engine = Engine::start(config, ports);
    let agent = house.hire_shell("true");
    let run = house.ended(house.invoke(agent).run.id).await;
    assert_eq!(run.status, RunStatus::Succeeded);
    assert_eq!(restarts(&supervisor, "dispatcher"), 2);
    for other in ["housekeeping", "renewal", "log-events", "room"] {
        assert_eq!(restarts(&supervisor, other), 0, "{other}");
    }
    engine.shutdown().await;
    assert!(supervisor.tasks().iter().all(|task| !task.is_down));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_run_outlives_a_store_that_panics() {
    let house = House::new();
    let store = Arc::new(PanickingStore {
        inner: Arc::clone(&house.ports.store),
        panics: AtomicBool::new(false),
        seen: AtomicUsize::new(0),
    });
    let ports = Ports {
        store: Arc::clone(&store) as Arc<dyn Store>,
        ..house.ports.clone()
    };
    let engine = Engine::start(house.config(), ports);
    let agent = house.hire_shell(UNTIL_GO);
    let run = house.invoke(agent).run.id;
    house.file("ready").await;
    store.panics.store(true, Ordering::SeqCst);
    house.go();
    eventually("writes that panic", || {
        (store.seen.load(Ordering::SeqCst) > 5).then_some(())
    })
    .await;
    store.panics.store(false, Ordering::SeqCst);
    assert_eq!(house.ended(run).await.status, RunStatus::Succeeded);
    eventually("a free slot", || (engine.live_runs() == 0).then_some(())).await;
    let next = house.ended(house.invoke(agent).run.id).await;
    assert_eq!(next.status, RunStatus::Succeeded);
    engine.shutdown().await;
}

/// How often the activity of the house tells this.
fn told(house: &House, action: &str) -> usize {
    let page = PageRequest::first();
    let filter = ActivityFilter::default();
    let rows = house.act(|tx, ctx| activity::list(tx.reads(), ctx, house.company, &filter, &page));
    let rows = rows.items.iter();
    rows.filter(|row| row.action.as_str() == action).count()
}

async fn starts_only_with_room(house: House) {
    let mut config = house.config();
    config.vitals = Vitals::new(800);
    let room = config.vitals.disk_space.clone();
    room.see(StorageArea::Data, 799);
    let engine = house.start_with(config);
    let agent = house.hire_shell("true");
    let waiting = house.invoke(agent).run.id;
    eventually("the activity", || {
        (told(&house, "storage.low") == 1).then_some(())
    })
    .await;
    // The dispatcher has looked since, and found no place to start it.
    let seen = engine.last_tick();
    eventually("another look", || {
        engine.last_tick().filter(|tick| Some(*tick) > seen)
    })
    .await;
    assert_eq!(house.run(waiting).status, RunStatus::Queued);
    room.see(StorageArea::Data, 900);
    assert_eq!(house.ended(waiting).await.status, RunStatus::Succeeded);
    eventually("the activity", || {
        (told(&house, "storage.recovered") == 1).then_some(())
    })
    .await;
    assert_eq!(told(&house, "storage.low"), 1, "told once");
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_starts_without_room() {
    starts_only_with_room(House::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_starts_without_room_on_postgres() {
    if let Some(store) = postgres_store() {
        starts_only_with_room(House::on(store)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_looked_at_before_the_first_run_starts() {
    let house = House::new();
    let mut config = house.config();
    // More than any disk has.
    config.vitals = Vitals::new(u64::MAX);
    config.watched_folders = vec![(StorageArea::Data, house.path(""))];
    let room = config.vitals.disk_space.clone();
    let agent = house.hire_shell("true");
    let waiting = house.invoke(agent).run.id;
    let engine = house.start_with(config);
    assert!(room.shortage().is_some_and(|it| it.free_bytes.is_some()));
    eventually("a look", || engine.last_tick()).await;
    assert_eq!(house.run(waiting).status, RunStatus::Queued);
    engine.shutdown().await;
}
