//! The table of one run, as it is printed.

use super::{Baseline, Run};

impl Run {
    /// The table of this run.
    pub(crate) fn table(&self) -> String {
        let mut text = format!(
            "{}, {} issues\nstart-up {:.0} ms, resident memory {:.1} MiB (peak {:.1}, without \
             mapped files {:.1})\n\n",
            self.database,
            thousands(self.issues),
            self.start_up_ms,
            self.memory.resident_mib,
            self.memory.peak_mib,
            self.memory.anonymous_mib,
        );
        let mut line = |cells: [&str; 9]| {
            let [
                title,
                clients,
                rate,
                p50,
                p99,
                baseline,
                ratio,
                grouped,
                grouped_ratio,
            ] = cells;
            let row = format!(
                "{title:<19}{clients:>8}{rate:>10}{p50:>9}{p99:>9}{baseline:>12}{ratio:>7}\
                 {grouped:>12}{grouped_ratio:>7}"
            );
            text.push_str(row.trim_end());
            text.push('\n');
        };
        line([
            "figure",
            "clients",
            "per s",
            "p50 ms",
            "p99 ms",
            "limit/s",
            "ratio",
            "grouped/s",
            "ratio",
        ]);
        for row in &self.rows {
            let rate = |baseline: Option<&Baseline>| {
                baseline.map_or_else(String::new, |it| rate(it.measurement.per_second))
            };
            let ratio = |baseline: Option<&Baseline>| {
                baseline.map_or_else(String::new, |it| format!("{:.2}", it.ratio))
            };
            line([
                row.figure.title(),
                &row.connections.to_string(),
                &self::rate(row.server.per_second),
                &format!("{:.2}", row.server.p50_ms),
                &format!("{:.2}", row.server.p99_ms),
                &rate(row.limit.as_ref().or(row.baseline.as_ref())),
                &ratio(row.limit.as_ref().or(row.baseline.as_ref())),
                &rate(row.grouped_baseline.as_ref()),
                &ratio(row.grouped_baseline.as_ref()),
            ]);
        }
        text
    }
}

/// Operations per second, rounded.
pub(crate) fn rate(per_second: f64) -> String {
    thousands(per_second.round() as usize)
}

/// With a comma between thousands.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::examples::run;
    use super::*;

    #[test]
    fn the_table_shows_the_baseline_of_writes_only() {
        assert_eq!(
            run().table(),
            "SQLite, 100,000 issues\n\
             start-up 300 ms, resident memory 20.0 MiB (peak 30.0, without mapped files 10.0)\n\
             \n\
             figure              clients     per s   p50 ms   p99 ms     limit/s  ratio   grouped/s  ratio\n\
             GET agent me              8     1,000     1.00     2.00\n\
             POST issue                8     1,000     1.00     2.00       2,000   0.50\n"
        );
    }

    #[test]
    fn thousands_are_set_apart() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(thousands(number), expected);
        }
    }
}
