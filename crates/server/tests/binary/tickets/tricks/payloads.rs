//! Payloads that ask for more than a ticket.

use serde_json::{Value, json};
use workforce_forge_imitation::ImitatedForge;

use super::Surroundings;
use crate::office::on_both;
use crate::tickets::repositories::{git, make_source};
use crate::tickets::scene::{Host, REPOSITORY, Scene, id_of};

on_both! {
    fn a_plan_names_no_branch_but_one_of_work(database) {
        let scene = Scene::open(database, Host::Remote);
        let before = Surroundings::of(&scene);
        let issue = scene.begin_issue("Work");
        for branch in [
            "main",
            "HEAD",
            "HEAD:main",
            "feature/x:main",
            "+feature/x",
            "-x",
            "--force",
            "refs/heads/main",
            "feature/../../x",
            "feature/x..main",
            "feature/x.lock",
            "feature/x y",
            "feature/",
            "feature//x",
            "feature/@{-1}",
            "feature/x\n",
            "feature/x\u{202e}niam",
            "feature/x\u{200b}",
            "feature/x\u{a0}y",
            "",
        ] {
            let workspace = json!({ "ticketKey": "ABC-1", "branch": branch });
            let (status, answer) = scene.file_plan(&issue, &workspace);
            assert_eq!(status, 422, "{branch:?}: {answer}");
        }
        for key in ["../x", "ABC", "abc-1", "ABC-1/..", "-ABC-1", "ABC-1\n"] {
            let (status, answer) = scene.file_plan(&issue, &json!({ "ticketKey": key }));
            assert_eq!(status, 422, "{key:?}: {answer}");
        }
        for base in ["-x", "--upload-pack=x", "HEAD~1", "a:b", "@{-1}"] {
            let workspace = json!({ "ticketKey": "ABC-1", "baseBranch": base });
            let (status, answer) = scene.file_plan(&issue, &workspace);
            assert_eq!(status, 422, "{base:?}: {answer}");
        }
        assert_eq!(scene.status(&issue), "in_progress");
        before.are_as_before(&scene);
    }

    fn a_ticket_has_a_branch_of_its_own(database) {
        let scene = Scene::open(database, Host::Remote);
        git(&scene.source, &["checkout", "-q", "-b", "feature/base"]);
        git(&scene.source, &["push", "-q", "origin", "feature/base"]);
        git(&scene.remote, &["symbolic-ref", "HEAD", "refs/heads/feature/base"]);
        let issue = scene.begin_issue("Work");
        // Nobody says what the base branch is, so that the remote is asked.
        let workspace = json!({ "ticketKey": "ABC-1", "branch": "feature/base" });
        let (status, plan) = scene.file_plan(&issue, &workspace);
        assert_eq!(status, 201, "{plan}");
        let (status, answer) = scene.approve(&id_of(&plan));
        assert_eq!((status, &answer["code"]), (409, &json!("workspace_unavailable")), "{answer}");
        let project = format!("/api/projects/{}", scene.project);
        let workspace = id_of(&scene.get(&project)["primaryWorkspace"]);
        let named = json!({ "defaultBaseBranch": "feature/base" });
        scene.ask("PATCH", &format!("{project}/workspaces/{workspace}"), None, &named);
        let issue = scene.begin_issue("Other work");
        for base in ["feature/base", "main"] {
            let workspace = json!({
                "ticketKey": "ABC-2", "branch": "feature/base", "baseBranch": base,
            });
            for member in [Some(&scene.lead), None] {
                let payload = json!({ "issueId": issue, "workspace": workspace });
                let plan = json!({ "type": "approve_issue_plan", "payload": payload });
                let (status, answer) = scene.send("POST", &scene.of_company("approvals"), member, &plan);
                assert_eq!(status, 409, "{answer}");
                assert_eq!(answer["code"], "workspace_unavailable", "{answer}");
            }
        }
    }

    fn nobody_enters_a_ticket_that_it_has_no_part_in(database) {
        let scene = Scene::open(database, Host::Remote);
        let ticket = scene.begin_ticket("ABC-1");
        let part = scene.begin_part(&ticket, "A part");
        let stranger = scene.hire("Stranger", None);
        let work = |parent: Option<&str>| {
            json!({
                "title": "Mine", "status": "todo", "parentId": parent,
                "assigneeAgentId": stranger.id,
            })
        };
        let issues = scene.of_company("issues");
        for parent in [&ticket.issue, &part] {
            let (status, answer) = scene.send("POST", &issues, Some(&stranger), &work(Some(parent)));
            assert_eq!((status, &answer["code"]), (403, &json!("forbidden")), "{answer}");
            let own = id_of(&scene.ask("POST", &issues, Some(&stranger), &work(None)));
            let path = format!("/api/issues/{own}");
            let moved = json!({ "parentId": parent });
            let (status, answer) = scene.send("PATCH", &path, Some(&stranger), &moved);
            assert_eq!((status, &answer["code"]), (403, &json!("forbidden")), "{answer}");
            assert_eq!(scene.get(&path)["executionWorkspaceId"], Value::Null);
        }
        // Whoever works on a part may split it, and say what else is to be done.
        let more = |parent: &str| json!({ "title": format!("More of {parent}"), "parentId": parent });
        for parent in [&part, &ticket.issue] {
            let made = scene.ask("POST", &issues, Some(&scene.developer), &more(parent));
            assert_ne!(made["executionWorkspaceId"], Value::Null, "{made}");
        }
    }

    fn a_plan_names_no_workspace_of_another_project(database) {
        let scene = Scene::open(database, Host::Remote);
        let other = scene.home().join("other");
        make_source(&other);
        let project = json!({ "name": "Other", "workspace": { "cwd": other, "name": "other" } });
        let project = scene.post(&scene.of_company("projects"), &project);
        let found = scene.get(&format!("/api/projects/{}", id_of(&project)));
        let workspace = id_of(&found["workspaces"][0]);
        let issue = scene.begin_issue("Work");
        for plan in [
            json!({ "ticketKey": "ABC-1", "projectWorkspaceId": workspace }),
            json!({ "ticketKey": "ABC-1", "workspaceName": "other" }),
        ] {
            let (status, answer) = scene.file_plan(&issue, &plan);
            assert_eq!((status, &answer["code"]), (409, &json!("workspace_unavailable")), "{answer}");
        }
        let payload = json!({
            "issueId": issue,
            "plan": "x",
            "delegations": [{ "projectWorkspaceId": workspace, "tasks": [] }],
        });
        let (status, answer) = scene.file("approve_issue_plan", &payload);
        assert_eq!((status, &answer["code"]), (409, &json!("workspace_unavailable")), "{answer}");
        assert_eq!(git(&other, &["worktree", "list"]).lines().count(), 1);
    }

    fn paths_and_addresses_of_a_plan_mean_nothing(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let other = scene.home().join("other");
        make_source(&other);
        let before = Surroundings::of(&scene);
        let issue = scene.begin_issue("Work");
        let elsewhere = json!({
            "ticketKey": "ABC-1",
            "sourceRepoCwd": other,
            "repoUrl": format!("file://{}", other.display()),
            "repositoryUrl": format!("file://{}", other.display()),
            "remote": other,
            "pushAddress": other,
            "fetchAddress": other,
            "path": "/tmp/elsewhere",
            "cwd": other,
        });
        let (_, plan) = scene.file_plan(&issue, &elsewhere);
        // The answer of the server is no good either.
        let forged = json!({
            "issueId": issue,
            "workspace": elsewhere,
            "resolvedWorkspaces": [{
                "projectWorkspaceId": "00000000-0000-0000-0000-000000000000",
                "name": "x", "ticketKey": "../../x", "branch": "main", "baseBranch": "main",
            }],
        });
        let plan = id_of(&plan);
        let (status, answer) = scene.decide(&plan, "request-revision", &json!({}));
        assert_eq!(status, 200, "{answer}");
        let path = format!("/api/approvals/{plan}/resubmit");
        scene.ask("POST", &path, Some(&scene.lead), &json!({ "payload": forged }));
        let (status, answer) = scene.approve(&plan);
        assert_eq!(status, 200, "{answer}");
        let ticket = scene.ticket_of(&issue, &plan);
        assert!(ticket.worktree.starts_with(scene.data()), "{ticket:?}");
        assert_eq!(ticket.branch, "feature/ABC-1");
        scene.do_work(&ticket, |worktree| {
            std::fs::write(worktree.join("x.txt"), "x").unwrap();
        });
        let approval = id_of(&scene.asked(&issue, "approve_pull_request"));
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        assert_eq!(git(&other, &["branch", "--list", "feature/*"]), "");
        before.are_as_before(&scene);
    }

    fn a_pull_request_that_is_sent_again_goes_to_the_branch_of_its_ticket(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let before = Surroundings::of(&scene);
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        for branch in ["HEAD:main", "main", "feature/ABC-2"] {
            let (status, answer) = scene.decide(&approval, "request-revision", &json!({}));
            assert_eq!(status, 200, "{answer}");
            let payload = json!({
                "issueId": ticket.issue,
                "branch": branch,
                "baseBranch": branch,
                "remote": "/tmp/elsewhere",
                "repoUrl": "https://example.com/evil/repo",
                "commitSha": "0".repeat(40),
                "workspace": { "branch": branch },
            });
            let path = format!("/api/approvals/{approval}/resubmit");
            let sent = json!({ "payload": payload });
            let (status, answer) = scene.send("POST", &path, Some(&scene.lead), &sent);
            assert_eq!(status, 200, "{answer}");
        }
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["payload"]["branch"], json!("feature/ABC-1"), "{answer}");
        let pulls = scene.forge.as_ref().unwrap().pull_requests(REPOSITORY);
        assert_eq!(pulls.len(), 1, "{pulls:?}");
        assert_eq!((&*pulls[0].head, &*pulls[0].base), ("feature/ABC-1", "main"));
        before.are_as_before(&scene);
    }

    fn a_plan_with_two_workspaces_ends_in_two_pull_requests(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let second = scene.add_workspace("acme/docs");
        let issue = scene.begin_issue("Work");
        let payload = json!({
            "issueId": issue,
            "plan": "Both.",
            "workspace": { "ticketKey": "ABC-1", "workspaceName": "shop" },
            "delegations": [{ "agentName": "Developer", "workspaceName": "docs", "tasks": [] }],
        });
        let (status, plan) = scene.file("approve_issue_plan", &payload);
        assert_eq!(status, 201, "{plan}");
        let plan = id_of(&plan);
        assert_eq!(scene.approval(&plan)["preflight"].as_array().map(Vec::len), Some(2));
        let (status, answer) = scene.approve(&plan);
        assert_eq!(status, 200, "{answer}");
        let steps = answer["execution"]["steps"].as_array().unwrap().iter();
        let worktrees: Vec<&str> = steps
            .filter_map(|step| step["result"]["path"].as_str())
            .collect();
        assert_eq!(worktrees.len(), 2, "{answer}");
        let ticket = scene.ticket_of(&issue, &plan);
        scene.do_work(&ticket, |_| {
            for worktree in &worktrees {
                std::fs::write(format!("{worktree}/both.txt"), "both").unwrap();
            }
        });
        let approval = id_of(&scene.asked(&issue, "approve_pull_request"));
        let (status, done) = scene.approve(&approval);
        assert_eq!(status, 200, "{done}");
        let forge = scene.forge.as_ref().unwrap();
        for (repository, remote) in [(REPOSITORY, &scene.remote), ("acme/docs", &second)] {
            let pulls = forge.pull_requests(repository);
            assert_eq!(pulls.len(), 1, "{repository}: {pulls:?}");
            let head = git(remote, &["rev-parse", "feature/ABC-1"]);
            assert_eq!(pulls[0].head_sha, head);
        }
        let urls = done["payload"]["pullRequests"].as_array().unwrap().iter();
        assert_eq!(urls.filter(|it| it["pullRequestUrl"] != Value::Null).count(), 2, "{done}");
        assert_eq!(scene.status(&issue), "done");
    }
}
