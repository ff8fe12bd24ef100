//! An example of what each operation that writes is sent, from one story: a shop, its engineer Ada
//! and her issue.

use serde_json::{Value, json};

use super::walk::each_operation;

const AGENT: &str = "0198b0c4-7c1e-7a31-9c55-2f6d0f6f1a01";
const ISSUE: &str = "0198b0c4-7c1e-7a31-9c55-2f6d0f6f1a02";
const GOAL: &str = "0198b0c4-7c1e-7a31-9c55-2f6d0f6f1a03";
const PROJECT: &str = "0198b0c4-7c1e-7a31-9c55-2f6d0f6f1a04";

/// Puts the examples where the bodies are described.
pub(super) fn describe(document: &mut Value) {
    each_operation(document, &mut |_path, _method, operation| {
        let id = operation.get("operationId").and_then(Value::as_str);
        let Some(example) = id.and_then(of) else {
            return;
        };
        let content = operation
            .get_mut("requestBody")
            .and_then(|body| body.get_mut("content"))
            .and_then(|content| content.get_mut("application/json"));
        if let Some(content) = content {
            content["example"] = example;
        }
    });
}

fn of(operation: &str) -> Option<Value> {
    of_company(operation)
        .or_else(|| of_agent(operation))
        .or_else(|| of_work(operation))
        .or_else(|| of_approval(operation))
}

fn of_company(operation: &str) -> Option<Value> {
    Some(match operation {
        "createBoardToken" => json!({ "name": "laptop" }),
        "createCompany" => json!({ "name": "Acme", "budgetMonthlyCents": 50_000 }),
        "updateCompany" => json!({ "budgetMonthlyCents": 80_000, "reviewRequired": true }),
        "createLabel" => json!({ "name": "bug", "color": "#d92d20" }),
        "updateLabel" => json!({ "name": "defect" }),
        "createSecret" => json!({ "name": "GITHUB_TOKEN", "value": "ghp_example" }),
        "updateSecret" => json!({ "description": "Pushes to acme/shop." }),
        "rotateSecret" => json!({ "value": "ghp_another" }),
        "rotateMasterKey" => json!({ "onlyServer": true }),
        "reportCost" => json!({
            "agentId": AGENT, "issueId": ISSUE, "provider": "anthropic",
            "model": "claude-sonnet-4-5", "inputTokens": 1200, "outputTokens": 340,
            "costCents": 3,
        }),
        "takeGithubMessage" => json!({
            "action": "closed",
            "repository": { "full_name": "acme/shop" },
            "pull_request": { "number": 7, "merged": true },
        }),
        "takeGiteaMessage" => json!({
            "action": "closed",
            "repository": { "full_name": "acme/shop" },
            "pull_request": { "number": 7, "merged": true },
        }),
        "takeGitlabMessage" => json!({
            "object_kind": "merge_request",
            "project": { "path_with_namespace": "acme/shop" },
            "object_attributes": { "iid": 7, "action": "merge" },
        }),
        _ => return None,
    })
}

fn of_agent(operation: &str) -> Option<Value> {
    let config = || json!({ "cwd": "/srv/shop", "model": "claude-sonnet-4-5" });
    Some(match operation {
        "createAgent" => json!({
            "name": "Ada", "role": "engineer", "adapterType": "claude_local",
            "adapterConfig": config(), "budgetMonthlyCents": 20_000,
        }),
        "hireAgent" => json!({
            "name": "Ada", "role": "engineer", "capabilities": "Rust and SQL",
            "sourceIssueIds": [ISSUE],
        }),
        "updateAgent" => json!({ "title": "Lead engineer", "budgetMonthlyCents": 30_000 }),
        "updateAgentPermissions" => json!({ "canCreateAgents": true }),
        "checkAdapter" | "checkAgentAdapter" => {
            json!({ "adapterType": "claude_local", "adapterConfig": config() })
        }
        "createAgentKey" => json!({ "name": "ci" }),
        "resumeAgent" => json!({ "force": true }),
        "resetAgentSession" => json!({ "taskKey": "ACM-7" }),
        "wakeAgent" => json!({ "reason": "look at the failed build", "payload": { "build": 42 } }),
        "invokeHeartbeat" => json!({ "payload": { "build": 42 } }),
        "convertToSecret" => json!({ "name": "GITHUB_TOKEN" }),
        "updateInstructionsBundle" => json!({ "entryFile": "AGENTS.md" }),
        "putInstructionsFile" => json!({ "path": "AGENTS.md", "content": "You are Ada.\n" }),
        "setInstructionsPath" => json!({ "path": "/srv/shop/AGENTS.md" }),
        "completeHeartbeatRun" => json!({ "status": "succeeded", "result": "It is built." }),
        _ => return None,
    })
}

fn of_work(operation: &str) -> Option<Value> {
    let conventions = || json!({ "conventionsMd": "# Conventions\n\nTests come first.\n" });
    Some(match operation {
        "createGoal" => json!({ "title": "Open the shop", "level": "company" }),
        "updateGoal" => json!({ "status": "achieved" }),
        "createProject" => json!({
            "name": "Shop", "goalIds": [GOAL],
            "workspace": { "repoUrl": "https://github.com/acme/shop.git" },
        }),
        "updateProject" => json!({ "leadAgentId": AGENT, "budgetMonthlyCents": 40_000 }),
        "updateProjectConventions" | "replaceProjectConventions" => conventions(),
        "createWorkspace" => json!({ "cwd": "/srv/shop", "defaultBaseBranch": "main" }),
        "updateWorkspace" => json!({ "repoUrl": "https://github.com/acme/store.git" }),
        "adoptWorkspaceAddress" => json!({ "dryRun": true }),
        "createIssue" => json!({
            "title": "Add a basket", "description": "Customers keep what they want in it.",
            "projectId": PROJECT, "assigneeAgentId": AGENT, "priority": "high",
        }),
        "updateIssue" => json!({ "status": "in_review", "comment": "The basket works." }),
        "checkOutIssue" => json!({ "agentId": AGENT, "expectedStatuses": ["todo", "backlog"] }),
        "addIssueComment" => json!({ "body": "@Ada, please keep it small." }),
        "submitIssueReview" => json!({
            "verdict": "changes_requested", "body": "One thing is missing.",
            "comments": [{ "path": "src/basket.rs", "line": 12, "body": "What if it is empty?" }],
        }),
        _ => return None,
    })
}

fn of_approval(operation: &str) -> Option<Value> {
    Some(match operation {
        "createApproval" => json!({
            "type": "approve_issue_plan", "issueIds": [ISSUE],
            "payload": { "plan": "A table for baskets, then its page." },
        }),
        "approveApproval" => json!({ "decisionNote": "Go ahead." }),
        "rejectApproval" => json!({ "decisionNote": "The budget does not allow it." }),
        "requestApprovalRevision" => json!({ "decisionNote": "Say how it is tested." }),
        "resubmitApproval" => json!({
            "payload": { "plan": "A table for baskets with its tests, then its page." },
        }),
        "addApprovalComment" => json!({ "body": "Who will review it?" }),
        _ => return None,
    })
}
