use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use workforce_app::authenticate::{AuthError, AuthMode};
use workforce_app::{Code, Codes, Failure};
use workforce_domain::actor::InstanceScope;
use workforce_domain::port::StoreError;

use crate::access_rules::Access;
use crate::endpoints::Endpoints;
use crate::metrics;
use crate::problem::{Problem, into_problem};
use crate::request_context::RequestContext;
use crate::state::State;

const TAG: &str = "Health";

/// What is asked to see whether the server lives; it always gets an answer.
pub(crate) const HEALTH_PATH: &str = "/api/health";

/// So long the store has to answer before the server calls itself unready. One that stands still
/// closes no connection, and a request on it would wait as long.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// What a server that cannot work says.
const READY: Codes = Codes::of(&[
    Code::Contended,
    Code::EngineStalled,
    Code::StorageFull,
    Code::StoreUnavailable,
    Code::TaskDown,
]);

pub(super) fn register(endpoints: Endpoints) -> Endpoints {
    endpoints
        .add(__path_health, Access::Public, Codes::NONE, health)
        .add(__path_ready, Access::Public, READY, ready)
        .add(__path_metrics, Access::Board, Codes::NONE, metrics)
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
    deployment_mode: AuthMode,
    /// By which means runs are kept from the server's files and processes:
    /// `namespaces`, `landlock`, `landlock_signals`, `cgroup`, and `run_as` where programs
    /// have another user than the server. Empty when they are not.
    containment: Vec<&'static str>,
    /// Attachments whose bytes were not there when somebody last asked for them, since the
    /// server started; at most 1000.
    missing_attachments: usize,
    /// Seconds since the server started.
    uptime_seconds: u64,
}

impl Health {
    fn of(rqctx: &RequestContext, status: &'static str) -> HttpResponse {
        let state = &*rqctx.state;
        let uptime = state.ports.clock.now().since(state.started_at);
        HttpResponse::Ok()
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .json(Self {
                status,
                version: env!("CARGO_PKG_VERSION"),
                deployment_mode: state.auth.mode,
                containment: state.ports.engine.containment(),
                missing_attachments: state.missing_objects.count(),
                uptime_seconds: uptime.as_secs(),
            })
    }
}

/// Tells that the server answers.
#[utoipa::path(get, path = "/api/health", tag = TAG, operation_id = "getHealth",
    responses((status = 200, description = "It answers.", body = Health)))]
async fn health(rqctx: RequestContext) -> HttpResponse {
    Health::of(&rqctx, "ok")
}

/// Tells that the server can do its work. Its store answers, its disks have
/// room, its tasks run, and its engine looks for runs to start.
#[utoipa::path(get, path = "/api/health/ready", tag = TAG, operation_id = "getReadiness",
    responses((status = 200, description = "It can work.", body = Health)))]
async fn ready(rqctx: RequestContext) -> HttpResponse {
    match readiness(&rqctx.state).await {
        Ok(()) => Health::of(&rqctx, "ready"),
        Err(problem) => problem.answer(&rqctx.request.request_id),
    }
}

/// Whether the server can do its work.
///
/// # Errors
/// Why it cannot.
pub(crate) async fn readiness(state: &State) -> Result<(), Problem> {
    let store = state.ports.store.clone();
    let probe = move || {
        store.read(|reads| -> Result<(), Failure<Problem>> {
            Ok(reads.companies().probe(InstanceScope::SYSTEM)?)
        })
    };
    let probed = tokio::time::timeout(PROBE_LIMIT, actix_web::web::block(probe)).await;
    match probed {
        Ok(Ok(Ok(()))) => unfit(state).map_or(Ok(()), Err),
        Ok(Ok(Err(Failure::Store(StoreError::Failed(cause))))) => {
            Err(StoreError::Unavailable(cause).into())
        }
        Ok(Ok(Err(failure))) => Err(into_problem(failure)),
        Ok(Err(panicked)) => Err(Problem::internal(&panicked)),
        Err(elapsed) => Err(StoreError::Unavailable(elapsed.into()).into()),
    }
}

/// Why a server whose store answers cannot do its work all the same.
fn unfit(state: &State) -> Option<Problem> {
    let State { ports, vitals, .. } = state;
    if let Some(shortage) = vitals.disk_space.shortage() {
        return Some(Problem::short(shortage));
    }
    let tasks = vitals.supervisor.tasks();
    let down: Vec<_> = tasks.iter().filter(|task| task.is_down).collect();
    if !down.is_empty() {
        let names: Vec<_> = down.iter().map(|task| task.name).collect();
        let detail = format!(
            "tasks that are about to be started again: {}",
            names.join(", ")
        );
        return Some(Problem::new(Code::TaskDown, detail).with(json!({ "tasks": names })));
    }
    (!ports.engine.is_dispatching(ports.clock.now())).then(|| {
        let detail = "the engine does not look for runs to start at the moment";
        Problem::new(Code::EngineStalled, detail)
    })
}

/// Tells a scraper of Prometheus what goes on. A server
/// with `--metrics-open` tells anybody. What is asked of the store is left out while it does not
/// answer.
#[utoipa::path(get, path = "/metrics", tag = TAG, operation_id = "getMetrics",
    responses((status = 200, description = "The metrics.", content(
        (String = "text/plain"),
        (String = "application/openmetrics-text"),
    ))))]
async fn metrics(rqctx: RequestContext) -> HttpResponse {
    let rqctx = if rqctx.state.metrics_are_open || rqctx.is_board_at_sight() {
        rqctx
    } else {
        let admitted = rqctx.preflight::<_, _, AuthError>(|_| Ok(()), |_reads, _ctx, ()| Ok(()));
        match admitted.await {
            Ok((rqctx, ())) => rqctx,
            Err(answer) => return answer,
        }
    };
    match metrics::tell(&rqctx.state).await {
        Ok(text) => HttpResponse::Ok()
            .content_type(metrics::content_type(&rqctx.request))
            .insert_header((header::CACHE_CONTROL, "no-store"))
            .body(text),
        Err(error) => rqctx.refuse(Problem::internal(&error)),
    }
}
