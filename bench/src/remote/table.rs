//! The table of running servers: one alone, or two side by side.

use std::fmt::Write as _;

use crate::figure::Figure;
use crate::load::Measurement;
use crate::report::{rate, thousands};

/// One figure of each server; `None` where it could not be measured.
pub(super) struct Compared {
    pub(super) figure: Figure,
    pub(super) connections: usize,
    pub(super) measured: Vec<Option<Measurement>>,
}

/// The table, with the ratio of the second server to the first where there are two.
pub(super) fn table(urls: &[String], issues: usize, rows: &[Compared]) -> String {
    let mut text = format!("{} issues\n", thousands(issues));
    let names = ["A", "B"];
    if urls.len() > 1 {
        for (name, url) in names.iter().zip(urls) {
            // Writing to a text does not fail.
            let _ = writeln!(text, "{name}: {url}");
        }
    }
    text.push('\n');
    let mut line = format!("{:<19}{:>8}", "figure", "clients");
    for name in names.iter().take(urls.len()) {
        let of = if urls.len() > 1 {
            format!("{name} ")
        } else {
            String::new()
        };
        for (column, width) in [("per s", 11), ("p50 ms", 10), ("p99 ms", 10)] {
            let _ = write!(line, "{:>width$}", format!("{of}{column}"));
        }
    }
    if urls.len() > 1 {
        for column in ["per s", "p50", "p99"] {
            let _ = write!(line, "{:>11}", format!("B/A {column}"));
        }
    }
    push_line(&mut text, &line);
    for row in rows {
        push_line(&mut text, &cells(row));
    }
    text
}

fn cells(row: &Compared) -> String {
    let mut line = format!("{:<19}{:>8}", row.figure.title(), row.connections);
    for measured in &row.measured {
        let [per_second, p50, p99] = match measured {
            Some(it) => [
                rate(it.per_second),
                format!("{:.2}", it.p50_ms),
                format!("{:.2}", it.p99_ms),
            ],
            None => ["-", "-", "-"].map(str::to_owned),
        };
        let _ = write!(line, "{per_second:>11}{p50:>10}{p99:>10}");
    }
    if let [Some(first), Some(second)] = row.measured.as_slice() {
        for (first, second) in [
            (first.per_second, second.per_second),
            (first.p50_ms, second.p50_ms),
            (first.p99_ms, second.p99_ms),
        ] {
            let _ = write!(line, "{:>11.2}", second / first);
        }
    }
    line
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(per_second: f64, p50_ms: f64) -> Option<Measurement> {
        Some(Measurement {
            operations: 1,
            per_second,
            p50_ms,
            p99_ms: p50_ms * 2.0,
            max_ms: p50_ms * 3.0,
        })
    }

    fn rows(measured: [Vec<Option<Measurement>>; 2]) -> Vec<Compared> {
        let figures = [Figure::AgentMe, Figure::PostCost];
        let rows = figures
            .into_iter()
            .zip(measured)
            .map(|(figure, measured)| Compared {
                figure,
                connections: 8,
                measured,
            });
        rows.collect()
    }

    #[test]
    fn one_server_stands_alone() {
        let rows = rows([vec![measured(1234.0, 1.5)], vec![None]]);
        assert_eq!(
            table(&["http://a".to_owned()], 1000, &rows),
            "1,000 issues\n\
             \n\
             figure              clients      per s    p50 ms    p99 ms\n\
             GET agent me              8      1,234      1.50      3.00\n\
             POST cost event           8          -         -         -\n"
        );
    }

    #[test]
    fn two_servers_stand_side_by_side() {
        let rows = rows([
            vec![measured(1000.0, 1.0), measured(2000.0, 0.5)],
            vec![None, measured(10.0, 1.0)],
        ]);
        let urls = ["http://a", "http://b"].map(str::to_owned);
        assert_eq!(
            table(&urls, 500, &rows),
            "500 issues\n\
             A: http://a\n\
             B: http://b\n\
             \n\
             figure              clients    A per s  A p50 ms  A p99 ms    B per s  B p50 ms  B p99 ms  B/A per s    B/A p50    B/A p99\n\
             GET agent me              8      1,000      1.00      2.00      2,000      0.50      1.00       2.00       0.50       0.50\n\
             POST cost event           8          -         -         -         10      1.00      2.00\n"
        );
    }
}
