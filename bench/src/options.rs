//! What the bench is told.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::figure::Figure;
use crate::load::Pace;

/// Measure the release binary, and print each write beside its baseline
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask bench")]
pub(crate) struct Options {
    /// The databases to measure
    #[arg(long, value_enum, default_value_t = Databases::Both)]
    pub(crate) database: Databases,
    /// How many issues are present, for each size to measure: 1000,100000 unless told otherwise,
    /// and 1000 with --url
    #[arg(long, value_delimiter = ',')]
    issues: Vec<usize>,
    /// How many clients ask at once, for each row of a figure
    #[arg(long, value_delimiter = ',', default_values_t = [8, 64])]
    pub(crate) connections: Vec<usize>,
    /// Measure each figure for one second instead of three
    #[arg(long)]
    pub(crate) quick: bool,
    /// Measure the release binary that is there
    #[arg(long)]
    pub(crate) no_build: bool,
    /// Measure only these figures, and no claims
    #[arg(long, value_enum, value_name = "FIGURE", value_delimiter = ',')]
    pub(crate) only: Vec<Figure>,
    /// Measure only so many agents at work at once, at a steady rate
    #[arg(long, conflicts_with_all = ["only", "claims"])]
    pub(crate) agents: Option<usize>,
    /// How often each of them goes through its seven requests, in seconds
    #[arg(long, default_value_t = 60, requires = "agents")]
    pub(crate) cycle: u32,
    /// Measure only what a claim costs, by how many wakes are due
    #[arg(long, conflicts_with = "only")]
    pub(crate) claims: bool,
    /// Measure the server that runs at http://host:port, over HTTP alone; twice for two side by
    /// side
    #[arg(long, conflicts_with_all = ["database", "no_build", "agents", "claims"])]
    pub(crate) url: Vec<String>,
    /// The token of the board of that server; twice for two with different ones
    #[arg(long, requires = "url")]
    pub(crate) token: Vec<String>,
    /// Draw the latencies into this file too
    #[arg(long, value_name = "PATH", conflicts_with_all = ["url", "agents", "claims"])]
    pub(crate) svg: Option<PathBuf>,
    /// Write the results into docs/benchmarks.md and docs/benchmarks.svg
    #[arg(long, conflicts_with_all = ["url", "agents", "claims", "only"])]
    pub(crate) write_docs: bool,
    /// Measure nothing, and write these results there: those of the figures, and perhaps those of
    /// many agents
    #[arg(long, value_name = "JSON", value_delimiter = ',', conflicts_with_all = [
        "database", "issues", "connections", "quick", "no_build", "only", "agents", "claims",
        "url", "write_docs",
    ])]
    pub(crate) docs_from: Vec<PathBuf>,
}

/// Which databases are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Databases {
    Sqlite,
    Postgres,
    Both,
}

impl Options {
    /// How many issues are present, for each size to measure.
    pub(crate) fn issues(&self) -> Vec<usize> {
        if !self.issues.is_empty() {
            self.issues.clone()
        } else if self.url.is_empty() {
            vec![1_000, 100_000]
        } else {
            vec![1_000]
        }
    }

    /// How long each figure is measured.
    pub(crate) fn pace(&self) -> Pace {
        if self.quick {
            Pace {
                warm_up: Duration::from_millis(100),
                duration: Duration::from_secs(1),
            }
        } else {
            Pace {
                warm_up: Duration::from_millis(200),
                duration: Duration::from_secs(3),
            }
        }
    }

    /// What is measured, in its order.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let is_wanted = |figure: &Figure| self.only.is_empty() || self.only.contains(figure);
        Figure::ALL.into_iter().filter(is_wanted).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_number_running_servers_get_few_issues() {
        let parsed = |arguments: &[&str]| {
            let arguments = std::iter::once("bench").chain(arguments.iter().copied());
            Options::try_parse_from(arguments)
        };
        assert_eq!(parsed(&[]).unwrap().issues(), [1_000, 100_000]);
        let remote = ["--url", "http://a:1"];
        assert_eq!(parsed(&remote).unwrap().issues(), [1_000]);
        assert!(parsed(&["--token", "t"]).is_err());
        assert!(parsed(&["--docs-from", "a.json", "--quick"]).is_err());
        let files = parsed(&["--docs-from", "a.json,b.json"]).unwrap();
        assert_eq!(files.docs_from.len(), 2);
    }
}
