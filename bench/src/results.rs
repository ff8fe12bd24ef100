//! The files that results are written to.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::report::{Report, chart, page};

/// Where the reports go.
const RESULTS: &str = "bench-results";
const PAGE: &str = "docs/benchmarks.md";
/// Beside the page.
const CHART: &str = "benchmarks.svg";

/// Writes a report as JSON and, when it has figures, its chart beside it and to `svg`.
pub(crate) fn write(root: &Path, report: &Report, svg: Option<&Path>) -> Result<()> {
    let directory = root.join(RESULTS);
    fs::create_dir_all(&directory)
        .with_context(|| format!("failed to create {}", directory.display()))?;
    let path = directory.join(format!("{}.json", report.began_at.replace(':', "")));
    write_file(&path, &serde_json::to_string_pretty(report)?)?;
    if let Some(drawn) = chart(report) {
        write_file(&path.with_extension("svg"), &drawn)?;
        svg.map_or(Ok(()), |path| write_file(path, &drawn))?;
    }
    Ok(())
}

/// A report that [`write()`] wrote.
pub(crate) fn read(path: &PathBuf) -> Result<Report> {
    let text = fs::read(path).with_context(|| format!("failed to read {}", path.display()))?;
    serde_json::from_slice(&text)
        .with_context(|| format!("{} is no report of this bench", path.display()))
}

/// Puts `reports` into the page, and the chart of the first that has one beside the page and to
/// `svg`.
pub(crate) fn document(root: &Path, reports: &[Report], svg: Option<&Path>) -> Result<()> {
    let drawn = reports.iter().find_map(chart);
    let path = root.join(PAGE);
    let old =
        fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))?;
    let new = page(&old, reports, drawn.as_ref().map(|_| CHART))?;
    match drawn {
        Some(drawn) => {
            write_file(&path.with_file_name(CHART), &drawn)?;
            svg.map_or(Ok(()), |path| write_file(path, &drawn))?;
        }
        None => bail!("no figures to draw: name the report of a run of the figures first"),
    }
    write_file(&path, &new)
}

fn write_file(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("failed to write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}
