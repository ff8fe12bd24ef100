DROP TABLE run_completions;
