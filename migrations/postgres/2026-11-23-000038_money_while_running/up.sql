-- What tokens cost by list, beside what providers bill.
ALTER TABLE cost_events ADD COLUMN estimated_micros bigint CHECK (estimated_micros >= 0);
UPDATE cost_events SET estimated_micros = cost_micros WHERE cost_micros > 0;
DROP INDEX cost_events_by_agent;
DROP INDEX cost_events_by_project;
CREATE INDEX cost_events_by_agent ON cost_events (company_id, occurred_at, agent_id, billing_type, run_id, cost_micros, estimated_micros, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens) WHERE counted;
CREATE INDEX cost_events_by_project ON cost_events (company_id, occurred_at, project_id, billing_type, run_id, cost_micros, estimated_micros, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens) WHERE counted;
ALTER TABLE spend_totals ADD COLUMN estimated_micros bigint NOT NULL DEFAULT 0 CHECK (estimated_micros >= 0);
UPDATE spend_totals SET estimated_micros = spent_micros;
ALTER TABLE companies ADD COLUMN budget_basis text NOT NULL DEFAULT 'actual' CHECK (budget_basis IN ('actual', 'estimated'));

-- Projects have budgets of their own.
ALTER TABLE projects ADD COLUMN budget_monthly_cents bigint NOT NULL DEFAULT 0 CHECK (budget_monthly_cents >= 0);
ALTER TABLE projects ADD COLUMN budget_total_cents bigint NOT NULL DEFAULT 0 CHECK (budget_total_cents >= 0);
INSERT INTO spend_totals (company_id, scope_type, scope_id, month, spent_micros, estimated_micros)
SELECT e.company_id, t.scope_type, e.project_id, t.month, SUM(e.cost_micros), SUM(e.cost_micros)
FROM cost_events e
JOIN spend_totals t ON t.company_id = e.company_id AND t.scope_type = 'company' AND t.month = CAST(replace(to_char(e.occurred_at AT TIME ZONE 'Etc/UTC', 'YYYY-MM'), '-', '') AS integer)
WHERE e.counted AND e.project_id IS NOT NULL
GROUP BY e.company_id, t.scope_type, e.project_id, t.month;
UPDATE spend_totals SET scope_type = 'project' WHERE scope_type = 'company' AND scope_id <> company_id;

-- What each run used, and what it holds of the budgets while it is live.
CREATE TABLE run_spends (
    run_id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL,
    agent_id uuid NOT NULL,
    project_id uuid,
    reserved_micros bigint NOT NULL CHECK (reserved_micros >= 0),
    spent_micros bigint NOT NULL CHECK (spent_micros >= 0),
    estimated_micros bigint NOT NULL CHECK (estimated_micros >= 0),
    untold_micros bigint NOT NULL CHECK (untold_micros >= 0),
    held_micros bigint NOT NULL CHECK (held_micros >= 0),
    booked_through bigint NOT NULL,
    released_at timestamptz,
    CHECK (released_at IS NULL OR held_micros = 0),
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE CASCADE
);
CREATE INDEX run_spends_held ON run_spends (company_id, agent_id, project_id, held_micros) WHERE held_micros > 0;
CREATE INDEX run_spends_ended ON run_spends (company_id, agent_id, released_at, spent_micros, estimated_micros) WHERE released_at IS NOT NULL;
