-- The month (year times 100 plus month) in which the board lets an agent work
-- although its budget is used up.
ALTER TABLE agents ADD COLUMN budget_override_month INTEGER;
