//! Companies and their agents.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        name: "only_the_employed_hold_leases",
        sentence: "No lease belongs to a terminated agent or a draft.",
        rows: "SELECT l.company_id AS company,
                'lease on issue ' || l.issue_id || ' of agent ' || l.agent_id AS what
            FROM issue_leases l JOIN agents a ON a.company_id = l.company_id AND a.id = l.agent_id
            WHERE a.lifecycle IN ('pending_approval', 'terminated')",
    },
    Invariant {
        name: "only_the_employed_are_woken",
        sentence: "No pending wake and no queued run belongs to a terminated agent or a draft.",
        rows:
            "SELECT w.company_id AS company, 'wake ' || w.id || ' of agent ' || w.agent_id AS what
            FROM wakes w JOIN agents a ON a.company_id = w.company_id AND a.id = w.agent_id
            WHERE w.status = 'pending' AND a.lifecycle IN ('pending_approval', 'terminated')
            UNION ALL
            SELECT r.company_id, 'run ' || r.id || ' of agent ' || r.agent_id
            FROM heartbeat_runs r JOIN agents a ON a.company_id = r.company_id AND a.id = r.agent_id
            WHERE r.status = 'queued' AND a.lifecycle IN ('pending_approval', 'terminated')",
    },
    Invariant {
        name: "only_the_employed_have_work",
        sentence: "No open issue is assigned to a terminated agent or a draft.",
        rows: "SELECT i.company_id AS company,
                'issue ' || i.id || ' of agent ' || i.assignee_agent_id AS what
            FROM issues i
            JOIN agents a ON a.company_id = i.company_id AND a.id = i.assignee_agent_id
            WHERE i.status NOT IN ('done', 'cancelled')
            AND a.lifecycle IN ('pending_approval', 'terminated')",
    },
    Invariant {
        name: "only_the_employed_have_keys",
        sentence: "No key of a terminated agent or a draft opens anything.",
        rows: "SELECT k.company_id AS company, 'key ' || k.id || ' of agent ' || k.agent_id AS what
            FROM agent_keys k JOIN agents a ON a.company_id = k.company_id AND a.id = k.agent_id
            WHERE k.revoked_at IS NULL AND a.lifecycle IN ('pending_approval', 'terminated')",
    },
    Invariant {
        name: "managers_are_employed",
        sentence: "Nobody reports to a terminated agent or a draft.",
        rows: "SELECT a.company_id AS company,
                'agent ' || a.id || ' below agent ' || a.reports_to AS what
            FROM agents a JOIN agents m ON m.company_id = a.company_id AND m.id = a.reports_to
            WHERE m.lifecycle IN ('pending_approval', 'terminated')",
    },
    Invariant {
        name: "nobody_reports_to_themselves",
        sentence: "No chain of command leads back to its beginning.",
        rows: "WITH RECURSIVE above (company_id, id, manager) AS (
                SELECT a.company_id, a.id, a.reports_to FROM agents a
                WHERE a.reports_to IS NOT NULL
                UNION
                SELECT b.company_id, b.id, m.reports_to
                FROM above b CROSS JOIN agents m
                WHERE m.company_id = b.company_id AND m.id = b.manager
                AND m.reports_to IS NOT NULL
            )
            SELECT company_id AS company, 'agent ' || id AS what FROM above WHERE manager = id",
    },
    Invariant {
        name: "stopped_agents_say_why",
        sentence: "An agent has a reason for a pause if and only if it is paused, and an instant \
            if and only if it is paused or terminated.",
        rows: "SELECT a.company_id AS company, 'agent ' || a.id AS what FROM agents a
            WHERE (a.lifecycle = 'paused') <> (a.pause_reason IS NOT NULL)
            OR (a.lifecycle IN ('paused', 'terminated')) <> (a.lifecycle_at IS NOT NULL)",
    },
    Invariant {
        name: "stopped_companies_say_why",
        sentence: "A company is paused when the board paused it, a reason has an instant, and an \
            archived company says since when.",
        rows: "SELECT c.id AS company, 'company ' || c.id AS what FROM companies c
            WHERE (c.status = 'paused') <> (COALESCE(c.pause_reason, '') = 'manual')
            OR (c.pause_reason IS NULL) <> (c.paused_at IS NULL)
            OR (c.status = 'archived') <> (c.archived_at IS NOT NULL)",
    },
    Invariant {
        name: "companies_have_counters",
        sentence: "Every company has its counters.",
        rows: "SELECT c.id AS company, 'company ' || c.id AS what FROM companies c
            WHERE NOT EXISTS (SELECT 1 FROM company_counters n WHERE n.company_id = c.id)",
    },
    Invariant {
        name: "revisions_have_no_gap",
        sentence: "The revisions of an agent's configuration are numbered from 1 without a gap.",
        rows: "SELECT v.company_id AS company, 'revisions of agent ' || v.agent_id AS what
            FROM agent_config_revisions v GROUP BY v.company_id, v.agent_id
            HAVING min(v.n) <> 1 OR max(v.n) <> count(*)",
    },
    Invariant {
        name: "instructions_have_their_version",
        sentence: "The managed instructions of an agent are a version that was kept; versions are \
            numbered from 1 without a gap.",
        rows: "SELECT b.company_id AS company, 'instructions of agent ' || b.agent_id AS what
            FROM instruction_bundles b
            WHERE b.version > 0 AND NOT EXISTS (SELECT 1 FROM instruction_versions v
                WHERE v.company_id = b.company_id AND v.agent_id = b.agent_id
                AND v.version = b.version)
            UNION ALL
            SELECT v.company_id, 'versions of the instructions of agent ' || v.agent_id
            FROM instruction_versions v GROUP BY v.company_id, v.agent_id
            HAVING min(v.version) <> 1 OR max(v.version) <> count(*)",
    },
];
