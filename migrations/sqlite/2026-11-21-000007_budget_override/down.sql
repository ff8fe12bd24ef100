ALTER TABLE agents DROP COLUMN budget_override_month;
