use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use workforce_domain::id::CompanyId;
use workforce_domain::port::{EventFeed, EventListener, EventSubscription, Reads};

use super::*;

/// A store that runs no body, and notes how many were brought at once, first and in the end.
#[derive(Default)]
struct Counting {
    brought: Mutex<Vec<(usize, usize)>>,
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
        let first = writes.count();
        self.entered.fetch_add(1, Ordering::SeqCst);
        while self.is_slow.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert!(!self.panics.swap(false, Ordering::SeqCst), "broken");
        let count = writes.count();
        self.brought.lock().unwrap().push((first, count));
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
    lane.run_on(runtime.handle().clone());
    (runtime, lane)
}

#[test]
fn those_that_come_meanwhile_join_in_their_order_as_far_as_there_is_room() {
    let (_runtime, lane) = lane();
    let counting = Arc::new(Counting::default());
    let store: Arc<dyn Store> = counting.clone();
    counting.is_slow.store(true, Ordering::SeqCst);
    let (sender, told) = channel();
    lane.submit(&store, Box::new(Told(0, sender.clone())));
    while counting.entered.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    let count = TOGETHER + 2;
    for number in 1..=count {
        lane.submit(&store, Box::new(Told(number, sender.clone())));
    }
    counting.is_slow.store(false, Ordering::SeqCst);
    let order: Vec<_> = (0..=count).map_while(|_| next(&told)).collect();
    assert_eq!(order, (0..=count).collect::<Vec<_>>());
    assert_eq!(*counting.brought.lock().unwrap(), [(1, TOGETHER), (3, 3)]);
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
