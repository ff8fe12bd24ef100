//! What a transaction tells.

use std::thread;

use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity, Event, EventKind};
use workforce_domain::actor::{ActorKind, CompanyOwned};
use workforce_domain::company::Company;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{ActivityFilter, Failure, Store, StoreError};
use workforce_testkit::on_both_databases;

use crate::company::{Never, company, new_id, store_company, store_error};

/// An event that tells this number.
pub(crate) fn event(company: &Company, number: usize) -> Event {
    let mut payload = Document::new();
    payload.insert("number".to_owned(), number.into());
    Event {
        company: company.id,
        kind: EventKind::IssueUpdated,
        payload,
        created_at: company.created_at,
    }
}

fn activity(company: &Company) -> Activity {
    Activity {
        id: new_id(),
        company: company.id,
        actor_kind: ActorKind::System,
        actor_id: "system".to_owned(),
        agent: None,
        run: None,
        action: Action::CompanyUpdated,
        entity: Entity::Company,
        entity_id: company.id.to_string(),
        details: Document::new(),
        created_at: company.created_at,
    }
}

fn sequences(store: &dyn Store, company: &Company) -> Vec<i64> {
    let events: Result<_, Never> =
        store.read(|reads| Ok(reads.activity().events(company.scope(), 0, 10_000)?));
    events.unwrap().iter().map(|event| event.sequence).collect()
}

on_both_databases! {
    #![beneath_the_rules]
    fn events_are_numbered_without_gaps(store: &TestStore) {
        const WRITERS: usize = 6;
        const EACH: usize = 10;
        let companies = [company("AAA"), company("BBB")];
        for it in &companies {
            store_company(&**store, it).unwrap();
        }
        let [first, second] = &companies;
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| {
                    for number in 0..EACH {
                        // Mixed, so that each company's numbers come from one update.
                        let outcome = store.write(|tx| {
                            tx.journal().event(event(second, number));
                            tx.journal().event(event(first, number));
                            tx.journal().event(event(second, number));
                            if number % 5 == 0 { Err(Failure::Refused(())) } else { Ok(()) }
                        });
                        assert_eq!(outcome.is_err(), number % 5 == 0);
                    }
                });
            }
        });
        let kept = i64::try_from(WRITERS * EACH * 4 / 5).unwrap();
        assert_eq!(sequences(&**store, first), (1..=kept).collect::<Vec<_>>());
        assert_eq!(sequences(&**store, second), (1..=2 * kept).collect::<Vec<_>>());
    }

    fn more_than_one_statement_holds_is_told_in_order(store: &TestStore) {
        const MANY: usize = 1201;
        let it = company("ACM");
        store_company(&**store, &it).unwrap();
        let told: Result<(), Never> = store.write(|tx| {
            for number in 0..MANY {
                tx.journal().event(event(&it, number));
                tx.journal().activity(activity(&it));
            }
            Ok(())
        });
        told.unwrap();
        let events: Result<_, Never> =
            store.read(|reads| Ok(reads.activity().events(it.scope(), 0, 10_000)?));
        let events = events.unwrap();
        assert_eq!(events.len(), MANY);
        for (number, stored) in events.iter().enumerate() {
            assert_eq!(stored.event, event(&it, number));
        }
        let mut raw = crate::raw::Raw::of(store);
        let rows = raw.count("SELECT count(*) AS n FROM activity");
        assert_eq!(usize::try_from(rows), Ok(MANY));
    }

    fn activity_is_stored_as_it_was_told(store: &TestStore) {
        let it = company("ACM");
        store_company(&**store, &it).unwrap();
        let mut told = activity(&it);
        told.details.insert("was".to_owned(), "\"quoted\" and ünïcode".into());
        let outcome: Result<(), Never> = store.write(|tx| {
            tx.journal().activity(told.clone());
            Ok(())
        });
        outcome.unwrap();
        let page: Result<_, Never> = store.read(|reads| {
            let filter = ActivityFilter::default();
            Ok(reads.activity().list(it.scope(), &filter, &PageRequest::first())?)
        });
        assert_eq!(page.unwrap().items, [told]);
    }

    fn a_word_that_nobody_knows_is_named(store: &TestStore) {
        let it = company("ACM");
        store_company(&**store, &it).unwrap();
        let outcome: Result<(), Never> = store.write(|tx| {
            tx.journal().activity(activity(&it));
            Ok(())
        });
        outcome.unwrap();
        crate::raw::Raw::of(store).run("UPDATE activity SET action = 'company.vanished'");
        let page: Result<_, Never> = store.read(|reads| {
            let filter = ActivityFilter::default();
            Ok(reads.activity().list(it.scope(), &filter, &PageRequest::first())?)
        });
        let error = store_error(page.unwrap_err());
        assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
        assert!(error.to_string().contains("`company.vanished`"), "{error}");
    }
}
