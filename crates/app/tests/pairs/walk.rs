use workforce_testkit::store::{postgres_store, sqlite_store};

use crate::deeds;
use crate::gate::{COMMIT, Passed, is_write};
use crate::ring::Ring;

/// So many pairs meet by chance.
const ROUNDS: u64 = 200;

/// Where the first one is stopped: before each port, where one is asked several times in a row
/// before the first, and after the last write before the commit.
fn places(passed: &[Passed]) -> Vec<usize> {
    let last_write = passed
        .iter()
        .rposition(|it| it.port != COMMIT && is_write(it.port));
    let commit = passed.iter().rposition(|it| it.port == COMMIT);
    (0..last_write.map_or(0, |last| last + 1))
        .filter(|place| *place == 0 || passed[*place].port != passed[*place - 1].port)
        .chain(commit)
        .collect()
}

/// One deed meets every other one.
fn meets_every_other(name: &str) {
    let one = deeds::ALL.iter().find(|deed| deed.name == name);
    let one = one.unwrap_or_else(|| panic!("there is no {name}"));
    let Some(store) = postgres_store() else {
        return;
    };
    let mut ring = Ring::of_two(&store);
    for other in deeds::ALL.iter().filter(|other| one.can_meet(other)) {
        let passed = ring.in_turn(one, other);
        // Where the other one waits for the first before its first commit, it waits at the same
        // lock wherever else the first one is stopped until it takes another.
        let mut waited_at = None;
        for place in places(&passed) {
            let is_new =
                |since: usize| passed[since + 1..=place].iter().any(|it| it.is_after_write);
            if waited_at.is_none_or(is_new) {
                let waits = ring.meet(one, other, place, passed[place].port);
                waited_at = waits.then_some(place);
            }
        }
    }
    ring.end();
}

/// Pairs meet by chance.
fn meet_by_chance(mut ring: Ring<'_>) {
    let mut seed = 0x5eed_u64;
    let mut draw = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        seed >> 33
    };
    for round in 1..=ROUNDS {
        let [one, other] = [draw(), draw()].map(|it| {
            let place = usize::try_from(it).unwrap_or_default() % deeds::ALL.len();
            &deeds::ALL[place]
        });
        if one.can_meet(other) {
            ring.collide(one, other, round.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
    }
    ring.end();
}

macro_rules! each_meets_every_other {
    ($($name:ident)+) => {
        mod postgres {
            $(#[test]
            fn $name() {
                super::meets_every_other(stringify!($name));
            })+
        }

        #[test]
        fn no_deed_is_left_out() {
            let names: Vec<_> = deeds::ALL.iter().map(|deed| deed.name).collect();
            assert_eq!(names, [$(stringify!($name)),+]);
        }
    };
}

each_meets_every_other! {
    check_out check_out_for release assign create_issue create_issue_for_nobody end_issue reopen_issue delete_issue
    put_below_other put_other_below ask_for_review end_review send_back give_parent_away terminate_reviewer mention reopen_by_comment file_plan approve approve_with_steps
    resubmit begin_step fail_step renew_steps give_up_steps complete_steps reject
    request_revision cancel_approval hire approve_hire reject_hire terminate pause_agent
    resume_agent delete_agent create_key reset_sessions put_below_agent put_agent_below limit_agent
    limit_company report_cost invoke wake_up claim cancel_run finish_run lose_run pause_company resume_company
    archive unarchive delete_company
}

/// On SQLite one writes at a time, so that the order is all there is to try.
#[test]
fn all_follow_each_other_on_sqlite() {
    let store = sqlite_store();
    let mut ring = Ring::on(&store, store.shared());
    for one in deeds::ALL {
        for other in deeds::ALL.iter().filter(|other| one.can_meet(other)) {
            ring.in_turn(one, other);
        }
    }
    ring.end();
}

#[test]
fn pairs_meet_by_chance_on_sqlite() {
    let store = sqlite_store();
    meet_by_chance(Ring::on(&store, store.shared()));
}

#[test]
fn pairs_meet_by_chance_on_two_servers() {
    let Some(store) = postgres_store() else {
        return;
    };
    meet_by_chance(Ring::of_two(&store));
}
