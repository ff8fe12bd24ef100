//! The parameters in the paths, each described once for all routes.

use serde_json::{Value, json};
use utoipa::PartialSchema;
use workforce_domain::id::IssueId;
use workforce_domain::issue::IssueRef;

use super::written;

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
    ("sessionId", "The session."),
    ("tokenId", "The token."),
    ("workspaceId", "The workspace."),
];

/// The parameters of an operation: those of its path, in their order, and those that its handler
/// describes itself.
pub(super) fn all(path: &str, operation: &mut Value) -> Vec<Value> {
    let own = operation
        .as_object_mut()
        .and_then(|it| it.remove("parameters"));
    let mut parameters = match own {
        Some(Value::Array(own)) => own,
        _ => Vec::new(),
    };
    for (at, name) in names(path).enumerate() {
        let is_described = |own: &Value| own["in"] == "path" && own["name"] == name;
        if !parameters.iter().any(is_described) {
            parameters.insert(at, described(name));
        }
    }
    parameters
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
}

fn described(name: &str) -> Value {
    let known = DESCRIPTIONS.iter().find(|(known, _)| *known == name);
    let schema = match name {
        "issueId" => IssueRef::schema(),
        _ => IssueId::schema(),
    };
    json!({
        "name": name,
        "in": "path",
        "required": true,
        "description": known.map(|(_, description)| description),
        "schema": written(&schema),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use workforce_http::routes;

    #[test]
    fn every_parameter_of_a_path_is_described() {
        for route in routes::all().list() {
            for parameter in all(&route.path, &mut written(&route.operation)) {
                let description = parameter["description"].as_str();
                assert!(description.is_some(), "{} of {}", parameter, route.path);
            }
        }
    }
}
