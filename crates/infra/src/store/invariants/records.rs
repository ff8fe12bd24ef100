//! Numbers that are counted, trees, and rows that stand for others.

use super::Invariant;

pub(super) const INVARIANTS: &[Invariant] = &[
    Invariant {
        name: "events_have_no_gap",
        sentence: "The events of a company are numbered without a gap from the oldest that is \
            kept up to the counter.",
        rows: "SELECT e.company_id AS company,
                'events ' || min(e.seq) || ' to ' || max(e.seq) || ', ' || count(*)
                || ' in number, counter ' || max(n.event_sequence) AS what
            FROM events e JOIN company_counters n ON n.company_id = e.company_id
            GROUP BY e.company_id
            HAVING max(e.seq) - min(e.seq) + 1 <> count(*) OR max(e.seq) <> max(n.event_sequence)",
    },
    Invariant {
        name: "issue_numbers_are_counted",
        sentence: "The number of an issue is one that its company has given out, once, and its \
            identifier is that number behind the prefix of the company.",
        rows: "SELECT i.company_id AS company, 'issue ' || i.identifier AS what
            FROM issues i
            JOIN companies c ON c.id = i.company_id
            JOIN company_counters n ON n.company_id = i.company_id
            WHERE i.number < 1 OR i.number > n.issue_number
            OR i.identifier <> c.issue_prefix || '-' || i.number
            UNION ALL
            SELECT i.company_id, 'issues with the number ' || i.number FROM issues i
            GROUP BY i.company_id, i.number HAVING count(*) > 1",
    },
    Invariant {
        name: "secrets_have_their_versions",
        sentence: "The latest version of a secret is there and none is later; a secret without a \
            value has none.",
        rows: "SELECT s.company_id AS company, 'secret ' || s.id AS what FROM secrets s
            WHERE s.latest_version <> COALESCE((SELECT max(v.version) FROM secret_versions v
                WHERE v.company_id = s.company_id AND v.secret_id = s.id), 0)",
    },
    Invariant {
        name: "no_issue_is_part_of_itself",
        sentence: "No chain of parents of issues leads back to its beginning.",
        rows: "WITH RECURSIVE above (company_id, id, parent) AS (
                SELECT i.company_id, i.id, i.parent_id FROM issues i WHERE i.parent_id IS NOT NULL
                UNION
                SELECT b.company_id, b.id, p.parent_id
                FROM above b CROSS JOIN issues p
                WHERE p.company_id = b.company_id AND p.id = b.parent
                AND p.parent_id IS NOT NULL
            )
            SELECT company_id AS company, 'issue ' || id AS what FROM above WHERE parent = id",
    },
    Invariant {
        name: "no_goal_is_part_of_itself",
        sentence: "No chain of parents of goals leads back to its beginning.",
        rows: "WITH RECURSIVE above (company_id, id, parent) AS (
                SELECT g.company_id, g.id, g.parent_id FROM goals g WHERE g.parent_id IS NOT NULL
                UNION
                SELECT b.company_id, b.id, p.parent_id
                FROM above b CROSS JOIN goals p
                WHERE p.company_id = b.company_id AND p.id = b.parent
                AND p.parent_id IS NOT NULL
            )
            SELECT company_id AS company, 'goal ' || id AS what FROM above WHERE parent = id",
    },
    Invariant {
        name: "one_workspace_is_primary",
        sentence: "A project that has workspaces has exactly one primary one.",
        rows: "SELECT w.company_id AS company, 'project ' || w.project_id AS what
            FROM project_workspaces w GROUP BY w.company_id, w.project_id
            HAVING sum(CASE WHEN w.is_primary THEN 1 ELSE 0 END) <> 1",
    },
    Invariant {
        name: "what_belongs_to_a_comment_belongs_to_its_issue",
        sentence: "An attachment and an indexed text of a comment belong to the issue of that \
            comment.",
        rows: "SELECT t.company_id AS company, 'attachment ' || t.id AS what
            FROM issue_attachments t
            JOIN issue_comments m ON m.company_id = t.company_id AND m.id = t.comment_id
            WHERE m.issue_id <> t.issue_id
            UNION ALL
            SELECT t.company_id, 'text ' || t.doc
            FROM issue_texts t
            JOIN issue_comments m ON m.company_id = t.company_id AND m.id = t.comment_id
            WHERE m.issue_id <> t.issue_id",
    },
    Invariant {
        name: "everything_is_found_once",
        sentence: "Every issue and every comment has exactly one text in the index of searches, \
            and none of them is pending.",
        rows: "SELECT i.company_id AS company, 'issue ' || i.id AS what FROM issues i
            WHERE (SELECT count(*) FROM issue_texts t WHERE t.company_id = i.company_id
                AND t.issue_id = i.id AND t.comment_id IS NULL AND NOT t.pending) <> 1
            UNION ALL
            SELECT m.company_id, 'comment ' || m.id FROM issue_comments m
            WHERE (SELECT count(*) FROM issue_texts t WHERE t.company_id = m.company_id
                AND t.comment_id = m.id AND NOT t.pending) <> 1",
    },
];
