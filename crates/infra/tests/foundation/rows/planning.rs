//! Goals, projects and their places.

use super::{BOSS, COMPANY, PARENT, PROJECT, SUBGOAL, WORKSPACE, WORKTREE};
use crate::row::Row;
use crate::row::Value::{Flag, Instant, Json, Key, Null, Number, Text};

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
        target_is_day: Flag(false),
        color: Null,
        review_required: Flag(false),
        governance: Text("none"),
        remote_required: Flag(false),
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
        owner_issue_id: Null,
        status: Text("ready"),
        repository_url: Null,
        fetch_address: Null,
        push_address: Null,
        base_commit: Null,
        head_commit: Null,
        pushed_commit: Null,
        pull_request_number: Number(1),
        pull_request_url: Text("https://forge.example/acme/shop/pulls/1"),
        pull_request_state: Text("open"),
        conflict_wakes: Number(0),
        held_until: Null,
        held_by: Null,
        clean_up_after: Instant,
        kept_because: Null,
        disorder: Null,
        created_at: Instant,
        updated_at: Instant,
    })
}

pub(crate) fn project_goal(c: u8) -> Row {
    row!(project_goals {
        company_id: Key(c, COMPANY),
        project_id: Key(c, PROJECT),
        goal_id: Key(c, SUBGOAL),
        position: Number(0),
    })
}

pub(crate) fn advance(c: u8) -> Row {
    row!(ticket_advances {
        issue_id: Key(c, PARENT),
        company_id: Key(c, COMPANY),
        attempts: Number(0),
        not_before: Instant,
        error_code: Null,
        error: Null,
        created_at: Instant,
    })
}

pub(crate) fn watch(c: u8) -> Row {
    row!(pull_request_watches {
        workspace_id: Key(c, WORKTREE),
        company_id: Key(c, COMPANY),
        due_at: Instant,
        fence: Number(0),
        attempts: Number(0),
        validators: Json("{}"),
        checks: Text("none"),
        head_commit: Null,
        drift_due_at: Instant,
        merged_base: Null,
        merged_head: Null,
        obstacle: Null,
        escalated: Flag(false),
        created_at: Instant,
    })
}
