use workforce_domain::port::{StoreError, StoredResponse};
use workforce_testkit::on_both_databases;

use crate::world::{later, now, try_write, write};

fn answer(key: &str) -> StoredResponse {
    StoredResponse {
        caller: "agent:1".into(),
        key: key.into(),
        request_digest: [3; 32],
        status: 201,
        body: vec![0, 159, 146, 150],
        sealed: true,
        created_at: now(),
    }
}

on_both_databases! {
    #![beneath_the_rules]
    fn an_answer_is_kept_for_its_caller_and_key(store: &TestStore) {
        let kept = answer("k");
        write(&**store, |tx| tx.idempotency().keep(&kept));
        let find = |caller: &str, key: &str| {
            write(&**store, |tx| tx.idempotency().find(caller, key, now()))
        };
        assert_eq!(find("agent:1", "k"), Some(kept));
        assert_eq!(find("agent:1", "K"), None);
        assert_eq!(find("agent:2", "k"), None);
    }

    fn a_second_answer_under_a_key_loses_the_race(store: &TestStore) {
        write(&**store, |tx| tx.idempotency().keep(&answer("k")));
        let late = StoredResponse { status: 409, ..answer("k") };
        let refused = try_write(&**store, |tx| tx.idempotency().keep(&late));
        assert!(matches!(refused, Err(StoreError::Contended)), "{refused:?}");
        let found = write(&**store, |tx| tx.idempotency().find("agent:1", "k", now()));
        assert_eq!(found.map(|found| found.status), Some(201));
    }

    fn an_answer_that_is_too_old_makes_room(store: &TestStore) {
        write(&**store, |tx| tx.idempotency().keep(&answer("k")));
        let fresh = StoredResponse { status: 200, created_at: later(10), ..answer("k") };
        let found = write(&**store, |tx| {
            let found = tx.idempotency().find("agent:1", "k", later(5))?;
            tx.idempotency().keep(&fresh)?;
            Ok(found)
        });
        assert_eq!(found, None);
        let found = write(&**store, |tx| tx.idempotency().find("agent:1", "k", later(5)));
        assert_eq!(found, Some(fresh));
    }

    fn old_answers_are_forgotten_in_portions(store: &TestStore) {
        for (key, seconds) in [("a", 0), ("b", 1), ("c", 2), ("d", 9)] {
            let kept = StoredResponse { created_at: later(seconds), ..answer(key) };
            write(&**store, |tx| tx.idempotency().keep(&kept));
        }
        let delete = || write(&**store, |tx| tx.idempotency().delete_before(later(9), 2));
        assert_eq!([delete(), delete(), delete()], [2, 1, 0]);
        let find = |key: &str| {
            write(&**store, |tx| tx.idempotency().find("agent:1", key, now())).is_some()
        };
        assert_eq!(["a", "b", "c", "d"].map(find), [false, false, false, true]);
    }
}
