DROP INDEX project_goals_of_project;
