//! Shapes as text.

use std::fmt::Write as _;

/// How everything looks. The paper is part of the chart, so that it can be read on any page; where
/// the reader prefers dark pages, it is dark.
const STYLE: &str = "\
text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2328}\
.paper{fill:#fff;stroke:#d0d7de}\
.title{font-size:21px;font-weight:600}\
.panel{font-size:17px;font-weight:600}\
.cell{font-size:13px;font-weight:600}\
.note,.legend{font-size:13px;fill:#57606a}\
.tick{font-size:11px;fill:#57606a}\
.frame{fill:none;stroke:#afb8c1}\
.grid{stroke:#d8dee4}\
.fine{stroke:#eff2f5}\
.line{fill:none;stroke-width:2;stroke-linejoin:round}\
.high{stroke-dasharray:5 3;stroke-width:1.6}\
.dot{stroke-width:1.6}\
.high.dot{stroke-dasharray:none;fill:#fff}\
.band{stroke:none;opacity:.1}\
.value{font-size:11px;stroke:none}\
.c0{stroke:#0969da}.c1{stroke:#bc4c00}.c2{stroke:#8250df}.c3{stroke:#1a7f37}\
.f0{fill:#0969da}.f1{fill:#bc4c00}.f2{fill:#8250df}.f3{fill:#1a7f37}\
@media(prefers-color-scheme:dark){\
text{fill:#e6edf3}\
.paper{fill:#0d1117;stroke:#30363d}\
.note,.legend,.tick{fill:#9198a1}\
.frame{stroke:#484f58}\
.grid{stroke:#2a3038}\
.fine{stroke:#1a2027}\
.high.dot{fill:#0d1117}\
.band{opacity:.16}\
.c0{stroke:#58a6ff}.c1{stroke:#f0883e}.c2{stroke:#bc8cff}.c3{stroke:#3fb950}\
.f0{fill:#58a6ff}.f1{fill:#f0883e}.f2{fill:#bc8cff}.f3{fill:#3fb950}}";

/// A place: to the right, and downwards.
pub(super) type At = (f64, f64);

/// Where a text stands beside its place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing that grows.
pub(super) struct Svg(String);

impl Svg {
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let (right, bottom) = (width - 1.0, height - 1.0);
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\">\n\
             <title>{}</title>\n<style>{STYLE}</style>\n\
             <rect class=\"paper\" x=\"0.5\" y=\"0.5\" width=\"{right}\" height=\"{bottom}\" \
             rx=\"8\"/>\n",
            escaped(title)
        ))
    }

    pub(super) fn text(&mut self, (x, y): At, class: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let text = escaped(text);
        self.push(&format!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{text}</text>"
        ));
    }

    /// A straight line of the background.
    pub(super) fn line(&mut self, (x1, y1): At, (x2, y2): At, class: &str) {
        self.push(&format!(
            "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        ));
    }

    pub(super) fn frame(&mut self, (x, y): At, (width, height): At) {
        self.push(&format!(
            "<rect class=\"frame\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\"/>"
        ));
    }

    /// What was measured; the high percentiles are dashed.
    pub(super) fn path(&mut self, points: &[At], colour: usize, is_high: bool) {
        let high = if is_high { " high" } else { "" };
        let points = joined(points);
        self.push(&format!(
            "<polyline class=\"line{high} c{colour}\" points=\"{points}\"/>"
        ));
    }

    /// One measured point; those of high percentiles are hollow.
    pub(super) fn dot(&mut self, (x, y): At, colour: usize, is_high: bool) {
        let fill = if is_high {
            "high".to_owned()
        } else {
            format!("f{colour}")
        };
        self.push(&format!(
            "<circle class=\"dot {fill} c{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>"
        ));
    }

    /// What lies between two lines.
    pub(super) fn band(&mut self, points: &[At], colour: usize) {
        let points = joined(points);
        self.push(&format!(
            "<polygon class=\"band f{colour}\" points=\"{points}\"/>"
        ));
    }

    pub(super) fn finish(mut self) -> String {
        self.push("</svg>");
        self.0
    }

    fn push(&mut self, element: &str) {
        self.0.push_str(element);
        self.0.push('\n');
    }
}

fn joined(points: &[At]) -> String {
    let mut text = String::new();
    for (x, y) in points {
        // Writing to a text does not fail.
        let _ = write!(text, "{x:.1},{y:.1} ");
    }
    text.trim_end().to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
