//! Every state of a small world: one issue, two agents with a run each that may be tried again
//! once, two servers, and one plan that the board decides on.
//!
//! What a status may become is asked of the domain's own tables, and a checkout is decided by the
//! domain's own rule. The rest is the protocol of `docs/heartbeats.md` in its smallest form. What
//! may come about any number of times is bounded here, so that every path ends.

mod lifecycle;
mod state;

use std::time::Instant;

use stateright::{Checker as _, Model as _};

use lifecycle::SmallWorld;

#[test]
fn every_state_of_a_small_world_is_in_order() {
    let begun = Instant::now();
    let checker = SmallWorld.checker().threads(2).spawn_bfs().join();
    println!(
        "{} states, {} of them different, in {:.1} s",
        checker.state_count(),
        checker.unique_state_count(),
        begun.elapsed().as_secs_f64()
    );
    checker.assert_properties();
    assert!(
        checker.unique_state_count() > 10_000,
        "the world is too small to prove anything"
    );
}
