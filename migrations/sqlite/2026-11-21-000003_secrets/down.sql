DROP TABLE vault_canary;
DROP TABLE run_secrets;
DROP TABLE agent_secrets;
DROP INDEX secret_versions_by_key;
DROP INDEX secrets_by_creation;
