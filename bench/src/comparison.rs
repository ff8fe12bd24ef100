//! Whether the baselines still run what the server runs.
//!
//! A baseline is worth nothing when the server's statements have moved on. PostgreSQL logs every
//! statement, so each write is done once by the server and once by its baseline, and what was logged
//! is compared: the kind of each statement, its table, its lock, and the order.

use std::collections::HashMap;

use anyhow::{Context as _, Result};
use diesel::PgConnection;
use workforce_testkit::postgres::Cluster;

use crate::baseline::Session;
use crate::client::Client;
use crate::company::Company;
use crate::database::Database;
use crate::figure::{Figure, Place};
use crate::read::Reader;
use crate::seed::Issues;
use crate::server::Server;
use crate::statement::Key;
use crate::write::Writer;

/// Makes the database of a connection log every statement of later connections.
pub(crate) const LOG_STATEMENTS: &str = "DO $$ BEGIN EXECUTE format( \
     'ALTER DATABASE %I SET log_statement = ''all''', current_database()); END $$";

/// What only one of the two runs, one line for each write that differs. The database at `url` logs
/// its statements.
pub(crate) fn differences(
    cluster: &Cluster,
    url: &str,
    server: &Server,
    company: &Company,
    issues: &Issues,
) -> Result<Vec<String>> {
    let log = || {
        cluster
            .log()
            .context("failed to read the log of PostgreSQL")
    };
    let mut session = Session::new(PgConnection::open(url)?, 1);
    let first = Place {
        connection: 0,
        connections: 1,
    };
    let mut writer = Writer::new(session.database(), company, issues, first)?;
    let reader = Reader::new(session.database(), company)?;
    let mut client = Client::connect(server.address())?;
    let mut differences = Vec::new();
    let compared = |figure: &Figure| figure.is_write() || figure.has_limit();
    for figure in Figure::ALL.into_iter().filter(compared) {
        let begin = log()?.len();
        let operations = figure.operations(company, issues, first);
        let operation = operations.into_iter().next().unwrap_or_default();
        for request in &operation {
            client.send(request)?.require_success()?;
        }
        let middle = log()?.len();
        if figure.is_write() {
            writer.write(figure, &mut session)?;
        } else {
            let asked = operation.first().and_then(|request| issue_in(request));
            reader.read(figure, asked, session.database(), &mut Vec::new())?;
        }
        let log = log()?;
        let of_server = transactions(&log[begin..middle]);
        let of_baseline = transactions(&log[middle..]);
        if of_server != of_baseline {
            differences.push(format!(
                "{}: the server runs {}; the baseline {}",
                figure.title(),
                of_server.join(" / "),
                of_baseline.join(" / ")
            ));
        }
    }
    Ok(differences)
}

/// The issue that the path of a request names last.
fn issue_in(request: &[u8]) -> Option<Key> {
    let path = std::str::from_utf8(request).ok()?.split(' ').nth(1)?;
    path.rsplit('/').next()?.parse().ok().map(Key)
}

/// The statements of every transaction that begins by asking who presents a key: what the server
/// does by itself is left out.
fn transactions(log: &str) -> Vec<String> {
    let mut open: HashMap<&str, Vec<String>> = HashMap::new();
    let mut ended = Vec::new();
    for line in log.lines() {
        let Some((head, text)) = line.split_once("] LOG:  ") else {
            continue;
        };
        let process = head.rsplit('[').next().unwrap_or(head);
        if text.starts_with("statement: BEGIN") {
            open.insert(process, Vec::new());
        } else if text.starts_with("statement: COMMIT") || text.starts_with("statement: ROLLBACK") {
            let statements = open.remove(process).unwrap_or_default();
            if statements
                .first()
                .is_some_and(|it| it == "SELECT agent_keys")
            {
                ended.push(statements.join(", "));
            }
        } else if let Some((_, sql)) = text.split_once(": ")
            && text.starts_with("execute")
            && let Some(statements) = open.get_mut(process)
        {
            statements.push(shape(sql));
        }
    }
    ended
}

/// The kind of a statement, its first table, and its lock.
fn shape(sql: &str) -> String {
    let sql = sql.replace('"', "");
    let mut words = sql.split_whitespace();
    let kind = words.next().unwrap_or_default();
    let table = match kind {
        "UPDATE" => words.next(),
        "WITH" => None,
        _ => words
            .find(|word| matches!(*word, "FROM" | "INTO"))
            .and_then(|_| words.next()),
    };
    let mut shape = kind.to_owned();
    if let Some(table) = table {
        shape.push(' ');
        shape.push_str(table.trim_matches('('));
    }
    if sql.trim_end().ends_with(" FOR NO KEY UPDATE") {
        shape.push_str(" locking");
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_known_by_its_kind_table_and_lock() {
        for (sql, expected) in [
            (
                r#"SELECT "a"."b" FROM ("a" INNER JOIN ("c" ...)) WHERE x"#,
                "SELECT a",
            ),
            (
                r#"SELECT "a"."b" FROM "a" LIMIT $1 FOR NO KEY UPDATE"#,
                "SELECT a locking",
            ),
            (r#"INSERT INTO "a" ("b") VALUES ($1)"#, "INSERT a"),
            ("INSERT INTO a (b)", "INSERT a"),
            (r#"UPDATE "a" SET "b" = $1"#, "UPDATE a"),
            ("DELETE FROM a WHERE b = $1", "DELETE a"),
            ("WITH RECURSIVE chain (id, depth) AS (", "WITH"),
        ] {
            assert_eq!(shape(sql), expected, "{sql}");
        }
    }

    #[test]
    fn only_whole_transactions_of_a_key_count() {
        let log = "\
2026-01-01 [1] LOG:  statement: BEGIN
2026-01-01 [2] LOG:  statement: BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE
2026-01-01 [1] LOG:  execute s1: SELECT id FROM agent_keys WHERE key_hash = $1
2026-01-01 [1] DETAIL:  parameters: $1 = 'x'
2026-01-01 [2] LOG:  execute <unnamed>: SELECT w.id FROM wakes w
2026-01-01 [2] LOG:  statement: COMMIT
2026-01-01 [1] LOG:  execute <unnamed>: WITH RECURSIVE chain AS (
\tSELECT 1 FROM issues
2026-01-01 [1] LOG:  statement: COMMIT
2026-01-01 [1] LOG:  statement: BEGIN
2026-01-01 [1] LOG:  execute s1: SELECT id FROM agent_keys WHERE key_hash = $1
";
        assert_eq!(transactions(log), ["SELECT agent_keys, WITH"]);
    }
}
