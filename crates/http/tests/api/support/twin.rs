//! A second server.

use std::thread::JoinHandle;

use actix_web::dev::ServerHandle;
use actix_web::web::Data;
use serde_json::Value;
use ureq::http::Request;
use workforce_app::authenticate::AuthPolicy;
use workforce_http::{AllowedHosts, Ports, State};

use super::listen;

/// Another server on the same database, stopped when dropped.
pub(crate) struct Twin {
    pub(crate) base: String,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
}

impl Twin {
    pub(super) fn serve(ports: Ports, auth: AuthPolicy) -> Self {
        let state = Data::new(State::new(ports, auth, AllowedHosts::new([])));
        let (base, handle, thread) = listen(state);
        Self {
            base,
            handle,
            thread: Some(thread),
        }
    }

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
