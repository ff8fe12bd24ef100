use std::fmt;

use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeGaugeValue, EncodeMetric,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Writes families of metrics whose values are looked up when somebody asks.
#[derive(Debug)]
pub struct Families<'a>(DescriptorEncoder<'a>);

impl<'a> Families<'a> {
    /// Those of one collector.
    #[must_use]
    pub const fn of(encoder: DescriptorEncoder<'a>) -> Self {
        Self(encoder)
    }

    /// A value that goes up and down.
    ///
    /// # Errors
    /// When the text cannot be written.
    pub fn gauge<V: EncodeGaugeValue>(&mut self, name: &str, help: &str, value: V) -> fmt::Result {
        let kind = MetricType::Gauge;
        let family = self.0.encode_descriptor(name, help, None, kind)?;
        ConstGauge::new(value).encode(family)
    }

    /// Such values, which `label` tells apart. A family without values is left out.
    ///
    /// # Errors
    /// When the text cannot be written.
    pub fn gauges<L: AsRef<str>, V: EncodeGaugeValue>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (L, V)>,
    ) -> fmt::Result {
        let mut values = values.into_iter().peekable();
        if values.peek().is_none() {
            return Ok(());
        }
        let kind = MetricType::Gauge;
        let mut family = self.0.encode_descriptor(name, help, None, kind)?;
        for (what, value) in values {
            ConstGauge::new(value).encode(family.encode_family(&[(label, what.as_ref())])?)?;
        }
        Ok(())
    }

    /// A value that only rises. Its name goes without `_total`, which is added.
    ///
    /// # Errors
    /// When the text cannot be written.
    pub fn counter<V: EncodeCounterValue>(
        &mut self,
        name: &str,
        help: &str,
        value: V,
    ) -> fmt::Result {
        let kind = MetricType::Counter;
        let family = self.0.encode_descriptor(name, help, None, kind)?;
        ConstCounter::new(value).encode(family)
    }

    /// Such values, which `label` tells apart. A family without values is left out.
    ///
    /// # Errors
    /// When the text cannot be written.
    pub fn counters<L: AsRef<str>, V: EncodeCounterValue>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        values: impl IntoIterator<Item = (L, V)>,
    ) -> fmt::Result {
        let mut values = values.into_iter().peekable();
        if values.peek().is_none() {
            return Ok(());
        }
        let kind = MetricType::Counter;
        let mut family = self.0.encode_descriptor(name, help, None, kind)?;
        for (what, value) in values {
            ConstCounter::new(value).encode(family.encode_family(&[(label, what.as_ref())])?)?;
        }
        Ok(())
    }
}
