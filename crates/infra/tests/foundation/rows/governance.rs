//! Approvals.

use super::{BOSS, COMPANY, ISSUE, PARENT, RUN, WORKER, WORKTREE};
use crate::row::Row;
use crate::row::Value::{Flag, Instant, Json, Key, Null, Number, Text};

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
        revision: Number(1),
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn approval_issue(c: u8) -> Row {
    row!(approval_issues {
        company_id: Key(c, COMPANY),
        approval_id: Key(c, 1),
        issue_id: Key(c, ISSUE),
    })
}

pub(crate) fn approval_draft(c: u8) -> Row {
    row!(approval_drafts {
        approval_id: Key(c, 1),
        company_id: Key(c, COMPANY),
        agent_id: Key(c, WORKER),
    })
}

pub(crate) fn approval_event(c: u8) -> Row {
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
        payload: Null,
    })
}

pub(crate) fn approval_comment(c: u8) -> Row {
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
    })
}

pub(crate) fn execution(c: u8) -> Row {
    row!(approval_executions {
        approval_id: Key(c, 1),
        company_id: Key(c, COMPANY),
        state: Text("failed"),
        step: Text("base"),
        error_code: Text("git_failed"),
        error: Text("x"),
        details: Json("{}"),
        attempts: Number(1),
        forced: Flag(false),
        decided_by: Text("local-board"),
        note: Null,
        lease_expires_at: Null,
        instance_id: Null,
        started_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn execution_step(c: u8) -> Row {
    row!(approval_execution_steps {
        approval_id: Key(c, 1),
        company_id: Key(c, COMPANY),
        workspace_id: Key(c, WORKTREE),
        step: Text("base"),
        begun_at: Instant,
        done_at: Null,
        result: Json("{}"),
    })
}
