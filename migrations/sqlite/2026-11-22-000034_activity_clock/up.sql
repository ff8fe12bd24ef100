-- The instant of the latest activity of the company, in microseconds since 1970: later activity
-- has a later one, whatever the clock of a server says.
ALTER TABLE company_counters ADD COLUMN activity_clock INTEGER NOT NULL DEFAULT 0;
