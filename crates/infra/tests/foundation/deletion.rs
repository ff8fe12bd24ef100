//! What goes with what.

use workforce_testkit::on_both_databases;

use crate::raw::{Raw, Reference};
use crate::rows::{BOSS, GOAL, ISSUE, PARENT, PROJECT, RUN, WORKER, WORKTREE, insert_company, key};

/// What belongs to no company.
const WITHOUT_COMPANY: [&str; 6] = [
    "idempotency_keys",
    "board_tokens",
    "board_sessions",
    "login_links",
    "installation",
    "vault_canary",
];

fn rows_of(raw: &mut Raw, table: &str, company: u8) -> i64 {
    let column = if table == "companies" {
        "id"
    } else {
        "company_id"
    };
    raw.count(&format!(
        "SELECT count(*) AS n FROM {table} WHERE {column} = '{}'",
        key(company, 0)
    ))
}

/// Deletes a thing of company 0 and looks that each of `emptied` was set before, is empty
/// afterwards, and that no other row of those tables went away.
fn delete_and_look(raw: &mut Raw, table: &str, thing: u8, emptied: &[(&str, &str)]) {
    let set = |raw: &mut Raw, (child, column): (&str, &str)| {
        raw.count(&format!(
            "SELECT count(*) AS n FROM {child} WHERE company_id = '{}' AND {column} = '{}'",
            key(0, 0),
            key(0, thing)
        ))
    };
    let before: Vec<i64> = emptied
        .iter()
        .map(|(child, _)| rows_of(raw, child, 0))
        .collect();
    for reference in emptied {
        assert!(set(raw, *reference) > 0, "{reference:?} is set before");
    }
    let deleted = raw.run(&format!(
        "DELETE FROM {table} WHERE id = '{}'",
        key(0, thing)
    ));
    assert_eq!(deleted, 1);
    for (reference, before) in emptied.iter().zip(before) {
        assert_eq!(set(raw, *reference), 0, "{reference:?} is empty afterwards");
        let own = i64::from(reference.0 == table);
        assert_eq!(
            rows_of(raw, reference.0, 0),
            before - own,
            "{reference:?} stays"
        );
    }
}

/// Rows whose reference leads nowhere.
fn dangling(raw: &mut Raw) -> Vec<(Reference, i64)> {
    let mut found = Vec::new();
    for reference in raw.references() {
        let columns: Vec<&str> = reference.columns.split(',').collect();
        let targets = reference
            .parent_columns
            .clone()
            .unwrap_or_else(|| "id".into());
        let pairs = columns.iter().zip(targets.split(','));
        let meets: Vec<String> = pairs
            .map(|(own, target)| format!("p.{target} = c.{own}"))
            .collect();
        let set: Vec<String> = columns
            .iter()
            .map(|own| format!("c.{own} IS NOT NULL"))
            .collect();
        let count = raw.count(&format!(
            "SELECT count(*) AS n FROM {} c WHERE {} AND NOT EXISTS (SELECT 1 FROM {} p WHERE {})",
            reference.child,
            set.join(" AND "),
            reference.parent,
            meets.join(" AND "),
        ));
        if count > 0 {
            found.push((reference, count));
        }
    }
    found
}

on_both_databases! {
    #![beneath_the_rules]
    fn every_reference_says_what_becomes_of_it(store: &TestStore) {
        let mut raw = Raw::of(store);
        // Work that somebody has to do does not lose its assignee by the way.
        let deliberate = ["issues.company_id,assignee_agent_id"];
        assert_eq!(raw.references_without_rule(), deliberate);
    }

    fn nothing_dangles_whatever_goes(store: &TestStore) {
        let mut raw = Raw::of(store);
        for (company, (table, thing)) in
            (0..).zip([("issues", ISSUE), ("goals", GOAL), ("projects", PROJECT)])
        {
            insert_company(&mut raw, company);
            let delete = format!("DELETE FROM {table} WHERE id = '{}'", key(company, thing));
            assert_eq!(raw.run(&delete), 1, "{table}");
            assert_eq!(dangling(&mut raw), [], "{table}");
        }
        assert_eq!(rows_of(&mut raw, "issue_labels", 0), 0);
        assert_eq!(rows_of(&mut raw, "labels", 0), 1);
        assert_eq!(rows_of(&mut raw, "project_workspaces", 2), 0);
        assert_eq!(rows_of(&mut raw, "issues", 2), 2);
        let label = format!("DELETE FROM labels WHERE id = '{}'", key(1, 1));
        assert_eq!(raw.run(&label), 1);
        assert_eq!(rows_of(&mut raw, "issue_labels", 1), 0);
        assert_eq!(dangling(&mut raw), []);
    }

    fn a_company_goes_with_everything_it_has(store: &TestStore) {
        let mut raw = Raw::of(store);
        insert_company(&mut raw, 0);
        insert_company(&mut raw, 1);
        let tables: Vec<String> =
            raw.tables().into_iter().filter(|it| !WITHOUT_COMPANY.contains(&it.as_str())).collect();
        let before: Vec<i64> = tables.iter().map(|it| rows_of(&mut raw, it, 1)).collect();
        for (table, rows) in tables.iter().zip(&before) {
            assert!(*rows > 0, "{table} has a row");
        }

        raw.run(&format!("DELETE FROM companies WHERE id = '{}'", key(0, 0)));

        for (table, rows) in tables.iter().zip(before) {
            assert_eq!(rows_of(&mut raw, table, 0), 0, "{table} is empty");
            assert_eq!(rows_of(&mut raw, table, 1), rows, "{table} of the other company");
        }
    }

    fn what_may_be_empty_is_emptied_when_its_target_goes(store: &TestStore) {
        let mut raw = Raw::of(store);
        insert_company(&mut raw, 0);
        insert_company(&mut raw, 1);
        delete_and_look(&mut raw, "heartbeat_runs", RUN, &[
            ("issue_comments", "run_id"),
            ("approval_comments", "run_id"),
            ("cost_events", "run_id"),
            ("activity", "run_id"),
            ("agent_sessions", "last_run_id"),
            ("provider_gates", "run_id"),
        ]);
        delete_and_look(&mut raw, "issues", PARENT, &[
            ("issues", "parent_id"),
            ("cost_events", "issue_id"),
            ("approvals", "primary_issue_id"),
        ]);
        delete_and_look(&mut raw, "goals", GOAL, &[
            ("goals", "parent_id"),
            ("issues", "goal_id"),
            ("cost_events", "goal_id"),
        ]);
        delete_and_look(&mut raw, "execution_workspaces", WORKTREE, &[
            ("issues", "execution_workspace_id"),
            ("heartbeat_runs", "execution_workspace_id"),
        ]);
        delete_and_look(&mut raw, "projects", PROJECT, &[
            ("issues", "project_id"),
            ("cost_events", "project_id"),
        ]);
        delete_and_look(&mut raw, "agent_config_revisions", 1, &[
            ("agent_config_revisions", "rolled_back_from"),
        ]);
        delete_and_look(&mut raw, "agents", BOSS, &[
            ("agents", "reports_to"),
            ("issue_attachments", "created_by_agent_id"),
            ("goals", "owner_agent_id"),
            ("issues", "created_by_agent_id"),
            ("issues", "implementer_agent_id"),
            ("issue_comments", "author_agent_id"),
            ("approval_comments", "author_agent_id"),
            ("secrets", "created_by_agent_id"),
            ("agent_config_revisions", "created_by_agent_id"),
            ("activity", "agent_id"),
        ]);
        delete_and_look(&mut raw, "issue_comments", 1, &[("issue_attachments", "comment_id")]);
    }

    fn the_lead_of_a_project_may_go(store: &TestStore) {
        let mut raw = Raw::of(store);
        insert_company(&mut raw, 0);
        delete_and_look(&mut raw, "agents", BOSS, &[("projects", "lead_agent_id")]);
    }

    fn an_agent_with_tasks_stays(store: &TestStore) {
        let mut raw = Raw::of(store);
        insert_company(&mut raw, 0);
        let delete = format!("DELETE FROM agents WHERE id = '{}'", key(0, WORKER));
        let error = raw.try_run(&delete).unwrap_err();
        assert!(error.to_lowercase().contains("foreign key constraint"), "{error}");
    }

    fn an_issue_goes_with_its_runs_but_not_with_its_costs(store: &TestStore) {
        let mut raw = Raw::of(store);
        insert_company(&mut raw, 0);
        raw.run(&format!(
            "UPDATE cost_events SET issue_id = '{}', run_id = '{}'",
            key(0, ISSUE),
            key(0, RUN + 1)
        ));
        raw.run(&format!("DELETE FROM issues WHERE id = '{}'", key(0, ISSUE)));
        for table in ["issue_comments", "issue_attachments", "issue_leases", "wakes", "approval_issues"] {
            assert_eq!(rows_of(&mut raw, table, 0), 0, "{table}");
        }
        assert_eq!(rows_of(&mut raw, "heartbeat_runs", 0), 1);
        let kept = "SELECT count(*) AS n FROM cost_events
                    WHERE issue_id IS NULL AND run_id IS NULL AND cost_micros = 1";
        assert_eq!(raw.count(kept), 1);
    }
}
