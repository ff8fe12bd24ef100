//! Approvals, and the money that is spent.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        name: "undecided_approvals_have_an_object",
        sentence: "An approval that governs issues is undecided only while one of them is open.",
        rows: "SELECT v.company_id AS company, 'approval ' || v.id AS what FROM approvals v
            WHERE v.status IN ('pending', 'revision_requested')
            AND v.type IN ('approve_issue_plan', 'approve_pull_request',
                'approve_push_to_existing_pr', 'approve_completion')
            AND NOT EXISTS (SELECT 1
                FROM approval_issues k
                JOIN issues i ON i.company_id = k.company_id AND i.id = k.issue_id
                WHERE k.company_id = v.company_id AND k.approval_id = v.id
                AND i.status NOT IN ('done', 'cancelled'))",
    },
    Invariant {
        name: "undecided_hires_have_a_draft",
        sentence: "An undecided hire decides on a draft.",
        rows: "SELECT v.company_id AS company, 'approval ' || v.id AS what FROM approvals v
            WHERE v.status IN ('pending', 'revision_requested') AND v.type = 'hire_agent'
            AND NOT EXISTS (SELECT 1
                FROM approval_drafts d
                JOIN agents a ON a.company_id = d.company_id AND a.id = d.agent_id
                WHERE d.company_id = v.company_id AND d.approval_id = v.id
                AND a.lifecycle = 'pending_approval')",
    },
    Invariant {
        name: "drafts_wait_for_a_decision",
        sentence: "A draft waits for a hire that is undecided.",
        rows: "SELECT a.company_id AS company, 'agent ' || a.id AS what FROM agents a
            WHERE a.lifecycle = 'pending_approval' AND NOT EXISTS (SELECT 1
                FROM approval_drafts d
                JOIN approvals v ON v.company_id = d.company_id AND v.id = d.approval_id
                WHERE d.company_id = a.company_id AND d.agent_id = a.id
                AND v.type = 'hire_agent' AND v.status IN ('pending', 'revision_requested'))",
    },
    Invariant {
        name: "approvals_are_linked_to_what_they_are_about",
        sentence: "The issue that an approval is about in the first place is among those it is \
            linked to.",
        rows: "SELECT v.company_id AS company, 'approval ' || v.id AS what FROM approvals v
            WHERE v.primary_issue_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM approval_issues k
                WHERE k.company_id = v.company_id AND k.approval_id = v.id
                AND k.issue_id = v.primary_issue_id)",
    },
    Invariant {
        name: "decisions_are_complete",
        sentence: "Whoever decided stands beside when, for what was decided and nothing else; \
            what was cancelled says when.",
        rows: "SELECT v.company_id AS company, 'approval ' || v.id AS what FROM approvals v
            WHERE (v.status <> 'pending') <> (v.decided_at IS NOT NULL)
            OR (v.status IN ('approved', 'rejected', 'revision_requested'))
                <> (v.decided_by IS NOT NULL)
            OR (v.status = 'pending' AND v.decision_note IS NOT NULL)",
    },
    Invariant {
        name: "executed_approvals_are_approved",
        sentence: "An approval that was carried out is approved, and one whose steps were not all \
            taken is not.",
        rows: "SELECT v.company_id AS company, 'approval ' || v.id AS what FROM approvals v
            JOIN approval_executions x ON x.company_id = v.company_id AND x.approval_id = v.id
            WHERE (x.state = 'completed') <> (v.status = 'approved')",
    },
    Invariant {
        name: "open_pull_requests_are_watched",
        sentence: "A pull request is watched exactly while it is open.",
        rows: "SELECT x.company_id AS company, 'worktree ' || x.id AS what
            FROM execution_workspaces x
            WHERE (x.pull_request_state IS NOT DISTINCT FROM 'open')
                <> EXISTS (SELECT 1 FROM pull_request_watches w
                    WHERE w.company_id = x.company_id AND w.workspace_id = x.id)",
    },
    Invariant {
        name: "totals_equal_the_ledger",
        sentence: "What an agent, a company and a project spent in a month, as it was billed and \
            by list, is the sum of its counted costs.",
        rows: "SELECT company_id AS company,
                scope_type || ' ' || scope_id || ' in ' || month || ': total ' || sum(total)
                || ', ledger ' || sum(spent) || '; by list ' || sum(total_by_list)
                || ', ledger ' || sum(by_list) AS what
            FROM (
                SELECT e.company_id AS company_id, CAST('agent' AS text) AS scope_type,
                    e.agent_id AS scope_id, {month} AS month, e.cost_micros AS spent, 0 AS total,
                    COALESCE(e.estimated_micros, 0) AS by_list, 0 AS total_by_list
                FROM cost_events e WHERE e.counted
                UNION ALL
                SELECT e.company_id, 'company', e.company_id, {month}, e.cost_micros, 0,
                    COALESCE(e.estimated_micros, 0), 0
                FROM cost_events e WHERE e.counted
                UNION ALL
                SELECT e.company_id, 'project', e.project_id, {month}, e.cost_micros, 0,
                    COALESCE(e.estimated_micros, 0), 0
                FROM cost_events e WHERE e.counted AND e.project_id IS NOT NULL
                UNION ALL
                SELECT t.company_id, t.scope_type, t.scope_id, t.month, 0, t.spent_micros,
                    0, t.estimated_micros
                FROM spend_totals t
            ) AS booked
            GROUP BY company_id, scope_type, scope_id, month
            HAVING sum(spent) <> sum(total) OR sum(by_list) <> sum(total_by_list)",
    },
    Invariant {
        name: "runs_spent_what_is_booked_on_them",
        sentence: "What a run spent, as it was billed and by list, is the sum of its counted costs.",
        rows: "SELECT s.company_id AS company, 'run ' || s.run_id AS what
            FROM run_spends s LEFT JOIN cost_events e
                ON e.company_id = s.company_id AND e.run_id = s.run_id AND e.counted
            GROUP BY s.company_id, s.run_id, s.spent_micros, s.estimated_micros
            HAVING s.spent_micros <> COALESCE(sum(e.cost_micros), 0)
            OR s.estimated_micros <> COALESCE(sum(e.estimated_micros), 0)",
    },
    Invariant {
        name: "only_live_runs_hold_money",
        sentence: "A run that reserved money lets go of it at its end, and not before.",
        rows: "SELECT s.company_id AS company, 'run ' || s.run_id AS what
            FROM run_spends s JOIN heartbeat_runs r
                ON r.company_id = s.company_id AND r.id = s.run_id
            WHERE (s.released_at IS NULL) <> (r.status = 'running')",
    },
    Invariant {
        name: "spenders_are_of_the_company",
        sentence: "Totals and alerts are those of the company itself, or of an agent or a \
            project of it.",
        rows: "SELECT s.company_id AS company, s.scope_type || ' ' || s.scope_id AS what
            FROM (
                SELECT company_id, scope_type, scope_id FROM spend_totals
                UNION
                SELECT company_id, scope_type, scope_id FROM budget_alerts
            ) AS s
            WHERE (s.scope_type = 'company' AND s.scope_id <> s.company_id)
            OR (s.scope_type = 'agent' AND NOT EXISTS (SELECT 1 FROM agents a
                WHERE a.company_id = s.company_id AND a.id = s.scope_id))
            OR (s.scope_type = 'project' AND NOT EXISTS (SELECT 1 FROM projects p
                WHERE p.company_id = s.company_id AND p.id = s.scope_id))",
    },
];
