//! A server with pages, and somebody who looks at them.

use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::web::Data;
use tempfile::TempDir;
use ureq::http::{HeaderMap, Request};
use workforce_app::authenticate::AuthPolicy;
use workforce_domain::id::InstanceId;
use workforce_domain::mocks::{
    MockAdapterChecks, MockForgeWebhooks, MockGovernedWork, MockRunLogs,
};
use workforce_domain::port::{Clock, EngineSignal};
use workforce_http::{AllowedHosts, Options, Ports, State, serve};
use workforce_testkit::ports;
use workforce_testkit::store::TestStore;

/// A running server, stopped when dropped.
pub(crate) struct Board {
    base: String,
    client: ureq::Agent,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    _folders: [TempDir; 2],
    _store: TestStore,
}

/// Nothing starts by itself.
struct NoEngine;

impl EngineSignal for NoEngine {
    fn nudge(&self) {}
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
    ($(fn $name:ident($board:ident) $body:block)+) => {
        $(fn $name(store: workforce_testkit::store::TestStore) {
            let $board = &crate::support::Board::on(store);
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
        Self::at(store, auth, ports::clock())
    }

    /// A server at the time that this clock tells.
    pub(crate) fn at(store: TestStore, auth: AuthPolicy, clock: Arc<dyn Clock>) -> Self {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let mut governed = MockGovernedWork::new();
        let server: InstanceId = ports::ids().next().into();
        governed.expect_server().return_const(server);
        let all = Ports {
            store: store.shared(),
            clock,
            ids: ports::ids(),
            tokens: ports::tokens(),
            vault: ports::vault(),
            prices: ports::prices(),
            instructions: ports::instruction_files(folders[0].path()),
            logs: Arc::new(MockRunLogs::new()),
            objects: ports::objects(folders[1].path()),
            engine: Arc::new(NoEngine),
            adapters: Arc::new(MockAdapterChecks::new()),
            governed: Arc::new(governed),
            webhooks: Arc::new(MockForgeWebhooks::new()),
        };
        let hosts = AllowedHosts::new([]);
        let state = Data::new(State::new(all, auth, hosts));
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
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.to_string()).unwrap();
        let mut response = self.client.run(request).unwrap();
        let answer = response.body_mut().read_to_string().unwrap();
        assert!(response.status().is_success(), "{path}: {answer}");
        serde_json::from_str(&answer).unwrap()
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
            let policy = page.header("content-security-policy");
            assert!(policy.starts_with("default-src 'none'"), "{policy}");
            assert!(!policy.contains("unsafe"), "{policy}");
            assert_eq!(page.header("cache-control"), "no-store");
            assert_eq!(page.header("x-frame-options"), "DENY");
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
