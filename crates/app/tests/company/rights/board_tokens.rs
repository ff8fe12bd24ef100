//! Tokens of the board (docs/access.md#callers).

use std::time::Duration;

use workforce_app::authenticate::{AuthError, AuthPolicy, StoredCredential};
use workforce_app::board_tokens::{self, CreatedBoardToken};
use workforce_app::{Code, Refusal};
use workforce_domain::actor::Actor;
use workforce_domain::board::BoardMember;
use workforce_domain::page::PageRequest;
use workforce_domain::port::Tokens;
use workforce_testkit::world::{World, done, key_name, refused};

use super::authentication::{TOKEN, hired, present};
use crate::support::running;

fn board_token(world: &World) -> CreatedBoardToken {
    let name = key_name();
    done(
        world
            .board()
            .write(|tx, ctx| board_tokens::create(tx, ctx, name.clone())),
    )
}

#[test]
fn a_board_token_is_the_board_in_either_mode_until_it_is_revoked() {
    let world = World::sqlite();
    let token = board_token(&world);
    let member = BoardMember::Token(token.kept.id);
    let authorization = format!("Bearer {}", token.value);
    for policy in [AuthPolicy::LOCAL_TRUSTED, TOKEN] {
        let asked = done(present(&world, policy, Some(&authorization), None));
        assert_eq!(asked.caller.actor, Actor::Board(member));
        let used = StoredCredential::BoardToken(token.kept.id);
        assert_eq!((asked.used, asked.ignored_run), (Some(used), false));
    }

    let board = world.board();
    let revoke = || board.write(|tx, ctx| board_tokens::revoke(tx, ctx, token.kept.id));
    let revoked = done(revoke());
    assert!(revoked.revoked_at.is_some());
    world.advance(Duration::from_secs(1));
    assert_eq!(done(revoke()), revoked, "the first instant stays");
    for policy in [AuthPolicy::LOCAL_TRUSTED, TOKEN] {
        let told = refused(present(&world, policy, Some(&authorization), None));
        assert_eq!(told, AuthError::Invalid);
    }
}

#[test]
fn the_start_token_may_be_any_text_and_is_no_other() {
    let world = World::sqlite();
    for text in ["open sesame", "wfk_looks_like_a_key", "wfb_abcdefgh_x"] {
        let policy = AuthPolicy::token(world.tokens().digest(text));
        let authorization = format!("Bearer {text}");
        let asked = done(present(&world, policy, Some(&authorization), None));
        assert_eq!(asked.caller.actor, Actor::Board(BoardMember::StartToken));
        assert_eq!(asked.used, None);
        let told = refused(present(&world, TOKEN, Some(&authorization), None));
        assert_eq!(told, AuthError::Invalid, "another start token");
    }
}

#[test]
fn the_board_acts_for_itself_whichever_run_it_names() {
    let world = World::sqlite();
    let run = running(&world, &hired(&world)).run.id.to_string();
    let token = board_token(&world);
    let start = AuthPolicy::token(world.tokens().digest("open sesame"));
    for authorization in [
        format!("Bearer {}", token.value),
        "Bearer open sesame".into(),
    ] {
        let ask = |header| present(&world, start, Some(&authorization), Some(header));
        let asked = done(ask(&run));
        assert_eq!((asked.caller.actor.run(), asked.ignored_run), (None, true));
        assert_eq!(refused(ask("nonsense")), AuthError::InvalidRunId);
    }
}

#[test]
fn agents_have_nothing_to_do_with_board_tokens() {
    let world = World::sqlite();
    let token = board_token(&world);
    let agent = hired(&world);
    let agent = world.agent(agent.id);
    let name = key_name();
    let told = refused(agent.write(|tx, ctx| board_tokens::create(tx, ctx, name.clone())));
    assert_eq!(told.code(), Code::BoardRequired);
    let told =
        refused(agent.read(|reads, ctx| board_tokens::list(reads, ctx, &PageRequest::first())));
    assert_eq!(told.code(), Code::BoardRequired);
    let told = refused(agent.write(|tx, ctx| board_tokens::revoke(tx, ctx, token.kept.id)));
    assert_eq!(told.code(), Code::BoardRequired);
    let board = world.board();
    let missing = world.id();
    let told = refused(board.write(|tx, ctx| board_tokens::revoke(tx, ctx, missing)));
    assert_eq!(told.code(), Code::NotFound);
    let kept = done(board.read(|reads, ctx| board_tokens::list(reads, ctx, &PageRequest::first())));
    assert_eq!(kept.items, [token.kept]);
}

#[test]
fn no_digest_and_no_value_is_shown_by_debug() {
    let world = World::sqlite();
    let token = board_token(&world);
    assert!(!format!("{token:?}").contains(&token.value));
    let policy = AuthPolicy::token([77; 32]);
    assert!(!format!("{policy:?}").contains("77"));
}
