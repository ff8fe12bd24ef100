//! One valid row in every table, as a start for what is not valid.

use crate::raw::Raw;
pub(crate) use crate::row::{Row, Value, key};

use Value::{Key, Text};

macro_rules! row {
    ($table:ident { $($column:ident: $value:expr,)+ }) => {
        Row::new(stringify!($table), vec![$((stringify!($column), $value)),+])
    };
}

mod agent;
mod attachment;
mod company;
mod governance;
mod instructions;
mod issue;
mod money;
mod planning;
mod record;
mod run;
mod secret;

pub(crate) use agent::{agent, agent_key, revision};
pub(crate) use attachment::{asset, attachment};
pub(crate) use company::{company, counters, kept_answer};
pub(crate) use governance::{
    approval, approval_comment, approval_draft, approval_event, approval_issue, execution,
    execution_step,
};
pub(crate) use instructions::{bundle, content, version};
pub(crate) use issue::{child_key, comment, issue, issue_label, issue_text, label, lease, stuck};
pub(crate) use money::{alert, cost, spend_total};
pub(crate) use planning::{
    advance, conventions, goal, project, project_goal, watch, workspace, worktree,
};
pub(crate) use record::{activity, event, stream_ticket};
pub(crate) use run::{completion, gate, live_run, process, run, session, spend, wake};
pub(crate) use secret::{agent_secret, run_secret, secret, secret_version};

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

/// A company with at least one row in every table that can belong to one, and with every
/// reference set somewhere. Each can be inserted after those before it.
pub(crate) fn every_table(c: u8) -> Vec<Row> {
    vec![
        company(c),
        counters(c),
        agent(c, BOSS),
        agent(c, WORKER).with("reports_to", Key(c, BOSS)),
        agent_key(c),
        goal(c, GOAL),
        goal(c, SUBGOAL)
            .with("parent_id", Key(c, GOAL))
            .with("owner_agent_id", Key(c, BOSS)),
        project(c),
        project_goal(c),
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
            .with("implementer_agent_id", Key(c, BOSS))
            .with("status", Text("in_progress"))
            .with("execution_workspace_id", Key(c, WORKTREE)),
        worktree(c)
            .with("id", Key(c, OTHER))
            .with("ticket_key", Text("ACM-2"))
            .with("branch", Text("c"))
            .with("pull_request_number", Value::Null)
            .with("pull_request_url", Value::Null)
            .with("pull_request_state", Value::Null)
            .with("owner_issue_id", Key(c, PARENT)),
        advance(c),
        watch(c),
        run(c, RUN),
        run(c, RUN + 1)
            .with("issue_id", Key(c, ISSUE))
            .with("execution_workspace_id", Key(c, WORKTREE)),
        lease(c),
        stuck(c),
        process(c),
        completion(c),
        spend(c),
        session(c),
        session(c)
            .with("task_key", Text("k"))
            .with("issue_id", Key(c, ISSUE)),
        gate(c),
        wake(c, 1),
        comment(c),
        label(c, 1),
        issue_label(c),
        asset(c),
        attachment(c),
        issue_text(c),
        child_key(c),
        cost(c),
        spend_total(c),
        alert(c),
        approval(c, 1).with("requested_by_agent_id", Key(c, WORKER)),
        approval_issue(c),
        approval_draft(c),
        approval_event(c),
        approval_comment(c),
        execution(c),
        execution_step(c),
        secret(c),
        secret_version(c),
        bundle(c),
        version(c),
        content(c),
        agent_secret(c),
        run_secret(c),
        revision(c, 1),
        revision(c, 2).with("rolled_back_from", Key(c, 1)),
        activity(c),
        event(c),
        stream_ticket(c),
    ]
}

/// Stores a company with rows in every table.
pub(crate) fn insert_company(raw: &mut Raw, c: u8) {
    for row in every_table(c) {
        row.insert(raw);
    }
}
