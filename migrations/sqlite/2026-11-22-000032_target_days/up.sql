-- True where the target date was given without a time.
ALTER TABLE projects ADD COLUMN target_is_day INTEGER NOT NULL DEFAULT 0 CHECK (target_is_day IN (0, 1));
