//! An answer to a scraper, parsed.

use std::collections::{BTreeMap, HashMap};

use openmetrics_parser::openmetrics::parse_openmetrics;
use openmetrics_parser::{MetricFamily, OpenMetricsType, OpenMetricsValue, Sample};

use crate::support::Api;

pub(super) const PATH: &str = "/metrics";

type Family = MetricFamily<OpenMetricsType, OpenMetricsValue>;
type Families = HashMap<String, Family>;

/// What was told, by the name of the family.
pub(super) struct Told(Families);

impl Told {
    #[track_caller]
    pub(super) fn by(api: &Api) -> Self {
        let accept = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";
        let answer = api.send("GET", PATH, &[("Accept", accept)], b"");
        assert_eq!(answer.status, 200, "{}", answer.text);
        let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        assert_eq!(answer.header("content-type"), Some(kind));
        let parsed = parse_openmetrics(&answer.text);
        Self(match parsed {
            Ok(exposition) => exposition.families,
            Err(error) => panic!("{error}: {}", answer.text),
        })
    }

    pub(super) const fn families(&self) -> &Families {
        &self.0
    }

    #[track_caller]
    pub(super) fn family(&self, name: &str) -> &Family {
        let found = self.0.get(name);
        found.unwrap_or_else(|| panic!("no {name}"))
    }

    /// The values of a family by the values of its labels.
    pub(super) fn values(&self, name: &str) -> BTreeMap<String, f64> {
        let samples = self.family(name).iter_samples();
        samples
            .map(|sample| (labels(sample).join(","), number(sample)))
            .collect()
    }

    /// Those that are not zero.
    pub(super) fn present(&self, name: &str) -> BTreeMap<String, f64> {
        let mut values = self.values(name);
        values.retain(|_, value| *value != 0.0);
        values
    }

    /// The value of a family without labels.
    pub(super) fn value(&self, name: &str) -> f64 {
        self.values(name)[""]
    }
}

fn labels(sample: &Sample<OpenMetricsValue>) -> Vec<String> {
    let labels = sample.get_labelset().unwrap();
    labels.iter_values().cloned().collect()
}

fn number(sample: &Sample<OpenMetricsValue>) -> f64 {
    match &sample.value {
        OpenMetricsValue::Gauge(value) => value.as_f64(),
        OpenMetricsValue::Counter(counter) => counter.value.as_f64(),
        OpenMetricsValue::Histogram(histogram) => histogram.count.unwrap() as f64,
        other => panic!("{other:?}"),
    }
}

/// What [`Told::values`] finds.
pub(super) fn values(expected: &[(&str, f64)]) -> BTreeMap<String, f64> {
    let values = expected.iter().copied();
    values
        .map(|(labels, value)| (labels.to_owned(), value))
        .collect()
}
