//! Servers, guards, agents' programs and PostgreSQL's processes are killed at random moments under
//! load, and nothing may be lost (docs/contributing.md#crashes).
//!
//! A few kills belong to every run of the tests; `cargo xtask crash` asks for more of them.

mod accounts;
mod agent;
mod checks;
mod clients;
mod killer;
mod notes;
mod processes;
mod report;
mod run_checks;
mod scene;
mod wake_checks;

use std::time::Instant;

use workforce_testkit::postgres::{database, own_cluster};

use crate::histories::Histories;
use crate::office::Database;

use clients::Load;
use killer::Killer;
use notes::Notes;
use report::Report;
use scene::Scene;

/// What is tried, as `cargo xtask crash` says.
struct Settings {
    kills: usize,
    /// Picks victims and moments; what happens meanwhile takes its own time.
    seed: u64,
}

impl Settings {
    fn given() -> Self {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        let kills = number("WORKFORCE_CRASH_KILLS").unwrap_or(10);
        Self {
            kills: usize::try_from(kills).unwrap(),
            seed: number("WORKFORCE_CRASH_SEED").unwrap_or(1),
        }
    }
}

fn crash(name: &str, database: Database) {
    let settings = Settings::given();
    let begun = Instant::now();
    let mut scene = Scene::open(database);
    let (notes, histories) = (Notes::default(), Histories::default());
    let staff = scene.staff.clone();
    let load = Load::new(&staff, &notes, &histories, settings.seed);
    let mut killer = Killer::new(settings.seed);
    std::thread::scope(|scope| {
        load.begin(scope);
        // Also when killing fails, or the clients would never end.
        let _end = load.end_with_this();
        killer.kill(&mut scene, settings.kills);
    });
    scene.start_all();
    let mut findings = scene.wait_for_quiet();
    load.read_contested();
    let mut report = Report::of(&killer, &notes, &histories);
    findings.extend(checks::all(&scene, &notes, &killer, &mut report));
    findings.extend(histories.inexplicable());
    eprintln!(
        "\n{name}, seed {}, {:.0} s\n{report}",
        settings.seed,
        begun.elapsed().as_secs_f64()
    );
    if !findings.is_empty() {
        let kept = scene.keep();
        panic!(
            "{} findings; folders and logs are in {}\n{}",
            findings.len(),
            kept.display(),
            findings.join("\n")
        );
    }
}

mod sqlite {
    #[test]
    fn nothing_is_lost_when_processes_are_killed() {
        super::crash("SQLite", crate::office::Database::Sqlite);
    }
}

mod postgres {
    use super::*;

    #[test]
    fn nothing_is_lost_when_processes_are_killed() {
        // One of its own: all of its connections break at each kill.
        if let Some(cluster) = own_cluster() {
            crash("PostgreSQL", Database::Postgres(database(cluster.url())));
        }
    }
}
