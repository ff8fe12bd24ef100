use std::time::Duration;

use super::*;

/// A deed from one millisecond to another one.
fn record(deed: Deed, from: u64, answered: Option<(u64, Answer)>) -> Record {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let at = |millis| *START + Duration::from_millis(millis);
    Record {
        deed,
        began: at(from),
        answered: answered.map(|(until, answer)| (at(until), answer)),
    }
}

fn key(agent: &str) -> Caller {
    Caller {
        agent: agent.to_owned(),
        run: None,
    }
}

fn run(agent: &str, run: &str) -> Caller {
    Caller {
        run: Some(run.to_owned()),
        ..key(agent)
    }
}

fn refused(reason: &str) -> Answer {
    Answer::Refused(reason.to_owned())
}

fn checks_out(caller: Caller, from: u64, until: u64, answer: Answer) -> Record {
    record(Deed::CheckOut(caller), from, Some((until, answer)))
}

fn releases(caller: Caller, from: u64, until: u64) -> Record {
    record(Deed::Release(caller), from, Some((until, Answer::Done)))
}

fn held_by(caller: &Caller) -> Answer {
    Answer::Seen {
        assignee: Some(caller.agent.clone()),
        holder: Some(caller.clone()),
    }
}

#[test]
fn one_after_the_other_is_explained() {
    assert!(is_linearizable(&[
        checks_out(key("a"), 0, 1, Answer::Done),
        checks_out(key("b"), 2, 3, refused("other_assignee")),
        releases(key("a"), 4, 5),
        checks_out(key("b"), 6, 7, Answer::Done),
    ]));
}

#[test]
fn two_that_both_win_are_not_explained() {
    assert!(!is_linearizable(&[
        checks_out(key("a"), 0, 3, Answer::Done),
        checks_out(key("b"), 1, 2, Answer::Done),
    ]));
    // With a release in between they are.
    assert!(is_linearizable(&[
        checks_out(key("a"), 0, 3, Answer::Done),
        checks_out(key("b"), 1, 6, Answer::Done),
        releases(key("a"), 4, 5),
    ]));
}

#[test]
fn what_was_answered_before_something_began_comes_before_it() {
    let history = |released| {
        [
            checks_out(key("a"), 0, 1, Answer::Done),
            checks_out(key("b"), 2, 3, Answer::Done),
            releases(key("a"), released, released + 2),
        ]
    };
    assert!(is_linearizable(&history(2)), "they overlap");
    assert!(!is_linearizable(&history(4)), "it came afterwards");
}

#[test]
fn a_stale_read_is_not_explained() {
    let read = |from| record(Deed::Read, from, Some((from + 2, held_by(&key("a")))));
    let history = |from| {
        [
            checks_out(key("a"), 0, 1, Answer::Done),
            releases(key("a"), 2, 4),
            read(from),
        ]
    };
    assert!(is_linearizable(&history(3)));
    assert!(!is_linearizable(&history(5)));
}

#[test]
fn what_was_not_answered_may_have_been_done_at_any_time_or_not_at_all() {
    let lost = || record(Deed::CheckOut(key("a")), 0, None);
    assert!(is_linearizable(&[
        lost(),
        checks_out(key("b"), 4, 5, Answer::Done)
    ]));
    assert!(is_linearizable(&[
        lost(),
        checks_out(key("b"), 4, 5, refused("other_assignee"))
    ]));
    let seen = record(Deed::Read, 1, Some((2, held_by(&key("a")))));
    assert!(!is_linearizable(&[
        lost(),
        seen,
        checks_out(key("b"), 4, 5, Answer::Done)
    ]));
}

#[test]
fn a_run_holds_what_it_claimed_until_it_ends() {
    let first = run("a", "1");
    let ends = |from| {
        record(
            Deed::Finish("1".to_owned()),
            from,
            Some((from + 1, Answer::Done)),
        )
    };
    let history = |end| {
        [
            record(Deed::Claim(first.clone()), 0, Some((1, Answer::Done))),
            checks_out(run("a", "2"), 2, 3, Answer::Done),
            ends(end),
        ]
    };
    assert!(is_linearizable(&history(2)));
    assert!(!is_linearizable(&history(4)), "the first one held it");
    // One that ended holds nothing.
    let seen = record(Deed::Read, 6, Some((7, held_by(&first))));
    let (claim, end) = (&history(4)[0], &history(4)[2]);
    assert!(!is_linearizable(&[claim.clone(), end.clone(), seen]));
}
