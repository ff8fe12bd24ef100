//! All pages of a search, together, against a plain model of it: whatever is
//! walked along the list and whatever the index finds.

mod model;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use workforce_domain::issue::{Issue, Priority};
use workforce_domain::port::IssueFilter;
use workforce_domain::text::{Description, Title};
use workforce_testkit::on_both_databases;

use self::model::{LATE, Model, WORDS};
use crate::search::{add, comment_on, found_in_pages, stores};
use crate::world::{World, issue};

#[derive(Clone, Debug)]
struct Drawn {
    words: Vec<usize>,
    /// Looks for the beginning of an identifier instead.
    by_identifier: bool,
    statuses: usize,
    priorities: usize,
    assignee: usize,
    project: usize,
    labels: usize,
    limit: usize,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let words = prop::collection::vec(0..WORDS.len() + 1, 1..=3);
    let filter = (0..3_usize, 0..3_usize, 0..4_usize, 0..3_usize, 0..3_usize);
    (words, 0..8_u8, filter, 15..300_usize).prop_map(|(words, kind, filter, limit)| Drawn {
        words,
        by_identifier: kind == 0,
        statuses: filter.0,
        priorities: filter.1,
        assignee: filter.2,
        project: filter.3,
        labels: filter.4,
        limit,
    })
}

#[test]
fn all_pages_of_a_search_are_what_a_plain_model_finds() {
    let stores = stores();
    let models: Vec<Model<'_>> = stores.iter().map(Model::fill).collect();
    let mut runner = TestRunner::new(Config {
        cases: 80,
        ..Config::default()
    });
    let outcome = runner.run(&drawn(), |drawn| {
        for model in &models {
            let word = |index: &usize| {
                let (word, _) = WORDS.get(*index).copied().unwrap_or((LATE, 0));
                // As it is, or its beginning.
                &word[..if drawn.limit % 2 == 0 { word.len() } else { 4 }]
            };
            let typed = if drawn.by_identifier {
                let identifier = &model.known[drawn.limit].issue.identifier;
                identifier[..identifier.len() - drawn.limit % 3].to_lowercase()
            } else {
                drawn.words.iter().map(word).collect::<Vec<_>>().join(" ")
            };
            let filter = model.filter(&drawn);
            let found = found_in_pages(&model.world, &typed, &filter, drawn.limit);
            prop_assert_eq!(
                found,
                model.expected(&typed, &filter),
                "{} {:?}",
                typed,
                filter
            );
        }
        Ok(())
    });
    outcome.unwrap();
}

on_both_databases! {
    #![beneath_the_rules]
    fn long_descriptions_are_found_wherever_the_walk_ends(store: &TestStore) {
        let world = World::new(store);
        let mut long = "hay ".repeat(50_000);
        long.push_str("needle");
        // More than a walk reads, and all of them first in the list.
        for _ in 0..12 {
            let issue = Issue {
                priority: Priority::Critical,
                description: Some(Description::parse(&long).unwrap()),
                ..issue(&world.company)
            };
            world.write(|tx| tx.issues_mut().insert(issue.clone()).map(drop));
        }
        for n in 0..40 {
            let title = if n % 2 == 0 { "a needle" } else { "other" };
            add(&world, title, (n % 3 > 0).then_some("with needle"));
        }
        let filter = IssueFilter::default();
        let all = found_in_pages(&world, "needle", &filter, 500);
        assert_eq!(all.len(), 20 + 12 + 13);
        for limit in [5, 20, 31] {
            assert_eq!(found_in_pages(&world, "needle", &filter, limit), all, "{limit}");
        }
    }

    fn what_stands_behind_the_bounds_of_a_walk_is_found(store: &TestStore) {
        let world = World::new(store);
        // Each word is common, but all that have both of them come last.
        let entitled = |title: &str, priority| Issue {
            title: Title::parse(title).unwrap(),
            priority,
            ..issue(&world.company)
        };
        let mut both = Vec::new();
        world.write(|tx| {
            both.clear();
            for n in 0..4_300 {
                let title = ["left", "right"][n % 2];
                tx.issues_mut().insert(entitled(title, Priority::High))?;
            }
            for _ in 0..60 {
                let issue = entitled("right, left", Priority::Low);
                both.push((issue.id, issue.identifier.clone()));
                tx.issues_mut().insert(issue)?;
            }
            Ok(())
        });
        both.sort_unstable();
        let both: Vec<String> = both.into_iter().map(|(_, identifier)| identifier).collect();
        for limit in [7, 25, 100] {
            let found = found_in_pages(&world, "left right", &IssueFilter::default(), limit);
            assert_eq!(found, both, "{limit}");
        }
    }

    fn an_issue_is_found_once_though_the_index_knows_only_its_latest_text(store: &TestStore) {
        let world = World::new(store);
        let old = add(&world, "old", Some("walnut"));
        let noisy = add(&world, "noisy", None);
        world.write(|tx| {
            for _ in 0..5_100 {
                tx.comments_mut().insert(&comment_on(&noisy, "walnut"))?;
            }
            tx.comments_mut().insert(&comment_on(&old, "walnut"))
        });
        for limit in [1, 2, 50] {
            let found = found_in_pages(&world, "walnut", &IssueFilter::default(), limit);
            assert_eq!(found, [old.identifier.clone(), noisy.identifier.clone()]);
        }
    }
}
