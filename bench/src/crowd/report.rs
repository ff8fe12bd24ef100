//! What is told of a crowd.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::streams::StreamFigures;
use super::work::Step;
use crate::load::Measurement;
use crate::report::{rate, thousands};
use crate::server::Memory;

/// What was measured of a crowd.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CrowdRun {
    pub(super) database: String,
    pub(super) servers: usize,
    pub(super) agents: usize,
    pub(super) connections: usize,
    pub(super) cycle_seconds: f64,
    pub(super) seconds: f64,
    pub(super) requests_per_second: f64,
    /// Of all servers, in microseconds.
    pub(super) processor_micros_per_request: f64,
    /// Of all processes of a database that has its own, the same.
    pub(super) database_processor_micros_per_request: Option<f64>,
    pub(super) memory: Vec<Memory>,
    pub(super) database_growth_mib: f64,
    /// Requests that were sent more than a second after their time.
    pub(super) late: usize,
    pub(super) streams: StreamFigures,
    pub(super) steps: Vec<(Step, Measurement)>,
}

impl CrowdRun {
    /// The table, as it is printed.
    pub(super) fn table(&self) -> String {
        let mut text = format!(
            "{}\n{}\n{}\n\nstep                per s   p50 ms   p99 ms   max ms\n",
            self.title(),
            self.use_of_machine(),
            self.events()
        );
        for (step, measured) in &self.steps {
            // Writing to a text does not fail.
            let _ = writeln!(
                text,
                "{:<16}{:>9.0}{:>9.2}{:>9.2}{:>9.1}",
                step.title(),
                measured.per_second,
                measured.p50_ms,
                measured.p99_ms,
                measured.max_ms
            );
        }
        text
    }

    /// The same for a page.
    pub(crate) fn section(&self) -> String {
        let mut text = format!(
            "{}: {}; {}.\n\n\
             | Step | per second | p50 ms | p99 ms | longest ms |\n|---|--:|--:|--:|--:|\n",
            self.title(),
            self.use_of_machine(),
            self.events()
        );
        for (step, measured) in &self.steps {
            let _ = writeln!(
                text,
                "| {} | {:.0} | {:.2} | {:.2} | {:.1} |",
                step.title(),
                measured.per_second,
                measured.p50_ms,
                measured.p99_ms,
                measured.max_ms
            );
        }
        text
    }

    fn title(&self) -> String {
        let servers = match self.servers {
            1 => "one server".to_owned(),
            count => format!("{count} servers"),
        };
        format!(
            "{}, {servers}, {} agents, each at work every {:.0} s, {} connections",
            self.database,
            thousands(self.agents),
            self.cycle_seconds,
            self.connections
        )
    }

    fn use_of_machine(&self) -> String {
        let server = if self.servers == 1 {
            "server's"
        } else {
            "servers'"
        };
        let of_database = self.database_processor_micros_per_request;
        let of_database = of_database.map_or_else(String::new, |micros| {
            format!(" and {micros:.0} us of the database's")
        });
        let memory: Vec<_> = self
            .memory
            .iter()
            .map(|memory| format!("{:.0}", memory.resident_mib))
            .collect();
        format!(
            "{} requests/s, {:.0} us of the {server} processor time{of_database} each, {} sent \
             late, memory {} MiB, database {:+.1} MiB",
            rate(self.requests_per_second),
            self.processor_micros_per_request,
            self.late,
            memory.join(" + "),
            self.database_growth_mib
        )
    }

    fn events(&self) -> String {
        let StreamFigures {
            open,
            events,
            p50_ms,
            p99_ms,
        } = self.streams;
        format!(
            "{open} streams: {} events, p50 {p50_ms:.1} ms, p99 {p99_ms:.1} ms after they \
             happened",
            thousands(events)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_with_processes_of_its_own_is_told_beside_the_server() {
        let memory = Memory {
            resident_mib: 20.0,
            peak_mib: 30.0,
            anonymous_mib: 10.0,
        };
        let mut run = CrowdRun {
            database: "PostgreSQL".to_owned(),
            servers: 2,
            agents: 2000,
            connections: 500,
            cycle_seconds: 20.0,
            seconds: 10.0,
            requests_per_second: 700.0,
            processor_micros_per_request: 300.0,
            database_processor_micros_per_request: Some(900.0),
            memory: vec![memory, memory],
            database_growth_mib: 1.5,
            late: 0,
            streams: StreamFigures {
                open: 200,
                events: 1000,
                p50_ms: 1.0,
                p99_ms: 2.0,
            },
            steps: Vec::new(),
        };
        assert_eq!(
            run.title(),
            "PostgreSQL, 2 servers, 2,000 agents, each at work every 20 s, 500 connections"
        );
        assert_eq!(
            run.use_of_machine(),
            "700 requests/s, 300 us of the servers' processor time and 900 us of the database's \
             each, 0 sent late, memory 20 + 20 MiB, database +1.5 MiB"
        );
        run.database_processor_micros_per_request = None;
        assert!(!run.use_of_machine().contains("of the database's"));
    }
}
