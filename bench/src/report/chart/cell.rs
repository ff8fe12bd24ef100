//! One cell: the latencies of one figure on one database.

use super::axes::{Axes, Frame, apart, issues_label, latency_label};
use super::svg::{Anchor, Svg};

/// Heights of labels side by side.
const LABEL: f64 = 11.5;
/// What a number of issues takes of the axis.
const WIDEST: f64 = 28.0;

/// One number of clients.
#[derive(Debug)]
pub(super) struct Series {
    /// The number of its colour.
    pub(super) colour: usize,
    /// By the number of issues.
    pub(super) points: Vec<Point>,
}

/// What was measured with so many issues, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) issues: usize,
    pub(super) p50: f64,
    pub(super) p99: f64,
}

/// Draws the lines of a cell, over its grid.
pub(super) fn draw(svg: &mut Svg, axes: &Axes, frame: &Frame, title: &str, series: &[Series]) {
    grid(svg, axes, frame);
    svg.text((frame.left, frame.top - 7.0), "cell", Anchor::Start, title);
    let mut labels = Vec::new();
    for Series { colour, points } in series {
        let place =
            |point: &Point, latency: f64| (frame.x(axes, point.issues), frame.y(axes, latency));
        let low: Vec<_> = points.iter().map(|it| place(it, it.p50)).collect();
        let high: Vec<_> = points.iter().map(|it| place(it, it.p99)).collect();
        let around: Vec<_> = low.iter().chain(high.iter().rev()).copied().collect();
        svg.band(&around, *colour);
        svg.path(&high, *colour, true);
        svg.path(&low, *colour, false);
        for (at, is_high) in high
            .iter()
            .map(|at| (at, true))
            .chain(low.iter().map(|at| (at, false)))
        {
            svg.dot(*at, *colour, is_high);
        }
        if let Some(last) = points.last() {
            labels.extend([last.p50, last.p99].map(|it| (frame.y(axes, it), *colour, it)));
        }
    }
    labels.sort_by(|one, other| one.0.total_cmp(&other.0));
    let wanted: Vec<f64> = labels.iter().map(|label| label.0).collect();
    let places = apart(&wanted, LABEL, (frame.top + 2.0, frame.bottom() - 2.0));
    for ((_, colour, latency), y) in labels.into_iter().zip(places) {
        let at = (frame.right() + 6.0, y + 4.0);
        let class = format!("value f{colour}");
        svg.text(at, &class, Anchor::Start, &latency_label(latency));
    }
}

fn grid(svg: &mut Svg, axes: &Axes, frame: &Frame) {
    let level = |svg: &mut Svg, latency: f64, class: &str| {
        let y = frame.y(axes, latency);
        svg.line((frame.left, y), (frame.right(), y), class);
    };
    for latency in axes.latency.multiples(&[2.0, 5.0]) {
        level(svg, latency, "fine");
    }
    for latency in axes.latency.multiples(&[1.0]) {
        level(svg, latency, "grid");
        let at = (frame.left - 6.0, frame.y(axes, latency) + 4.0);
        svg.text(at, "tick", Anchor::End, &latency.to_string());
    }
    let mut free = f64::NEG_INFINITY;
    for issues in &axes.sizes {
        let x = frame.x(axes, *issues);
        svg.line((x, frame.top), (x, frame.bottom()), "grid");
        if x > free {
            let at = (x, frame.bottom() + 15.0);
            svg.text(at, "tick", Anchor::Middle, &issues_label(*issues));
            free = x + WIDEST;
        }
    }
    let size = (frame.width, frame.height);
    svg.frame((frame.left, frame.top), size);
}
