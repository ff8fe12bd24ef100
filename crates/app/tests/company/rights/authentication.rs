//! Who a presented credential stands for (docs/access.md#callers).

use std::time::Duration;

use workforce_app::agents::{self, CreatedKey};
use workforce_app::authenticate::{
    AuthError, AuthPolicy, Authenticated, Presented, RECENTLY_ENDED, StoredCredential,
    authenticate, authenticate_holder, ticket_holder,
};
use workforce_app::board_tokens;
use workforce_app::{Code, Failure, Refusal};
use workforce_domain::actor::{Actor, AgentCredential};
use workforce_domain::agent::Agent;
use workforce_domain::board::BoardMember;
use workforce_domain::id::RunId;
use workforce_domain::port::{TokenKind, Tokens};
use workforce_domain::ticket::TicketHolder;
use workforce_testkit::world::{World, done, key_name, refused};

use crate::support::{make_draft, pause, running, terminate};

/// Every request needs a credential; no token has this digest.
pub(super) const TOKEN: AuthPolicy = AuthPolicy::token([0; 32]);

type Outcome = Result<Authenticated, Failure<AuthError>>;

pub(super) fn present(
    world: &World,
    policy: AuthPolicy,
    authorization: Option<&str>,
    run_header: Option<&str>,
) -> Outcome {
    let presented = Presented {
        authorization,
        run_header,
    };
    world
        .store()
        .read(|reads| authenticate(reads, world.tokens(), world.now(), policy, presented))
}

/// Presents a token where a request without one would be the board's.
pub(super) fn with(world: &World, token: &str, run_header: Option<&str>) -> Outcome {
    let authorization = format!("Bearer {token}");
    present(
        world,
        AuthPolicy::LOCAL_TRUSTED,
        Some(&authorization),
        run_header,
    )
}

#[track_caller]
fn key_of(world: &World, agent: &Agent) -> CreatedKey {
    let board = world.board();
    done(board.write(|tx, ctx| agents::create_key(tx, ctx, agent.id, key_name())))
}

fn revoke(world: &World, agent: &Agent, key: &CreatedKey) {
    let board = world.board();
    done(board.write(|tx, ctx| agents::revoke_key(tx, ctx, agent.id, key.key.id)));
}

fn credential(outcome: Outcome) -> AgentCredential {
    done(outcome).caller.actor.agent().unwrap().credential
}

pub(super) fn hired(world: &World) -> Agent {
    world.hired(world.company("Acme").id, "Worker")
}

#[test]
fn a_request_without_anything_is_the_boards_where_the_policy_says_so() {
    let world = World::sqlite();
    let asked = done(present(&world, AuthPolicy::LOCAL_TRUSTED, None, None));
    assert_eq!(asked.caller.actor, Actor::Board(BoardMember::Local));
    assert_eq!((asked.used, asked.ignored_run), (None, false));
    let asked = present(&world, TOKEN, None, None);
    assert_eq!(refused(asked), AuthError::Missing);
}

#[test]
fn a_bad_credential_is_never_the_boards() {
    let world = World::sqlite();
    let key = key_of(&world, &hired(&world)).token;
    let longer = format!("Bearer {key}x");
    let cut = format!("Bearer {}", &key[..key.len() - 1]);
    let unknown = [
        "",
        "Bearer",
        "Bearer ",
        "Bearer nonsense",
        "Bearer wfk_",
        "Bearer wfr_",
        "Bearer wfb_abcdefgh_0123456789",
        "Bearer wfk_abcdefgh_0123456789",
        "Bearer wfr_abcdefgh_0123456789",
        &longer,
        &cut,
    ];
    for authorization in unknown {
        for policy in [AuthPolicy::LOCAL_TRUSTED, TOKEN] {
            let told = refused(present(&world, policy, Some(authorization), None));
            assert_eq!(told, AuthError::Invalid, "{authorization:?}");
            assert_eq!(told.code(), Code::CredentialInvalid);
        }
    }
}

#[test]
fn only_the_bearer_scheme_is_known_in_any_case_of_letters() {
    let world = World::sqlite();
    let agent = hired(&world);
    let key = key_of(&world, &agent).token;
    let ask = |authorization: String| {
        present(
            &world,
            AuthPolicy::LOCAL_TRUSTED,
            Some(&authorization),
            None,
        )
    };
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let asked = done(ask(format!("{scheme} {key}")));
        assert_eq!(asked.caller.actor.agent().unwrap().agent, agent.id);
    }
    for scheme in ["Basic", "Token", "Bearer:"] {
        assert_eq!(refused(ask(format!("{scheme} {key}"))), AuthError::Invalid);
    }
    assert_eq!(refused(ask(key)), AuthError::Invalid);
}

#[test]
fn a_run_header_is_no_credential() {
    let world = World::sqlite();
    let run = running(&world, &hired(&world)).run.id.to_string();
    for policy in [AuthPolicy::LOCAL_TRUSTED, TOKEN] {
        for header in [run.as_str(), "nonsense", ""] {
            let told = refused(present(&world, policy, None, Some(header)));
            assert_eq!(told, AuthError::Missing);
        }
    }
}

#[test]
fn the_holder_of_a_ticket_is_whoever_asked_for_it_for_as_long_as_that_is_valid() {
    let world = World::sqlite();
    let agent = hired(&world);
    let started = running(&world, &agent);
    let key = key_of(&world, &agent);
    let board = world.board();
    let made = done(board.write(|tx, ctx| board_tokens::create(tx, ctx, key_name())));
    let start = "a token that somebody chose";
    let policy = AuthPolicy::token(world.tokens().digest(start));
    let holder = |token: &str| {
        let authorization = format!("Bearer {token}");
        let presented = Presented {
            authorization: Some(&authorization),
            run_header: None,
        };
        ticket_holder(world.tokens(), policy, presented)
    };
    let asked = |policy: AuthPolicy, holder: TicketHolder| {
        let now = world.now();
        let outcome = world
            .store()
            .read(|reads| authenticate_holder(reads, now, policy, holder));
        outcome.map(|it| it.caller)
    };
    let tokens = [start, &started.token, &key.token, &made.value];
    let holders = tokens.map(|token| holder(token).unwrap());
    for (token, holder) in tokens.into_iter().zip(holders) {
        let authorization = format!("Bearer {token}");
        let itself = done(present(&world, policy, Some(&authorization), None));
        assert_eq!(done(asked(policy, holder)), itself.caller);
    }
    let [of_start, of_run, of_key, of_board] = holders;
    assert!(world.finish(&started.run));
    revoke(&world, &agent, &key);
    done(board.write(|tx, ctx| board_tokens::revoke(tx, ctx, made.kept.id)));
    for ended in [of_run, of_key, of_board, TicketHolder::LocalBoard] {
        assert_eq!(refused(asked(policy, ended)), AuthError::Invalid);
    }
    let trusting = AuthPolicy::LOCAL_TRUSTED;
    assert_eq!(refused(asked(trusting, of_start)), AuthError::Invalid);
    let local = done(asked(trusting, TicketHolder::LocalBoard));
    assert_eq!(local.actor, Actor::Board(BoardMember::Local));
    let ticket = world.tokens().mint(TokenKind::StreamTicket).token;
    assert_eq!(holder(&ticket), None);
    assert_eq!(refused(with(&world, &ticket, None)), AuthError::Invalid);
}

#[test]
fn a_run_token_lives_as_long_as_its_run() {
    let world = World::sqlite();
    let agent = hired(&world);
    let started = running(&world, &agent);
    let expected = AgentCredential::Run {
        run: started.run.id,
        consult: false,
    };
    world.advance(Duration::from_secs(72 * 60 * 60));
    let asked = done(with(&world, &started.token, None));
    assert_eq!(asked.used, None);
    assert_eq!(asked.caller.actor.agent().unwrap().agent, agent.id);
    assert_eq!(credential(with(&world, &started.token, None)), expected);
    assert!(world.finish(&started.run));
    for header in [None, Some(started.run.id.to_string())] {
        let told = refused(with(&world, &started.token, header.as_deref()));
        assert_eq!(told, AuthError::Invalid);
    }
}

#[test]
fn a_run_token_names_no_other_run() {
    let world = World::sqlite();
    let company = world.company("Acme").id;
    let started = running(&world, &world.hired(company, "Worker"));
    let other = running(&world, &world.hired(company, "Other")).run.id;
    let own = started.run.id;
    let ask = |header: &str| with(&world, &started.token, Some(header));
    assert!(ask(&own.to_string()).is_ok());
    assert!(ask(&format!(" {own} ")).is_ok());
    for wrong in [other, world.id()] {
        let told = refused(ask(&wrong.to_string()));
        assert_eq!(told, AuthError::RunMismatch);
        assert_eq!(told.code(), Code::RunMismatch);
    }
    assert_eq!(refused(ask("nonsense")), AuthError::InvalidRunId);
}

#[test]
fn a_key_names_a_run_of_its_agent_that_lives_or_ended_lately() {
    let world = World::sqlite();
    let agent = hired(&world);
    let key = key_of(&world, &agent);
    let run = running(&world, &agent).run;
    let named = || {
        let asked = done(with(&world, &key.token, Some(&run.id.to_string())));
        assert_eq!(asked.used, Some(StoredCredential::AgentKey(key.key.id)));
        let ignored = asked.ignored_run;
        (credential(Ok(asked)), ignored)
    };
    let as_key = |run: Option<RunId>| AgentCredential::Key {
        key: key.key.id,
        run,
    };
    assert_eq!(named(), (as_key(Some(run.id)), false));
    assert!(world.finish(&run));
    world.advance(RECENTLY_ENDED);
    assert_eq!(named(), (as_key(Some(run.id)), false));
    world.advance(Duration::from_secs(1));
    assert_eq!(named(), (as_key(None), true));
}

#[test]
fn a_run_that_is_not_the_agents_is_ignored_and_a_malformed_one_refused() {
    let world = World::sqlite();
    let agent = hired(&world);
    let key = key_of(&world, &agent).token;
    let colleague = running(&world, &world.hired(agent.company, "Colleague"))
        .run
        .id;
    let stranger = running(&world, &hired(&world)).run.id;
    for run in [world.id(), colleague, stranger] {
        let asked = done(with(&world, &key, Some(&run.to_string())));
        assert!(asked.ignored_run);
        let held = asked.caller.actor.agent().unwrap().credential;
        assert!(matches!(held, AgentCredential::Key { run: None, .. }));
    }
    for malformed in ["", "nonsense", "1234"] {
        let told = refused(with(&world, &key, Some(malformed)));
        assert_eq!(told, AuthError::InvalidRunId);
        assert_eq!(told.code(), Code::InvalidRunId);
    }
}

#[test]
fn a_revoked_key_is_invalid_and_the_others_are_not() {
    let world = World::sqlite();
    let agent = hired(&world);
    let (revoked, kept) = (key_of(&world, &agent), key_of(&world, &agent));
    revoke(&world, &agent, &revoked);
    assert_eq!(
        refused(with(&world, &revoked.token, None)),
        AuthError::Invalid
    );
    let used = done(with(&world, &kept.token, None)).used;
    assert_eq!(used, Some(StoredCredential::AgentKey(kept.key.id)));
}

#[test]
fn whoever_has_the_key_of_an_inactive_agent_learns_why() {
    let world = World::sqlite();
    let agent = hired(&world);
    let key = key_of(&world, &agent).token;
    make_draft(&world, agent.id);
    world.breaks_on_purpose(&["only_the_employed_have_keys"]);
    assert_eq!(refused(with(&world, &key, None)), AuthError::AgentInactive);
    let gone = world.hired(agent.company, "Gone");
    let key = key_of(&world, &gone).token;
    let run = running(&world, &gone);
    done(terminate(world.board(), gone.id));
    for token in [&key, &run.token] {
        let told = refused(with(&world, token, None));
        assert_eq!(told, AuthError::AgentInactive);
        assert_eq!(told.code(), Code::AgentInactive);
    }
}

#[test]
fn a_paused_agents_key_and_run_token_stay_valid() {
    let world = World::sqlite();
    let agent = hired(&world);
    let key = key_of(&world, &agent).token;
    let run = running(&world, &agent).token;
    done(pause(world.board(), agent.id));
    for token in [&key, &run] {
        let asked = done(with(&world, token, None));
        assert_eq!(asked.caller.actor.agent().unwrap().agent, agent.id);
    }
}
