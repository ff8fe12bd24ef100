//! Leases, wakes and runs.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        name: "only_working_companies_queue",
        sentence: "Nothing is pending or queued in a company that is paused or archived.",
        rows:
            "SELECT w.company_id AS company, 'wake ' || w.id || ' of agent ' || w.agent_id AS what
            FROM wakes w JOIN companies c ON c.id = w.company_id
            WHERE w.status = 'pending' AND c.status <> 'active'
            UNION ALL
            SELECT r.company_id, 'run ' || r.id || ' of agent ' || r.agent_id
            FROM heartbeat_runs r JOIN companies c ON c.id = r.company_id
            WHERE r.status = 'queued' AND c.status <> 'active'",
    },
    Invariant {
        name: "stopped_work_was_asked_to_stop",
        sentence: "A run goes on in a stopped company, or of an agent that the board stopped, \
            only until it has heard of it.",
        rows: "SELECT r.company_id AS company, 'run ' || r.id || ' of agent ' || r.agent_id AS what
            FROM heartbeat_runs r
            JOIN companies c ON c.id = r.company_id
            JOIN agents a ON a.company_id = r.company_id AND a.id = r.agent_id
            WHERE r.status = 'running' AND r.stop_requested_at IS NULL
            AND (c.status <> 'active' OR a.lifecycle IN ('pending_approval', 'terminated')
                OR (a.lifecycle = 'paused' AND a.pause_reason = 'manual'))",
    },
    Invariant {
        name: "queued_runs_wait",
        sentence: "A queued run has neither begun nor ended and belongs to no server.",
        rows: "SELECT r.company_id AS company, 'run ' || r.id AS what FROM heartbeat_runs r
            WHERE r.status = 'queued' AND (r.started_at IS NOT NULL OR r.finished_at IS NOT NULL
                OR r.instance_id IS NOT NULL OR r.token_hash IS NOT NULL
                OR r.lease_expires_at IS NOT NULL)",
    },
    Invariant {
        name: "running_runs_are_held",
        sentence: "A running run has a server, a token, a lease and a start, and no end.",
        rows: "SELECT r.company_id AS company, 'run ' || r.id AS what FROM heartbeat_runs r
            WHERE r.status = 'running' AND (r.started_at IS NULL OR r.finished_at IS NOT NULL
                OR r.instance_id IS NULL OR r.token_hash IS NULL OR r.lease_expires_at IS NULL)",
    },
    Invariant {
        name: "ended_runs_hold_nothing",
        sentence: "A run that has ended has an end, and neither a server nor a token nor a lease.",
        rows: "SELECT r.company_id AS company, 'run ' || r.id AS what FROM heartbeat_runs r
            WHERE r.status NOT IN ('queued', 'running') AND (r.finished_at IS NULL
                OR r.instance_id IS NOT NULL OR r.token_hash IS NOT NULL
                OR r.lease_expires_at IS NOT NULL)",
    },
    Invariant {
        name: "what_ran_was_started",
        sentence: "A run that came to an end of its own was started.",
        rows: "SELECT r.company_id AS company, 'run ' || r.id AS what FROM heartbeat_runs r
            WHERE r.status IN ('succeeded', 'failed', 'timed_out') AND r.started_at IS NULL",
    },
    Invariant {
        name: "queued_runs_answer_a_pending_wake",
        sentence: "A queued run has exactly one pending wake, for the same agent, issue and kind.",
        rows: "SELECT r.company_id AS company, 'run ' || r.id AS what FROM heartbeat_runs r
            WHERE r.status = 'queued' AND (SELECT count(*) FROM wakes w
                WHERE w.company_id = r.company_id AND w.run_id = r.id AND w.id = r.wake_id
                AND w.status = 'pending' AND w.agent_id = r.agent_id AND w.kind = r.kind
                AND w.issue_id IS NOT DISTINCT FROM r.issue_id) <> 1",
    },
    Invariant {
        name: "pending_wakes_have_a_queued_run",
        sentence: "A pending wake is answered by a run that is queued, and waits under the key of \
            its issue.",
        rows: "SELECT w.company_id AS company, 'wake ' || w.id AS what FROM wakes w
            WHERE w.status = 'pending' AND (NOT EXISTS (SELECT 1 FROM heartbeat_runs r
                WHERE r.company_id = w.company_id AND r.id = w.run_id AND r.status = 'queued')
                OR w.coalesce_key <> CASE WHEN w.issue_id IS NULL THEN 'general'
                    ELSE 'issue:' || w.issue_id END)",
    },
    Invariant {
        name: "pending_wakes_have_the_priority_of_their_issue",
        sentence: "A pending wake is as urgent as its issue.",
        rows: "SELECT w.company_id AS company, 'wake ' || w.id AS what FROM wakes w
            JOIN issues i ON i.company_id = w.company_id AND i.id = w.issue_id
            WHERE w.status = 'pending' AND w.priority <> i.priority",
    },
    Invariant {
        name: "stops_have_a_reason",
        sentence: "A run was asked to stop if and only if there is a reason.",
        rows: "SELECT r.company_id AS company, 'run ' || r.id AS what FROM heartbeat_runs r
            WHERE (r.stop_requested_at IS NULL) <> (r.stop_reason IS NULL)",
    },
    Invariant {
        name: "processes_belong_to_started_runs",
        sentence: "A recorded process belongs to a run that was started, and while that is \
            running to its server.",
        rows:
            "SELECT p.company_id AS company, 'process ' || p.pid || ' of run ' || p.run_id AS what
            FROM run_processes p
            JOIN heartbeat_runs r ON r.company_id = p.company_id AND r.id = p.run_id
            WHERE r.started_at IS NULL
            OR (r.status = 'running' AND r.instance_id <> p.instance_id)",
    },
    Invariant {
        name: "completed_runs_end_as_they_were_completed",
        sentence: "A run that may be completed was started. One whose agent has said how it \
            ended ends in that way, unless it was asked to stop.",
        rows: "SELECT r.company_id AS company, 'run ' || r.id AS what
            FROM run_completions c
            JOIN heartbeat_runs r ON r.company_id = c.company_id AND r.id = c.run_id
            WHERE r.started_at IS NULL
            OR (c.completed_at IS NOT NULL AND r.status NOT IN ('running', 'cancelled')
                AND r.status <> CASE WHEN c.error_code IS NULL THEN 'succeeded'
                    ELSE 'failed' END)",
    },
    Invariant {
        name: "resumed_runs_name_their_session",
        sentence: "A run that goes on with a session says with which one, and a queued run with \
            none.",
        rows: "SELECT r.company_id AS company, 'run ' || r.id AS what FROM heartbeat_runs r
            WHERE (r.session_resumed AND r.session_id IS NULL)
            OR (r.status = 'queued' AND r.session_id IS NOT NULL)",
    },
    Invariant {
        name: "sessions_have_the_key_of_their_task",
        sentence: "A session stands under the key of its issue, or under that of no issue.",
        rows: "SELECT s.company_id AS company, 'session of agent ' || s.agent_id AS what
            FROM agent_sessions s
            WHERE s.task_key <> CASE WHEN s.issue_id IS NULL THEN 'general'
                ELSE 'issue:' || s.issue_id END",
    },
    Invariant {
        name: "sessions_are_of_their_agents_runs",
        sentence: "The last run of a session is a run of its agent, which was started.",
        rows: "SELECT s.company_id AS company, 'session of agent ' || s.agent_id AS what
            FROM agent_sessions s
            JOIN heartbeat_runs r ON r.company_id = s.company_id AND r.id = s.last_run_id
            WHERE r.agent_id <> s.agent_id OR r.started_at IS NULL",
    },
    Invariant {
        name: "leases_of_runs_end_with_them",
        sentence: "A lease that a run holds belongs to a running run of the same agent.",
        rows: "SELECT l.company_id AS company, 'lease on issue ' || l.issue_id AS what
            FROM issue_leases l
            WHERE l.run_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM heartbeat_runs r
                WHERE r.company_id = l.company_id AND r.id = l.run_id
                AND r.agent_id = l.agent_id AND r.status = 'running')",
    },
    Invariant {
        name: "leases_expire_or_have_a_run",
        sentence: "A lease expires by itself if and only if no run holds it.",
        rows: "SELECT l.company_id AS company, 'lease on issue ' || l.issue_id AS what
            FROM issue_leases l WHERE (l.run_id IS NULL) <> (l.expires_at IS NOT NULL)",
    },
    Invariant {
        name: "fences_count_upwards",
        sentence: "No lease has a greater fencing number than its issue has given out.",
        rows: "SELECT l.company_id AS company, 'lease on issue ' || l.issue_id AS what
            FROM issue_leases l JOIN issues i ON i.company_id = l.company_id AND i.id = l.issue_id
            WHERE l.fence > i.lease_fence",
    },
    Invariant {
        name: "work_in_progress_is_somebodys",
        sentence: "An issue in progress has an assignee.",
        rows: "SELECT i.company_id AS company, 'issue ' || i.id AS what FROM issues i
            WHERE i.status = 'in_progress'
            AND i.assignee_agent_id IS NULL AND i.assignee_user_id IS NULL",
    },
    Invariant {
        name: "nobody_reviews_its_own_work",
        sentence: "An issue that has an implementer waits for somebody else, in review or \
            blocked, or has gone back to it; an ended one has none.",
        rows: "SELECT i.company_id AS company, 'issue ' || i.id AS what FROM issues i
            WHERE i.implementer_agent_id IS NOT NULL
            AND (i.status IN ('done', 'cancelled')
                OR (i.status = 'in_review' AND i.assignee_agent_id = i.implementer_agent_id)
                OR (i.status IN ('backlog', 'todo', 'in_progress')
                    AND i.assignee_agent_id IS DISTINCT FROM i.implementer_agent_id))",
    },
    Invariant {
        name: "ended_issues_are_free",
        sentence: "Nobody holds an issue that has ended.",
        rows: "SELECT i.company_id AS company, 'lease on issue ' || i.id AS what
            FROM issues i JOIN issue_leases l ON l.company_id = i.company_id AND l.issue_id = i.id
            WHERE i.status IN ('done', 'cancelled')",
    },
    Invariant {
        name: "issues_end_at_an_instant",
        sentence: "An issue that is done or cancelled says since when.",
        rows: "SELECT i.company_id AS company, 'issue ' || i.id AS what FROM issues i
            WHERE (i.status = 'done' AND i.completed_at IS NULL)
            OR (i.status = 'cancelled' AND i.cancelled_at IS NULL)",
    },
];
