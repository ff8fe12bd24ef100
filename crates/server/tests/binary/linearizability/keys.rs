//! Agents with keys, outside of any run, and the board, which takes issues back.

use std::path::Path;
use std::thread;

use serde_json::json;
use workforce_testkit::random::Random;

use super::{Contender, DEEDS, Firm};
use crate::harness::Server;
use crate::histories::{Caller, Deed};

const ISSUES: usize = 25;

/// An agent that no wake starts, and its key.
pub(crate) fn key_of(server: &Server, agent: &str) -> String {
    let key = server.post(
        &format!("/api/agents/{agent}/keys"),
        &json!({ "name": "client" }),
    );
    key["token"].as_str().unwrap().to_owned()
}

/// What an agent with a key, or the board, does next to an issue.
pub(crate) fn next(agent: Option<&str>, random: &mut Random) -> Deed {
    let Some(agent) = agent else {
        return match random.chance(30) {
            true => Deed::ReleaseByBoard,
            false => Deed::Read,
        };
    };
    let caller = Caller {
        agent: agent.to_owned(),
        run: None,
    };
    match random.below(10) {
        0..5 => Deed::CheckOut(caller),
        5..8 => Deed::Release(caller),
        _ => Deed::Read,
    }
}

pub(super) fn contend(firm: &Firm) {
    let asleep = json!({ "wakeOnDemand": false });
    let agents: Vec<(String, String)> = ["Ada", "Bob", "Cyd"]
        .iter()
        .map(|name| {
            let agent = firm.hire(name, &asleep, Path::new("none"));
            let key = key_of(&firm.servers[0], &agent);
            (agent, key)
        })
        .collect();
    let issues: Vec<String> = (0..ISSUES).map(|_| firm.issue()).collect();
    let callers = agents.iter().map(Some).chain([None, None]);
    thread::scope(|scope| {
        for (seed, caller) in (0..).zip(callers) {
            let issues = &issues;
            scope.spawn(move || {
                let mut contender = Contender {
                    clients: firm.clients(),
                    histories: &firm.histories,
                    random: Random::new(seed),
                };
                let agent = caller.map(|(agent, _)| agent.as_str());
                let key = caller.map(|(_, key)| key.as_str());
                for issue in issues {
                    for _ in 0..DEEDS {
                        let deed = next(agent, &mut contender.random);
                        contender.act(issue, deed, key);
                    }
                }
            });
        }
    });
    firm.assert_linearizable(&["done", "read", "other_assignee", "not_holder"]);
}
