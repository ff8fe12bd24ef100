use std::time::Duration;

use workforce_domain::board::BoardMember;
use workforce_domain::board_session::{BoardSession, LoginLink, SESSION_IDLE, SESSION_LIFETIME};
use workforce_domain::page::PageRequest;
use workforce_testkit::on_both_databases;

use crate::world::{World, id, later, write};

fn session(digest: u8, seconds: u64) -> BoardSession {
    let made = later(seconds);
    BoardSession {
        id: id(),
        digest: [digest; 32],
        member: BoardMember::StartToken,
        created_at: made,
        last_used_at: made,
        expires_at: BoardSession::expiry(made, made),
    }
}

fn keep(world: &World<'_>, sessions: &[&BoardSession]) {
    world.write(|tx| {
        let mut kept = sessions.iter();
        kept.try_for_each(|session| tx.board_sessions_mut().insert(session))
    });
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_session_is_found_until_it_is_ended(store: &TestStore) {
        let world = World::new(store);
        let kept = session(7, 0);
        keep(&world, &[&kept]);
        let find = |digest| world.read(|reads| reads.board_sessions().find_by_digest(&[digest; 32]));
        assert_eq!(find(7).as_ref(), Some(&kept));
        assert_eq!(find(8), None);
        let end = || world.write(|tx| tx.board_sessions_mut().end(kept.id));
        assert_eq!([end(), end()], [Some(kept.clone()), None]);
        assert_eq!(find(7), None);
    }

    fn sessions_that_last_are_listed_oldest_first(store: &TestStore) {
        let world = World::new(store);
        let (newer, older, ended) = (session(1, 20), session(2, 10), session(3, 0));
        keep(&world, &[&newer, &older, &ended]);
        let now = later(1).plus(SESSION_IDLE);
        let list = |page: &PageRequest<_>| world.read(|reads| reads.board_sessions().list(now, page));
        let first = list(&PageRequest { limit: 1, ..PageRequest::first() });
        assert_eq!(first.items, [older]);
        let rest = list(&PageRequest { after: first.next, ..PageRequest::first() });
        assert_eq!((rest.items, rest.next), (vec![newer], None));
    }

    fn a_use_puts_off_the_end_up_to_the_last(store: &TestStore) {
        let world = World::new(store);
        let kept = session(7, 0);
        keep(&world, &[&kept]);
        let used = |at| {
            world.write(|tx| tx.board_sessions_mut().note_use(&[(kept.id, at), (id(), at)]));
            let found = world.read(|reads| reads.board_sessions().find_by_digest(&[7; 32])).unwrap();
            (found.last_used_at, found.expires_at)
        };
        let last = kept.created_at.plus(SESSION_LIFETIME);
        assert_eq!(used(later(60)), (later(60), later(60).plus(SESSION_IDLE)));
        assert_eq!(used(later(30)).0, later(60), "an earlier use changes nothing");
        let late = last.minus(Duration::from_secs(1));
        assert_eq!(used(late), (late, last));
    }

    fn the_sessions_of_a_token_end_together(store: &TestStore) {
        let world = World::new(store);
        let member = BoardMember::Token(id());
        let of_token = [1, 2].map(|digest| BoardSession { member, ..session(digest, 0) });
        let other = session(3, 0);
        keep(&world, &[&of_token[0], &of_token[1], &other]);
        let end = || world.write(|tx| tx.board_sessions_mut().end_of(member));
        assert_eq!([end(), end()], [2, 0]);
        assert!(world.read(|reads| reads.board_sessions().find_by_digest(&[3; 32])).is_some());
    }

    fn what_has_ended_is_forgotten_in_portions(store: &TestStore) {
        let world = World::new(store);
        let kept = [0, 1, 2, 9].map(|seconds| session(u8::try_from(seconds).unwrap(), seconds));
        keep(&world, &kept.each_ref());
        let before = later(9).plus(SESSION_IDLE);
        let forget = || world.write(|tx| tx.board_sessions_mut().delete_before(before, 2));
        assert_eq!([forget(), forget(), forget()], [2, 1, 0]);
        let find = |digest| world.read(|reads| reads.board_sessions().find_by_digest(&[digest; 32]));
        assert_eq!([0, 1, 2, 9].map(|digest| find(digest).is_some()), [false, false, false, true]);
    }

    fn exactly_one_of_many_takes_a_link(store: &TestStore) {
        let world = World::new(store);
        let link = LoginLink {
            digest: [7; 32],
            member: BoardMember::StartToken,
            expires_at: later(60),
        };
        world.write(|tx| tx.board_sessions_mut().insert_link(&link));
        let find = || world.read(|reads| reads.board_sessions().find_link(&[7; 32]));
        assert_eq!(find(), Some(link));
        let take = || write(&**store, |tx| tx.board_sessions_mut().take_link(&[7; 32]));
        let taken: Vec<bool> = std::thread::scope(|threads| {
            let takers: Vec<_> = (0..8).map(|_| threads.spawn(take)).collect();
            takers.into_iter().map(|taker| taker.join().unwrap()).collect()
        });
        assert_eq!(taken.into_iter().filter(|taken| *taken).count(), 1);
        assert_eq!(find(), None);
    }

    fn expired_links_are_forgotten(store: &TestStore) {
        let world = World::new(store);
        let member = BoardMember::StartToken;
        for (digest, seconds) in [(1, 0), (2, 9)] {
            let link = LoginLink { digest: [digest; 32], member, expires_at: later(seconds) };
            world.write(|tx| tx.board_sessions_mut().insert_link(&link));
        }
        let forget = || world.write(|tx| tx.board_sessions_mut().delete_links_before(later(9), 5));
        assert_eq!([forget(), forget()], [1, 0]);
    }
}
