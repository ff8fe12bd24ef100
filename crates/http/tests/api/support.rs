//! A server of the whole interface, and what asks it.

mod answer;
mod requests;
mod stand_ins;
mod steps;
mod twin;

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::web::Data;
use serde_json::Value;
use tempfile::TempDir;
use workforce_app::authenticate::AuthPolicy;
use workforce_domain::port::{AdapterChecks, EngineSignal, ForgeWebhooks, GovernedWork, RunLogs};
use workforce_http::door::Pages;
use workforce_http::{AllowedHosts, Options, Ports, State, serve};
use workforce_testkit::ports;
use workforce_testkit::store::TestStore;

pub(crate) use self::answer::{Answer, Fetched};
pub(crate) use self::requests::Bearing;
pub(crate) use self::stand_ins::{Digits, FitAdapters, Signals, Webhooks};
pub(crate) use self::steps::{Overtaker, Steps};
pub(crate) use self::twin::Twin;
use crate::answers;

/// A running server, stopped when dropped.
pub(crate) struct Api {
    pub(crate) base: String,
    pub(crate) client: ureq::Agent,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    pub(crate) store: TestStore,
    pub(crate) state: Data<State>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) adapters: Arc<FitAdapters>,
    pub(crate) steps: Arc<Steps>,
    pub(crate) webhooks: Arc<Webhooks>,
    pub(crate) logs: Arc<Digits>,
    /// Beneath it lie external instructions; `data` in it is the server's.
    pub(crate) home: TempDir,
    /// Where the bytes of attachments lie.
    pub(crate) objects: TempDir,
}

/// Turns functions that take an `&Api` into tests on both databases: each `name` becomes
/// `sqlite::name` and `postgres::name`. Once per module, since it declares those two.
///
/// `fn name(api)` gets a server as [`Api::on`] starts it, `fn name(api = start)` one that the
/// function `start` makes of the store.
macro_rules! api_tests {
    ($($(#[$meta:meta])* fn $name:ident($api:ident $(= $start:expr)?) $body:block)+) => {
        $($(#[$meta])* fn $name(store: workforce_testkit::store::TestStore) {
            let $api = &crate::support::api_tests!(@start store $($start)?);
            $body
        })+

        mod sqlite {
            $(#[test]
            fn $name() {
                super::$name(workforce_testkit::store::sqlite_store());
            })+
        }

        mod postgres {
            $(#[test]
            fn $name() {
                if let Some(store) = workforce_testkit::store::postgres_store() {
                    super::$name(store);
                }
            })+
        }
    };
    (@start $store:ident) => { crate::support::Api::on($store) };
    (@start $store:ident $start:expr) => { $start($store) };
}
pub(crate) use api_tests;

/// As long as a [`hasty`] server gives a body.
pub(crate) const HASTE: Duration = Duration::from_millis(500);

/// A server on which bodies must arrive soon.
pub(crate) fn hasty(store: TestStore) -> Api {
    Api::adjusted(store, |state| state.with_body_deadline(HASTE))
}

/// A server where every request needs a credential, and nobody has one.
pub(crate) fn closed(store: TestStore) -> Api {
    Api::authenticating(store, AuthPolicy::token([0; 32]))
}

impl Api {
    /// A server on this store where a request without a credential is the
    /// board's.
    pub(crate) fn on(store: TestStore) -> Self {
        Self::authenticating(store, AuthPolicy::LOCAL_TRUSTED)
    }

    /// A server on this store that knows callers like this.
    pub(crate) fn authenticating(store: TestStore, auth: AuthPolicy) -> Self {
        Self::authenticating_and(store, auth, |state| state)
    }

    /// The same with other settings.
    pub(crate) fn authenticating_and(
        store: TestStore,
        auth: AuthPolicy,
        adjust: impl FnOnce(State) -> State,
    ) -> Self {
        Self::start(store, auth, |ports, _home| ports, adjust)
    }

    /// A server as [`on`](Self::on) starts it, with other settings.
    pub(crate) fn adjusted(store: TestStore, adjust: impl FnOnce(State) -> State) -> Self {
        Self::start(
            store,
            AuthPolicy::LOCAL_TRUSTED,
            |ports, _home| ports,
            adjust,
        )
    }

    /// A server as [`on`](Self::on) starts it, through other ports; it has a
    /// folder of its own.
    pub(crate) fn through(store: TestStore, change: impl FnOnce(Ports, &Path) -> Ports) -> Self {
        Self::start(store, AuthPolicy::LOCAL_TRUSTED, change, |state| state)
    }

    /// A connection to it.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.base.trim_start_matches("http://")).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream
    }

    /// A second server on the database of this one.
    pub(crate) fn twin(&self) -> Twin {
        let ports = Ports {
            store: self.store.beside(),
            ..self.state_ports()
        };
        Twin::serve(ports, AuthPolicy::LOCAL_TRUSTED)
    }

    /// A second server on the store of this one, where every request needs a
    /// credential; `start_token` is the board's.
    pub(crate) fn demanding(&self, start_token: &str) -> Twin {
        let digest = ports::tokens().digest(start_token);
        Twin::serve(self.state_ports(), AuthPolicy::token(digest))
    }

    fn state_ports(&self) -> Ports {
        Ports {
            store: self.store.shared(),
            clock: ports::clock(),
            ids: ports::ids(),
            tokens: ports::tokens(),
            vault: ports::vault(),
            prices: ports::prices(),
            instructions: ports::instruction_files(self.home.path()),
            logs: Arc::clone(&self.logs) as Arc<dyn RunLogs>,
            objects: ports::objects(self.objects.path()),
            engine: Arc::clone(&self.signals) as Arc<dyn EngineSignal>,
            adapters: Arc::clone(&self.adapters) as Arc<dyn AdapterChecks>,
            governed: Arc::clone(&self.steps) as Arc<dyn GovernedWork>,
            webhooks: Arc::clone(&self.webhooks) as Arc<dyn ForgeWebhooks>,
        }
    }

    fn start(
        store: TestStore,
        auth: AuthPolicy,
        change: impl FnOnce(Ports, &Path) -> Ports,
        adjust: impl FnOnce(State) -> State,
    ) -> Self {
        let home = tempfile::tempdir().unwrap();
        let objects = tempfile::tempdir().unwrap();
        let signals = Arc::new(Signals::default());
        let adapters = Arc::new(FitAdapters::default());
        let steps = Arc::new(Steps::on(store.shared()));
        let webhooks = Arc::new(Webhooks::default());
        let logs = Arc::new(Digits::new(100));
        let ports = Ports {
            store: store.shared(),
            clock: ports::clock(),
            ids: ports::ids(),
            tokens: ports::tokens(),
            vault: ports::vault(),
            prices: ports::prices(),
            instructions: ports::instruction_files(home.path()),
            logs: Arc::clone(&logs) as Arc<dyn RunLogs>,
            objects: ports::objects(objects.path()),
            engine: Arc::clone(&signals) as Arc<dyn EngineSignal>,
            adapters: Arc::clone(&adapters) as Arc<dyn AdapterChecks>,
            governed: Arc::clone(&steps) as Arc<dyn GovernedWork>,
            webhooks: Arc::clone(&webhooks) as Arc<dyn ForgeWebhooks>,
        };
        let hosts = AllowedHosts::new(["board.example".to_owned()]);
        let ports = change(ports, home.path());
        let state = Data::new(adjust(State::new(ports, auth, hosts)));
        let (base, handle, thread) = listen(state.clone());
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .allow_non_standard_methods(true)
            .timeout_global(Some(Duration::from_secs(30)))
            .build();
        Self {
            base,
            client: config.new_agent(),
            handle,
            thread: Some(thread),
            store,
            state,
            signals,
            adapters,
            steps,
            webhooks,
            logs,
            home,
            objects,
        }
    }
}

/// A server that listens until its handle stops it.
fn listen(state: Data<State>) -> (String, ServerHandle, JoinHandle<()>) {
    answers::note();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let options = Options {
                workers: 2,
                store_connections: 4,
                drain: Duration::from_secs(1),
            };
            let server = serve(state, listener, options, Pages::NONE).unwrap();
            sender.send(server.handle()).unwrap();
            server.await.unwrap();
        });
    });
    (base, receiver.recv().unwrap(), thread)
}

impl Drop for Api {
    fn drop(&mut self) {
        // Told from outside of its runtime, so there is nothing to await.
        drop(self.handle.stop(false));
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            if !std::thread::panicking() {
                ended.unwrap();
            }
        }
    }
}

/// The id of a record.
#[track_caller]
pub(crate) fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap()
}

/// An id that names nothing.
pub(crate) const NOTHING: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
