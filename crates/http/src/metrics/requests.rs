use std::array;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::router::RoutePattern;

/// Up to these numbers of seconds requests are counted, and beyond.
const SECONDS: [f64; 12] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
];

/// The classes of statuses, by their first digit from 1 on.
const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// What is no route, whatever its path: anybody can make up paths.
const UNMATCHED: &str = "unmatched";

/// Counts what the server answered.
pub(crate) struct Requests {
    answers: [Counter; CLASSES.len()],
    durations: Family<Served, Histogram, fn() -> Histogram>,
    unmatched: RoutePattern,
}

/// What a request was for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Served {
    route: Arc<str>,
    method: &'static str,
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            answers: array::from_fn(|_| Counter::default()),
            durations: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            unmatched: RoutePattern(UNMATCHED.into()),
        }
    }
}

impl Requests {
    /// Counts one answer.
    pub(crate) fn count(
        &self,
        method: &Method,
        route: Option<&RoutePattern>,
        status: u16,
        took: Duration,
    ) {
        let class = usize::from(status / 100).clamp(1, CLASSES.len()) - 1;
        if let Some(counter) = self.answers.get(class) {
            counter.inc();
        }
        let RoutePattern(route) = route.unwrap_or(&self.unmatched);
        let served = Served {
            route: Arc::clone(route),
            method: known(method),
        };
        let duration = self.durations.get_or_create(&served);
        duration.observe(took.as_secs_f64());
    }

    /// How many requests were answered.
    pub(crate) fn answered(&self) -> u64 {
        self.answers.iter().map(Counter::get).sum()
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        let answers = Family::<_, Counter>::default();
        for (class, counter) in CLASSES.into_iter().zip(&self.answers) {
            answers
                .get_or_create(&[("class", class)])
                .inc_by(counter.get());
        }
        registry.register("http_requests", "Answered requests", answers);
        registry.register(
            "http_request_duration_seconds",
            "Time until the head of an answer, by the route as it is registered",
            self.durations.clone(),
        );
    }
}

/// The name of a method, of which anybody can make up more.
const fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn answers_are_counted_by_class_and_timed_by_route() {
        let requests = Requests::default();
        let route = RoutePattern("/api/issues/{issueId}".into());
        let quarter = Duration::from_millis(250);
        requests.count(&Method::GET, Some(&route), 200, quarter);
        requests.count(&Method::GET, Some(&route), 404, quarter);
        let made_up = Method::from_bytes(b"MADEUP").unwrap();
        requests.count(&made_up, None, 404, Duration::ZERO);
        assert_eq!(requests.answered(), 3);
        let mut registry = Registry::default();
        requests.register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let of_route = r#"route="/api/issues/{issueId}",method="GET""#;
        for line in [
            r#"http_requests_total{class="2xx"} 1"#.to_owned(),
            r#"http_requests_total{class="4xx"} 2"#.to_owned(),
            r#"http_requests_total{class="5xx"} 0"#.to_owned(),
            format!("http_request_duration_seconds_sum{{{of_route}}} 0.5"),
            format!("http_request_duration_seconds_bucket{{le=\"0.25\",{of_route}}} 2"),
            r#"http_request_duration_seconds_count{route="unmatched",method="other"} 1"#.to_owned(),
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in {text}");
        }
    }
}
