use workforce_domain::board::{BoardMember, BoardToken};
use workforce_domain::page::PageRequest;
use workforce_domain::text::Name;
use workforce_testkit::on_both_databases;

use crate::world::{World, id, later};

fn token(digest: u8, seconds: u64) -> BoardToken {
    BoardToken {
        id: id(),
        name: Name::parse("deploy").unwrap(),
        prefix: "wfb_abcdefgh".into(),
        digest: [digest; 32],
        created_by: BoardMember::StartToken,
        created_at: later(seconds),
        last_used_at: None,
        revoked_at: None,
    }
}

on_both_databases! {
    #![beneath_the_rules]
    fn a_board_token_is_found_by_its_digest_revoked_or_not(store: &TestStore) {
        let world = World::new(store);
        let token = token(7, 0);
        world.write(|tx| tx.board_tokens_mut().insert(&token));
        let found = |digest| world.read(|reads| reads.board_tokens().find_by_digest(&[digest; 32]));
        assert_eq!(found(7).as_ref(), Some(&token));
        assert_eq!(found(8), None);
        for at in [later(1), later(2)] {
            let revoked = world.write(|tx| tx.board_tokens_mut().revoke(token.id, at));
            assert_eq!(revoked.unwrap().revoked_at, Some(later(1)), "the first instant stays");
        }
        assert_eq!(found(7).and_then(|token| token.revoked_at), Some(later(1)));
        assert_eq!(world.write(|tx| tx.board_tokens_mut().revoke(id(), later(1))), None);
    }

    fn board_tokens_are_listed_oldest_first(store: &TestStore) {
        let world = World::new(store);
        let (newer, older) = (token(1, 2), token(2, 1));
        world.write(|tx| {
            tx.board_tokens_mut().insert(&newer)?;
            tx.board_tokens_mut().insert(&older)
        });
        let page = |page: &PageRequest<_>| world.read(|reads| reads.board_tokens().list(page));
        let first = page(&PageRequest { limit: 1, ..PageRequest::first() });
        assert_eq!(first.items, [older]);
        let rest = page(&PageRequest { after: first.next, ..PageRequest::first() });
        assert_eq!((rest.items, rest.next), (vec![newer], None));
    }

    fn the_latest_use_of_a_board_token_is_noted(store: &TestStore) {
        let world = World::new(store);
        let token = token(7, 0);
        world.write(|tx| tx.board_tokens_mut().insert(&token));
        for at in [later(5), later(3)] {
            world.write(|tx| tx.board_tokens_mut().note_use(&[(token.id, at), (id(), at)]));
        }
        let found = world.read(|reads| reads.board_tokens().find_by_digest(&[7; 32]));
        assert_eq!(found.unwrap().last_used_at, Some(later(5)));
    }
}
