//! What is due is looked for now and then, and a little of it goes on side by side: what
//! hangs keeps nothing else waiting.

use std::collections::{HashMap, HashSet};
use std::future::{Future, pending};
use std::pin::pin;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep};
use workforce_domain::id::CompanyId;
use workforce_domain::port::StoreError;

use crate::agenda::Reading;
use crate::state::EngineState;

/// So much of what is due is looked at in a round. What cannot be begun yet stays due,
/// so that this bounds how much of it there may be before it hides the rest.
pub(in crate::tickets) const LOOKED_AT: usize = 200;
/// What takes longer than this is slow, and its place too.
const SLOW: Duration = Duration::from_secs(10);

/// Work that is due again and again.
pub(in crate::tickets) trait Rounds {
    /// One piece of it.
    type Task: Send + 'static;
    /// What the log calls it.
    const NAME: &'static str;
    /// So much goes on side by side.
    const AT_ONCE: usize;
    /// So much of that at one place.
    const AT_A_PLACE: usize;

    /// What is due now, the most urgent first.
    fn due(&mut self)
    -> impl Future<Output = Result<Vec<Due<Self::Task>>, StoreError>> + Send + '_;

    /// Does one piece, on a task of its own.
    fn take(
        &self,
        task: Self::Task,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'static;

    /// Whether a round finds something.
    fn is_due(&self, reading: &Reading) -> bool;

    /// Ends when somebody says that a round finds something.
    fn called(&self) -> impl Future<Output = ()> + Send + '_ {
        pending()
    }
}

/// A piece of work that is due.
pub(in crate::tickets) struct Due<T> {
    /// What it is about: nothing is in hand twice.
    pub(in crate::tickets) id: String,
    /// Whose it is.
    pub(in crate::tickets) company: CompanyId,
    /// The repositories or hosts on which it may have to wait.
    pub(in crate::tickets) places: Vec<String>,
    pub(in crate::tickets) task: T,
}

/// Goes on until the engine closes, and what was begun has come to its end.
pub(in crate::tickets) async fn go_on<R: Rounds>(state: &EngineState, mut rounds: R) {
    let mut slots = Slots::new(R::NAME, R::AT_ONCE, R::AT_A_PLACE);
    let mut readings = state.readings.follow();
    while !state.closing.is_cancelled() {
        let found = rounds.due().await.inspect_err(|error| {
            tracing::error!(%error, work = R::NAME, "what is due is not looked for");
        });
        let is_known = found.is_ok();
        let mut waiting = found.unwrap_or_default();
        let mut pause = pin!(async {
            if !is_known {
                return sleep(state.look_pause()).await;
            }
            tokio::select! {
                () = readings.until(|reading| rounds.is_due(reading)) => {}
                () = rounds.called() => {}
            }
        });
        loop {
            slots.begin(&mut waiting, |task| rounds.take(task));
            tokio::select! {
                biased;
                () = state.closing.cancelled() => break,
                () = &mut pause => break,
                () = slots.one_ended(), if !slots.is_empty() => {}
            }
        }
    }
    while !slots.is_empty() {
        slots.one_ended().await;
    }
}

/// What goes on side by side. All of it ends when this is dropped.
struct Slots {
    name: &'static str,
    at_once: usize,
    at_a_place: usize,
    tasks: JoinSet<Result<(), StoreError>>,
    going: HashMap<Id, Going>,
    /// Places where the last piece of work was slow.
    slow: HashSet<String>,
}

/// What was begun.
struct Going {
    id: String,
    company: CompanyId,
    places: Vec<String>,
    is_slow: bool,
    begun: Instant,
}

impl Slots {
    fn new(name: &'static str, at_once: usize, at_a_place: usize) -> Self {
        Self {
            name,
            at_once,
            at_a_place,
            tasks: JoinSet::new(),
            going: HashMap::new(),
            slow: HashSet::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.going.is_empty()
    }

    /// Begins what may be begun now, and leaves the rest in `waiting`.
    fn begin<T, F>(&mut self, waiting: &mut Vec<Due<T>>, take: impl Fn(T) -> F)
    where
        F: Future<Output = Result<(), StoreError>> + Send + 'static,
    {
        for due in std::mem::take(waiting) {
            if !self.has_room_for(&due) {
                waiting.push(due);
                continue;
            }
            let going = Going {
                id: due.id,
                company: due.company,
                is_slow: self.is_slow(&due.places),
                places: due.places,
                begun: Instant::now(),
            };
            let handle = self.tasks.spawn(take(due.task));
            self.going.insert(handle.id(), going);
        }
    }

    /// What was slow before takes no more than half of the slots, and one company leaves
    /// one to the others: what hangs comes again and again.
    fn has_room_for<T>(&self, due: &Due<T>) -> bool {
        let count = |of: &dyn Fn(&Going) -> bool| self.going.values().filter(|it| of(it)).count();
        let is_at = |place: &String| count(&|it| it.places.contains(place));
        count(&|_| true) < self.at_once
            && count(&|it| it.id == due.id) == 0
            && count(&|it| it.company == due.company) + 1 < self.at_once
            && due
                .places
                .iter()
                .all(|place| is_at(place) < self.at_a_place)
            && (!self.is_slow(&due.places) || count(&|it| it.is_slow) < self.at_once / 2)
    }

    fn is_slow(&self, places: &[String]) -> bool {
        places.iter().any(|place| self.slow.contains(place))
    }

    /// Waits until a piece of work has ended.
    async fn one_ended(&mut self) {
        let Some(ended) = self.tasks.join_next_with_id().await else {
            return;
        };
        let id = match &ended {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        self.tell(ended);
        let Some(going) = self.going.remove(&id) else {
            return;
        };
        self.remember(going.places, going.begun.elapsed());
    }

    fn remember(&mut self, places: Vec<String>, took: Duration) {
        for place in places {
            match took >= SLOW {
                true => self.slow.insert(place),
                false => self.slow.remove(&place),
            };
        }
    }

    fn tell(&self, ended: Result<(Id, Result<(), StoreError>), JoinError>) {
        match ended {
            Ok((_, Ok(()))) => {}
            Ok((_, Err(error))) => {
                tracing::error!(%error, work = self.name, "what is due is not done");
            }
            Err(error) => tracing::error!(%error, work = self.name, "what is due broke down"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots() -> Slots {
        Slots::new("work", 4, 1)
    }

    fn due(company: usize, id: usize, place: &str) -> Due<usize> {
        let company = format!("00000000-0000-0000-0000-{company:012}");
        Due {
            id: id.to_string(),
            company: company.parse().expect("an id"),
            places: vec![place.to_owned()],
            task: id,
        }
    }

    /// Begins what hangs for ever; what is left waiting.
    fn begin(slots: &mut Slots, mut all: Vec<Due<usize>>) -> Vec<usize> {
        slots.begin(&mut all, |_| pending());
        all.iter().map(|due| due.task).collect()
    }

    #[tokio::test]
    async fn one_place_takes_one_slot_and_nothing_is_in_hand_twice() {
        let mut slots = slots();
        let all = vec![due(1, 1, "a"), due(1, 2, "a"), due(1, 3, "b")];
        assert_eq!(begin(&mut slots, all), [2]);
        assert_eq!(begin(&mut slots, vec![due(1, 3, "c")]), [3]);
    }

    #[tokio::test]
    async fn one_company_leaves_a_slot_to_the_others() {
        let mut slots = slots();
        let own = (1..=5).map(|n| due(1, n, &n.to_string())).collect();
        assert_eq!(begin(&mut slots, own), [4, 5]);
        let others = vec![due(2, 6, "6"), due(2, 7, "7")];
        assert_eq!(begin(&mut slots, others), [7]);
    }

    #[tokio::test]
    async fn places_that_were_slow_take_half_of_the_slots_until_they_are_quick_again() {
        let mut slots = slots();
        let places = ["a", "b", "c", "d"].map(str::to_owned);
        slots.remember(places.to_vec(), SLOW);
        let mut quick = vec![due(1, 1, "d")];
        slots.begin(&mut quick, |_| async { Ok(()) });
        slots.one_ended().await;
        let all = places.iter().zip(1..);
        let all = all.map(|(place, n)| due(n, n, place)).collect();
        assert_eq!(begin(&mut slots, all), [3]);
    }

    #[tokio::test]
    async fn what_breaks_down_gives_its_slot_back() {
        let mut slots = slots();
        let mut all = vec![due(1, 1, "a")];
        slots.begin(&mut all, |_| async { panic!("the rule is wrong") });
        slots.one_ended().await;
        assert!(slots.is_empty());
        assert!(begin(&mut slots, vec![due(1, 1, "a")]).is_empty());
    }
}
