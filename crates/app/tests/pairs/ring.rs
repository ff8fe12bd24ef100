//! Two servers on which writes meet.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use workforce_domain::id::CompanyId;
use workforce_domain::port::Store;
use workforce_testkit::store::{SideConnection, TestStore};
use workforce_testkit::world::World;

use crate::deeds::Deed;
use crate::gate::{Gate, GatedStore, Passed};
use crate::outcome::Outcome;
use crate::scene::{Scene, Stage};

/// Longer than any write takes.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks at whether somebody waits, which cost those who are looked at.
const POLL: Duration = Duration::from_micros(500);
/// Longer than anything in these tests lasts by their clock.
const FAR: Duration = Duration::from_secs(1_000_000);

/// A server, whose transactions can be stopped.
struct Server {
    world: World,
    gate: Arc<Gate>,
}

impl Server {
    fn over(store: Arc<dyn Store>) -> Self {
        let gate = Arc::new(Gate::default());
        let gated = GatedStore {
            store,
            gate: Arc::clone(&gate),
        };
        Self {
            world: World::over(Arc::new(gated)),
            gate,
        }
    }

    fn does(&self, deed: &Deed, scene: &Scene) -> Outcome {
        self.gate.through(|| (deed.act)(&self.world, scene))
    }
}

/// Two servers on one database, or one where a database has one server only, and what went
/// wrong on them.
pub(crate) struct Ring<'s> {
    store: &'s TestStore,
    side: SideConnection,
    /// Prepares what the others do.
    quiet: World,
    first: Server,
    second: Server,
    /// Whether scenes are copied, which takes a fraction of the time of making them.
    copies: bool,
    bases: HashMap<Vec<Stage>, Scene>,
    met: HashMap<CompanyId, String>,
    faults: BTreeMap<String, Vec<String>>,
}

impl<'s> Ring<'s> {
    pub(crate) fn on(store: &'s TestStore, second: Arc<dyn Store>) -> Self {
        // What breaks an invariant is told of by the pair that did it.
        store.is_beneath_the_rules();
        Self {
            store,
            side: store.side_connection(),
            quiet: World::on(store),
            first: Server::over(store.shared()),
            second: Server::over(second),
            copies: false,
            bases: HashMap::new(),
            met: HashMap::new(),
            faults: BTreeMap::new(),
        }
    }

    fn scene(&mut self, one: &Deed, other: &Deed, how: &str) -> Scene {
        let mut stages = [one.after, other.after].concat();
        stages.sort_unstable();
        stages.dedup();
        let scene = if self.copies {
            self.copy(stages)
        } else {
            Scene::new(&self.quiet, &stages)
        };
        let met = format!("{} / {}: {how}", one.name, other.name);
        self.met.insert(scene.company.id, met);
        scene
    }

    /// A copy of the scene at these stages, which is brought there once.
    fn copy(&mut self, stages: Vec<Stage>) -> Scene {
        let (store, quiet, side) = (self.store, &self.quiet, &mut self.side);
        let base = self.bases.entry(stages).or_insert_with_key(|stages| {
            let base = Scene::new(quiet, stages);
            side.execute(&format!("SELECT note_base('{}')", base.company.id));
            postpone(store, quiet, side);
            base
        });
        let mark = format!("{:08x}", self.met.len() + 1);
        let id = base.company.id;
        side.execute(&format!("SELECT \"copy_{id}\"('{mark}')"));
        base.marked(&mark)
    }

    /// Two servers on a PostgreSQL database.
    pub(crate) fn of_two(store: &'s TestStore) -> Self {
        // Before the others connect.
        store.side_connection().detect_deadlocks_soon();
        let mut ring = Self::on(store, store.beside());
        ring.side.execute_all(include_str!("copies.sql"));
        ring.copies = true;
        ring
    }

    fn judge(&mut self, scene: &Scene, outcomes: [Outcome; 2]) {
        for (side, outcome) in ["first", "second"].into_iter().zip(outcomes) {
            if let Err(error) = outcome {
                let met = self.met[&scene.company.id].clone();
                let fault = format!("the {side} failed: {error:?}");
                self.faults.entry(fault).or_default().push(met);
            }
        }
        // What this scene leaves waiting is no candidate of a claim in a later one.
        postpone(self.store, &self.quiet, &mut self.side);
    }

    /// One after the other; what the first one looked at.
    pub(crate) fn in_turn(&mut self, one: &Deed, other: &Deed) -> Vec<Passed> {
        let scene = self.scene(one, other, "one after the other");
        self.first.gate.open();
        self.second.gate.open();
        let outcomes = [
            self.first.does(one, &scene),
            self.second.does(other, &scene),
        ];
        self.judge(&scene, outcomes);
        self.first.gate.passed()
    }

    /// The first one is stopped at a place, and the second one comes as far as it can: whether it
    /// then waits for the first, and nothing that it did can be seen yet.
    pub(crate) fn meet(&mut self, one: &Deed, other: &Deed, place: usize, port: &str) -> bool {
        let scene = self.scene(one, other, &format!("stopped at {port}, number {place}"));
        let (first, second) = (&self.first, &self.second);
        let side = &mut self.side;
        let mut waits = false;
        first.gate.stop_at(place);
        second.gate.open();
        let outcomes = thread::scope(|scope| {
            let stopped = scope.spawn(|| first.does(one, &scene));
            if !first.gate.somebody_is_stopped() {
                return [joined(stopped), second.does(other, &scene)];
            }
            let runs = scope.spawn(|| second.does(other, &scene));
            let began = Instant::now();
            while !second.gate.is_over() {
                if side.somebody_waits_for_a_lock() {
                    waits = !second.gate.has_committed();
                    break;
                }
                assert!(began.elapsed() < PATIENCE, "it neither ends nor waits");
                thread::sleep(POLL);
            }
            first.gate.release();
            [joined(stopped), joined(runs)]
        });
        self.judge(&scene, outcomes);
        waits
    }

    /// Both at once, each delayed at random.
    pub(crate) fn collide(&mut self, one: &Deed, other: &Deed, seed: u64) {
        let scene = self.scene(one, other, &format!("by chance, {seed}"));
        let (first, second) = (&self.first, &self.second);
        first.gate.delay(seed);
        second.gate.delay(!seed);
        let outcomes = thread::scope(|scope| {
            let [one, other] = [
                scope.spawn(|| first.does(one, &scene)),
                scope.spawn(|| second.does(other, &scene)),
            ];
            [joined(one), joined(other)]
        });
        self.judge(&scene, outcomes);
    }

    /// Fails when the store failed somebody or an invariant is broken.
    pub(crate) fn end(mut self) {
        for broken in self.store.broken_invariants() {
            for row in broken.rows {
                let met = self.met.get(&row.company);
                let met = met.map_or_else(|| row.what.clone(), Clone::clone);
                self.faults.entry(broken.name.into()).or_default().push(met);
            }
        }
        let mut told = String::new();
        for (fault, pairs) in &mut self.faults {
            pairs.sort();
            pairs.dedup();
            told = format!("{told}\n{fault}\n    {}", pairs.join("\n    "));
        }
        assert!(told.is_empty(), "of {} encounters:{told}", self.met.len());
    }
}

/// Lets nothing that is pending now be claimed.
fn postpone(store: &TestStore, quiet: &World, side: &mut SideConnection) {
    let never = store.literal(quiet.now().plus(FAR));
    side.execute(&format!(
        "UPDATE wakes SET not_before = {never} WHERE status = 'pending' AND not_before < {never}"
    ));
}

fn joined(deed: thread::ScopedJoinHandle<'_, Outcome>) -> Outcome {
    deed.join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
