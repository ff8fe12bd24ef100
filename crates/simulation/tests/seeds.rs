//! Some seeds, so that every run of the tests simulates a little. Thousands are tried by `cargo
//! xtask simulate`, whose code is optimised.

use workforce_simulation::{Runner, try_on_all_cores};

/// Where other seeds than those of the task begin.
const FROM: u64 = 1_000_000;
/// What unoptimised code tries in some seconds.
const SEEDS: u64 = 60;

#[test]
fn whatever_comes_in_between_all_holds() {
    let tally = try_on_all_cores(FROM, SEEDS).unwrap();
    println!("{tally}");
    assert_eq!(tally.failed, None, "{tally}");
    assert_eq!(tally.seeds, SEEDS);
}

/// Seeds that showed a fault, of workforce or of the simulation itself.
const TELLING: [u64; 6] = [908, 1652, 2922, 5470, 6230, 6742];

#[test]
fn what_once_failed_holds() {
    let runner = Runner::new().unwrap();
    for seed in TELLING {
        let outcome = runner.try_seed(seed);
        assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
    }
}

#[test]
fn a_seed_comes_about_again_line_by_line() {
    let runner = Runner::new().unwrap();
    for seed in [3, 4] {
        let once = runner.trace_of(seed);
        assert!(once.len() > 20, "{once:?}");
        assert_eq!(once, Runner::new().unwrap().trace_of(seed));
    }
}
