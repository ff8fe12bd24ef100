//! What the tests of the engine share.

mod fragile_store;
mod house;
mod http_agent;
mod processes;

use std::ffi::OsString;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use workforce_app::{Caller, Context, Failure, Signal, companies};
use workforce_domain::actor::Actor;
use workforce_domain::board::BoardMember;
use workforce_domain::money::Budget;
use workforce_domain::port::{EngineSignal, Tx};
use workforce_domain::text::Name;
use workforce_engine::{EngineHandle, Ports};

pub(crate) use self::fragile_store::FragileStore;
pub(crate) use self::house::House;
pub(crate) use self::http_agent::{HttpAgent, answer};
pub(crate) use self::processes::{Stray, is_live, variables};

/// Longer than any of the tests waits for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const BOARD: Caller = Caller {
    actor: Actor::Board(BoardMember::Local),
    company_status: None,
};

pub(crate) fn act<T, E: Debug>(
    ports: &Ports,
    mut body: impl FnMut(&mut dyn Tx, &Context<'_>) -> Result<T, Failure<E>>,
) -> T {
    let signal = Signal::default();
    let ctx = Context {
        caller: &BOARD,
        now: ports.clock.now(),
        server: ports.ids.next().into(),
        ids: &*ports.ids,
        tokens: &*ports.tokens,
        vault: &*ports.vault,
        prices: &ports.prices,
        strict_secrets: false,
        signal: &signal,
        company: None,
    };
    match ports.store.write(|tx| body(tx, &ctx)) {
        Ok(done) => done,
        Err(failure) => panic!("the board was refused: {failure:?}"),
    }
}

pub(crate) fn a_company(name: &str) -> companies::CreateCompany {
    companies::CreateCompany {
        name: Name::parse(name).expect("a name"),
        description: None,
        budget_monthly_cents: Some(Budget::default()),
        budget_basis: None,
        require_board_approval_for_new_agents: None,
        review_required: Some(false),
        attachment_max_bytes: None,
        locale: None,
        brand_color: None,
    }
}

/// A configuration that runs a shell script.
pub(crate) fn shell(script: &str) -> Value {
    json!({ "command": "/bin/sh", "args": ["-c", script], "graceSec": 0.3 })
}

/// A script that says `ready` by a file, and ends when it may go.
pub(crate) const UNTIL_GO: &str = "echo $$ > pid; mv pid ready; \
    while [ ! -e go ]; do sleep 0.02; done";

/// Waits for something to become true.
pub(crate) async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) fn os(name: &str, value: &str) -> (OsString, OsString) {
    (name.into(), value.into())
}

/// An engine that is told of everything by its signal alone.
pub(crate) fn shared(engine: &EngineHandle) -> Arc<dyn EngineSignal> {
    Arc::new(engine.clone())
}
