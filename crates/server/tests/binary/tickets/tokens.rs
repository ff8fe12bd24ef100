//! Tokens of a company take the place of those of the operator; projects that demand a remote.

use serde_json::{Value, json};
use workforce_forge_imitation::ImitatedForge;

use super::repositories::git;
use super::scene::{Host, REPOSITORY, Scene, id_of};
use crate::office::on_both;

on_both! {
    fn the_token_of_the_company_is_sent_and_told_to_nobody(database) {
        let scene = Scene::open(database, Host::Forge(ImitatedForge::GitHub));
        let forge = scene.forge.as_ref().unwrap();
        forge.refuse_tokens();
        forge.accept_token("of-the-company");
        let (host, own) = (forge.host(), format!("{}/{REPOSITORY}.git", forge.host()));
        let secret = |name: &str, value: &str, prefix: &str| {
            let secret = json!({ "name": name, "value": value, "tokenFor": prefix });
            id_of(&scene.post(&scene.of_company("secrets"), &secret))
        };
        secret("wide", "of-somebody-else", host);
        let (ticket, approval) = scene.ticket_to_merge("ABC-1");
        refused(&scene, &approval);
        // The one that says most about the repository is taken.
        let narrow = secret("narrow", "of two words", &own);
        let answer = refused(&scene, &approval);
        let told = answer["detail"].as_str().unwrap();
        assert!(told.contains("`narrow`") && !told.contains("of two words"), "{answer}");
        let path = format!("/api/secrets/{narrow}");
        let rotated = json!({ "value": "of-the-company" });
        scene.ask("PATCH", &path, None, &rotated);
        let (status, done) = scene.approve(&approval);
        assert_eq!(status, 200, "{done}");
        assert_eq!(forge.pull_requests(REPOSITORY).len(), 1);
        assert_eq!(scene.status(&ticket.issue), "done");
        for shown in [scene.get(&scene.of_company("activity")), done] {
            assert!(!shown.to_string().contains("of-the-company"), "{shown}");
        }
        assert!(!scene.logs().contains("of-the-company"));
    }

    fn a_project_that_demands_a_remote_takes_no_repository_without_one(database) {
        let scene = Scene::open(database, Host::Nothing);
        let project = format!("/api/projects/{}", scene.project);
        let demand = |demanded: bool| {
            scene.ask("PATCH", &project, None, &json!({ "remoteRequired": demanded }));
        };
        demand(true);
        let (issue, approval) = scene.planned("ABC-1");
        let seen = scene.get(&format!("/api/approvals/{approval}"));
        let error = seen["preflight"][0]["error"].as_str().unwrap_or_default();
        assert!(error.contains("remote"), "{seen}");
        let (status, answer) = scene.approve(&approval);
        assert_eq!((status, &answer["code"]), (409, &json!("workspace_unavailable")), "{answer}");
        assert_eq!(scene.status(&issue), "blocked");
        demand(false);
        let (status, answer) = scene.approve(&approval);
        assert_eq!(status, 200, "{answer}");
        let (ticket, approval) = scene.ticket_to_merge("ABC-2");
        demand(true);
        let (status, answer) = scene.approve(&approval);
        assert_eq!((status, &answer["code"]), (409, &json!("workspace_unavailable")), "{answer}");
        assert_eq!(answer["details"]["step"], "push", "{answer}");
        assert_eq!(scene.status(&ticket.issue), "in_review");
        demand(false);
        let (status, done) = scene.approve(&approval);
        assert_eq!(status, 200, "{done}");
        let head = git(&scene.source, &["rev-parse", &ticket.branch]);
        assert_eq!(done["payload"]["commitSha"], json!(head));
    }
}

/// The forge takes no token that it is sent.
fn refused(scene: &Scene<'_>, approval: &str) -> Value {
    let (status, answer) = scene.approve(approval);
    let code = &answer["code"];
    assert_eq!(
        (status, code),
        (502, &json!("pr_create_failed")),
        "{answer}"
    );
    answer
}
