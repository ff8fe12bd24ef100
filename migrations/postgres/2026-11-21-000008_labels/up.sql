CREATE TABLE labels (
    id uuid NOT NULL PRIMARY KEY,
    company_id uuid NOT NULL REFERENCES companies (id) ON DELETE CASCADE,
    name text NOT NULL,
    -- The name as it is compared: two labels of a company never differ in case alone.
    name_key text NOT NULL,
    color text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (company_id, id),
    UNIQUE (company_id, name_key)
);
CREATE INDEX labels_by_creation ON labels (company_id, created_at, id);

CREATE TABLE issue_labels (
    company_id uuid NOT NULL,
    issue_id uuid NOT NULL,
    label_id uuid NOT NULL,
    PRIMARY KEY (company_id, issue_id, label_id),
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, label_id) REFERENCES labels (company_id, id) ON DELETE CASCADE
);
CREATE INDEX issue_labels_of_label ON issue_labels (company_id, label_id, issue_id);
