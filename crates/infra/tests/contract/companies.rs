use std::collections::BTreeSet;
use std::thread;

use workforce_domain::actor::{CompanyOwned, InstanceScope, Scope};
use workforce_domain::attachment::AttachmentLimit;
use workforce_domain::company::{Company, CompanyLifecycle, CompanyStatus};
use workforce_domain::money::Budget;
use workforce_domain::page::PageRequest;
use workforce_domain::port::StoreError;
use workforce_domain::text::{Description, Label};
use workforce_testkit::on_both_databases;

use crate::world::{World, company, later, now, read, try_write, write};

on_both_databases! {
    #![beneath_the_rules]
    fn a_company_is_stored_whole_and_emptied_again(store: &TestStore) {
        let plain = company();
        let full = Company {
            description: Some(Description::parse("what it does").unwrap()),
            lifecycle: CompanyLifecycle::ACTIVE
                .stop_for_budget(later(1))
                .transition_to(CompanyStatus::Archived, later(2))
                .unwrap(),
            budget: Budget::from_cents(5).unwrap(),
            require_board_approval_for_new_agents: true,
            review_required: true,
            max_concurrent_runs: 9,
            attachment_limit: Some(AttachmentLimit::MAX),
            locale: Some(Label::parse("de").unwrap()),
            brand_color: Some(Label::parse("#fff").unwrap()),
            updated_at: later(3),
            ..plain.clone()
        };
        write(&**store, |tx| tx.companies_mut().insert(plain.clone()));
        for version in [&full, &plain] {
            write(&**store, |tx| {
                let mut held =
                    tx.companies_mut().lock(Scope::SYSTEM, plain.id)?.expect("it exists");
                *held = version.clone();
                tx.companies_mut().save(&held)
            });
            let found = read(&**store, |reads| reads.companies().find(Scope::SYSTEM, plain.id));
            assert_eq!(found.as_ref(), Some(version));
        }
    }

    fn a_prefix_is_taken_once(store: &TestStore) {
        let first = company();
        let second = Company { issue_prefix: first.issue_prefix.clone(), ..company() };
        write(&**store, |tx| tx.companies_mut().insert(first.clone()));
        let refused = try_write(&**store, |tx| tx.companies_mut().insert(second.clone()));
        assert!(matches!(refused, Err(StoreError::Contended)), "{refused:?}");
    }

    fn prefixes_are_told_apart_by_case_and_by_every_character(store: &TestStore) {
        for prefix in ["AB", "ABC", "A_C", "abd", "XAB"] {
            let company = Company { issue_prefix: prefix.into(), ..company() };
            write(&**store, |tx| tx.companies_mut().insert(company.clone()));
        }
        let prefixes = |stem| read(&**store, |reads| {
            reads.companies().prefixes(InstanceScope::SYSTEM, stem)
        });
        assert_eq!(prefixes("AB"), ["AB", "ABC"]);
        let found = |prefix| read(&**store, |reads| {
            reads.companies().find_by_prefix(InstanceScope::SYSTEM, prefix)
        });
        assert_eq!(found("ABC").map(|it| it.issue_prefix).as_deref(), Some("ABC"));
        assert_eq!(found("abc"), None);
        assert_eq!(prefixes("A_"), ["A_C"]);
        assert_eq!(prefixes("a"), ["abd"]);
        assert_eq!(prefixes("").len(), 5);
    }

    fn companies_are_listed_by_status_and_scope(store: &TestStore) {
        let active = company();
        let [paused, archived] = [CompanyStatus::Paused, CompanyStatus::Archived].map(|status| {
            let lifecycle = active.lifecycle.transition_to(status, now()).unwrap();
            Company { lifecycle, ..company() }
        });
        for company in [&active, &paused, &archived] {
            write(&**store, |tx| tx.companies_mut().insert(company.clone()));
        }
        let list = |scope, statuses: &[CompanyStatus]| {
            read(&**store, |reads| {
                let page = reads.companies().list(scope, statuses, &PageRequest::first())?;
                Ok(page.items.iter().map(|company| company.id).collect::<Vec<_>>())
            })
        };
        assert_eq!(list(Scope::SYSTEM, &[]), [active.id, paused.id, archived.id]);
        assert_eq!(
            list(Scope::SYSTEM, &[CompanyStatus::Active, CompanyStatus::Paused]),
            [active.id, paused.id]
        );
        assert_eq!(list(paused.scope().into(), &[]), [paused.id]);
        assert_eq!(list(paused.scope().into(), &[CompanyStatus::Active]), []);
    }

    fn issue_numbers_are_given_once_and_without_gaps(store: &TestStore) {
        let world = World::new(store);
        let mut taken = BTreeSet::new();
        thread::scope(|threads| {
            let takers: Vec<_> = (0..4)
                .map(|_| {
                    threads.spawn(|| {
                        (0..10)
                            .map(|_| {
                                world.write(|tx| {
                                    tx.companies_mut().next_issue_number(world.scope())
                                })
                            })
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            for taker in takers {
                for number in taker.join().unwrap() {
                    assert!(taken.insert(number), "{number} was given twice");
                }
            }
        });
        assert_eq!(taken, (1..=40).collect());
    }

    fn a_company_that_is_not_there_cannot_be_saved(store: &TestStore) {
        let world = World::new(store);
        let refused = try_write(&**store, |tx| {
            let mut held =
                tx.companies_mut().lock(Scope::SYSTEM, world.company.id)?.expect("it exists");
            held.id = company().id;
            tx.companies_mut().save(&held)
        });
        assert!(refused.is_err());
        let found =
            read(&**store, |reads| reads.companies().find(Scope::SYSTEM, world.company.id));
        assert_eq!(found.map(|company| company.updated_at), Some(now()));
    }
}
