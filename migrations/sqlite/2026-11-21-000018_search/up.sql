-- A text that issues are found by: the own one of an issue, which is its identifier, title and
-- description, or one of its comments. A pending text is indexed when the database is opened:
-- how texts are cut into words is known to the program, not to the database.
CREATE TABLE issue_texts (
    doc INTEGER NOT NULL PRIMARY KEY,
    company_id TEXT NOT NULL,
    issue_id TEXT NOT NULL,
    comment_id TEXT,
    pending INTEGER NOT NULL CHECK (pending IN (0, 1)),
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE,
    FOREIGN KEY (company_id, comment_id) REFERENCES issue_comments (company_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX issue_texts_of_issue ON issue_texts (company_id, issue_id);
CREATE INDEX issue_texts_of_comment ON issue_texts (company_id, comment_id) WHERE comment_id IS NOT NULL;
CREATE INDEX issue_texts_pending ON issue_texts (doc) WHERE pending;

-- Which words stand in which text. What is put in is words already, separated by spaces; the
-- words themselves are kept nowhere else.
CREATE VIRTUAL TABLE issue_text_index USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
CREATE TRIGGER issue_texts_forget AFTER DELETE ON issue_texts WHEN NOT OLD.pending BEGIN
    DELETE FROM issue_text_index WHERE rowid = OLD.doc;
END;

INSERT INTO issue_texts (company_id, issue_id, comment_id, pending)
SELECT company_id, id, NULL, 1 FROM issues ORDER BY created_at, id;
INSERT INTO issue_texts (company_id, issue_id, comment_id, pending)
SELECT company_id, issue_id, id, 1 FROM issue_comments ORDER BY created_at, id;

-- By what an agent would make the same child of an issue twice: a digest.
CREATE TABLE issue_child_keys (
    company_id TEXT NOT NULL,
    issue_id TEXT NOT NULL,
    child_key BLOB NOT NULL CHECK (length(child_key) = 32),
    PRIMARY KEY (company_id, issue_id),
    FOREIGN KEY (company_id, issue_id) REFERENCES issues (company_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_child_keys_by_key ON issue_child_keys (company_id, child_key);
