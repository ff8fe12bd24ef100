//! What is counted is counted along indexes.

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, RunQueryDsl, sql_query};
use workforce_domain::dashboard::Instants;
use workforce_testkit::store::{TestStore, postgres_store, sqlite_store};

use crate::explain::{Asked, PostgresLine, fill, plan, prepared, recorded};
use crate::recorder;
use crate::world::{execute, now, write};

/// The statements of the dashboard and of the timers. They count, so that what
/// matters is that each walks along an index of what it counts; a table of a
/// test is small enough to be read as a whole, unless that is forbidden.
fn counting(store: &TestStore, asked: &Asked) -> Vec<String> {
    let instants = Instants {
        today: now(),
        yesterday: now(),
        hour_ago: now(),
    };
    let mut statements = recorded(store, |reads| {
        reads.companies().figures(asked.scope, instants)?;
        reads.companies().badges(asked.scope)?;
        Ok(())
    });
    let timers = recorder::recorded(|| {
        write(&**store, |tx| tx.engine().timers_to_look_at(now(), 20));
    });
    statements.extend(
        timers
            .run
            .into_iter()
            .filter(|query| query.starts_with("SELECT")),
    );
    statements
}

#[test]
fn the_dashboard_and_the_timers_walk_along_indexes() {
    recorder::install();
    for store in [Some(sqlite_store()), postgres_store()]
        .into_iter()
        .flatten()
    {
        let asked = fill(&store);
        execute(&store, "ANALYZE");
        let statements = counting(&store, &asked);
        assert_eq!(statements.len(), 6, "{statements:?}");
        for query in statements {
            let lines = counted_plan(&store, &query);
            let scans = |line: &String| {
                (line.contains("Seq Scan") || line.starts_with("SCAN"))
                    && !["SCAN d", "SCAN earlier", "SCAN CONSTANT ROW"].contains(&line.as_str())
                    // This index holds nothing but what is looked for.
                    && !line.contains("agents_timers_to_set")
            };
            assert!(
                !lines.iter().any(scans),
                "{query}\n  {}",
                lines.join("\n  ")
            );
        }
    }
}

fn counted_plan(store: &TestStore, query: &str) -> Vec<String> {
    if !store.connection().starts_with("postgres") {
        return plan(store, query, false);
    }
    let mut connection = PgConnection::establish(store.connection()).unwrap();
    let (query, parameters) = prepared(query);
    let nulls = vec!["NULL"; parameters].join(", ");
    connection
        .batch_execute(&format!(
            "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; \
             PREPARE explained AS {query}"
        ))
        .unwrap();
    let arguments = if nulls.is_empty() {
        nulls
    } else {
        format!("({nulls})")
    };
    let lines: Vec<PostgresLine> = sql_query(format!("EXPLAIN EXECUTE explained {arguments}"))
        .load(&mut connection)
        .unwrap();
    lines.into_iter().map(|line| line.line).collect()
}
