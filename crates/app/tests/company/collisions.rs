//! Ids that are given out twice: what has one stays as it is, and nothing of the other is written.

use uuid::Uuid;
use workforce_app::{Context, Failure, companies, goals};
use workforce_domain::mocks::MockIds;
use workforce_testkit::contents::Contents;
use workforce_testkit::store::sqlite_store;
use workforce_testkit::world::{World, done, new_company, new_goal};

/// Ids of which every one is the same.
fn always(id: Uuid) -> MockIds {
    let mut ids = MockIds::new();
    ids.expect_next().return_const(id);
    ids
}

#[test]
fn what_is_made_under_an_id_that_is_taken_is_not_there() {
    let data = sqlite_store();
    let world = World::on(&data);
    let board = world.board();
    let company = board.write(|tx, ctx| companies::create(tx, ctx, new_company("Acme")));
    let company = done(company).company.id;
    let goal = board.write(|tx, ctx| goals::create(tx, ctx, company, new_goal("Grow")));
    let goal = done(goal).id;
    let before = Contents::of(&data);

    let ids = always(company.into());
    let outcome = board.write(|tx, ctx| {
        let ctx = Context { ids: &ids, ..*ctx };
        companies::create(tx, &ctx, new_company("Other"))
    });
    assert!(matches!(outcome, Err(Failure::Store(_))), "{outcome:?}");

    let ids = always(goal.into());
    let outcome = board.write(|tx, ctx| {
        let ctx = Context { ids: &ids, ..*ctx };
        goals::create(tx, &ctx, company, new_goal("Shrink"))
    });
    assert!(matches!(outcome, Err(Failure::Store(_))), "{outcome:?}");

    let written = before.differences(&Contents::of(&data));
    assert!(written.is_empty(), "{written:#?}");
}
