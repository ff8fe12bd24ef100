//! One request per route: the least that succeeds when it is let through.

/// A request. `{name}` in it stands for what a scene knows by that name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) method: &'static str,
    /// The path of the route.
    pub(super) path: &'static str,
    /// Where it is sent, where that is not just the path.
    address: Option<&'static str>,
    /// What it sends.
    pub(super) body: &'static str,
    /// It sends a file instead.
    pub(super) is_upload: bool,
    /// What who is let through may be told instead of a success.
    pub(super) besides: Option<&'static str>,
}

impl Request {
    const fn new(method: &'static str, path: &'static str, body: &'static str) -> Self {
        Self {
            method,
            path,
            address: None,
            body,
            is_upload: false,
            besides: None,
        }
    }

    /// Sent there: for a query, and for another object than the usual one.
    const fn at(self, address: &'static str) -> Self {
        Self {
            address: Some(address),
            ..self
        }
    }

    /// Refused with this code when it is let through and something else than
    /// who asks stands against it.
    const fn or(self, code: &'static str) -> Self {
        Self {
            besides: Some(code),
            ..self
        }
    }

    /// Whether a signature stands in the place of a credential and of a key.
    pub(super) fn is_signed(&self) -> bool {
        self.path.starts_with("/api/webhooks/")
    }

    /// The name of its route.
    pub(super) fn route(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub(super) fn address(&self) -> &'static str {
        self.address.unwrap_or(self.path)
    }
}

const fn get(path: &'static str) -> Request {
    Request::new("GET", path, "")
}

const fn post(path: &'static str, body: &'static str) -> Request {
    Request::new("POST", path, body)
}

const fn put(path: &'static str, body: &'static str) -> Request {
    Request::new("PUT", path, body)
}

const fn patch(path: &'static str, body: &'static str) -> Request {
    Request::new("PATCH", path, body)
}

const fn delete(path: &'static str) -> Request {
    Request::new("DELETE", path, "")
}

const fn upload(path: &'static str) -> Request {
    Request {
        is_upload: true,
        ..Request::new("POST", path, "")
    }
}

/// The request to each route.
pub(super) const REQUESTS: &[Request] = &[
    // Health.
    get("/metrics"),
    get("/api/health"),
    get("/api/health/ready"),
    // What the caller says does not matter here, but what it signed.
    post("/api/webhooks/github", "{}").or("credential_invalid"),
    post("/api/webhooks/gitlab", "{}").or("credential_invalid"),
    post("/api/webhooks/gitea", "{}").or("credential_invalid"),
    // Agents.
    get("/api/agents/me"),
    get("/api/agents/{agentId}"),
    patch("/api/agents/{agentId}", r#"{"title":"Engineer"}"#),
    delete("/api/agents/{agentId}").at("/api/agents/{newcomerId}"),
    post("/api/agents/{agentId}/pause", "{}"),
    post("/api/agents/{agentId}/resume", "{}"),
    post("/api/agents/{agentId}/terminate", "{}"),
    patch(
        "/api/agents/{agentId}/permissions",
        r#"{"canCreateAgents":false}"#,
    ),
    get("/api/agents/{agentId}/runtime-state"),
    get("/api/agents/{agentId}/task-sessions"),
    post("/api/agents/{agentId}/runtime-state/reset-session", "{}"),
    post("/api/agents/{agentId}/runtime-state/lift-wait", "{}"),
    post("/api/agents/{agentId}/heartbeat/invoke", "{}"),
    post("/api/agents/{agentId}/wakeup", "{}"),
    get("/api/agents/{agentId}/keys"),
    post("/api/agents/{agentId}/keys", "{}"),
    delete("/api/agents/{agentId}/keys/{keyId}"),
    get("/api/agents/{agentId}/config-revisions"),
    get("/api/agents/{agentId}/config-revisions/{revisionId}"),
    post(
        "/api/agents/{agentId}/config-revisions/{revisionId}/rollback",
        "{}",
    ),
    post(
        "/api/agents/{agentId}/env/{name}/to-secret",
        r#"{"name":"VALUE_{unique}"}"#,
    ),
    post("/api/agents/{agentId}/adapter-check", ""),
    post(
        "/api/companies/{companyId}/adapter-check",
        r#"{"adapterType":"claude_local"}"#,
    ),
    get("/api/agents/{agentId}/instructions-bundle"),
    patch(
        "/api/agents/{agentId}/instructions-bundle",
        r#"{"entryFile":"AGENTS.md"}"#,
    ),
    get("/api/agents/{agentId}/instructions-bundle/file")
        .at("/api/agents/{agentId}/instructions-bundle/file?path=NOTES.md"),
    put(
        "/api/agents/{agentId}/instructions-bundle/file",
        r#"{"path":"NOTES.md","content":"{unique}"}"#,
    ),
    delete("/api/agents/{agentId}/instructions-bundle/file")
        .at("/api/agents/{agentId}/instructions-bundle/file?path=NOTES.md"),
    patch(
        "/api/agents/{agentId}/instructions-path",
        r#"{"path":null}"#,
    ),
    // Approvals.
    get("/api/approvals/{approvalId}"),
    post("/api/approvals/{approvalId}/approve", "{}"),
    post("/api/approvals/{approvalId}/reject", "{}"),
    post("/api/approvals/{approvalId}/request-revision", "{}"),
    post("/api/approvals/{approvalId}/resubmit", "{}").at("/api/approvals/{returnedId}/resubmit"),
    post("/api/approvals/{approvalId}/cancel", "{}"),
    get("/api/approvals/{approvalId}/history"),
    get("/api/approvals/{approvalId}/issues"),
    get("/api/approvals/{approvalId}/comments"),
    post(
        "/api/approvals/{approvalId}/comments",
        r#"{"body":"Hello"}"#,
    ),
    // Attachments.
    get("/api/attachments/{attachmentId}"),
    get("/api/attachments/{attachmentId}/content"),
    delete("/api/attachments/{attachmentId}"),
    // The board.
    get("/api/board-tokens"),
    post("/api/board-tokens", "{}"),
    delete("/api/board-tokens/{tokenId}"),
    get("/api/board-sessions"),
    delete("/api/board-sessions/{sessionId}"),
    post("/api/login-links", "{}"),
    // Companies.
    get("/api/companies"),
    post("/api/companies", r#"{"name":"New"}"#),
    get("/api/companies/{companyId}"),
    patch(
        "/api/companies/{companyId}",
        r#"{"description":"{unique}"}"#,
    ),
    // Only an archived company is deleted.
    delete("/api/companies/{companyId}").or("company_not_archived"),
    post("/api/companies/{companyId}/archive", "{}"),
    post("/api/companies/{companyId}/unarchive", "{}"),
    post("/api/companies/{companyId}/pause", "{}"),
    post("/api/companies/{companyId}/resume", "{}"),
    get("/api/companies/{companyId}/activity"),
    get("/api/companies/{companyId}/agents"),
    post(
        "/api/companies/{companyId}/agents",
        r#"{"name":"New","role":"engineer"}"#,
    ),
    post(
        "/api/companies/{companyId}/agent-hires",
        r#"{"name":"New","role":"engineer"}"#,
    ),
    get("/api/companies/{companyId}/approvals"),
    post(
        "/api/companies/{companyId}/approvals",
        r#"{"type":"agent_question","payload":{"question":"May I?"}}"#,
    ),
    get("/api/companies/{companyId}/cost-events"),
    post(
        "/api/companies/{companyId}/cost-events",
        r#"{"agentId":"{agentId}","provider":"p","model":"m","costCents":1}"#,
    ),
    get("/api/companies/{companyId}/costs/by-agent"),
    get("/api/companies/{companyId}/costs/by-model"),
    get("/api/companies/{companyId}/costs/by-project"),
    get("/api/companies/{companyId}/costs/forecast"),
    get("/api/companies/{companyId}/costs/series"),
    get("/api/companies/{companyId}/costs/summary"),
    get("/api/companies/{companyId}/dashboard"),
    get("/api/companies/{companyId}/events"),
    get("/api/companies/{companyId}/events/ws").or("upgrade_required"),
    post("/api/companies/{companyId}/events/tickets", "{}"),
    get("/api/companies/{companyId}/goals"),
    post("/api/companies/{companyId}/goals", r#"{"title":"New"}"#),
    get("/api/companies/{companyId}/heartbeat-runs"),
    get("/api/companies/{companyId}/issues"),
    post(
        "/api/companies/{companyId}/issues",
        r#"{"title":"New {unique}"}"#,
    ),
    get("/api/companies/{companyId}/issues/counts"),
    upload("/api/companies/{companyId}/issues/{issueId}/attachments"),
    get("/api/companies/{companyId}/labels"),
    post(
        "/api/companies/{companyId}/labels",
        r##"{"name":"L{unique}","color":"#00ff00"}"##,
    ),
    get("/api/companies/{companyId}/live-runs"),
    get("/api/companies/{companyId}/org"),
    get("/api/companies/{companyId}/projects"),
    post("/api/companies/{companyId}/projects", r#"{"name":"New"}"#),
    get("/api/companies/{companyId}/secrets"),
    post(
        "/api/companies/{companyId}/secrets",
        r#"{"name":"S{unique}","value":"sesame"}"#,
    ),
    get("/api/companies/{companyId}/sidebar-badges"),
    get("/api/companies/{companyId}/attention"),
    get("/api/companies/{companyId}/stuck-issues"),
    // Goals.
    get("/api/goals/{goalId}"),
    patch("/api/goals/{goalId}", r#"{"title":"{unique}"}"#),
    delete("/api/goals/{goalId}"),
    // Runs.
    get("/api/heartbeat-runs/{runId}"),
    post("/api/heartbeat-runs/{runId}/cancel", "{}"),
    post(
        "/api/heartbeat-runs/{runId}/complete",
        r#"{"status":"succeeded"}"#,
    ),
    get("/api/heartbeat-runs/{runId}/events"),
    get("/api/heartbeat-runs/{runId}/log"),
    get("/api/heartbeat-runs/{runId}/log/stream"),
    // Issues.
    get("/api/issues/{issueId}"),
    patch("/api/issues/{issueId}", r#"{"title":"{unique}"}"#),
    delete("/api/issues/{issueId}"),
    get("/api/issues/{issueId}/active-run"),
    get("/api/issues/{issueId}/activity"),
    get("/api/issues/{issueId}/approvals"),
    get("/api/issues/{issueId}/attachments"),
    post(
        "/api/issues/{issueId}/checkout",
        r#"{"agentId":"{agentId}"}"#,
    ),
    get("/api/issues/{issueId}/comments"),
    post("/api/issues/{issueId}/comments", r#"{"body":"Hello"}"#),
    post(
        "/api/issues/{issueId}/reviews",
        r#"{"verdict":"commented","body":"Hello"}"#,
    ),
    get("/api/issues/{issueId}/live-runs"),
    // Who does not hold it is no stranger, but in conflict with who does.
    post("/api/issues/{issueId}/release", "{}").or("not_holder"),
    get("/api/issues/{issueId}/runs"),
    get("/api/issues/{issueId}/workspace").or("workspace_missing"),
    get("/api/issues/{issueId}/workspace/diff").or("workspace_missing"),
    // Labels.
    patch("/api/labels/{labelId}", r#"{"name":"L{unique}"}"#),
    delete("/api/labels/{labelId}"),
    // Projects.
    get("/api/projects/{projectId}"),
    patch("/api/projects/{projectId}", r#"{"description":"{unique}"}"#),
    delete("/api/projects/{projectId}"),
    get("/api/projects/{projectId}/conventions"),
    put(
        "/api/projects/{projectId}/conventions",
        r#"{"backstory":"{unique}"}"#,
    ),
    patch(
        "/api/projects/{projectId}/conventions",
        r#"{"backstory":"{unique}"}"#,
    ),
    post("/api/projects/{projectId}/conventions/compact", "{}"),
    get("/api/projects/{projectId}/workspaces"),
    post(
        "/api/projects/{projectId}/workspaces",
        r#"{"name":"new","cwd":"/srv/{unique}"}"#,
    ),
    patch(
        "/api/projects/{projectId}/workspaces/{workspaceId}",
        r#"{"name":"W{unique}"}"#,
    ),
    post(
        "/api/projects/{projectId}/workspaces/{workspaceId}/adopt-address",
        "{}",
    ),
    delete("/api/projects/{projectId}/workspaces/{workspaceId}"),
    // Secrets.
    get("/api/secrets/rotate-key"),
    // The key of these servers is given to them.
    post("/api/secrets/rotate-key", "{}").or("key_rotation_unavailable"),
    get("/api/secrets/{secretId}"),
    patch("/api/secrets/{secretId}", r#"{"value":"sesame {unique}"}"#),
    delete("/api/secrets/{secretId}"),
    post(
        "/api/secrets/{secretId}/rotate",
        r#"{"value":"sesame {unique}"}"#,
    ),
    get("/api/secrets/{secretId}/usage"),
    get("/api/secrets/{secretId}/versions"),
    delete("/api/secrets/{secretId}/versions/{version}"),
];
