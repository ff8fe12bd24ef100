CREATE TABLE labels (
    id TEXT NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    -- The name as it is compared: two labels of a company never differ in case alone.
    name_key TEXT NOT NULL,
    color TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, name_key)
) STRICT;
CREATE INDEX labels_by_creation ON labels (company_id, created_at, id);

CREATE TABLE issue_labels (
    company_id TEXT NOT NULL,
    issue_id TEXT NOT NULL,
    label_id TEXT NOT NULL,
    PRIMARY KEY (company_id, issue_id, label_id),
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, label_id) REFERENCES labels (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_labels_of_label ON issue_labels (company_id, label_id, issue_id);
