//! Every list is read along an index: no table is scanned and nothing is
//! sorted, however much there is. The same holds for what is looked up and for
//! what the engine does again and again. The words that they spell out are words
//! of their columns.
//!
//! The statements are taken from the connections of the store as they run, and
//! explained on a connection of our own. PostgreSQL explains the generic plan,
//! which knows the shape of a statement but not its values.

mod filling;
mod lists;
mod lookups;
mod sweeps;
mod tickets;
mod words;

use std::fmt::Write as _;

use diesel::connection::SimpleConnection;
use diesel::sql_types::Text;
use diesel::{Connection, PgConnection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};
use workforce_domain::port::{Reads, StoreError};
use workforce_testkit::store::{TestStore, postgres_store, sqlite_store};

use self::filling::{Asked, fill};
use crate::recorder;
use crate::world::{execute, read};

type Body<'a> = Box<dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + 'a>;

/// What a statement is for, and so what its plan may do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A page of a list: it follows an index in the order of the list.
    List,
    /// It knows more of a key than its company.
    LookUp,
    /// It follows an index to the first row that will do, and looks up for each
    /// whether it does.
    Walk,
    /// It goes over all that it counts, changes or takes the first of, and over
    /// nothing else.
    Sweep,
}

/// What has few rows however many there are elsewhere: one for each company, or for each
/// open pull request, or none but those that are looked for.
const OF_FEW: [&str; 16] = [
    "agents_resting",
    "agents_stopped_by_budget",
    "agents_timers_to_set",
    "companies_stopped",
    "company_counters",
    "heartbeat_runs_leases",
    "heartbeat_runs_live",
    "heartbeat_runs_one_per_workspace",
    "issue_leases_of_run",
    "pull_request_watches_pkey",
    "run_spends_held",
    "sqlite_autoindex_companies_",
    "sqlite_autoindex_pull_request_watches_1",
    "wakes_in_turn",
    "wakes_of_agent",
    "wakes_of_issue",
];

/// What is no table, or is one of [`OF_FEW`] under a name of the statement's own, or the companies,
/// of which there is one here.
const SMALL: [&str; 13] = [
    "SCAN CONSTANT ROW",
    "SCAN below",
    "SCAN chain",
    "SCAN d",
    "SCAN earlier",
    "SCAN firm",
    "SCAN latest",
    "SCAN matched",
    "SCAN n",
    "SCAN ranked",
    "SCAN turn",
    "SCAN up",
    "SCAN waiting",
];

/// The statements about rows that `body` runs, without their values.
fn recorded(body: impl FnOnce()) -> Vec<String> {
    let mut statements = recorder::recorded(body).run;
    statements.retain(|statement| {
        ["SELECT", "WITH", "UPDATE", "DELETE"]
            .iter()
            .any(|verb| statement.starts_with(verb))
    });
    statements
}

#[derive(QueryableByName)]
struct SqliteLine {
    #[diesel(sql_type = Text)]
    detail: String,
}

#[derive(QueryableByName)]
struct PostgresLine {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    line: String,
}

fn plan(store: &TestStore, query: &str, purpose: Purpose) -> Vec<String> {
    if store.connection().starts_with("postgres") {
        let mut connection = PgConnection::establish(store.connection()).unwrap();
        let (query, parameters) = prepared(query);
        let nulls = vec!["NULL"; parameters].join(", ");
        let arguments = if nulls.is_empty() {
            nulls
        } else {
            format!("({nulls})")
        };
        // For a handful of rows, which is what statistics of small tables promise at times, it is
        // cheaper to gather them and sort. What counts is that an index gives the order: without
        // one the sort stays, whatever is said here.
        // In the same way, a walk of a few steps may as well read a small table as a whole.
        let settings = match purpose {
            Purpose::List => "SET enable_bitmapscan = off; SET enable_sort = off;",
            Purpose::Walk => "SET enable_sort = off; SET enable_seqscan = off;",
            Purpose::LookUp => {
                "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off;"
            }
            Purpose::Sweep => "SET enable_seqscan = off;",
        };
        connection
            .batch_execute(&format!(
                "SET plan_cache_mode = force_generic_plan; {settings} PREPARE explained AS {query}"
            ))
            .unwrap();
        let lines: Vec<PostgresLine> = sql_query(format!("EXPLAIN EXECUTE explained {arguments}"))
            .load(&mut connection)
            .unwrap();
        lines.into_iter().map(|line| line.line).collect()
    } else {
        let mut connection = SqliteConnection::establish(store.connection()).unwrap();
        let lines: Vec<SqliteLine> = sql_query(format!("EXPLAIN QUERY PLAN {query}"))
            .load(&mut connection)
            .unwrap();
        lines.into_iter().map(|line| line.detail).collect()
    }
}

/// The query with a page's size in the place of its last parameter, when that
/// is a limit, which PostgreSQL would otherwise take for a tenth of the table;
/// and how many parameters are left.
fn prepared(query: &str) -> (String, usize) {
    let parameters = query
        .split('$')
        .skip(1)
        .filter_map(|rest| {
            let digits = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            rest[..digits].parse().ok()
        })
        .max()
        .unwrap_or(0);
    match query.split_once(&format!("LIMIT ${parameters}")) {
        Some((before, after)) => (format!("{before}LIMIT 21{after}"), parameters - 1),
        None => (query.to_owned(), parameters),
    }
}

/// What a plan must not do.
fn fault(line: &str, purpose: Purpose) -> bool {
    // The index of words is looked up, not walked, where a match is asked for.
    let of_words = line.contains(" VIRTUAL TABLE INDEX ") && line.ends_with(":M1");
    // What a window function goes over is a part of the statement, with a line of its own.
    let of_window = line.starts_with("SCAN (subquery-");
    let walks = line.starts_with("SCAN") && !of_words && !of_window;
    let scans = line.contains("Seq Scan") || walks;
    let sorts = line.contains("Sort") || line.contains("TEMP B-TREE FOR");
    let is_short = SMALL.contains(&line) || OF_FEW.iter().any(|index| line.contains(index));
    // What is looked up has more of a key than its company.
    let walks_company = line.ends_with("(company_id=?)");
    (scans && !is_short)
        || (sorts && matches!(purpose, Purpose::List | Purpose::Walk))
        || (walks_company && !is_short && purpose == Purpose::LookUp)
}

/// A line for each of these statements that has a fault in its plan.
fn faults_of(store: &TestStore, name: &str, statements: &[String], purpose: Purpose) -> String {
    assert!(!statements.is_empty(), "{name} asks the database");
    let mut report = String::new();
    for statement in statements {
        if let Some(word) = words::unknown(statement) {
            let _ = writeln!(
                report,
                "{name}\n{statement}\n  `{word}` is no word of its column\n"
            );
        }
        // A bounded number of issues that are found first and put in order then.
        let is_ranked = statement.contains("MIN(found)");
        // The claim walks to the first wake that may be answered.
        let is_in_turn = statement.ends_with("ORDER BY w.priority, w.created_at, w.id LIMIT 1");
        // The list that a search walks along.
        let is_walked = statement.contains("octet_length(") && statement.contains("ORDER BY");
        let purpose = match (is_ranked, is_in_turn, is_walked) {
            (true, ..) => Purpose::LookUp,
            (_, true, _) => Purpose::Walk,
            (.., true) => Purpose::List,
            _ => purpose,
        };
        let lines = plan(store, statement, purpose);
        if lines.iter().any(|line| fault(line, purpose)) {
            let _ = writeln!(report, "{name}\n{statement}\n  {}\n", lines.join("\n  "));
        }
    }
    report
}

/// Collects every fault of every plan.
fn faults(store: &TestStore, asked: &Asked) -> String {
    let lists = lists::lists(asked).into_iter();
    let lists = lists.map(|(name, body)| (name, body, Purpose::List));
    let others = lookups::others(asked).into_iter();
    let others = others.map(|(name, body)| (name, body, Purpose::LookUp));
    let queues = tickets::queues(asked).into_iter();
    let queues = queues.map(|(name, body)| (name, body, Purpose::Walk));
    let of_tickets = tickets::look_ups(asked).into_iter();
    let of_tickets = of_tickets.map(|(name, body)| (name, body, Purpose::LookUp));
    lists
        .chain(others)
        .chain(queues)
        .chain(of_tickets)
        .map(|(name, body, purpose)| {
            let statements = recorded(|| read(&**store, body));
            faults_of(store, &name, &statements, purpose)
        })
        .collect()
}

#[test]
fn sqlite_reads_every_list_along_an_index() {
    recorder::install();
    let store = sqlite_store();
    store.is_beneath_the_rules();
    let asked = fill(&store);
    let blind = faults(&store, &asked);
    assert!(blind.is_empty(), "{blind}");
    execute(&store, "ANALYZE");
    let informed = faults(&store, &asked) + &sweeps::faults(&store, &asked);
    assert!(informed.is_empty(), "{informed}");
}

#[test]
fn postgres_reads_every_list_along_an_index() {
    recorder::install();
    let Some(store) = postgres_store() else {
        return;
    };
    store.is_beneath_the_rules();
    let asked = fill(&store);
    execute(&store, "ANALYZE");
    let faults = faults(&store, &asked) + &sweeps::faults(&store, &asked);
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn a_scan_and_a_sort_are_told_from_the_use_of_an_index() {
    for (line, scans, sorts) in [
        ("Seq Scan on issues", true, false),
        ("SCAN issues", true, false),
        ("SCAN issues USING INDEX issues_by_goal", true, false),
        ("SCAN chain", false, false),
        ("SCAN (subquery-3)", false, false),
        ("SCAN w USING INDEX wakes_in_turn", false, false),
        ("CTE Scan on chain", false, false),
        ("Index Scan using issues_by_goal on issues", false, false),
        ("USE TEMP B-TREE FOR ORDER BY", false, true),
        ("USE TEMP B-TREE FOR LAST TERM OF ORDER BY", false, true),
        ("  Sort Key: updated_at", false, true),
        ("  ->  Incremental Sort", false, true),
    ] {
        assert_eq!(fault(line, Purpose::LookUp), scans, "{line}");
        assert_eq!(fault(line, Purpose::Sweep), scans, "{line}");
        assert_eq!(fault(line, Purpose::List), scans || sorts, "{line}");
    }
    // A list may follow its company; a look-up must know more.
    let company = "SEARCH issues USING INDEX issues_by_urgency (company_id=?)";
    assert!(!fault(company, Purpose::List));
    assert!(fault(company, Purpose::LookUp));
}
