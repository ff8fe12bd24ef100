use utoipa::PartialSchema;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{RefOr, Required};
use workforce_domain::id::IssueId;
use workforce_domain::issue::IssueRef;

/// What a parameter of a path names.
const DESCRIPTIONS: &[(&str, &str)] = &[
    ("agentId", "The agent."),
    ("approvalId", "The approval."),
    ("attachmentId", "The attachment."),
    ("companyId", "The company."),
    ("goalId", "The goal."),
    ("issueId", "The issue, by id or identifier."),
    ("keyId", "The key."),
    ("labelId", "The label."),
    ("projectId", "The project."),
    ("revisionId", "The revision."),
    ("runId", "The run."),
    ("secretId", "The secret."),
    ("tokenId", "The token."),
    ("workspaceId", "The workspace."),
];

/// Adds the parameters that a path has and its handler does not describe itself.
pub(super) fn add(operation: &mut Operation, path: &str) {
    let parameters = operation.parameters.get_or_insert_default();
    let mut at = 0;
    for segment in path.split('/') {
        let Some(name) = segment
            .strip_prefix('{')
            .and_then(|it| it.strip_suffix('}'))
        else {
            continue;
        };
        if !parameters.iter().any(|parameter| is_for(parameter, name)) {
            parameters.insert(at, RefOr::T(named(name)));
        }
        at += 1;
    }
    if parameters.is_empty() {
        operation.parameters = None;
    }
}

fn is_for(parameter: &RefOr<Parameter>, name: &str) -> bool {
    matches!(parameter, RefOr::T(parameter)
        if parameter.name == name && parameter.parameter_in == ParameterIn::Path)
}

fn named(name: &str) -> Parameter {
    let description = DESCRIPTIONS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, description)| *description);
    let schema = if name == "issueId" {
        IssueRef::schema()
    } else {
        IssueId::schema()
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(description)
        .schema(Some(schema))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes;

    #[test]
    fn every_parameter_of_a_path_is_described() {
        for endpoint in routes::all().endpoints() {
            let mut operation = endpoint.operation.clone();
            add(&mut operation, &endpoint.path);
            for parameter in operation.parameters.into_iter().flatten() {
                let RefOr::T(parameter) = parameter else {
                    continue;
                };
                assert!(
                    parameter.description.is_some(),
                    "{} of {}",
                    parameter.name,
                    endpoint.path
                );
            }
        }
    }
}
