use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts what the server answered.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Answers by the first digit of their status, from 1xx on.
    answers: [AtomicU64; 5],
    /// Time spent answering, in microseconds.
    busy_micros: AtomicU64,
}

impl Metrics {
    /// Counts one answer.
    pub(crate) fn count(&self, status: u16, took: Duration) {
        let class = usize::from(status / 100).clamp(1, self.answers.len()) - 1;
        if let Some(counter) = self.answers.get(class) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.busy_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// How many requests were answered.
    pub(crate) fn answered(&self) -> u64 {
        let counters = self.answers.iter();
        counters
            .map(|counter| counter.load(Ordering::Relaxed))
            .sum()
    }

    /// The counters in the text format of Prometheus.
    pub(crate) fn render(&self, uptime: Duration) -> String {
        let mut text = String::new();
        let mut total = 0;
        text.push_str("# HELP workforce_uptime_seconds Time since the server started.\n");
        text.push_str("# TYPE workforce_uptime_seconds gauge\n");
        let _infallible = writeln!(text, "workforce_uptime_seconds {:.3}", uptime.as_secs_f64());
        text.push_str("# HELP workforce_http_requests_total Answered requests.\n");
        text.push_str("# TYPE workforce_http_requests_total counter\n");
        for (class, counter) in (1..).zip(&self.answers) {
            let count = counter.load(Ordering::Relaxed);
            total += count;
            let _infallible = writeln!(
                text,
                "workforce_http_requests_total{{class=\"{class}xx\"}} {count}"
            );
        }
        let busy = Duration::from_micros(self.busy_micros.load(Ordering::Relaxed));
        text.push_str("# HELP workforce_http_request_seconds Time spent answering.\n");
        text.push_str("# TYPE workforce_http_request_seconds summary\n");
        let _infallible = writeln!(
            text,
            "workforce_http_request_seconds_sum {:.6}",
            busy.as_secs_f64()
        );
        let _infallible = writeln!(text, "workforce_http_request_seconds_count {total}");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_class() {
        let metrics = Metrics::default();
        metrics.count(201, Duration::from_millis(250));
        metrics.count(404, Duration::from_millis(250));
        metrics.count(404, Duration::ZERO);
        let text = metrics.render(Duration::from_secs(2));
        assert!(text.contains("workforce_uptime_seconds 2.000\n"));
        assert!(text.contains("workforce_http_requests_total{class=\"2xx\"} 1\n"));
        assert!(text.contains("workforce_http_requests_total{class=\"4xx\"} 2\n"));
        assert!(text.contains("workforce_http_request_seconds_sum 0.500000\n"));
        assert!(text.contains("workforce_http_request_seconds_count 3\n"));
    }
}
