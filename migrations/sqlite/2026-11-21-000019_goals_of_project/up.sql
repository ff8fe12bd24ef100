-- The goals of some projects, without those of the whole company.
CREATE INDEX project_goals_of_project ON project_goals (company_id, project_id, position, goal_id);
