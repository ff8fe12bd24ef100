-- Nobody but accounts can be told by a bare id.
UPDATE issues SET status = 'todo'
WHERE status = 'in_progress' AND assignee_user_id NOT LIKE '________-____-____-____-____________';
UPDATE issues SET assignee_user_id = NULL WHERE assignee_user_id NOT LIKE '________-____-____-____-____________';
ALTER TABLE issues ALTER COLUMN assignee_user_id TYPE uuid USING assignee_user_id::uuid;
