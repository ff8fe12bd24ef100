-- The runs that end when their agents call back, and what the agents said. A run without an
-- error code succeeded.
CREATE TABLE run_completions (
    run_id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    completed_at INTEGER,
    error_code TEXT,
    error TEXT CHECK (length(CAST(error AS BLOB)) <= 4096),
    result_text TEXT CHECK (length(CAST(result_text AS BLOB)) <= 16384),
    FOREIGN KEY (company_id, run_id) REFERENCES heartbeat_runs (company_id, id) ON DELETE CASCADE,
    CHECK (error_code IS NOT NULL OR error IS NULL),
    CHECK (completed_at IS NOT NULL OR (error_code IS NULL AND result_text IS NULL))
) STRICT;
