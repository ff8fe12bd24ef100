-- True where the target date was given without a time.
ALTER TABLE projects ADD COLUMN target_is_day boolean NOT NULL DEFAULT false;
