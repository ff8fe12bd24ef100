DROP TABLE provider_gates;
DROP TABLE agent_sessions;
ALTER TABLE heartbeat_runs DROP COLUMN retry_at;
ALTER TABLE heartbeat_runs DROP COLUMN result_text;
ALTER TABLE heartbeat_runs DROP COLUMN prompt;
ALTER TABLE heartbeat_runs DROP COLUMN session_resumed;
ALTER TABLE heartbeat_runs DROP COLUMN session_id;
ALTER TABLE heartbeat_runs DROP COLUMN containment;
