//! Which pull requests count as that of two branches.

use workforce_forge_imitation::{Failure, ForgeImitation, ImitatedForge, PullRequestState};
use workforce_forges::{Forges, RepositoryAddress, Token};

use crate::site::{HEAD, HEAD_SHA, REPOSITORY, Site, config, limits, on_every_forge};

#[test]
fn only_these_branches_of_this_repository_count() {
    on_every_forge(|site| {
        let find = || {
            let found = site.forge().find_open(&site.repository, HEAD, "main");
            found.unwrap().map(|found| found.number)
        };
        assert_eq!(find(), None);
        // A fork of somebody else, and one of the same owner.
        for fork in ["mallory/shop", "acme/shop-fork"] {
            site.imitation
                .open_from_fork(REPOSITORY, fork, HEAD, "main");
        }
        assert_eq!(find(), None);
        site.imitation
            .set_branch(REPOSITORY, "next", &"3".repeat(40));
        let mut new = site.new_pull_request();
        new.base = "next".to_owned();
        let other_base = site.forge().find_or_create(&new).unwrap();
        assert_eq!(other_base.number, 3);
        site.imitation.set_branch(REPOSITORY, "agents", HEAD_SHA);
        let mut new = site.new_pull_request();
        new.head = "agents".to_owned();
        assert_eq!(site.forge().find_or_create(&new).unwrap().number, 4);
        assert_eq!(find(), None);
        let made = site.forge().find_or_create(&site.new_pull_request());
        assert_eq!(made.unwrap().number, 5);
        assert_eq!(find(), Some(5));
    });
}

#[test]
fn a_forge_that_filters_in_another_way_misleads_nobody() {
    on_every_forge(|site| {
        let page = format!("http://{}/page", site.imitation.host());
        for (head, base, is_found) in [
            (HEAD, "main", true),
            ("agents/SHOP-1", "main", false),
            ("agents/shop-12", "main", false),
            (HEAD, "next", false),
            ("main", HEAD, false),
        ] {
            let told = site.list_of_one(head, base, &page);
            site.imitation.fail(Failure::answer(200, &told));
            assert_eq!(site.find().unwrap().is_some(), is_found, "{head} {base}");
        }
    });
}

#[test]
fn of_several_the_first_counts() {
    on_every_forge(|site| {
        site.imitation.take_duplicates();
        for _ in 0..3 {
            site.forge().create(&site.new_pull_request()).unwrap();
        }
        site.imitation
            .set_state(REPOSITORY, 1, PullRequestState::Closed);
        let found = site.forge().find_open(&site.repository, HEAD, "main");
        assert_eq!(found.unwrap().unwrap().number, 2);
    });
}

#[test]
fn later_pages_are_read() {
    on_every_forge(|site| {
        site.imitation.take_duplicates();
        for _ in 0..4 {
            site.forge().create(&site.new_pull_request()).unwrap();
        }
        // The list begins with the last one.
        site.imitation.limit_pages(1);
        let found = site.forge().find_open(&site.repository, HEAD, "main");
        assert_eq!(found.unwrap().unwrap().number, 1);
        assert_eq!(site.requests_of("GET").len(), 4);
    });
}

#[test]
fn lists_are_not_read_for_ever() {
    for kind in ImitatedForge::ALL {
        let mut limits = limits();
        limits.pages = 2;
        let site = Site::with(kind, limits);
        site.imitation.take_duplicates();
        for _ in 0..4 {
            site.forge().create(&site.new_pull_request()).unwrap();
        }
        site.imitation.limit_pages(1);
        let found = site.forge().find_open(&site.repository, HEAD, "main");
        assert_eq!(found.unwrap().unwrap().number, 3);
        assert_eq!(site.requests_of("GET").len(), 2);
    }
}

#[test]
fn groups_of_gitlab_may_nest() {
    let imitation = ForgeImitation::start(ImitatedForge::GitLab).unwrap();
    imitation.add_repository("acme/web/tools/shop");
    imitation.set_branch("acme/web/tools/shop", "main", &"0".repeat(40));
    imitation.set_branch("acme/web/tools/shop", HEAD, HEAD_SHA);
    let token = Token::parse(workforce_forge_imitation::TOKEN);
    let forges = Forges::new(vec![config(&imitation, token)], limits()).unwrap();
    let url = imitation.repository_url("acme/web/tools/shop");
    let repository = RepositoryAddress::parse(&url).unwrap();
    let forge = forges.of(&repository).unwrap();
    assert_eq!(forge.find_open(&repository, HEAD, "main"), Ok(None));
    assert_eq!(
        imitation.requests()[0].path,
        "/projects/acme%2Fweb%2Ftools%2Fshop/merge_requests"
    );
}
