//! A server with pages, and somebody who looks at them.

#[path = "headers.rs"]
mod headers;

use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::web::Data;
use tempfile::TempDir;
use ureq::http::{HeaderMap, Request};
use workforce_app::authenticate::{AuthMode, AuthPolicy};
use workforce_domain::adapter_check::{AdapterCheck, CheckName, CheckStatus};
use workforce_domain::id::InstanceId;
use workforce_domain::mocks::{
    MockAdapterChecks, MockEngineSignal, MockForgeWebhooks, MockGovernedWork,
};
use workforce_domain::port::{Clock, Store, WorktreeFuture};
use workforce_http::{AllowedHosts, Options, Ports, State, serve};
use workforce_testkit::ports;
use workforce_testkit::store::TestStore;

use self::headers::HEADERS;
use crate::logs::Logs;

/// A running server, stopped when dropped.
pub(crate) struct Board {
    base: String,
    client: ureq::Agent,
    /// What runs have written.
    pub(crate) logs: Arc<Logs>,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    _folders: [TempDir; 2],
    _store: TestStore,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) html: String,
}

impl Page {
    /// A header as text; empty when there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// The markup of a page that is there.
    #[track_caller]
    pub(crate) fn ok(&self) -> &str {
        assert_eq!(self.status, 200, "{}", self.html);
        &self.html
    }

    /// Where a form leads to.
    #[track_caller]
    pub(crate) fn leads_to(&self) -> &str {
        assert_eq!(self.status, 303, "{}", self.html);
        self.header("location")
    }

    /// The value of the first hidden field of this name.
    #[track_caller]
    pub(crate) fn hidden(&self, name: &str) -> &str {
        let field = format!(r#"name="{name}" value=""#);
        let (_, rest) = self.html.split_once(&field).unwrap();
        rest.split('"').next().unwrap()
    }
}

/// Turns functions that take a `&Board` into tests on both databases.
macro_rules! board_tests {
    (@made $store:ident) => { crate::support::Board::on($store) };
    (@made $store:ident $make:path) => { $make($store) };
    ($(fn $name:ident($board:ident $(= $make:path)?) $body:block)+) => {
        $(fn $name(store: workforce_testkit::store::TestStore) {
            let $board = &board_tests!(@made store $($make)?);
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
}
pub(crate) use board_tests;

impl Board {
    pub(crate) fn on(store: TestStore) -> Self {
        Self::known(store, AuthPolicy::LOCAL_TRUSTED)
    }

    /// A server that knows callers like this.
    pub(crate) fn known(store: TestStore, auth: AuthPolicy) -> Self {
        Self::set_up(store, auth, ports::clock(), |state| state)
    }

    /// The same with a clock, and with more that is set.
    pub(crate) fn set_up(
        store: TestStore,
        auth: AuthPolicy,
        clock: Arc<dyn Clock>,
        set: impl FnOnce(State) -> State,
    ) -> Self {
        let shared = store.shared();
        Self::over(shared, store, auth, clock, set)
    }

    /// The same with a store in front of that of the test.
    pub(crate) fn over(
        front: Arc<dyn Store>,
        store: TestStore,
        auth: AuthPolicy,
        clock: Arc<dyn Clock>,
        set: impl FnOnce(State) -> State,
    ) -> Self {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let mut engine = MockEngineSignal::new();
        engine.expect_nudge().returning(|| ());
        engine.expect_run_is_active().return_const(());
        engine.expect_scrubber_of().returning(|_| None);
        engine.expect_scrubber_of_token().returning(|_| None);
        engine.expect_is_dispatching().return_const(true);
        engine.expect_last_tick().return_const(None);
        engine.expect_instance_cap().return_const(4_i64);
        let mut governed = MockGovernedWork::new();
        let server: InstanceId = ports::ids().next().into();
        governed.expect_server().return_const(server);
        let logs = Arc::new(Logs::default());
        let nowhere = |_, _| -> WorktreeFuture<'static, _> { Box::pin(async { Ok(None) }) };
        governed.expect_addresses().returning(nowhere);
        let all = Ports {
            store: front,
            clock,
            ids: ports::ids(),
            tokens: ports::tokens(),
            vault: ports::vault(),
            prices: ports::prices(),
            instructions: ports::instruction_files(folders[0].path()),
            logs: Arc::clone(&logs) as _,
            objects: ports::objects(folders[1].path()),
            engine: Arc::new(engine),
            adapters: Arc::new(adapters()),
            governed: Arc::new(governed),
            webhooks: Arc::new(MockForgeWebhooks::new()),
        };
        let hosts = match auth.mode {
            AuthMode::LocalTrusted => AllowedHosts::new([]),
            AuthMode::Token => AllowedHosts::any(),
        };
        let state = Data::new(set(State::new(all, auth, hosts)));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let options = Options {
                    workers: 1,
                    store_connections: 2,
                    drain: Duration::from_secs(1),
                };
                let pages = workforce_board::pages();
                let server = serve(state, listener, options, pages).unwrap();
                sender.send(server.handle()).unwrap();
                server.await.unwrap();
            });
        });
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(Duration::from_secs(30)))
            .build();
        Self {
            base,
            client: config.new_agent(),
            logs,
            handle: receiver.recv().unwrap(),
            thread: Some(thread),
            _folders: folders,
            _store: store,
        }
    }

    /// Looks at a page as a browser does.
    pub(crate) fn get(&self, path: &str) -> Page {
        self.get_with(path, &[("Accept", "text/html,*/*;q=0.8")])
    }

    pub(crate) fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Page {
        let mut request = Request::get(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.answer(self.client.run(request.body(()).unwrap()).unwrap())
    }

    /// Sends a form as a browser does.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.post_with(path, &[("Sec-Fetch-Site", "same-origin")], fields)
    }

    pub(crate) fn post_with(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        fields: &[(&str, &str)],
    ) -> Page {
        let body = serde_html_form::to_string(fields).unwrap();
        let mut request = Request::post(format!("{}{path}", self.base))
            .header("Accept", "text/html")
            .header("Content-Type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.as_bytes()).unwrap();
        self.answer(self.client.run(request).unwrap())
    }

    /// Sends a form of a page with the key that the page has.
    pub(crate) fn send(&self, page: &str, path: &str, fields: &[(&str, &str)]) -> Page {
        let shown = self.get(page);
        let mut all = vec![("key", shown.hidden("key"))];
        all.extend_from_slice(fields);
        self.post(path, &all)
    }

    /// Founds a company, and tells where its pages are.
    pub(crate) fn found(&self, name: &str) -> String {
        let new = "/companies/new";
        self.send(new, new, &[("name", name)]).leads_to().to_owned()
    }

    /// The id of the first company, as the interface names it.
    pub(crate) fn company(&self) -> String {
        let id = self.told("/api/companies")[0]["id"].clone();
        id.as_str().unwrap().to_owned()
    }

    /// The body of an answer of the interface.
    pub(crate) fn told(&self, path: &str) -> serde_json::Value {
        let answer = self.get_with(path, &[]);
        serde_json::from_str(answer.ok()).unwrap()
    }

    /// Calls the interface.
    pub(crate) fn call(&self, path: &str, body: &serde_json::Value) -> serde_json::Value {
        self.call_with("POST", path, &[], body)
    }

    pub(crate) fn call_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &serde_json::Value,
    ) -> serde_json::Value {
        let (status, answer) = self.try_call(method, path, headers, body);
        assert!((200..300).contains(&status), "{path}: {answer}");
        serde_json::from_str(&answer).unwrap()
    }

    /// Calls the interface with what it may refuse.
    pub(crate) fn try_call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &serde_json::Value,
    ) -> (u16, String) {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.to_string()).unwrap();
        let mut response = self.client.run(request).unwrap();
        let answer = response.body_mut().read_to_string().unwrap();
        (response.status().as_u16(), answer)
    }

    /// Sends a file, from a page of this server or from elsewhere.
    pub(crate) fn attach(&self, path: &str, name: &str, bytes: &[u8], is_here: bool) -> Page {
        let mut body = format!(
            "--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n--x--\r\n");
        let site = if is_here { "same-origin" } else { "cross-site" };
        let request = Request::post(format!("{}{path}", self.base))
            .header("content-type", "multipart/form-data; boundary=x")
            .header("accept", "text/html")
            .header("sec-fetch-site", site);
        self.answer(self.client.run(request.body(body).unwrap()).unwrap())
    }

    /// The host and port that it listens on.
    pub(crate) fn host(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    fn answer(&self, mut response: ureq::http::Response<ureq::Body>) -> Page {
        let page = Page {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            html: String::from_utf8_lossy(&response.body_mut().read_to_vec().unwrap()).into_owned(),
        };
        // Compared on every answer, so that no page can lack them.
        if page.header("content-type").starts_with("text/html") {
            for (name, value) in HEADERS {
                assert_eq!(page.header(name), value, "{name}");
            }
            for tag in tags(&page.html) {
                let attributes = tag.split_ascii_whitespace().skip(1);
                let inline =
                    attributes.filter(|it| it.starts_with("style=") || it.starts_with("on"));
                assert_eq!(inline.count(), 0, "{tag}");
                assert!(!tag.starts_with("style"), "{tag}");
            }
        }
        page
    }
}

/// Looks at nothing, and finds that a command that is called `missing` is not there.
fn adapters() -> MockAdapterChecks {
    let mut adapters = MockAdapterChecks::new();
    adapters.expect_check().returning(|adapter| {
        let mut found = AdapterCheck::new(adapter.adapter_type);
        let command = adapter.adapter_config.get("command");
        let is_missing = command.is_some_and(|command| command == "missing");
        if is_missing {
            found.add(CheckName::Program, CheckStatus::Failed, "it is not there");
        } else {
            found.add(CheckName::Program, CheckStatus::Ok, "it is there");
        }
        Box::pin(async move { Ok(found) })
    });
    adapters
}

/// What stands between angle brackets, without what is quoted in it.
fn tags(html: &str) -> impl Iterator<Item = String> {
    let tags = html
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split('>').next());
    tags.map(|tag| tag.split('"').step_by(2).collect())
}

impl Drop for Board {
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
