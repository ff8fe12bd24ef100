//! What became of a pull request, and what its checks say.

use workforce_domain::time::Timestamp;
use workforce_forge_imitation::{ImitatedForge, Outcome, PullRequestState as Kept};
use workforce_forges::{
    Checks, ChecksState, FailedCheck, PullRequestState, Snapshot, Validators, Watched,
};

use crate::site::{HEAD, HEAD_SHA, NEXT_SHA, REPOSITORY, Site, limits, on_every_forge};

impl Site {
    #[track_caller]
    fn look(&self, number: u64, known: Option<&Validators>) -> (Snapshot, Validators) {
        match self.forge().state(&self.repository, number, known) {
            Ok(Watched::Changed(snapshot, validators)) => (*snapshot, validators),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn checks(&self) -> Checks {
        self.look(1, None).0.checks
    }

    #[track_caller]
    fn make(&self) {
        self.forge().create(&self.new_pull_request()).unwrap();
        self.imitation.forget_requests();
    }
}

#[test]
fn a_pull_request_is_told_as_it_is_now() {
    on_every_forge(|site| {
        site.make();
        let (snapshot, _) = site.look(1, None);
        assert_eq!(snapshot.pull_request.state, PullRequestState::Open);
        assert_eq!(snapshot.pull_request.head_sha, HEAD_SHA);
        assert_eq!(snapshot.checks.state, ChecksState::None);

        site.imitation.set_branch(REPOSITORY, HEAD, NEXT_SHA);
        let (snapshot, _) = site.look(1, None);
        assert_eq!(snapshot.pull_request.head_sha, NEXT_SHA);

        site.imitation.set_state(REPOSITORY, 1, Kept::Closed);
        let (snapshot, _) = site.look(1, None);
        assert_eq!(snapshot.pull_request.state, PullRequestState::Closed);
        assert_eq!(snapshot.pull_request.merged_at, None);

        site.imitation.set_state(REPOSITORY, 1, Kept::Merged);
        site.imitation.remove_branch(REPOSITORY, HEAD);
        let (snapshot, _) = site.look(1, None);
        assert_eq!(snapshot.pull_request.state, PullRequestState::Merged);
        assert_eq!(snapshot.pull_request.head_branch, HEAD);
        let merged_at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        assert_eq!(snapshot.pull_request.merged_at, Some(merged_at));
    });
}

#[test]
fn the_checks_of_the_newest_commit_are_told_together() {
    on_every_forge(|site| {
        site.make();
        let set = |name: &str, outcome| {
            site.imitation
                .set_check(REPOSITORY, HEAD_SHA, name, outcome);
        };
        set("build", Outcome::Passed);
        assert_eq!(site.checks().state, ChecksState::Passed);
        set("lint", Outcome::Pending);
        assert_eq!(site.checks().state, ChecksState::Pending);
        set("lint", Outcome::Failed);
        let checks = site.checks();
        assert_eq!(checks.state, ChecksState::Failed);
        let host = site.imitation.host();
        let lint = FailedCheck {
            name: "lint".to_owned(),
            url: Some(format!("http://{host}/checks/lint")),
        };
        assert_eq!(checks.failed, [lint]);
        // What another commit failed is no matter.
        site.imitation.set_branch(REPOSITORY, HEAD, NEXT_SHA);
        assert_eq!(site.checks().state, ChecksState::None);
    });
}

#[test]
fn statuses_of_github_count_as_check_runs_do() {
    let site = Site::of(ImitatedForge::GitHub);
    site.make();
    let status = |name: &str, outcome| {
        site.imitation
            .set_status(REPOSITORY, HEAD_SHA, name, outcome);
    };
    site.imitation
        .set_check(REPOSITORY, HEAD_SHA, "build", Outcome::Passed);
    status("ci/other", Outcome::Pending);
    assert_eq!(site.checks().state, ChecksState::Pending);
    status("ci/other", Outcome::Failed);
    site.imitation
        .set_check(REPOSITORY, HEAD_SHA, "build", Outcome::Failed);
    let checks = site.checks();
    assert_eq!(checks.state, ChecksState::Failed);
    let names = checks.failed.iter().map(|failed| failed.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["build", "ci/other"]);
    status("ci/other", Outcome::Passed);
    site.imitation
        .set_check(REPOSITORY, HEAD_SHA, "build", Outcome::Passed);
    assert_eq!(site.checks().state, ChecksState::Passed);
}

#[test]
fn what_is_known_is_not_told_again() {
    on_every_forge(|site| {
        site.make();
        site.imitation
            .set_check(REPOSITORY, HEAD_SHA, "lint", Outcome::Failed);
        let (first, validators) = site.look(1, None);
        // Whoever keeps them writes them down.
        let text = serde_json::to_string(&validators).unwrap();
        let validators: Validators = serde_json::from_str(&text).unwrap();
        site.imitation.forget_requests();
        let again = site.forge().state(&site.repository, 1, Some(&validators));
        assert_eq!(again, Ok(Watched::NotModified));
        let requests = site.imitation.requests();
        let has_tags = site.imitation.kind() != ImitatedForge::Gitea;
        let expected = if has_tags { 304 } else { 200 };
        let statuses = requests.iter().map(|request| request.status);
        assert_eq!(
            statuses.collect::<Vec<_>>(),
            vec![Some(expected); requests.len()]
        );

        // The pull request is the same, and a check is not.
        site.imitation
            .set_check(REPOSITORY, HEAD_SHA, "lint", Outcome::Passed);
        let (second, validators) = site.look(1, Some(&validators));
        assert_eq!(second.pull_request, first.pull_request);
        assert_eq!(
            second.checks,
            Checks {
                state: ChecksState::Passed,
                failed: Vec::new()
            }
        );
        // The other way round.
        site.imitation.set_state(REPOSITORY, 1, Kept::Merged);
        let (third, validators) = site.look(1, Some(&validators));
        assert_eq!(third.pull_request.state, PullRequestState::Merged);
        assert_eq!(third.checks, second.checks);
        let again = site.forge().state(&site.repository, 1, Some(&validators));
        assert_eq!(again, Ok(Watched::NotModified));
    });
}

#[test]
fn what_is_known_of_one_says_nothing_of_another() {
    on_every_forge(|site| {
        site.imitation.take_duplicates();
        site.make();
        site.make();
        let (_, validators) = site.look(1, None);
        let (other, _) = site.look(2, Some(&validators));
        assert_eq!(other.pull_request.number, 2);
    });
}

#[test]
fn what_cannot_be_read_any_more_is_asked_for_anew() {
    on_every_forge(|site| {
        site.make();
        let (first, validators) = site.look(1, None);
        let text = serde_json::to_string(&validators).unwrap();
        let text = text.replace("\"head_sha\"", "\"head\"");
        let validators: Validators = serde_json::from_str(&text).unwrap();
        assert_eq!(site.look(1, Some(&validators)).0, first);
    });
}

#[test]
fn checks_that_are_hidden_are_no_failure() {
    on_every_forge(|site| {
        site.make();
        site.imitation
            .set_check(REPOSITORY, HEAD_SHA, "lint", Outcome::Failed);
        site.imitation.hide_checks(REPOSITORY);
        let checks = site.checks();
        if site.imitation.kind() == ImitatedForge::GitLab {
            // The merge request tells itself how its pipeline ended.
            assert_eq!(checks.state, ChecksState::Failed);
            assert_eq!(checks.failed[0].name, "pipeline");
        } else {
            assert_eq!(checks.state, ChecksState::Unknown);
            assert!(checks.failed.is_empty());
        }
    });
}

#[test]
fn many_checks_are_read_page_by_page_up_to_a_limit() {
    for kind in [ImitatedForge::GitHub, ImitatedForge::Gitea] {
        let mut limits = limits();
        limits.pages = 3;
        let site = Site::with(kind, limits);
        site.make();
        for number in 1..=6 {
            let name = format!("check {number}");
            site.imitation
                .set_check(REPOSITORY, HEAD_SHA, &name, Outcome::Passed);
        }
        site.imitation.limit_pages(2);
        assert_eq!(site.checks().state, ChecksState::Passed);
        let last = |outcome| {
            site.imitation
                .set_check(REPOSITORY, HEAD_SHA, "check 6", outcome);
        };
        // The tag of the first page knows nothing of the last one.
        let (_, validators) = site.look(1, None);
        last(Outcome::Failed);
        let (snapshot, _) = site.look(1, Some(&validators));
        assert_eq!(snapshot.checks.state, ChecksState::Failed);
        last(Outcome::Passed);
        site.imitation
            .set_check(REPOSITORY, HEAD_SHA, "check 7", Outcome::Failed);
        assert_eq!(site.checks().state, ChecksState::Unknown);
    }
}

#[test]
fn so_many_failed_checks_are_named_and_no_more() {
    on_every_forge(|site| {
        site.make();
        for number in 1..=30 {
            let name = format!("{number} {}", "x".repeat(300));
            site.imitation
                .set_check(REPOSITORY, HEAD_SHA, &name, Outcome::Failed);
        }
        let checks = site.checks();
        assert_eq!(checks.failed.len(), Checks::MAX_FAILED);
        let longest = checks.failed.iter().map(|it| it.name.chars().count()).max();
        assert_eq!(longest, Some(200));
    });
}

#[test]
fn what_is_not_there_is_not_found() {
    on_every_forge(|site| {
        let error = site.forge().state(&site.repository, 7, None).unwrap_err();
        assert_eq!(error.code(), "not_found", "{error}");
    });
}
