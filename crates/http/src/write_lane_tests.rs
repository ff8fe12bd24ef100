use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use workforce_domain::id::CompanyId;
use workforce_domain::port::{EventFeed, EventListener, EventSubscription, Reads};

use super::*;

/// A store that runs no body, and notes how many share a commit.
#[derive(Default)]
struct Counting {
    brought: Mutex<Vec<usize>>,
    /// While it is set, the store does not return.
    is_slow: AtomicBool,
    entered: AtomicUsize,
    panics: AtomicBool,
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

    fn run_writes(&self, writes: &mut dyn WriteQueue) -> Vec<Result<(), StoreError>> {
        assert!(!self.panics.swap(false, Ordering::SeqCst), "broken");
        assert!(writes.has(0), "it is called for one at least");
        self.entered.fetch_add(1, Ordering::SeqCst);
        while self.is_slow.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        let count = (0..).take_while(|which| writes.has(*which)).count();
        self.brought.lock().unwrap().push(count);
        (0..count).map(|_write| Ok(())).collect()
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

/// Has one job taken to a store and then `count` others sent, where the last commit took
/// `last_commit`. Returns how many shared each commit.
fn shares(last_commit: Duration, count: usize) -> Vec<usize> {
    let (_runtime, lane) = lane();
    lock(&lane.line).last_commit = last_commit;
    let counting = Arc::new(Counting::default());
    let store: Arc<dyn Store> = counting.clone();
    counting.is_slow.store(true, Ordering::SeqCst);
    let (sender, told) = channel();
    lane.submit(&store, Box::new(Told(0, sender.clone())));
    while counting.entered.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    for number in 1..=count {
        lane.submit(&store, Box::new(Told(number, sender.clone())));
    }
    counting.is_slow.store(false, Ordering::SeqCst);
    let order: Vec<_> = (0..=count).map_while(|_| next(&told)).collect();
    assert_eq!(order, (0..=count).collect::<Vec<_>>());
    let brought = counting.brought.lock().unwrap().clone();
    assert_eq!(brought.iter().sum::<usize>(), count + 1);
    brought
}

#[test]
fn a_slow_commit_is_shared_by_all_for_whom_there_is_room() {
    let hour = Duration::from_secs(3_600);
    assert_eq!(shares(hour, 9), [10]);
    assert_eq!(shares(hour, TOGETHER + 2)[0], TOGETHER);
}

#[test]
fn a_quick_commit_is_made_once_twice_as_many_have_run_as_wait() {
    assert_eq!(shares(Duration::ZERO, 9)[0], 7);
    assert_eq!(shares(Duration::ZERO, 4 * TOGETHER)[0], TOGETHER);
}

#[test]
fn none_is_added_to_a_commit_that_is_under_way() {
    let (sender, _told) = channel();
    let line = Mutex::new(Line::default());
    let mut taken = Taken {
        line: &line,
        jobs: vec![Box::new(Told(0, sender.clone()))],
        began: None,
        last_commit: Duration::ZERO,
        closed: None,
    };
    assert!(taken.has(0));
    assert!(!taken.has(1));
    lock(&line).jobs.push_back(Box::new(Told(1, sender)));
    assert!(!taken.has(1));
    assert!(taken.has(0), "what was there stays");
}

#[test]
fn a_panic_of_the_store_does_not_close_the_line() {
    let (_runtime, lane) = lane();
    let counting = Arc::new(Counting::default());
    let store: Arc<dyn Store> = counting.clone();
    counting.panics.store(true, Ordering::SeqCst);
    let (sender, told) = channel();
    lane.submit(&store, Box::new(Told(1, sender)));
    assert_eq!(next(&told), None, "its sender is dropped");
    let (sender, told) = channel();
    lane.submit(&store, Box::new(Told(2, sender)));
    assert_eq!(next(&told), Some(2));
}
