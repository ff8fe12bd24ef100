//! One valid row in every table, as a start for what is not valid.

use crate::raw::Raw;
pub(crate) use crate::row::{Row, Value, key};

use Value::{Bytes, Digest, Flag, Instant, Json, Key, Null, Number, Text};

macro_rules! row {
    ($table:ident { $($column:ident: $value:expr,)+ }) => {
        Row::new(stringify!($table), vec![$((stringify!($column), $value)),+])
    };
}

/// The things of the company that [`every_table`] makes.
pub(crate) const COMPANY: u8 = 0;
pub(crate) const BOSS: u8 = 1;
pub(crate) const WORKER: u8 = 2;
pub(crate) const GOAL: u8 = 3;
pub(crate) const SUBGOAL: u8 = 4;
pub(crate) const PROJECT: u8 = 5;
pub(crate) const WORKSPACE: u8 = 6;
pub(crate) const WORKTREE: u8 = 7;
pub(crate) const PARENT: u8 = 8;
pub(crate) const ISSUE: u8 = 9;
pub(crate) const RUN: u8 = 10;
pub(crate) const OTHER: u8 = 15;

pub(crate) fn company(c: u8) -> Row {
    row!(companies {
        id: Key(c, COMPANY),
        name: Text("Acme"),
        description: Null,
        status: Text("active"),
        budget_monthly_cents: Number(0),
        issue_prefix: Text(["ACM", "BEE", "CEE"][usize::from(c)]),
        require_board_approval_for_new_agents: Flag(false),
        review_required: Flag(false),
        max_concurrent_runs: Number(4),
        locale: Null,
        brand_color: Null,
        pause_reason: Null,
        paused_at: Null,
        archived_at: Null,
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn agent(c: u8, thing: u8) -> Row {
    row!(agents {
        id: Key(c, thing),
        company_id: Key(c, COMPANY),
        name: Text("Ann"),
        url_key: Text(["zero", "boss", "worker", "three"][usize::from(thing.min(3))]),
        role: Text("general"),
        title: Null,
        icon: Null,
        capabilities: Null,
        reports_to: Null,
        lifecycle: Text("enabled"),
        lifecycle_at: Null,
        pause_reason: Null,
        consecutive_failures: Number(0),
        adapter_type: Text("process"),
        adapter_config: Json("{}"),
        runtime_config: Json("{}"),
        max_concurrent_runs: Number(1),
        can_create_agents: Flag(false),
        metadata: Json("{}"),
        budget_monthly_cents: Number(0),
        budget_override_month: Null,
        last_heartbeat_at: Null,
        next_heartbeat_at: Null,
        heartbeat_interval_sec: Null,
        heartbeat_armed_sec: Null,
        suppressed_wakes: Number(0),
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn agent_key(c: u8) -> Row {
    row!(agent_keys {
        id: Key(c, 1),
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        name: Text("k"),
        prefix: Text("wfk_abcdefgh"),
        key_hash: Digest(c),
        created_at: Instant,
        last_used_at: Null,
        revoked_at: Null,
    })
}

pub(crate) fn goal(c: u8, thing: u8) -> Row {
    row!(goals {
        id: Key(c, thing),
        company_id: Key(c, COMPANY),
        title: Text("grow"),
        description: Null,
        level: Text("company"),
        status: Text("active"),
        parent_id: Null,
        owner_agent_id: Null,
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn label(c: u8, thing: u8) -> Row {
    row!(labels {
        id: Key(c, thing),
        company_id: Key(c, COMPANY),
        name: Text("Bug"),
        name_key: Text(["zero", "bug", "two"][usize::from(thing.min(2))]),
        color: Text("#ff0000"),
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn project(c: u8) -> Row {
    row!(projects {
        id: Key(c, PROJECT),
        company_id: Key(c, COMPANY),
        name: Text("Site"),
        url_key: Text("site"),
        description: Null,
        status: Text("planned"),
        lead_agent_id: Key(c, BOSS),
        target_date: Null,
        color: Null,
        review_required: Flag(false),
        archived_at: Null,
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn conventions(c: u8) -> Row {
    row!(project_conventions {
        project_id: Key(c, PROJECT),
        company_id: Key(c, COMPANY),
        backstory: Text("old"),
        conventions_md: Text("- be kind"),
        extra_references: Json("[]"),
        compact_context: Null,
        compact_source: Null,
        compact_max_chars: Null,
        compact_source_hash: Null,
        updated_at: Instant,
    })
}

pub(crate) fn workspace(c: u8) -> Row {
    row!(project_workspaces {
        id: Key(c, WORKSPACE),
        company_id: Key(c, COMPANY),
        project_id: Key(c, PROJECT),
        name: Text("main"),
        cwd: Text("/srv"),
        repo_url: Null,
        repo_ref: Null,
        default_base_branch: Null,
        is_primary: Flag(true),
        metadata: Json("{}"),
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn worktree(c: u8) -> Row {
    row!(execution_workspaces {
        id: Key(c, WORKTREE),
        company_id: Key(c, COMPANY),
        project_workspace_id: Key(c, WORKSPACE),
        ticket_key: Text("ACM-1"),
        branch: Text("b"),
        base_branch: Text("main"),
        path: Text("/srv/b"),
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn issue(c: u8, thing: u8) -> Row {
    let identifier = match (c, thing) {
        (0, PARENT) => "ACM-8",
        (0, ISSUE) => "ACM-9",
        (1, PARENT) => "BEE-8",
        (1, ISSUE) => "BEE-9",
        (2, PARENT) => "CEE-8",
        (2, ISSUE) => "CEE-9",
        _ => "ACM-100",
    };
    row!(issues {
        id: Key(c, thing),
        company_id: Key(c, COMPANY),
        number: Number(thing.into()),
        identifier: Text(identifier),
        project_id: Null,
        goal_id: Null,
        parent_id: Null,
        title: Text("do"),
        description: Null,
        status: Text("todo"),
        priority: Number(2),
        assignee_agent_id: Null,
        assignee_user_id: Null,
        created_by_agent_id: Null,
        created_by_user_id: Null,
        billing_code: Null,
        ticket_key: Null,
        request_depth: Number(0),
        delegation: Null,
        assignee_adapter_overrides: Null,
        execution_workspace_id: Null,
        workflow_epoch: Number(0),
        started_at: Null,
        last_started_at: Null,
        completed_at: Null,
        cancelled_at: Null,
        hidden_at: Null,
        created_at: Instant,
        updated_at: Instant,
        created_by_board: Null,
    })
}

pub(crate) fn lease(c: u8) -> Row {
    row!(issue_leases {
        issue_id: Key(c, ISSUE),
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        run_id: Key(c, RUN),
        fence: Number(1),
        expires_at: Null,
    })
}

pub(crate) fn comment(c: u8) -> Row {
    row!(issue_comments {
        id: Key(c, 1),
        company_id: Key(c, COMPANY),
        issue_id: Key(c, ISSUE),
        author_agent_id: Key(c, BOSS),
        author_user_id: Null,
        run_id: Key(c, RUN),
        body: Text("b"),
        mentions: Json("[]"),
        created_at: Instant,
        author_board: Null,
    })
}

pub(crate) fn asset(c: u8) -> Row {
    row!(assets {
        id: Key(c, 1),
        company_id: Key(c, COMPANY),
        sha256: Digest(1),
        byte_size: Number(1),
        content_type: Text("text/plain"),
        provider: Text("local_disk"),
        created_at: Instant,
    })
}

pub(crate) fn attachment(c: u8) -> Row {
    row!(issue_attachments {
        id: Key(c, 1),
        company_id: Key(c, COMPANY),
        issue_id: Key(c, ISSUE),
        comment_id: Key(c, 1),
        asset_id: Key(c, 1),
        original_filename: Null,
        declared_content_type: Null,
        created_by_agent_id: Key(c, BOSS),
        created_by_user_id: Null,
        created_by_board: Null,
        created_at: Instant,
    })
}

/// A run that ended.
pub(crate) fn run(c: u8, thing: u8) -> Row {
    row!(heartbeat_runs {
        id: Key(c, thing),
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        issue_id: Null,
        execution_workspace_id: Null,
        kind: Text("execution"),
        status: Text("succeeded"),
        source: Text("assignment"),
        reason: Text("issue_assigned"),
        wake_id: Key(c, thing),
        fence: Number(1),
        token_hash: Null,
        instance_id: Null,
        lease_expires_at: Null,
        stop_requested_at: Null,
        stop_reason: Null,
        exit_code: Null,
        signal: Null,
        error_code: Null,
        error: Null,
        log_bytes: Number(0),
        log_tail: Null,
        started_at: Null,
        finished_at: Instant,
        created_at: Instant,
        updated_at: Instant,
    })
}

/// A run that is running.
pub(crate) fn live_run(c: u8, thing: u8) -> Row {
    run(c, thing)
        .with("status", Text("running"))
        .with("finished_at", Null)
        .with("token_hash", Digest(16 * c + thing))
        .with("instance_id", Key(c, 1))
        .with("lease_expires_at", Instant)
}

pub(crate) fn process(c: u8) -> Row {
    row!(run_processes {
        run_id: Key(c, RUN),
        company_id: Key(c, COMPANY),
        instance_id: Key(c, 1),
        pid: Number(9),
        process_group: Number(9),
        start_ticks: Number(1),
    })
}

pub(crate) fn wake(c: u8, thing: u8) -> Row {
    row!(wakes {
        id: Key(c, thing),
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        issue_id: Key(c, ISSUE),
        coalesce_key: Text("k"),
        kind: Text("execution"),
        status: Text("pending"),
        source: Text("assignment"),
        reasons: Json("[]"),
        comment_ids: Json("[]"),
        payload: Json("{}"),
        count: Number(1),
        not_before: Instant,
        run_id: Key(c, RUN),
        requested_by: Null,
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn cost(c: u8) -> Row {
    row!(cost_events {
        id: Key(c, 1),
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        issue_id: Key(c, PARENT),
        project_id: Key(c, PROJECT),
        goal_id: Key(c, GOAL),
        run_id: Key(c, RUN),
        billing_code: Null,
        provider: Text("p"),
        model: Text("m"),
        billing_type: Text("api"),
        input_tokens: Number(1),
        output_tokens: Number(1),
        cached_input_tokens: Number(0),
        cache_write_tokens: Number(0),
        cost_micros: Number(1),
        source: Text("reported"),
        counted: Flag(true),
        idempotency_key: Text("once"),
        occurred_at: Instant,
        created_at: Instant,
    })
}

pub(crate) fn alert(c: u8) -> Row {
    row!(budget_alerts {
        company_id: Key(c, COMPANY),
        scope_type: Text("agent"),
        scope_id: Key(c, WORKER),
        month: Number(202601),
        threshold: Text("soft"),
        created_at: Instant,
    })
}

pub(crate) fn approval(c: u8, thing: u8) -> Row {
    row!(approvals {
        id: Key(c, thing),
        company_id: Key(c, COMPANY),
        type_: Text("done"),
        status: Text("pending"),
        payload: Json("{}"),
        attention: Json("[]"),
        requested_by_agent_id: Null,
        requested_by_user_id: Null,
        requested_by_board: Null,
        primary_issue_id: Key(c, PARENT),
        decision_note: Null,
        decided_by: Null,
        decided_at: Null,
        resubmit_count: Number(0),
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn secret_version(c: u8) -> Row {
    row!(secret_versions {
        company_id: Key(c, COMPANY),
        secret_id: Key(c, 1),
        version: Number(1),
        key_id: Text("k"),
        wrapped_key: Bytes(1),
        sealed_value: Bytes(1),
        created_at: Instant,
    })
}

pub(crate) fn revision(c: u8, thing: u8) -> Row {
    row!(agent_config_revisions {
        id: Key(c, thing),
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        n: Number(thing.into()),
        source: Text("api"),
        rolled_back_from: Null,
        changed_keys: Json("[]"),
        before_config: Null,
        after_config: Bytes(1),
        created_by_agent_id: Key(c, BOSS),
        created_by_user_id: Null,
        created_at: Instant,
        created_by_board: Null,
    })
}

pub(crate) fn event(c: u8) -> Row {
    row!(events {
        company_id: Key(c, COMPANY),
        seq: Number(1),
        type_: Text("issue.updated"),
        payload: Json("{}"),
        created_at: Instant,
    })
}

pub(crate) fn kept_answer() -> Row {
    row!(idempotency_keys {
        idem_scope: Text("agent"),
        idem_key: Text("k"),
        request_hash: Digest(1),
        status: Number(201),
        body: Bytes(2),
        sealed: Flag(false),
        created_at: Instant,
    })
}

/// A company with at least one row in every table that can belong to one, and with every
/// reference set somewhere. Each can be inserted after those before it.
pub(crate) fn every_table(c: u8) -> Vec<Row> {
    vec![
        company(c),
        row!(company_counters {
            company_id: Key(c, COMPANY),
            issue_number: Number(9),
            event_sequence: Number(1),
            last_dispatched_at: Null,
        }),
        agent(c, BOSS),
        agent(c, WORKER).with("reports_to", Key(c, BOSS)),
        agent_key(c),
        goal(c, GOAL),
        goal(c, SUBGOAL)
            .with("parent_id", Key(c, GOAL))
            .with("owner_agent_id", Key(c, BOSS)),
        project(c),
        row!(project_goals {
            company_id: Key(c, COMPANY),
            project_id: Key(c, PROJECT),
            goal_id: Key(c, SUBGOAL),
            position: Number(0),
        }),
        conventions(c),
        workspace(c),
        worktree(c),
        issue(c, PARENT),
        issue(c, ISSUE)
            .with("parent_id", Key(c, PARENT))
            .with("project_id", Key(c, PROJECT))
            .with("goal_id", Key(c, GOAL))
            .with("created_by_agent_id", Key(c, BOSS))
            .with("assignee_agent_id", Key(c, WORKER))
            .with("status", Text("in_progress"))
            .with("execution_workspace_id", Key(c, WORKTREE)),
        run(c, RUN),
        run(c, RUN + 1)
            .with("issue_id", Key(c, ISSUE))
            .with("execution_workspace_id", Key(c, WORKTREE)),
        lease(c),
        process(c),
        wake(c, 1),
        comment(c),
        label(c, 1),
        row!(issue_labels {
            company_id: Key(c, COMPANY),
            issue_id: Key(c, ISSUE),
            label_id: Key(c, 1),
        }),
        asset(c),
        attachment(c),
        row!(issue_texts {
            doc: Number(i64::from(c) + 1_000_000),
            company_id: Key(c, COMPANY),
            issue_id: Key(c, ISSUE),
            comment_id: Key(c, 1),
            pending: Flag(true),
        }),
        row!(issue_child_keys {
            company_id: Key(c, COMPANY),
            issue_id: Key(c, ISSUE),
            child_key: Digest(c),
        }),
        cost(c),
        row!(spend_totals {
            company_id: Key(c, COMPANY),
            scope_type: Text("agent"),
            scope_id: Key(c, WORKER),
            month: Number(202601),
            spent_micros: Number(1),
        }),
        alert(c),
        approval(c, 1).with("requested_by_agent_id", Key(c, WORKER)),
        row!(approval_issues {
            company_id: Key(c, COMPANY),
            approval_id: Key(c, 1),
            issue_id: Key(c, ISSUE),
        }),
        row!(approval_drafts {
            approval_id: Key(c, 1),
            company_id: Key(c, COMPANY),
            agent_id: Key(c, WORKER),
        }),
        row!(approval_events {
            id: Key(c, 1),
            company_id: Key(c, COMPANY),
            approval_id: Key(c, 1),
            kind: Text("created"),
            actor_type: Text("agent"),
            actor_id: Text("a"),
            note: Null,
            details: Json("{}"),
            created_at: Instant,
        }),
        row!(approval_comments {
            id: Key(c, 1),
            company_id: Key(c, COMPANY),
            approval_id: Key(c, 1),
            author_agent_id: Key(c, BOSS),
            author_user_id: Null,
            author_board: Null,
            run_id: Key(c, RUN),
            body: Text("x"),
            mentions: Json("[]"),
            created_at: Instant,
        }),
        row!(secrets {
            id: Key(c, 1),
            company_id: Key(c, COMPANY),
            name: Text("s"),
            provider: Text("local"),
            external_ref: Null,
            description: Null,
            latest_version: Number(1),
            created_by_agent_id: Key(c, BOSS),
            created_by_user_id: Null,
            created_at: Instant,
            updated_at: Instant,
        }),
        secret_version(c),
        row!(instruction_bundles {
            agent_id: Key(c, WORKER),
            company_id: Key(c, COMPANY),
            mode: Text("managed"),
            root_path: Null,
            entry_file: Text("AGENTS.md"),
            version: Number(1),
            updated_at: Instant,
        }),
        row!(instruction_versions {
            agent_id: Key(c, WORKER),
            version: Number(1),
            company_id: Key(c, COMPANY),
            files: Json("[]"),
            created_at: Instant,
        }),
        row!(instruction_contents {
            agent_id: Key(c, WORKER),
            sha256: Text("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            company_id: Key(c, COMPANY),
            content: Text("x"),
        }),
        row!(agent_secrets {
            company_id: Key(c, COMPANY),
            agent_id: Key(c, WORKER),
            variable: Text("TOKEN"),
            secret_id: Key(c, 1),
            pinned_version: Null,
        }),
        row!(run_secrets {
            company_id: Key(c, COMPANY),
            run_id: Key(c, RUN),
            variable: Text("TOKEN"),
            secret_id: Key(c, 1),
            version: Number(1),
            used_at: Instant,
        }),
        revision(c, 1),
        revision(c, 2).with("rolled_back_from", Key(c, 1)),
        row!(activity {
            id: Key(c, 1),
            company_id: Key(c, COMPANY),
            actor_type: Text("agent"),
            actor_id: Text("a"),
            agent_id: Key(c, BOSS),
            run_id: Key(c, RUN),
            action: Text("issue.created"),
            entity_type: Text("issue"),
            entity_id: Text("i"),
            details: Json("{}"),
            created_at: Instant,
        }),
        event(c),
    ]
}

/// Stores a company with rows in every table.
pub(crate) fn insert_company(raw: &mut Raw, c: u8) {
    for row in every_table(c) {
        row.insert(raw);
    }
}
