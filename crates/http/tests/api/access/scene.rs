//! A company with one object of every kind and an agent for every caller.

use std::time::Duration;

use serde_json::{Value, json};
use workforce_domain::board::BoardMember;
use workforce_domain::board_session::BoardSession;
use workforce_domain::id::BoardSessionId;
use workforce_domain::port::{Failure, TokenKind};
use workforce_testkit::ports;
use workforce_testkit::world::{StartedRun, World};

use super::callers::Caller;
use crate::completions::await_completion;
use crate::support::{Api, id};
use crate::uploads::{FORM, file, form};

/// The company.
pub(super) struct Scene {
    /// What each caller presents.
    credentials: Vec<(Caller, String)>,
    /// What requests may name.
    named: Vec<(&'static str, String)>,
    /// The run in which the worker works on the issue.
    live: StartedRun,
}

/// An agent and its key.
struct Member {
    agent: Value,
    key: String,
}

/// Makes a scene, as the board where nothing else is said.
struct Maker<'a> {
    api: &'a Api,
    world: World,
    company: Value,
    credentials: Vec<(Caller, String)>,
    named: Vec<(&'static str, String)>,
}

impl<'a> Maker<'a> {
    fn new(api: &'a Api) -> Self {
        let company = api.company("Acme");
        let world = World::over(api.store.shared());
        // What the board made up to here must be due.
        let soon = ports::clock().now().plus(Duration::from_secs(60));
        world.clock().set(soon);
        Self {
            api,
            world,
            named: vec![("companyId", id(&company).to_owned())],
            company,
            credentials: Vec::new(),
        }
    }

    fn name(&mut self, name: &'static str, record: &Value) -> String {
        let id = id(record).to_owned();
        self.named.push((name, id.clone()));
        id
    }

    /// What a request within the company makes, under a name.
    fn make(&mut self, name: &'static str, part: &str, body: &Value) -> String {
        let path = format!("/api/companies/{}/{part}", id(&self.company));
        let made = self.api.post(&path, body).ok(201);
        self.name(name, &made)
    }

    fn agent(&self, name: &str, manager: Option<&Member>, mut body: Value) -> Value {
        body["name"] = json!(name);
        body["reportsTo"] = json!(manager.map(|manager| id(&manager.agent)));
        let path = format!("/api/companies/{}/agents", id(&self.company));
        self.api.post(&path, &body).ok(201)
    }

    /// An agent for a caller.
    fn member(&mut self, caller: Caller, manager: Option<&Member>, more: Value) -> Member {
        let agent = self.agent(&format!("{caller:?}"), manager, more);
        let key = self.api.key(&agent);
        self.credentials.push((caller, key.clone()));
        Member { agent, key }
    }

    /// The next run of an agent; what else waits runs to its end before.
    fn run_of(&self, agent: &Value) -> StartedRun {
        loop {
            let started = self.world.start_next().unwrap();
            if started.run.agent.to_string() == id(agent) {
                return started;
            }
            assert!(self.world.finish(&started.run));
        }
    }

    /// The worker with those above and below it, and agents that answer to
    /// nobody.
    fn worker_and_others(&mut self) -> Member {
        let none = || json!({});
        let top = self.member(Caller::TopManager, None, none());
        let manager = self.member(Caller::Manager, Some(&top), none());
        let worker = self.member(Caller::Worker, Some(&manager), none());
        self.member(Caller::Report, Some(&worker), none());
        self.member(Caller::Ceo, None, json!({ "role": "ceo" }));
        let may_hire = json!({ "permissions": { "canCreateAgents": true } });
        self.member(Caller::Hirer, None, may_hire);
        self.member(Caller::Peer, None, none());
        let terminated = self.member(Caller::TerminatedAgent, None, none());
        let path = format!("/api/agents/{}/terminate", id(&terminated.agent));
        self.api.post(&path, &json!({})).ok(200);
        let newcomer = self.agent("Newcomer", None, none());
        self.name("newcomerId", &newcomer);
        worker
    }

    /// What belongs to the worker alone.
    fn worker_details(&mut self, worker: &Member) {
        let api = self.api;
        let path = format!("/api/agents/{}", self.name("agentId", &worker.agent));
        let config = json!({ "command": "/bin/true", "env": { "GREETING": "hello" } });
        api.patch(&path, &json!({ "adapterConfig": config }))
            .ok(200);
        self.named.push(("name", "GREETING".to_owned()));
        let revisions = api.get(&format!("{path}/config-revisions")).ok(200);
        self.name("revisionId", &revisions[0]);
        let keys = format!("{path}/keys");
        let spare = api.post(&keys, &json!({ "name": "spare" })).ok(201);
        self.name("keyId", &spare);
        let revoked = api.post(&keys, &json!({ "name": "lost" })).ok(201);
        let revoke = format!("{keys}/{}", id(&revoked));
        api.send("DELETE", &revoke, &[], b"").ok(200);
        let revoked = revoked["key"].as_str().unwrap().to_owned();
        self.credentials.push((Caller::RevokedKey, revoked));
        let notes = json!({ "path": "NOTES.md", "content": "Remember." }).to_string();
        let file = format!("{path}/instructions-bundle/file");
        api.send("PUT", &file, &[], notes.as_bytes()).ok(200);
    }

    /// A run of the worker that ended, and one that works on the issue.
    fn runs(&mut self, worker: &Member) -> StartedRun {
        let api = self.api;
        let invoke = format!("/api/agents/{}/heartbeat/invoke", id(&worker.agent));
        api.post(&invoke, &json!({})).ok(202);
        let ended = self.run_of(&worker.agent);
        assert!(self.world.finish(&ended.run));
        self.credentials
            .push((Caller::WorkerAfterItsRun, ended.token));

        let author = self.member(Caller::Author, None, json!({}));
        let issues = format!("/api/companies/{}/issues", id(&self.company));
        let issue = json!({ "title": "Step", "status": "todo" });
        let issue = api.bearing(&author.key).post(&issues, &issue).ok(201);
        let path = format!("/api/issues/{}", self.name("issueId", &issue));
        let assignee = json!({ "assigneeAgentId": id(&worker.agent) });
        api.patch(&path, &assignee).ok(200);
        let live = self.run_of(&worker.agent);
        await_completion(api, &live.run);
        self.named.push(("runId", live.run.id.to_string()));
        let token = live.token.clone();
        self.credentials.push((Caller::WorkerInItsRun, token));
        live
    }

    fn attachment(&mut self) {
        let uploader = self.member(Caller::Uploader, None, json!({}));
        let path = self.fill("/api/companies/{companyId}/issues/{issueId}/attachments");
        let authorization = format!("Bearer {}", uploader.key);
        let headers = [("Content-Type", FORM), ("Authorization", &authorization)];
        let body = form(&[file("a.txt", b"hello")]);
        let attachment = self.api.send("POST", &path, &headers, &body).ok(201);
        self.name("attachmentId", &attachment);
    }

    fn approvals(&mut self) {
        let requester = self.member(Caller::Requester, None, json!({}));
        let path = self.fill("/api/companies/{companyId}/approvals");
        let question = json!({ "type": "agent_question", "payload": { "question": "May I?" } });
        for name in ["approvalId", "returnedId"] {
            let asked = self.api.bearing(&requester.key).post(&path, &question);
            self.name(name, &asked.ok(201));
        }
        let back = self.fill("/api/approvals/{returnedId}/request-revision");
        self.api.post(&back, &json!({})).ok(200);
    }

    /// What nobody in particular has a right to.
    fn rest(&mut self) {
        self.make("goalId", "goals", &json!({ "title": "Grow" }));
        self.make(
            "labelId",
            "labels",
            &json!({ "name": "Bug", "color": "#ff0000" }),
        );
        let lead = self.member(Caller::Lead, None, json!({}));
        let project = json!({ "name": "Site", "leadAgentId": id(&lead.agent) });
        let project = self.make("projectId", "projects", &project);
        let workspaces = format!("/api/projects/{project}/workspaces");
        let workspace = json!({ "name": "main", "cwd": "/srv/site" });
        let workspace = self.api.post(&workspaces, &workspace).ok(201);
        self.name("workspaceId", &workspace);
        let secret = json!({ "name": "PASSWORD", "value": "sesame" });
        let secret = self.make("secretId", "secrets", &secret);
        let newer = json!({ "value": "open sesame" });
        self.api
            .patch(&format!("/api/secrets/{secret}"), &newer)
            .ok(200);
        self.named.push(("version", "1".to_owned()));
        let token = self.api.post("/api/board-tokens", &json!({})).ok(201);
        self.name("tokenId", &token);
        let session = self.session();
        self.named.push(("sessionId", session.to_string()));
    }

    /// A session of the board, which no call of the interface begins.
    fn session(&self) -> BoardSessionId {
        let (id, now) = (ports::ids().next().into(), ports::clock().now());
        let session = BoardSession {
            id,
            digest: ports::tokens().mint(TokenKind::BoardSession).digest,
            member: BoardMember::StartToken,
            created_at: now,
            last_used_at: now,
            expires_at: BoardSession::expiry(now, now),
        };
        let kept = self
            .api
            .store
            .write(|tx| Ok::<_, Failure<()>>(tx.board_sessions_mut().insert(&session)?));
        assert!(kept.is_ok(), "{kept:?}");
        id
    }

    fn fill(&self, text: &str) -> String {
        fill(&self.named, text)
    }
}

/// A text with what it names in the places of the names.
fn fill(named: &[(&'static str, String)], text: &str) -> String {
    named.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), value)
    })
}

impl Scene {
    pub(super) fn new(api: &Api) -> Self {
        let mut maker = Maker::new(api);
        let worker = maker.worker_and_others();
        maker.worker_details(&worker);
        let live = maker.runs(&worker);
        maker.attachment();
        maker.approvals();
        maker.rest();
        Self {
            credentials: maker.credentials,
            named: maker.named,
            live,
        }
    }

    /// What an agent of the company presents.
    pub(super) fn credential(&self, caller: Caller) -> Option<&str> {
        let found = self.credentials.iter().find(|(of, _)| *of == caller);
        found.map(|(_, credential)| credential.as_str())
    }

    /// A text with what it names of this scene in the places of the names.
    pub(super) fn fill(&self, text: &str) -> String {
        fill(&self.named, text)
    }

    /// Ends what would count against the next scene.
    pub(super) fn end(&self, api: &Api) {
        World::over(api.store.shared()).finish(&self.live.run);
    }
}
