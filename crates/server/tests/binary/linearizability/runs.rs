//! Runs that check out and release while others begin and end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use workforce_testkit::random::Random;

use super::{Contender, DEEDS, Firm};
use crate::harness::{PATIENCE, folder, script};
use crate::histories::{Answer, Caller, Deed, Record};

const ISSUES: usize = 20;
/// Two in the runs of each agent, and the board.
const CLIENTS: usize = 5;

/// Hands its token to whoever acts in its stead, and ends when it is told to.
const PROGRAM: &str = r#"
cd "$1"
echo "$WORKFORCE_API_KEY $WORKFORCE_AGENT_ID $WORKFORCE_TASK_ID" > "$WORKFORCE_RUN_ID.part"
mv "$WORKFORCE_RUN_ID.part" "$WORKFORCE_RUN_ID.run"
until [ -e "$WORKFORCE_RUN_ID.end" ]; do sleep 0.02; done
"#;

/// A live run whose token somebody has.
struct Puppet {
    caller: Caller,
    token: String,
    /// It may have begun at this instant, not before.
    since: Instant,
    /// What it may hold.
    issues: Vec<String>,
}

/// Where runs leave their tokens, and since when one may be claimed for an issue.
struct Stage {
    folder: TempDir,
    begun: Instant,
    causes: Mutex<BTreeMap<(String, String), Instant>>,
    issues: Vec<String>,
    deeds: AtomicUsize,
}

impl Stage {
    /// The issue on which all work now; `None` when it is enough.
    fn next(&self) -> Option<&str> {
        let done = self.deeds.fetch_add(1, Ordering::SeqCst);
        self.issues
            .get(done / (CLIENTS * DEEDS))
            .map(String::as_str)
    }

    /// What the board does meanwhile.
    fn govern(&self, mut board: Contender<'_>, agents: &[String]) {
        while let Some(issue) = self.next() {
            let agent = board.random.pick(agents).unwrap();
            if !board.random.chance(40) {
                board.act(issue, Deed::Read, None);
                // The others have more to do for each deed.
                thread::sleep(Duration::from_millis(5));
                continue;
            }
            let cause = (issue.to_owned(), agent.clone());
            let mut causes = self.causes.lock().unwrap();
            causes.entry(cause).or_insert_with(Instant::now);
            drop(causes);
            board.act(issue, Deed::CheckOutFor(agent), None);
        }
    }

    /// A run of this agent that nobody has taken yet.
    fn take(&self, firm: &Firm, agent: &str) -> Option<Puppet> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.extension().is_none_or(|it| it != "run") {
                continue;
            }
            // Only one of those who look takes it.
            let Ok(told) = std::fs::read_to_string(&path) else {
                continue;
            };
            let mut words = told.split_whitespace();
            let token = words.next().unwrap().to_owned();
            let is_of_agent = words.next() == Some(agent);
            if !is_of_agent || std::fs::rename(&path, path.with_extension("taken")).is_err() {
                continue;
            }
            let issue = words.next().map(str::to_owned);
            let run = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let caller = Caller {
                agent: agent.to_owned(),
                run: Some(run),
            };
            let since = match &issue {
                Some(issue) => {
                    let cause = (issue.clone(), agent.to_owned());
                    self.causes.lock().unwrap()[&cause]
                }
                None => self.begun,
            };
            if let Some(issue) = &issue {
                let claim = Record {
                    deed: Deed::Claim(caller.clone()),
                    began: since,
                    answered: Some((Instant::now(), Answer::Done)),
                };
                firm.histories.add(issue, claim);
            }
            return Some(Puppet {
                caller,
                token,
                since,
                issues: issue.into_iter().collect(),
            });
        }
        None
    }

    /// Ends a run, or notes that it has ended, and that it holds nothing since.
    fn end(&self, firm: &Firm, puppet: Puppet) {
        let run = puppet.caller.run.unwrap();
        let began = Instant::now();
        std::fs::write(self.file(&run), "").unwrap();
        let path = format!("/api/heartbeat-runs/{run}");
        let ended = firm.servers[0].wait_for(&path, |run| run["status"] != "running");
        // One that was stopped may have ended before it was told to.
        let began = match ended["status"] == "succeeded" {
            true => began,
            false => puppet.since,
        };
        for issue in puppet.issues {
            let finish = Record {
                deed: Deed::Finish(run.clone()),
                began,
                answered: Some((Instant::now(), Answer::Done)),
            };
            firm.histories.add(&issue, finish);
        }
    }

    fn file(&self, run: &str) -> PathBuf {
        self.folder.path().join(format!("{run}.end"))
    }
}

/// Acts in the runs of one agent.
struct Worker<'a> {
    firm: &'a Firm,
    stage: &'a Stage,
    agent: String,
    contender: Contender<'a>,
    puppets: Vec<Puppet>,
}

impl Worker<'_> {
    fn work(&mut self) {
        while let Some(issue) = self.stage.next() {
            self.puppets.extend(self.stage.take(self.firm, &self.agent));
            if self.puppets.is_empty() {
                self.invoke();
            } else {
                self.work_on(issue);
            }
        }
        for puppet in self.puppets.drain(..) {
            self.stage.end(self.firm, puppet);
        }
    }

    fn work_on(&mut self, issue: &str) {
        let which = self.contender.random.below(self.puppets.len());
        // Whoever has many leaves none for others.
        let chance = 12 * self.puppets.len() * self.puppets.len();
        if self.contender.random.chance(chance) {
            self.stage.end(self.firm, self.puppets.swap_remove(which));
            return;
        }
        let puppet = &mut self.puppets[which];
        let caller = puppet.caller.clone();
        let deed = match self.contender.random.below(10) {
            0..5 => Deed::CheckOut(caller),
            5..8 => Deed::Release(caller),
            _ => Deed::Read,
        };
        if !puppet.issues.iter().any(|it| it == issue) {
            puppet.issues.push(issue.to_owned());
        }
        let status = self.contender.act(issue, deed, Some(&puppet.token));
        if status == Some(401) {
            self.stage.end(self.firm, self.puppets.swap_remove(which));
        }
    }

    /// Asks for a run and waits until it, or another one, is there. Another worker of the same
    /// agent may have asked as well, and take it: then it is asked for again.
    fn invoke(&mut self) {
        let path = format!("/api/agents/{}/heartbeat/invoke", self.agent);
        let begun = Instant::now();
        while self.puppets.is_empty() {
            assert!(
                begun.elapsed() < PATIENCE,
                "no run of {} begins",
                self.agent
            );
            self.firm.servers[0].post(&path, &json!({}));
            thread::sleep(Duration::from_millis(50));
            self.puppets.extend(self.stage.take(self.firm, &self.agent));
        }
    }
}

pub(super) fn contend(firm: &Firm) {
    let stage = Stage {
        folder: folder(),
        begun: Instant::now(),
        causes: Mutex::default(),
        issues: (0..ISSUES).map(|_| firm.issue()).collect(),
        deeds: AtomicUsize::new(0),
    };
    let program = script(stage.folder.path(), "agent.sh", PROGRAM);
    let agents: Vec<String> = ["Ada", "Bob"]
        .iter()
        .map(|name| hire(firm, name, &program, stage.folder.path()))
        .collect();
    // Two work in the runs of each agent.
    thread::scope(|scope| {
        for seed in 0..4_u64 {
            let mut worker = Worker {
                firm,
                stage: &stage,
                agent: agents[usize::try_from(seed % 2).unwrap()].clone(),
                contender: contender(firm, seed),
                puppets: Vec::new(),
            };
            scope.spawn(move || worker.work());
        }
        stage.govern(contender(firm, 4), &agents);
    });
    end_what_is_left(firm, &stage, &agents);
    firm.assert_linearizable(&[
        "claimed",
        "read",
        "other_assignee",
        "live_run",
        "not_holder",
    ]);
}

/// Runs that began after everybody had gone are claims as well.
fn end_what_is_left(firm: &Firm, stage: &Stage, agents: &[String]) {
    let path = format!("/api/companies/{}/live-runs", firm.company);
    let begun = Instant::now();
    while firm.servers[0].get(&path) != json!([]) {
        assert!(begun.elapsed() < PATIENCE, "runs are left");
        for agent in agents {
            while let Some(puppet) = stage.take(firm, agent) {
                stage.end(firm, puppet);
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn contender(firm: &Firm, seed: u64) -> Contender<'_> {
    Contender {
        clients: firm.clients(),
        histories: &firm.histories,
        random: Random::new(seed),
    }
}

fn hire(firm: &Firm, name: &str, program: &Path, folder: &Path) -> String {
    let agent = firm.hire(name, &json!({ "maxConcurrentRuns": 3 }), program);
    let path = format!("/api/agents/{agent}");
    let adapter = json!({ "command": "/bin/sh", "args": [program, folder], "graceSec": 1 });
    let change = json!({ "adapterConfig": adapter });
    let (status, answer) = firm.servers[0].send("PATCH", &path, None, &change);
    assert_eq!(status, 200, "{answer}");
    agent
}
