//! A company in the midst of its work: agents that run, fail and wait, issues in every status,
//! decisions and spend. It is always the same moment.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use workforce_app::authenticate::AuthPolicy;
use workforce_domain::port::Store;
use workforce_domain::run::{Run, RunEnd, RunErrorCode, RunOutcome};
use workforce_domain::time::Timestamp;
use workforce_testkit::store::TestStore;
use workforce_testkit::world::{StartedRun, World};

use crate::support::Board;

/// When it is: 19 November 2026, 14:32 UTC.
const NOW: Timestamp = Timestamp::from_micros(1_795_098_720_000_000);

const MINUTE: Duration = Duration::from_secs(60);

/// A server with the company, and where its pages are.
pub(crate) struct Scene {
    pub(crate) board: Board,
    world: World,
    /// The id of the company.
    company: String,
    /// What stands for what in the addresses of [`PAGES`](crate::pages::PAGES).
    names: Vec<(&'static str, String)>,
}

/// What happens while somebody looks.
impl Scene {
    pub(crate) fn add_issue(&self, title: &str) {
        self.issue(title, "low", None);
    }

    /// How many issues are called so.
    pub(crate) fn count_issues(&self, title: &str) -> usize {
        let all = self
            .board
            .told(&format!("/api/companies/{}/issues", self.company));
        let all = all.as_array().unwrap();
        all.iter().filter(|issue| issue["title"] == title).count()
    }

    /// A run that said this in the end, and wrote it before; where its page is.
    pub(crate) fn run_that_says(&self, text: &str) -> String {
        let live = self
            .board
            .told(&format!("/api/companies/{}/live-runs", self.company));
        let mut live = live.as_array().unwrap().iter();
        let run = live.find(|it| it["status"] == "running").unwrap();
        let run = self
            .world
            .stored_run(run["id"].as_str().unwrap().parse().unwrap());
        self.end_saying(&run, true, text, text);
        self.place(&format!("/c/PREFIX/runs/{}", run.id))
    }

    /// The agent of the pages.
    pub(crate) fn id_of_agent(&self) -> String {
        let agent = self.place("AGENT");
        id(&self
            .board
            .told(&format!("/api/agents/{agent}?companyId={}", self.company)))
    }

    pub(crate) fn comment(&self, text: &str) {
        let path = self.place("/api/issues/ISSUE/comments");
        self.board.call(&path, &json!({ "body": text }));
    }

    pub(crate) fn change_issue(&self, change: &Value) {
        self.change(&self.place("ISSUE"), change);
    }

    pub(crate) fn reject(&self) {
        let path = self.place("/api/approvals/APPROVAL/reject");
        self.board.call(&path, &json!({}));
    }

    /// Waits until the server has so many open streams. It notices that one is closed when it
    /// writes into it, every fifteen seconds.
    #[track_caller]
    pub(crate) fn until_streams(&self, count: usize) {
        let wanted = format!("workforce_streams_open {count}");
        let mut told = String::new();
        for _ in 0..800 {
            told = self.board.get_with("/metrics", &[]).html;
            if told.lines().any(|line| line == wanted) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let told: Vec<_> = told
            .lines()
            .filter(|line| line.contains("streams_open"))
            .collect();
        panic!("not {wanted}: {told:?}");
    }
}

/// Name, role, job title, limit of a month and spend so far, in dollars.
const AGENTS: [(&str, &str, &str, i64, i64); 7] = [
    ("Theo Banks", "ceo", "Engineering lead", 80, 52),
    ("Ada Moreau", "engineer", "Controls engineer", 90, 71),
    ("Kofi Mensah", "engineer", "Perception engineer", 100, 84),
    ("Rune Dahl", "reviewer", "Reviewer", 60, 38),
    ("Noor Aziz", "writer", "Docs writer", 40, 17),
    ("Lena Sato", "engineer", "Platform engineer", 60, 60),
    ("Jules Hart", "engineer", "Test engineer", 70, 12),
];

/// What Ada is working on.
const DESCRIPTION: &str = "After a fast stop the wrist swings past its target by up to **4°**, and \
needs 300 ms to come back.\n\n1. Log the current of joint 5 during the stop\n2. Lower the gain of \
the outer loop, or add a notch filter at 11 Hz\n3. Repeat the test of cell 2 with and without a \
payload\n\n```\njoint 5  target 0.000  actual 0.071  t=0.18\n```\n\nSee [the note of the bearing \
maker](https://example.com/bearings) for the limits.";

impl Scene {
    pub(crate) fn on(store: TestStore) -> Self {
        let shared = store.shared();
        Self::over(shared, store)
    }

    /// The same with a store in front of that of the test.
    pub(crate) fn over(front: Arc<dyn Store>, store: TestStore) -> Self {
        let world = World::on(&store);
        world.clock().set(NOW.minus(6 * 60 * MINUTE));
        let clock = Arc::new(world.clock().clone());
        let board = Board::over(front, store, AuthPolicy::LOCAL_TRUSTED, clock, |state| {
            state
        });
        let acme = json!({ "name": "Acme Robotics", "budgetMonthlyCents": 60_000,
            "requireBoardApprovalForNewAgents": false });
        let company = id(&board.call("/api/companies", &acme));
        let names = vec![("PREFIX", "ACM".to_owned())];
        let mut scene = Self {
            board,
            world,
            company,
            names,
        };
        let agents = scene.hire();
        scene.work(&agents);
        scene.ask();
        scene.plan();
        scene
            .board
            .call("/api/companies", &json!({ "name": "Birch & Sons" }));
        scene
    }

    /// Where one of [`PAGES`](crate::pages::PAGES) is.
    pub(crate) fn place(&self, address: &str) -> String {
        let parts = address.split('/').map(|part| {
            let named = self.names.iter().find(|(word, _)| *word == part);
            named.map_or(part, |(_, name)| name)
        });
        parts.collect::<Vec<_>>().join("/")
    }

    fn of_company(&self, kind: &str, body: &Value) -> Value {
        self.board
            .call(&format!("/api/companies/{}/{kind}", self.company), body)
    }

    fn hire(&mut self) -> Vec<String> {
        let mut agents: Vec<String> = Vec::new();
        for (name, role, title, limit, _) in AGENTS {
            let agent = json!({ "name": name, "role": role, "title": title,
                "budgetMonthlyCents": limit * 100, "reportsTo": agents.first(),
                "adapterType": if role == "ceo" { "codex_local" } else { "claude_local" },
                "capabilities": "Reads and writes the code of the arm, and measures on the test \
                    bench of cell 2." });
            agents.push(id(&self.of_company("agents", &agent)));
        }
        self.names.push(("AGENT", "ada-moreau".to_owned()));
        agents
    }

    /// The work of the day, and what is left of it.
    fn work(&mut self, agents: &[String]) {
        let [theo, ada, kofi, rune, noor, lena, jules] = agents else {
            panic!("{agents:?}");
        };
        let finished = self.issue("Calibrate the wrist of cell 1", "high", Some(ada));
        let log = self.issue(
            "Bring the fleet log store below 40 GB",
            "medium",
            Some(lena),
        );
        let drift = self.issue(
            "Reproduce the drift seen at Halvorsen",
            "critical",
            Some(jules),
        );
        let gripper = self.issue(
            "Gripper force limit reads the wrong sensor",
            "high",
            Some(rune),
        );
        self.run_all(23);
        self.change(&finished, &json!({ "status": "done" }));
        self.change(&drift, &json!({ "status": "blocked" }));
        self.change(&gripper, &json!({ "status": "in_review" }));
        self.change(
            &log,
            &json!({ "status": "todo", "comment": "Rotate first, then compress." }),
        );
        self.run_all(17);
        let wrist = self.issue(
            "Damp the wrist overshoot after a fast stop",
            "critical",
            Some(ada),
        );
        self.change(&wrist, &json!({ "description": DESCRIPTION }));
        self.issue_of(&wrist, "Log the current of joint 5", Some(jules));
        self.issue_of(&wrist, "Notch filter at 11 Hz", None);
        self.issue(
            "Drop ghost returns of the lidar in rain",
            "high",
            Some(kofi),
        );
        self.issue(
            "Plan the move of the arm bus to CAN FD",
            "medium",
            Some(theo),
        );
        self.issue("Commissioning guide for the second cell", "low", Some(noor));
        self.issue("Emergency stop test bench", "high", None);
        let old = self.issue("Move the old build machine", "low", None);
        self.change(&old, &json!({ "status": "cancelled" }));
        self.of_company(
            "issues",
            &json!({ "title": "Quieter fans in the control cabinet" }),
        );
        self.spend(agents);
        self.world.clock().set(NOW.minus(41 * MINUTE));
        let live = self.world.start_all();
        for run in &live {
            let issue = run.run.issue.unwrap();
            self.say(run, &format!("/api/issues/{issue}/checkout"), &json!({}));
        }
        let run_of = |agent: &String| {
            let mut live = live.iter();
            live.find(|it| it.run.agent.to_string() == *agent).unwrap()
        };
        self.world.clock().set(NOW.minus(12 * MINUTE));
        self.talk(&wrist, run_of(ada));
        self.ask_for_help(run_of(theo));
        self.world.clock().set(NOW);
        self.names.push(("ISSUE", wrist));
    }

    fn issue(&self, title: &str, priority: &str, assignee: Option<&String>) -> String {
        let issue = json!({ "title": title, "priority": priority, "status": "todo",
            "assigneeAgentId": assignee });
        key(&self.of_company("issues", &issue))
    }

    fn issue_of(&self, parent: &str, title: &str, assignee: Option<&String>) {
        let issue = json!({ "title": title, "parentId": parent, "status": "todo",
            "assigneeAgentId": assignee });
        self.of_company("issues", &issue);
    }

    fn change(&self, issue: &str, change: &Value) {
        self.board
            .call_with("PATCH", &format!("/api/issues/{issue}"), &[], change);
    }

    /// Everything that can start runs for so many minutes; every other one fails.
    fn run_all(&mut self, minutes: u32) {
        let started = self.world.start_all();
        self.world.advance(MINUTE * minutes);
        for (at, StartedRun { run, .. }) in started.iter().enumerate() {
            self.end(run, at % 2 == 0);
        }
        self.names.push(("RUN", started[0].run.id.to_string()));
    }

    fn end(&self, run: &Run, is_well: bool) {
        let said = "The tests of the wrist pass again.";
        let log = "$ cargo test -p wrist\nrunning 41 tests\n\u{1b}[32mok\u{1b}[0m overshoot::fast_stop\n\
            test result: ok. 41 passed; 0 failed\n";
        self.end_saying(run, is_well, said, log);
    }

    fn end_saying(&self, run: &Run, is_well: bool, said: &str, log: &str) {
        let end = RunEnd {
            outcome: match is_well {
                true => RunOutcome::Succeeded,
                false => RunOutcome::Failed(RunErrorCode::ProviderLimit),
            },
            error: (!is_well).then(|| "The provider takes no more requests.".to_owned()),
            exit_code: Some(i32::from(!is_well)),
            signal: None,
            log_bytes: 48_211,
            log_tail: Some(log.to_owned()),
            session: None,
            result_text: is_well.then(|| said.to_owned()),
            retry_at: None,
        };
        self.world.finish_as(run, &end);
    }

    fn spend(&self, agents: &[String]) {
        for (agent, (.., dollars)) in agents.iter().zip(AGENTS) {
            let cost = json!({ "agentId": agent, "provider": "anthropic", "model": "claude-opus-4",
                "costCents": dollars * 100 + 2, "inputTokens": 812_004, "outputTokens": 61_220 });
            self.of_company("cost-events", &cost);
        }
    }

    /// What a run asks the server for.
    fn say(&self, run: &StartedRun, path: &str, body: &Value) -> Value {
        let bearer = format!("Bearer {}", run.token);
        let headers = [("Authorization", bearer.as_str())];
        self.board.call_with("POST", path, &headers, body)
    }

    fn talk(&self, issue: &str, run: &StartedRun) {
        let comments = format!("/api/issues/{issue}/comments");
        let said = json!({ "body": "The peak is at **11.2 Hz** with and without a payload, so a \
            notch filter will do. I try 11 Hz, width 2 Hz first." });
        self.say(run, &comments, &said);
        self.world.advance(MINUTE);
        let asked = json!({ "body": "Please keep the stop below 350 ms. @Rune Dahl has the numbers \
            of last week." });
        self.board.call(&comments, &asked);
    }

    /// Somebody who works asks for another agent.
    fn ask_for_help(&self, by: &StartedRun) {
        let company = format!("/api/companies/{}", self.company);
        let careful = json!({ "requireBoardApprovalForNewAgents": true });
        self.board.call_with("PATCH", &company, &[], &careful);
        let hire = json!({ "name": "Sam Otieno", "role": "engineer", "title": "Test engineer",
            "budgetMonthlyCents": 5500, "adapterType": "process",
            "adapterConfig": { "command": "./bench --watch", "shell": true },
            "capabilities": "Runs the **test bench** at night." });
        self.say(by, &format!("{company}/agent-hires"), &hire);
    }

    /// What the board is to decide.
    /// What the work is for, where it is done, and what it needs.
    fn plan(&mut self) {
        let goal =
            json!({ "title": "Field trial of the arm", "level": "company", "status": "active" });
        let goal = id(&self.of_company("goals", &goal));
        let below = json!({ "title": "No overshoot", "level": "team", "parentId": goal });
        self.of_company("goals", &below);
        let project = json!({ "name": "Arm controller", "goalIds": [goal], "status": "in_progress",
            "workspace": { "name": "arm", "repoUrl": "https://example.com/acme/arm.git" } });
        let project = id(&self.of_company("projects", &project));
        let secret = json!({ "name": "forge", "value": "correct-horse" });
        let secret = id(&self.of_company("secrets", &secret));
        let names = [("GOAL", goal), ("PROJECT", project), ("SECRET", secret)];
        self.names.extend(names);
    }

    fn ask(&mut self) {
        let plan = json!({ "type": "approve_ceo_strategy", "payload": {
            "title": "Split the pendant firmware",
            "plan": "1. Draw the line at the safety core\n2. Move the screens out\n3. Test both" } });
        let plan = id(&self.of_company("approvals", &plan));
        self.names.push(("APPROVAL", plan));
        let other = json!({ "type": "approve_ceo_strategy",
            "payload": { "title": "Buy a second lidar", "plan": "Two are better." } });
        let other = id(&self.of_company("approvals", &other));
        self.board.call(
            &format!("/api/approvals/{other}/reject"),
            &json!({ "decisionNote": "Not this quarter." }),
        );
    }
}

fn id(of: &Value) -> String {
    of["id"].as_str().unwrap().to_owned()
}

fn key(of: &Value) -> String {
    of["identifier"].as_str().unwrap().to_owned()
}
