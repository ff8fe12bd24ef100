//! Search: what is found, in which order, on both databases alike.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use workforce_domain::actor::Scope;
use workforce_domain::issue::{Author, Comment, Issue, IssueStatus, Priority, Progress};
use workforce_domain::page::PageRequest;
use workforce_domain::port::IssueFilter;
use workforce_domain::search::SearchQuery;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::{CommentBody, Description, Title};
use workforce_infra::store::{OpenOptions, open};
use workforce_testkit::on_both_databases;
use workforce_testkit::store::{TestStore, postgres_store, sqlite_store};

use crate::labels::label;
use crate::world::{World, execute, id, issue, later, now, walk};

fn query(typed: &str) -> SearchQuery {
    SearchQuery::parse(typed).unwrap()
}

/// The identifiers of what is found, in pages of `limit`.
pub(crate) fn found_in_pages(
    world: &World<'_>,
    typed: &str,
    filter: &IssueFilter,
    limit: usize,
) -> Vec<String> {
    walk(limit, |page| {
        world.read(|reads| {
            reads
                .issues()
                .search(world.scope(), &query(typed), filter, page)
        })
    })
    .into_iter()
    .map(|issue| issue.identifier)
    .collect()
}

/// The titles of what is found.
fn found(world: &World<'_>, typed: &str) -> Vec<String> {
    let page = PageRequest::first();
    let filter = IssueFilter::default();
    let found = world.read(|reads| {
        reads
            .issues()
            .search(world.scope(), &query(typed), &filter, &page)
    });
    found
        .items
        .into_iter()
        .map(|issue| issue.title.into())
        .collect()
}

pub(crate) fn add(world: &World<'_>, title: &str, description: Option<&str>) -> Issue {
    let issue = Issue {
        title: Title::parse(title).unwrap(),
        description: description.map(|text| Description::parse(text).unwrap()),
        ..issue(&world.company)
    };
    world.write(|tx| tx.issues_mut().insert(issue.clone()).map(drop));
    issue
}

/// A comment that says this.
pub(crate) fn comment_on(issue: &Issue, body: &str) -> Comment {
    Comment {
        id: id(),
        company: issue.company,
        issue: issue.id,
        author: Author::default(),
        run: None,
        body: CommentBody::parse(body).unwrap(),
        mentions: Vec::new(),
        review: None,
        position: None,
        created_at: now(),
    }
}

fn comment(world: &World<'_>, issue: &Issue, body: &str) {
    world.write(|tx| tx.comments_mut().insert(&comment_on(issue, body)));
}

on_both_databases! {
    #![beneath_the_rules]
    fn words_are_found_where_they_stand_and_rank_by_it(store: &TestStore) {
        let (world, other) = (World::new(store), World::new(store));
        let talk = add(&world, "talk", None);
        comment(&world, &talk, "the Printer is on fire");
        add(&world, "text", Some("please fix the printers"));
        add(&world, "Printer, on the second floor", None);
        let apart = add(&world, "fire alarm", None);
        comment(&world, &apart, "is not the printer");
        let foreign = add(&other, "printer", Some("fire"));
        comment(&other, &foreign, "printer");

        assert_eq!(found(&world, "PRINTER"), [
            "Printer, on the second floor", "text", "talk", "fire alarm",
        ]);
        assert_eq!(found(&world, "printer fire"), ["talk", "fire alarm"]);
        assert_eq!(found(&world, "printers"), ["text"]);
        assert_eq!(found(&world, "floor second"), ["Printer, on the second floor"]);
        assert_eq!(found(&world, "scanner"), [""; 0]);
        assert_eq!(found(&world, "* \" ' ( OR"), [""; 0]);
        assert_eq!(found(&other, "printer"), ["printer"]);
    }

    fn identifiers_come_first(store: &TestStore) {
        let world = World::new(store);
        let prefix = &world.company.issue_prefix;
        for (number, title) in [(7001, "seven"), (70012, "long"), (70013, "longer")] {
            let issue = Issue {
                number,
                identifier: format!("{prefix}-{number}"),
                ..issue(&world.company)
            };
            let issue = Issue { title: Title::parse(title).unwrap(), ..issue };
            world.write(|tx| tx.issues_mut().insert(issue.clone()).map(drop));
        }
        add(&world, &format!("after {prefix}-7001"), None);
        let typed = format!("{}-7001", prefix.to_lowercase());
        let all = found(&world, &typed);
        assert_eq!(all[0], "seven");
        assert_eq!(BTreeSet::from([&*all[1], &*all[2]]), BTreeSet::from(["long", "longer"]));
        assert_eq!(all[3], format!("after {prefix}-7001"));
        assert_eq!(found(&world, "70012"), ["long"]);
        assert_eq!(found(&world, &format!("{prefix}-9")), [""; 0]);
    }

    fn what_changes_is_found_anew_and_what_goes_is_not(store: &TestStore) {
        let world = World::new(store);
        let old = add(&world, "walnut", Some("pecan"));
        comment(&world, &old, "cashew");
        world.write(|tx| {
            let mut held = tx.issues_mut().lock(Scope::SYSTEM, &old.id.into())?.unwrap();
            held.title = Title::parse("almond").unwrap();
            held.description = None;
            tx.issues_mut().save(&held)?;
            tx.issues_mut().reindex(&held)
        });
        assert_eq!(found(&world, "almond"), ["almond"]);
        assert_eq!(found(&world, "cashew almond"), ["almond"]);
        assert_eq!(found(&world, "walnut"), [""; 0]);
        assert_eq!(found(&world, "pecan"), [""; 0]);

        let hidden = Issue { hidden_at: Some(now()), ..add(&world, "hazelnut", None) };
        world.write(|tx| {
            let mut held = tx.issues_mut().lock(Scope::SYSTEM, &hidden.id.into())?.unwrap();
            *held = hidden.clone();
            tx.issues_mut().save(&held)
        });
        assert_eq!(found(&world, "hazelnut"), [""; 0]);

        world.write(|tx| {
            let held = tx.issues_mut().lock(Scope::SYSTEM, &old.id.into())?.unwrap();
            tx.issues_mut().delete(held, later(1))
        });
        assert_eq!(found(&world, "cashew"), [""; 0]);
        let left = if store.connection().starts_with("postgres") {
            "issue_texts WHERE terms IS NOT NULL"
        } else {
            "issue_text_index_docsize"
        };
        // The world's own issue and the hidden one; nothing of what is gone.
        execute(store, &format!(
            "UPDATE companies SET description = (SELECT count(*) FROM {left}) WHERE id = '{}'",
            world.company.id
        ));
        let company = world.read(|reads| reads.companies().find(Scope::SYSTEM, world.company.id));
        assert_eq!(company.unwrap().description.as_deref(), Some("2"));
    }

    fn what_is_undone_is_not_found(store: &TestStore) {
        let world = World::new(store);
        let lost = issue(&world.company);
        let lost = Issue { title: Title::parse("macadamia").unwrap(), ..lost };
        let undone = crate::world::try_write(&**store, |tx| {
            tx.issues_mut().insert(lost.clone())?;
            // Its number is taken.
            tx.issues_mut().insert(Issue { id: id(), ..lost.clone() }).map(drop)
        });
        undone.unwrap_err();
        assert_eq!(found(&world, "macadamia"), [""; 0]);
        add(&world, "pistachio", None);
        assert_eq!(found(&world, "pistachio"), ["pistachio"]);
    }

    fn a_search_is_walked_in_pages_under_every_filter(store: &TestStore) {
        let world = World::new(store);
        let bug = label(&world, "bug");
        world.write(|tx| tx.labels_mut().insert(bug.clone()));
        let mut expected = Vec::new();
        for n in 0..90_usize {
            let (title, description, said) = match n % 4 {
                0 => ("needle in the title", None, None),
                1 => ("text", Some("a needle here"), None),
                2 => ("talk", None, Some("Needle!")),
                _ => ("nothing", Some("hay"), Some("stack")),
            };
            let issue = Issue {
                title: Title::parse(title).unwrap(),
                description: description.map(|text| Description::parse(text).unwrap()),
                priority: Priority::ALL[n / 5 % 4],
                progress: Progress::begin([IssueStatus::Todo, IssueStatus::Blocked][n % 2], now()),
                hidden_at: (n % 13 == 0).then(now),
                updated_at: later((n * 7919 % 20) as u64),
                ..issue(&world.company)
            };
            world.write(|tx| {
                let held = tx.issues_mut().insert(issue.clone())?;
                let labels: &[_] = if n % 3 == 0 { &[bug.id] } else { &[] };
                tx.labels_mut().set_for_issue(&held, labels)
            });
            if let Some(said) = said {
                comment(&world, &issue, said);
                comment(&world, &issue, said);
            }
            if n % 4 < 3 && issue.hidden_at.is_none() {
                expected.push((n % 4, n % 3 == 0, issue));
            }
        }
        expected.sort_by_key(|(place, _, issue)| {
            (*place, issue.priority.rank(), core::cmp::Reverse(issue.updated_at), issue.id)
        });
        let base = IssueFilter::default;
        let labels = vec![bug.id];
        type Case = (IssueFilter, fn(&Issue, bool) -> bool);
        let cases: [Case; 4] = [
            (base(), |_, _| true),
            (IssueFilter { statuses: vec![IssueStatus::Todo], ..base() }, |issue, _| {
                issue.status() == IssueStatus::Todo
            }),
            (IssueFilter { priorities: vec![Priority::Low], ..base() }, |issue, _| {
                issue.priority == Priority::Low
            }),
            (IssueFilter { labels, ..base() }, |_, labelled| labelled),
        ];
        for (filter, lets_through) in cases {
            let expected: Vec<&str> = expected
                .iter()
                .filter(|(_, labelled, issue)| lets_through(issue, *labelled))
                .map(|(_, _, issue)| issue.identifier.as_str())
                .collect();
            assert!(expected.len() > 5, "{filter:?}");
            for limit in [1, 7, 50, 500] {
                assert_eq!(found_in_pages(&world, "needle", &filter, limit), expected, "{filter:?}");
            }
        }
    }

    fn a_page_of_found_issues_is_bounded_by_weight(store: &TestStore) {
        let world = World::new(store);
        let text = format!("walnut {}", "x".repeat(1000));
        for _ in 0..12 {
            add(&world, "heavy", Some(&text));
        }
        let mut request = PageRequest { after: None, limit: 100, max_bytes: 2500 };
        let mut walked = 0;
        loop {
            let page = world.read(|reads| {
                let filter = IssueFilter::default();
                reads.issues().search(world.scope(), &query("walnut"), &filter, &request)
            });
            assert!((1..=3).contains(&page.items.len()), "{}", page.items.len());
            walked += page.items.len();
            match page.next {
                Some(next) => request.after = Some(next),
                None => break,
            }
        }
        assert_eq!(walked, 12);
    }

    fn texts_from_before_the_index_are_indexed_on_opening(store: &TestStore) {
        let world = World::new(store);
        let old = add(&world, "walnut", Some("pecan"));
        comment(&world, &old, "cashew");
        for n in 0..250 {
            add(&world, &format!("number {n}"), None);
        }
        if store.connection().starts_with("postgres") {
            execute(store, "UPDATE issue_texts SET pending = true, terms = NULL");
        } else {
            execute(store, "DELETE FROM issue_text_index");
            execute(store, "UPDATE issue_texts SET pending = 1");
        }
        // Issues are found by what they have themselves, comments by the index alone.
        assert_eq!(found(&world, "walnut pecan"), ["walnut"]);
        assert_eq!(found(&world, "cashew"), [""; 0]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.db");
        let url = if store.url().sqlite_path().is_none() {
            store.url().clone()
        } else {
            execute(store, &format!("VACUUM INTO '{}'", path.display()));
            workforce_infra::store::DatabaseUrl::sqlite(&path)
        };
        let again = open(&url, &OpenOptions::default()).unwrap();
        for typed in ["walnut pecan", "cashew", "number 249"] {
            let filter = IssueFilter::default();
            let page = PageRequest::first();
            let found = crate::world::read(&*again, |reads| {
                reads.issues().search(world.scope(), &query(typed), &filter, &page)
            });
            assert_eq!(found.items.len(), 1, "{typed}");
        }
    }
}

/// One world on each database.
pub(crate) fn stores() -> Vec<TestStore> {
    let mut stores = vec![sqlite_store()];
    stores.extend(postgres_store());
    for store in &stores {
        store.is_beneath_the_rules();
    }
    stores
}

#[test]
fn whatever_is_typed_finds_the_same_everywhere_and_never_fails() {
    let stores = stores();
    let worlds: Vec<World<'_>> = stores.iter().map(World::new).collect();
    let words = "[a-cA-C\u{e9}界人로그🚀'\"&|!:*()\\\\<>.,_ -]{1,40}";
    let mut runner = TestRunner::new(Config {
        cases: 60,
        ..Config::default()
    });
    let texts = (
        words,
        words,
        words,
        prop_oneof![words.prop_map(String::from), any::<String>()],
    );
    let made = core::cell::Cell::new(0);
    let outcome = runner.run(&texts, |(title, description, said, typed)| {
        if typed.chars().count() > SearchQuery::MAX {
            return Ok(());
        }
        made.set(made.get() + 1);
        let title = format!("t{} {title}", made.get());
        let mut outcomes = Vec::new();
        for world in &worlds {
            let issue = add(world, &title, Some(&description));
            if !said.trim().is_empty() {
                comment(world, &issue, &said);
            }
            let mut all = found(world, &typed);
            all.sort_unstable();
            outcomes.push(all);
            for text in [&title, &description, &said] {
                for word in text.split_whitespace() {
                    if !query(word).terms().is_empty() {
                        prop_assert!(
                            found(world, word).contains(&title.trim().to_owned()),
                            "{word:?} of {text:?}"
                        );
                    }
                }
            }
        }
        prop_assert!(
            outcomes.windows(2).all(|two| two[0] == two[1]),
            "{outcomes:?}"
        );
        Ok(())
    });
    outcome.unwrap();
}
