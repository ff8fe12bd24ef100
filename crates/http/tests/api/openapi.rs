use std::collections::BTreeSet;

use serde_json::json;

use crate::described::{self, DOCUMENT};
use crate::schema_check;
use crate::support::{api_tests, id};

/// Every method and path that clients rely on.
const SPECIFIED: &[&str] = &[
    "GET /api/companies",
    "GET /api/companies/{companyId}",
    "POST /api/companies",
    "PATCH /api/companies/{companyId}",
    "POST /api/companies/{companyId}/archive",
    "GET /api/companies/{companyId}/agents",
    "GET /api/agents/{agentId}",
    "GET /api/agents/me",
    "POST /api/companies/{companyId}/agents",
    "PATCH /api/agents/{agentId}",
    "POST /api/agents/{agentId}/pause",
    "POST /api/agents/{agentId}/resume",
    "POST /api/agents/{agentId}/terminate",
    "POST /api/agents/{agentId}/keys",
    "POST /api/agents/{agentId}/heartbeat/invoke",
    "GET /api/companies/{companyId}/org",
    "GET /api/agents/{agentId}/config-revisions",
    "POST /api/agents/{agentId}/config-revisions/{revisionId}/rollback",
    "GET /api/agents/{agentId}/instructions-bundle",
    "PATCH /api/agents/{agentId}/instructions-bundle",
    "GET /api/agents/{agentId}/instructions-bundle/file",
    "PUT /api/agents/{agentId}/instructions-bundle/file",
    "DELETE /api/agents/{agentId}/instructions-bundle/file",
    "PATCH /api/agents/{agentId}/instructions-path",
    "GET /api/companies/{companyId}/goals",
    "GET /api/goals/{goalId}",
    "POST /api/companies/{companyId}/goals",
    "PATCH /api/goals/{goalId}",
    "GET /api/companies/{companyId}/projects",
    "GET /api/projects/{projectId}",
    "POST /api/companies/{companyId}/projects",
    "PATCH /api/projects/{projectId}",
    "GET /api/projects/{projectId}/workspaces",
    "POST /api/projects/{projectId}/workspaces",
    "PATCH /api/projects/{projectId}/workspaces/{workspaceId}",
    "DELETE /api/projects/{projectId}/workspaces/{workspaceId}",
    "GET /api/projects/{projectId}/conventions",
    "PUT /api/projects/{projectId}/conventions",
    "PATCH /api/projects/{projectId}/conventions",
    "POST /api/projects/{projectId}/conventions/compact",
    "GET /api/companies/{companyId}/issues",
    "GET /api/issues/{issueId}",
    "POST /api/companies/{companyId}/issues",
    "PATCH /api/issues/{issueId}",
    "POST /api/issues/{issueId}/checkout",
    "POST /api/issues/{issueId}/release",
    "GET /api/issues/{issueId}/comments",
    "POST /api/issues/{issueId}/comments",
    "GET /api/companies/{companyId}/approvals",
    "GET /api/approvals/{approvalId}",
    "POST /api/companies/{companyId}/approvals",
    "POST /api/companies/{companyId}/agent-hires",
    "POST /api/approvals/{approvalId}/approve",
    "POST /api/approvals/{approvalId}/reject",
    "POST /api/approvals/{approvalId}/request-revision",
    "POST /api/approvals/{approvalId}/resubmit",
    "GET /api/approvals/{approvalId}/issues",
    "GET /api/approvals/{approvalId}/comments",
    "POST /api/approvals/{approvalId}/comments",
    "POST /api/companies/{companyId}/issues/{issueId}/attachments",
    "GET /api/issues/{issueId}/attachments",
    "GET /api/attachments/{attachmentId}/content",
    "DELETE /api/attachments/{attachmentId}",
    "POST /api/companies/{companyId}/cost-events",
    "GET /api/companies/{companyId}/costs/summary",
    "GET /api/companies/{companyId}/costs/by-agent",
    "GET /api/companies/{companyId}/costs/by-project",
];

#[test]
fn every_specified_route_is_registered() {
    let registered: BTreeSet<String> = workforce_http::routes::all()
        .list()
        .into_iter()
        .map(|route| format!("{} {}", route.method, route.path))
        .collect();
    let missing: Vec<_> = SPECIFIED
        .iter()
        .filter(|route| !registered.contains(**route))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Both are answers to one request: what is one of them must not pass for the other.
#[test]
fn a_skipped_wake_is_told_from_a_run() {
    let words = |schema: &str| DOCUMENT["components"]["schemas"][schema]["enum"].clone();
    assert_eq!(words("SkippedStatus"), json!(["skipped"]));
    let of_runs = words("RunStatus");
    assert!(of_runs.as_array().unwrap().len() > 3);
    assert!(!of_runs.as_array().unwrap().contains(&json!("skipped")));
}

api_tests! {
    fn an_example_of_every_body_is_understood(api) {
        let company = api.company("Acme");
        let nothing = "0198b0c4-7c1e-7a31-9c55-2f6d0f6f1aff";
        for (template, item) in DOCUMENT["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let Some(content) = operation["requestBody"]["content"].get("application/json")
                else {
                    continue;
                };
                let example = &content["example"];
                assert!(example.is_object(), "{method} {template} has no example");
                let faults = schema_check::faults(&DOCUMENT, &content["schema"], example);
                assert!(
                    faults.is_empty() || template.starts_with("/api/webhooks/"),
                    "{method} {template}: {faults:#?}"
                );
                let path = template.replace("{companyId}", id(&company));
                let path = path.split('/').map(|it| if it.starts_with('{') { nothing } else { it });
                let path = path.collect::<Vec<_>>().join("/");
                let strict = [("Prefer", "handling=strict")];
                let body = example.to_string();
                let method = method.to_uppercase();
                let answer = api.send(&method, &path, &strict, body.as_bytes());
                let is_understood = !matches!(answer.status, 400 | 415 | 422)
                    || answer.json()["code"] == "reference_not_found";
                assert!(is_understood, "{method} {template} {body}: {}", answer.text);
            }
        }
    }

    fn the_document_holds_together(api) {
        let document = api.get("/api/openapi.json").ok(200);
        let document = described::with_all_parameters(document);
        assert_eq!(document, *DOCUMENT);
        assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
        let mut ids = BTreeSet::new();
        for (path, item) in DOCUMENT["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let id = operation["operationId"].as_str().unwrap();
                assert!(ids.insert(id.to_owned()), "{id} stands twice");
                assert!(operation["x-access"].is_string(), "{method} {path}");
                let fault = &operation["responses"]["default"]["$ref"];
                assert_eq!(fault, "#/components/responses/Refused");
                let named = path.matches('{').count();
                let described = operation["parameters"].as_array().map_or(0, |parameters| {
                    parameters
                        .iter()
                        .map(described::resolved)
                        .filter(|parameter| parameter["in"] == "path")
                        .count()
                });
                assert_eq!(named, described, "{method} {path}");
                let body = &operation["requestBody"]["content"]["application/json"]["schema"];
                assert!(
                    body.is_null() || body["$ref"].is_string(),
                    "{method} {path} takes more than an object: {body}"
                );
            }
        }
        assert_eq!(ids.len(), workforce_http::routes::all().list().len());
    }

    fn the_documentation_page_is_served_from_here(api) {
        let redirect = api.get("/docs");
        assert_eq!(
            (redirect.status, redirect.header("location")),
            (308, Some("/docs/"))
        );
        let page = api.get("/docs/");
        assert_eq!(page.status, 200);
        assert!(!page.text.contains("https://") && !page.text.contains("http://"));
        assert_eq!(api.get("/docs/swagger-ui-bundle.js").status, 200);
        assert!(
            api.get("/docs/swagger-initializer.js")
                .text
                .contains("/api/openapi.json")
        );
        for file in ["/docs/nothing.js", "/docs/../metrics", "/docs/%2e%2e/metrics"] {
            api.get(file).problem(404, "route_not_found");
        }
        let posted = api.post("/docs/", &json!({}));
        posted.problem(405, "method_not_allowed");
        assert_eq!(posted.header("allow"), Some("GET, HEAD"));
        for path in ["/docs", "/docs/", "/api/openapi.json"] {
            let (head, get) = (api.send("HEAD", path, &[], b""), api.get(path));
            assert_eq!((head.status, head.text.as_str()), (get.status, ""), "{path}");
        }
    }
}
