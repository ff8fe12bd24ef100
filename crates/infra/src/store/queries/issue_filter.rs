//! What a list of issues asks for, apart from status and priority.

/// Narrows the boxed `$query` on the issues of `$company` by `$filter`, except
/// by statuses and priorities, which each list reads in its own way.
macro_rules! narrowed {
    ($query:expr, $company:expr, $filter:expr) => {{
        use workforce_domain::port::AssigneeFilter;

        let (mut query, filter) = ($query, $filter);
        query = match filter.assignee {
            None => query,
            Some(AssigneeFilter::Nobody) => query
                .filter(issues::assignee_agent_id.is_null())
                .filter(issues::assignee_user_id.is_null()),
            Some(AssigneeFilter::Agent(agent)) => {
                query.filter(issues::assignee_agent_id.eq(IdColumn(agent)))
            }
            Some(AssigneeFilter::Board(member)) => {
                query.filter(issues::assignee_user_id.eq(member.to_string()))
            }
        };
        if let Some(project) = filter.project {
            query = query.filter(issues::project_id.eq(IdColumn(project)));
        }
        if let Some(goal) = filter.goal {
            query = query.filter(issues::goal_id.eq(IdColumn(goal)));
        }
        if let Some(parent) = filter.parent {
            query = query.filter(issues::parent_id.eq(IdColumn(parent)));
        }
        if !filter.labels.is_empty() {
            let labels: Vec<_> = filter.labels.iter().copied().map(IdColumn).collect();
            query = query.filter(diesel::dsl::exists(
                issue_labels::table
                    .filter(issue_labels::company_id.eq(IdColumn($company.company())))
                    .filter(issue_labels::issue_id.eq(issues::id))
                    .filter(issue_labels::label_id.eq_any(labels)),
            ));
        }
        query
    }};
}
pub(super) use narrowed;
