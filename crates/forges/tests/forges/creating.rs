//! A pull request is made, once.

use std::thread;

use workforce_forge_imitation::{Failure, ImitatedForge, PullRequestState as Kept};
use workforce_forges::{ForgeError, PullRequestState};

use crate::site::{HEAD, HEAD_SHA, NEXT_SHA, REPOSITORY, Site, on_every_forge};

#[test]
fn a_pull_request_is_made_as_it_was_asked_for() {
    on_every_forge(|site| {
        let made = site
            .forge()
            .find_or_create(&site.new_pull_request())
            .unwrap();
        assert_eq!(made.number, 1);
        assert_eq!(made.state, PullRequestState::Open);
        assert_eq!(made.head_sha, HEAD_SHA);
        assert_eq!(
            (made.head_branch.as_str(), made.base_branch.as_str()),
            (HEAD, "main")
        );
        assert_eq!(made.title, "SHOP-12: Sell shoes");
        assert_eq!(made.merged_at, None);
        assert!(!made.is_draft);
        let page = match site.imitation.kind() {
            ImitatedForge::GitHub => "pull/1",
            ImitatedForge::GitLab => "-/merge_requests/1",
            ImitatedForge::Gitea => "pulls/1",
        };
        let host = site.imitation.host();
        assert_eq!(made.url, format!("http://{host}/{REPOSITORY}/{page}"));
        let kept = site.kept();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].body, "Made by an agent.\n\nCloses #12.");
        assert_eq!(
            (kept[0].head.as_str(), kept[0].base.as_str()),
            (HEAD, "main")
        );
    });
}

#[test]
fn a_draft_is_marked_as_each_forge_marks_it() {
    on_every_forge(|site| {
        let mut new = site.new_pull_request();
        new.draft = true;
        let made = site.forge().create(&new).unwrap();
        assert!(made.is_draft);
        assert!(site.kept()[0].is_draft);
        let expected = match site.imitation.kind() {
            ImitatedForge::GitHub => "SHOP-12: Sell shoes",
            ImitatedForge::GitLab => "Draft: SHOP-12: Sell shoes",
            ImitatedForge::Gitea => "WIP: SHOP-12: Sell shoes",
        };
        assert_eq!(made.title, expected);
    });
}

#[test]
fn texts_are_cut_to_what_forges_take() {
    on_every_forge(|site| {
        let mut new = site.new_pull_request();
        new.title = "ü".repeat(300);
        new.body = "ß".repeat(70_000);
        site.forge().create(&new).unwrap();
        let kept = &site.kept()[0];
        assert_eq!(kept.title, "ü".repeat(255));
        assert_eq!(kept.body, "ß".repeat(65_000));
    });
}

#[test]
fn asking_again_finds_the_same_one() {
    on_every_forge(|site| {
        let new = site.new_pull_request();
        let first = site.forge().find_or_create(&new).unwrap();
        let again = site.forge().find_or_create(&new).unwrap();
        assert_eq!(first, again);
        assert_eq!(site.kept().len(), 1);
        assert_eq!(site.requests_of("POST").len(), 1);
    });
}

#[test]
fn those_that_ask_at_once_get_the_same_one() {
    on_every_forge(|site| {
        // The forge would not mind a second one.
        site.imitation.take_duplicates();
        let new = site.new_pull_request();
        let numbers: Vec<u64> = thread::scope(|scope| {
            let asking: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| site.forge().find_or_create(&new).unwrap().number))
                .collect();
            let asking = asking.into_iter();
            asking.map(|asking| asking.join().unwrap()).collect()
        });
        assert_eq!(numbers, [1; 8]);
        assert_eq!(site.kept().len(), 1);
    });
}

#[test]
fn an_answer_that_is_lost_is_looked_up() {
    let lost = [
        Failure::status(500),
        Failure::status(502),
        Failure::status(504),
        Failure::drop_connection(),
        Failure::page(),
        Failure::answer(201, "{\"number\": \"one\"}"),
        Failure::answer(201, "{"),
    ];
    for lost in lost {
        on_every_forge(|site| {
            let lost = lost.clone().after_effect().on("POST", site.pulls());
            site.imitation.fail(lost);
            let made = site
                .forge()
                .find_or_create(&site.new_pull_request())
                .unwrap();
            assert_eq!(made.number, 1);
            assert_eq!(site.kept().len(), 1);
            assert_eq!(site.requests_of("POST").len(), 1);
        });
    }
}

#[test]
fn what_did_not_arrive_is_not_sent_again_by_itself() {
    for lost in [Failure::status(500), Failure::drop_connection()] {
        on_every_forge(|site| {
            site.imitation.fail(lost.clone().on("POST", site.pulls()));
            let new = site.new_pull_request();
            let error = site.forge().find_or_create(&new).unwrap_err();
            assert_eq!(error.code(), "unavailable", "{error}");
            assert!(error.is_retriable());
            assert_eq!(site.requests_of("POST").len(), 1);
            assert_eq!(site.kept().len(), 0);
            assert_eq!(site.forge().find_or_create(&new).unwrap().number, 1);
        });
    }
}

#[test]
fn somebody_else_may_be_quicker() {
    on_every_forge(|site| {
        let new = site.new_pull_request();
        let first = site.forge().create(&new).unwrap();
        // As if it had not been there yet.
        let empty = Failure::answer(200, "[]").on("GET", site.pulls());
        site.imitation.fail(empty);
        assert_eq!(site.forge().find_or_create(&new), Ok(first));
        assert_eq!(site.kept().len(), 1);
        let error = site.forge().create(&new).unwrap_err();
        assert_eq!(error.code(), "already_exists", "{error}");
        assert!(error.to_string().contains("already exists"), "{error}");
    });
}

#[test]
fn a_forge_that_is_busy_with_it_may_be_asked_again() {
    let site = Site::of(ImitatedForge::GitLab);
    let busy = "{\"message\": \"409 Conflict: Resource lock\"}";
    site.imitation
        .fail(Failure::answer(409, busy).on("POST", ""));
    let new = site.new_pull_request();
    let error = site.forge().find_or_create(&new).unwrap_err();
    assert_eq!(error.code(), "unavailable", "{error}");
    assert_eq!(site.forge().find_or_create(&new).unwrap().number, 1);
}

#[test]
fn one_that_ended_counts_if_it_was_of_this_commit() {
    on_every_forge(|site| {
        let mut new = site.new_pull_request();
        new.head_sha = Some(HEAD_SHA.to_owned());
        site.forge().find_or_create(&new).unwrap();
        site.imitation.set_state(REPOSITORY, 1, Kept::Merged);
        let found = site.forge().find_or_create(&new).unwrap();
        assert_eq!((found.number, found.state), (1, PullRequestState::Merged));
        // Also when its branch is gone.
        site.imitation.remove_branch(REPOSITORY, HEAD);
        assert_eq!(site.forge().find_or_create(&new).unwrap().number, 1);
        // Another commit is another pull request.
        site.imitation.set_branch(REPOSITORY, HEAD, NEXT_SHA);
        new.head_sha = Some(NEXT_SHA.to_owned());
        let next = site.forge().find_or_create(&new).unwrap();
        assert_eq!((next.number, next.state), (2, PullRequestState::Open));
        // And so it is for whoever does not tell the commit.
        site.imitation.set_state(REPOSITORY, 2, Kept::Closed);
        assert_eq!(site.forge().find_or_create(&new).unwrap().number, 2);
        new.head_sha = None;
        assert_eq!(site.forge().find_or_create(&new).unwrap().number, 3);
    });
}

#[test]
fn what_a_forge_refuses_is_told_in_its_words() {
    on_every_forge(|site| {
        let mut new = site.new_pull_request();
        new.head = "nowhere".to_owned();
        let error = site.forge().find_or_create(&new).unwrap_err();
        match (site.imitation.kind(), &error) {
            (ImitatedForge::GitHub, ForgeError::Invalid(text)) => {
                assert!(text.contains("Validation Failed"), "{text}");
                assert!(text.contains("field: head"), "{text}");
                assert!(!text.contains("https://docs"), "{text}");
            }
            (ImitatedForge::GitLab, ForgeError::Invalid(text)) => {
                assert!(text.contains("source_branch: does not exist"), "{text}");
            }
            (ImitatedForge::Gitea, ForgeError::NotFound(text)) => {
                assert!(text.contains("Could not find the branch"), "{text}");
            }
            _ => panic!("{error:?}"),
        }
        site.imitation.set_branch(REPOSITORY, "same", HEAD_SHA);
        let mut new = site.new_pull_request();
        new.base = "same".to_owned();
        let error = site.forge().find_or_create(&new).unwrap_err();
        assert_eq!(error.code(), "invalid", "{error}");
        assert!(!error.is_retriable());
    });
}

#[test]
fn branches_that_none_can_have_are_not_asked_for() {
    on_every_forge(|site| {
        // On GitHub the second would be a branch of a fork.
        for head in ["", "other:main", "two words", "a\nb", "a~1"] {
            let mut new = site.new_pull_request();
            new.head = head.to_owned();
            let error = site.forge().find_or_create(&new).unwrap_err();
            assert_eq!(error.code(), "invalid", "{head:?}");
        }
        assert!(site.imitation.requests().is_empty());
    });
}

#[test]
fn branches_may_have_any_other_name() {
    on_every_forge(|site| {
        for (index, head) in ["a/b", "ä&state=all#1", "100%25", "x+y=z", "\"quoted\""]
            .into_iter()
            .enumerate()
        {
            site.imitation.set_branch(REPOSITORY, head, HEAD_SHA);
            let mut new = site.new_pull_request();
            new.head = head.to_owned();
            let made = site.forge().find_or_create(&new).unwrap();
            assert_eq!(made.number, index as u64 + 1, "{head}");
            assert_eq!(made.head_branch, head);
            let found = site.forge().find_open(&site.repository, head, "main");
            assert_eq!(found, Ok(Some(made)));
        }
    });
}

#[test]
fn a_renamed_repository_is_followed_where_its_forge_leads_to() {
    on_every_forge(|site| {
        site.imitation.rename(REPOSITORY, "other/store");
        let new = site.new_pull_request();
        // Whoever only makes one is told.
        assert_eq!(site.forge().create(&new).unwrap_err().code(), "moved");
        let made = site.forge().find_or_create(&new).unwrap();
        assert!(made.url.contains("/other/store/"), "{}", made.url);
        assert_eq!(site.forge().find_or_create(&new), Ok(made.clone()));
        assert_eq!(site.imitation.pull_requests("other/store").len(), 1);
        let watched = site.forge().state(&site.repository, made.number, None);
        assert!(watched.is_ok(), "{watched:?}");
    });
}

#[test]
fn a_repository_that_moved_to_another_host_is_not_followed() {
    on_every_forge(|site| {
        let elsewhere = Failure::redirect("http://forge.example/repos/acme/shop/pulls");
        site.imitation.fail(elsewhere.times(10));
        let error = site.forge().find_or_create(&site.new_pull_request());
        assert_eq!(error.unwrap_err().code(), "unexpected");
        assert_eq!(site.imitation.pull_requests(REPOSITORY).len(), 0);
    });
}
