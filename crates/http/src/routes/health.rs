use actix_web::HttpResponse;
use actix_web::http::header;
use serde::Serialize;
use utoipa::ToSchema;
use workforce_app::authenticate::AuthMode;
use workforce_app::{Code, Codes, Failure};
use workforce_domain::actor::InstanceScope;
use workforce_domain::port::StoreError;

use crate::exchange::Exchange;
use crate::problem::Problem;
use crate::registry::{Access, Endpoints};
use crate::schema;

const TAG: &str = "Health";

/// What a server that cannot work says.
const READY: Codes = Codes::of(&[Code::Contended, Code::EngineStalled, Code::StoreUnavailable]);

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_health, Access::Public, Codes::NONE, health)
        .add(__path_ready, Access::Public, READY, ready)
        .add(__path_metrics, Access::Public, Codes::NONE, metrics)
}

/// What a health check tells.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Health {
    /// `ok` or `ready`.
    status: &'static str,
    /// The version of the server.
    version: &'static str,
    /// `local_trusted` where a request without a credential is the board's,
    /// `token` where every request needs one.
    #[schema(value_type = schema::AuthMode)]
    deployment_mode: AuthMode,
    /// Seconds since the server started.
    uptime_seconds: u64,
}

impl Health {
    fn of(exchange: &Exchange, status: &'static str) -> HttpResponse {
        let state = &*exchange.state;
        let uptime = state.ports.clock.now().since(state.started_at);
        HttpResponse::Ok()
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .json(Self {
                status,
                version: env!("CARGO_PKG_VERSION"),
                deployment_mode: state.auth.mode,
                uptime_seconds: uptime.as_secs(),
            })
    }
}

/// Tells that the server answers.
#[utoipa::path(get, path = "/api/health", tag = TAG, operation_id = "getHealth",
    responses((status = 200, description = "It answers.", body = Health)))]
async fn health(exchange: Exchange) -> HttpResponse {
    Health::of(&exchange, "ok")
}

/// Tells that the server can do its work: its store answers, and its engine
/// looks for runs to start.
#[utoipa::path(get, path = "/api/health/ready", tag = TAG, operation_id = "getReadiness",
    responses((status = 200, description = "It can work.", body = Health)))]
async fn ready(exchange: Exchange) -> HttpResponse {
    let store = exchange.state.ports.store.clone();
    let probe = move || {
        store.read(|reads| -> Result<(), Failure<Problem>> {
            Ok(reads
                .companies()
                .prefixes(InstanceScope::SYSTEM, "-")
                .map(|_none| ())?)
        })
    };
    let outcome = actix_web::web::block(probe).await;
    let ports = &exchange.state.ports;
    match outcome {
        Ok(Ok(())) if !ports.engine.is_dispatching(ports.clock.now()) => {
            let detail = "the engine does not look for runs to start at the moment";
            Problem::new(Code::EngineStalled, detail).answer(&exchange.incoming.request_id)
        }
        Ok(Ok(())) => Health::of(&exchange, "ready"),
        Ok(Err(Failure::Store(error))) => {
            let problem = match error {
                StoreError::Failed(cause) => StoreError::Unavailable(cause).into(),
                other => Problem::from(other),
            };
            problem.answer(&exchange.incoming.request_id)
        }
        Ok(Err(Failure::Refused(problem))) => problem.answer(&exchange.incoming.request_id),
        Err(panicked) => Problem::internal(&panicked).answer(&exchange.incoming.request_id),
    }
}

/// Counters in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = TAG, operation_id = "getMetrics",
    responses((status = 200, description = "The counters.", body = String, content_type = "text/plain")))]
async fn metrics(exchange: Exchange) -> HttpResponse {
    let state = &*exchange.state;
    let uptime = state.ports.clock.now().since(state.started_at);
    HttpResponse::Ok()
        .content_type("text/plain; version=0.0.4; charset=utf-8")
        .body(state.metrics.render(uptime) + &state.streams().render())
}
