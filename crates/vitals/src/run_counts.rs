use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Counts the runs that this server started, and those whose end it wrote down.
#[derive(Clone, Debug, Default)]
pub struct RunCounts {
    started: Counter,
    finished: Family<Ending, Counter>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ending {
    status: &'static str,
    /// Empty where there is none: all of a family have the same labels.
    error_code: &'static str,
}

impl RunCounts {
    /// A run starts.
    pub fn note_start(&self) {
        self.started.inc();
    }

    /// A run ended with this status and, unless it succeeded, for this reason.
    pub fn note_end(&self, status: &'static str, error_code: Option<&'static str>) {
        let ending = Ending {
            status,
            error_code: error_code.unwrap_or_default(),
        };
        self.finished.get_or_create(&ending).inc();
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "runs_started",
            "Runs that this server started",
            self.started.clone(),
        );
        registry.register(
            "runs_finished",
            "Runs whose end this server wrote down",
            self.finished.clone(),
        );
    }
}
