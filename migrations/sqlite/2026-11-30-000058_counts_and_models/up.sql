-- What models cost is summed up, and issues are counted by project and goal, from these alone.
CREATE INDEX cost_events_by_model ON cost_events (company_id, occurred_at, provider, model, billing_type, run_id, cost_micros, estimated_micros, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens) WHERE counted;
CREATE INDEX issues_counted_by_project ON issues (company_id, project_id, status) WHERE project_id IS NOT NULL AND hidden_at IS NULL;
CREATE INDEX issues_counted_by_goal ON issues (company_id, goal_id, status) WHERE goal_id IS NOT NULL AND hidden_at IS NULL;
