use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use workforce_domain::id::CompanyId;
use workforce_domain::port::{EventFeed, EventListener, EventSubscription, Reads};

use super::*;

/// Longer than any test.
const HOUR: Duration = Duration::from_secs(3_600);

/// A store that runs no body, and notes how many share a commit.
#[derive(Default)]
struct Counting {
    brought: Mutex<Vec<usize>>,
    /// While it is set, the store does not return.
    is_slow: AtomicBool,
    entered: AtomicUsize,
    panics: AtomicBool,
    /// While it is set, no commit becomes durable.
    keeps: AtomicBool,
    kept: Mutex<Vec<(Box<dyn WriteQueue>, usize)>>,
}

impl Counting {
    /// Has the commits end that were kept.
    fn end_kept(&self) {
        for (writes, count) in self.kept.lock().unwrap().drain(..) {
            writes.end((0..count).map(|_write| Ok(())).collect());
        }
    }
}

impl Store for Counting {
    fn run_read(
        &self,
        _body: &mut (dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + '_),
    ) -> Result<(), StoreError> {
        Err(StoreError::Contended)
    }

    fn run_write(
        &self,
        _body: &mut (dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + '_),
    ) -> Result<(), StoreError> {
        Err(StoreError::Contended)
    }

    fn run_writes(&self, mut writes: Box<dyn WriteQueue>) {
        assert!(!self.panics.swap(false, Ordering::SeqCst), "broken");
        assert!(writes.has(0), "it is called for one at least");
        self.entered.fetch_add(1, Ordering::SeqCst);
        while self.is_slow.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        let count = (0..).take_while(|which| writes.has(*which)).count();
        self.brought.lock().unwrap().push(count);
        if self.keeps.load(Ordering::SeqCst) {
            self.kept.lock().unwrap().push((writes, count));
        } else {
            writes.end((0..count).map(|_write| Ok(())).collect());
        }
    }

    fn feed(&self) -> &dyn EventFeed {
        self
    }
}

impl EventFeed for Counting {
    fn subscribe(
        &self,
        _company: CompanyId,
        _listener: Arc<dyn EventListener>,
    ) -> Box<dyn EventSubscription> {
        Box::new(Subscription)
    }

    fn subscribe_to_all(&self, _listener: Arc<dyn EventListener>) -> Box<dyn EventSubscription> {
        Box::new(Subscription)
    }
}

struct Subscription;

impl EventSubscription for Subscription {}

struct Told(usize, Sender<usize>);

impl Job for Told {
    fn run(&mut self, _tx: &mut dyn Tx) -> Result<Verdict, StoreError> {
        Ok(Verdict::Commit)
    }

    fn end(self: Box<Self>, outcome: Result<(), StoreError>) {
        assert!(outcome.is_ok());
        self.1.send(self.0).unwrap();
    }
}

/// The turn of a job that is told.
fn turn_of(number: usize, sender: &Sender<usize>) -> Turn<Box<dyn Job>> {
    Turn::of(Box::new(Told(number, sender.clone())))
}

fn next(told: &Receiver<usize>) -> Option<usize> {
    told.recv_timeout(Duration::from_secs(60)).ok()
}

fn lane() -> (tokio::runtime::Runtime, WriteLane) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let lane = WriteLane::default();
    lane.threads.run_on(runtime.handle().clone());
    (runtime, lane)
}

/// A store that is held up, and those whom it is to tell.
struct Trial {
    counting: Arc<Counting>,
    store: Arc<dyn Store>,
    sender: Sender<usize>,
    told: Receiver<usize>,
}

impl Trial {
    /// Has one job taken to the store, which is `held` up, where the last commit took so long.
    fn begin(
        lane: &WriteLane,
        last_commit: Duration,
        held: impl FnOnce(&Counting) -> &AtomicBool,
    ) -> Self {
        lane.line.lock().last_commit = last_commit;
        let counting = Arc::new(Counting::default());
        let store: Arc<dyn Store> = counting.clone();
        held(&counting).store(true, Ordering::SeqCst);
        let (sender, told) = channel();
        let trial = Self {
            counting,
            store,
            sender,
            told,
        };
        trial.submit(lane, 0);
        while trial.counting.entered.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        trial
    }

    /// Has one job taken to the store, and its commit be under way for long.
    fn keeping_commits(lane: &WriteLane) -> Self {
        let trial = Self::begin(lane, HOUR, |it| &it.keeps);
        trial.wait_for_kept(1);
        assert_eq!(under_way(lane), 1);
        trial
    }

    /// Waits until so many commits are under way.
    fn wait_for_kept(&self, count: usize) {
        while self.counting.kept.lock().unwrap().len() < count {
            std::thread::yield_now();
        }
    }

    fn submit(&self, lane: &WriteLane, number: usize) {
        lane.submit(&self.store, turn_of(number, &self.sender));
    }

    /// Has so many commits end, and later ones at once. Who was told, in the order of numbers.
    fn end(&self, count: usize) -> Vec<usize> {
        self.counting.keeps.store(false, Ordering::SeqCst);
        self.counting.end_kept();
        let mut told: Vec<_> = (0..count).map_while(|_| next(&self.told)).collect();
        told.sort_unstable();
        told
    }
}

/// Has one job taken to a store and then `count` others sent, where the last commit took
/// `last_commit`. Returns how many shared each commit.
fn shares(last_commit: Duration, count: usize) -> Vec<usize> {
    let (_runtime, lane) = lane();
    let trial = Trial::begin(&lane, last_commit, |it| &it.is_slow);
    for number in 1..=count {
        trial.submit(&lane, number);
    }
    trial.counting.is_slow.store(false, Ordering::SeqCst);
    let order: Vec<_> = (0..=count).map_while(|_| next(&trial.told)).collect();
    assert_eq!(order, (0..=count).collect::<Vec<_>>());
    let brought = trial.counting.brought.lock().unwrap().clone();
    assert_eq!(brought.iter().sum::<usize>(), count + 1);
    brought
}

#[test]
fn a_slow_commit_is_shared_by_all_for_whom_there_is_room() {
    assert_eq!(shares(HOUR, 9), [10]);
    assert_eq!(shares(HOUR, TOGETHER + 2)[0], TOGETHER);
}

#[test]
fn a_quick_commit_is_made_once_as_many_have_run_as_wait() {
    assert_eq!(shares(RETURN, 9)[0], 5);
    assert_eq!(shares(RETURN, 4 * TOGETHER)[0], TOGETHER);
}

#[test]
fn none_is_added_to_a_commit_that_is_under_way() {
    let (sender, _told) = channel();
    let line = Arc::<Line>::default();
    let mut group = Group::of(Box::new(Told(0, sender.clone())), Arc::clone(&line));
    assert!(group.has(0));
    assert!(!group.has(1));
    line.lock().jobs.push_back(turn_of(1, &sender));
    assert!(!group.has(1));
    assert!(group.has(0), "what was there stays");
}

#[test]
fn a_job_that_is_taken_from_the_line_is_not_run() {
    let (_runtime, lane) = lane();
    let trial = Trial::begin(&lane, HOUR, |it| &it.is_slow);
    let turns: Vec<_> = (1..=3)
        .map(|number| turn_of(number, &trial.sender))
        .collect();
    for turn in &turns {
        lane.submit(&trial.store, turn.clone());
    }
    assert!(turns[0].take().is_some());
    assert!(turns[2].take().is_some());
    trial.counting.is_slow.store(false, Ordering::SeqCst);
    assert_eq!(next(&trial.told), Some(0));
    assert_eq!(next(&trial.told), Some(2));
    assert!(turns[1].take().is_none(), "it is taken already");
    // The line is served on when all of it was taken.
    let turn = turn_of(4, &trial.sender);
    assert!(turn.take().is_some());
    lane.submit(&trial.store, turn);
    trial.submit(&lane, 5);
    assert_eq!(next(&trial.told), Some(5));
    assert_eq!(
        trial.counting.brought.lock().unwrap().iter().sum::<usize>(),
        3
    );
}

#[test]
fn a_panic_of_the_store_does_not_close_the_line() {
    let (_runtime, lane) = lane();
    let counting = Arc::new(Counting::default());
    let store: Arc<dyn Store> = counting.clone();
    counting.panics.store(true, Ordering::SeqCst);
    let (sender, told) = channel();
    lane.submit(&store, turn_of(1, &sender));
    drop(sender);
    assert_eq!(next(&told), None, "its sender is dropped");
    let (sender, told) = channel();
    lane.submit(&store, turn_of(2, &sender));
    assert_eq!(next(&told), Some(2));
}

/// How many commits are under way.
fn under_way(lane: &WriteLane) -> usize {
    lane.line.lock().under_way
}

#[test]
fn those_that_come_while_a_commit_is_under_way_share_the_next_one() {
    let (_runtime, lane) = lane();
    let trial = Trial::keeping_commits(&lane);
    // One after the other, each when the one before runs already.
    for number in 1..=3 {
        trial.submit(&lane, number);
        while !lane.line.lock().jobs.is_empty() {
            std::thread::yield_now();
        }
    }
    assert!(trial.told.try_recv().is_err(), "none is told yet");
    assert_eq!(trial.end(4), [0, 1, 2, 3]);
    assert_eq!(*trial.counting.brought.lock().unwrap(), [1, 3]);
}

#[test]
fn a_commit_that_is_about_to_end_is_followed_by_one_that_is_ready() {
    let (_runtime, lane) = lane();
    let trial = Trial::keeping_commits(&lane);
    // It takes longer than the last one did.
    lane.line.lock().last_commit = Duration::ZERO;
    trial.submit(&lane, 1);
    trial.wait_for_kept(2);
    // A third one waits until one of these ends.
    trial.submit(&lane, 2);
    while !lane.line.lock().jobs.is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(under_way(&lane), 2);
    assert_eq!(trial.end(3), [0, 1, 2]);
}

#[test]
fn as_many_as_share_a_commit_at_most_do_not_wait_for_one_that_is_under_way() {
    let (_runtime, lane) = lane();
    let trial = Trial::keeping_commits(&lane);
    for number in 1..=TOGETHER {
        trial.submit(&lane, number);
    }
    trial.wait_for_kept(2);
    assert_eq!(*trial.counting.brought.lock().unwrap(), [1, TOGETHER]);
    let all: Vec<_> = (0..=TOGETHER).collect();
    assert_eq!(trial.end(TOGETHER + 1), all);
}

/// How long a group waits for more while `under_way` commits are, which take an hour. Another one
/// has just ended, as far as this is told, and so many shared it.
fn waits(is_worth_two: bool, under_way: usize, last_shared: usize) -> Option<Duration> {
    let (sender, _told) = channel();
    let line = Arc::<Line>::default();
    let group = Group::of(Box::new(Told(0, sender)), Arc::clone(&line));
    let now = Instant::now();
    let mut state = line.lock();
    state.closed = Some(now);
    state.ended = Some(now + HOUR);
    state.last_commit = HOUR;
    state.last_shared = last_shared;
    if is_worth_two {
        state.last_run = HOUR;
    }
    state.under_way = under_way;
    let waits = group.waits_for_more(&state);
    drop(state);
    waits
}

#[test]
fn those_that_a_long_commit_answered_together_are_waited_for() {
    assert_eq!(waits(false, 0, 2), Some(RETURN));
    assert_eq!(waits(false, 0, 1), None);
    assert_eq!(waits(true, 0, 2), None);
}

#[test]
fn a_long_commit_that_is_under_way_is_waited_for() {
    assert_eq!(waits(false, 1, 2), Some(DURABLE_WITHIN));
    assert_eq!(waits(true, 1, 2), Some(DURABLE_WITHIN));
    assert_eq!(waits(true, 2, 2), Some(DURABLE_WITHIN));
}

#[test]
fn none_is_added_behind_a_commit_that_never_arrives() {
    let (_runtime, lane) = lane();
    let trial = Trial::keeping_commits(&lane);
    trial.submit(&lane, 1);
    while !lane.line.lock().jobs.is_empty() {
        std::thread::yield_now();
    }
    // That one waits for more, until it is clear that the disk does not answer.
    let long_ago = Instant::now().checked_sub(2 * DURABLE_WITHIN);
    lane.line.lock().closed = long_ago;
    lane.line.lock().ended = long_ago;
    trial.submit(&lane, 2);
    trial.wait_for_kept(2);
    assert_eq!(trial.counting.brought.lock().unwrap()[..2], [1, 1]);
    assert_eq!(trial.end(3), [0, 1, 2]);
}
