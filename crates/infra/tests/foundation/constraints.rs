//! What the store makes impossible: each constraint refuses a row, past every rule, that is
//! otherwise as good as one it admits.

use workforce_testkit::on_both_databases;

use crate::raw::{Raw, Reference};
use crate::rows::Value::{Digest, Flag, Instant, Key, Null, Number, Text};
use crate::rows::{
    BOSS, COMPANY, ISSUE, OTHER, PARENT, RUN, Row, WORKER, WORKTREE, agent, agent_key, alert,
    approval, company, cost, event, insert_company, issue, kept_answer, lease, live_run, revision,
    run, secret_version, stream_ticket, wake, workspace,
};

/// How a refusal begins, on SQLite and on PostgreSQL.
#[derive(Clone, Copy)]
enum Kind {
    Unique,
    Check,
    ForeignKey,
}

impl Kind {
    fn is_in(self, error: &str) -> bool {
        let [sqlite, postgres] = match self {
            Self::Unique => ["UNIQUE constraint failed", "violates unique constraint"],
            Self::Check => ["CHECK constraint failed", "violates check constraint"],
            Self::ForeignKey => [
                "FOREIGN KEY constraint failed",
                "violates foreign key constraint",
            ],
        };
        error.contains(sqlite) || error.contains(postgres)
    }
}

#[track_caller]
fn refused(raw: &mut Raw, kind: Kind, row: &Row) {
    let error = row.try_insert(raw).expect_err(&format!("{row:?}"));
    assert!(kind.is_in(&error), "{row:?}: {error}");
}

/// `bad` breaks a check, and would be stored as `good` but for that.
#[track_caller]
fn only_good(raw: &mut Raw, good: &Row, bad: &Row) {
    refused(raw, Kind::Check, bad);
    good.insert(raw);
}

/// Two rows that differ in everything but what must be unique.
#[track_caller]
fn only_one(raw: &mut Raw, first: &Row, second: &Row, elsewhere: &Row) {
    first.insert(raw);
    refused(raw, Kind::Unique, second);
    elsewhere.insert(raw);
}

/// A store with a company in it.
fn with_company(connection: &str) -> Raw {
    let mut raw = Raw::open(connection);
    insert_company(&mut raw, 0);
    raw
}

/// Every reference, with its column beside `company_id`.
fn linked_columns(raw: &mut Raw) -> Vec<(Reference, String)> {
    let references = raw.references();
    assert!(references.len() > 40, "{} references", references.len());
    let composite = references.into_iter().filter(|it| it.parent != "companies");
    composite
        .map(|it| {
            let column = it.columns.strip_prefix("company_id,").map(str::to_owned);
            let column = column.unwrap_or_else(|| panic!("{it:?} does not carry the company"));
            (it, column)
        })
        .collect()
}

on_both_databases! {
    #![beneath_the_rules]
    fn every_reference_carries_the_company(store: &TestStore) {
        let mut raw = Raw::of(store);
        for reference in raw.references() {
            let [columns, parent_columns] = if reference.parent == "companies" {
                ["company_id", "id"].map(str::to_owned)
            } else {
                let column = reference.columns.rsplit(',').next().unwrap();
                [format!("company_id,{column}"), "company_id,id".to_owned()]
            };
            assert_eq!(reference.columns, columns, "{reference:?}");
            assert_eq!(reference.parent_columns, Some(parent_columns), "{reference:?}");
        }
    }

    fn every_table_belongs_to_a_company(store: &TestStore) {
        let mut raw = Raw::of(store);
        for table in raw.tables() {
            let owner = raw.columns(&table).into_iter().find(|it| it.name == "company_id");
            match (table.as_str(), owner) {
                (
                    "companies" | "idempotency_keys" | "board_tokens" | "board_sessions"
                    | "login_links" | "installation"
                    | "vault_canary",
                    None,
                ) => {}
                (_, Some(owner)) => assert!(owner.not_null, "{table}"),
                (_, None) => panic!("{table} belongs to nobody"),
            }
        }
    }

    fn no_reference_leads_to_another_company(store: &TestStore) {
        let mut raw = with_company(store.connection());
        insert_company(&mut raw, 1);
        let [own, other] = [0, 1].map(|company| crate::rows::key(company, COMPANY));
        for (reference, column) in linked_columns(&mut raw) {
            let Reference { child, parent, .. } = &reference;
            let update = format!(
                "UPDATE {child} SET {column} =
                     (SELECT min(CAST(id AS text)) FROM {parent} WHERE company_id = '{other}')
                 WHERE company_id = '{own}' AND {column} IS NOT NULL"
            );
            let update = if raw.is_postgres() {
                update.replace("min(CAST(id AS text))", "CAST(min(CAST(id AS text)) AS uuid)")
            } else {
                update
            };
            raw.run("BEGIN");
            if child != parent {
                // What must be unique to a target would be in the way.
                raw.run(&format!("DELETE FROM {child} WHERE company_id = '{other}'"));
            }
            let error = raw.try_run(&update).expect_err(&format!("{reference:?}"));
            raw.run("ROLLBACK");
            assert!(Kind::ForeignKey.is_in(&error), "{reference:?}: {error}");
        }
    }

    fn an_issue_has_one_assignee_and_somebody_works_on_it(store: &TestStore) {
        let mut raw = with_company(store.connection());
        let task = issue(0, OTHER).with("status", Text("in_progress"));
        refused(&mut raw, Kind::Check, &task);
        let assigned = task.with("assignee_agent_id", Key(0, WORKER));
        only_good(
            &mut raw,
            &assigned,
            &assigned.clone().with("assignee_user_id", Text("local-board")),
        );
    }

    fn an_issue_is_not_its_own_parent_and_ends_at_an_instant(store: &TestStore) {
        let mut raw = with_company(store.connection());
        let task = issue(0, OTHER);
        refused(&mut raw, Kind::Check, &task.clone().with("parent_id", Key(0, OTHER)));
        refused(&mut raw, Kind::Check, &task.clone().with("status", Text("done")));
        refused(&mut raw, Kind::Check, &task.clone().with("status", Text("cancelled")));
        refused(&mut raw, Kind::Check, &task.clone().with("status", Text("open")));
        refused(&mut raw, Kind::Check, &task.clone().with("priority", Number(4)));
        task.with("status", Text("done")).with("completed_at", Instant).insert(&mut raw);
    }

    fn issue_numbers_are_unique_in_a_company(store: &TestStore) {
        let mut raw = with_company(store.connection());
        company(1).insert(&mut raw);
        let taken = Number(ISSUE.into());
        let second = issue(0, OTHER).with("number", taken);
        refused(&mut raw, Kind::Unique, &second);
        second.with("number", Number(100)).insert(&mut raw);
        refused(&mut raw, Kind::Unique, &issue(1, OTHER).with("identifier", Text("ACM-9")));
        issue(1, OTHER).with("number", taken).with("identifier", Text("BEE-9")).insert(&mut raw);
    }

    fn an_issue_has_one_lease_which_ends_with_its_run(store: &TestStore) {
        let mut raw = with_company(store.connection());
        refused(&mut raw, Kind::Unique, &lease(0).with("run_id", Key(0, RUN + 1)));
        let free = lease(0).with("issue_id", Key(0, PARENT));
        refused(&mut raw, Kind::Check, &free.clone().with("expires_at", Instant));
        only_good(
            &mut raw,
            &free.clone().with("run_id", Null).with("expires_at", Instant),
            &free.with("run_id", Null),
        );
        let run = crate::rows::key(0, RUN);
        raw.run(&format!("DELETE FROM heartbeat_runs WHERE id = '{run}'"));
        assert_eq!(raw.count("SELECT count(*) AS n FROM issue_leases WHERE run_id IS NOT NULL"), 0);
    }

    fn one_wake_is_pending_for_each_reason(store: &TestStore) {
        let mut raw = with_company(store.connection());
        let second = wake(0, 2).with("run_id", Key(0, RUN + 1));
        refused(&mut raw, Kind::Unique, &second);
        second.clone().with("coalesce_key", Text("other")).insert(&mut raw);
        run(0, OTHER).insert(&mut raw);
        second
            .with("id", Key(0, 3))
            .with("run_id", Key(0, OTHER))
            .with("status", Text("dispatched"))
            .insert(&mut raw);
    }

    fn one_run_is_live_in_a_workspace(store: &TestStore) {
        let mut raw = with_company(store.connection());
        let there = |thing| live_run(0, thing).with("execution_workspace_id", Key(0, WORKTREE));
        let ended = run(0, 14).with("execution_workspace_id", Key(0, WORKTREE));
        only_one(&mut raw, &there(12), &there(13), &ended);
    }

    fn one_run_executes_an_issue(store: &TestStore) {
        let mut raw = with_company(store.connection());
        let on_it = |thing| live_run(0, thing).with("issue_id", Key(0, ISSUE));
        let consult = on_it(14).with("kind", Text("consult"));
        only_one(&mut raw, &on_it(12), &on_it(13), &consult);
    }

    fn a_token_a_server_and_a_lease_belong_to_running_runs(store: &TestStore) {
        let mut raw = with_company(store.connection());
        for column in ["token_hash", "instance_id", "lease_expires_at"] {
            refused(&mut raw, Kind::Check, &live_run(0, OTHER).with(column, Null));
        }
        let ended = run(0, OTHER);
        refused(&mut raw, Kind::Check, &ended.clone().with("token_hash", Digest(1)));
        refused(&mut raw, Kind::Check, &ended.clone().with("instance_id", Key(0, 1)));
        refused(&mut raw, Kind::Check, &ended.clone().with("lease_expires_at", Instant));
        refused(&mut raw, Kind::Check, &ended.with("finished_at", Null));
        refused(&mut raw, Kind::Check, &live_run(0, OTHER).with("finished_at", Instant));
        let short = live_run(0, OTHER).with("token_hash", crate::rows::Value::Bytes(31));
        only_good(&mut raw, &live_run(0, OTHER), &short);
        refused(&mut raw, Kind::Unique, &live_run(0, 12).with("token_hash", Digest(OTHER)));
    }

    fn one_approval_over_an_issue_is_undecided(store: &TestStore) {
        let mut raw = with_company(store.connection());
        refused(&mut raw, Kind::Unique, &approval(0, 2));
        let revised = approval(0, 2).with("status", Text("revision_requested"));
        refused(&mut raw, Kind::Unique, &revised);
        approval(0, 2).with("status", Text("cancelled")).insert(&mut raw);
        approval(0, 3).with("type", Text("plan")).insert(&mut raw);
        let approved = approval(0, 4).with("status", Text("approved"));
        refused(&mut raw, Kind::Check, &approved);
        approved.with("decided_by", Text("b")).with("decided_at", Instant).insert(&mut raw);
    }

    fn a_project_has_one_primary_workspace_and_each_lies_somewhere(store: &TestStore) {
        let mut raw = with_company(store.connection());
        let second = workspace(0).with("id", Key(0, OTHER));
        refused(&mut raw, Kind::Unique, &second);
        let secondary = second.with("is_primary", Flag(false));
        only_good(&mut raw, &secondary, &secondary.clone().with("cwd", Null));
    }

    fn an_alert_is_raised_once(store: &TestStore) {
        let mut raw = with_company(store.connection());
        refused(&mut raw, Kind::Unique, &alert(0));
        alert(0).with("threshold", Text("hard")).insert(&mut raw);
        alert(0).with("month", Number(202602)).insert(&mut raw);
        alert(0).with("scope_id", Key(0, BOSS)).insert(&mut raw);
        refused(&mut raw, Kind::Check, &alert(0).with("threshold", Text("loud")));
    }

    fn event_numbers_are_unique_in_a_company(store: &TestStore) {
        let mut raw = with_company(store.connection());
        company(1).insert(&mut raw);
        refused(&mut raw, Kind::Unique, &event(0));
        event(0).with("seq", Number(2)).insert(&mut raw);
        event(1).insert(&mut raw);
    }

    fn versions_of_a_secret_and_revisions_of_an_agent_are_numbered(store: &TestStore) {
        let mut raw = with_company(store.connection());
        refused(&mut raw, Kind::Unique, &secret_version(0));
        only_good(
            &mut raw,
            &secret_version(0).with("version", Number(2)),
            &secret_version(0).with("version", Number(0)),
        );
        refused(&mut raw, Kind::Unique, &revision(0, 3).with("n", Number(2)));
        only_good(&mut raw, &revision(0, 3), &revision(0, 4).with("n", Number(0)));
    }

    fn keys_and_their_digests_are_unique(store: &TestStore) {
        let mut raw = with_company(store.connection());
        refused(&mut raw, Kind::Unique, &agent_key(0).with("id", Key(0, OTHER)));
        let second = agent_key(0).with("id", Key(0, OTHER)).with("key_hash", Digest(9));
        refused(
            &mut raw,
            Kind::Check,
            &second.clone().with("key_hash", crate::rows::Value::Bytes(33)),
        );
        second.insert(&mut raw);
    }

    fn a_ticket_is_found_by_its_digest_alone(store: &TestStore) {
        let mut raw = with_company(store.connection());
        let second = stream_ticket(0).with("holder", Text("start-token"));
        refused(&mut raw, Kind::Unique, &second);
        only_good(
            &mut raw,
            &second.clone().with("ticket_hash", Digest(9)),
            &second.with("ticket_hash", crate::rows::Value::Bytes(31)),
        );
    }

    fn an_answer_is_kept_once(store: &TestStore) {
        let mut raw = Raw::of(store);
        kept_answer().insert(&mut raw);
        refused(&mut raw, Kind::Unique, &kept_answer().with("status", Number(200)));
        kept_answer().with("idem_key", Text("l")).insert(&mut raw);
        kept_answer().with("idem_scope", Text("board")).insert(&mut raw);
    }

    fn a_cost_is_recorded_once_and_never_negative(store: &TestStore) {
        let mut raw = with_company(store.connection());
        let second = cost(0).with("id", Key(0, 2));
        refused(&mut raw, Kind::Unique, &second);
        let keyless = second.with("idempotency_key", Null);
        for column in [
            "input_tokens",
            "output_tokens",
            "cached_input_tokens",
            "cache_write_tokens",
            "cost_micros",
        ] {
            refused(&mut raw, Kind::Check, &keyless.clone().with(column, Number(-1)));
        }
        keyless.insert(&mut raw);
        keyless.with("id", Key(0, 3)).insert(&mut raw);
    }

    fn names_are_unique_where_they_address_something(store: &TestStore) {
        let mut raw = with_company(store.connection());
        refused(&mut raw, Kind::Unique, &company(1).with("issue_prefix", Text("ACM")));
        company(1).insert(&mut raw);
        refused(&mut raw, Kind::Unique, &agent(0, OTHER).with("url_key", Text("boss")));
        agent(0, OTHER).insert(&mut raw);
        agent(1, BOSS).insert(&mut raw);
        let project = crate::rows::project(0).with("id", Key(0, OTHER));
        refused(&mut raw, Kind::Unique, &project);
        project.with("url_key", Text("other")).insert(&mut raw);
        let foreign = crate::rows::project(0)
            .with("id", Key(0, 14))
            .with("url_key", Text("third"))
            .with("lead_agent_id", Key(1, BOSS));
        refused(&mut raw, Kind::ForeignKey, &foreign);
    }

    fn an_agent_is_paused_for_a_reason_and_reports_to_another(store: &TestStore) {
        let mut raw = with_company(store.connection());
        let agent = agent(0, OTHER);
        refused(&mut raw, Kind::Check, &agent.clone().with("reports_to", Key(0, OTHER)));
        let paused = agent.clone().with("lifecycle", Text("paused")).with("lifecycle_at", Instant);
        refused(&mut raw, Kind::Check, &paused);
        refused(&mut raw, Kind::Check, &agent.clone().with("pause_reason", Text("manual")));
        refused(&mut raw, Kind::Check, &agent.clone().with("lifecycle", Text("terminated")));
        refused(&mut raw, Kind::Check, &agent.clone().with("max_concurrent_runs", Number(11)));
        refused(&mut raw, Kind::Check, &agent.with("budget_monthly_cents", Number(-1)));
        paused.with("pause_reason", Text("manual")).insert(&mut raw);
    }
}
