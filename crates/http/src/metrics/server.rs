use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use workforce_domain::port::Connections;
use workforce_vitals::Families;

use crate::state::State;

/// What this server does at the moment.
#[derive(Debug)]
pub(super) struct ServerGauges {
    uptime_seconds: f64,
    open_streams: usize,
    dropped_streams: u64,
    /// Requests that wait for their turn, by the line in which they stand.
    waiting: [(&'static str, usize); 2],
    connections: Option<Connections>,
}

impl ServerGauges {
    pub(super) fn of(state: &State) -> Self {
        let uptime = state.ports.clock.now().since(state.started_at);
        Self {
            uptime_seconds: uptime.as_secs_f64(),
            open_streams: state.streams().open(),
            dropped_streams: state.streams().dropped(),
            waiting: [
                ("store", state.store_lane.waiting()),
                ("writer", state.write_lane.waiting()),
            ],
            connections: state.ports.store.connections(),
        }
    }
}

impl Collector for ServerGauges {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut families = Families::of(encoder);
        families.gauge(
            "uptime_seconds",
            "Time since the server started.",
            self.uptime_seconds,
        )?;
        families.gauges(
            "http_requests_waiting",
            "Requests that wait for their turn at the store.",
            "line",
            self.waiting,
        )?;
        families.gauge(
            "streams_open",
            "Open streams of events and logs.",
            self.open_streams,
        )?;
        families.counter(
            "streams_dropped",
            "Streams whose reader took nothing.",
            self.dropped_streams,
        )?;
        let Some(connections) = self.connections else {
            return Ok(());
        };
        families.gauge(
            "store_connections_open",
            "Connections to the database in the pool.",
            connections.open,
        )?;
        families.gauge(
            "store_connections_idle",
            "Those of them that nobody uses.",
            connections.idle,
        )?;
        families.gauge(
            "store_connections_max",
            "Connections that the pool may have.",
            connections.most,
        )
    }
}
