//! The way from a plan to its pull request.

use serde_json::json;
use workforce_forge_imitation::ImitatedForge;

use super::approvals::step;
use super::repositories::{differences, file_url, git, refs_but, untouchable, write};
use super::scene::{Host, REPOSITORY, Scene, Ticket, id_of};
use crate::office::{Database, on_both};

on_both! {
    fn a_ticket_ends_in_a_pull_request_at_github(database) {
        at_forge(database, ImitatedForge::GitHub);
    }

    fn a_ticket_ends_in_a_pull_request_at_gitlab(database) {
        at_forge(database, ImitatedForge::GitLab);
    }

    fn a_ticket_ends_in_a_pull_request_at_gitea(database) {
        at_forge(database, ImitatedForge::Gitea);
    }

    fn without_a_forge_the_branch_is_pushed(database) {
        let scene = Scene::open(database, Host::Remote);
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let (status, done) = scene.approve(&approval);
        assert_eq!(status, 200, "{done}");
        assert_eq!(done["payload"]["pullRequestUrl"], json!(null), "{done}");
        assert_eq!(done["payload"]["pushed"], json!(true), "{done}");
        let head = git(&scene.remote, &["rev-parse", &ticket.branch]);
        assert_eq!(done["payload"]["commitSha"], json!(head));
        assert_eq!(scene.status(&ticket.issue), "done");
    }

    fn without_a_remote_the_branch_is_ready_to_be_merged(database) {
        let scene = Scene::open(database, Host::Nothing);
        let before = untouchable(&scene.source);
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let (status, done) = scene.approve(&approval);
        assert_eq!(status, 200, "{done}");
        assert_eq!(done["payload"]["pullRequestUrl"], json!(null), "{done}");
        assert_eq!(done["payload"]["pushed"], json!(false), "{done}");
        let head = git(&scene.source, &["rev-parse", &ticket.branch]);
        assert_eq!(done["payload"]["commitSha"], json!(head));
        assert_eq!(scene.status(&ticket.issue), "done");
        assert!(differences(&before, &untouchable(&scene.source)).is_empty());
    }

    fn a_repository_without_a_folder_is_worked_on_in_a_copy(database) {
        let mut scene = Scene::open(database, Host::Remote);
        let before = untouchable(&scene.source);
        let workspace = json!({ "repoUrl": file_url(&scene.remote) });
        let project = json!({ "name": "Copied", "workspace": workspace });
        scene.project = id_of(&scene.post(&scene.of_company("projects"), &project));
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        let (status, done) = scene.approve(&approval);
        assert_eq!(status, 200, "{done}");
        assert!(ticket.worktree.starts_with(scene.data()), "{ticket:?}");
        let head = git(&scene.remote, &["rev-parse", &ticket.branch]);
        assert_eq!(done["payload"]["commitSha"], json!(head));
        assert_eq!(scene.status(&ticket.issue), "done");
        assert!(differences(&before, &untouchable(&scene.source)).is_empty());
    }

    fn work_that_changes_nothing_asks_for_its_completion(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let ticket = scene.begin_ticket("ABC-1");
        scene.do_work(&ticket, |_| {});
        let approval = scene.asked(&ticket.issue, "approve_completion");
        let (status, done) = scene.approve(&id_of(&approval));
        assert_eq!(status, 200, "{done}");
        assert_eq!(scene.status(&ticket.issue), "done");
        assert!(scene.forge.as_ref().unwrap().requests().is_empty());
    }

    fn three_tickets_of_one_source_go_on_at_the_same_time(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let before = untouchable(&scene.source);
        let tickets: Vec<Ticket> = std::thread::scope(|scope| {
            let begun: Vec<_> = ["ABC-1", "ABC-2", "ABC-3"]
                .map(|key| scope.spawn(|| through(&scene, key)))
                .into();
            begun.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let pulls = scene.forge.as_ref().unwrap().pull_requests(REPOSITORY);
        assert_eq!(pulls.len(), 3, "{pulls:?}");
        for ticket in tickets {
            assert!(pulls.iter().any(|pull| pull.head == ticket.branch));
            assert_eq!(scene.status(&ticket.issue), "done");
            let listed = git(&scene.remote, &["ls-tree", "--name-only", &ticket.branch]);
            let own: Vec<_> = listed.lines().filter(|it| it.starts_with("ABC-")).collect();
            assert_eq!(own, [format!("{}.txt", ticket.key)]);
        }
        assert!(differences(&before, &untouchable(&scene.source)).is_empty());
    }
}

fn through(scene: &Scene<'_>, key: &str) -> Ticket {
    let (ticket, approval) = scene.ticket_to_merge(key);
    let (status, done) = scene.approve(&approval);
    assert_eq!(status, 200, "{done}");
    ticket
}

fn at_forge(database: &Database, kind: ImitatedForge) {
    let scene = Scene::open(database, Host::Forge(kind));
    let before = untouchable(&scene.source);
    let others = refs_but(&scene.remote, "refs/heads/feature/");
    let ticket = scene.begin_ticket("ABC-1");
    assert_eq!(ticket.branch, "feature/ABC-1");
    let part = scene.begin_part(&ticket, "A part");
    // One that nobody ends.
    let left = scene.begin_part(&ticket, "Another");
    let seen = scene.get(&format!("/api/issues/{part}"));
    let plan = scene.get(&format!("/api/issues/{}", ticket.issue));
    assert_eq!(seen["executionWorkspaceId"], plan["executionWorkspaceId"]);
    write(&ticket.worktree, "README.md", "hello\nworld\n");
    write(&ticket.worktree, "new/file.txt", "new\n");
    scene.end_part(&part);
    let cancelled = json!({ "status": "cancelled" });
    scene.ask("PATCH", &format!("/api/issues/{left}"), None, &cancelled);
    let approval = scene.asked(&ticket.issue, "approve_pull_request");
    assert_eq!(scene.status(&ticket.issue), "in_review");
    let open = scene.plan_part(&ticket);
    scene.start_when_woken(&scene.lead);
    let (status, done) = scene.approve(&id_of(&approval));
    assert_eq!(status, 200, "{done}");
    let head = git(&scene.remote, &["rev-parse", &ticket.branch]);
    let pulls = scene.forge.as_ref().unwrap().pull_requests(REPOSITORY);
    assert_eq!(pulls.len(), 1, "{pulls:?}");
    let (pull, payload) = (&pulls[0], &done["payload"]);
    assert_eq!((&*pull.head, &*pull.base), ("feature/ABC-1", "main"));
    assert_eq!(pull.head_sha, head);
    assert!(
        pull.title.ends_with(": Work on ABC-1"),
        "the title {}",
        pull.title
    );
    assert!(pull.body.contains("- `new/file.txt`"), "{}", pull.body);
    assert_eq!(payload["pullRequestNumber"], json!(pull.number));
    assert_eq!(payload["commitSha"], json!(head));
    assert_eq!(payload["branch"], json!("feature/ABC-1"));
    let url = payload["pullRequestUrl"].as_str().unwrap();
    assert!(url.contains(REPOSITORY), "{url}");
    assert_eq!(done["status"], "approved");
    assert_eq!(done["execution"]["state"], "completed");
    assert_eq!(step(&done, "push")["commit"], json!(head));
    assert_eq!(scene.status(&ticket.issue), "done");
    assert_eq!(scene.status(&part), "done");
    assert_eq!(scene.status(&left), "cancelled");
    assert_eq!(scene.status(&open), "done");
    committed_as_told(&scene, &ticket);
    assert_eq!(others, refs_but(&scene.remote, "refs/heads/feature/"));
    let changed = differences(&before, &untouchable(&scene.source));
    assert!(changed.is_empty(), "the source differs in {changed:?}");
    scene.run_because(&ticket.issue, "approval_approved");
}

/// The remote has one commit of the work, by the agent of the issue.
fn committed_as_told(scene: &Scene<'_>, ticket: &Ticket) {
    let range = format!("main..{}", ticket.branch);
    let format = "--format=%an|%ae|%cn|%ce|%s";
    let commits = git(&scene.remote, &["log", "--no-merges", format, &range]);
    let issue = scene.get(&format!("/api/issues/{}", ticket.issue));
    let name = issue["identifier"].as_str().unwrap();
    let lead = &scene.lead.id;
    let expected = format!(
        "Lead|{lead}@agents.workforce.invalid|workforce|workforce@localhost|{name}: Work on ABC-1"
    );
    assert_eq!(commits, expected);
    let body = git(&scene.remote, &["log", "-1", "--format=%b", &ticket.branch]);
    assert!(body.contains(&format!("Workforce-Issue: {name}")), "{body}");
    assert!(body.contains(&format!("Workforce-Agent: {lead}")), "{body}");
}
