//! Where a number lies on paper.

/// A logarithmic scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// Logarithms of the ends.
    low: f64,
    high: f64,
}

impl Scale {
    /// The scale that holds `values` with some room around; `None` when there are none.
    pub(super) fn around(values: impl Iterator<Item = f64>) -> Option<Self> {
        // A latency can be rounded to nothing, which has no logarithm.
        let logarithms = values.map(|value| value.max(1e-3).log10());
        let (low, high) = logarithms.fold(None, |ends, it| match ends {
            None => Some((it, it)),
            Some((low, high)) => Some((it.min(low), it.max(high))),
        })?;
        // What is flat would otherwise look steep.
        let missing = (1.0 - (high - low)).max(0.0) / 2.0;
        let room = 0.06 * (high - low) + missing;
        Some(Self {
            low: low - room,
            high: high + room,
        })
    }

    /// How far `value` lies from the low end to the high one.
    pub(super) fn part(self, value: f64) -> f64 {
        (value.max(1e-3).log10() - self.low) / (self.high - self.low)
    }

    /// The multiples of powers of ten on the scale.
    pub(super) fn multiples(self, of: &[f64]) -> Vec<f64> {
        let decades = self.low.floor() as i32..=self.high.ceil() as i32;
        let all = decades.flat_map(|decade| of.iter().map(move |it| it * 10f64.powi(decade)));
        all.filter(|it| (0.0..=1.0).contains(&self.part(*it)))
            .collect()
    }
}

/// The axes of every cell.
#[derive(Debug, Clone)]
pub(super) struct Axes {
    pub(super) latency: Scale,
    pub(super) issues: Scale,
    /// The measured ones.
    pub(super) sizes: Vec<usize>,
}

/// The room of a cell that is drawn in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Frame {
    /// Leaves room for the title above, for both axes, and for values at the right.
    pub(super) fn within((left, top): (f64, f64), (width, height): (f64, f64)) -> Self {
        const ABOVE: f64 = 22.0;
        const BELOW: f64 = 34.0;
        const BEFORE: f64 = 30.0;
        const BEHIND: f64 = 46.0;
        Self {
            left: left + BEFORE,
            top: top + ABOVE,
            width: width - BEFORE - BEHIND,
            height: height - ABOVE - BELOW,
        }
    }

    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(super) fn x(&self, axes: &Axes, issues: usize) -> f64 {
        self.left + self.width * axes.issues.part(issues as f64)
    }

    pub(super) fn y(&self, axes: &Axes, latency: f64) -> f64 {
        self.bottom() - self.height * axes.latency.part(latency)
    }
}

/// A number of issues in few letters.
pub(super) fn issues_label(issues: usize) -> String {
    let (divisor, unit) = match issues {
        0..1_000 => (1.0, ""),
        1_000..1_000_000 => (1e3, "k"),
        _ => (1e6, "M"),
    };
    format!("{}{unit}", (issues as f64 / divisor * 10.0).round() / 10.0)
}

/// A latency with two digits that count.
pub(super) fn latency_label(milliseconds: f64) -> String {
    let decimals = match milliseconds {
        it if it < 0.995 => 2,
        it if it < 9.95 => 1,
        _ => 0,
    };
    format!("{milliseconds:.decimals$}")
}

/// Moves labels apart that would lie on each other, within the ends. They come and go in order.
pub(super) fn apart(wanted: &[f64], gap: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut places = Vec::with_capacity(wanted.len());
    let mut least = top;
    for place in wanted {
        let place = place.max(least);
        places.push(place);
        least = place + gap;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_logarithmic_and_has_room() {
        let scale = Scale::around([1.0, 100.0].into_iter()).unwrap();
        let parts = [1.0, 10.0, 100.0].map(|it| scale.part(it));
        assert!(parts[0] > 0.0 && parts[2] < 1.0, "{parts:?}");
        assert!((parts[1] - 0.5).abs() < 1e-9, "{parts:?}");
        assert_eq!(scale.multiples(&[1.0]), [1.0, 10.0, 100.0]);
        assert!(Scale::around(std::iter::empty()).is_none());
    }

    #[test]
    fn one_value_lies_in_the_middle_of_a_decade() {
        let scale = Scale::around([1000.0].into_iter()).unwrap();
        assert!((scale.part(1000.0) - 0.5).abs() < 1e-9);
        assert!((scale.part(10_000.0) - 1.5).abs() < 1e-9);
    }

    #[test]
    fn labels_are_short() {
        for (issues, expected) in [
            (500, "500"),
            (1_000, "1k"),
            (2_500, "2.5k"),
            (100_000, "100k"),
            (1_000_000, "1M"),
        ] {
            assert_eq!(issues_label(issues), expected);
        }
        for (latency, expected) in [(0.123, "0.12"), (1.26, "1.3"), (9.96, "10"), (123.4, "123")] {
            assert_eq!(latency_label(latency), expected);
        }
    }

    #[test]
    fn labels_do_not_lie_on_each_other() {
        let ends = (0.0, 100.0);
        assert_eq!(apart(&[10.0, 50.0], 10.0, ends), [10.0, 50.0]);
        assert_eq!(apart(&[10.0, 12.0, 13.0], 10.0, ends), [10.0, 20.0, 30.0]);
        assert_eq!(apart(&[98.0, 99.0], 10.0, ends), [90.0, 100.0]);
    }
}
