ALTER TABLE company_counters DROP COLUMN activity_clock;
