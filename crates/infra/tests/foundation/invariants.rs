//! Each invariant is told of when it is broken past every rule and every constraint.

use workforce_infra::store::invariant_names;
use workforce_testkit::on_both_databases;

use crate::raw::Raw;
use crate::rows::{BOSS, COMPANY, GOAL, ISSUE, PARENT, RUN, SUBGOAL, WORKER, insert_company, key};

/// A company with rows in every table, of which every invariant is true.
const MAKE_SOUND: [&str; 10] = [
    "UPDATE heartbeat_runs SET status = 'running', finished_at = NULL, started_at = created_at,
        instance_id = (SELECT instance_id FROM run_processes), lease_expires_at = created_at,
        token_hash = (SELECT key_hash FROM agent_keys) WHERE id = {run}",
    "UPDATE heartbeat_runs SET status = 'queued', finished_at = NULL,
        wake_id = (SELECT id FROM wakes) WHERE id <> {run}",
    "UPDATE wakes SET run_id = (SELECT id FROM heartbeat_runs WHERE status = 'queued'),
        coalesce_key = 'issue:' || issue_id",
    "UPDATE agent_sessions SET task_key = 'issue:' || issue_id WHERE issue_id IS NOT NULL",
    "UPDATE issues SET lease_fence = 1, implementer_agent_id = assignee_agent_id",
    "UPDATE approvals SET type = 'approve_issue_plan', primary_issue_id = {issue}",
    "UPDATE issue_texts SET pending = false",
    "INSERT INTO issue_texts (company_id, issue_id, comment_id, pending)
        SELECT company_id, id, NULL, false FROM issues",
    "INSERT INTO spend_totals (company_id, scope_type, scope_id, month, spent_micros)
        SELECT company_id, 'company', company_id, month, spent_micros FROM spend_totals
        UNION ALL SELECT t.company_id, 'project', e.project_id, t.month, t.spent_micros
        FROM spend_totals t JOIN cost_events e ON e.company_id = t.company_id",
    "DELETE FROM approval_drafts",
];

const PAUSE_COMPANY: &str =
    "UPDATE companies SET status = 'paused', pause_reason = 'manual', paused_at = created_at";
const TERMINATE_WORKER: &str =
    "UPDATE agents SET lifecycle = 'terminated', lifecycle_at = created_at WHERE id = {worker}";
const END_ISSUE: &str =
    "UPDATE issues SET status = 'done', completed_at = created_at WHERE id = {issue}";
const CANCEL_RUN: &str = "UPDATE heartbeat_runs SET status = 'cancelled', \
    finished_at = created_at WHERE status = 'queued'";

/// What breaks each of them.
const BREAKING: [(&str, &str); 52] = [
    ("only_working_companies_queue", PAUSE_COMPANY),
    ("stopped_work_was_asked_to_stop", PAUSE_COMPANY),
    (
        "queued_runs_wait",
        "UPDATE heartbeat_runs SET started_at = created_at WHERE status = 'queued'",
    ),
    (
        "running_runs_are_held",
        "UPDATE heartbeat_runs SET started_at = NULL WHERE status = 'running'",
    ),
    (
        "ended_runs_hold_nothing",
        "UPDATE heartbeat_runs SET status = 'cancelled' WHERE status = 'queued'",
    ),
    (
        "what_ran_was_started",
        "UPDATE heartbeat_runs SET status = 'failed', finished_at = created_at
        WHERE status = 'queued'",
    ),
    (
        "queued_runs_answer_a_pending_wake",
        "UPDATE wakes SET status = 'cancelled'",
    ),
    ("pending_wakes_have_a_queued_run", CANCEL_RUN),
    (
        "pending_wakes_have_the_priority_of_their_issue",
        "UPDATE wakes SET priority = 3",
    ),
    (
        "stops_have_a_reason",
        "UPDATE heartbeat_runs SET stop_reason = 'cancel_requested'",
    ),
    (
        "processes_belong_to_started_runs",
        "UPDATE run_processes SET instance_id = {worker}",
    ),
    (
        "leases_of_runs_end_with_them",
        "UPDATE issue_leases SET agent_id = {boss}",
    ),
    (
        "leases_expire_or_have_a_run",
        "UPDATE issue_leases SET run_id = NULL",
    ),
    (
        "only_live_runs_hold_money",
        "UPDATE run_spends SET run_id = (SELECT id FROM heartbeat_runs WHERE status = 'queued')",
    ),
    (
        "runs_spent_what_is_booked_on_them",
        "UPDATE run_spends SET spent_micros = 2",
    ),
    (
        "completed_runs_end_as_they_were_completed",
        "UPDATE run_completions SET run_id =
        (SELECT id FROM heartbeat_runs WHERE status = 'queued')",
    ),
    (
        "resumed_runs_name_their_session",
        "UPDATE heartbeat_runs SET session_resumed = true WHERE id = {run}",
    ),
    (
        "sessions_have_the_key_of_their_task",
        "UPDATE agent_sessions SET issue_id = NULL",
    ),
    (
        "sessions_are_of_their_agents_runs",
        "UPDATE agent_sessions SET agent_id = {boss}",
    ),
    ("fences_count_upwards", "UPDATE issue_leases SET fence = 7"),
    (
        "work_in_progress_is_somebodys",
        "UPDATE issues SET assignee_agent_id = NULL",
    ),
    (
        "nobody_reviews_its_own_work",
        "UPDATE issues SET implementer_agent_id = {boss}",
    ),
    ("ended_issues_are_free", END_ISSUE),
    (
        "issues_end_at_an_instant",
        "UPDATE issues SET status = 'cancelled'",
    ),
    ("only_the_employed_hold_leases", TERMINATE_WORKER),
    ("only_the_employed_are_woken", TERMINATE_WORKER),
    ("only_the_employed_have_work", TERMINATE_WORKER),
    ("only_the_employed_have_keys", TERMINATE_WORKER),
    (
        "managers_are_employed",
        "UPDATE agents SET lifecycle = 'terminated', lifecycle_at = created_at WHERE id = {boss}",
    ),
    (
        "nobody_reports_to_themselves",
        "UPDATE agents SET reports_to = {worker} WHERE id = {boss}",
    ),
    (
        "stopped_agents_say_why",
        "UPDATE agents SET lifecycle = 'paused'",
    ),
    (
        "stopped_companies_say_why",
        "UPDATE companies SET status = 'archived'",
    ),
    ("companies_have_counters", "DELETE FROM company_counters"),
    (
        "revisions_have_no_gap",
        "UPDATE agent_config_revisions SET n = 3 WHERE n = 2",
    ),
    (
        "instructions_have_their_version",
        "UPDATE instruction_bundles SET version = 2",
    ),
    ("undecided_approvals_have_an_object", END_ISSUE),
    (
        "undecided_hires_have_a_draft",
        "UPDATE approvals SET type = 'hire_agent'",
    ),
    (
        "drafts_wait_for_a_decision",
        "UPDATE agents SET lifecycle = 'pending_approval' WHERE id = {boss}",
    ),
    (
        "approvals_are_linked_to_what_they_are_about",
        "DELETE FROM approval_issues",
    ),
    (
        "decisions_are_complete",
        "UPDATE approvals SET status = 'approved'",
    ),
    (
        "totals_equal_the_ledger",
        "UPDATE spend_totals SET spent_micros = 2 WHERE scope_type = 'company'",
    ),
    (
        "spenders_are_of_the_company",
        "UPDATE budget_alerts SET scope_id = {issue}",
    ),
    (
        "events_have_no_gap",
        "UPDATE company_counters SET event_sequence = 2",
    ),
    (
        "issue_numbers_are_counted",
        "UPDATE company_counters SET issue_number = 8",
    ),
    (
        "executed_approvals_are_approved",
        "UPDATE approval_executions SET state = 'completed'",
    ),
    (
        "secrets_have_their_versions",
        "UPDATE secrets SET latest_version = 2",
    ),
    (
        "no_issue_is_part_of_itself",
        "UPDATE issues SET parent_id = {issue} WHERE id = {parent}",
    ),
    (
        "no_goal_is_part_of_itself",
        "UPDATE goals SET parent_id = {subgoal} WHERE id = {goal}",
    ),
    (
        "one_workspace_is_primary",
        "UPDATE project_workspaces SET is_primary = false",
    ),
    (
        "what_belongs_to_a_comment_belongs_to_its_issue",
        "UPDATE issue_attachments SET issue_id = {parent}",
    ),
    (
        "open_pull_requests_are_watched",
        "UPDATE execution_workspaces SET pull_request_state = 'merged'",
    ),
    (
        "everything_is_found_once",
        "DELETE FROM issue_texts WHERE comment_id IS NULL",
    ),
];

/// From here on no check refuses what this connection writes.
fn lift_checks(raw: &mut Raw) {
    let statement = if raw.is_postgres() {
        "DO $$ DECLARE it record; BEGIN
            FOR it IN SELECT conrelid::regclass AS place, conname FROM pg_constraint
                WHERE contype = 'c' AND connamespace = 'public'::regnamespace
            LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', it.place, it.conname);
            END LOOP; END $$"
    } else {
        "PRAGMA ignore_check_constraints = ON"
    };
    raw.run(statement);
}

fn run(raw: &mut Raw, statement: &str) {
    let things = [
        ("{boss}", BOSS),
        ("{worker}", WORKER),
        ("{goal}", GOAL),
        ("{subgoal}", SUBGOAL),
        ("{parent}", PARENT),
        ("{issue}", ISSUE),
        ("{run}", RUN),
    ];
    let mut statement = statement.to_owned();
    for (place, thing) in things {
        statement = statement.replace(place, &format!("'{}'", key(0, thing)));
    }
    assert!(raw.run(&statement) > 0, "{statement} changes nothing");
}

/// Begins anew, with a company of which every invariant is true.
fn begin_sound(raw: &mut Raw) {
    raw.run(&format!(
        "DELETE FROM companies WHERE id = '{}'",
        key(0, COMPANY)
    ));
    insert_company(raw, 0);
    for statement in MAKE_SOUND {
        run(raw, statement);
    }
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_broken_invariant_is_told_of(store: &TestStore) {
        let mut raw = Raw::of(store);
        lift_checks(&mut raw);
        for name in invariant_names() {
            let breaking = BREAKING.iter().find(|(breaks, _)| *breaks == name);
            let (_, breaking) = breaking.unwrap_or_else(|| panic!("nothing breaks {name}"));
            begin_sound(&mut raw);
            assert_eq!(store.broken_invariants(), [], "before {name}");
            run(&mut raw, breaking);
            let broken = store.broken_invariants();
            let told = broken.iter().find(|it| it.name == name);
            let told = told.unwrap_or_else(|| panic!("{name} is not told of: {broken:?}"));
            assert_eq!(told.rows[0].company.to_string(), key(0, COMPANY));
        }
    }

    fn an_empty_store_breaks_nothing(store: &TestStore) {
        assert_eq!(store.broken_invariants(), []);
    }
}

#[test]
#[should_panic(expected = "broken at the end:\nonly_working_companies_queue: ")]
fn a_test_that_leaves_something_broken_fails() {
    let store = workforce_testkit::store::sqlite_store();
    let mut raw = Raw::of(&store);
    begin_sound(&mut raw);
    run(&mut raw, "UPDATE companies SET status = 'archived'");
}

#[test]
fn a_test_may_break_what_it_names() {
    let store = workforce_testkit::store::sqlite_store();
    store.breaks_on_purpose(&["stopped_companies_say_why", "only_working_companies_queue"]);
    store.breaks_on_purpose(&["stopped_work_was_asked_to_stop"]);
    let mut raw = Raw::of(&store);
    begin_sound(&mut raw);
    run(&mut raw, "UPDATE companies SET status = 'archived'");
}

#[test]
fn what_is_no_database_is_not_made_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.db");
    let url = workforce_infra::store::DatabaseUrl::sqlite(path.to_str().unwrap());
    assert!(workforce_infra::store::broken_invariants(&url, 1).is_err());
    assert!(!path.exists());
}
