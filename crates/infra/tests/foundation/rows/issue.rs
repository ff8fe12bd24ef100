//! Issues and what is said about them.

use super::{BOSS, COMPANY, ISSUE, PARENT, RUN, WORKER};
use crate::row::Row;
use crate::row::Value::{Digest, Flag, Instant, Json, Key, Null, Number, Text};

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
        implementer_agent_id: Null,
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

pub(crate) fn stuck(c: u8) -> Row {
    row!(stuck_issues {
        issue_id: Key(c, ISSUE),
        company_id: Key(c, COMPANY),
        reason: Text("not_woken"),
        since: Instant,
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
        review_id: Null,
        position: Null,
    })
}

pub(crate) fn issue_label(c: u8) -> Row {
    row!(issue_labels {
        company_id: Key(c, COMPANY),
        issue_id: Key(c, ISSUE),
        label_id: Key(c, 1),
    })
}

pub(crate) fn issue_text(c: u8) -> Row {
    row!(issue_texts {
        doc: Number(i64::from(c) + 1_000_000),
        company_id: Key(c, COMPANY),
        issue_id: Key(c, ISSUE),
        comment_id: Key(c, 1),
        pending: Flag(true),
    })
}

pub(crate) fn child_key(c: u8) -> Row {
    row!(issue_child_keys {
        company_id: Key(c, COMPANY),
        issue_id: Key(c, ISSUE),
        child_key: Digest(c),
    })
}
