//! What `/metrics` tells (docs/operations.md#metrics).

mod requests;
mod server;
mod work;

pub(crate) use requests::Requests;
pub(crate) use work::KeptFigures;

use std::fmt;
use std::sync::Arc;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use workforce_domain::instance_figures::InstanceFigures;
use workforce_domain::port::StartConditionInputs;

use crate::request_context::Request;
use crate::state::State;
use server::ServerGauges;
use work::WorkGauges;

/// The text format of OpenMetrics, which Prometheus asks for.
const OPEN_METRICS: &str = "application/openmetrics-text";

/// The type of the text of all metrics, for a caller who takes that or not. A browser
/// shows plain text, and would save the other.
pub(crate) fn content_type(request: &Request) -> &'static str {
    if request.names_type(OPEN_METRICS) {
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    } else {
        "text/plain; charset=utf-8"
    }
}

/// The figures of the store, as they are or were a moment ago; `None` when it does not answer soon.
pub(crate) async fn figures(state: &State) -> Option<Arc<InstanceFigures>> {
    let ports = &state.ports;
    let terms = StartConditionInputs {
        now: ports.clock.now(),
        instance: ports.governed.server(),
        instance_cap: ports.engine.instance_cap(),
    };
    state.figures.now(&ports.store, terms).await
}

/// All metrics as they are now. Those of the store are left out when it does not answer soon.
pub(crate) async fn tell(state: &State) -> Result<String, fmt::Error> {
    let figures = figures(state).await;
    let mut registry = Registry::with_prefix("workforce");
    registry.register_collector(Box::new(ServerGauges::of(state)));
    state.requests.register(&mut registry);
    state.vitals.register(&mut registry);
    registry.register_collector(Box::new(WorkGauges(figures)));
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}
