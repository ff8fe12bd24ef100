//! Runs about the issues of a ticket work in its worktree.

use std::fs;

use serde_json::{Value, json};

use super::repositories::git;
use super::scene::{Host, Scene, Ticket, id_of};
use crate::harness::script;
use crate::office::on_both;

/// Tells where it works, and stays until it is let go. Two at a time would see each other.
const PROGRAM: &str = r#"
mkdir "$NOTES/turn" || echo together >> "$NOTES/together"
{
    pwd
    echo "$WORKFORCE_WORKSPACE_CWD"
    echo "$WORKFORCE_WORKSPACE_BRANCH"
    echo "$WORKFORCE_WORKSPACE_BASE_BRANCH"
    echo "$WORKFORCE_TICKET_KEY"
    echo "$WORKFORCE_WORKSPACE_STATE"
} > "$NOTES/$WORKFORCE_TASK_ID"
echo "$WORKFORCE_TASK_ID" >> work.txt
while [ ! -e "$NOTES/go" ]; do sleep 0.05; done
rmdir "$NOTES/turn"
"#;

on_both! {
    fn a_run_works_in_the_worktree_of_its_ticket(database) {
        let scene = Scene::open(database, Host::Remote);
        let ticket = scene.begin_ticket("ABC-1");
        employ(&scene);
        let part = work_for(&scene, &ticket, "One");
        fs::write(scene.home().join("go"), "").unwrap();
        let told = told(&scene, &part);
        let at = ticket.worktree.to_str().unwrap();
        assert_eq!(told, [at, at, "feature/ABC-1", "main", "ABC-1", "in_order"]);
        assert_eq!(ended(&scene, &part)["status"], "succeeded");
    }

    fn one_run_at_a_time_works_in_a_worktree(database) {
        let scene = Scene::open(database, Host::Remote);
        let ticket = scene.begin_ticket("ABC-1");
        employ(&scene);
        let parts = ["One", "Two", "Three"].map(|title| work_for(&scene, &ticket, title));
        scene.wait_for("a first run", || scene.home().join("turn").exists().then_some(()));
        fs::write(scene.home().join("go"), "").unwrap();
        for part in &parts {
            assert_eq!(ended(&scene, part)["status"], "succeeded");
        }
        assert!(!scene.home().join("together").exists(), "two runs worked together");
        let work = fs::read_to_string(ticket.worktree.join("work.txt")).unwrap();
        assert_eq!(work.lines().count(), 3, "{work}");
    }

    fn a_worktree_that_is_gone_is_made_again(database) {
        let scene = Scene::open(database, Host::Remote);
        let ticket = scene.begin_ticket("ABC-1");
        fs::write(scene.home().join("go"), "").unwrap();
        fs::remove_dir_all(&ticket.worktree).unwrap();
        employ(&scene);
        let part = work_for(&scene, &ticket, "One");
        assert_eq!(ended(&scene, &part)["status"], "succeeded");
        assert_eq!(told(&scene, &part)[0], ticket.worktree.to_str().unwrap());
        let branch = git(&ticket.worktree, &["branch", "--show-current"]);
        assert_eq!(branch, ticket.branch);
        let status = git(&ticket.worktree, &["status", "--porcelain"]);
        assert_eq!(status, "?? work.txt");
    }

    fn a_worktree_is_put_in_order_before_a_run_works_there(database) {
        let scene = Scene::open(database, Host::Remote);
        let ticket = scene.begin_ticket("ABC-1");
        fs::write(scene.home().join("go"), "").unwrap();
        employ(&scene);
        let activity = |action: &str| {
            let all = scene.get(&format!("/api/issues/{}/activity", ticket.issue));
            let all = all.as_array().unwrap().clone();
            all.into_iter().filter(|it| it["action"] == action).collect::<Vec<_>>()
        };
        git(&ticket.worktree, &["checkout", "-q", "-b", "elsewhere"]);
        let part = work_for(&scene, &ticket, "One");
        assert_eq!(told(&scene, &part)[5], "restored");
        assert_eq!(ended(&scene, &part)["status"], "succeeded");
        let branch = git(&ticket.worktree, &["branch", "--show-current"]);
        assert_eq!(branch, ticket.branch);
        let restored = activity("worktree.restored");
        assert_eq!(restored.len(), 1);
        let found = &restored[0]["details"]["found"][0];
        assert_eq!(found["disorder"], "off_branch");
        assert_eq!(found["detail"], "elsewhere");

        // With work that is not committed nothing is touched, and it is told once.
        git(&ticket.worktree, &["checkout", "-q", "elsewhere"]);
        for title in ["Two", "Three"] {
            let part = work_for(&scene, &ticket, title);
            assert_eq!(told(&scene, &part)[5], "off_branch", "{title}");
            assert_eq!(ended(&scene, &part)["status"], "succeeded");
        }
        let branch = git(&ticket.worktree, &["branch", "--show-current"]);
        assert_eq!(branch, "elsewhere");
        assert_eq!(activity("worktree.disordered").len(), 1);
        let shown = scene.get(&format!("/api/issues/{}/workspace", ticket.issue));
        assert_eq!(shown["disorder"], "off_branch");
        git(&ticket.worktree, &["checkout", "-q", &ticket.branch]);
        let part = work_for(&scene, &ticket, "Four");
        assert_eq!(told(&scene, &part)[5], "in_order");
        assert_eq!(ended(&scene, &part)["status"], "succeeded");
        let shown = scene.get(&format!("/api/issues/{}/workspace", ticket.issue));
        assert_eq!(shown["disorder"], Value::Null);
    }

    fn work_whose_worktree_is_gone_is_merged_all_the_same(database) {
        let scene = Scene::open(database, Host::Remote);
        let ticket = scene.begin_ticket("ABC-1");
        scene.do_work(&ticket, |worktree| {
            fs::write(worktree.join("work.txt"), "work").unwrap();
            git(worktree, &["add", "."]);
            git(worktree, &["commit", "-q", "-m", "of the agent"]);
            fs::remove_dir_all(worktree).unwrap();
        });
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        fs::remove_dir_all(&ticket.worktree).unwrap();
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:work.txt"]);
        assert_eq!(scene.status(&ticket.issue), "done");
    }

    fn nothing_is_asked_for_while_a_run_works(database) {
        let scene = Scene::open(database, Host::Remote);
        let ticket = scene.begin_ticket("ABC-1");
        let part = scene.begin_part(&ticket, "A part");
        employ(&scene);
        let path = format!("/api/issues/{}/comments", ticket.issue);
        scene.post(&path, &json!({ "body": "How far is it?" }));
        scene.wait_for("a run", || scene.home().join("turn").exists().then_some(()));
        scene.end_part(&part);
        let issue = format!("/api/issues/{}/approvals", ticket.issue);
        let waits = || {
            let found = scene.get(&issue);
            let mut found = found.as_array().unwrap().iter();
            !found.any(|it| it["type"] == "approve_pull_request")
        };
        assert!(waits(), "the board is asked while a run works");
        fs::write(scene.home().join("go"), "").unwrap();
        let approval = id_of(&scene.asked(&ticket.issue, "approve_pull_request"));
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        git(&scene.remote, &["cat-file", "-e", "feature/ABC-1:work.txt"]);
    }
}

/// Lead and developer are given a program, and started when they are woken.
fn employ(scene: &Scene<'_>) {
    let program = script(scene.home(), "program", PROGRAM);
    for member in [&scene.lead, &scene.developer] {
        let change = json!({
            "adapterConfig": {
                "command": "/bin/sh",
                "args": [program],
                "env": { "NOTES": scene.home() },
            },
            "runtimeConfig": { "heartbeat": { "wakeOnDemand": true, "maxConcurrentRuns": 3 } },
        });
        scene.ask(
            "PATCH",
            &format!("/api/agents/{}", member.id),
            None,
            &change,
        );
    }
}

/// A part that is given to the developer, which is woken for it.
#[track_caller]
fn work_for(scene: &Scene<'_>, ticket: &Ticket, title: &str) -> String {
    let part = json!({
        "title": title,
        "status": "todo",
        "parentId": ticket.issue,
        "projectId": scene.project,
        "assigneeAgentId": scene.developer.id,
    });
    id_of(&scene.post(&scene.of_company("issues"), &part))
}

/// What the run about an issue found.
#[track_caller]
fn told(scene: &Scene<'_>, issue: &str) -> Vec<String> {
    let path = scene.home().join(issue);
    scene.wait_for("a run", || {
        let text = fs::read_to_string(&path).ok()?;
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        (lines.len() == 6).then_some(lines)
    })
}

/// The run about an issue, when it has ended.
#[track_caller]
fn ended(scene: &Scene<'_>, issue: &str) -> Value {
    let path = format!("/api/issues/{issue}/runs");
    scene.wait_for("the end of a run", || {
        let runs = scene.get(&path);
        let run = runs.as_array().unwrap().last()?.clone();
        let is_live = ["queued", "running"].iter().any(|it| run["status"] == *it);
        (!is_live).then_some(run)
    })
}
