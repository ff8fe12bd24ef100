//! Open tickets take over the address of a repository that moved.

use serde_json::{Value, json};
use workforce_domain::approval::ExecutionStep;
use workforce_domain::port::StepFault;

use crate::support::{Api, api_tests, id};
use crate::tickets::Office;

fn adopt(office: &Office) -> String {
    let (project, workspace) = (&office.project, &office.project["workspaces"][0]);
    format!(
        "/api/projects/{}/workspaces/{}/adopt-address",
        id(project),
        id(workspace)
    )
}

fn address(api: &Api, office: &Office) -> Value {
    let worktree = api.get(&format!("{}/workspace", office.path())).ok(200);
    worktree["repositoryUrl"].clone()
}

api_tests! {
    fn tickets_take_over_the_address_of_their_workspace(api) {
        let office = Office::new(api);
        office.approved(api);
        let moved = "https://forge.example/acme/store.git";
        let dry = api.post(&adopt(&office), &json!({ "dryRun": true })).ok(200);
        assert_eq!((&dry["repoUrl"], &dry["applied"]), (&json!(moved), &json!(false)));
        assert_eq!(dry["changes"][0]["ticketKey"], "ABC-1");
        assert_eq!(dry["changes"][0]["branch"], "feature/ABC-1");
        assert_eq!(dry["changes"][0]["ownerIssueId"], office.issue_id());
        assert_eq!(dry["changes"][0]["to"], moved);
        assert_eq!(address(api, &office), Value::Null);

        let done = api.post(&adopt(&office), &json!({})).ok(200);
        assert_eq!(done["applied"], true);
        assert_eq!(done["changes"], dry["changes"]);
        assert_eq!(address(api, &office), moved);
        let activity = api.get(&format!("{}/activity", office.path())).ok(200);
        let told = activity.as_array().unwrap().iter();
        let told: Vec<_> = told.filter(|it| it["action"] == "worktree.address_changed").collect();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["details"]["to"], moved);
        assert_eq!(told[0]["actorType"], "board");

        let again = api.post(&adopt(&office), &json!({})).ok(200);
        assert_eq!(again["changes"], json!([]));
    }

    fn the_board_alone_gives_tickets_another_address(api) {
        let office = Office::new(api);
        office.approved(api);
        let refused = api.bearing(&office.key).post(&adopt(&office), &json!({}));
        refused.problem(403, "board_required");
        assert_eq!(address(api, &office), Value::Null);
        let elsewhere = format!("/api/projects/{}/workspaces/{}/adopt-address",
            id(&office.project), id(&office.lead));
        api.post(&elsewhere, &json!({})).problem(404, "not_found");
    }

    fn a_source_that_cannot_be_asked_changes_nothing(api) {
        let office = Office::new(api);
        office.approved(api);
        for (fault, status, code) in [
            (StepFault::WorkspaceUnavailable, 409, "workspace_unavailable"),
            (StepFault::WorkspaceMissing, 409, "workspace_missing"),
            (StepFault::GitRemoteFailed, 502, "git_remote_failed"),
            (StepFault::GitFailed, 502, "git_failed"),
        ] {
            api.steps.fail(ExecutionStep::Source, fault, &json!({}));
            api.post(&adopt(&office), &json!({})).problem(status, code);
            assert_eq!(address(api, &office), Value::Null);
        }
    }
}
