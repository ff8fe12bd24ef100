//! Runs and what asks for them.

use super::{COMPANY, ISSUE, RUN, WORKER};
use crate::row::Row;
use crate::row::Value::{Digest, Flag, Instant, Json, Key, Null, Number, Text};

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
        containment: Null,
        session_id: Null,
        session_resumed: Null,
        prompt: Null,
        result_text: Null,
        retry_at: Null,
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

pub(crate) fn spend(c: u8) -> Row {
    row!(run_spends {
        run_id: Key(c, RUN),
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        project_id: Null,
        reserved_micros: Number(0),
        spent_micros: Number(1),
        estimated_micros: Number(0),
        untold_micros: Number(0),
        held_micros: Number(0),
        booked_through: Number(0),
        released_at: Null,
    })
}

pub(crate) fn completion(c: u8) -> Row {
    row!(run_completions {
        run_id: Key(c, RUN),
        company_id: Key(c, COMPANY),
        completed_at: Null,
        error_code: Null,
        error: Null,
        result_text: Null,
    })
}

pub(crate) fn session(c: u8) -> Row {
    row!(agent_sessions {
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
        adapter_type: Text("claude_local"),
        task_key: Text("general"),
        issue_id: Null,
        session_id: Text("s"),
        directory: Text("/"),
        fingerprint: Text("f"),
        runs: Number(1),
        input_tokens: Number(0),
        usage_baseline: Json("{}"),
        last_result: Null,
        begun_at: Instant,
        last_used_at: Instant,
        last_run_id: Key(c, RUN),
    })
}

pub(crate) fn gate(c: u8) -> Row {
    row!(provider_gates {
        company_id: Key(c, COMPANY),
        account: Text("a"),
        blocked_until: Instant,
        reason: Text("provider_limit"),
        noted_at: Instant,
        run_id: Key(c, RUN),
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
        by_board: Flag(false),
        created_at: Instant,
        updated_at: Instant,
        priority: Number(2),
        work_reason: Null,
    })
}
