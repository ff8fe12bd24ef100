//! Whole answers, as GitHub publishes them.

use serde_json::{Value, json};
use workforce_domain::time::Timestamp;
use workforce_forge_imitation::{Failure, ImitatedForge};
use workforce_forges::{Checks, ChecksState, PullRequest, PullRequestState, Watched};

use crate::site::{HEAD, Site};

const PULL_REQUEST: &str = include_str!("answers/github_pull_request.json");
const CHECK_RUNS: &str = include_str!("answers/github_check_runs.json");
const STATUS: &str = include_str!("answers/github_status.json");

#[test]
fn the_examples_of_github_are_understood() {
    let site = Site::of(ImitatedForge::GitHub);
    for (path, text) in [
        ("/pulls/1347", PULL_REQUEST),
        ("/check-runs", CHECK_RUNS),
        ("/status", STATUS),
    ] {
        site.imitation
            .fail(Failure::answer(200, text).on("GET", path));
    }
    let watched = site.forge().state(&site.repository, 1347, None).unwrap();
    let Watched::Changed(snapshot, _) = watched else {
        panic!("{watched:?}");
    };
    let expected = PullRequest {
        number: 1347,
        // The example is on another host than this repository.
        url: format!("http://{}/acme/shop/pull/1347", site.imitation.host()),
        // It calls itself open, and was merged all the same.
        state: PullRequestState::Merged,
        is_draft: false,
        head_sha: "6dcb09b5b57875f334f61aebed695e2e4193db5e".to_owned(),
        head_branch: "new-topic".to_owned(),
        base_branch: "master".to_owned(),
        title: "Amazing new feature".to_owned(),
        merged_at: Some(Timestamp::parse("2011-01-26T19:01:12Z").unwrap()),
    };
    assert_eq!(snapshot.pull_request, expected);
    let checks = Checks {
        state: ChecksState::Passed,
        failed: Vec::new(),
    };
    assert_eq!(snapshot.checks, checks);
}

#[test]
fn every_word_for_the_end_of_a_check_run_is_known() {
    let check = |conclusion: &str, status: &str| {
        let site = Site::of(ImitatedForge::GitHub);
        let runs = CHECK_RUNS
            .replace("\"neutral\"", conclusion)
            .replace("\"completed\"", status);
        for (path, text) in [
            ("/pulls/1347", PULL_REQUEST),
            ("/check-runs", runs.as_str()),
        ] {
            site.imitation
                .fail(Failure::answer(200, text).on("GET", path));
        }
        match site.forge().state(&site.repository, 1347, None) {
            Ok(Watched::Changed(snapshot, _)) => snapshot.checks,
            other => panic!("{other:?}"),
        }
    };
    for conclusion in ["success", "neutral", "skipped"] {
        let checks = check(&format!("\"{conclusion}\""), "\"completed\"");
        assert_eq!(checks.state, ChecksState::Passed, "{conclusion}");
    }
    for conclusion in [
        "failure",
        "timed_out",
        "cancelled",
        "action_required",
        "stale",
        "startup_failure",
    ] {
        let checks = check(&format!("\"{conclusion}\""), "\"completed\"");
        assert_eq!(checks.state, ChecksState::Failed, "{conclusion}");
        assert_eq!(checks.failed[0].name, "mighty_readme");
        let url = checks.failed[0].url.as_deref();
        assert_eq!(url, Some("https://github.com/github/hello-world/runs/4"));
    }
    for status in ["queued", "in_progress", "waiting", "requested", "pending"] {
        let checks = check("null", &format!("\"{status}\""));
        assert_eq!(checks.state, ChecksState::Pending, "{status}");
    }
    let newer = check("\"newer_than_this_program\"", "\"completed\"");
    assert_eq!(newer.state, ChecksState::Unknown);
}

/// What the words of a forge mean for the checks of pull request 1.
fn checks_by(site: &Site, answers: &[(&'static str, String)]) -> ChecksState {
    for (path, text) in answers {
        site.imitation
            .fail(Failure::answer(200, text).on("GET", path));
    }
    match site.forge().state(&site.repository, 1, None) {
        Ok(Watched::Changed(snapshot, _)) => snapshot.checks.state,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_word_for_a_pipeline_of_gitlab_is_known() {
    for (state, words) in [
        (ChecksState::Passed, "success skipped"),
        (ChecksState::Failed, "failed canceled canceling"),
        (
            ChecksState::Pending,
            "created waiting_for_resource waiting_for_callback preparing pending running \
             scheduled manual",
        ),
        (ChecksState::Unknown, "newer_than_this_program"),
    ] {
        for word in words.split_whitespace() {
            let site = Site::of(ImitatedForge::GitLab);
            let list = site.list_of_one(HEAD, "main", "");
            let mut request: Value = serde_json::from_str(&list).unwrap();
            let mut request = request[0].take();
            request["head_pipeline"] = json!({"id": 500, "status": word, "web_url": null});
            let answers = [
                ("/merge_requests/1", request.to_string()),
                ("/jobs", "[]".to_owned()),
            ];
            let answers = &answers[..if state == ChecksState::Failed { 2 } else { 1 }];
            assert_eq!(checks_by(&site, answers), state, "{word}");
        }
    }
}

#[test]
fn every_word_for_a_status_of_gitea_is_known() {
    for (state, words) in [
        (ChecksState::Passed, "success warning skipped"),
        (ChecksState::Failed, "failure error"),
        (ChecksState::Pending, "pending"),
        (ChecksState::Unknown, "newer_than_this_program"),
    ] {
        for word in words.split_whitespace() {
            let site = Site::of(ImitatedForge::Gitea);
            let list = site.list_of_one(HEAD, "main", "");
            let mut pull: Value = serde_json::from_str(&list).unwrap();
            let statuses = json!({"statuses": [{"status": word, "context": "ci"}]});
            let answers = [
                ("/pulls/1", pull[0].take().to_string()),
                ("/status", statuses.to_string()),
            ];
            assert_eq!(checks_by(&site, &answers), state, "{word}");
        }
    }
}
