//! The chart of the latencies, as SVG: a panel for each database, in it a cell for each figure, and
//! the same axes everywhere, so that all can be compared.

mod axes;
mod cell;
mod svg;

use std::collections::BTreeSet;

use self::axes::{Axes, Frame, Scale};
use self::cell::{Point, Series, draw};
use self::svg::{Anchor, Svg};
use super::{Report, Run};
use crate::figure::Figure;

const WIDTH: f64 = 1060.0;
const MARGIN: f64 = 28.0;
/// Title, explanation and legend.
const HEAD: f64 = 110.0;
/// The name of a database above its cells.
const PANEL_HEAD: f64 = 38.0;
const COLUMNS: usize = 4;
const CELL: (f64, f64) = (252.0, 182.0);
/// Colours of the numbers of clients: told apart on light and on dark paper, and by people who do
/// not tell red from green.
const COLOURS: usize = 4;

/// The chart of all runs of a report; `None` when it has none.
pub(crate) fn chart(report: &Report) -> Option<String> {
    let axes = axes(&report.runs)?;
    let clients: BTreeSet<usize> = rows(&report.runs).map(|row| row.connections).collect();
    let clients: Vec<usize> = clients.into_iter().collect();
    let panels = panels(&report.runs, &clients);
    let height = |panel: &Panel| PANEL_HEAD + CELL.1 * panel.cells.len().div_ceil(COLUMNS) as f64;
    let total = HEAD + panels.iter().map(height).sum::<f64>();

    let mut svg = Svg::new(WIDTH, total, "Latency by number of issues");
    head(&mut svg, &clients);
    let mut top = HEAD;
    for panel in &panels {
        svg.text((MARGIN, top + 24.0), "panel", Anchor::Start, panel.database);
        for (index, (figure, series)) in panel.cells.iter().enumerate() {
            let left = MARGIN + CELL.0 * (index % COLUMNS) as f64;
            let above = top + PANEL_HEAD + CELL.1 * (index / COLUMNS) as f64;
            let frame = Frame::within((left, above), CELL);
            draw(&mut svg, &axes, &frame, figure.title(), series);
        }
        top += height(panel);
    }
    Some(svg.finish())
}

/// One database.
struct Panel<'r> {
    database: &'r str,
    cells: Vec<(Figure, Vec<Series>)>,
}

fn rows(runs: &[Run]) -> impl Iterator<Item = &super::Row> {
    runs.iter().flat_map(|run| &run.rows)
}

/// The axes that hold every latency.
fn axes(runs: &[Run]) -> Option<Axes> {
    let latencies = rows(runs).flat_map(|row| [row.server.p50_ms, row.server.p99_ms]);
    let measured = runs.iter().filter(|run| !run.rows.is_empty());
    let sizes: BTreeSet<usize> = measured.map(|run| run.issues).collect();
    Some(Axes {
        latency: Scale::around(latencies)?,
        issues: Scale::around(sizes.iter().map(|size| *size as f64))?,
        sizes: sizes.into_iter().collect(),
    })
}

fn panels<'r>(runs: &'r [Run], clients: &[usize]) -> Vec<Panel<'r>> {
    let mut databases: Vec<&str> = Vec::new();
    for run in runs.iter().filter(|run| !run.rows.is_empty()) {
        if !databases.contains(&run.database.as_str()) {
            databases.push(&run.database);
        }
    }
    let panels = databases.into_iter().map(|database| {
        let of_database = || runs.iter().filter(move |run| run.database == database);
        let series = |figure: Figure, (colour, clients): (usize, &usize)| {
            let mut points: Vec<Point> = of_database()
                .flat_map(|run| run.rows.iter().map(move |row| (run.issues, row)))
                .filter(|(_, row)| row.figure == figure && row.connections == *clients)
                .map(|(issues, row)| Point {
                    issues,
                    p50: row.server.p50_ms,
                    p99: row.server.p99_ms,
                })
                .collect();
            points.sort_by_key(|point| point.issues);
            let colour = colour % COLOURS;
            (!points.is_empty()).then_some(Series { colour, points })
        };
        let cells = Figure::ALL.into_iter().filter_map(|figure| {
            let all = clients.iter().enumerate();
            let series: Vec<Series> = all.filter_map(|it| series(figure, it)).collect();
            (!series.is_empty()).then_some((figure, series))
        });
        Panel {
            database,
            cells: cells.collect(),
        }
    });
    panels.collect()
}

/// Says what the lines are.
fn head(svg: &mut Svg, clients: &[usize]) {
    svg.text(
        (MARGIN, 42.0),
        "title",
        Anchor::Start,
        "Latency by number of issues",
    );
    let explanation = "Milliseconds, upwards, over the number of issues, to the right. The axes are \
         logarithmic and the same everywhere: lower and flatter is better.";
    svg.text((MARGIN, 64.0), "note", Anchor::Start, explanation);
    let mut left = MARGIN;
    for (colour, clients) in clients.iter().enumerate() {
        for (percentile, is_high) in [("p50", false), ("p99", true)] {
            let y = 91.0;
            let colour = colour % COLOURS;
            svg.path(&[(left, y), (left + 30.0, y)], colour, is_high);
            svg.dot((left + 15.0, y), colour, is_high);
            let label = format!("{clients} clients, {percentile}");
            svg.text((left + 38.0, y + 4.0), "legend", Anchor::Start, &label);
            left += 150.0;
        }
    }
}

#[cfg(test)]
mod tests;
