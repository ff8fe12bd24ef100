//! Two servers on one PostgreSQL: what one leaves in the midst of a step, the other goes on with.

use std::fs;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use workforce_forge_imitation::{Failure, ImitatedForge};

use super::kills::is_merged_once;
use super::repositories::git;
use super::scene::{Host, Scene, Ticket};
use crate::client::Sender;
use crate::harness::Server;
use crate::office::Database;

impl Scene<'_> {
    /// Ends the leases of a server that stands still, as they would end by themselves in a while.
    fn end_leases(&self) {
        if let Database::Postgres(database) = self.database {
            let ended = "UPDATE approval_executions SET lease_expires_at = now() \
                         WHERE state = 'executing' RETURNING approval_id::text AS line";
            let _ = database.texts(ended);
            let ended = "UPDATE execution_workspaces SET held_until = NULL \
                         WHERE held_until IS NOT NULL RETURNING id::text AS line";
            let _ = database.texts(ended);
        }
    }

    /// Another server on the same database and with the same worktrees.
    fn second(&self) -> Server {
        let data = self.home().join("second");
        fs::create_dir_all(&data).unwrap();
        let worktrees = self.data().join("worktrees");
        let flags = ["--worktrees", worktrees.to_str().unwrap()];
        let server = self.launch(&data, &flags, &std::env::var("PATH").unwrap());
        server.wait_until_ready();
        server
    }

    /// The end of the lease on what is being executed.
    fn lease(&self) -> Vec<String> {
        let Database::Postgres(database) = self.database else {
            return Vec::new();
        };
        database.texts(
            "SELECT lease_expires_at::text AS line FROM approval_executions \
             WHERE state = 'executing'",
        )
    }
}

/// How often a server renews its lease.
const RENEW_EVERY: Duration = Duration::from_secs(15);

type Answer = Option<(u16, Value)>;

/// A ticket that waits for the board on two servers.
fn opened(database: &Database) -> (Scene<'_>, Server, Ticket, String) {
    let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
    let (ticket, approval) = scene.ticket_to_merge("ABC-1");
    let second = scene.second();
    (scene, second, ticket, approval)
}

/// What a server says of the execution once it has ended.
#[track_caller]
fn ended(scene: &Scene<'_>, server: &Server, approval: &str) -> Value {
    let path = format!("/api/approvals/{approval}");
    scene.wait_for("an end of the execution", || {
        let execution = server.get(&path)["execution"].clone();
        (execution["state"] != "executing").then_some(execution)
    })
}

#[track_caller]
fn decided(server: &Server, approval: &str, decision: &str) -> (u16, Value) {
    let path = format!("/api/approvals/{approval}/{decision}");
    server.send("POST", &path, None, &json!({}))
}

/// Approves at the first server, which may be stopped for a while.
fn approving<'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    scene: &Scene<'_>,
    approval: &str,
) -> ScopedJoinHandle<'scope, Answer> {
    let path = format!("/api/approvals/{approval}/approve");
    let client = scene.server().client();
    scope.spawn(move || {
        client
            .send("POST", &path, Sender::default(), &json!({}))
            .ok()
    })
}

/// Whether the process stands still.
fn is_stopped(server: &Server) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    rest.trim_start().starts_with('T')
}

#[test]
fn what_a_dead_server_left_is_given_up_by_another_and_goes_on_there() {
    let Some(database) = Database::postgres() else {
        return;
    };
    let (scene, second, ticket, approval) = opened(&database);
    let forge = scene.forge.as_ref().unwrap();
    forge.forget_requests();
    forge.fail(Failure::wait(Duration::from_secs(3600)).on("POST", ""));
    std::thread::scope(|scope| {
        let first = approving(scope, &scene, &approval);
        scene.wait_for("a request", || {
            let requests = forge.requests();
            let found = requests.iter().any(|it| it.method == "POST");
            found.then_some(())
        });
        let (status, answer) = decided(&second, &approval, "reject");
        assert_eq!(
            (status, &answer["code"]),
            (409, &json!("execution_in_progress")),
            "{answer}"
        );
        scene.kill_now();
        assert_eq!(first.join().unwrap(), None);
    });
    let execution = ended(&scene, &second, &approval);
    assert_eq!(execution["code"], "interrupted", "{execution}");
    assert_eq!(execution["step"], "pull_request", "{execution}");
    let (status, answer) = decided(&second, &approval, "approve");
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["execution"]["attempts"], 2, "{answer}");
    let mut scene = scene;
    scene.start_again();
    is_merged_once(&scene, &ticket);
}

#[test]
fn a_server_that_is_slow_keeps_its_lease() {
    let Some(database) = Database::postgres() else {
        return;
    };
    let (scene, second, ticket, approval) = opened(&database);
    let forge = scene.forge.as_ref().unwrap();
    forge.forget_requests();
    forge.fail(Failure::wait(RENEW_EVERY + Duration::from_secs(5)).on("POST", ""));
    std::thread::scope(|scope| {
        let first = approving(scope, &scene, &approval);
        scene.wait_for("a request", || {
            let requests = forge.requests();
            let found = requests.iter().any(|it| it.method == "POST");
            found.then_some(())
        });
        // The step was written down before it began; nothing is until it ends.
        let lease = scene.lease();
        assert_eq!(lease.len(), 1);
        scene.wait_for("a renewal", || (scene.lease() != lease).then_some(()));
        let (status, answer) = decided(&second, &approval, "approve");
        assert_eq!(status, 409, "{answer}");
        assert_eq!(answer["code"], "execution_in_progress", "{answer}");
        let (status, answer) = first.join().unwrap().unwrap();
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["execution"]["attempts"], 1, "{answer}");
    });
    is_merged_once(&scene, &ticket);
}

#[test]
fn a_server_that_stood_still_while_another_carried_the_approval_out_does_nothing_more() {
    let Some(database) = Database::postgres() else {
        return;
    };
    let (scene, second, ticket, approval) = opened(&database);
    scene.forge.as_ref().unwrap().forget_requests();
    // The call of git goes on.
    scene.watch.freeze_at("push");
    std::thread::scope(|scope| {
        let first = approving(scope, &scene, &approval);
        scene.wait_for("a standstill", || is_stopped(scene.server()).then_some(()));
        scene.end_leases();
        let execution = ended(&scene, &second, &approval);
        assert_eq!(execution["code"], "interrupted", "{execution}");
        let (status, answer) = decided(&second, &approval, "approve");
        assert_eq!(status, 200, "{answer}");
        let before = second.get(&format!("/api/approvals/{approval}"));
        assert_eq!(before["execution"]["attempts"], 2, "{before}");
        scene.server().signal(Signal::SIGCONT);
        let (status, late) = first.join().unwrap().unwrap();
        assert_eq!(status, 422, "{late}");
        assert_eq!(late["code"], "approval_not_pending", "{late}");
        assert_eq!(late["details"]["status"], "approved", "{late}");
        assert_eq!(scene.approval(&approval), before);
    });
    is_merged_once(&scene, &ticket);
    let requests = scene.forge.as_ref().unwrap().requests();
    let asked = requests.iter().filter(|it| it.method == "POST").count();
    assert_eq!(asked, 1, "{requests:?}");
}

#[test]
fn a_server_that_stood_still_while_the_board_said_no_pushes_nothing() {
    let Some(database) = Database::postgres() else {
        return;
    };
    let (scene, second, ticket, approval) = opened(&database);
    let before = git(&scene.remote, &["for-each-ref"]);
    scene.watch.freeze_at("fetch");
    std::thread::scope(|scope| {
        let first = approving(scope, &scene, &approval);
        scene.wait_for("a standstill", || is_stopped(scene.server()).then_some(()));
        scene.end_leases();
        let (status, answer) = scene.wait_for("a decision", || {
            let answer = decided(&second, &approval, "reject");
            (answer.0 != 409).then_some(answer)
        });
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["execution"]["code"], "interrupted", "{answer}");
        scene.server().signal(Signal::SIGCONT);
        let (status, late) = first.join().unwrap().unwrap();
        assert_eq!(status, 422, "{late}");
        assert_eq!(late["code"], "approval_not_pending", "{late}");
        assert_eq!(late["details"]["status"], "rejected", "{late}");
    });
    assert_eq!(git(&scene.remote, &["for-each-ref"]), before);
    assert_eq!(scene.approval(&approval)["status"], "rejected");
    assert_eq!(scene.status(&ticket.issue), "in_progress");
    let pulls = scene.forge.as_ref().unwrap();
    assert_eq!(pulls.pull_requests(super::scene::REPOSITORY).len(), 0);
    // Runs are let in again.
    let Database::Postgres(database) = scene.database else {
        return;
    };
    let held = database
        .texts("SELECT id::text AS line FROM execution_workspaces WHERE held_until > now()");
    assert_eq!(held, Vec::<String>::new());
}
