ALTER TABLE agent_config_revisions DROP COLUMN created_by_board;
DROP TABLE instruction_contents;
DROP TABLE instruction_versions;
DROP TABLE instruction_bundles;
