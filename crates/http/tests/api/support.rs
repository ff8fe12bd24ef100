use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::web::Data;
use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::http::{HeaderMap, Request};
use workforce_app::authenticate::AuthPolicy;
use workforce_domain::id::{CompanyId, RunId};
use workforce_domain::port::{EngineSignal, LogError, LogSlice, RunLogs};
use workforce_http::{AllowedHosts, Options, Ports, State, serve};
use workforce_testkit::ports;
use workforce_testkit::store::TestStore;

use crate::{answers, described};

/// A running server, stopped when dropped.
pub(crate) struct Api {
    pub(crate) base: String,
    pub(crate) client: ureq::Agent,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    pub(crate) store: TestStore,
    pub(crate) state: Data<State>,
    pub(crate) signals: Arc<Signals>,
    pub(crate) logs: Arc<Digits>,
    /// Beneath it lie external instructions; `data` in it is the server's.
    pub(crate) home: TempDir,
    /// Where the bytes of attachments lie.
    pub(crate) objects: TempDir,
}

/// Counts how often the engine was told.
#[derive(Default)]
pub(crate) struct Signals(AtomicUsize);

impl Signals {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl EngineSignal for Signals {
    fn wake_up(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Every run wrote the digits over and over, this many bytes.
pub(crate) struct Digits(AtomicUsize);

impl Digits {
    /// From now on the logs are this long here.
    pub(crate) fn resize(&self, length: usize) {
        self.0.store(length, Ordering::SeqCst);
    }

    /// How long each of them is.
    pub(crate) fn length(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl RunLogs for Digits {
    fn read(
        &self,
        _company: CompanyId,
        _run: RunId,
        offset: u64,
        limit: u64,
    ) -> Result<LogSlice, LogError> {
        let mut log = "0123456789".repeat(10);
        log.truncate(self.length());
        let total = log.len() as u64;
        let (start, end) = (offset.min(total), offset.saturating_add(limit).min(total));
        let content = log[start as usize..end as usize].to_owned();
        Ok(LogSlice {
            content,
            next_offset: end,
            total,
        })
    }

    fn forget(&self, _company: CompanyId) -> Result<(), LogError> {
        self.resize(0);
        Ok(())
    }
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

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// An answer that may be anything.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Fetched {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The body of a success.
    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.header("content-type"), Some("application/json"));
        self.json()
    }

    /// The body of a problem, whose shape is checked.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json")
        );
        let body = self.json();
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(body["status"], status);
        assert_eq!(body["error"], body["detail"]);
        assert_eq!(body["type"], format!("urn:workforce:problem:{code}"));
        assert_eq!(body["requestId"].as_str(), self.header("x-request-id"));
        body
    }
}

impl Api {
    /// A server on this store where a request without a credential is the
    /// board's.
    pub(crate) fn on(store: TestStore) -> Self {
        Self::authenticating(store, AuthPolicy::LOCAL_TRUSTED)
    }

    /// A server on this store that knows callers like this.
    pub(crate) fn authenticating(store: TestStore, auth: AuthPolicy) -> Self {
        Self::start(store, auth, |ports, _home| ports, |state| state)
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
            instructions: ports::instruction_files(self.home.path()),
            logs: Arc::clone(&self.logs) as Arc<dyn RunLogs>,
            objects: ports::objects(self.objects.path()),
            engine: Arc::clone(&self.signals) as Arc<dyn EngineSignal>,
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
        let logs = Arc::new(Digits(AtomicUsize::new(100)));
        let ports = Ports {
            store: store.shared(),
            clock: ports::clock(),
            ids: ports::ids(),
            tokens: ports::tokens(),
            vault: ports::vault(),
            instructions: ports::instruction_files(home.path()),
            logs: Arc::clone(&logs) as Arc<dyn RunLogs>,
            objects: ports::objects(objects.path()),
            engine: Arc::clone(&signals) as Arc<dyn EngineSignal>,
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
            logs,
            home,
            objects,
        }
    }

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
                blocking_threads: 4,
                drain: Duration::from_secs(1),
            };
            let server = serve(state, listener, options).unwrap();
            sender.send(server.handle()).unwrap();
            server.await.unwrap();
        });
    });
    (base, receiver.recv().unwrap(), thread)
}

/// Another server on the same database, stopped when dropped.
pub(crate) struct Twin {
    pub(crate) base: String,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

impl Twin {
    fn serve(ports: Ports, auth: AuthPolicy) -> Self {
        let state = Data::new(State::new(ports, auth, AllowedHosts::new([])));
        let (base, handle, thread) = listen(state);
        Self {
            base,
            handle,
            thread: Some(thread),
        }
    }
}

impl Twin {
    /// Asks this server with a credential; the body of a success.
    #[track_caller]
    pub(crate) fn ask(&self, method: &str, path: &str, token: &str) -> Value {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("Authorization", format!("Bearer {token}"));
        let agent = config.build().new_agent();
        let mut response = agent.run(request.body(()).unwrap()).unwrap();
        assert!(response.status().is_success(), "{method} {path}");
        serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap()
    }
}

impl Drop for Twin {
    fn drop(&mut self) {
        drop(self.handle.stop(false));
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            if !std::thread::panicking() {
                ended.unwrap();
            }
        }
    }
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

/// The id of a record.
#[track_caller]
pub(crate) fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap()
}

/// An id that names nothing.
pub(crate) const NOTHING: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
